//! The daemon as the workshop knows it: whether one runs, where it listens, whether it is held.
//! What counts is the lease of a process that lives; a file with its number is for others.

mod log;
mod signals;

pub use log::{DaemonJotter, DaemonLog};
pub use signals::DaemonEnded;

use std::path::PathBuf;

use artel_journal::{Batch, Fence, Filter, Journal, Owner, Query, Reader};
use artel_types::{
    Actor, Code, DaemonFaltered, DaemonPaused, DaemonReloaded, DaemonResumed, DaemonStarted,
    DaemonStopped, Draft, Fact, Failure, Stream, Timestamp, Visibility,
};
use serde::Serialize;

use crate::find::Place;
use crate::hands::command_rules;
use crate::private::PRIVATE_FILE;
use crate::runs::{LEASE, cannot_load};
use crate::trouble::{Problems, file_failure};
use crate::workshop::{Noted, Workshop};

/// What the daemon holds for as long as it runs.
const NAME: &str = "daemon";

/// How many of the faults on record are told of.
const MOST_FALTERED: u64 = 5;

/// A daemon that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DaemonRuns {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Where it listens.
    pub listen: String,
    /// Since when.
    pub since: Timestamp,
    /// Whether a person named the address when they started it; else the settings did.
    #[serde(skip)]
    pub is_named: bool,
}

/// Where a daemon listens, and who said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listens {
    /// The settings say so.
    AsSet(String),
    /// A person named the address at the start.
    AsNamed(String),
}

/// What is wrong with the daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonTrouble {
    /// Why the last change of settings is not in force.
    pub refused: Vec<String>,
    /// What broke off since it began, the latest first.
    pub faltered: Vec<String>,
}

/// How it stands with the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DaemonStatus {
    /// The one that runs.
    pub running: Option<DaemonRuns>,
    /// Whether it begins nothing new, because a person said so.
    pub paused: bool,
    /// Why the last change of settings is not in force.
    pub refused: Vec<String>,
    /// What broke off since it began, the latest first.
    pub faltered: Vec<String>,
    /// Where it writes what it says.
    pub log: PathBuf,
}

impl Workshop {
    /// Says how it stands with the daemon.
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

    /// Says what is wrong with the daemon.
    pub fn daemon_trouble(&self) -> Result<DaemonTrouble, Failure> {
        let reader = self.reader_as_it_is()?;
        Ok(DaemonTrouble {
            refused: refused(&reader)?,
            faltered: faltered(&reader)?,
        })
    }

    /// Returns where the daemon writes what it says.
    pub fn daemon_log(&self) -> PathBuf {
        self.log_file("daemon.log")
    }

    /// Returns where its process number stands, for whoever looks for such a file.
    pub fn daemon_pid_file(&self) -> PathBuf {
        self.home.state().join("daemon.pid")
    }

    /// Starts a daemon in the background, and returns its process.
    pub fn leave_daemon_to_background(&self, words: &[String]) -> Result<u32, Failure> {
        log::set_aside(&self.daemon_log());
        let words: Vec<String> = std::iter::once("serve".to_owned())
            .chain(words.iter().cloned())
            .collect();
        self.leave(&words, &self.daemon_log()).map_err(|why| {
            Failure::new(Code::H006, "the daemon could not be started")
                .because(why)
                .advise("`artel serve` runs it in this terminal")
        })
    }

    /// Makes this process the daemon. There is one at a time.
    pub async fn become_daemon(&self, journal: &Journal) -> Result<Fence, Failure> {
        let owner = Owner::this_process("artel serve");
        let taken = journal.take_lease(NAME, owner, LEASE).await;
        let lease = taken.map_err(|error| {
            let failure = Failure::from(error);
            match failure.code {
                Code::J011 => Failure::new(Code::H002, "a daemon already serves this workshop")
                    .because(failure.what)
                    .advise("`artel daemon status` shows it; `artel daemon stop` ends it"),
                _ => failure,
            }
        })?;
        let text = format!("{}\n", std::process::id());
        artel_files::write_atomic(&self.daemon_pid_file(), text.as_bytes(), PRIVATE_FILE)
            .map_err(|error| file_failure(Code::W008, &error))?;
        Ok(lease.fence)
    }

    /// Stays the daemon.
    pub async fn stay_daemon(&self, journal: &Journal, fence: &Fence) -> Result<(), Failure> {
        Ok(journal.renew_lease(fence, LEASE).await?)
    }

    /// Is the daemon no more.
    pub async fn leave_daemon(&self, journal: &Journal, fence: &Fence, why: &str) {
        let fact = DaemonStopped {
            pid: std::process::id(),
            why: why.to_owned(),
        };
        // It ends in any case; the lease passes on by itself.
        drop(self.note_daemon(journal, fact.into()));
        drop(std::fs::remove_file(self.daemon_pid_file()));
        drop(journal.release_lease(fence).await);
    }

    /// Puts on record that the daemon is at work.
    pub fn daemon_is_up(
        &self,
        journal: &Journal,
        listens: Listens,
        taken: u64,
    ) -> Result<(), Failure> {
        let (listen, named) = match listens {
            Listens::AsSet(at) => (at, None),
            Listens::AsNamed(at) => (at, Some(true)),
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

    /// Puts on record what changed while the daemon ran, and whether it is in force.
    pub fn daemon_reloaded(
        &self,
        journal: &Journal,
        what: Vec<String>,
        problems: Vec<String>,
    ) -> Result<(), Failure> {
        self.note_daemon(journal, DaemonReloaded { what, problems }.into())
    }

    /// Puts on record that something the daemon was at broke off.
    pub fn daemon_faltered(
        &self,
        journal: &Journal,
        id: Option<String>,
        why: &str,
    ) -> Result<(), Failure> {
        let why = self.redactor().redact(why).into_owned();
        self.note_daemon(journal, DaemonFaltered { id, why }.into())
    }

    /// Loads the settings anew, as a start would: keys that were stored since are known, too.
    pub fn reloaded(&self) -> Result<Self, Problems> {
        self.caller.afresh().at(Place {
            root: self.root.clone(),
            marker: self.marker.clone(),
            found: self.found,
        })
    }

    /// Returns what is wrong with roles, skills and policy: what would be refused at its use. What
    /// is right is in force from now on.
    pub fn check_parts(&self) -> Result<Vec<Failure>, Problems> {
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
        if let Err(Problems(problems)) = self.grants() {
            wrong.extend(problems);
        }
        wrong.extend(command_rules(&self.root).err());
        // What is wrong of it was said; the rest is remembered.
        drop(self.caller.policy(None));
        wrong.extend(self.broken_skills()?.iter().map(cannot_load));
        Ok(wrong)
    }

    /// Has the daemon begin nothing new; what is under way goes on.
    pub fn pause_daemon(&self, why: Option<&str>) -> Result<Noted<bool>, Failure> {
        self.refuse_secret_in(why.unwrap_or_default())?;
        let why = why.map(str::to_owned);
        self.hold(DaemonPaused { why }.into())
    }

    /// Has the daemon begin new work again.
    pub fn resume_daemon(&self) -> Result<Noted<bool>, Failure> {
        self.hold(DaemonResumed {}.into())
    }

    /// Tells whether the daemon is to begin nothing new.
    pub fn is_daemon_held(&self) -> Result<bool, Failure> {
        is_held(&*self.reader_as_it_is()?)
    }

    fn hold(&self, fact: Fact) -> Result<Noted<bool>, Failure> {
        let opened = self.open()?;
        let holds = matches!(fact, Fact::DaemonPaused(_));
        let is_new = is_held(opened.journal.reader())? != holds;
        if is_new {
            let actor = self.caller.actor();
            let draft = Draft::new(Stream::daemon(), self.trace_id(), actor, fact);
            opened.journal.append(Batch::of([draft])).wait()?;
        }
        Ok(Noted {
            done: is_new,
            notes: opened.notes,
        })
    }

    fn note_daemon(&self, journal: &Journal, fact: Fact) -> Result<(), Failure> {
        let actor = Actor::system("daemon");
        let draft =
            Draft::new(Stream::daemon(), self.trace_id(), actor, fact).shown(Visibility::Full);
        journal.append(Batch::of([draft])).wait()?;
        Ok(())
    }

    fn running_daemon(&self, reader: &Reader) -> Result<Option<DaemonRuns>, Failure> {
        let now = self.caller.clock.now();
        let lease = reader.leases()?.into_iter().find(|it| it.name == NAME);
        let owner = lease.and_then(|lease| {
            let owner = lease.owner?;
            // One that was held up, by a debugger or a laptop asleep, is the daemon until another
            // takes its place.
            let holds = lease.expires > now || owner.is_alive();
            (holds && !owner.is_dead()).then_some(owner)
        });
        let Some(owner) = owner else { return Ok(None) };
        let started = last(reader, "daemon.started")?;
        Ok(started.and_then(|(at, fact)| match fact {
            Fact::DaemonStarted(it) if it.pid == owner.pid => Some(DaemonRuns {
                pid: it.pid,
                version: it.version,
                listen: it.listen,
                since: at,
                is_named: it.named == Some(true),
            }),
            // It holds the lease and is still on its way.
            _ => None,
        }))
    }
}

/// Returns why the settings that were changed last are not in force.
fn refused(reader: &Reader) -> Result<Vec<String>, Failure> {
    let (started, reloaded) = (
        last(reader, "daemon.started")?,
        last(reader, "daemon.reloaded")?,
    );
    Ok(match (started, reloaded) {
        (Some((started, _)), Some((at, Fact::DaemonReloaded(it)))) if at > started => it.problems,
        _ => Vec::new(),
    })
}

/// Returns what broke off since the daemon began, the latest first.
fn faltered(reader: &Reader) -> Result<Vec<String>, Failure> {
    let Some((started, _)) = last(reader, "daemon.started")? else {
        return Ok(Vec::new());
    };
    let filter = Filter {
        kind: Some("daemon.faltered".to_owned()),
        ..Filter::default()
    };
    let asked = Query::of(filter).newest_first().limit(MOST_FALTERED);
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

fn is_held(reader: &Reader) -> Result<bool, Failure> {
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

/// Returns the last event of a kind.
fn last(reader: &Reader, kind: &str) -> Result<Option<(Timestamp, Fact)>, Failure> {
    let filter = Filter {
        kind: Some(kind.to_owned()),
        ..Filter::default()
    };
    let records = reader.records(&Query::of(filter).newest_first().limit(1))?;
    let Some(record) = records.first() else {
        return Ok(None);
    };
    let event = record.event()?;
    Ok(Some((event.at, event.fact)))
}
