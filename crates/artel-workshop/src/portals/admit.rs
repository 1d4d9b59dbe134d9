//! Decides which role may do what in a portal.

use artel_types::{Failure, FailureCode};

use super::{Portal, PortalOperation};
use crate::trouble::shell_word;
use crate::workshop::Workshop;

impl Workshop {
    /// Checks that a role may do something in a portal: that the portal is open, that its
    /// folder exists, that it admits the role, and that it permits the operation. The caller
    /// records a refusal.
    pub fn admit(
        &self,
        portal: &str,
        role: &str,
        operation: PortalOperation,
    ) -> Result<(), Failure> {
        let portal = self.portal(portal)?;
        portal.admit(role, operation)?;
        if portal.path.is_dir() {
            return Ok(());
        }
        Err(gone(&portal))
    }
}

impl Portal {
    /// Checks the role and the operation against the portal's own settings only.
    pub fn admit(&self, role: &str, operation: PortalOperation) -> Result<(), Failure> {
        let name = &self.name;
        let path = shell_word(&self.path);
        if !self.is_for(role) {
            let what = format!("the role `{role}` may not work in `{name}`");
            let why = format!("the portal is open to: {}", self.agents.join(", "));
            let advice = format!("`artel portal add {path} --agents {}`", self.with(role));
            return Err(Failure::new(FailureCode::F002, what)
                .because(why)
                .advise(advice));
        }
        if !self.operations.contains(&operation) {
            let what = format!("`{operation}` is not open in `{name}`");
            let words: Vec<&str> = self.operations.iter().map(|it| it.as_str()).collect();
            let why = format!("open are: {}", words.join(", "));
            let more = words.iter().copied().chain([operation.as_str()]);
            let more: Vec<&str> = more.collect();
            let advice = format!("`artel portal add {path} --operations {}`", more.join(","));
            return Err(Failure::new(FailureCode::F002, what)
                .because(why)
                .advise(advice));
        }
        Ok(())
    }

    fn with(&self, role: &str) -> String {
        let agents = self.agents.iter().map(String::as_str).chain([role]);
        agents.collect::<Vec<_>>().join(",")
    }
}

/// Returns the failure for a portal whose folder no longer exists.
pub(super) fn gone(portal: &Portal) -> Failure {
    let (name, path) = (&portal.name, portal.path.display());
    Failure::new(
        FailureCode::W010,
        format!("the folder `{path}` of the portal `{name}` is gone"),
    )
    .advise(format!(
        "bring it back, or `artel portal remove {name}` and open it where it is now"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use artel_types::model::PrivacyLabel;

    #[test]
    fn each_refusal_says_what_is_not_open_and_how_to_open_it() {
        use PortalOperation::{Git, Read, Write};
        let portal = |agents: &[&str], operations: &[PortalOperation]| Portal {
            name: "shop".to_owned(),
            path: "/work/shop".into(),
            operations: operations.to_vec(),
            agents: agents.iter().map(|&it| it.to_owned()).collect(),
            privacy: PrivacyLabel::Any,
            stack: Vec::new(),
            checks: Vec::new(),
        };
        let table = [
            (portal(&["*"], &[Read, Write, Git]), "tester", Git, None),
            (portal(&["tester"], &[Read]), "tester", Read, None),
            (
                portal(&["tester"], &[Read]),
                "engineer",
                Read,
                Some("--agents tester,engineer"),
            ),
            (
                portal(&["*"], &[Read]),
                "engineer",
                Write,
                Some("--operations read,write"),
            ),
            (
                portal(&["*"], &[Read, Write]),
                "engineer",
                Git,
                Some("read,write,git"),
            ),
            (
                portal(&[], &[Read]),
                "engineer",
                Read,
                Some("--agents engineer"),
            ),
        ];
        for (portal, role, operation, advice) in table {
            let refused = portal.admit(role, operation).err();
            let said = refused.as_ref().and_then(|it| it.advice.clone());
            assert_eq!(
                said.is_some(),
                advice.is_some(),
                "{portal:?} {role} {operation}"
            );
            assert!(refused.is_none_or(|it| it.code == FailureCode::F002));
            let said = said.unwrap_or_default();
            assert!(said.contains(advice.unwrap_or_default()), "{said}");
        }
    }
}
