//! The file tools: reading, writing, changing, finding.
//!
//! Every byte goes through the tree's handle, and the run's guard judges the real path of
//! a file. Output for a model has a size limit, and says what was left out.

mod change;
mod diff;
mod edit;
mod glob;
mod grep;
mod kind;
mod list;
mod near;
mod notebook;
mod page;
mod patch;
mod pdf;
mod read;
mod replace;
mod search;
mod spot;
mod text;
mod walk;
mod write;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use spot::inside_hint;

use crate::{Tool, ToolCrashRecovery, ToolDescriptor, ToolSchemaDelivery};

/// Largest file that is read whole or changed, in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Returns the tools that work on files.
pub fn file_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::ReadFileTool::new()),
        Arc::new(write::WriteFileTool::new()),
        Arc::new(edit::EditFileTool::new()),
        Arc::new(glob::GlobTool::new()),
        Arc::new(grep::GrepTool::new()),
        Arc::new(list::ListFolderTool::new()),
        Arc::new(edit::MultiEditTool::new()),
        Arc::new(write::BatchWriteTool::new()),
        Arc::new(patch::ApplyPatchTool::new()),
    ]
}

/// Fills in the fields that the file tools have in common; each tool sets the rest.
fn card(name: &str, line: &str, description: &str, input: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: name.to_owned(),
        line: line.to_owned(),
        description: description.to_owned(),
        input,
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Once,
        bundle: "files",
        keywords: &[],
        reach: ToolSchemaDelivery::Found,
    }
}

/// Formats a number of bytes.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
