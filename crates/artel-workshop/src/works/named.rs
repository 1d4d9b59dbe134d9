//! The roles, tools and scripts that a plan may name.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use artel_policy::PolicyBound;
use artel_rules::plan::{self, CheckedPlan, PlanCheckContext, PlanProblem, RoleAccess, scripts_in};
use artel_types::RequestCreated;
use artel_types::plan::{Plan, RequestSize};

use super::permissions::beyond_policy;
use crate::workshop::Workshop;

/// The roles, tools and scripts that the plans of one piece of work may name.
#[derive(Debug, Clone)]
pub(crate) struct WorkPlanVocabulary {
    known: PlanCheckContext,
    /// The project folder. Its files count as scripts.
    folder: PathBuf,
    /// The portal's bound on everything done there.
    portal: Option<PolicyBound>,
}

impl WorkPlanVocabulary {
    /// Returns the names available to a plan. Of the project's files, only those that the plan
    /// names as scripts are included, since a project may have too many files to list.
    pub(crate) fn for_plan(&self, plan: &Plan) -> PlanCheckContext {
        let mut known = self.known.clone();
        if let Some(scripts) = &mut known.scripts {
            let there = scripts_in(plan).into_iter();
            let there = there.filter(|name| is_file_below(&self.folder, name));
            scripts.extend(there.map(str::to_owned));
        }
        known
    }

    /// Checks a plan against everything known before it begins. Requests of unchanged steps
    /// were checked earlier.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        before: Option<&Plan>,
    ) -> Result<CheckedPlan, Vec<PlanProblem>> {
        let beyond = beyond_policy(plan, before, self.portal.as_ref());
        match plan::check(plan, &self.for_plan(plan)) {
            Ok(checked) if beyond.is_empty() => Ok(checked),
            Ok(_) => Err(beyond),
            Err(problems) => Err(problems.into_iter().chain(beyond).collect()),
        }
    }
}

impl Workshop {
    /// Returns the names available to the plans of a request. For a request that is carried
    /// out at once, scripts are not checked: the plan has the person's words, which may name
    /// files still to be made.
    pub(crate) fn named_for(&self, request: &RequestCreated) -> WorkPlanVocabulary {
        let folder = PathBuf::from(&request.folder);
        let mut known = self.known();
        if request.size != RequestSize::Trivial {
            let skill = request.skill.as_deref();
            let found = skill.map(|name| (self.find_skills(&folder), name));
            let skill = found.as_ref().and_then(|(all, name)| all.get(name).ok());
            let scripts = skill.iter().flat_map(|skill| &skill.scripts);
            let scripts: BTreeSet<_> = scripts.map(|script| script.path.clone()).collect();
            known.scripts = Some(scripts);
        }
        let portal = request.portal.as_deref();
        let portal = portal.and_then(|name| self.portal(name).ok());
        WorkPlanVocabulary {
            known,
            folder,
            portal: portal.map(|portal| portal.bound()),
        }
    }

    /// Returns the available roles and tools.
    pub(crate) fn known(&self) -> PlanCheckContext {
        let ids = self.caller.agent_ids().unwrap_or_default();
        let reaches = |id: &String| match id.as_str() {
            "engineer" | "designer" | "tester" | "default" => RoleAccess::Writes,
            "guide" | "architect" | "inspector" | "librarian" | "archivalist" | "academic"
            | "orchestrator" => RoleAccess::Reads,
            _ => RoleAccess::Writes,
        };
        let roles = ids.iter().map(|id| (id.clone(), reaches(id))).collect();
        let tools = self.caller.registry("default");
        let tools = tools.map(|registry| registry.cards().map(|card| card.name.clone()).collect());
        PlanCheckContext {
            roles,
            tools: tools.unwrap_or_default(),
            scripts: None,
            keys: Default::default(),
        }
    }
}

fn is_file_below(folder: &Path, name: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    Path::new(name).components().all(is_plain) && folder.join(name).is_file()
}
