//! Requests that people put into `Inbox/Requests` as files.
//!
//! A file belongs to a request by its `trace_id`, and by its name as long as that request
//! is not over. So a file is still the same request after an editor saves over it that had
//! it open before it was completed, and after it is renamed. A copy beside the original is
//! reported as a copy and not taken in.

use std::cmp::Reverse;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use artel_files::FileError;
use artel_journal::{AppendAcknowledgement, EventBatch, JournalAppendError};
use artel_rules::request::file::{
    ParsedRequestFile, Request, RequestOrigin, RequestStatus, render,
};
use artel_skills::{FileComplaint, read_request};
use artel_types::{
    EventDraft, Failure, FailureCode, RequestMoved, RequestRefused, StreamName, Timestamp, TraceId,
};

use super::look::InboxScanContext;
use super::theirs::advice_for_request;
use super::{Due, InboxFileKind, InboxFileOutcome, REQUESTS, note};
use crate::caller::fresh_trace;
use crate::portals::Portal;
use crate::private::PRIVATE_FILE;
use crate::trouble::file_failure;
use crate::works::ask::{RequestSubmission, UnrecordedRequest};
use crate::works::sheets::{LONGEST_FILE, read_text};

/// A field that cannot be used, and the remedy.
pub(super) type Trouble = (String, String);

/// The outcome of a look at a request file.
enum RequestFileOutcome {
    /// The file is known already, or another process is at work on it. The next scan takes it
    /// in.
    Nothing,
    /// A new request. Its file is complete.
    New(Box<UnrecordedRequest>),
    /// A request under another name, or with its frontmatter restored.
    Known(InboxFileOutcome),
}

/// The reason why a file that a run put there is not a request.
const PLACED: &str = "a run put it here, so Artel does not take it for your request; save what you \
                      want of it under another name";

/// The reason why a file is not taken in.
enum RequestFileRefusal {
    /// The person has to fix the file.
    Wrong(Vec<Trouble>),
    Failed(Failure),
}

impl From<Failure> for RequestFileRefusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl InboxScanContext<'_> {
    /// Takes in new requests and reports the problems of files that cannot be taken. All
    /// events are sent to the journal before any of them is waited for.
    pub(super) fn take_requests(
        &mut self,
        files: &[PathBuf],
        found: &mut Vec<InboxFileOutcome>,
    ) -> Result<Vec<Due>, Failure> {
        let (mut taken, mut refused): (
            Vec<(AppendAcknowledgement, InboxFileOutcome, Due)>,
            Vec<AppendAcknowledgement>,
        ) = Default::default();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let shown = format!("{REQUESTS}/{name}");
            match self.take_request(file, &shown) {
                Ok(RequestFileOutcome::Nothing) => note::settle(file),
                Ok(RequestFileOutcome::Known(known)) => {
                    note::settle(file);
                    found.push(known);
                }
                Ok(RequestFileOutcome::New(prospect)) => {
                    note::clear(file);
                    let ack = self.send(&prospect)?;
                    let at = self.workshop.caller.clock.now();
                    taken.push((ack, said(&prospect), due(&prospect, at)));
                }
                Err(RequestFileRefusal::Wrong(troubles)) => {
                    let (text, ack) = self.refuse(file, &shown, &troubles)?;
                    refused.extend(ack);
                    found.push(InboxFileOutcome {
                        file: shown,
                        what: "refused",
                        trace: None,
                        text,
                    });
                }
                Err(RequestFileRefusal::Failed(failure)) => return Err(failure),
            }
        }
        for ack in refused {
            ack.wait()?;
        }
        let mut turns = Vec::with_capacity(taken.len());
        for (ack, said, due) in taken {
            match ack.wait() {
                Ok(_) => {}
                // Another process recorded it meanwhile, so it belongs to that process.
                Err(JournalAppendError::Conflict { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
            found.push(said);
            turns.push(due);
        }
        Ok(turns)
    }

    fn take_request(
        &mut self,
        file: &Path,
        shown: &str,
    ) -> Result<RequestFileOutcome, RequestFileRefusal> {
        if let Some(why) = unfit(file, shown) {
            return Err(wrong("file", why));
        }
        let bytes = artel_files::read_bounded(file, LONGEST_FILE);
        let bytes = match bytes {
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(RequestFileOutcome::Nothing);
            }
            other => other.map_err(|error| wrong("file", unread(&error)))?,
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            wrong(
                "file",
                "it is no text in UTF-8; save it as plain text in UTF-8",
            )
        })?;
        if text.contains('\0') {
            let what = "it has NUL bytes, so it is no text; save it as plain text in UTF-8";
            return Err(wrong("file", what));
        }
        let read = read_request(&text).map_err(|complaints| {
            RequestFileRefusal::Wrong(complaints.iter().map(trouble).collect())
        })?;
        let is_known = read.trace.and_then(|it| self.index.file_of(it)) == Some(shown);
        if is_known && self.index.is_ours(shown, &text) {
            return Ok(RequestFileOutcome::Nothing);
        }
        if let Some(came) = self.known(&read, shown)? {
            return Ok(came);
        }
        if self.is_placed(file)? {
            return Err(wrong("file", PLACED));
        }
        if let Some(status) = read
            .status
            .filter(|status| *status != RequestStatus::Pending)
        {
            let word = status.as_str();
            let what = format!(
                "`status` is `{word}`, and nothing is known of such a request here; write `pending`"
            );
            return Err(wrong("status", what));
        }
        if let Err(failure) = self.workshop.refuse_secret_in(&read.words) {
            let advice = failure.advice.map_or(String::new(), |it| format!("; {it}"));
            return Err(wrong("body", format!("{}{advice}", failure.what)));
        }
        let troubles = not_built(&read);
        if !troubles.is_empty() {
            return Err(RequestFileRefusal::Wrong(troubles));
        }
        let portal = self.portal_for(&read)?;
        if let Some(trouble) = self.role_trouble(read.agent.as_deref().unwrap_or("default")) {
            return Err(RequestFileRefusal::Wrong(vec![trouble]));
        }
        let mut prospect = self.workshop.outline(&order_of(&read), Some(portal))?;
        prospect.trace = match read.trace {
            Some(trace) => trace,
            None => fresh_trace()?,
        };
        shown.clone_into(&mut prospect.request.file);
        if read_text(file).as_ref() != Some(&text) {
            return Ok(RequestFileOutcome::Nothing);
        }
        let whole = render(&self.completed(read, &prospect));
        artel_files::write_atomic(file, whole.as_bytes(), PRIVATE_FILE)
            .map_err(|error| file_failure(FailureCode::W008, &error))?;
        self.index.note_ours(shown, &whole);
        Ok(RequestFileOutcome::New(Box::new(prospect)))
    }

    /// Returns what is known of a file, or `None` if it may be a new request.
    fn known(
        &mut self,
        read: &ParsedRequestFile,
        shown: &str,
    ) -> Result<Option<RequestFileOutcome>, RequestFileRefusal> {
        let owner = self.index.trace_of(shown);
        if let Some(trace) = read.trace
            && let Some(file) = self.index.file_of(trace).map(str::to_owned)
        {
            return if file == shown {
                self.taken_before(trace, read, shown).map(Some)
            } else {
                self.copied_or_moved(trace, &file, shown).map(Some)
            };
        }
        let Some(owner) = owner else {
            return Ok(None);
        };
        let work = self.workshop.work(owner)?;
        if is_over(work.status()) {
            return Ok(None);
        }
        let words = self.workshop.whole_text(&work.request.words)?;
        let short = owner.short();
        if read.trace.is_none() && self.redactor.redact(read.words.trim()) == words.trim() {
            self.workshop.write_request(&work, work.status())?;
            return Ok(Some(RequestFileOutcome::Known(InboxFileOutcome {
                file: shown.to_owned(),
                what: "rewritten",
                trace: Some(owner),
                text: format!("it is the request {short} already"),
            })));
        }
        let what = format!(
            "this name is that of the request {short}, which was taken with other words and is not \
             over; save it under another name to ask anew, or `artel plan revise {short} --comment \"…\"`"
        );
        Err(wrong("file", what))
    }

    /// Looks at the file of a request that was taken in before. A request does not change: if
    /// a person changed the file since, it is rewritten to match the journal, and a note says
    /// where the person's text is kept.
    fn taken_before(
        &mut self,
        trace: TraceId,
        read: &ParsedRequestFile,
        shown: &str,
    ) -> Result<RequestFileOutcome, RequestFileRefusal> {
        // The process that took the file may not have recorded it yet.
        let Ok(work) = self.workshop.work(trace) else {
            return Ok(RequestFileOutcome::Nothing);
        };
        let changed = self.workshop.changed_in_request(&work, read)?;
        if changed.is_empty() {
            return Ok(RequestFileOutcome::Nothing);
        }
        let file = self.workshop.root.join(shown);
        let kept = self.workshop.keep_request(&work, &file)?;
        self.workshop.write_request(&work, work.status())?;
        let fields: Vec<String> = changed.iter().map(|it| format!("`{it}`")).collect();
        let why = format!(
            "it said something else than the request that was taken: {}",
            fields.join(", ")
        );
        let advice = advice_for_request(&work);
        let lines: Vec<String> = [why.clone()]
            .into_iter()
            .chain(kept.notes())
            .chain([advice.clone()])
            .collect();
        note::tell(&file, &lines)?;
        Ok(RequestFileOutcome::Known(InboxFileOutcome {
            file: shown.to_owned(),
            what: "rewritten",
            trace: Some(trace),
            text: format!("{why}; {advice}"),
        }))
    }

    /// Distinguishes a copy from a renamed file: if the other file still names this request,
    /// this one is a copy.
    fn copied_or_moved(
        &mut self,
        trace: TraceId,
        other: &str,
        shown: &str,
    ) -> Result<RequestFileOutcome, RequestFileRefusal> {
        let there = read_text(&self.workshop.root.join(other));
        let there = there.and_then(|text| read_request(&text).ok());
        if there.is_some_and(|there| there.trace == Some(trace)) {
            let what = format!("`trace_id` is that of `{other}`; take the line out to ask anew");
            return Err(wrong("trace_id", what));
        }
        let moved = RequestMoved {
            file: shown.to_owned(),
        };
        let draft = EventDraft::new(StreamName::work(trace), trace, self.by.clone(), moved);
        let batch = EventBatch::of([draft]).fenced(self.fence);
        self.journal.append(batch).wait().map_err(Failure::from)?;
        self.index.note(shown, trace);
        let work = self.workshop.work(trace)?;
        self.workshop.write_request(&work, work.status())?;
        Ok(RequestFileOutcome::Known(InboxFileOutcome {
            file: shown.to_owned(),
            what: "moved",
            trace: Some(trace),
            text: format!("it was `{other}`"),
        }))
    }

    /// Fills in the fields that the person left out.
    fn completed(&self, read: ParsedRequestFile, prospect: &UnrecordedRequest) -> Request {
        Request {
            trace: prospect.trace,
            created: read
                .created
                .unwrap_or_else(|| self.workshop.caller.clock.now()),
            status: RequestStatus::Pending,
            priority: read.priority.unwrap_or_default(),
            agent: prospect.request.agent.clone(),
            source: RequestOrigin::File,
            created_by: read.created_by.unwrap_or_else(|| self.by.id.clone()),
            portal: prospect.request.portal.clone(),
            tags: read.tags,
            verify: read.verify,
            flow: read.flow,
            other: read.other,
            words: self.redactor.redact(&read.words).into_owned(),
        }
    }

    /// Returns the portal of a request: the one it names, or the only one there is.
    fn portal_for(&self, read: &ParsedRequestFile) -> Result<Portal, RequestFileRefusal> {
        if let Some(name) = &read.portal {
            let known = self.portals.iter().find(|portal| portal.name == *name);
            return match known {
                Some(portal) => Ok(portal.clone()),
                None => {
                    let names: Vec<String> =
                        self.portals.iter().map(|it| it.name.clone()).collect();
                    let no = crate::portals::unknown(name, &names);
                    let advice = no.advice.map_or(String::new(), |it| format!("; {it}"));
                    Err(wrong("portal", format!("{}{advice}", no.what)))
                }
            };
        }
        match self.portals.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(wrong(
                "portal",
                "no project folder is open to agents; `artel portal add PATH` opens one",
            )),
            several => {
                let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
                let names = names.join(", ");
                let what =
                    format!("it is not said what it is about; write `portal:` with one of {names}");
                Err(wrong("portal", what))
            }
        }
    }

    /// Sends a request to the journal, on condition that its trace is unused.
    fn send(&mut self, prospect: &UnrecordedRequest) -> Result<AppendAcknowledgement, Failure> {
        let (workshop, by) = (self.workshop, self.by.clone());
        let draft = workshop.request_draft(self.journal, prospect, by, &self.redactor)?;
        let batch = EventBatch::of([draft]).expecting(StreamName::work(prospect.trace), 0);
        self.index.note(&prospect.request.file, prospect.trace);
        Ok(self.journal.append(batch.fenced(self.fence)))
    }

    /// Reports that a file never stops changing.
    pub(super) fn restless(&mut self, file: &Path) -> Result<(), Failure> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let what = "it never stops changing, so nobody knows when it is whole; save it once more";
        let trouble = ("file".to_owned(), what.to_owned());
        let (_, ack) = self.refuse(file, &format!("{REQUESTS}/{name}"), &[trouble])?;
        ack.map_or(Ok(()), |ack| ack.wait().map(drop))?;
        Ok(())
    }

    /// Reports a file's problems in the journal and in a note, once.
    fn refuse(
        &mut self,
        file: &Path,
        shown: &str,
        troubles: &[Trouble],
    ) -> Result<(String, Option<AppendAcknowledgement>), Failure> {
        let clean = |text: &String| self.redactor.redact(text).into_owned();
        let messages: Vec<String> = troubles.iter().map(|(_, text)| clean(text)).collect();
        let refused = RequestRefused {
            file: shown.to_owned(),
            field: troubles.first().map_or(String::new(), |it| it.0.clone()),
            message: messages.join("; "),
        };
        // The note comes first, so a reader of the journal finds it.
        let text = match note::write(file, &messages) {
            Ok(()) => refused.message.clone(),
            Err(failure) => format!("{}; {}", refused.message, failure.what),
        };
        let ack = self.index.note_refused(&refused).then(|| {
            let draft = self.workshop.draft(refused);
            self.journal
                .append(EventBatch::of([draft]).fenced(self.fence))
        });
        Ok((text, ack))
    }
}

/// Returns the possible request files in a folder, by name.
pub(super) fn all_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|it| !it.is_dir());
    let files = entries.filter(is_file).map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| is_one(path)).collect();
    files.sort();
    files
}

/// Returns whether a file belongs to a person: a request, or a file that cannot be one.
pub(super) fn is_one(file: &Path) -> bool {
    InboxFileKind::at(file) != InboxFileKind::Passing
}

/// Explains why a file cannot be a request, regardless of its content.
fn unfit(file: &Path, shown: &str) -> Option<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if InboxFileKind::of(&name) == InboxFileKind::Other {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        return Some(format!(
            "only Markdown is read here, files whose names end with `.md`; rename it to \
             `{stem}.md` if it is a request, or take it away"
        ));
    }
    let about = file.symlink_metadata().ok()?;
    if about.is_file() && about.nlink() > 1 {
        return Some(format!(
            "it is a hard link: the same file has another name elsewhere, which a request has nothing \
             to do with; put a copy here instead: `cp FILE {shown}`"
        ));
    }
    None
}

fn is_over(status: RequestStatus) -> bool {
    use RequestStatus as S;
    match status {
        S::Pending | S::Processing | S::Planned | S::Active => false,
        S::Answered | S::Done | S::Failed | S::Rejected | S::Cancelled | S::Archived => true,
    }
}

fn said(prospect: &UnrecordedRequest) -> InboxFileOutcome {
    InboxFileOutcome {
        file: prospect.request.file.clone(),
        what: "taken",
        trace: Some(prospect.trace),
        text: prospect.request.title.clone(),
    }
}

fn due(prospect: &UnrecordedRequest, at: Timestamp) -> Due {
    (Reverse(prospect.request.urgency), at, prospect.trace)
}

/// Returns the fields that ask for what Artel cannot do yet. Ignoring them would look like
/// agreement.
fn not_built(read: &ParsedRequestFile) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    if let Some(flow) = &read.flow {
        let what = format!(
            "`flow: {flow}` asks for a flow, and flows are not built yet; take the line out and say \
             in words what is to be done, and in which order"
        );
        troubles.push(("flow".to_owned(), what));
    }
    let named = [
        ("skill", read.skill.iter().collect::<Vec<_>>()),
        ("skills", read.skills.iter().collect()),
    ];
    for (field, skills) in named {
        let Some(first) = skills.first() else {
            continue;
        };
        let what = format!(
            "requests cannot name skills yet; take `{field}` out and name the skill in the words, or \
             run it with `artel run {first}`"
        );
        troubles.push((field.to_owned(), what));
    }
    troubles
}

/// Explains why a file cannot be read, and the remedy.
fn unread(error: &FileError) -> String {
    match error {
        FileError::TooLarge { most, .. } => format!(
            "it is longer than {} MB; keep what is long in a file of the project, and name the file \
             here",
            most >> 20
        ),
        other => format!("it cannot be read: {other}"),
    }
}

/// Describes the problem of a field, for the note beside the file.
fn trouble(complaint: &FileComplaint) -> Trouble {
    let text = match complaint.line {
        Some(line) => format!(
            "line {line}, {}",
            FileComplaint {
                line: None,
                ..complaint.clone()
            }
        ),
        None => complaint.to_string(),
    };
    (complaint.field.clone(), text)
}

fn wrong(field: &str, what: impl Into<String>) -> RequestFileRefusal {
    RequestFileRefusal::Wrong(vec![(field.to_owned(), what.into())])
}

fn order_of(read: &ParsedRequestFile) -> RequestSubmission {
    RequestSubmission {
        words: read.words.clone(),
        agent: read.agent.clone(),
        urgency: read.priority.unwrap_or_default(),
        source: RequestOrigin::File.as_str().to_owned(),
        verify: read.verify,
        ..RequestSubmission::default()
    }
}
