//! The fields of a step: one line each, such as `- role: engineer`.

use artel_types::plan::{
    PlanStep, Requirement, RequirementSource, StepEvidence, StepEvidenceKind, Urgency,
};

use super::text::{code, take_code, word};

/// The names of all fields that are read.
pub(super) const NAMES: &[&str] = &[
    "id", "role", "after", "verify", "paths", "commands", "network", "tools", "secrets", "turns",
    "cost", "evidence", "gives", "uses", "tokens", "priority", "criteria",
];

/// Fields that are only shown.
pub(super) const SHOWN: &[&str] = &["layer", "why"];

/// Writes the fields of a step.
pub(super) fn write(step: &PlanStep) -> String {
    let mut lines = String::new();
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push_str(&format!("- {name}: {value}\n"));
        }
    };
    let scope = &step.scope;
    field("id", word(&step.id));
    field("role", word(&step.role));
    field("after", codes(&step.after));
    field("verify", step.verify.to_string());
    field("paths", codes(&scope.paths));
    field("commands", codes(&scope.commands));
    field("network", codes(&scope.network));
    field("tools", codes(&scope.tools));
    field("secrets", codes(&scope.secrets));
    field("turns", or_nothing(scope.turns));
    field("cost", or_nothing(scope.cost_usd));
    let evidence: Vec<String> = step.evidence.iter().map(evidence_text).collect();
    field("evidence", evidence.join(", "));
    field("gives", codes(&step.gives));
    field("uses", codes(&step.uses));
    field("tokens", or_nothing(step.tokens));
    field("priority", or_nothing(step.priority));
    if !scope.criteria.is_empty() {
        lines.push_str("- criteria:\n");
        for claim in &scope.criteria {
            lines.push_str(&format!("  - {} ({})\n", claim.text, claim.source));
        }
    }
    lines
}

/// Sets a field of a step, or returns what was expected.
pub(super) fn set(step: &mut PlanStep, name: &str, value: &str) -> Result<(), String> {
    let scope = &mut step.scope;
    match name {
        "id" => step.id = one(value)?,
        "role" => step.role = one(value)?,
        "after" => step.after = many(value)?,
        "verify" => {
            step.verify = one(value)?
                .parse()
                .map_err(|()| "expected `none`, `evaluator` or `tdd`".to_owned())?;
        }
        "paths" => scope.paths = many(value)?,
        "commands" => scope.commands = many(value)?,
        "network" => scope.network = many(value)?,
        "tools" => scope.tools = many(value)?,
        "secrets" => scope.secrets = many(value)?,
        "turns" => scope.turns = number(value)?,
        "cost" => scope.cost_usd = dollars(value)?,
        "evidence" => step.evidence = evidence(value)?,
        "gives" => step.gives = many(value)?,
        "uses" => step.uses = many(value)?,
        "tokens" => step.tokens = number(value)?,
        "priority" => step.priority = priority(value)?,
        "criteria" if value.is_empty() => {}
        "criteria" => scope.criteria.push(claim(value)),
        _ => return Err(format!("expected one of the fields {}", NAMES.join(", "))),
    }
    Ok(())
}

/// Reads a claim with the source after it. A claim without a source is a person's own.
pub(super) fn claim(text: &str) -> Requirement {
    let text = text.trim();
    let signed = text
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("));
    let signed =
        signed.and_then(|(text, source)| Some((text, source.parse::<RequirementSource>().ok()?)));
    let (text, source) = signed.unwrap_or((text, RequirementSource::Answered));
    Requirement {
        text: text.trim().to_owned(),
        source,
    }
}

fn evidence_text(evidence: &StepEvidence) -> String {
    if evidence.what.is_empty() {
        evidence.kind.to_string()
    } else {
        format!("{} {}", evidence.kind, code(&evidence.what))
    }
}

fn codes(entries: &[String]) -> String {
    let entries: Vec<String> = entries.iter().map(|entry| code(entry)).collect();
    entries.join(", ")
}

fn or_nothing(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn one(value: &str) -> Result<String, String> {
    if !value.starts_with('`') {
        return Ok(value.to_owned());
    }
    match take_code(value) {
        Some((inner, rest)) if rest.trim().is_empty() => Ok(inner),
        _ => Err("expected one word, or code in closed backticks".to_owned()),
    }
}

/// Reads a list: code in backticks, or plain words, separated by commas.
fn many(value: &str) -> Result<Vec<String>, String> {
    if !value.starts_with('`') {
        let words = value.split(',').map(str::trim);
        return Ok(words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect());
    }
    let mut entries = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (entry, behind) =
            take_code(rest).ok_or_else(|| "expected a list such as `` `a`, `b` ``".to_owned())?;
        entries.push(entry);
        rest = next(behind)?;
    }
    Ok(entries)
}

/// Skips a comma, or accepts the end.
fn next(behind: &str) -> Result<&str, String> {
    let behind = behind.trim_start();
    match behind.strip_prefix(',') {
        Some(rest) => Ok(rest.trim_start()),
        None if behind.is_empty() => Ok(""),
        None => Err("expected a comma between entries".to_owned()),
    }
}

fn evidence(value: &str) -> Result<Vec<StepEvidence>, String> {
    let mut all = Vec::new();
    let mut rest = value.trim();
    while !rest.is_empty() {
        let end = rest.find([' ', ',', '`']).unwrap_or(rest.len());
        let kind: StepEvidenceKind = rest[..end].parse().map_err(|()| {
            let kinds: Vec<&str> = StepEvidenceKind::ALL
                .iter()
                .map(|kind| kind.as_str())
                .collect();
            format!("expected evidence of one sort of {}", kinds.join(", "))
        })?;
        let behind = rest[end..].trim_start();
        let (what, behind) = if behind.starts_with('`') {
            take_code(behind).ok_or_else(|| "a backtick is not closed".to_owned())?
        } else {
            let end = behind.find(',').unwrap_or(behind.len());
            (behind[..end].trim().to_owned(), &behind[end..])
        };
        all.push(StepEvidence { kind, what });
        rest = next(behind)?;
    }
    Ok(all)
}

fn number<T: std::str::FromStr>(value: &str) -> Result<Option<T>, String> {
    let digits: String = value
        .chars()
        .filter(|c| !matches!(c, ',' | '_' | ' '))
        .collect();
    if digits.is_empty() {
        Ok(None)
    } else {
        digits
            .parse()
            .map(Some)
            .map_err(|_| "expected a whole number".to_owned())
    }
}

fn priority(value: &str) -> Result<Option<Urgency>, String> {
    let word = one(value)?;
    let read = |()| "expected `low`, `normal`, `high` or `critical`".to_owned();
    if word.is_empty() {
        Ok(None)
    } else {
        word.parse().map(Some).map_err(read)
    }
}

fn dollars(value: &str) -> Result<Option<f64>, String> {
    let plain = value.trim_start_matches('$');
    let plain = plain.strip_suffix("USD").unwrap_or(plain).trim();
    if plain.is_empty() {
        return Ok(None);
    }
    let cost: Option<f64> = plain.parse().ok().filter(|cost: &f64| cost.is_finite());
    cost.map(Some)
        .ok_or_else(|| "expected dollars such as `0.50`".to_owned())
}
