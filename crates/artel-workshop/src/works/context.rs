//! What the architect is given to read from the start: the workshop's own context, the portal's
//! card, reports of earlier work. It comes under a budget of tokens, and what is left out is said.

use std::path::{Path, PathBuf};

use artel_rules::excerpt::marked;
use artel_rules::loading::{self, Choice, File, Loaded, Strategy};
use artel_rules::tokens;
use artel_types::{Code, ContextLoaded, Failure, Timestamp};

use super::work::Work;
use crate::runs::House;

/// How much of the budget is used, in percent: estimates are estimates.
const MARGIN: u32 = 80;

/// No larger file is looked at.
const LARGEST: u64 = 4 << 20;

/// Reports that may matter; the rest can be read.
const MOST_REPORTS: usize = 20;

/// What was loaded.
pub(super) struct Context {
    /// What stands in the prompt.
    pub(super) text: String,
    /// What goes on record.
    pub(super) fact: ContextLoaded,
    /// What a person should know, a line each.
    pub(super) warnings: Vec<String>,
}

impl House {
    /// Loads what a plan of this piece of work may need to know.
    pub(super) fn load_context(&self, work: &Work) -> Result<Context, Failure> {
        let root = self.workshop.root();
        let mut paths = notes_in(&root.join("Knowledge/Context"));
        if let Some(portal) = &work.request.portal {
            paths.push(self.workshop.portal_card(portal));
        }
        let mut reports = notes_in(&root.join("Knowledge/Reports"));
        reports.reverse();
        let is_own = |path: &PathBuf| path.to_string_lossy().contains(&work.trace.short());
        paths.extend(
            reports
                .into_iter()
                .filter(|path| !is_own(path))
                .take(MOST_REPORTS),
        );
        let mut warnings = Vec::new();
        let mut texts = Vec::new();
        for path in paths {
            match read(root, &path) {
                Ok(Some(found)) => texts.push(found),
                Ok(None) => {}
                Err(why) => warnings.push(why),
            }
        }
        let settings = &self.workshop.settings.runs;
        let budget = loading::budget(settings.context_tokens.value, MARGIN);
        let strategy: Strategy = settings
            .context_strategy
            .value
            .as_str()
            .parse()
            .map_err(|_| Failure::new(Code::X001, "a strategy of the settings is not known"))?;
        let cap = Some(settings.context_file_tokens.value).filter(|cap| *cap > 0);
        let files: Vec<File> = texts.iter().map(|(file, _)| file.clone()).collect();
        let choice = loading::choose(&files, budget, strategy, cap);
        warnings.extend(choice.warnings.iter().cloned());
        let fact = ContextLoaded {
            strategy: strategy.to_string(),
            budget,
            tokens: choice.total,
            included: choice.included.iter().map(|it| it.path.clone()).collect(),
            skipped: choice.skipped.clone(),
            truncated: choice.truncated.iter().map(|it| it.path.clone()).collect(),
        };
        Ok(Context {
            text: laid_out(&choice, &texts),
            fact,
            warnings,
        })
    }
}

/// Returns the Markdown files of a folder, by name.
fn notes_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths
}

/// Reads a file; nothing where it is not there or empty.
fn read(root: &Path, path: &Path) -> Result<Option<(File, String)>, String> {
    let name = path
        .strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string();
    if !path.exists() {
        return Ok(None);
    }
    let bytes = artel_files::read_bounded(path, LARGEST)
        .map_err(|error| format!("`{name}` could not be read: {error}"))?;
    let text = marked(&String::from_utf8_lossy(&bytes)).into_owned();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let modified = std::fs::metadata(path).and_then(|about| about.modified());
    let since = modified
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let micros = since.and_then(|since| i64::try_from(since.as_micros()).ok());
    let file = File {
        path: name,
        tokens: tokens::of_bytes(text.len() as u64),
        modified: Timestamp::from_micros(micros.unwrap_or(0)),
        priority: 0,
    };
    Ok(Some((file, text)))
}

fn laid_out(choice: &Choice, texts: &[(File, String)]) -> String {
    let mut out = String::new();
    for Loaded { path, tokens: kept } in &choice.included {
        let Some((file, text)) = texts.iter().find(|(file, _)| file.path == *path) else {
            continue;
        };
        let shown = if *kept < file.tokens {
            let most =
                usize::try_from(kept.saturating_mul(tokens::BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
            format!(
                "{}\n[cut]",
                &text[..text.floor_char_boundary(most.min(text.len()))]
            )
        } else {
            text.clone()
        };
        out.push_str(&format!(
            "\n<context file=\"{path}\">\n{}\n</context>",
            shown.trim_end()
        ));
    }
    if let Some(block) = &choice.warning_block {
        out.push('\n');
        out.push_str(block);
    }
    out
}
