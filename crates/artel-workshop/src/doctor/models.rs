//! Checks of models and keys: which model would be called, and whether it can be.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use artel_types::FailureCode;

use super::DoctorCheck;
use crate::caller::CommandContext;
use crate::models::{ModelDirectory, key_origin};
use crate::trouble::WorkshopFailures;

/// Time limit for reaching a local server: it answers at once or is not running.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) fn checks(caller: &CommandContext) -> Vec<DoctorCheck> {
    // Another check reports settings that cannot be read.
    let Ok(settings) = caller.settings_here() else {
        return Vec::new();
    };
    let mut checks = vec![default_model(&ModelDirectory::bare(caller, &settings))];
    if let Err(WorkshopFailures(failures)) = caller.key_status() {
        checks.extend(
            failures
                .iter()
                .map(|failure| DoctorCheck::of_failure("keys", failure)),
        );
    }
    let short = caller.short_keys();
    if short > 0 {
        checks.push(DoctorCheck::warning(
            "keys",
            format!("{short} stored too short to be kept out of logs and the journal"),
            "`artel auth status` lists them",
        ));
    }
    checks
}

/// Checks the default model without calling it: a check must not cost money or wait for
/// the network.
fn default_model(models: &ModelDirectory) -> DoctorCheck {
    let chosen = match models.choose(None) {
        Ok(chosen) => chosen,
        Err(failure) if failure.code == FailureCode::M004 && has_ollama() => {
            return DoctorCheck::ok("models", "default: a model of the local Ollama");
        }
        Err(failure) if failure.code == FailureCode::M004 => {
            return DoctorCheck::warning(
                "models",
                "no key and no local model",
                "`artel auth set PROVIDER`",
            );
        }
        Err(failure) => return DoctorCheck::of_failure("models", &failure),
    };
    let name = format!(
        "default: {}:{} ({})",
        chosen.entry.provider, chosen.entry.model, chosen.resolved
    );
    match models.key_of(&chosen.entry) {
        Ok(Some(found)) => DoctorCheck::ok(
            "models",
            format!("{name}, key from {}", key_origin(Some(&found))),
        ),
        Ok(None) if models.needs_key(&chosen) => DoctorCheck::warning(
            "models",
            format!("{name}, no key"),
            format!("`artel auth set {}`", chosen.entry.provider),
        ),
        Ok(None) => DoctorCheck::ok("models", name),
        Err(failure) => DoctorCheck::of_failure("models", &failure),
    }
}

fn has_ollama() -> bool {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 11_434));
    TcpStream::connect_timeout(&usual, PATIENCE).is_ok()
}
