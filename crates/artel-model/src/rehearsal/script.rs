//! A script, written by hand: which requests get which replies.

use artel_types::Failure;
use artel_types::model::{ModelFault, ModelRequest};
use serde::Deserialize;
use serde_saphyr::options::MergeKeyPolicy;
use serde_saphyr::{Options, Spanned};

use super::beat::RehearsalEvent;
use super::complaint::{unreadable, unusable};
use super::difference::{RehearsalMismatch, off_script, window};
use super::line::RehearsalLine;

/// Largest script in bytes. Scripts are written by hand.
const LARGEST: usize = 1024 * 1024;
/// Deepest nesting in a script. Only arguments could be deeper, and nobody writes such
/// arguments by hand.
pub(super) const DEEPEST: usize = 32;
/// Longest part of a name that is shown, in characters.
const LONGEST_NAME: usize = 100;

/// A script, with its state of play.
#[derive(Debug)]
pub(super) struct RehearsalScript {
    name: String,
    lines: Vec<RehearsalScriptEntry>,
    rules: Vec<RehearsalScriptEntry>,
    otherwise: Option<RehearsalScriptEntry>,
}

/// A script line, with its place in the file.
#[derive(Debug)]
struct RehearsalScriptEntry {
    at: u64,
    line: RehearsalLine,
    /// Number of uses left, or `None` for unlimited.
    left: Option<u32>,
    has_spoken: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RehearsalScriptFile {
    #[serde(default)]
    lines: Vec<Spanned<RehearsalLine>>,
    #[serde(default)]
    rules: Vec<Spanned<RehearsalLine>>,
    otherwise: Option<Spanned<RehearsalLine>>,
}

impl RehearsalScript {
    /// Reads a script. Messages refer to it as `name`.
    pub(super) fn read(text: &str, name: &str) -> Result<Self, Failure> {
        let name = window(name, 0, LONGEST_NAME);
        if text.len() > LARGEST {
            let why = "it has more than 1 MiB; a script is written by hand";
            return Err(unusable(&name, why));
        }
        let written: RehearsalScriptFile = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| unreadable(&name, &error))?;
        let script = Self {
            lines: entries(&name, written.lines, Some(1))?,
            rules: entries(&name, written.rules, None)?,
            otherwise: entries(&name, written.otherwise, None)?.pop(),
            name,
        };
        script.check()?;
        Ok(script)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.lines.is_empty() && self.rules.is_empty() && self.otherwise.is_none() {
            let why = "it is empty; expected `lines`, `rules` or `otherwise`";
            return Err(unusable(&self.name, why));
        }
        if let Some(rule) = self.rules.iter().find(|rule| rule.line.expect.is_empty()) {
            let why = "a rule needs `expect`; what answers everything is `otherwise`";
            return Err(unusable(&format!("{}:{}", self.name, rule.at), why));
        }
        let odd =
            |entry: &&RehearsalScriptEntry| !entry.line.expect.is_empty() || entry.left.is_some();
        if let Some(entry) = self.otherwise.as_ref().filter(odd) {
            let why = "`otherwise` answers everything for ever; it takes no `expect` or `times`";
            return Err(unusable(&format!("{}:{}", self.name, entry.at), why));
        }
        Ok(())
    }

    /// Replies with the first rule that fits, else with the next line, else with `otherwise`.
    pub(super) fn answer(
        &mut self,
        request: &ModelRequest,
    ) -> Result<Vec<RehearsalEvent>, ModelFault> {
        let fits = |rule: &&mut RehearsalScriptEntry| {
            rule.left != Some(0) && rule.differences(request).is_empty()
        };
        if let Some(rule) = self.rules.iter_mut().find(fits) {
            return Ok(rule.speak(request));
        }
        if let Some(next) = self.lines.iter_mut().find(|line| line.left != Some(0)) {
            let differences = next.differences(request);
            if differences.is_empty() {
                drop(differences);
                return Ok(next.speak(request));
            }
            let head = format!("{}:{} expects another request", self.name, next.at);
            return Err(off_script(&head, &differences));
        }
        match &mut self.otherwise {
            Some(otherwise) => Ok(otherwise.speak(request)),
            None => Err(self.nothing_left(request)),
        }
    }

    fn nothing_left(&self, request: &ModelRequest) -> ModelFault {
        let nearest = self
            .rules
            .iter()
            .filter(|rule| rule.left != Some(0))
            .map(|rule| (rule.at, rule.differences(request)))
            .min_by_key(|(_, differences)| differences.len());
        let had = self.lines.len() + self.rules.len();
        match nearest {
            None => off_script(&format!("the script has no line left (it had {had})"), &[]),
            Some((at, differences)) => {
                let name = &self.name;
                let head = format!("no rule of {name} fits; the nearest one is in line {at}");
                off_script(&head, &differences)
            }
        }
    }

    /// Returns how many lines and rules were never used.
    pub(super) fn unused(&self) -> usize {
        let entries = self.lines.iter().chain(&self.rules);
        entries.map(RehearsalScriptEntry::unused).sum()
    }
}

impl RehearsalScriptEntry {
    fn differences<'a>(&'a self, request: &'a ModelRequest) -> Vec<RehearsalMismatch<'a>> {
        self.line.expect.differences(request)
    }

    fn speak(&mut self, request: &ModelRequest) -> Vec<RehearsalEvent> {
        self.has_spoken = true;
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.line.beats(request)
    }

    fn unused(&self) -> usize {
        match self.left {
            Some(left) => left as usize,
            None => usize::from(!self.has_spoken),
        }
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        // Reusing a text by an alias is worth less than the certainty that a small file stays
        // small.
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: DEEPEST,
            flow_nesting_limit: DEEPEST,
        },
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn entries(
    name: &str,
    written: impl IntoIterator<Item = Spanned<RehearsalLine>>,
    times: Option<u32>,
) -> Result<Vec<RehearsalScriptEntry>, Failure> {
    let entry = |spanned: Spanned<RehearsalLine>| {
        let (at, line) = (spanned.referenced.line(), spanned.value);
        if let Some(why) = line.problem() {
            return Err(unusable(&format!("{name}:{at}"), why));
        }
        let left = line.times.map(std::num::NonZeroU32::get).or(times);
        let has_spoken = false;
        Ok(RehearsalScriptEntry {
            at,
            line,
            left,
            has_spoken,
        })
    };
    written.into_iter().map(entry).collect()
}
