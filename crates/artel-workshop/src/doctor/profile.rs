//! The list to go through before a profile is relied on.

use artel_config::Profile;
use artel_sandbox::{Engaged, Level};

use super::Check;
use crate::caller::Caller;

pub(super) fn checks(caller: &Caller, profile: Profile) -> Vec<Check> {
    let engaged = caller
        .sandbox()
        .map(|(sandbox, _)| sandbox.engaged().clone());
    let engaged = engaged.unwrap_or(Engaged {
        level: Level::None,
        layers: Vec::new(),
    });
    vec![
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
        later("injection", "commands in skills are judged and journaled"),
        later("skill size", "no skill has `legacy_large_file`"),
        later("depth", "forks go two deep at most"),
        later("turns", "a run ends after 100 turns"),
        later("context", "supporting files are loaded on demand"),
    ]
}

/// Whether the settings say what is asked about.
fn demanded(caller: &Caller, profile: Profile) -> Check {
    let word = |profile: Profile| format!("{profile:?}").to_lowercase();
    match caller.settings_here() {
        Ok(settings) if settings.hands.profile.value == profile => {
            Check::ok("profile", format!("{} is set", word(profile)))
        }
        Ok(settings) => Check::problem(
            "profile",
            format!("{} is set", word(settings.hands.profile.value)),
            format!("`profile = \"{}\"` in `artel.toml`", word(profile)),
        ),
        Err(problems) => problems.0.first().map_or_else(
            || {
                Check::problem(
                    "profile",
                    "the settings cannot be read",
                    "`artel config show`",
                )
            },
            |failure| Check::of_failure("profile", failure),
        ),
    }
}

fn sandbox(engaged: &Engaged, profile: Profile) -> Check {
    let least = if profile == Profile::Local {
        Level::Partial
    } else {
        Level::Full
    };
    if engaged.level >= least {
        return Check::ok("sandbox", format!("level {}", engaged.level));
    }
    Check::problem(
        "sandbox",
        format!("level {}, and {least} is demanded", engaged.level),
        engaged.missing(),
    )
}

/// Whether the walls of these names stand.
fn layer(engaged: &Engaged, area: &'static str, names: &[&str], what: &str) -> Check {
    let missing = names.iter().find(|name| {
        let mut layers = engaged.layers.iter();
        !layers.any(|layer| layer.stands && layer.name.contains(*name))
    });
    match missing {
        None => Check::ok(area, what),
        Some(name) => Check::problem(area, format!("not shown: {what}"), {
            let detail = engaged
                .layers
                .iter()
                .find(|layer| layer.name.contains(name));
            detail.map_or_else(|| format!("no wall `{name}`"), |layer| layer.detail.clone())
        }),
    }
}

/// Whether everything is on record, unbroken.
fn audit(caller: &Caller) -> Check {
    let Ok(workshop) = caller.workshop() else {
        return Check::problem("audit", "there is no workshop", "`artel init`");
    };
    match workshop.reader() {
        Ok(_) => Check::ok(
            "audit",
            "every call is journaled; `artel journal verify` proves the chain",
        ),
        Err(failure) => Check::of_failure("audit", &failure),
    }
}

fn commands(caller: &Caller) -> Check {
    match caller.policy(None) {
        Ok(policy) => Check::ok(
            "policy",
            format!("readable, {} granted for good", policy.grants.len()),
        ),
        Err(problems) => problems.0.first().map_or_else(
            || Check::problem("policy", "cannot be read", "`artel policy list`"),
            |failure| Check::of_failure("policy", failure),
        ),
    }
}

/// What cannot be shown yet fails: a list with gaps is not passed.
fn later(area: &'static str, what: &str) -> Check {
    Check::problem(
        area,
        format!("not shown: {what}"),
        "this build does not run skills yet",
    )
}
