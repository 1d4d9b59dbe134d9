//! Commands and hosts that a step was denied because its scope lacks them. If the attempt
//! failed, the person is asked once about all of them.

use artel_policy::command;
use artel_policy::rules::PolicyRule;
use artel_rules::plan::widened;
use artel_types::plan::{Plan, PlanStep};
use artel_types::{Event, Fact, Failure, RecordedText, RunId};
use serde_json::Value;

use super::{AgentExecutor, StepContext};
use crate::works::contract::{commands_of, hosts_of};
use crate::works::propose::{ProposalText, proposed};

/// Suffix of the ids of proposals made here. Each step gets at most one.
const NAME: &str = "rights";

/// Rights that a step was denied because its scope lacks them.
#[derive(Debug, Default, PartialEq, Eq)]
struct StepScopeDenials {
    /// Commands, as a plan names them.
    commands: Vec<String>,
    hosts: Vec<String>,
    tools: Vec<String>,
    /// Names of secrets.
    secrets: Vec<String>,
    /// Commands that no plan can name, because their effect is only known when they run.
    unnamed: Vec<String>,
}

impl AgentExecutor {
    /// Proposes to the person the rights that a failed attempt was denied. If the worker
    /// proposed them already, the person is not asked twice.
    pub(super) fn beyond_rights(
        &self,
        spot: &StepContext,
        run: RunId,
    ) -> Result<Option<Fact>, Failure> {
        let spec = &spot.spec;
        let events = self.chronicle.own_events()?;
        if is_asked(&events, spot) {
            return Ok(None);
        }
        let registry = self.house.workshop.caller.registry("default");
        let cards = registry.iter().flat_map(|registry| registry.cards());
        let declared = cards.filter(|card| card.bundle == "declared");
        let declared: Vec<String> = declared.map(|card| card.name.clone()).collect();
        let denied = denied(&self.house.told_by(self.trace(), run)?, spec, &declared);
        let mut step = spec.clone();
        step.scope.commands.extend(denied.commands.clone());
        step.scope.network.extend(denied.hosts.clone());
        step.scope.tools.extend(denied.tools.clone());
        step.scope.secrets.extend(denied.secrets.clone());
        let what = widened(spec, &step);
        if what.is_empty() {
            return Ok(None);
        }
        let words = ProposalText {
            id: format!("{}-{}-{NAME}", spec.id, spot.round),
            what: what.join("; "),
            why: denied.told(),
            impact: "the step is tried again with it, on the files as they are".to_owned(),
        };
        let plan = spot.state.plan();
        let judge = |next: &Plan| self.named.check(next, Some(plan));
        // Rights that no valid plan can include cannot be asked about: the next attempt learns why
        // this one failed.
        let fact = proposed(plan, step, Vec::new(), judge, words);
        Ok(fact.ok().map(Fact::from))
    }
}

/// Returns the run that did the work of an attempt.
pub(super) fn worker(events: &[Event], spot: &StepContext) -> Option<RunId> {
    events.iter().rev().find_map(|event| match &event.fact {
        Fact::StepWorked(it) if it.part == "work" => {
            let is_it = it.step == spot.spec.id && it.round == spot.round;
            is_it.then_some(it.run)
        }
        _ => None,
    })
}

/// Returns whether the person was asked already, by this attempt or earlier by this
/// module.
fn is_asked(events: &[Event], spot: &StepContext) -> bool {
    let step = &spot.spec.id;
    let began = events.iter().rposition(|event| match &event.fact {
        Fact::StepStarted(it) => it.step == *step,
        _ => false,
    });
    let mut proposals = events.iter().enumerate();
    proposals.any(|(at, event)| match &event.fact {
        Fact::PlanProposed(it) if it.step == *step => {
            Some(at) > began || it.id.ends_with(&format!("-{NAME}"))
        }
        _ => false,
    })
}

/// Collects what a step was denied by its own bound. A plan cannot widen other bounds.
fn denied(events: &[Event], step: &PlanStep, declared: &[String]) -> StepScopeDenials {
    let bound = format!("bound.step {}", step.id);
    let mut denied = StepScopeDenials::default();
    let mut call = "";
    for event in events {
        if let Fact::SecretUsed(it) = &event.fact
            && it.call == call
            && it.verdict == "denied"
            && !step.scope.secrets.contains(&it.secret)
        {
            once(&mut denied.secrets, it.secret.clone());
        }
        let Fact::ToolRequested(it) = &event.fact else {
            continue;
        };
        let RecordedText::Inline(input) = &it.input else {
            continue;
        };
        if it.decision != "deny" || it.rule != bound {
            continue;
        }
        call = &it.call;
        if declared.contains(&it.tool) && !step.scope.tools.contains(&it.tool) {
            once(&mut denied.tools, it.tool.clone());
        }
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        match it.tool.as_str() {
            "bash" => {
                let named = input["network"].as_array().into_iter().flatten();
                let named: Vec<&str> = named.filter_map(Value::as_str).collect();
                denied.command(step, input["command"].as_str().unwrap_or_default());
                named.into_iter().for_each(|host| denied.host(step, host));
            }
            "fetch" => {
                let host = host_of(input["url"].as_str().unwrap_or_default());
                denied.host(step, host);
            }
            _ => {}
        }
    }
    denied
}

impl StepScopeDenials {
    fn command(&mut self, step: &PlanStep, text: &str) {
        let had = commands_of(step);
        let reading = command::read(text);
        if had.is_empty() || command::is_covered(&reading, &had) {
            return;
        }
        let lacking = |words: &&[String]| !had.iter().any(|rule| rule.admits_command(words));
        let named: Option<Vec<String>> = reading.words().filter(lacking).map(named).collect();
        let mut rules = had.clone();
        let parsed = named.iter().flatten();
        rules.extend(parsed.filter_map(|text| PolicyRule::parse(&format!("Bash({text})")).ok()));
        match named.filter(|_| command::is_covered(&reading, &rules)) {
            Some(named) => named
                .into_iter()
                .for_each(|it| once(&mut self.commands, it)),
            None => once(&mut self.unnamed, text.to_owned()),
        }
    }

    fn host(&mut self, step: &PlanStep, host: &str) {
        let is_had = hosts_of(step).any(|rule| rule.admits_name("fetch", host));
        if !is_had && !host.is_empty() {
            once(&mut self.hosts, host.to_owned());
        }
    }

    fn told(&self) -> String {
        let named = self.tools.iter().chain(&self.secrets);
        let all = self.commands.iter().chain(&self.hosts).chain(named);
        let all: Vec<String> = all.map(|it| format!("`{it}`")).collect();
        let mut text = format!(
            "the attempt did not get done, and was not allowed to use {}",
            all.join(", ")
        );
        if !self.unnamed.is_empty() {
            let unnamed: Vec<String> = self.unnamed.iter().map(|it| format!("`{it}`")).collect();
            text.push_str(&format!(
                "; it also wanted {}, which no plan can name",
                unnamed.join(", ")
            ));
        }
        text
    }
}

/// Returns the words of a command as a plan names them, or `None` if a plan cannot.
fn named(words: &[String]) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~ ".contains(c);
    let word = |word: &String| {
        let is_named = !word.is_empty() && word.chars().all(is_plain);
        let quoted = if word.contains(' ') {
            format!("'{word}'")
        } else {
            word.clone()
        };
        is_named.then_some(quoted)
    };
    let words: Option<Vec<String>> = words.iter().map(word).collect();
    // At the end of a rule, `:*` would admit any further words.
    let text = words?.join(" ");
    (!text.ends_with(":*")).then_some(text)
}

fn once(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// Returns the host of an address, with its port if named.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}
