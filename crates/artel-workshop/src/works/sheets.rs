//! The files that show requests and plans to people. The journal is the truth: Artel
//! writes these files from it, and reads back what people write into them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_journal::{EventBatch, Journal};
use artel_rules::conduct::PlanRun;
use artel_rules::plan::markdown::{
    PlanDocument, PlanDocumentComment, PlanFrontmatter, StepProgress, parse as parse_plan, render,
};
use artel_rules::request::file::{Request, RequestOrigin, RequestStatus, render as render_request};
use artel_types::plan::{Plan, PlanState};
use artel_types::{
    Actor, EventDraft, Fact, Failure, FailureCode, PlanAdopted, PlanApproved, PlanDrafted,
    RecordedText, RunId, StreamName, TraceId,
};

use super::inbox::{advice_for, advice_for_request, note};
use super::report::rows_of;
use super::work::Work;
use crate::private::PRIVATE_FILE;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// Whose words a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileTextOrigin {
    /// The recorded text.
    Ours,
    /// A person's words that nobody has taken in yet.
    Theirs,
}

/// Handling of a person's words in a file that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PersonTextHandling {
    /// The words stay, and the file is not written.
    Leave,
    /// The words are copied to a file of another name.
    Keep,
}

/// Returns a plan as JSON, with the hash that approvals are bound to.
pub(crate) fn hash_of(plan: &Plan) -> Result<(String, String), Failure> {
    let json = serde_json::to_string(plan)
        .map_err(|error| Failure::new(FailureCode::X001, error.to_string()))?;
    let hash = blake3::hash(json.as_bytes()).to_hex().to_string();
    Ok((json, hash))
}

impl Workshop {
    /// Writes the file of a request with its status. Other fields that a person keeps in its
    /// frontmatter stay.
    pub(crate) fn write_request(
        &self,
        work: &Work,
        status: RequestStatus,
    ) -> Result<PathBuf, Failure> {
        let words = self.whole_text(&work.request.words)?;
        let file = self.root.join(&work.request.file);
        let kept = read_text(&file).and_then(|text| artel_skills::read_request(&text).ok());
        let kept = kept.unwrap_or_default();
        if kept.trace.is_some_and(|trace| trace != work.trace) {
            // Another request has this name now.
            return Ok(file);
        }
        let is_taken = kept.trace.is_none() && !kept.words.trim().is_empty();
        if is_taken && self.redactor().redact(kept.words.trim()) != words.trim() {
            // The file holds other words of the person. They become a request of their own once
            // this one is over.
            return Ok(file);
        }
        let theirs = self.keep_request(work, &file)?;
        let request = Request {
            trace: work.trace,
            created: kept.created.unwrap_or(work.at),
            status,
            priority: work.request.urgency,
            agent: work.request.agent.clone(),
            source: RequestOrigin::ALL
                .into_iter()
                .find(|it| it.as_str() == work.request.source)
                .unwrap_or(RequestOrigin::Cli),
            created_by: work.by.label().into_owned(),
            portal: work.request.portal.clone(),
            tags: kept.tags,
            verify: work.request.verify,
            flow: kept.flow,
            other: kept.other,
            words,
        };
        let text = render_request(&request);
        artel_files::write_atomic(&file, text.as_bytes(), PRIVATE_FILE)
            .map_err(|error| file_failure(FailureCode::W008, &error))?;
        theirs.tell(&file, &advice_for_request(work))?;
        Ok(file)
    }

    /// Returns the path for a plan's file in its present state.
    pub(crate) fn plan_file(&self, work: &Work) -> PathBuf {
        let state = work.course.state().unwrap_or(PlanState::Review);
        let name = format!("{}_plan.md", work.name());
        self.root.join(folder_of(state)).join(name)
    }

    /// Returns the path of a plan's file, relative to the workshop.
    pub fn plan_path(&self, work: &Work) -> String {
        self.in_workshop(&self.plan_file(work))
    }

    /// Builds the content of a plan's file, for the version that is being carried out or else
    /// the newest.
    pub(crate) fn sheet_of(
        &self,
        work: &Work,
        conduct: Option<&PlanRun>,
    ) -> Result<PlanDocument, Failure> {
        let done = conduct.and_then(|_| work.course.approved());
        let (drafted, plan) = self.plan_of(work, done.map(|it| it.version.number))?;
        let plan = conduct.map_or(plan, |conduct| conduct.plan().clone());
        let progress: BTreeMap<String, StepProgress> = conduct
            .into_iter()
            .flat_map(PlanRun::steps)
            .map(|(spec, step)| {
                let why = Some(step.why.clone()).filter(|why| !why.is_empty());
                let mark = StepProgress {
                    state: step.state,
                    why,
                };
                (spec.id.clone(), mark)
            })
            .collect();
        let remarks = work
            .course
            .comments()
            .iter()
            .map(|comment| PlanDocumentComment {
                by: None,
                text: format!("(v{}) {}", comment.version, comment.text),
            });
        let kept = FOLDERS.iter().find_map(|folder| {
            let name = format!("{}_plan.md", work.name());
            let text = read_text(&self.root.join(folder).join(name))?;
            parse_plan(&text).ok().map(|parsed| parsed.head)
        });
        let (tags, other) = kept.map_or_else(Default::default, |head| (head.tags, head.other));
        Ok(PlanDocument {
            head: PlanFrontmatter {
                trace: work.trace,
                request: work.name(),
                status: work.course.state().unwrap_or(PlanState::Review),
                version: drafted.fact.version,
                hash: drafted.fact.hash.clone(),
                created: Some(drafted.at),
                agent: drafted.by.id.clone(),
                portal: work.request.portal.clone(),
                tags,
                other,
            },
            plan,
            progress,
            remarks: remarks.collect(),
            links: links(work),
        })
    }

    /// Writes the file of a plan into the folder for its state and removes it from the others.
    /// While the plan is carried out, a person's words that are not on record stay in the file
    /// until they are taken in. Otherwise they are copied to the archive.
    pub(crate) fn write_plan(
        &self,
        work: &Work,
        conduct: Option<&PlanRun>,
    ) -> Result<FileTextOrigin, Failure> {
        let is_theirs = matches!(
            work.course.state(),
            Some(PlanState::Approved | PlanState::Running)
        );
        let over = if is_theirs {
            PersonTextHandling::Leave
        } else {
            PersonTextHandling::Keep
        };
        self.put_plan(work, conduct, over)
    }

    /// Like `write_plan`, with a choice of how to handle a person's words in the file.
    pub(crate) fn put_plan(
        &self,
        work: &Work,
        conduct: Option<&PlanRun>,
        over: PersonTextHandling,
    ) -> Result<FileTextOrigin, Failure> {
        let text = render(&self.sheet_of(work, conduct)?);
        let file = self.plan_file(work);
        let theirs = self.theirs_in_plan(work, &text);
        if over == PersonTextHandling::Leave && theirs.iter().any(|it| it.file == file) {
            return Ok(FileTextOrigin::Theirs);
        }
        let unread = self.keep_theirs(&theirs, &work.name())?;
        artel_files::write_atomic(&file, text.as_bytes(), PRIVATE_FILE)
            .map_err(|error| file_failure(FailureCode::W008, &error))?;
        unread.tell(&file, &advice_for(work))?;
        let name = format!("{}_plan.md", work.name());
        let others = FOLDERS
            .iter()
            .map(|folder| self.root.join(folder).join(&name));
        for other in others.filter(|other| *other != file) {
            if std::fs::remove_file(&other).is_ok() {
                note::clear(&other);
            }
        }
        self.keep_version(work)?;
        Ok(FileTextOrigin::Ours)
    }

    /// Keeps the newest version of a plan as it was handed in.
    fn keep_version(&self, work: &Work) -> Result<(), Failure> {
        let version = work.versions.last().map_or(1, |it| it.fact.version);
        let kept = format!("{}_plan.v{version}.md", work.name());
        let kept = self.root.join(".artel/plans").join(kept);
        if !kept.exists() {
            let text = render(&self.sheet_of(work, None)?);
            let parent = kept.parent().unwrap_or(&self.root).to_owned();
            artel_files::make_dirs(&parent, 0o700)
                .map_err(|error| file_failure(FailureCode::W008, &error))?;
            artel_files::write_atomic(&kept, text.as_bytes(), 0o600)
                .map_err(|error| file_failure(FailureCode::W008, &error))?;
        }
        Ok(())
    }

    /// Records the next version of a plan. This fails if another change was faster.
    pub(crate) fn draft_plan(
        &self,
        journal: &Journal,
        work: &Work,
        plan: &Plan,
        (by, run): (Actor, Option<RunId>),
    ) -> Result<u32, Failure> {
        let (json, hash) = hash_of(plan)?;
        let version = work.next_version();
        let drafted = PlanDrafted {
            version,
            plan: keep(journal, json)?,
            hash,
            title: plan.title.clone(),
            file: format!("Inbox/Plans/{}_plan.md", work.name()),
            run,
        };
        self.record_for(journal, work, by, vec![drafted.into()])?;
        Ok(version)
    }

    /// Appends facts to a piece of work, if nothing was appended to it in between.
    pub(crate) fn record_for(
        &self,
        journal: &Journal,
        work: &Work,
        by: Actor,
        facts: Vec<Fact>,
    ) -> Result<(), Failure> {
        let stream = StreamName::work(work.trace);
        let drafts = facts
            .into_iter()
            .map(|fact| EventDraft::new(stream.clone(), work.trace, by.clone(), fact));
        let batch = EventBatch::of(drafts).expecting(stream.clone(), work.position);
        journal.append(batch).wait()?;
        Ok(())
    }

    /// Records the version of an accepted proposal as approved and adopted, once.
    pub(crate) fn adopt_version(
        &self,
        journal: &Journal,
        trace: TraceId,
        run: RunId,
        (json, hash): (&str, &str),
    ) -> Result<u32, Failure> {
        let work = self.work(trace)?;
        let known = work.versions.iter().find(|it| it.fact.hash == hash);
        if let Some(known) = known {
            return Ok(known.fact.version);
        }
        let version = work.next_version();
        let plan: Plan = serde_json::from_str(json)
            .map_err(|error| Failure::new(FailureCode::X001, error.to_string()))?;
        let drafted = PlanDrafted {
            version,
            plan: keep(journal, json.to_owned())?,
            hash: hash.to_owned(),
            title: plan.title,
            file: format!("Inbox/Plans/{}_plan.md", work.name()),
            run: Some(run),
        };
        let approved = PlanApproved {
            version,
            hash: hash.to_owned(),
            run,
            model: None,
        };
        let adopted = PlanAdopted {
            version,
            plan: keep(journal, json.to_owned())?,
            hash: hash.to_owned(),
        };
        let facts = vec![drafted.into(), approved.into(), adopted.into()];
        self.record_for(journal, &work, self.caller.actor(), facts)?;
        Ok(version)
    }
}

/// Returns a plan's links: its request, and the reports of its runs.
fn links(work: &Work) -> Vec<String> {
    let bare = |file: &str| file.strip_suffix(".md").unwrap_or(file).to_owned();
    let request = format!("Request: [[{}]]", bare(&work.request.file));
    let reports = rows_of(work).into_iter();
    let reports = reports.map(|row| format!("Report: [[{}]]", bare(&row.path)));
    std::iter::once(request).chain(reports).collect()
}

/// Largest inbox file that people may write, in bytes.
pub(crate) const LONGEST_FILE: u64 = 16 << 20;

/// Reads an inbox file. Returns `None` if it does not exist, is too long, or is not UTF-8
/// text.
pub(crate) fn read_text(file: &Path) -> Option<String> {
    let bytes = artel_files::read_bounded(file, LONGEST_FILE).ok()?;
    String::from_utf8(bytes).ok()
}

/// The folders of plan files.
pub(crate) const FOLDERS: &[&str] = &[
    "Inbox/Plans",
    "Inbox/Active",
    "Inbox/Rejected",
    "Inbox/Archive",
];

fn folder_of(state: PlanState) -> &'static str {
    match state {
        PlanState::Exploring | PlanState::Drafting | PlanState::Review => "Inbox/Plans",
        PlanState::Approved | PlanState::Running | PlanState::Failed => "Inbox/Active",
        PlanState::Rejected => "Inbox/Rejected",
        PlanState::Done | PlanState::Cancelled => "Inbox/Archive",
    }
}

/// Makes a text for an event. A long text is stored as a blob.
pub(crate) fn keep(journal: &Journal, text: String) -> Result<RecordedText, Failure> {
    if text.len() <= 4 * 1024 {
        return Ok(RecordedText::Inline(text));
    }
    Ok(RecordedText::Kept(journal.blobs().put(text.as_bytes())?))
}
