//! What there is for a plan to name: roles, tools, scripts.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use artel_policy::Bound;
use artel_rules::plan::{self, Checked, Known, Problem, Reach, scripts_in};
use artel_types::RequestCreated;
use artel_types::plan::{Plan, Size};

use super::permissions::beyond_policy;
use crate::workshop::Workshop;

/// What there is for the plans of one piece of work to name.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    known: Known,
    /// Where the project is, whose files are its scripts.
    folder: PathBuf,
    /// What the portal puts around everything that is done there.
    portal: Option<Bound>,
}

impl Named {
    /// Returns what there is for a plan, with those of the project's files that it names as
    /// scripts: a project may have more files than anybody wants to list.
    pub(crate) fn for_plan(&self, plan: &Plan) -> Known {
        let mut known = self.known.clone();
        if let Some(scripts) = &mut known.scripts {
            let there = scripts_in(plan).into_iter();
            let there = there.filter(|name| is_file_below(&self.folder, name));
            scripts.extend(there.map(str::to_owned));
        }
        known
    }

    /// Judges a plan by everything that is known before it is begun. What it asks for in steps that
    /// are as they were before was judged then.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        before: Option<&Plan>,
    ) -> Result<Checked, Vec<Problem>> {
        let beyond = beyond_policy(plan, before, self.portal.as_ref());
        match plan::check(plan, &self.for_plan(plan)) {
            Ok(checked) if beyond.is_empty() => Ok(checked),
            Ok(_) => Err(beyond),
            Err(problems) => Err(problems.into_iter().chain(beyond).collect()),
        }
    }
}

impl Workshop {
    /// Returns what there is for plans of a request to name. What is done at once is in the words
    /// of the person, who may well name what is still to be made.
    pub(crate) fn named_for(&self, request: &RequestCreated) -> Named {
        let folder = PathBuf::from(&request.folder);
        let mut known = self.known();
        if request.size != Size::Trivial {
            let skill = request.skill.as_deref();
            let found = skill.map(|name| (self.find_skills(&folder), name));
            let skill = found.as_ref().and_then(|(all, name)| all.get(name).ok());
            let scripts = skill.iter().flat_map(|skill| &skill.scripts);
            let scripts: BTreeSet<_> = scripts.map(|script| script.path.clone()).collect();
            known.scripts = Some(scripts);
        }
        let portal = request.portal.as_deref();
        let portal = portal.and_then(|name| self.portal(name).ok());
        Named {
            known,
            folder,
            portal: portal.map(|portal| portal.bound()),
        }
    }

    /// Returns the roles and tools that there are.
    pub(crate) fn known(&self) -> Known {
        let ids = self.caller.agent_ids().unwrap_or_default();
        let reaches = |id: &String| match id.as_str() {
            "engineer" | "designer" | "tester" | "default" => Reach::Writes,
            "guide" | "architect" | "inspector" | "librarian" | "archivalist" | "academic"
            | "orchestrator" => Reach::Reads,
            _ => Reach::Writes,
        };
        let roles = ids.iter().map(|id| (id.clone(), reaches(id))).collect();
        let tools = self.caller.registry("default");
        let tools = tools.map(|registry| registry.cards().map(|card| card.name.clone()).collect());
        Known {
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
