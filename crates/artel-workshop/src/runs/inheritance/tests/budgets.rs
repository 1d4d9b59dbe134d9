//! The usage of a run counts against every run above it and their step.

use std::collections::BTreeMap;

use artel_model::ModelCallContext;
use artel_rules::budget::{BudgetLedger, UNLIMITED, reserve, settle};
use artel_testkit::{ManualClock, Random};
use artel_types::model::Provider;
use artel_types::{
    Actor, BudgetLevel, BudgetLimited, ConfiguredSpendLimits, Event, EventVisibility, Fact,
    SpendAmount, StreamName, TraceId,
};

use super::{Node, random_tree};

/// Maximum number of simultaneous calls in a tree.
const IN_FLIGHT: usize = 4;

/// A call that was admitted and is not paid yet.
struct Open {
    key: String,
    levels: Vec<BudgetLevel>,
    estimate: u64,
    cost: u64,
}

/// The budgets that a run's calls count against, as the gateway determines them.
fn levels(node: &Node) -> Vec<BudgetLevel> {
    let context = ModelCallContext {
        trace: TraceId::from_random([1; 16]),
        actor: Actor::system("test"),
        session: None,
        run: Some(node.id),
        above: node.inherits.ancestors().to_vec(),
        step: node.inherits.step_budget().map(str::to_owned),
    };
    context.levels(Provider::Anthropic, None)
}

/// One of the runs and steps that a run counts against.
fn level_to_limit(node: &Node, random: &mut Random) -> BudgetLevel {
    let mut levels = levels(node);
    levels.retain(|level| matches!(level, BudgetLevel::Run(_) | BudgetLevel::Step(_)));
    let at = random.below(levels.len() as u64);
    levels.swap_remove(usize::try_from(at).unwrap())
}

/// A ledger, and the sequence number of its last event.
#[derive(Default)]
struct Folded {
    ledger: BudgetLedger,
    seq: u64,
}

impl Folded {
    fn fold(&mut self, fact: impl Into<Fact>) {
        self.seq += 1;
        self.ledger.fold(&Event {
            seq: self.seq,
            stream: StreamName::budget(),
            stream_seq: self.seq,
            at: now(),
            trace: TraceId::from_random([1; 16]),
            session: None,
            run: None,
            cause: None,
            actor: Actor::system("test"),
            target: None,
            outcome: None,
            visibility: EventVisibility::Full,
            fact: fact.into(),
        });
    }

    /// Reserves the estimate if every level has room for it.
    fn reserves(&mut self, open: &Open) -> bool {
        let amount = SpendAmount::new(1, open.estimate);
        let limits = ConfiguredSpendLimits::default();
        let granted = reserve(
            &self.ledger,
            &limits,
            &open.key,
            &open.levels,
            amount,
            now(),
        );
        let Ok(granted) = granted else { return false };
        self.fold(granted.reserved);
        true
    }

    fn settles(&mut self, open: &Open) {
        let amount = SpendAmount::new(1, open.cost);
        let settled = settle(
            &self.ledger,
            &ConfiguredSpendLimits::default(),
            &open.key,
            amount,
            now(),
        );
        self.fold(settled.unwrap().settled);
    }
}

fn now() -> artel_types::Timestamp {
    ManualClock::at("2026-11-18T12:00:00Z").clock().now()
}

/// A limit, what was paid against it, and how far the calls under way when it was reached
/// may exceed their estimates.
#[derive(Default)]
struct Watched {
    most: u64,
    paid: u64,
    above: u64,
}

/// Makes many calls in a tree, and returns how many were refused.
fn plays(
    tree: &[Node],
    random: &mut Random,
    watched: &mut BTreeMap<BudgetLevel, Watched>,
) -> usize {
    let mut folded = Folded::default();
    for (level, it) in &*watched {
        let limit = SpendAmount::new(UNLIMITED, it.most);
        let level = level.clone();
        folded.fold(BudgetLimited { level, limit });
    }
    let mut open: Vec<Open> = Vec::new();
    let mut refused = 0;
    for call in 0..300 {
        let is_full = open.len() == IN_FLIGHT || random.below(3) == 0;
        if is_full && !open.is_empty() {
            let at = usize::try_from(random.below(open.len() as u64)).unwrap();
            pays(&mut folded, open.swap_remove(at), watched);
        }
        let node = &tree[usize::try_from(random.below(tree.len() as u64)).unwrap()];
        // The cost of a call is known only afterwards, so an estimate may be too low.
        let new = Open {
            key: format!("c{call}"),
            levels: levels(node),
            estimate: 1 + random.below(100),
            cost: 1 + random.below(200),
        };
        if !folded.reserves(&new) {
            refused += 1;
            continue;
        }
        let touched = new.levels.clone();
        open.push(new);
        for level in touched {
            if let Some(it) = watched.get_mut(&level) {
                let under_way = open.iter().filter(|open| open.levels.contains(&level));
                let above = under_way.map(|open| open.cost.saturating_sub(open.estimate));
                it.above = above.sum();
            }
        }
    }
    open.into_iter()
        .for_each(|open| pays(&mut folded, open, watched));
    refused
}

fn pays(folded: &mut Folded, open: Open, watched: &mut BTreeMap<BudgetLevel, Watched>) {
    folded.settles(&open);
    for level in &open.levels {
        if let Some(it) = watched.get_mut(level) {
            it.paid += open.cost;
        }
    }
}

/// With one call at a time, a limit is exceeded by that call at most.
#[test]
fn in_random_trees_of_runs_no_limit_of_any_ancestor_is_passed_by_more_than_the_calls_in_flight() {
    let (mut of_steps, mut of_others) = (0, 0);
    for seed in 0..50 {
        let mut random = Random::of_seed(seed);
        let tree = random_tree(&mut random, seed);
        let mut watched = BTreeMap::new();
        for node in &tree {
            let level = level_to_limit(node, &mut random);
            match &level {
                BudgetLevel::Step(_) => of_steps += 1,
                level if *level != BudgetLevel::Run(node.id.to_string()) => of_others += 1,
                _ => {}
            }
            let most = 500 + random.below(4_000);
            let new = Watched {
                most,
                ..Watched::default()
            };
            watched.insert(level, new);
        }
        let refused = plays(&tree, &mut random, &mut watched);
        assert!(refused > 0, "a limit was reached");
        for (level, it) in &watched {
            assert!(
                it.paid <= it.most + it.above,
                "{seed}: {level}: {} of {}, with {} above estimates",
                it.paid,
                it.most,
                it.above
            );
        }
    }
    assert!(
        of_steps > 20 && of_others > 50,
        "{of_steps} of steps, {of_others} of runs above"
    );
}
