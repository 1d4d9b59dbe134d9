//! The daemon as seen from the workshop: whether it runs, where it listens, whether it is
//! paused. The lease of a living process decides; the file with the process id is only for
//! other programs.

mod log;
mod signals;

pub use log::{DaemonLogSlice, DaemonLogWriter};
pub use signals::DaemonStopOutcome;

use std::path::PathBuf;

use artel_journal::{
    EventBatch, EventFilter, EventQuery, Journal, JournalReader, LeaseFence, LeaseOwner,
};
use artel_types::{
    Actor, DaemonFaltered, DaemonPaused, DaemonReloaded, DaemonResumed, DaemonStarted,
    DaemonStopped, EventDraft, EventVisibility, Fact, Failure, FailureCode, StreamName, Timestamp,
};
use serde::Serialize;

use crate::find::WorkshopLocation;
use crate::hands::command_rules;
use crate::private::PRIVATE_FILE;
use crate::runs::{LEASE, cannot_load};
use crate::trouble::{WorkshopFailures, file_failure};
use crate::workshop::{OutcomeWithNotes, Workshop};

/// The name of the lease that the daemon holds while it runs.
const NAME: &str = "daemon";

/// Maximum number of recorded faults that are reported.
const MOST_FALTERED: u64 = 5;

/// A running daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningDaemon {
    /// Its process id.
    pub pid: u32,
    pub version: String,
    /// The address it listens on.
    pub listen: String,
    /// When it started.
    pub since: Timestamp,
    /// Whether a person gave the address at the start; otherwise it comes from the settings.
    #[serde(skip)]
    pub is_named: bool,
}

/// The address a daemon listens on, and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonListenAddress {
    /// The address from the settings.
    AsSet(String),
    /// The address that a person gave at the start.
    AsNamed(String),
}

/// The daemon's current problems.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonProblems {
    /// Why the latest change of the settings is not in force.
    pub refused: Vec<String>,
    /// Faults since the daemon started, latest first.
    pub faltered: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DaemonStatus {
    /// The running daemon, or `None`.
    pub running: Option<RunningDaemon>,
    /// Whether a person paused it, so that it starts nothing new.
    pub paused: bool,
    /// Why the latest change of the settings is not in force.
    pub refused: Vec<String>,
    /// Faults since the daemon started, latest first.
    pub faltered: Vec<String>,
    /// Its log file.
    pub log: PathBuf,
}

impl Workshop {
    pub fn daemon_status(&self) -> Result<DaemonStatus, Failure> {
        let reader = self.reader_as_it_is()?;
        Ok(DaemonStatus {
            running: self.running_daemon(&reader)?,
            paused: is_held(&reader)?,
            refused: refused(&reader)?,
            faltered: faltered(&reader)?,
            log: self.daemon_log(),
        })
    }

    pub fn daemon_trouble(&self) -> Result<DaemonProblems, Failure> {
        let reader = self.reader_as_it_is()?;
        Ok(DaemonProblems {
            refused: refused(&reader)?,
            faltered: faltered(&reader)?,
        })
    }

    /// Returns the path of the daemon's log file.
    pub fn daemon_log(&self) -> PathBuf {
        self.log_file("daemon.log")
    }

    /// Returns the path of the daemon's process id file, for programs that look for one.
    pub fn daemon_pid_file(&self) -> PathBuf {
        self.home.state().join("daemon.pid")
    }

    /// Starts a daemon in the background and returns its process id.
    pub fn leave_daemon_to_background(&self, words: &[String]) -> Result<u32, Failure> {
        log::set_aside(&self.daemon_log());
        let words: Vec<String> = std::iter::once("serve".to_owned())
            .chain(words.iter().cloned())
            .collect();
        self.leave(&words, &self.daemon_log()).map_err(|why| {
            Failure::new(FailureCode::H006, "the daemon could not be started")
                .because(why)
                .advise("`artel serve` runs it in this terminal")
        })
    }

    /// Makes this process the daemon by taking the lease. Fails if another daemon holds it.
    pub async fn become_daemon(&self, journal: &Journal) -> Result<LeaseFence, Failure> {
        let owner = LeaseOwner::this_process("artel serve");
        let taken = journal.take_lease(NAME, owner, LEASE).await;
        let lease = taken.map_err(|error| {
            let failure = Failure::from(error);
            match failure.code {
                FailureCode::J011 => {
                    Failure::new(FailureCode::H002, "a daemon already serves this workshop")
                        .because(failure.what)
                        .advise("`artel daemon status` shows it; `artel daemon stop` ends it")
                }
                _ => failure,
            }
        })?;
        let text = format!("{}\n", std::process::id());
        artel_files::write_atomic(&self.daemon_pid_file(), text.as_bytes(), PRIVATE_FILE)
            .map_err(|error| file_failure(FailureCode::W008, &error))?;
        Ok(lease.fence)
    }

    /// Renews the daemon's lease.
    pub async fn stay_daemon(&self, journal: &Journal, fence: &LeaseFence) -> Result<(), Failure> {
        Ok(journal.renew_lease(fence, LEASE).await?)
    }

    /// Gives up the daemon's lease and records why.
    pub async fn leave_daemon(&self, journal: &Journal, fence: &LeaseFence, why: &str) {
        let fact = DaemonStopped {
            pid: std::process::id(),
            why: why.to_owned(),
        };
        // The process ends in any case, and the lease expires by itself.
        drop(self.note_daemon(journal, fact.into()));
        drop(std::fs::remove_file(self.daemon_pid_file()));
        drop(journal.release_lease(fence).await);
    }

    /// Records that the daemon is ready.
    pub fn daemon_is_up(
        &self,
        journal: &Journal,
        listens: DaemonListenAddress,
        taken: u64,
    ) -> Result<(), Failure> {
        let (listen, named) = match listens {
            DaemonListenAddress::AsSet(at) => (at, None),
            DaemonListenAddress::AsNamed(at) => (at, Some(true)),
        };
        let fact = DaemonStarted {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            listen,
            taken,
            named,
        };
        self.note_daemon(journal, fact.into())
    }

    /// Records which files changed while the daemon ran, and why they are not in force if they
    /// are invalid.
    pub fn daemon_reloaded(
        &self,
        journal: &Journal,
        what: Vec<String>,
        problems: Vec<String>,
    ) -> Result<(), Failure> {
        self.note_daemon(journal, DaemonReloaded { what, problems }.into())
    }

    /// Records that something the daemon was working on failed.
    pub fn daemon_faltered(
        &self,
        journal: &Journal,
        id: Option<String>,
        why: &str,
    ) -> Result<(), Failure> {
        let why = self.redactor().redact(why).into_owned();
        self.note_daemon(journal, DaemonFaltered { id, why }.into())
    }

    /// Loads the settings again, as at a start. Keys stored since then are known too.
    pub fn reloaded(&self) -> Result<Self, WorkshopFailures> {
        self.caller.afresh().at(WorkshopLocation {
            root: self.root.clone(),
            marker: self.marker.clone(),
            found: self.found,
        })
    }

    /// Returns what is wrong with roles, skills and policy, all of which would be refused when
    /// used. The valid parts are in force from now on.
    pub fn check_parts(&self) -> Result<Vec<Failure>, WorkshopFailures> {
        let mut wrong = Vec::new();
        for report in self.caller.validate_agents(None)? {
            if report.ok {
                self.caller.role(&report.id)?;
            }
            let id = &report.id;
            let bad = report.checks.into_iter().filter_map(|check| check.failure);
            wrong.extend(bad.map(|failure| Failure {
                what: format!("role `{id}`: {}", failure.what),
                ..failure
            }));
        }
        if let Err(WorkshopFailures(problems)) = self.grants() {
            wrong.extend(problems);
        }
        wrong.extend(command_rules(&self.root).err());
        // Its problems are reported above; this call keeps the valid parts in force.
        drop(self.caller.policy(None));
        wrong.extend(self.broken_skills()?.iter().map(cannot_load));
        Ok(wrong)
    }

    /// Stops the daemon from starting new work. Work under way continues.
    pub fn pause_daemon(&self, why: Option<&str>) -> Result<OutcomeWithNotes<bool>, Failure> {
        self.refuse_secret_in(why.unwrap_or_default())?;
        let why = why.map(str::to_owned);
        self.hold(DaemonPaused { why }.into())
    }

    /// Lets the daemon start new work again.
    pub fn resume_daemon(&self) -> Result<OutcomeWithNotes<bool>, Failure> {
        self.hold(DaemonResumed {}.into())
    }

    /// Returns whether the daemon is paused.
    pub fn is_daemon_held(&self) -> Result<bool, Failure> {
        is_held(&*self.reader_as_it_is()?)
    }

    fn hold(&self, fact: Fact) -> Result<OutcomeWithNotes<bool>, Failure> {
        let opened = self.open()?;
        let holds = matches!(fact, Fact::DaemonPaused(_));
        let is_new = is_held(opened.journal.reader())? != holds;
        if is_new {
            let actor = self.caller.actor();
            let draft = EventDraft::new(StreamName::daemon(), self.trace_id(), actor, fact);
            opened.journal.append(EventBatch::of([draft])).wait()?;
        }
        Ok(OutcomeWithNotes {
            done: is_new,
            notes: opened.notes,
        })
    }

    fn note_daemon(&self, journal: &Journal, fact: Fact) -> Result<(), Failure> {
        let actor = Actor::system("daemon");
        let draft = EventDraft::new(StreamName::daemon(), self.trace_id(), actor, fact)
            .shown(EventVisibility::Full);
        journal.append(EventBatch::of([draft])).wait()?;
        Ok(())
    }

    fn running_daemon(&self, reader: &JournalReader) -> Result<Option<RunningDaemon>, Failure> {
        let now = self.caller.clock.now();
        let lease = reader.leases()?.into_iter().find(|it| it.name == NAME);
        let owner = lease.and_then(|lease| {
            let owner = lease.owner?;
            // A daemon that was held up, by a debugger or a sleeping laptop, stays the daemon
            // until another takes the lease.
            let holds = lease.expires > now || owner.is_alive();
            (holds && !owner.is_dead()).then_some(owner)
        });
        let Some(owner) = owner else { return Ok(None) };
        let started = last(reader, "daemon.started")?;
        Ok(started.and_then(|(at, fact)| match fact {
            Fact::DaemonStarted(it) if it.pid == owner.pid => Some(RunningDaemon {
                pid: it.pid,
                version: it.version,
                listen: it.listen,
                since: at,
                is_named: it.named == Some(true),
            }),
            // It holds the lease but has not finished starting.
            _ => None,
        }))
    }
}

/// Returns why the latest settings are not in force.
fn refused(reader: &JournalReader) -> Result<Vec<String>, Failure> {
    let (started, reloaded) = (
        last(reader, "daemon.started")?,
        last(reader, "daemon.reloaded")?,
    );
    Ok(match (started, reloaded) {
        (Some((started, _)), Some((at, Fact::DaemonReloaded(it)))) if at > started => it.problems,
        _ => Vec::new(),
    })
}

/// Returns what failed since the daemon started, latest first.
fn faltered(reader: &JournalReader) -> Result<Vec<String>, Failure> {
    let Some((started, _)) = last(reader, "daemon.started")? else {
        return Ok(Vec::new());
    };
    let filter = EventFilter {
        kind: Some("daemon.faltered".to_owned()),
        ..EventFilter::default()
    };
    let asked = EventQuery::of(filter).newest_first().limit(MOST_FALTERED);
    let mut faltered = Vec::new();
    for record in reader.records(&asked)? {
        let event = record.event()?;
        if let Fact::DaemonFaltered(it) = event.fact
            && event.at > started
        {
            let id = it.id.as_deref().unwrap_or("a run");
            faltered.push(format!("{id} broke off at {}: {}", event.at, it.why));
        }
    }
    Ok(faltered)
}

fn is_held(reader: &JournalReader) -> Result<bool, Failure> {
    let (paused, resumed) = (
        last(reader, "daemon.paused")?,
        last(reader, "daemon.resumed")?,
    );
    Ok(match (paused, resumed) {
        (Some((paused, _)), Some((resumed, _))) => paused > resumed,
        (Some(_), None) => true,
        (None, _) => false,
    })
}

fn last(reader: &JournalReader, kind: &str) -> Result<Option<(Timestamp, Fact)>, Failure> {
    let filter = EventFilter {
        kind: Some(kind.to_owned()),
        ..EventFilter::default()
    };
    let records = reader.records(&EventQuery::of(filter).newest_first().limit(1))?;
    let Some(record) = records.first() else {
        return Ok(None);
    };
    let event = record.event()?;
    Ok(Some((event.at, event.fact)))
}
