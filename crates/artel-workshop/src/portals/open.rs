//! Opens, changes and closes portals.

use std::path::{Path, PathBuf};

use artel_journal::{EventBatch, EventFilter, EventQuery, JournalAppendError, JournalReader};
use artel_types::model::PrivacyLabel;
use artel_types::{Failure, FailureCode, PortalClosed, StreamName};

use super::label::told_of_labels;
use super::{Portal, PortalOperation, name, portals_in, stack};
use crate::own_folders::OwnFolders;
use crate::trouble::shell_word;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// Maximum number of attempts when other writers get in between.
const TRIES: usize = 50;

/// A portal to open, or a change to an open one. Fields that are `None` keep their value.
/// In a new portal, every role may do everything, and content may go to any model.
#[derive(Debug, Clone, Default)]
pub struct NewPortal {
    pub path: PathBuf,
    /// The name; the name of the folder if `None`.
    pub name: Option<String>,
    /// The permitted operations.
    pub operations: Option<Vec<PortalOperation>>,
    /// The roles that may work in it; `*` for all.
    pub agents: Option<Vec<String>>,
    /// Where its content may be sent.
    pub privacy: Option<PrivacyLabel>,
    /// The commands that build, lint and test it.
    pub checks: Option<Vec<String>>,
}

impl Workshop {
    /// Opens a folder to agents, or changes the settings of an open portal.
    pub fn open_portal(&self, new: &NewPortal) -> Result<OutcomeWithNotes<Portal>, Failure> {
        let folder = self.project_folder(&new.path)?;
        self.refuse_folder(&folder)?;
        let new = self.checked(new)?;
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        for _ in 0..TRIES {
            let at = position(journal.reader())?;
            let portals = portals_in(journal.reader())?;
            let old = portals.iter().find(|portal| portal.path == folder).cloned();
            let portal = settled(&new, &folder, old.clone(), &portals)?;
            let told = told_of_labels(&portal, &portals);
            if old.as_ref() == Some(&portal) {
                notes.push(format!(
                    "`{}` is open already, and nothing changes",
                    portal.name
                ));
                notes.extend(self.write_card(&portal)?);
                return Ok(OutcomeWithNotes {
                    done: portal,
                    notes,
                });
            }
            let draft = self.draft(portal.fact()).on(portal.name.clone());
            let batch = EventBatch::of([draft]).expecting(StreamName::workshop(), at);
            match journal.append(batch).wait() {
                Ok(_) => {
                    notes.extend(told);
                    notes.extend(self.write_card(&portal)?);
                    return Ok(OutcomeWithNotes {
                        done: portal,
                        notes,
                    });
                }
                Err(JournalAppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Failure::new(
            FailureCode::J009,
            "others write to the journal all the time",
        )
        .advise("repeat it"))
    }

    /// Closes a folder to agents. The folder stays as it is, and so does the portal's page if
    /// a person wrote into it.
    pub fn close_portal(&self, name: &str) -> Result<OutcomeWithNotes<Portal>, Failure> {
        let portal = self.portal(name)?;
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        let fact = PortalClosed {
            name: portal.name.clone(),
        };
        journal
            .append(self.draft(fact).on(portal.name.clone()))
            .wait()?;
        self.drop_card(&portal)?;
        let card = self.portal_card(&portal.name);
        if card.exists() {
            notes.push(format!("your notes stay in `{}`", card.display()));
        }
        Ok(OutcomeWithNotes {
            done: portal,
            notes,
        })
    }

    /// Detects the technologies of a portal again, and writes its page.
    pub fn refresh_portal(&self, name: &str) -> Result<OutcomeWithNotes<Portal>, Failure> {
        let portal = self.portal(name)?;
        if !portal.path.is_dir() {
            return Err(super::admit::gone(&portal));
        }
        self.open_portal(&NewPortal {
            path: portal.path,
            ..NewPortal::default()
        })
    }

    /// Resolves the links in the path of a folder.
    pub(super) fn project_folder(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let folder = self.caller.absolute(folder);
        let real = folder.canonicalize().map_err(|error| {
            let what = format!("there is no folder `{}`", folder.display());
            Failure::new(FailureCode::W010, what)
                .because(error.to_string())
                .advise("name a project folder that is there")
        })?;
        if real.is_dir() {
            return Ok(real);
        }
        let what = format!("`{}` is not a folder", real.display());
        let parent = real.parent().unwrap_or(Path::new("/"));
        Err(Failure::new(FailureCode::C004, what)
            .advise(format!("`artel portal add {}`", shell_word(parent))))
    }

    /// Refuses a folder that contains more than a project, or Artel's own state.
    pub(super) fn refuse_folder(&self, folder: &Path) -> Result<(), Failure> {
        let Some(why) = self.why_closed(folder) else {
            return Ok(());
        };
        let what = format!("`{}` cannot be a portal", folder.display());
        Err(Failure::new(FailureCode::F003, what)
            .because(why)
            .advise("name the folder of one project"))
    }

    /// Refuses a portal in which a workshop was created after it was opened.
    pub(crate) fn refuse_portal(&self, portal: &Portal) -> Result<(), Failure> {
        let Some(why) = self.why_closed_by_workshop(&portal.path) else {
            return Ok(());
        };
        let (name, path) = (&portal.name, portal.path.display());
        let what = format!("agents cannot work in the portal `{name}` (`{path}`)");
        Err(Failure::new(FailureCode::F003, what)
            .because(why)
            .advise(format!(
                "`artel portal remove {name}`, then `artel portal add DIR` for each project in it"
            )))
    }

    /// Returns why a folder can never be opened to agents, or `None` if it can.
    pub(crate) fn why_closed(&self, folder: &Path) -> Option<String> {
        self.why_closed_by_place(folder)
            .map(str::to_owned)
            .or_else(|| self.why_closed_by_workshop(folder))
    }

    /// Returns why no run may work on a folder, regardless of what lies in it. The code that
    /// opens the folder for a run checks for workshops inside.
    pub(crate) fn why_closed_by_itself(&self, folder: &Path) -> Option<String> {
        let by_place = self.why_closed_by_place(folder).map(str::to_owned);
        by_place.or_else(|| match self.own_folders() {
            Ok(known) => why_own(&known, folder),
            Err(failure) => Some(failure.what),
        })
    }

    /// Returns a reason if a workshop lies in the folder: its policy, roles and skills would
    /// be files of the project. A folder that is itself a workshop is allowed, with the
    /// workshop's own files read-only.
    pub(crate) fn why_closed_by_workshop(&self, folder: &Path) -> Option<String> {
        let known = match self.own_folders() {
            Ok(known) => known,
            // The locations of workshops are unknown, so the folder stays closed.
            Err(failure) => return Some(failure.what),
        };
        why_own(&known, folder).or_else(|| {
            let held = known.workshop_beneath(folder)?;
            Some(format!("it holds the workshop `{}`", held.display()))
        })
    }

    fn why_closed_by_place(&self, folder: &Path) -> Option<&'static str> {
        let places = &self.caller.places;
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own = [places.data(), places.config(), places.state()].map(real);
        let parts = || folder.components().map(|part| part.as_os_str());
        let text = folder.to_str().unwrap_or("\n");
        if real(places.home()).starts_with(folder) {
            Some("it would open your whole home folder, or more")
        } else if own.iter().any(|own| folder.starts_with(own)) || parts().any(|it| it == ".artel")
        {
            Some("it is Artel's own state, which agents never see")
        } else if parts().any(|it| it == ".git") {
            Some("it is the inside of a repository")
        } else if text.chars().any(char::is_control) {
            Some("its path is no text of one line")
        } else {
            None
        }
    }

    /// Validates a portal's settings and normalizes them.
    fn checked(&self, new: &NewPortal) -> Result<NewPortal, Failure> {
        let mut new = new.clone();
        let bad =
            |what: &str, advice: &str| Err(Failure::new(FailureCode::C004, what).advise(advice));
        if let Some(operations) = &mut new.operations {
            operations.sort();
            operations.dedup();
            if !operations.contains(&PortalOperation::Read) {
                return bad(
                    "a portal that is not read is of no use",
                    "`--operations read`, `read,write` or `read,write,git`",
                );
            }
        }
        for check in new.checks.iter().flatten() {
            self.refuse_secret_in(check)?;
        }
        if let Some(agents) = &mut new.agents {
            if agents.is_empty() {
                return bad("no role is named", "`--agents '*'` for all, or their ids");
            }
            if agents.iter().any(|agent| agent == "*") {
                *agents = vec!["*".to_owned()];
            }
            for agent in agents.iter().filter(|agent| *agent != "*") {
                self.caller
                    .role(agent)
                    .map_err(|problems| problems.first())?;
            }
        }
        let is_line =
            |check: &String| !check.trim().is_empty() && !check.contains(char::is_control);
        if let Some(checks) = &new.checks
            && !checks.iter().all(is_line)
        {
            return bad("a check is a command of one line", "`--check 'cargo test'`");
        }
        Ok(new)
    }
}

fn why_own(known: &OwnFolders, folder: &Path) -> Option<String> {
    let own = known.around(folder)?;
    let own = own.display();
    Some(format!(
        "`{own}` is a workshop's own, which agents never change"
    ))
}

/// Returns the portal as it will be after the change.
fn settled(
    new: &NewPortal,
    folder: &Path,
    old: Option<Portal>,
    portals: &[Portal],
) -> Result<Portal, Failure> {
    let wanted = new.name.as_deref().map(name::plain);
    let base = match (old, wanted) {
        (Some(old), Some(wanted)) if wanted != old.name => {
            let what = format!("`{}` is open already, as `{}`", folder.display(), old.name);
            let advice = format!("`artel portal remove {}` first", old.name);
            return Err(Failure::new(FailureCode::C004, what).advise(advice));
        }
        (Some(old), _) => old,
        (None, Some(wanted)) if name::is_taken(&wanted, portals) => {
            let what = format!("there is a portal `{wanted}` already");
            let advice = format!("`--name {}`", name::free(&wanted, portals));
            return Err(Failure::new(FailureCode::C004, what).advise(advice));
        }
        (None, Some(wanted)) => fresh(wanted, folder),
        (None, None) => {
            let named = folder.file_name().unwrap_or_default().to_string_lossy();
            fresh(name::free(&name::plain(&named), portals), folder)
        }
    };
    Ok(Portal {
        operations: new.operations.clone().unwrap_or(base.operations),
        agents: new.agents.clone().unwrap_or(base.agents),
        privacy: new.privacy.unwrap_or(base.privacy),
        checks: new.checks.clone().unwrap_or(base.checks),
        stack: stack::detect(folder),
        ..base
    })
}

fn fresh(name: String, folder: &Path) -> Portal {
    Portal {
        name,
        path: folder.to_owned(),
        operations: PortalOperation::ALL.to_vec(),
        agents: vec!["*".to_owned()],
        privacy: PrivacyLabel::Any,
        stack: Vec::new(),
        checks: Vec::new(),
    }
}

/// Returns the position of the last event in the workshop's own stream.
fn position(reader: &JournalReader) -> Result<u64, Failure> {
    let filter = EventFilter {
        stream: Some(StreamName::workshop().to_string()),
        ..EventFilter::default()
    };
    let last = reader.records(&EventQuery::of(filter).newest_first().limit(1))?;
    Ok(last.first().map_or(0, |record| record.stream_seq))
}
