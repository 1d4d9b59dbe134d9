//! Finds the workshop that a command means.

use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::marker::WorkshopMarker;
use crate::registry;
use crate::safety;
use crate::trouble::shell_word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkshopDiscovery {
    /// Named by `--workshop`.
    Flag,
    /// Named by `ARTEL_WORKSHOP`.
    Variable,
    /// Named by the command's own argument.
    Argument,
    /// The current folder or one of its parents.
    Parent,
    /// The default workshop in the home folder.
    Home,
}

#[derive(Debug, Clone)]
pub(crate) struct WorkshopLocation {
    pub(crate) root: PathBuf,
    pub(crate) marker: WorkshopMarker,
    pub(crate) found: WorkshopDiscovery,
}

impl CommandContext {
    /// Returns the folder that a flag or a variable names, if any.
    pub(crate) fn named(&self) -> Option<(PathBuf, WorkshopDiscovery)> {
        if let Some(flag) = &self.flags.workshop {
            return Some((self.absolute(flag), WorkshopDiscovery::Flag));
        }
        let variable = self
            .environment
            .get("ARTEL_WORKSHOP")
            .filter(|text| !text.is_empty())?;
        Some((
            self.absolute(Path::new(variable)),
            WorkshopDiscovery::Variable,
        ))
    }

    /// Finds the workshop: the named one, one around the current folder, or the one in the
    /// home folder.
    pub(crate) fn place(&self) -> Result<WorkshopLocation, Failure> {
        if let Some((root, found)) = self.named() {
            return named_place(&root, found);
        }
        if let Some(place) = self.parent()? {
            return Ok(place);
        }
        let home = self.places.default_workshop();
        match WorkshopMarker::read(&home)? {
            Some(marker) => place(home, marker, WorkshopDiscovery::Home),
            None => Err(self.nowhere(&home)),
        }
    }

    /// Searches upwards for a workshop that this user made or trusted. Others are skipped,
    /// because a repository may contain one with its own settings.
    fn parent(&self) -> Result<Option<WorkshopLocation>, Failure> {
        let Some(here) = self.environment.current_dir() else {
            return Ok(None);
        };
        for folder in here.ancestors() {
            match WorkshopMarker::read(folder) {
                Ok(Some(marker)) => {
                    if registry::knows(self.places.data(), marker.id, folder)? {
                        return place(folder.to_owned(), marker, WorkshopDiscovery::Parent)
                            .map(Some);
                    }
                }
                Ok(None) if !folder.join(".artel/journal.db").exists() => {}
                Ok(None) => self.refuse_if_ours(folder, WorkshopMarker::missing(folder))?,
                Err(damaged) => self.refuse_if_ours(folder, damaged)?,
            }
        }
        Ok(None)
    }

    /// Returns the failure only if the folder is one of this user's workshops. A damaged
    /// marker of a foreign workshop does not matter, but skipping the user's own would
    /// silently use a different workshop than the one they are in.
    fn refuse_if_ours(&self, folder: &Path, failure: Failure) -> Result<(), Failure> {
        if registry::knows_place(self.places.data(), folder)? {
            return Err(failure);
        }
        Ok(())
    }

    fn nowhere(&self, home: &Path) -> Failure {
        let failure =
            Failure::new(FailureCode::W001, "there is no workshop here").because(format!(
                "none around this folder that you made or trusted, and none at `{}`",
                home.display()
            ));
        match self.untrusted() {
            Some(folder) => failure.advise(format!(
                "`artel workshop trust {}` to use the one found there, or `artel init` to make one",
                shell_word(&folder)
            )),
            None => {
                failure.advise("`artel init` makes one in this folder, `artel init DIR` in another")
            }
        }
    }

    /// Returns the nearest untrusted workshop around the current folder.
    pub(crate) fn untrusted(&self) -> Option<PathBuf> {
        let here = self.environment.current_dir()?;
        let is_marked = |folder: &&Path| matches!(WorkshopMarker::read(folder), Ok(Some(_)));
        here.ancestors().find(is_marked).map(Path::to_owned)
    }
}

pub(crate) fn named_place(
    root: &Path,
    found: WorkshopDiscovery,
) -> Result<WorkshopLocation, Failure> {
    let by = match found {
        WorkshopDiscovery::Variable => "`ARTEL_WORKSHOP` names it",
        WorkshopDiscovery::Argument => "the command line names it",
        _ => "`--workshop` names it",
    };
    let Ok(root) = root.canonicalize() else {
        let what = format!("there is no folder `{}`", root.display());
        let advice = format!("`artel init {}` makes a workshop there", shell_word(root));
        return Err(Failure::new(FailureCode::W002, what)
            .because(by)
            .advise(advice));
    };
    let shown = root.display();
    if !root.is_dir() {
        return Err(
            Failure::new(FailureCode::W003, format!("`{shown}` is not a folder"))
                .because(by)
                .advise("name the workshop's folder; `artel init DIR` makes one"),
        );
    }
    match WorkshopMarker::read(&root)? {
        Some(marker) => place(root, marker, found),
        None => Err(
            Failure::new(FailureCode::W003, format!("`{shown}` is not a workshop"))
                .because(format!("{by}, and it has no `.artel/workshop.json`"))
                .advise(format!(
                    "`artel init {}` turns it into one",
                    shell_word(&root)
                )),
        ),
    }
}

fn place(
    root: PathBuf,
    marker: WorkshopMarker,
    found: WorkshopDiscovery,
) -> Result<WorkshopLocation, Failure> {
    safety::check(&root.join(".artel"))?;
    Ok(WorkshopLocation {
        root,
        marker,
        found,
    })
}
