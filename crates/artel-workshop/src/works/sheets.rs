//! The files through which people see requests and plans. The journal is the truth; what is
//! written here is made from it, and what people write here is read back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use artel_journal::{Batch, Journal};
use artel_rules::conduct::Conduct;
use artel_rules::plan::markdown::{Head, Mark, Remark, Sheet, render};
use artel_rules::request::file::{Origin, Request, Status, render as render_request};
use artel_types::plan::{Plan, PlanState};
use artel_types::{
    Actor, Code, Draft, Fact, Failure, PlanAdopted, PlanApproved, PlanDrafted, RunId, Stream, Text,
    TraceId,
};

use super::work::Work;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// Returns a plan as JSON, with the hash that approvals are bound to.
pub(crate) fn hash_of(plan: &Plan) -> Result<(String, String), Failure> {
    let json =
        serde_json::to_string(plan).map_err(|error| Failure::new(Code::X001, error.to_string()))?;
    let hash = blake3::hash(json.as_bytes()).to_hex().to_string();
    Ok((json, hash))
}

impl Workshop {
    /// Writes the file of a request, with how far it has come.
    pub(crate) fn write_request(&self, work: &Work, status: Status) -> Result<PathBuf, Failure> {
        let words = self.whole_text(&work.request.words)?;
        let request = Request {
            trace: work.trace,
            created: work.at,
            status,
            priority: work.request.urgency,
            agent: work.request.agent.clone(),
            source: Origin::ALL
                .into_iter()
                .find(|it| it.as_str() == work.request.source)
                .unwrap_or(Origin::Cli),
            created_by: work.by.id.clone(),
            portal: work.request.portal.clone(),
            tags: Vec::new(),
            verify: work.request.verify,
            flow: None,
            other: Vec::new(),
            words,
        };
        let file = self.root.join(&work.request.file);
        let text = render_request(&request);
        artel_files::write_atomic(&file, text.as_bytes(), 0o644)
            .map_err(|error| file_failure(Code::W008, &error))?;
        Ok(file)
    }

    /// Writes the file of a plan where its state belongs, and nowhere else.
    pub(crate) fn write_plan(
        &self,
        work: &Work,
        conduct: Option<&Conduct>,
    ) -> Result<PathBuf, Failure> {
        let (drafted, plan) = self.plan_of(work, None)?;
        let state = work.course.state().unwrap_or(PlanState::Review);
        let plan = conduct.map_or(plan, |conduct| conduct.plan().clone());
        let progress: BTreeMap<String, Mark> = conduct
            .into_iter()
            .flat_map(Conduct::steps)
            .map(|(spec, step)| {
                let why = Some(step.why.clone()).filter(|why| !why.is_empty());
                let mark = Mark {
                    state: step.state,
                    why,
                };
                (spec.id.clone(), mark)
            })
            .collect();
        let remarks = work.course.comments().iter().map(|comment| Remark {
            by: None,
            text: format!("(v{}) {}", comment.version, comment.text),
        });
        let sheet = Sheet {
            head: Head {
                trace: work.trace,
                request: work.name(),
                status: state,
                version: drafted.fact.version,
                hash: drafted.fact.hash.clone(),
                created: Some(drafted.at),
                agent: drafted.by.id.clone(),
                portal: work.request.portal.clone(),
                tags: Vec::new(),
                other: Vec::new(),
            },
            plan,
            progress,
            remarks: remarks.collect(),
        };
        let name = format!("{}_plan.md", work.name());
        let folder = folder_of(state);
        let file = self.root.join(folder).join(&name);
        artel_files::write_atomic(&file, render(&sheet).as_bytes(), 0o644)
            .map_err(|error| file_failure(Code::W008, &error))?;
        for other in FOLDERS.iter().filter(|other| **other != folder) {
            drop(std::fs::remove_file(self.root.join(other).join(&name)));
        }
        let kept = format!("{}_plan.v{}.md", work.name(), drafted.fact.version);
        let kept = self.root.join(".artel/plans").join(kept);
        if conduct.is_none() && !kept.exists() {
            let parent = kept.parent().unwrap_or(&self.root).to_owned();
            artel_files::make_dirs(&parent, 0o700)
                .map_err(|error| file_failure(Code::W008, &error))?;
            artel_files::write_atomic(&kept, render(&sheet).as_bytes(), 0o600)
                .map_err(|error| file_failure(Code::W008, &error))?;
        }
        Ok(file)
    }

    /// Puts the next version of a plan on record. It counts only if nobody was faster.
    pub(crate) fn draft_plan(
        &self,
        journal: &Journal,
        work: &Work,
        plan: &Plan,
        (by, run): (Actor, Option<RunId>),
    ) -> Result<u32, Failure> {
        let (json, hash) = hash_of(plan)?;
        let version = work.course.next_version();
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

    /// Appends to a piece of work, if nothing came in between.
    pub(crate) fn record_for(
        &self,
        journal: &Journal,
        work: &Work,
        by: Actor,
        facts: Vec<Fact>,
    ) -> Result<(), Failure> {
        let stream = Stream::work(work.trace);
        let drafts = facts
            .into_iter()
            .map(|fact| Draft::new(stream.clone(), work.trace, by.clone(), fact));
        let batch = Batch::of(drafts).expecting(stream.clone(), work.position);
        journal.append(batch).wait()?;
        Ok(())
    }

    /// Makes the version of a proposal that a person accepted the one that counts, once.
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
        let version = work.course.next_version();
        let plan: Plan = serde_json::from_str(json)
            .map_err(|error| Failure::new(Code::X001, error.to_string()))?;
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

/// Where plans lie.
const FOLDERS: &[&str] = &[
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

/// Puts a text where an event can name it.
pub(crate) fn keep(journal: &Journal, text: String) -> Result<Text, Failure> {
    if text.len() <= 4 * 1024 {
        return Ok(Text::Inline(text));
    }
    Ok(Text::Kept(journal.blobs().put(text.as_bytes())?))
}
