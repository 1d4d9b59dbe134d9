//! Asks once, at the first use of a folder, whether it may become a portal.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_types::{Failure, FailureCode};
use serde::Serialize;

use super::{NewPortal, Portal, holding, name, portals_in};
use crate::runs::TrustApprover;
use crate::trouble::{path_text, shell_word};
use crate::workshop::Workshop;

/// The question to a person before agents see a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortalQuestion {
    /// The name that the portal would have.
    pub name: String,
    /// The folder, with links resolved.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
}

impl fmt::Display for PortalQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Open `{}` ({}) to agents? They read it; changes reach it only by a changeset you \
             approve.",
            self.name,
            self.path.display()
        )
    }
}

/// Asks whether a folder may become a portal.
pub trait PortalOpeningApprover {
    /// Asks the person; `None` if nobody can answer.
    fn open(&self, question: &PortalQuestion) -> Option<bool>;
}

impl<F: Fn(&PortalQuestion) -> Option<bool>> PortalOpeningApprover for F {
    fn open(&self, question: &PortalQuestion) -> Option<bool> {
        self(question)
    }
}

/// The approver for skills also answers questions about folders.
impl PortalOpeningApprover for Arc<dyn TrustApprover> {
    fn open(&self, question: &PortalQuestion) -> Option<bool> {
        self.ask_portal(question)
    }
}

impl Workshop {
    /// Returns the portal that contains a folder. If there is none, the repository around the
    /// folder becomes a portal after a person agrees, or the folder itself if it is in no
    /// repository.
    pub fn ensure_portal(
        &self,
        folder: &Path,
        first: &dyn PortalOpeningApprover,
    ) -> Result<Portal, Failure> {
        let folder = self.project_folder(folder)?;
        let portals = portals_in(&*self.reader()?)?;
        if let Some(portal) = holding(portals.clone(), &folder) {
            // A workshop may have been created in it since it was opened.
            self.refuse_portal(&portal)?;
            return Ok(portal);
        }
        let around = folder.ancestors().find(|it| it.join(".git").exists());
        let path = around.filter(|it| self.refuse_folder(it).is_ok());
        let path = path.unwrap_or(&folder).to_owned();
        self.refuse_folder(&path)?;
        let named = path.file_name().unwrap_or_default().to_string_lossy();
        let question = PortalQuestion {
            name: name::free(&name::plain(&named), &portals),
            path: path.clone(),
        };
        match first.open(&question) {
            Some(true) => {}
            Some(false) => return Err(closed(&path, "you said no")),
            None => return Err(closed(&path, "nobody could be asked")),
        }
        let new = NewPortal {
            path,
            ..NewPortal::default()
        };
        Ok(self.open_portal(&new)?.done)
    }
}

fn closed(path: &Path, why: &str) -> Failure {
    let what = format!("`{}` is not open to agents", path.display());
    Failure::new(FailureCode::F003, what)
        .because(why)
        .advise(format!(
            "`artel portal add {}` opens it; `--yes` does for scripts",
            shell_word(path)
        ))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use artel_config::ProcessEnvironment;
    use artel_types::ActorSurface;

    use super::*;
    use crate::caller::{CommandContext, GlobalFlags};
    use crate::init::WorkshopInitMode;

    #[test]
    fn a_repository_is_opened_by_one_question_and_never_again() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let variables = [("HOME", root.join("home").to_str().unwrap().to_owned())];
        fs::create_dir_all(root.join("home")).unwrap();
        fs::create_dir_all(root.join("code/shop/.git")).unwrap();
        fs::create_dir_all(root.join("code/shop/src")).unwrap();
        fs::create_dir_all(root.join("plain/inner")).unwrap();
        let clock = artel_config::system_clock();
        let environment = ProcessEnvironment::of(variables, &root);
        let caller = CommandContext::new(
            environment,
            clock,
            GlobalFlags::default(),
            ActorSurface::Cli,
        )
        .unwrap();
        let workshop = root.join("home/Artel");
        caller
            .init(Some(&workshop), WorkshopInitMode::Complete)
            .unwrap();
        let workshop = caller.workshop().unwrap();
        let asked = RefCell::new(Vec::new());
        let answers = |answer: Option<bool>| {
            let asked = &asked;
            move |question: &PortalQuestion| {
                asked.borrow_mut().push(question.to_string());
                answer
            }
        };
        let inside = root.join("code/shop/src");
        for (answer, why) in [
            (None, "nobody could be asked"),
            (Some(false), "you said no"),
        ] {
            let refused = workshop
                .ensure_portal(&inside, &answers(answer))
                .unwrap_err();
            assert_eq!(refused.code, FailureCode::F003);
            assert_eq!(refused.why.as_deref(), Some(why));
            let advice = refused.advice.unwrap();
            assert!(
                advice.contains("`--yes`") && advice.contains("code/shop` opens it"),
                "{advice}"
            );
        }
        assert!(workshop.portals().unwrap().is_empty());
        let portal = workshop
            .ensure_portal(&inside, &answers(Some(true)))
            .unwrap();
        assert_eq!(
            (portal.name.as_str(), &portal.path),
            ("shop", &root.join("code/shop"))
        );
        let again = workshop.ensure_portal(&root.join("code/shop"), &answers(None));
        assert_eq!(again.unwrap(), portal);
        // Without a repository, the folder itself is opened. If two portals contain a folder, the
        // inner one is used.
        let inner = root.join("plain/inner");
        let plain = workshop.ensure_portal(&root.join("plain"), &answers(Some(true)));
        assert_eq!(workshop.ensure_portal(&inner, &answers(None)), plain);
        let new = NewPortal {
            path: inner.clone(),
            ..NewPortal::default()
        };
        workshop.open_portal(&new).unwrap();
        assert_eq!(workshop.portal_of(&inner).unwrap().unwrap().name, "inner");
        assert_eq!(workshop.portal_of(&root).unwrap(), None);
        let home = workshop.ensure_portal(&root.join("home"), &answers(Some(true)));
        assert_eq!(home.unwrap_err().code, FailureCode::F003);
        let asked = asked.into_inner();
        assert_eq!(asked.len(), 4, "{asked:?}");
        let path = root.join("code/shop");
        let whole = format!(
            "Open `shop` ({}) to agents? They read it; changes reach it only by a changeset you \
             approve.",
            path.display()
        );
        assert_eq!(asked[0], whole);
    }
}
