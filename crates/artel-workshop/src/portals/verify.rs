//! Checks whether portals are still as they were when they were opened.

use artel_types::Failure;
use serde::Serialize;

use super::{Portal, stack};
use crate::doctor::DoctorCheckStatus;
use crate::workshop::Workshop;

/// The result of one check of a portal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortalCheck {
    pub portal: String,
    pub health: DoctorCheckStatus,
    /// folder, repository, agents, card or stack.
    pub what: &'static str,
    pub found: String,
    /// The advice to the person.
    pub remedy: Option<String>,
}

impl Workshop {
    /// Checks the named portals, or all portals if no name is given.
    pub fn verify_portals(&self, names: &[String]) -> Result<Vec<PortalCheck>, Failure> {
        let portals = match names {
            [] => self.portals()?,
            names => {
                let each = names.iter().map(|name| self.portal(name));
                each.collect::<Result<_, _>>()?
            }
        };
        let checks = portals.iter().flat_map(|portal| self.verified(portal));
        Ok(checks.collect())
    }

    fn verified(&self, portal: &Portal) -> Vec<PortalCheck> {
        let name = &portal.name;
        let check = |health, what, found: String, remedy: Option<String>| PortalCheck {
            portal: name.clone(),
            health,
            what,
            found,
            remedy,
        };
        let path = portal.path.display();
        // If the folder has become a link, it leads elsewhere than when it was opened.
        let real = portal.path.canonicalize().ok();
        if real.as_ref() != Some(&portal.path) || std::fs::read_dir(&portal.path).is_err() {
            let found = match real {
                Some(real) => format!("`{path}` leads to `{}` or cannot be read", real.display()),
                None => format!("`{path}` is gone"),
            };
            let remedy = format!("bring it back, or `artel portal remove {name}`");
            return vec![check(
                DoctorCheckStatus::Problem,
                "folder",
                found,
                Some(remedy),
            )];
        }
        let mut checks = vec![check(
            DoctorCheckStatus::Ok,
            "folder",
            format!("`{path}`"),
            None,
        )];
        checks.push(
            if portal.path.ancestors().any(|it| it.join(".git").exists()) {
                check(DoctorCheckStatus::Ok, "repository", "git".to_owned(), None)
            } else {
                check(
                    DoctorCheckStatus::Warning,
                    "repository",
                    "none: changes come as a patch, not as a branch".to_owned(),
                    Some(format!("`git init` in `{path}`")),
                )
            },
        );
        let named = portal.agents.iter().filter(|agent| *agent != "*");
        for agent in named.filter(|agent| self.caller.role(agent).is_err()) {
            checks.push(check(
                DoctorCheckStatus::Problem,
                "agents",
                format!("there is no role `{agent}` that can be used"),
                Some(format!("`artel agent validate {agent}`")),
            ));
        }
        let refresh = || Some(format!("`artel portal refresh {name}`"));
        checks.push(if self.has_current_card(portal) {
            check(
                DoctorCheckStatus::Ok,
                "card",
                "says what holds".to_owned(),
                None,
            )
        } else {
            let found = "is missing, or says something else".to_owned();
            check(DoctorCheckStatus::Warning, "card", found, refresh())
        });
        let now = stack::detect(&portal.path);
        let shown = now.join(", ");
        checks.push(if now == portal.stack {
            check(DoctorCheckStatus::Ok, "stack", shown, None)
        } else {
            check(
                DoctorCheckStatus::Warning,
                "stack",
                format!("is now: {shown}"),
                refresh(),
            )
        });
        checks
    }
}
