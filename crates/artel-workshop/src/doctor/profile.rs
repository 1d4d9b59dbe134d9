//! The checks to pass before a profile is relied on.

use artel_config::{MachineProfile, SkillSizeChoice};
use artel_engine::TurnAllowance;
use artel_sandbox::{EngagedSandbox, SandboxLevel};
use artel_skills::MOST_LINES;
use artel_skills::savings::{self, SkillTokenSizes};

use super::DoctorCheck;
use crate::caller::CommandContext;
use crate::runs::{SkillsFound, TrustQuestion};

/// The least that loading on demand should save in a typical run with well divided skills,
/// in percent.
const LEAST_SAVED: f64 = 35.0;

pub(super) fn checks(caller: &CommandContext, profile: MachineProfile) -> Vec<DoctorCheck> {
    let engaged = caller
        .sandbox()
        .map(|(sandbox, _)| sandbox.engaged().clone());
    let engaged = engaged.unwrap_or(EngagedSandbox {
        level: SandboxLevel::None,
        layers: Vec::new(),
    });
    let mut checks = vec![
        demanded(caller, profile),
        sandbox(&engaged, profile),
        layer(
            &engaged,
            "network",
            &["network namespace", "no network"],
            "commands cannot reach the network",
        ),
        layer(
            &engaged,
            "limits",
            &["memory limit", "process limit"],
            "memory and processes are limited",
        ),
        layer(
            &engaged,
            "leftovers",
            &["mount namespace", "process namespace"],
            "nothing of one command is left for the next",
        ),
        audit(caller),
        commands(caller),
    ];
    checks.extend(skills(caller, profile));
    checks
}

/// Checks whether the settings select the requested profile.
fn demanded(caller: &CommandContext, profile: MachineProfile) -> DoctorCheck {
    let word = |profile: MachineProfile| format!("{profile:?}").to_lowercase();
    match caller.settings_here() {
        Ok(settings) if settings.hands.profile.value == profile => {
            DoctorCheck::ok("profile", format!("{} is set", word(profile)))
        }
        Ok(settings) => DoctorCheck::problem(
            "profile",
            format!("{} is set", word(settings.hands.profile.value)),
            format!("`profile = \"{}\"` in `artel.toml`", word(profile)),
        ),
        Err(problems) => problems.0.first().map_or_else(
            || {
                DoctorCheck::problem(
                    "profile",
                    "the settings cannot be read",
                    "`artel config show`",
                )
            },
            |failure| DoctorCheck::of_failure("profile", failure),
        ),
    }
}

fn sandbox(engaged: &EngagedSandbox, profile: MachineProfile) -> DoctorCheck {
    let least = if profile == MachineProfile::Local {
        SandboxLevel::Partial
    } else {
        SandboxLevel::Full
    };
    if engaged.level >= least {
        return DoctorCheck::ok("sandbox", format!("level {}", engaged.level));
    }
    DoctorCheck::problem(
        "sandbox",
        format!("level {}, and {least} is demanded", engaged.level),
        engaged.missing(),
    )
}

/// Checks whether the layers with these names are active.
fn layer(engaged: &EngagedSandbox, area: &'static str, names: &[&str], what: &str) -> DoctorCheck {
    let missing = names.iter().find(|name| {
        let mut layers = engaged.layers.iter();
        !layers.any(|layer| layer.stands && layer.name.contains(*name))
    });
    match missing {
        None => DoctorCheck::ok(area, what),
        Some(name) => DoctorCheck::problem(area, format!("not shown: {what}"), {
            let detail = engaged
                .layers
                .iter()
                .find(|layer| layer.name.contains(name));
            detail.map_or_else(|| format!("no wall `{name}`"), |layer| layer.detail.clone())
        }),
    }
}

/// Checks whether everything is recorded in an intact journal.
fn audit(caller: &CommandContext) -> DoctorCheck {
    let Ok(workshop) = caller.workshop() else {
        return DoctorCheck::problem("audit", "there is no workshop", "`artel init`");
    };
    match workshop.reader_as_it_is() {
        Ok(_) => DoctorCheck::ok(
            "audit",
            "every call is journaled; `artel journal verify` proves the chain",
        ),
        Err(failure) => DoctorCheck::of_failure("audit", &failure),
    }
}

fn commands(caller: &CommandContext) -> DoctorCheck {
    match caller.policy(None) {
        Ok(policy) => DoctorCheck::ok(
            "policy",
            format!("readable, {} granted for good", policy.grants.len()),
        ),
        Err(problems) => problems.0.first().map_or_else(
            || DoctorCheck::problem("policy", "cannot be read", "`artel policy list`"),
            |failure| DoctorCheck::of_failure("policy", failure),
        ),
    }
}

/// Checks whether the skills found here meet the profile's demands.
fn skills(caller: &CommandContext, profile: MachineProfile) -> Vec<DoctorCheck> {
    let mut checks = match caller.skills_for_profile() {
        Ok(found) => vec![
            injection(caller, &found),
            size(caller, profile, &found),
            saving(&found),
        ],
        Err(problems) => problems
            .0
            .iter()
            .map(|failure| DoctorCheck::of_failure("skills", failure))
            .collect(),
    };
    let (depth, turns) = (TurnAllowance::MOST_DEPTH, TurnAllowance::MOST_TURNS);
    checks.push(DoctorCheck::ok(
        "depth",
        format!("forks go {depth} deep at most"),
    ));
    checks.push(DoctorCheck::ok(
        "turns",
        format!("a run with all that it calls ends after {turns} turns"),
    ));
    checks
}

/// Checks whether the commands in skills can be judged. Refused commands are not run; they
/// are listed because their authors meant them to run.
fn injection(caller: &CommandContext, found: &SkillsFound) -> DoctorCheck {
    let (mut all, mut refused) = (0_usize, Vec::new());
    for skill in &found.skills {
        let commands = TrustQuestion::about(skill).commands;
        match caller.judged(skill, commands) {
            Ok(judged) => {
                all += judged.len();
                let no = judged.iter().filter(|it| !it.allowed);
                refused.extend(no.map(|it| format!("{}: {}", skill.name, it.command)));
            }
            Err(problems) => return DoctorCheck::of_failure("injection", &problems.first()),
        }
    }
    let mut text = format!("commands in skills are judged and journaled ({all} in what is here");
    if !refused.is_empty() {
        text.push_str(&format!("; {} would be refused", refused.len()));
    }
    DoctorCheck::ok("injection", text + ")")
}

/// Checks whether any skill is larger than a prompt should carry.
fn size(caller: &CommandContext, profile: MachineProfile, found: &SkillsFound) -> DoctorCheck {
    let old: Vec<&str> = found
        .skills
        .iter()
        .filter(|skill| skill.front.legacy_large_file)
        .map(|skill| skill.name.as_str())
        .collect();
    if profile == MachineProfile::Production && !old.is_empty() {
        return DoctorCheck::problem(
            "size",
            format!("`legacy_large_file` in {}", old.join(", ")),
            format!("at most {MOST_LINES} lines each; move the rest to files beside `SKILL.md`"),
        );
    }
    let enforced = caller
        .settings_here()
        .is_ok_and(|settings| settings.runs.size_limit.value == SkillSizeChoice::Enforce);
    if profile == MachineProfile::Production && !enforced {
        return DoctorCheck::problem(
            "size",
            format!("skills of more than {MOST_LINES} lines only warn"),
            "`skills.size_limit = \"enforce\"` in `artel.toml`",
        );
    }
    let large: Vec<&str> = found
        .skills
        .iter()
        .filter(|skill| skill.lines > MOST_LINES)
        .map(|skill| skill.name.as_str())
        .collect();
    if large.is_empty() {
        return DoctorCheck::ok("size", format!("none has more than {MOST_LINES} lines"));
    }
    DoctorCheck::warning(
        "size",
        format!("more than {MOST_LINES} lines in {}", large.join(", ")),
        "move details to files beside `SKILL.md`; `artel skill validate` says where",
    )
}

/// Checks whether loading on demand saves enough, computed from the skill files found
/// here.
fn saving(found: &SkillsFound) -> DoctorCheck {
    let savings: Vec<(f64, &str)> = found
        .skills
        .iter()
        .filter_map(|skill| {
            Some((
                savings::usual(&SkillTokenSizes::of(skill))?,
                skill.name.as_str(),
            ))
        })
        .collect();
    if savings.is_empty() {
        return DoctorCheck::ok("context", "no skill brings files that are loaded on demand");
    }
    let sum: f64 = savings.iter().map(|(percent, _)| percent).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are few skills")]
    let mean = sum / savings.len() as f64;
    let count = savings.len();
    let text = format!("loading on demand saves {mean:.0} % in a usual run of {count} skills");
    let least = savings.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    match least {
        Some((_, name)) if mean < LEAST_SAVED => DoctorCheck::problem(
            "context",
            format!("{text}; {LEAST_SAVED:.0} % or more is expected"),
            format!("`{name}` saves least: move more of its `SKILL.md` and split its largest file"),
        ),
        _ => DoctorCheck::ok("context", text),
    }
}
