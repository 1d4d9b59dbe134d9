//! The order of steps: which step waits for which, and which may run at the same time.

use std::collections::{BTreeSet, HashMap};

use artel_types::plan::Plan;

use super::problem::{PlanProblem, PlanProblemPlace, listed, shown};

/// The steps of a plan by their dependencies. It exists only for plans whose order is
/// possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepGraph {
    ids: Vec<String>,
    places: HashMap<String, usize>,
    /// For each step, the steps that depend on it directly.
    followers: Vec<Vec<usize>>,
    /// For each step, all steps before it.
    before: Vec<BTreeSet<usize>>,
    layer: Vec<usize>,
    order: Vec<usize>,
}

impl StepGraph {
    /// Reads the order of a plan. Duplicate ids, unknown ids, a step that waits for itself
    /// and cycles are refused.
    pub fn of(plan: &Plan) -> Result<Self, Vec<PlanProblem>> {
        let (places, mut problems) = places(plan);
        let (waits, wrong) = waits(plan, &places);
        problems.extend(wrong);
        let mut followers = vec![Vec::new(); plan.steps.len()];
        for (at, waits) in waits.iter().enumerate() {
            for &earlier in waits {
                followers[earlier].push(at);
            }
        }
        let (order, circles) = peel(&waits, &followers);
        problems.extend(circles.iter().map(|circle| circular(plan, circle)));
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut layer = vec![0; waits.len()];
        let mut before = vec![BTreeSet::new(); waits.len()];
        for &at in &order {
            let layers = waits[at].iter().map(|&earlier| layer[earlier] + 1);
            layer[at] = layers.max().unwrap_or(0);
            let mut all: BTreeSet<usize> = waits[at].iter().copied().collect();
            for &earlier in &waits[at] {
                all.extend(&before[earlier]);
            }
            before[at] = all;
        }
        Ok(Self {
            ids: plan.steps.iter().map(|step| step.id.clone()).collect(),
            places,
            followers,
            before,
            layer,
            order,
        })
    }

    /// Returns the steps by layer. Steps of the first layer depend on no other; steps of
    /// another one depend on a step in the layer before it. A step may begin as soon as
    /// its own dependencies are done; layers are only for display.
    pub fn layers(&self) -> Vec<Vec<&str>> {
        let count = self.layer.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        for (id, &layer) in self.ids.iter().zip(&self.layer) {
            layers[layer].push(id.as_str());
        }
        layers
    }

    /// Returns the layer of a step, from 0.
    pub fn layer(&self, id: &str) -> Option<usize> {
        self.places.get(id).map(|&at| self.layer[at])
    }

    /// Returns the steps in an order in which they could be done one after another: as
    /// written, as far as the dependencies allow.
    pub fn order(&self) -> Vec<&str> {
        self.order.iter().map(|&at| self.ids[at].as_str()).collect()
    }

    /// Returns all steps that cannot begin before this one has passed.
    pub fn dependents(&self, id: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = self.places.get(id).copied().into_iter().collect();
        while let Some(at) = open.pop() {
            for &follower in &self.followers[at] {
                if found.insert(self.ids[follower].as_str()) {
                    open.push(follower);
                }
            }
        }
        found
    }

    /// Returns all steps that must have passed before this one begins.
    pub fn before(&self, id: &str) -> BTreeSet<&str> {
        let at = self.places.get(id).copied();
        let before = at.map(|at| self.before[at].iter());
        let ids = before.into_iter().flatten();
        ids.map(|&earlier| self.ids[earlier].as_str()).collect()
    }
}

fn places(plan: &Plan) -> (HashMap<String, usize>, Vec<PlanProblem>) {
    let mut places = HashMap::new();
    let mut problems = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        if let Some(first) = places.get(&step.id) {
            problems.push(in_step(
                plan,
                at,
                format!(
                    "its id `{}` is that of step {} too",
                    shown(&step.id),
                    first + 1
                ),
                "give each step an id of its own",
            ));
        } else {
            places.insert(step.id.clone(), at);
        }
    }
    (places, problems)
}

fn waits(plan: &Plan, places: &HashMap<String, usize>) -> (Vec<Vec<usize>>, Vec<PlanProblem>) {
    let mut problems = Vec::new();
    let mut all = Vec::with_capacity(plan.steps.len());
    for (at, step) in plan.steps.iter().enumerate() {
        let mut waits = BTreeSet::new();
        for wanted in &step.after {
            match places.get(wanted) {
                _ if *wanted == step.id => problems.push(in_step(
                    plan,
                    at,
                    "it waits for itself",
                    "take its own id out of `after`",
                )),
                None => problems.push(in_step(
                    plan,
                    at,
                    format!("it waits for `{}`, which is no step", shown(wanted)),
                    format!(
                        "the steps are {}",
                        listed(plan.steps.iter().map(|it| &*it.id))
                    ),
                )),
                Some(&earlier) => {
                    waits.insert(earlier);
                }
            }
        }
        all.push(waits.into_iter().collect());
    }
    (all, problems)
}

/// Removes steps whose dependencies are gone, in the order in which they were written. The
/// remaining steps are in a cycle or wait for one; each cycle is returned as the steps
/// along it.
fn peel(waits: &[Vec<usize>], followers: &[Vec<usize>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut missing: Vec<usize> = waits.iter().map(Vec::len).collect();
    let ready = |missing: &[usize]| -> BTreeSet<usize> {
        let all = missing.iter().enumerate();
        all.filter(|(_, count)| **count == 0)
            .map(|(at, _)| at)
            .collect()
    };
    let mut open = ready(&missing);
    let mut is_gone = vec![false; waits.len()];
    let (mut order, mut circles) = (Vec::new(), Vec::new());
    loop {
        while let Some(at) = open.pop_first() {
            is_gone[at] = true;
            order.push(at);
            for &follower in followers[at].iter().filter(|&&it| !is_gone[it]) {
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    open.insert(follower);
                }
            }
        }
        let Some(start) = is_gone.iter().position(|gone| !gone) else {
            return (order, circles);
        };
        let circle = circle_from(start, waits, &is_gone);
        // With one cycle cut open, steps that waited only for it can be ordered again.
        open.extend(circle.first());
        missing[circle[0]] = 0;
        circles.push(circle);
    }
}

/// Goes from a step to one that it waits for, and so on, until a step repeats.
fn circle_from(start: usize, waits: &[Vec<usize>], is_gone: &[bool]) -> Vec<usize> {
    let mut path = vec![start];
    loop {
        let last = path[path.len() - 1];
        let Some(&next) = waits[last].iter().find(|&&earlier| !is_gone[earlier]) else {
            return path;
        };
        if let Some(first) = path.iter().position(|&seen| seen == next) {
            return path.split_off(first);
        }
        path.push(next);
    }
}

fn circular(plan: &Plan, circle: &[usize]) -> PlanProblem {
    let first = circle.first().copied().unwrap_or(0);
    let path = circle.iter().chain([&first]).map(|&at| {
        let step = &plan.steps[at];
        format!("step {} `{}`", at + 1, shown(&step.id))
    });
    let path: Vec<String> = path.collect();
    in_step(
        plan,
        first,
        format!(
            "steps wait for one another in a circle: {}",
            path.join(" → ")
        ),
        "take one of these dependencies out of `after`",
    )
}

/// Makes a problem of a step, given by its index.
pub(super) fn in_step(
    plan: &Plan,
    at: usize,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> PlanProblem {
    let title = plan.steps.get(at).map(|step| step.title.clone());
    let place = PlanProblemPlace::Step {
        number: at + 1,
        title: title.unwrap_or_default(),
    };
    PlanProblem::at(place, what, remedy)
}
