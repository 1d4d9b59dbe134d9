//! The notes that the architect gets to read from the start: the workshop's own context,
//! the portal's card, and reports of earlier work. Their tokens are limited by a budget,
//! and the prompt says what was left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_rules::excerpt::marked;
use artel_rules::loading::{
    self, ContextFileCandidate, ContextLoadOutcome, ContextLoadStrategy, LoadedContextFile,
};
use artel_rules::tokens;
use artel_types::model::PrivacyLabel;
use artel_types::{ContextLoaded, Failure, FailureCode, ForeignSource, Timestamp, TraceId};

use super::inbox::note;
use super::work::Work;
use crate::portals::PortalPrivacyLabels;
use crate::runs::RunEnvironment;

/// Share of the token budget that is used, in percent, because token counts are estimates.
const MARGIN: u32 = 80;

/// Largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// Largest number of reports that are loaded. The architect can read others itself.
const MOST_REPORTS: usize = 20;

/// The notes that were loaded.
pub(super) struct PlanningContext {
    /// The text in the prompt.
    pub(super) text: String,
    /// The event to record.
    pub(super) fact: ContextLoaded,
    /// Untrusted sources of the work behind the included reports.
    pub(super) foreign: Vec<ForeignSource>,
    /// Warnings for the person, a line each.
    pub(super) warnings: Vec<String>,
}

impl RunEnvironment {
    /// Loads the notes that a plan of this piece of work may need.
    pub(super) fn load_context(&self, work: &Work) -> Result<PlanningContext, Failure> {
        let root = self.workshop.root();
        let mut paths = notes_in(&root.join("Knowledge/Context"));
        if let Some(portal) = &work.request.portal {
            paths.push(self.workshop.portal_card(portal));
        }
        let mut warnings = Vec::new();
        let mut texts = Vec::new();
        for path in paths {
            match read(root, &path) {
                Ok(Some(found)) => texts.push(found),
                Ok(None) => {}
                Err(why) => warnings.push(why),
            }
        }
        self.load_reports(work, (&mut texts, &mut warnings))?;
        let settings = &self.workshop.settings.runs;
        let budget = loading::budget(settings.context_tokens.value, MARGIN);
        let strategy: ContextLoadStrategy = settings
            .context_strategy
            .value
            .as_str()
            .parse()
            .map_err(|_| {
                Failure::new(FailureCode::X001, "a strategy of the settings is not known")
            })?;
        let cap = Some(settings.context_file_tokens.value).filter(|cap| *cap > 0);
        let files: Vec<ContextFileCandidate> = texts.iter().map(|(file, _)| file.clone()).collect();
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
        Ok(PlanningContext {
            text: laid_out(&choice, &texts),
            foreign: self.foreign_in_reports(&choice, &texts)?,
            fact,
            warnings,
        })
    }

    /// Returns the untrusted sources of the work behind the chosen reports, since their words
    /// may be in the reports.
    fn foreign_in_reports(
        &self,
        choice: &ContextLoadOutcome,
        texts: &[(ContextFileCandidate, String)],
    ) -> Result<Vec<ForeignSource>, Failure> {
        let mut foreign = Vec::new();
        for (file, text) in texts {
            let is_shown = choice.included.iter().any(|it| it.path == file.path);
            if let Some(trace) = front_trace(text).filter(|_| is_shown) {
                let unknown = ForeignSource::file(&file.path);
                foreign.extend(self.foreign_behind(trace, unknown)?);
            }
        }
        Ok(foreign)
    }

    /// Reads the newest reports of other work. Reports of projects whose content stays on this
    /// machine are only for plans that also stay here.
    fn load_reports(
        &self,
        work: &Work,
        (texts, warnings): (&mut Vec<(ContextFileCandidate, String)>, &mut Vec<String>),
    ) -> Result<(), Failure> {
        let reader = self.journal.reader();
        let homebound = match self.privacy(self.privacy_of(work)) {
            PrivacyLabel::LocalOnly => BTreeSet::new(),
            PrivacyLabel::Any => PortalPrivacyLabels::read(reader)?.works(reader)?,
        };
        let shorts: Vec<String> = homebound.iter().map(TraceId::short).collect();
        let own = work.trace.short();
        let root = self.workshop.root();
        let mut reports = notes_in(&root.join("Knowledge/Reports"));
        reports.reverse();
        let (mut count, mut left) = (0, 0);
        for path in reports {
            let name = path.to_string_lossy();
            if name.contains(&own) || count == MOST_REPORTS {
                continue;
            }
            // The text of a renamed report still names its piece of work.
            let may_go = |text: &str| {
                let trace = front_trace(text);
                !trace.is_some_and(|trace| homebound.contains(&trace))
            };
            let is_named = shorts.iter().any(|short| name.contains(short));
            match read(root, &path) {
                Ok(Some((_, text))) if is_named || !may_go(&text) => left += 1,
                Ok(Some(found)) => {
                    texts.push(found);
                    count += 1;
                }
                Ok(None) => {}
                Err(_) if is_named => left += 1,
                Err(why) => {
                    warnings.push(why);
                    count += 1;
                }
            }
        }
        if left > 0 {
            // Only the person sees this count, since even the name of a report says what it is
            // about.
            let reports = artel_types::counted(left, "report");
            self.company.audience.notice(&format!(
                "the architect is not shown {reports} of portals whose content stays on this machine"
            ));
        }
        Ok(())
    }
}

/// Returns the trace that a report's frontmatter names.
fn front_trace(text: &str) -> Option<TraceId> {
    let front = text.strip_prefix("---\n")?;
    let mut lines = front.lines().take_while(|line| *line != "---");
    let value = lines.find_map(|line| line.strip_prefix("trace_id:"))?;
    value.trim().trim_matches('"').parse().ok()
}

/// Returns the Markdown files of a folder, by name.
fn notes_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.retain(|path| !note::is_one(path));
    paths.sort();
    paths
}

/// Reads a file. Returns `None` if it does not exist or is empty.
fn read(root: &Path, path: &Path) -> Result<Option<(ContextFileCandidate, String)>, String> {
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
    let file = ContextFileCandidate {
        path: name,
        tokens: tokens::of_bytes(text.len() as u64),
        modified: Timestamp::from_micros(micros.unwrap_or(0)),
        priority: 0,
    };
    Ok(Some((file, text)))
}

fn laid_out(choice: &ContextLoadOutcome, texts: &[(ContextFileCandidate, String)]) -> String {
    let mut out = String::new();
    for LoadedContextFile { path, tokens: kept } in &choice.included {
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
