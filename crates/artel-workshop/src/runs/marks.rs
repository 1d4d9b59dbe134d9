//! Tracks the unverified sources that a piece of work has read and the secrets that its
//! processes were given. Folded from the journal, and shared by all of its runs in this
//! process.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use artel_engine::RunJournalEntry;
use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_skills::{Skill, SkillOrigin};
use artel_tools::ContentMarks;
use artel_types::model::PrivacyLabel;
use artel_types::{Fact, Failure, ForeignRead, ForeignSource, RunForked, TraceId};

use super::house::RunEnvironment;
use crate::workshop::Workshop;

/// The marks of the pieces of work in this process.
#[derive(Debug, Default)]
pub(crate) struct MarksOfWorks(Mutex<HashMap<TraceId, ContentMarks>>);

impl RunEnvironment {
    /// Returns the marks of a piece of work. Its runs pass text and files to each other in
    /// every direction, so what one of them has read counts for all.
    pub(crate) fn marks_of(&self, trace: TraceId) -> Result<ContentMarks, Failure> {
        self.marks.of(&self.workshop, self.journal.reader(), trace)
    }

    /// Returns the unverified sources that a piece of work has read, for runs that are shown
    /// its results. `unknown` stands for what can no longer be looked up.
    pub(crate) fn foreign_behind(
        &self,
        trace: TraceId,
        unknown: ForeignSource,
    ) -> Result<Vec<ForeignSource>, Failure> {
        let reader = self.journal.reader();
        if facts_of(reader, trace, "run.started")?.is_empty() {
            return Ok(vec![unknown]);
        }
        // The work that it was forked from may be gone, and then nobody knows what that had read.
        let Ok(past) = with_its_past(&self.workshop, reader, trace) else {
            return Ok(vec![unknown]);
        };
        let mut sources = Vec::new();
        for trace in past {
            sources.extend(foreign_read_in(reader, trace)?);
        }
        Ok(sources)
    }

    /// Marks a piece of work with the sources it is shown, and returns those that are not
    /// recorded yet.
    pub(crate) fn marked_with(
        &self,
        trace: TraceId,
        told: Vec<ForeignSource>,
    ) -> Result<Option<ForeignRead>, Failure> {
        self.marks_of(trace)?.read(told.clone());
        let on_record = foreign_read_in(self.journal.reader(), trace)?;
        let mut sources: Vec<ForeignSource> = Vec::new();
        for source in told {
            if !on_record.contains(&source) && !sources.contains(&source) {
                sources.push(source);
            }
        }
        Ok((!sources.is_empty()).then_some(ForeignRead {
            call: None,
            sources,
        }))
    }

    /// Returns the event for a run that starts with unverified text: its skill is not the
    /// workshop's own, or the skill's lessons come from runs that read such text.
    pub(super) fn begun_with(
        &self,
        skill: Option<&Skill>,
        trace: TraceId,
    ) -> Result<Option<RunJournalEntry>, Failure> {
        let Some(skill) = skill else {
            return Ok(None);
        };
        let mut told = self.lessons_of(&skill.name, PrivacyLabel::Any)?.foreign;
        if skill.scope != SkillOrigin::Workshop {
            told.push(ForeignSource::skill(&skill.name));
        }
        Ok(self.marked_with(trace, told)?.map(RunJournalEntry::quiet))
    }
}

impl MarksOfWorks {
    /// Returns the marks of a piece of work: the recorded ones, and later ones from its runs
    /// in this process.
    pub(super) fn of(
        &self,
        workshop: &Workshop,
        reader: &JournalReader,
        trace: TraceId,
    ) -> Result<ContentMarks, Failure> {
        let mut works = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(marks) = works.get(&trace) {
            return Ok(marks.clone());
        }
        let marks = marks_on_record(workshop, reader, trace)?;
        works.insert(trace, marks.clone());
        Ok(marks)
    }
}

fn marks_on_record(
    workshop: &Workshop,
    reader: &JournalReader,
    trace: TraceId,
) -> Result<ContentMarks, Failure> {
    let marks = ContentMarks::default();
    for trace in with_its_past(workshop, reader, trace)? {
        marks.read(foreign_read_in(reader, trace)?);
        for fact in facts_of(reader, trace, "secret.used")? {
            if let Fact::SecretUsed(it) = fact
                && it.verdict == "granted"
            {
                marks.handed_out(&it.secret);
            }
        }
    }
    Ok(marks)
}

/// Returns a piece of work and those it was forked from, because a fork has their
/// conversation and files.
pub(super) fn with_its_past(
    workshop: &Workshop,
    reader: &JournalReader,
    trace: TraceId,
) -> Result<BTreeSet<TraceId>, Failure> {
    let mut past = BTreeSet::new();
    let mut open = vec![trace];
    while let Some(trace) = open.pop() {
        if !past.insert(trace) {
            continue;
        }
        for fact in facts_of(reader, trace, "run.forked")? {
            if let Fact::RunForked(RunForked { from, .. }) = fact {
                open.push(workshop.started(from)?.1);
            }
        }
    }
    Ok(past)
}

fn foreign_read_in(reader: &JournalReader, trace: TraceId) -> Result<Vec<ForeignSource>, Failure> {
    let mut sources = Vec::new();
    for fact in facts_of(reader, trace, "foreign.read")? {
        if let Fact::ForeignRead(it) = fact {
            sources.extend(it.sources);
        }
    }
    Ok(sources)
}

fn facts_of(reader: &JournalReader, trace: TraceId, kind: &str) -> Result<Vec<Fact>, Failure> {
    let filter = EventFilter {
        trace: Some(trace.to_string()),
        kind: Some(kind.to_owned()),
        ..EventFilter::default()
    };
    let records = reader.records(&EventQuery::of(filter).few())?;
    let facts = records.iter().map(|record| Ok(record.event()?.fact));
    facts.collect()
}
