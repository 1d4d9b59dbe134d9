//! Preserves people's words in files that Artel also writes.
//!
//! Before such a file is overwritten, its text is compared with the journal. Words that
//! are not on record belong to a person: they are kept in a file of their own in
//! `Inbox/Archive`, and a note beside the original says where they are and what to do with
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_rules::plan::markdown::{
    ParsedPlanDocument, PlanDocument, PlanFrontmatter, parse, render,
};
use artel_rules::request::file::{ParsedRequestFile, RequestStatus};
use artel_skills::read_request;
use artel_types::plan::Plan;
use artel_types::{Failure, FailureCode};

use super::note;
use crate::private::{PRIVATE_FILE, PRIVATE_FOLDER};
use crate::trouble::file_failure;
use crate::works::acts::free_beside;
use crate::works::sheets::{FOLDERS, hash_of, read_text};
use crate::works::work::Work;
use crate::workshop::Workshop;

/// The folder for files of finished work and for preserved copies.
const ARCHIVE: &str = "Inbox/Archive";

/// A file with a person's words that are not on record.
pub(crate) struct UnrecordedTextFile {
    pub(crate) file: PathBuf,
    /// The words, or `None` if they are not UTF-8 text.
    text: Option<String>,
}

/// Preserved copies of a person's texts: the original place and the place of the copy.
#[derive(Default)]
pub(crate) struct PreservedTexts(Vec<PreservedTextCopy>);

struct PreservedTextCopy {
    /// The original file, relative to the workshop.
    shown: String,
    /// The copy, relative to the workshop.
    copy: String,
    at: PathBuf,
    /// Whether the copy was made just now.
    is_fresh: bool,
}

impl PreservedTexts {
    /// Says where the copies are.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|it| {
            format!(
                "`{}` said something that nobody had taken yet; it is kept in `{}`",
                it.shown, it.copy
            )
        })
    }

    /// Removes the new copies, because the originals stay in place.
    pub(crate) fn discard(&self) {
        for copy in self.0.iter().filter(|it| it.is_fresh) {
            drop(std::fs::remove_file(&copy.at));
        }
    }

    /// Writes a note beside a rewritten page that is never looked at again, to say where the
    /// person's words are.
    pub(crate) fn tell_for_good(&self, file: &Path, advice: &str) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> = self.notes().collect();
        lines.push(advice.to_owned());
        note::tell_for_good(file, &lines)
    }

    /// Writes a note beside a rewritten file, to say where the person's words are.
    pub(crate) fn tell(&self, file: &Path, advice: &str) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> = self.notes().collect();
        lines.push(advice.to_owned());
        note::tell(file, &lines)
    }
}

impl Workshop {
    /// Returns the files of a plan that hold a person's words, in any folder. `ours` is the
    /// text that would be written.
    pub(crate) fn theirs_in_plan(&self, work: &Work, ours: &str) -> Vec<UnrecordedTextFile> {
        let name = format!("{}_plan.md", work.name());
        let files = FOLDERS
            .iter()
            .map(|folder| self.root.join(folder).join(&name));
        files
            .filter_map(|file| self.theirs_at(work, file, ours))
            .collect()
    }

    fn theirs_at(&self, work: &Work, file: PathBuf, ours: &str) -> Option<UnrecordedTextFile> {
        if !file.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let text = read_text(&file);
        let is_known = text.as_ref().is_some_and(|text| {
            text.trim().is_empty() || text == ours || self.is_on_record(work, text)
        });
        (!is_known).then_some(UnrecordedTextFile { file, text })
    }

    /// Returns whether a text equals a recorded version, with recorded comments only.
    pub(crate) fn is_on_record(&self, work: &Work, text: &str) -> bool {
        let Ok(parsed) = parse(text) else {
            return false;
        };
        parsed.head.trace == work.trace
            && added(work, &parsed).is_empty()
            && self.version_saying(work, &parsed).is_some()
    }

    /// Returns the newest version with the same plan as a text.
    pub(crate) fn version_saying(&self, work: &Work, parsed: &ParsedPlanDocument) -> Option<u32> {
        let (_, hash) = hash_of(&parsed.plan).ok()?;
        let mut versions = work.versions.iter().rev();
        let same = versions.find(|it| it.fact.hash == hash);
        // Writing and reading can change a plan slightly, so compare with each version as it would
        // be read back.
        let same = same.or_else(|| {
            work.versions.iter().rev().find(|it| {
                let plan = self.plan_of(work, Some(it.fact.version));
                let plan = plan
                    .ok()
                    .and_then(|(_, plan)| read_back(plan, &parsed.head));
                plan.and_then(|plan| hash_of(&plan).ok())
                    .is_some_and(|(_, it)| it == hash)
            })
        });
        same.map(|it| it.fact.version)
    }

    /// Keeps copies of a person's words in the archive. Equal texts are kept once.
    pub(crate) fn keep_theirs(
        &self,
        theirs: &[UnrecordedTextFile],
        stem: &str,
    ) -> Result<PreservedTexts, Failure> {
        let mut kept = PreservedTexts::default();
        let failed = |error| file_failure(FailureCode::W008, &error);
        for one in theirs {
            let archive = self.root.join(ARCHIVE);
            artel_files::make_dirs(&archive, PRIVATE_FOLDER).map_err(failed)?;
            let stem = format!("{stem}_unread");
            let known = one
                .text
                .as_ref()
                .and_then(|it| known_copy(&archive, &stem, it));
            let is_fresh = known.is_none();
            let at = known.unwrap_or_else(|| free_beside(&archive.join("x.md"), &stem));
            match &one.text {
                Some(text) if is_fresh => {
                    artel_files::write_atomic(&at, text.as_bytes(), PRIVATE_FILE)
                        .map_err(failed)?;
                }
                Some(_) => {}
                None => std::fs::rename(&one.file, &at).map_err(|error| {
                    let what = format!("`{}` cannot be kept", one.file.display());
                    Failure::new(FailureCode::W008, what).because(error.to_string())
                })?,
            }
            kept.0.push(PreservedTextCopy {
                shown: self.in_workshop(&one.file),
                copy: self.in_workshop(&at),
                at,
                is_fresh,
            });
        }
        Ok(kept)
    }

    /// Returns the names of fields in which a request's file differs from the journal, empty
    /// if a person changed none.
    pub(crate) fn changed_in_request(
        &self,
        work: &Work,
        read: &ParsedRequestFile,
    ) -> Result<Vec<&'static str>, Failure> {
        let asked = &work.request;
        let words = self.whole_text(&asked.words)?;
        let redactor = self.redactor();
        let is_over = |status: RequestStatus| {
            use RequestStatus as S;
            !matches!(status, S::Pending | S::Processing | S::Planned | S::Active)
        };
        // An older status of open work is fine, but not an end that was never reached.
        let ended = read.status.is_some_and(is_over) && !is_over(work.status());
        let changed = [
            ("body", redactor.redact(read.words.trim()) != words.trim()),
            (
                "priority",
                read.priority.is_some_and(|it| it != asked.urgency),
            ),
            (
                "agent",
                read.agent.as_ref().is_some_and(|it| *it != asked.agent),
            ),
            (
                "portal",
                read.portal.is_some() && read.portal != asked.portal,
            ),
            (
                "verify",
                read.verify.is_some() && read.verify != asked.verify,
            ),
            ("status", ended),
        ];
        let changed = changed.into_iter().filter(|(_, is_changed)| *is_changed);
        Ok(changed.map(|(field, _)| field).collect())
    }

    /// Before the file of a request is overwritten, keeps what a person wrote into it since it
    /// was taken in.
    pub(crate) fn keep_request(&self, work: &Work, file: &Path) -> Result<PreservedTexts, Failure> {
        if !file.symlink_metadata().is_ok_and(|about| about.is_file()) {
            return Ok(PreservedTexts::default());
        }
        let text = read_text(file);
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Ok(PreservedTexts::default());
        }
        let read = text.as_ref().and_then(|text| read_request(text).ok());
        if let Some(read) = read {
            let changed = self.changed_in_request(work, &read)?;
            if changed.iter().all(|field| *field == "status") {
                return Ok(PreservedTexts::default());
            }
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let file = file.to_owned();
        self.keep_theirs(&[UnrecordedTextFile { file, text }], &stem)
    }

    /// Keeps a page before it is overwritten, unless it is as it was written.
    pub(crate) fn keep_page(
        &self,
        file: &Path,
        is_as_written: impl Fn(&str) -> bool,
    ) -> Result<PreservedTexts, Failure> {
        if !file.symlink_metadata().is_ok_and(|about| about.is_file()) {
            return Ok(PreservedTexts::default());
        }
        let text = read_text(file);
        if text.as_deref().is_some_and(is_as_written) {
            return Ok(PreservedTexts::default());
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let file = file.to_owned();
        self.keep_theirs(&[UnrecordedTextFile { file, text }], &stem)
    }

    /// Returns a path relative to the workshop, as people see it.
    pub(crate) fn in_workshop(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        inside.display().to_string()
    }
}

/// Returns the comments that a person added by hand.
pub(super) fn added(work: &Work, parsed: &ParsedPlanDocument) -> Vec<String> {
    let known = work.course.comments().iter();
    let known: Vec<String> = known
        .map(|it| format!("(v{}) {}", it.version, it.text))
        .collect();
    // The file may also have held the reason for a rejection.
    let why = work.course.why().unwrap_or_default();
    let is_known = |text: &String| known.contains(text) || why.contains(text.as_str());
    let remarks = parsed.remarks.iter();
    let new = remarks.filter(|it| it.by.is_none() && !is_known(&it.text));
    new.map(|it| it.text.clone()).collect()
}

/// Returns what a person can do with words about a plan that could not be taken in.
pub(crate) fn advice_for(work: &Work) -> String {
    let short = work.trace.short();
    match work.course.state() {
        Some(state) if state.is_over() => {
            format!("the plan is {state}: `artel ask \"…\"` asks for what is still to be done")
        }
        _ => format!(
            "`artel plan edit {short}` makes a text of yours the next version, \
             `artel plan revise {short} --comment \"…\"` has the architect write it"
        ),
    }
}

/// Returns what a person can do who wants something other than the recorded request.
pub(crate) fn advice_for_request(work: &Work) -> String {
    let short = work.trace.short();
    format!(
        "a request stays as it was taken: save other words as a file of their own, without \
         `trace_id`, to ask anew; `artel plan revise {short} --comment \"…\"` changes its plan, \
         `artel plan cancel {short}` calls it off"
    )
}

/// Returns a plan as it is read back from its own file, so that differences from writing
/// and reading are not taken for a person's edits.
fn read_back(plan: Plan, head: &PlanFrontmatter) -> Option<Plan> {
    let sheet = PlanDocument {
        head: head.clone(),
        plan,
        progress: BTreeMap::new(),
        remarks: Vec::new(),
        links: Vec::new(),
    };
    parse(&render(&sheet)).ok().map(|parsed| parsed.plan)
}

fn known_copy(archive: &Path, stem: &str, text: &str) -> Option<PathBuf> {
    let numbered = (2_u32..).map(|number| format!("{stem}_{number}.md"));
    let names = std::iter::once(format!("{stem}.md")).chain(numbered);
    let places = names.map(|name| archive.join(name));
    let mut there = places.take_while(|place| place.symlink_metadata().is_ok());
    there.find(|place| read_text(place).as_deref() == Some(text))
}
