//! Checks of the work: tests, formatters, diagnostics.
//!
//! Tables with an explicit order decide from the project's own files which programs it
//! uses, so that the same tree always gives the same choice. Nothing is ever installed: a
//! program that is configured but missing is reported with the command that a person can
//! run.

mod checker;
mod command;
mod detect;
mod diagnostics;
mod finding;
mod format;
mod formatter;
mod launch;
mod parse;
mod project;
mod report;
mod run_tests;
mod runner;
mod survey;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use project::ProgramSearchPath;

use crate::{Tool, ToolCrashRecovery, ToolDescriptor, ToolSchemaDelivery};

/// Returns the tools that check the work.
pub fn check_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(run_tests::RunTestsTool::new()),
        Arc::new(format::FormatFilesTool::new()),
        Arc::new(diagnostics::DiagnosticsTool::new()),
    ]
}

/// Fills in the fields that these tools have in common.
fn card(name: &str, line: &str, description: &str, input: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: name.to_owned(),
        line: line.to_owned(),
        description: description.to_owned(),
        input,
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Once,
        bundle: "checks",
        keywords: &[],
        reach: ToolSchemaDelivery::Found,
    }
}

#[cfg(test)]
mod tests;
