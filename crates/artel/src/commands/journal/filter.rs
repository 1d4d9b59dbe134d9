//! The filters that all reading commands share.

use artel_journal::EventFilter;
use artel_types::{Clock, EventOutcome, Failure, FailureCode, Timestamp};

/// Arguments that select journal events.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct EventFilterArgs {
    /// A prefix of the kind, such as journal. or run.finished
    #[arg(long, value_name = "PREFIX")]
    kind: Option<String>,
    /// A prefix of the trace
    #[arg(long, value_name = "ID")]
    trace: Option<String>,
    /// A prefix of the session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A prefix of the run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// The full name of the stream, such as workshop
    #[arg(long)]
    stream: Option<String>,
    /// human:ada@example.org, or only the id, or only human, agent, system or program
    #[arg(long)]
    actor: Option<String>,
    /// A pattern for the target, such as "*.rs"
    #[arg(long, value_name = "GLOB")]
    target: Option<String>,
    /// done, failed, allowed, denied, cancelled or unknown
    #[arg(long)]
    outcome: Option<String>,
    /// Not before this time: 24h, 7d, 2026-11-15, 2026-11-15T08:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl EventFilterArgs {
    pub(crate) fn filter(&self, clock: &Clock) -> Result<EventFilter, Failure> {
        let lower = |id: &Option<String>| id.as_ref().map(|id| id.to_ascii_lowercase());
        Ok(EventFilter {
            stream: self.stream.clone(),
            kind: self.kind.clone(),
            trace: lower(&self.trace),
            session: lower(&self.session),
            run: lower(&self.run),
            actor: self.actor.clone(),
            target: self.target.clone(),
            outcome: self.outcome.as_deref().map(outcome).transpose()?,
            since: moment("--since", self.since.as_deref(), clock)?,
            until: moment("--until", self.until.as_deref(), clock)?,
        })
    }
}

/// Parses a number of events.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "expected a whole number, 0 or more".to_owned())
}

fn outcome(word: &str) -> Result<String, Failure> {
    let known: Result<EventOutcome, ()> = word.parse();
    known
        .map(|outcome| outcome.as_str().to_owned())
        .map_err(|()| {
            Failure::new(
                FailureCode::C004,
                format!("`{word}` is not a value for --outcome"),
            )
            .because("allowed: done, failed, allowed, denied, cancelled, unknown")
            .advise("`--outcome failed`")
        })
}

pub(crate) fn moment(
    flag: &str,
    text: Option<&str>,
    clock: &Clock,
) -> Result<Option<Timestamp>, Failure> {
    let read = |text| {
        Timestamp::parse_back_from(text, clock.now()).map_err(|error| {
            Failure::new(
                FailureCode::C004,
                format!("`{text}` is not a value for {flag}"),
            )
            .because(error.to_string())
            .advise(format!("`{flag} 7d`"))
        })
    };
    text.map(read).transpose()
}
