//! A deliberately mediocre model: it carries out a list of calls word for word and knows
//! nothing about files, programs or scenarios. When a call fails, it looks for hints and
//! applies them in the plainest way; without hints it can only repeat itself.
//!
//! It speaks through [`StandIn`], so the code under test talks to a provider. It remembers
//! nothing: a request carries the whole conversation, and the same conversation leads to
//! the same answer.

mod call;
mod goal;
mod idea;
mod listen;
mod similar;

use serde_json::{Value, json};

use crate::standin::{Answer, Format, StandIn};
use call::{Call, Tools};
use goal::Goal;
use idea::{Idea, Kind};
use listen::{Heard, Told};

/// Number of times that a call is repeated unchanged.
const REPEATS: u32 = 2;

/// Number of times that it is repeated if the answer says that this may help.
const AGAIN: u32 = 5;

/// Number of results of one step after which it gives up, whatever is left to try.
const MOST_RESULTS: u32 = 12;

/// Starts the follower as a provider that speaks Anthropic's format.
pub fn start_follower() -> StandIn {
    StandIn::minded(Format::Anthropic, answer)
}

/// Returns the next reply in a conversation.
fn answer(body: &Value) -> Answer {
    let heard = Heard::of(body);
    let Some(goal) = heard.goal else {
        return Answer::says("there is no goal in this");
    };
    let mut mind = Mind::new(goal, heard.tools);
    for told in &heard.results {
        mind.hear(told);
    }
    mind.say()
}

/// The next thing to do.
enum Doing {
    /// The call of this step.
    Step,
    /// Another call first, which a hint suggested.
    First(Call),
    /// It has the answer.
    Found(String),
    /// It cannot continue.
    GaveUp(String),
}

struct Mind {
    goal: Goal,
    tools: Tools,
    step: usize,
    /// The call of this step, with the changes made so far.
    now: Call,
    doing: Doing,
    tried: Vec<Call>,
    /// Ideas from hints that were not tried yet.
    open: Vec<Idea>,
    results: u32,
    repeats: u32,
    again: u32,
    good: String,
    /// The names of the ideas that helped.
    by: Vec<&'static str>,
}

impl Mind {
    fn new(goal: Goal, tools: Tools) -> Self {
        let now = goal.calls.first().cloned().unwrap_or_default();
        Self {
            goal,
            tools,
            step: 0,
            now,
            doing: Doing::Step,
            tried: Vec::new(),
            open: Vec::new(),
            results: 0,
            repeats: 0,
            again: 0,
            good: String::new(),
            by: Vec::new(),
        }
    }

    fn say(&self) -> Answer {
        let finish = |text: String| Answer::default().calls("finish", json!({ "answer": text }));
        match &self.doing {
            Doing::Step => Answer::default().calls_raw(&self.now.tool, &self.now.arguments),
            Doing::First(call) => Answer::default().calls_raw(&call.tool, &call.arguments),
            Doing::Found(text) => finish(format!("found: {text}\nby: {}", self.by.join(", "))),
            Doing::GaveUp(why) => finish(format!("failed: {why}")),
        }
    }

    /// Takes in the result of its last call.
    fn hear(&mut self, told: &Told) {
        self.results += 1;
        match self.doing {
            Doing::First(_) => self.doing = Doing::Step,
            Doing::Found(_) | Doing::GaveUp(_) => {}
            Doing::Step if told.is_bad => {
                self.tried.push(self.now.clone());
                self.think(&told.text);
                self.next(told.first_line());
            }
            Doing::Step => {
                self.good.clone_from(&told.text);
                self.tried.push(self.now.clone());
                self.go_on();
            }
        }
    }

    /// Takes ideas from the hints in a text; new ones come before older ones.
    fn think(&mut self, text: &str) {
        let mut ideas = idea::ideas(text, &self.now, &self.tools);
        ideas.append(&mut self.open);
        self.open = ideas;
    }

    /// Moves on to the next step, or to the answer.
    fn go_on(&mut self) {
        if let Some(next) = self.goal.calls.get(self.step + 1) {
            self.step += 1;
            self.now = next.clone();
            (self.tried, self.open) = (Vec::new(), Vec::new());
            (self.results, self.repeats, self.again) = (0, 0, 0);
            self.doing = Doing::Step;
            return;
        }
        match self.goal.find(&self.good) {
            Some(found) => self.doing = Doing::Found(found),
            None => {
                let good = self.good.clone();
                self.think(&good);
                // The result is not what was asked for, and repeating the call will not
                // help.
                self.repeats = REPEATS;
                self.next("the answer is not in the result");
            }
        }
    }

    /// Tries the next idea. Without one, it repeats the call, and then gives up.
    fn next(&mut self, why: &str) {
        if self.results >= MOST_RESULTS {
            self.doing = Doing::GaveUp(why.to_owned());
            return;
        }
        while !self.open.is_empty() {
            let idea = self.open.remove(0);
            match idea.kind {
                Kind::Instead(call) if !self.tried.contains(&call) => {
                    self.now = call;
                    self.doing = Doing::Step;
                }
                Kind::First(call) if !self.tried.contains(&call) => {
                    self.tried.push(call.clone());
                    self.doing = Doing::First(call);
                }
                Kind::Skip(text) => {
                    self.good = text;
                    self.by.push(idea.name);
                    self.go_on();
                    return;
                }
                Kind::Again if self.again < AGAIN => self.again += 1,
                _ => continue,
            }
            self.by.push(idea.name);
            return;
        }
        if self.repeats < REPEATS {
            self.repeats += 1;
            return;
        }
        self.doing = Doing::GaveUp(why.to_owned());
    }
}
