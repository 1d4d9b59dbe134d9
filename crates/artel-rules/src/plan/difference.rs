//! Describes how two versions of a plan differ, in a few lines for the person who approves
//! it.

use artel_types::plan::{Plan, PlanStep, StepVerification};

use super::problem::shown;
use super::scope::{covers_command, covers_host, covers_path};

/// Number of turns of an attempt if the step sets none.
pub const USUAL_TURNS: u32 = 15;
/// Most lines of a changed text that are shown of each version.
const MOST_LINES: usize = 8;

/// Returns how a version differs from an older one, or an empty text if they are equal.
/// Changes that widen a step's scope, or require less proof, are marked with `wider`.
pub fn difference(old: &Plan, new: &Plan) -> String {
    if old == new {
        return String::new();
    }
    let mut lines = Vec::new();
    if old.title != new.title {
        lines.push(format!(
            "~ title: {} → {}",
            shown(&old.title),
            shown(&new.title)
        ));
    }
    if old.kind != new.kind {
        lines.push(format!("~ kind: {} → {}", old.kind, new.kind));
    }
    lines.extend(texts("overview", &old.overview, &new.overview, ""));
    lines.extend(texts("reasoning", &old.reasoning, &new.reasoning, ""));
    for step in &old.steps {
        if new.step(&step.id).is_none() {
            lines.push(format!("- step `{}`: {}", step.id, shown(&step.title)));
        }
    }
    for step in &new.steps {
        match old.step(&step.id) {
            None => lines.extend(added(step)),
            Some(before) if before != step => lines.extend(changed(before, step)),
            Some(_) => {}
        }
    }
    lines.extend(moved(old, new));
    let files = |plan: &Plan| -> Vec<String> {
        let files = plan.files.iter();
        files
            .map(|file| format!("{} ({})", file.path, file.action))
            .collect()
    };
    lines.extend(lists("files", &files(old), &files(new), ""));
    lines.extend(lists("risks", &old.risks, &new.risks, ""));
    lines.extend(lists("questions", &old.questions, &new.questions, ""));
    lines.extend(lists("references", &old.references, &new.references, ""));
    lines.extend(lists("warnings", &old.warnings, &new.warnings, ""));
    let same_files = files(old) == files(new);
    if lines.is_empty() {
        let what = if same_files && old.files != new.files {
            "files"
        } else {
            "order"
        };
        lines.push(format!("~ {what}: said differently"));
    }
    lines.join("\n")
}

/// Returns what a changed step may do that it could not do before, and what it need not
/// prove any more.
pub fn widened(old: &PlanStep, new: &PlanStep) -> Vec<String> {
    let mut wider = Vec::new();
    let (before, after) = (&old.scope, &new.scope);
    let mut more = |what: &str, list: &[String], is_covered: &dyn Fn(&str) -> bool| {
        let found = list.iter().filter(|entry| !is_covered(entry));
        wider.extend(found.map(|entry| format!("{what} `{}`", shown(entry))));
    };
    more("may change", &after.paths, &|path| {
        covers_path(&before.paths, path)
    });
    more("may run", &after.commands, &|rule| {
        covers_command(&before.commands, rule)
    });
    more("may reach", &after.network, &|host| {
        covers_host(&before.network, host)
    });
    more("may use the tool", &after.tools, &|tool| {
        before.tools.iter().any(|it| it == tool)
    });
    more("may use the secret", &after.secrets, &|secret| {
        before.secrets.iter().any(|it| it == secret)
    });
    let turns = |turns: Option<u32>| turns.unwrap_or(USUAL_TURNS);
    if turns(after.turns) > turns(before.turns) {
        let (before, after) = (turns(before.turns), turns(after.turns));
        wider.push(format!("has {after} turns instead of {before}"));
    }
    match (before.cost_usd, after.cost_usd) {
        (Some(old), Some(new)) if new > old => {
            wider.push(format!("may cost {new} dollars instead of {old}"));
        }
        (Some(old), None) => wider.push(format!("may cost any sum instead of {old} dollars")),
        _ => {}
    }
    if old.role != new.role {
        wider.push(format!(
            "is done by `{}` instead of `{}`",
            shown(&new.role),
            shown(&old.role)
        ));
    }
    if rank(new.verify) < rank(old.verify) {
        wider.push(format!(
            "is verified by `{}` instead of `{}`",
            new.verify, old.verify
        ));
    }
    for evidence in old.evidence.iter().filter(|it| !new.evidence.contains(it)) {
        wider.push(format!(
            "no longer shows {} `{}`",
            evidence.kind,
            shown(&evidence.what)
        ));
    }
    for claim in before
        .criteria
        .iter()
        .filter(|it| !after.criteria.contains(it))
    {
        wider.push(format!("no longer has to hold: {}", shown(&claim.text)));
    }
    wider
}

/// Returns the names of the fields in which two steps differ.
pub(super) fn changed_fields(old: &PlanStep, new: &PlanStep) -> Vec<&'static str> {
    let (before, after) = (&old.scope, &new.scope);
    let fields = [
        ("title", old.title != new.title),
        ("role", old.role != new.role),
        ("work", old.work != new.work),
        ("check", old.check != new.check),
        ("after", old.after != new.after),
        ("verify", old.verify != new.verify),
        ("paths", before.paths != after.paths),
        ("commands", before.commands != after.commands),
        ("network", before.network != after.network),
        ("tools", before.tools != after.tools),
        ("secrets", before.secrets != after.secrets),
        ("turns", before.turns != after.turns),
        ("cost", before.cost_usd != after.cost_usd),
        ("criteria", before.criteria != after.criteria),
        ("evidence", old.evidence != new.evidence),
        ("gives", old.gives != new.gives),
        ("uses", old.uses != new.uses),
        ("tokens", old.tokens != new.tokens),
        ("priority", old.priority != new.priority),
    ];
    let changed = fields.into_iter().filter(|(_, is_changed)| *is_changed);
    changed.map(|(name, _)| name).collect()
}

fn rank(verify: StepVerification) -> u8 {
    match verify {
        StepVerification::None => 0,
        StepVerification::Evaluator => 1,
        StepVerification::Tdd => 2,
    }
}

fn added(step: &PlanStep) -> Vec<String> {
    let mut lines = vec![format!("+ step `{}`: {}", step.id, shown(&step.title))];
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("    {name}: {value}"));
        }
    };
    field("role", step.role.clone());
    field("verify", step.verify.to_string());
    field("after", step.after.join(", "));
    field("may change", step.scope.paths.join(", "));
    field("may run", step.scope.commands.join(", "));
    field("may reach", step.scope.network.join(", "));
    lines
}

fn changed(old: &PlanStep, new: &PlanStep) -> Vec<String> {
    const INDENT: &str = "    ";
    let mut lines = vec![format!("~ step `{}`: {}", new.id, shown(&new.title))];
    let mut words = |name: &str, old: String, new: String| {
        if old != new {
            lines.push(format!("{INDENT}{name}: {old} → {new}"));
        }
    };
    words("title", shown(&old.title), shown(&new.title));
    words("role", shown(&old.role), shown(&new.role));
    words("verify", old.verify.to_string(), new.verify.to_string());
    words(
        "turns",
        or_usual(old.scope.turns),
        or_usual(new.scope.turns),
    );
    words(
        "cost",
        or_usual(old.scope.cost_usd),
        or_usual(new.scope.cost_usd),
    );
    words("tokens", or_usual(old.tokens), or_usual(new.tokens));
    words("priority", or_usual(old.priority), or_usual(new.priority));
    lines.extend(texts("work", &old.work, &new.work, INDENT));
    lines.extend(texts("check", &old.check, &new.check, INDENT));
    let (before, after) = (&old.scope, &new.scope);
    for (name, old, new) in [
        ("after", &old.after, &new.after),
        ("paths", &before.paths, &after.paths),
        ("commands", &before.commands, &after.commands),
        ("network", &before.network, &after.network),
        ("gives", &old.gives, &new.gives),
        ("uses", &old.uses, &new.uses),
    ] {
        lines.extend(lists(name, old, new, INDENT));
    }
    let criteria = |step: &PlanStep| -> Vec<String> {
        let claims = step.scope.criteria.iter();
        claims
            .map(|claim| format!("{} ({})", claim.text, claim.source))
            .collect()
    };
    lines.extend(lists("criteria", &criteria(old), &criteria(new), INDENT));
    let evidence = |step: &PlanStep| -> Vec<String> {
        let all = step.evidence.iter();
        all.map(|it| format!("{} {}", it.kind, it.what)).collect()
    };
    lines.extend(lists("evidence", &evidence(old), &evidence(new), INDENT));
    let wider = widened(old, new).into_iter();
    lines.extend(wider.map(|what| format!("{INDENT}! wider: it {what}")));
    lines
}

fn or_usual(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "as usual".to_owned(), |value| value.to_string())
}

/// Reports that steps of both versions stand in another order.
fn moved(old: &Plan, new: &Plan) -> Option<String> {
    let order = |plan: &Plan, other: &Plan| -> Vec<String> {
        let both = plan
            .steps
            .iter()
            .filter(|step| other.step(&step.id).is_some());
        both.map(|step| step.id.clone()).collect()
    };
    let (before, after) = (order(old, new), order(new, old));
    (before != after).then(|| format!("~ order: {}", after.join(", ")))
}

fn lists(name: &str, old: &[String], new: &[String], indent: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let gone = old.iter().filter(|entry| !new.contains(entry));
    let come = new.iter().filter(|entry| !old.contains(entry));
    let gone = gone.map(|entry| format!("- `{}`", shown(entry)));
    let come = come.map(|entry| format!("+ `{}`", shown(entry)));
    let parts: Vec<String> = gone.chain(come).collect();
    let parts = if parts.is_empty() {
        "in another order".to_owned()
    } else {
        parts.join(" ")
    };
    let mark = if indent.is_empty() { "~ " } else { "" };
    Some(format!("{indent}{mark}{name}: {parts}"))
}

/// Shows the lines in which two texts differ, without the equal lines at the beginning and
/// end.
fn texts(name: &str, old: &str, new: &str, indent: &str) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = before.len().min(after.len()) - start;
    let (backwards, forwards) = (before.iter().rev(), after.iter().rev());
    let end = backwards
        .zip(forwards)
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let mark = if indent.is_empty() { "~ " } else { "" };
    let mut lines = vec![format!("{indent}{mark}{name}:")];
    for (sign, part) in [
        ('-', &before[start..before.len() - end]),
        ('+', &after[start..after.len() - end]),
    ] {
        let first = part.iter().take(MOST_LINES);
        lines.extend(first.map(|line| format!("{indent}  {sign} {}", shown(line))));
        if part.len() > MOST_LINES {
            lines.push(format!(
                "{indent}  {sign} … {} more lines",
                part.len() - MOST_LINES
            ));
        }
    }
    lines
}
