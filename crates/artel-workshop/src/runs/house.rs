//! The environment that all runs of one process share: the journal, the gateway, the
//! models, the skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::{RunObserver, ShutdownLevel, SteeringHub};
use artel_journal::Journal;
use artel_model::Gateway;
use artel_tools::{AskablePerson, HintVisibility, ToolCallApprover};
use artel_types::model::PrivacyLabel;
use artel_types::{Actor, Failure, FailureCode};
use tokio::sync::watch;

use super::marks::MarksOfWorks;
use super::skills::SkillsFound;
use super::trust::TrustApprover;
use crate::models::ModelDirectory;
use crate::own_folders::OwnFolders;
use crate::portals::{Portal, holding, label_of, portals_in, with_labels_that_count};
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// Everybody who observes or decides while a run is driven.
#[derive(Clone)]
pub struct RunObservers {
    /// Watches the run.
    pub audience: Arc<dyn RunObserver>,
    /// Approves or denies calls.
    pub approver: Option<Arc<dyn ToolCallApprover>>,
    /// Answers the agent's questions.
    pub person: Option<Arc<dyn AskablePerson>>,
    /// Decides about skills, hooks and folders at their first use.
    pub trust: Arc<dyn TrustApprover>,
    /// Signals when this process should stop.
    pub stop: watch::Receiver<ShutdownLevel>,
    /// Whether the model gets hints on what to try after a failure.
    pub hints: HintVisibility,
}

pub(crate) struct RunEnvironment {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) journal: Journal,
    pub(crate) models: ModelDirectory,
    pub(crate) gateway: Gateway,
    pub(crate) wheel: SteeringHub,
    pub(crate) skills: SkillsFound,
    pub(crate) company: RunObservers,
    /// The model that the person named for all runs in this process.
    pub(crate) named: Option<String>,
    /// The folder that the runs work on, with links resolved.
    pub(crate) folder: PathBuf,
    /// The portals with their effective labels; below, the portal that contains the folder.
    pub(crate) portals: Vec<Portal>,
    pub(crate) portal: Option<Portal>,
    /// Where content may be sent, according to the portals that contain the folder and those
    /// inside it.
    label: PrivacyLabel,
    /// The marks of the pieces of work in this process: sources read and secrets given.
    pub(crate) marks: MarksOfWorks,
    pub(crate) own_folders: OwnFolders,
}

impl RunEnvironment {
    /// Opens everything that a run needs. `named` is the model that the person named.
    pub(crate) async fn open(
        workshop: &Arc<Workshop>,
        folder: &Path,
        named: Option<&str>,
        company: RunObservers,
    ) -> Result<Arc<Self>, Failure> {
        let own_folders = workshop.own_folders()?;
        if let Some(held) = own_folders.workshop_beneath(folder) {
            return Err(holds_a_workshop(folder, &held));
        }
        let company = workshop.without_secrets_said(company);
        let models = workshop.models(named).await?;
        let OpenWorkshopJournal { journal, notes } = workshop.open()?;
        for note in notes {
            company.audience.notice(&note);
        }
        workshop.refuse_written_by_others()?;
        workshop.refuse_unseen(journal.reader())?;
        let gateway = workshop.gateway(&journal, &models).await?;
        let wheel = SteeringHub::listen(&journal, journal.reader().head()?);
        let skills = workshop.find_skills(folder);
        let portals = portals_in(journal.reader())?;
        let label = label_of(folder, &portals);
        let mut portals = with_labels_that_count(&portals);
        // The limits of the folder's own portal apply even if the portal can no longer be named.
        let portal = holding(portals.clone(), folder);
        portals.retain(|portal| own_folders.known_workshop_beneath(&portal.path).is_none());
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
            label,
            marks: MarksOfWorks::default(),
            own_folders,
        }))
    }

    /// Returns where content may be sent: no further than the portals allow that contain the
    /// folder or lie in it, whatever else is wanted. The label of the folder's own portal
    /// counts as well, because a run can name everything in it.
    pub(crate) fn privacy(&self, wanted: PrivacyLabel) -> PrivacyLabel {
        let of_portal = self
            .portal
            .as_ref()
            .map_or(PrivacyLabel::Any, Portal::privacy);
        self.label.narrowed(of_portal).narrowed(wanted)
    }

    /// Returns the person on whose behalf everything happens.
    pub(crate) fn person(&self) -> Actor {
        self.workshop.caller.actor()
    }

    /// Returns the folder of a run's tree.
    pub(crate) fn tree_of(&self, run: artel_types::RunId) -> PathBuf {
        self.workshop.run_place(run)
    }
}

/// Returns the failure for a folder whose agents would work on the files of a workshop.
fn holds_a_workshop(folder: &Path, held: &Path) -> Failure {
    let what = format!("agents cannot work on `{}`", folder.display());
    Failure::new(FailureCode::F003, what)
        .because(format!("it holds the workshop `{}`", held.display()))
        .advise("go to the folder of one project, or name it with `--folder DIR`")
}
