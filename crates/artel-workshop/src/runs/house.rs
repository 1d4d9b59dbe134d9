//! What all runs of one process share: the journal, the gateway, the models, the skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::{Audience, Stop, Wheel};
use artel_journal::Journal;
use artel_model::Gateway;
use artel_tools::{Approver, Hints, Person};
use artel_types::model::Privacy;
use artel_types::{Actor, Failure};
use tokio::sync::watch;

use super::skills::SkillsFound;
use super::trust::Trust;
use crate::models::Models;
use crate::portals::{Portal, holding, portals_in};
use crate::workshop::{Open, Workshop};

/// Who is there while a run goes on.
#[derive(Clone)]
pub struct Company {
    /// Watches.
    pub audience: Arc<dyn Audience>,
    /// Says yes or no to calls.
    pub approver: Option<Arc<dyn Approver>>,
    /// Answers questions.
    pub person: Option<Arc<dyn Person>>,
    /// Trusts skills at their first use.
    pub trust: Arc<dyn Trust>,
    /// Says when this process should stop.
    pub stop: watch::Receiver<Stop>,
    /// Whether the model is told what to try after a failure.
    pub hints: Hints,
}

/// What all runs of one process share.
pub(crate) struct House {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) journal: Journal,
    pub(crate) models: Models,
    pub(crate) gateway: Gateway,
    pub(crate) wheel: Wheel,
    pub(crate) skills: SkillsFound,
    pub(crate) company: Company,
    /// The model that the person named for all that goes on here.
    pub(crate) named: Option<String>,
    /// The folder that runs work on, without links.
    pub(crate) folder: PathBuf,
    /// The portals, and the one that holds the folder.
    pub(crate) portals: Vec<Portal>,
    pub(crate) portal: Option<Portal>,
}

impl House {
    /// Opens everything that a run needs. `named` is the model that the person named.
    pub(crate) async fn open(
        workshop: &Arc<Workshop>,
        folder: &Path,
        named: Option<&str>,
        company: Company,
    ) -> Result<Arc<Self>, Failure> {
        let models = workshop.models(named).await?;
        let Open { journal, notes } = workshop.open()?;
        for note in notes {
            company.audience.notice(&note);
        }
        let gateway = workshop.gateway(&journal, &models).await?;
        let wheel = Wheel::listen(&journal, journal.reader().head()?);
        let skills = workshop.find_skills(folder);
        let portals = portals_in(journal.reader())?;
        let portal = holding(portals.clone(), folder);
        Ok(Arc::new(Self {
            workshop: Arc::clone(workshop),
            journal,
            models,
            gateway,
            wheel,
            skills,
            company,
            named: named.map(str::to_owned),
            folder: folder.to_owned(),
            portals,
            portal,
        }))
    }

    /// Returns where content may go: no further than the portal says, whatever else is wanted.
    pub(crate) fn privacy(&self, wanted: Privacy) -> Privacy {
        match self.portal.as_ref().map_or(Privacy::Any, Portal::privacy) {
            Privacy::LocalOnly => Privacy::LocalOnly,
            Privacy::Any => wanted,
        }
    }

    /// Returns the person on whose behalf everything happens.
    pub(crate) fn person(&self) -> Actor {
        self.workshop.caller.actor()
    }

    /// Returns where the tree of a run is.
    pub(crate) fn tree_of(&self, run: artel_types::RunId) -> PathBuf {
        self.workshop.run_place(run)
    }
}
