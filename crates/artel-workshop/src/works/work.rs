//! Pieces of work in their present state, folded from the journal on each query.

use artel_journal::{EventFilter, EventQuery, JournalReader, TraceLookupKey};
use artel_rules::plan::state::WorkState;
use artel_rules::request::file::RequestStatus;
use artel_types::plan::{Plan, PlanState};
use artel_types::{
    Actor, ActorKind, ChangesetCreated, Event, Fact, Failure, FailureCode, PlanDrafted,
    RecordedText, RequestCreated, RunId, StreamName, Timestamp, TraceId,
};

use crate::workshop::Workshop;

/// A piece of work: a request and everything that followed from it.
#[derive(Debug, Clone)]
pub struct Work {
    /// The trace that joins everything about the work.
    pub trace: TraceId,
    /// The time of the request.
    pub at: Timestamp,
    /// The actor who made the request.
    pub by: Actor,
    pub request: RequestCreated,
    /// The state of the work.
    pub course: WorkState,
    /// The versions of its plan, oldest first.
    pub versions: Vec<DraftedPlanVersion>,
    /// The branch that the work left.
    pub changeset: Option<ChangesetCreated>,
    /// All recorded events about the work, except those of its runs.
    pub events: Vec<Event>,
    /// The position of the last event in its stream.
    pub(crate) position: u64,
}

/// A version of a plan as it was handed in.
#[derive(Debug, Clone)]
pub struct DraftedPlanVersion {
    /// The time when it was handed in.
    pub at: Timestamp,
    /// Its author.
    pub by: Actor,
    pub fact: PlanDrafted,
}

impl Workshop {
    /// Returns all pieces of work, newest first.
    pub fn works(&self) -> Result<Vec<Work>, Failure> {
        let reader = self.reader()?;
        let filter = EventFilter {
            kind: Some("request.created".to_owned()),
            ..EventFilter::default()
        };
        let asked = reader.records(&EventQuery::of(filter).few().newest_first())?;
        let traces = asked.iter().filter_map(|record| record.trace.parse().ok());
        traces.map(|trace| read(&reader, trace)).collect()
    }

    /// Returns the piece of work whose trace, or one of whose runs, begins with `id`.
    pub fn work_named(&self, id: &str) -> Result<Work, Failure> {
        let reader = self.reader()?;
        let prefix = id.trim_start_matches("request-").to_ascii_lowercase();
        let is_plain = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        if prefix.is_empty() || !prefix.chars().all(is_plain) {
            return Err(unknown(id));
        }
        let filter = EventFilter {
            trace: Some(prefix.clone()),
            kind: Some("request.created".to_owned()),
            ..EventFilter::default()
        };
        let found = reader.records(&EventQuery::of(filter).limit(6))?;
        let mut traces: Vec<_> = found.iter().map(|record| record.trace.clone()).collect();
        if traces.is_empty() {
            let filter = EventFilter {
                run: Some(prefix),
                kind: Some("run.started".to_owned()),
                ..EventFilter::default()
            };
            let runs = reader.records(&EventQuery::of(filter).limit(6))?;
            traces.extend(runs.iter().map(|record| record.trace.clone()));
            traces.dedup();
        }
        match traces.as_slice() {
            [] => Err(unknown(id)),
            [only] => read(&reader, only.parse().map_err(|_| unknown(id))?),
            several => Err(
                Failure::new(FailureCode::W006, format!("`{id}` is not unique"))
                    .because(format!("it could be {}", several.join(", ")))
                    .advise("type more characters"),
            ),
        }
    }

    pub fn work(&self, trace: TraceId) -> Result<Work, Failure> {
        read(&*self.reader()?, trace)
    }

    /// Returns the piece of work whose files have this name, if there is one.
    pub(crate) fn work_of_name(&self, name: &str) -> Result<Option<Work>, Failure> {
        let Some(short) = name.strip_prefix("request-") else {
            return Ok(None);
        };
        if short.len() != 8 || !short.bytes().all(|it| it.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let reader = self.reader()?;
        // A trace with this prefix may belong to runs without a request.
        for trace in reader.traces(TraceLookupKey::Trace, short, 4)? {
            let trace = trace.parse().ok();
            match trace.map(|trace| read(&reader, trace)) {
                Some(Ok(work)) => return Ok(Some(work)),
                Some(Err(failure)) if failure.code != FailureCode::R004 => return Err(failure),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns a version of a plan, or the newest if `version` is `None`.
    pub fn plan_of(
        &self,
        work: &Work,
        version: Option<u32>,
    ) -> Result<(DraftedPlanVersion, Plan), Failure> {
        let mut versions = work.versions.iter().rev();
        let found = versions.find(|it| version.is_none_or(|wanted| it.fact.version == wanted));
        let Some(drafted) = found else {
            let short = work.trace.short();
            let what = match version {
                Some(version) => format!("the plan of {short} has no version {version}"),
                None => format!("there is no plan for {short} yet"),
            };
            return Err(Failure::new(FailureCode::W010, what)
                .advise(format!("`artel request show {short}`")));
        };
        let json = self.whole_text(&drafted.fact.plan)?;
        let plan = serde_json::from_str(&json).map_err(|error| {
            Failure::new(FailureCode::J001, "a plan on record cannot be read")
                .because(error.to_string())
        })?;
        Ok((drafted.clone(), plan))
    }

    /// Returns a text, loading it if it is stored as a blob.
    pub fn whole_text(&self, text: &RecordedText) -> Result<String, Failure> {
        let at = match text {
            RecordedText::Inline(text) => return Ok(text.clone()),
            RecordedText::Kept(at) => at,
        };
        let bytes = artel_journal::BlobStore::at(self.home.blobs()).get(&at.blob)?;
        String::from_utf8(bytes).map_err(|error| {
            Failure::new(FailureCode::J001, "a kept text is not text").because(error.to_string())
        })
    }
}

impl Work {
    /// Returns the name that the work's files begin with.
    pub fn name(&self) -> String {
        Self::name_of(self.trace)
    }

    /// Like `name`, for callers that know only the trace.
    pub(crate) fn name_of(trace: TraceId) -> String {
        format!("request-{}", trace.short())
    }

    /// Returns who decided last how the work proceeds: the person who approved its plan, or
    /// else the person or program who last commented on it, or else the one who asked.
    pub fn set_going_by(&self) -> &Actor {
        let last = |is: fn(&Fact) -> bool| {
            let is_asker = |kind| matches!(kind, ActorKind::Human | ActorKind::Program);
            let by_people = self.events.iter().filter(|it| is_asker(it.actor.kind));
            by_people.rev().find(|event| is(&event.fact))
        };
        let last = last(|fact| matches!(fact, Fact::PlanApproved(_)))
            .or_else(|| last(|fact| matches!(fact, Fact::PlanCommented(_))));
        last.map_or(&self.by, |event| &event.actor)
    }

    /// Returns the model that a person named for a run of the plan: with an approval, or else
    /// with the request. It is on record, so that every process that resumes the run uses the
    /// same model.
    pub(crate) fn model_of(&self, run: RunId) -> Option<&str> {
        self.approved_model(run).or(self.request.model.as_deref())
    }

    /// Returns the model that was last named with an approval for a run.
    pub(crate) fn approved_model(&self, run: RunId) -> Option<&str> {
        self.events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::PlanApproved(it) if it.run == run => it.model.as_deref(),
                _ => None,
            })
    }

    /// Returns the model that a person named for the next version: with a comment since the
    /// last version, or else with the request.
    pub(crate) fn planning_model(&self) -> Option<&str> {
        let is_open = |event: &&Event| !matches!(event.fact, Fact::PlanDrafted(_));
        let since = self.events.iter().rev().take_while(is_open);
        let mut named = since.filter_map(|event| match &event.fact {
            Fact::PlanCommented(it) => it.model.as_deref(),
            _ => None,
        });
        named.next().or(self.request.model.as_deref())
    }

    /// Returns the status of the request.
    pub fn status(&self) -> RequestStatus {
        status_of(&self.course)
    }

    /// Returns the number of the next version. A number is never used twice, even if its
    /// version was rejected.
    pub(crate) fn next_version(&self) -> u32 {
        let numbers = self.versions.iter().map(|it| it.fact.version);
        numbers.max().unwrap_or(0).saturating_add(1)
    }
}

/// Returns the status of a request whose work is in this state.
pub(crate) fn status_of(course: &WorkState) -> RequestStatus {
    use PlanState as P;
    let settled = course.request().and_then(|it| it.settled.as_deref());
    match (settled, course.state()) {
        (Some("answered"), _) => RequestStatus::Answered,
        (Some("done"), _) => RequestStatus::Done,
        (Some(_), _) => RequestStatus::Failed,
        (None, None) => RequestStatus::Pending,
        (None, Some(P::Exploring | P::Drafting)) => RequestStatus::Processing,
        (None, Some(P::Review)) => RequestStatus::Planned,
        (None, Some(P::Approved | P::Running)) => RequestStatus::Active,
        (None, Some(P::Done)) => RequestStatus::Done,
        (None, Some(P::Failed)) => RequestStatus::Failed,
        (None, Some(P::Rejected)) => RequestStatus::Rejected,
        (None, Some(P::Cancelled)) => RequestStatus::Cancelled,
    }
}

fn read(reader: &JournalReader, trace: TraceId) -> Result<Work, Failure> {
    let filter = EventFilter {
        stream: Some(StreamName::work(trace).to_string()),
        ..EventFilter::default()
    };
    let records = reader.records(&EventQuery::of(filter))?;
    let mut events = Vec::with_capacity(records.len());
    for record in &records {
        events.push(record.event()?);
    }
    let mut course = WorkState::default();
    let mut versions = Vec::new();
    let mut changeset = None;
    let (mut asked, mut moved) = (None, None);
    for event in &events {
        course.fold(&event.fact);
        match &event.fact {
            Fact::RequestCreated(it) => asked = Some((event.at, event.actor.clone(), it.clone())),
            Fact::RequestMoved(it) => moved = Some(it.file.clone()),
            Fact::PlanDrafted(it) => versions.push(DraftedPlanVersion {
                at: event.at,
                by: event.actor.clone(),
                fact: it.clone(),
            }),
            Fact::ChangesetCreated(it) => changeset = Some(it.clone()),
            _ => {}
        }
    }
    let (at, by, mut request) = asked.ok_or_else(|| unknown(&trace.short()))?;
    request.file = moved.unwrap_or(request.file);
    Ok(Work {
        trace,
        at,
        by,
        request,
        course,
        versions,
        changeset,
        position: events.last().map_or(0, |event| event.stream_seq),
        events,
    })
}

fn unknown(id: &str) -> Failure {
    Failure::new(
        FailureCode::R004,
        format!("there is no request, plan or run `{id}`"),
    )
    .advise("`artel request list` shows what there is")
}
