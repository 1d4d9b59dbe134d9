//! The effect of portals on a run: the trees it may name, and the bound around it.

use std::collections::BTreeMap;
use std::path::Path;

use artel_files::RootFolder;
use artel_policy::{BoundAdmission, Policy, PolicyBound};
use artel_types::model::PrivacyLabel;

use super::{Portal, PortalOperation};

impl Portal {
    /// Adds the bound of this portal to the policy of a run that works in it. A role that the
    /// portal does not admit can do nothing there.
    pub(crate) fn limit(&self, policy: &mut Policy) {
        policy.portal = Some(self.name.clone());
        let bound = if self.is_for(&policy.role) {
            self.bound()
        } else {
            PolicyBound {
                name: format!("portal {}, which is not open to {}", self.name, policy.role),
                admits: BoundAdmission::Operations(Vec::new()),
            }
        };
        policy.bounds.push(bound);
    }
}

/// Returns the trees that a run in the portal `own` may name as `@Name/…`: those that each
/// of the `roles` may read. `roles` holds the role of the run and those of its callers.
/// Local-only content can be named only if the run is local-only too.
pub(crate) fn trees(
    portals: &[Portal],
    own: Option<&Portal>,
    roles: &[&str],
) -> BTreeMap<String, RootFolder> {
    let stays = own.map_or(PrivacyLabel::Any, Portal::privacy) == PrivacyLabel::LocalOnly;
    let may = |portal: &&Portal| {
        let is_own = own.is_some_and(|own| own.name == portal.name);
        let admits = |role: &&str| portal.admit(role, PortalOperation::Read).is_ok();
        roles.iter().all(admits) && (is_own || stays || portal.privacy() == PrivacyLabel::Any)
    };
    // A portal whose folder no longer exists is left out.
    let tree = |portal: &Portal| Some((portal.name.clone(), root(&portal.path)?));
    portals.iter().filter(may).filter_map(tree).collect()
}

fn root(path: &Path) -> Option<RootFolder> {
    RootFolder::open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_what_is_open_to_it_and_nothing_that_would_leave_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let portal = |name: &str, agents: &str, privacy| Portal {
            name: name.to_owned(),
            path: path.clone(),
            operations: vec![PortalOperation::Read],
            agents: vec![agents.to_owned()],
            privacy,
            stack: Vec::new(),
            checks: Vec::new(),
        };
        let mut portals = vec![
            portal("open", "*", PrivacyLabel::Any),
            portal("tests", "tester", PrivacyLabel::Any),
            portal("home", "*", PrivacyLabel::LocalOnly),
            portal("gone", "*", PrivacyLabel::Any),
        ];
        portals[3].path = path.join("gone");
        let names = |own: Option<usize>, roles: &[&str]| -> Vec<String> {
            let own = own.map(|at| &portals[at]);
            trees(&portals, own, roles).into_keys().collect()
        };
        assert_eq!(names(None, &["engineer"]), ["open"]);
        assert_eq!(names(Some(0), &["tester"]), ["open", "tests"]);
        assert_eq!(names(Some(0), &["tester", "engineer"]), ["open"]);
        assert_eq!(names(Some(2), &["engineer"]), ["home", "open"]);
        let mut policy = Policy {
            role: "engineer".to_owned(),
            ..Policy::default()
        };
        portals[1].limit(&mut policy);
        assert_eq!(policy.portal.as_deref(), Some("tests"));
        let read = artel_policy::PolicyAction::Read(artel_policy::FileTarget {
            place: artel_policy::TargetTree::Worktree,
            path: "a".to_owned(),
        });
        let decision = policy.decide("read", &[read], &artel_policy::PolicyContext::default());
        assert_eq!(decision.answer, artel_policy::PolicyAnswer::Deny);
    }
}
