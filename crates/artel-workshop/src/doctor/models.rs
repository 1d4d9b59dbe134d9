//! Checks of models and keys: which model would be called, and whether it can be.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use artel_types::FailureCode;

use super::Check;
use crate::caller::Caller;
use crate::models::{Models, key_origin};
use crate::trouble::Problems;

/// Time limit for reaching a local server: it answers at once or is not running.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) fn checks(caller: &Caller) -> Vec<Check> {
    // Another check reports settings that cannot be read.
    let Ok(settings) = caller.settings_here() else {
        return Vec::new();
    };
    let mut checks = vec![default_model(&Models::bare(caller, &settings))];
    if let Err(Problems(failures)) = caller.key_status() {
        checks.extend(
            failures
                .iter()
                .map(|failure| Check::of_failure("keys", failure)),
        );
    }
    let short = caller.short_keys();
    if short > 0 {
        checks.push(Check::warning(
            "keys",
            format!("{short} stored too short to be kept out of logs and the journal"),
            "`artel auth status` lists them",
        ));
    }
    checks
}

/// Checks the default model without calling it: a check must not cost money or wait for
/// the network.
fn default_model(models: &Models) -> Check {
    let chosen = match models.choose(None) {
        Ok(chosen) => chosen,
        Err(failure) if failure.code == FailureCode::M004 && has_ollama() => {
            return Check::ok("models", "default: a model of the local Ollama");
        }
        Err(failure) if failure.code == FailureCode::M004 => {
            return Check::warning(
                "models",
                "no key and no local model",
                "`artel auth set PROVIDER`",
            );
        }
        Err(failure) => return Check::of_failure("models", &failure),
    };
    let name = format!(
        "default: {}:{} ({})",
        chosen.entry.provider, chosen.entry.model, chosen.resolved
    );
    match models.key_of(&chosen.entry) {
        Ok(Some(found)) => Check::ok(
            "models",
            format!("{name}, key from {}", key_origin(Some(&found))),
        ),
        Ok(None) if models.needs_key(&chosen) => Check::warning(
            "models",
            format!("{name}, no key"),
            format!("`artel auth set {}`", chosen.entry.provider),
        ),
        Ok(None) => Check::ok("models", name),
        Err(failure) => Check::of_failure("models", &failure),
    }
}

fn has_ollama() -> bool {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 11_434));
    TcpStream::connect_timeout(&usual, PATIENCE).is_ok()
}
