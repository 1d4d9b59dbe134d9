//! Tests of the state machine by tables: what is folded, and what comes next.

use artel_types::model::{MessagePart, ModelReply, ReplyStopReason, ToolCall};
use artel_types::{RecordedText, RunSaid, RunSteered, ToolFinished, ToolRequested};
use serde_json::{Value, json};

use super::*;

/// A driver that only talks to the state machine.
struct World {
    turn: AgentRun,
    calls: u32,
    ran: Vec<String>,
}

impl World {
    fn new(turns: u32) -> Self {
        let kind = |is_pure, is_edit, is_check, is_shell| ToolTraits {
            is_pure,
            is_edit,
            is_check,
            is_shell,
        };
        let tools = [
            ("read", kind(true, false, false, false)),
            ("grep", kind(true, false, false, false)),
            ("edit", kind(false, true, false, false)),
            ("bash", kind(false, false, false, true)),
            ("run_tests", kind(false, false, true, false)),
            ("todo", kind(true, false, false, false)),
            ("finish", kind(true, false, false, false)),
        ];
        let tools = tools.map(|(name, kind)| (name.to_owned(), kind));
        let rules = AgentRunRules {
            turns,
            retries: 3,
            tools: tools.into(),
            ..AgentRunRules::default()
        };
        Self {
            turn: AgentRun::new(rules, "do it"),
            calls: 0,
            ran: Vec::new(),
        }
    }

    fn reply(&mut self, parts: Vec<MessagePart>, stop: ReplyStopReason) {
        self.calls += 1;
        let reply = ModelReply {
            id: None,
            model: None,
            parts,
            stop,
            usage: None,
        };
        self.turn.replied(&format!("m{}", self.calls), &reply);
    }

    fn says(&mut self, text: &str) {
        self.reply(vec![MessagePart::text(text)], ReplyStopReason::End);
    }

    fn calls(&mut self, calls: &[(&str, Value)]) {
        let parts = calls.iter().enumerate().map(|(index, (name, input))| {
            MessagePart::ToolCall(ToolCall {
                id: format!("c{index}"),
                name: (*name).to_owned(),
                arguments: input.to_string(),
                seal: None,
            })
        });
        let parts = parts.collect();
        self.reply(parts, ReplyStopReason::ToolUse);
    }

    fn finish(
        &mut self,
        act: &RunnableToolCall,
        text: &str,
        trouble: Option<&str>,
        exit: Option<i64>,
    ) {
        let fact = ToolFinished {
            call: act.id.clone(),
            tool: act.tool.clone(),
            observation: RecordedText::from(text),
            trouble: trouble.map(str::to_owned),
            changed: Vec::new(),
            millis: 0,
            sandbox: None,
            redacted: 0,
            exit,
            memory: None,
            images: None,
        };
        self.turn.fold(&fact.into()).unwrap();
    }

    /// Does what comes next until the model is called; calls succeed unless stated
    /// otherwise.
    fn settle(
        &mut self,
        result: impl Fn(&RunnableToolCall) -> (&'static str, Option<&'static str>, Option<i64>),
    ) -> AgentRunAction {
        loop {
            match self.turn.next() {
                AgentRunAction::Act(acts) => {
                    for act in acts {
                        self.ran.push(act.tool.clone());
                        let (text, trouble, exit) = result(&act);
                        self.finish(&act, text, trouble, exit);
                    }
                }
                AgentRunAction::Refuse { act, trouble, text } => {
                    self.ran.push(format!("no {}", act.tool));
                    self.finish(&act, &text, Some(trouble), None);
                }
                AgentRunAction::Say { text, why } => {
                    self.ran.push(format!("say {why}"));
                    let text = RecordedText::Inline(text);
                    let why = why.to_owned();
                    self.turn.fold(&RunSaid { text, why }.into()).unwrap();
                }
                AgentRunAction::Escalate { why, failures, .. } => {
                    self.ran.push("escalate".to_owned());
                    let fact = artel_types::RunEscalated { why, failures };
                    self.turn.fold(&fact.into()).unwrap();
                }
                other => return other,
            }
        }
    }

    fn well(&mut self) -> AgentRunAction {
        self.settle(|_| ("fine", None, None))
    }

    fn badly(&mut self) -> AgentRunAction {
        self.settle(|_| ("it is broken\n- try another", Some("failed"), None))
    }
}

fn ended(next: AgentRunAction) -> AgentRunEnding {
    match next {
        AgentRunAction::End(ending) => ending,
        other => panic!("not over: {other:?}"),
    }
}

#[test]
fn a_run_ends_with_an_answer_or_the_finish_tool() {
    let mut world = World::new(15);
    assert_eq!(world.turn.next(), AgentRunAction::Ask);
    world.calls(&[("read", json!({"path": "a"}))]);
    assert_eq!(world.well(), AgentRunAction::Ask);
    world.says("it is done [ATTEMPTS_COMPLETE]");
    let answer = "it is done".to_owned();
    assert_eq!(ended(world.well()), AgentRunEnding::Complete { answer });

    let mut world = World::new(15);
    world.calls(&[("finish", json!({"answer": "42"}))]);
    let answer = "42".to_owned();
    assert_eq!(ended(world.well()), AgentRunEnding::Complete { answer });
    assert_eq!(world.turn.turns(), 0, "finishing is no turn");
}

#[test]
fn after_the_last_turn_there_is_one_closing_call() {
    for (closes, complete) in [(true, true), (false, false)] {
        let mut world = World::new(3);
        for number in 0..3 {
            assert_eq!(world.well(), AgentRunAction::Ask);
            world.calls(&[("read", json!({"path": number}))]);
        }
        assert_eq!(world.well(), AgentRunAction::Ask, "the closing call");
        assert_eq!(world.ran, ["read", "read", "read", "say closing"]);
        if closes {
            world.calls(&[("finish", json!({"answer": "nearly"}))]);
        } else {
            world.calls(&[("read", json!({"path": "again"}))]);
        }
        let ending = ended(world.well());
        assert_eq!(
            matches!(ending, AgentRunEnding::Complete { .. }),
            complete,
            "{ending:?}"
        );
        assert_eq!(world.calls, 4);
        if !complete {
            assert_eq!(ending.why(), Some("reached maximum iterations (3)"));
            assert_eq!(world.ran.last().map(String::as_str), Some("no read"));
        }
    }
}

#[test]
fn reading_calls_go_together_and_others_alone_and_in_order() {
    let mut world = World::new(15);
    world.calls(&[
        ("read", json!({"path": "a"})),
        ("grep", json!({"pattern": "b"})),
        ("bash", json!({"command": "ls"})),
        ("read", json!({"path": "c"})),
    ]);
    let mut groups = Vec::new();
    while let AgentRunAction::Act(acts) = world.turn.next() {
        groups.push(acts.iter().map(|act| act.tool.clone()).collect::<Vec<_>>());
        for act in &acts {
            world.finish(act, "fine", None, None);
        }
    }
    assert_eq!(groups, [vec!["read", "grep"], vec!["bash"], vec!["read"]]);
    let last = world.turn.messages().last().unwrap();
    assert_eq!(last.parts.len(), 4, "all results in one message, in order");
}

#[test]
fn what_failed_three_times_is_not_run_again() {
    let mut world = World::new(15);
    let same = json!({"path": "./a", "encoding": null});
    for input in [json!({"path": "a"}), same, json!({"path": " a "})] {
        world.calls(&[("read", input)]);
        assert_eq!(world.badly(), AgentRunAction::Ask);
    }
    world.ran.clear();
    world.calls(&[
        ("read", json!({"path": "a"})),
        ("read", json!({"path": "b"})),
    ]);
    world.well();
    assert_eq!(world.ran, ["no read", "read"]);
    let shown = format!("{:?}", world.turn.messages());
    assert!(
        shown.contains("has failed 3 times") && shown.contains("Tried so far"),
        "{shown}"
    );
}

#[test]
fn three_failed_checks_warn_then_escalate() {
    let mut world = World::new(15);
    for number in 0..3 {
        let command = format!("cargo test case{number}");
        world.calls(&[("bash", json!({"command": command}))]);
        let next = world.settle(|_| ("exit code 101", None, Some(101)));
        assert_eq!(next, AgentRunAction::Ask);
        // A lookup in between does not reset the streak.
        world.calls(&[("read", json!({"path": number}))]);
        world.well();
    }
    let said: Vec<_> = world
        .ran
        .iter()
        .filter(|it| it.starts_with("say"))
        .collect();
    assert_eq!(said, ["say warning", "say closing"]);
    assert!(world.ran.contains(&"escalate".to_owned()));
    world.calls(&[("edit", json!({"path": "x"}))]);
    let ending = ended(world.well());
    assert!(
        ending.why().unwrap().contains("three failures"),
        "{ending:?}"
    );
    assert_eq!(world.ran.last().unwrap(), "no edit");
}

#[test]
fn a_success_of_the_same_row_begins_it_anew() {
    let mut world = World::new(15);
    let outcomes = [Some(1), Some(1), None, Some(1), Some(1)];
    for (number, exit) in outcomes.into_iter().enumerate() {
        world.calls(&[("run_tests", json!({"test": number}))]);
        world.settle(|_| ("report", None, exit));
    }
    assert!(
        !world.ran.contains(&"escalate".to_owned()),
        "{:?}",
        world.ran
    );
}

#[test]
fn circles_are_nudged_once_and_then_ended() {
    // (the calls of each turn, the expected pattern)
    let same = [
        ("read", json!({"path": "a"})),
        ("read", json!({"path": "a"})),
    ];
    let pair = [
        ("read", json!({"path": "a"})),
        ("grep", json!({"pattern": "b"})),
    ];
    for (calls, why) in [(same, "the same call"), (pair, "the same two calls")] {
        let mut world = World::new(100);
        let mut rounds = 0;
        let ending = loop {
            world.calls(&[calls[rounds % 2].clone()]);
            rounds += 1;
            if let AgentRunAction::End(ending) = world.well() {
                break ending;
            }
            assert!(rounds < 20, "{:?}", world.ran);
        };
        assert!(ending.why().unwrap().contains(why), "{ending:?}");
        let nudges = world.ran.iter().filter(|it| *it == "say stuck").count();
        assert_eq!(nudges, 1);
    }
}

#[test]
fn the_directive_comes_back_after_so_many_calls_or_never() {
    for (every, reminders) in [(3, 3), (1, 10), (0, 0)] {
        let mut world = World::new(100);
        let mut rules = world.turn.rules().clone();
        rules.guard = Some(StepGuardrails {
            calls: 40,
            every,
            directive: "mend it".to_owned(),
        });
        world.turn = AgentRun::new(rules, "do it");
        for number in 0..10 {
            world.calls(&[("read", json!({ "path": number.to_string() }))]);
            assert_eq!(world.well(), AgentRunAction::Ask);
        }
        let said = world.ran.iter().filter(|it| *it == "say directive");
        assert_eq!(said.count(), reminders, "every {every}: {:?}", world.ran);
    }
}

#[test]
fn words_without_deeds_are_nudged() {
    let mut world = World::new(15);
    for _ in 0..2 {
        world.says("  ");
        assert_eq!(world.well(), AgentRunAction::Ask);
    }
    assert_eq!(world.ran, ["say nudge", "say nudge"]);
    world.says("");
    assert_eq!(world.well(), AgentRunAction::Ask);
    assert_eq!(world.ran.last().unwrap(), "say stuck");
}

#[test]
fn hints_pause_and_cancel_come_between_effects() {
    let steer = |act: &str, text: &str| RunSteered {
        act: act.to_owned(),
        text: text.to_owned(),
    };
    let mut world = World::new(15);
    world.calls(&[("read", json!({"path": "a"}))]);
    world
        .turn
        .fold(&steer("hint", "it is Latin-1").into())
        .unwrap();
    world.turn.fold(&steer("pause", "").into()).unwrap();
    assert_eq!(
        world.turn.next(),
        AgentRunAction::Wait(AgentRunWait::Resume)
    );
    world.turn.fold(&steer("resume", "").into()).unwrap();
    assert_eq!(world.well(), AgentRunAction::Ask);
    let shown = format!("{:?}", world.turn.messages().last());
    assert!(shown.contains("it is Latin-1"), "{shown}");
    world.turn.fold(&steer("cancel", "").into()).unwrap();
    assert_eq!(ended(world.turn.next()), AgentRunEnding::Cancelled);
}

#[test]
fn what_an_agent_asks_waits_and_is_answered_once() {
    let mut world = World::new(15);
    world.calls(&[("ask_person", json!({"question": "which?"}))]);
    let asked = artel_types::RunAsked {
        question: format!("{ASKED}1.1"),
        text: "which?".to_owned(),
        choices: Vec::new(),
        call: Some("1.1".to_owned()),
        suggested: None,
    };
    world.turn.fold(&asked.clone().into()).unwrap();
    let waits = AgentRunAction::Wait(AgentRunWait::Answer(Box::new(asked.clone())));
    assert_eq!(world.turn.next(), waits);
    let continued = artel_types::RunContinued {
        after: 1,
        settled: Vec::new(),
    };
    world.turn.fold(&continued.into()).unwrap();
    assert_eq!(world.turn.next(), waits, "another process waits, too");
    let answered = artel_types::RunAnswered {
        question: asked.question,
        answer: "again".to_owned(),
    };
    world.turn.fold(&answered.into()).unwrap();
    let AgentRunAction::Tell { act, text } = world.turn.next() else {
        panic!("{:?}", world.turn.next());
    };
    assert_eq!((act.id.as_str(), text.as_str()), ("1.1", "again"));
    world.finish(&act, &text, None, None);
    assert_eq!(world.turn.next(), AgentRunAction::Ask);
}

#[test]
fn an_intent_without_a_result_is_settled_by_its_rule() {
    for (unknown, decision, expected) in [
        ("pure", "allow", "act"),
        ("restore", "allow", "act"),
        ("once", "allow", "person"),
        ("once", "ask", "act"),
    ] {
        let mut world = World::new(15);
        world.calls(&[("bash", json!({"command": "x"}))]);
        let requested = ToolRequested {
            call: "1.1".to_owned(),
            tool: "bash".to_owned(),
            role: "default".to_owned(),
            input: RecordedText::from("{}"),
            decision: decision.to_owned(),
            rule: String::new(),
            reason: String::new(),
            record: String::new(),
            unknown: unknown.to_owned(),
            decided_by: None,
            opens: None,
        };
        world.turn.fold(&requested.into()).unwrap();
        let flight = world.turn.in_flight();
        assert_eq!(flight[0].unknown, unknown);
        let continued = artel_types::RunContinued {
            after: 1,
            settled: Vec::new(),
        };
        world.turn.fold(&continued.into()).unwrap();
        let found = match world.turn.next() {
            AgentRunAction::Act(_) => "act",
            AgentRunAction::AskPerson { .. } => "person",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{unknown} {decision}");
    }
}

#[test]
fn a_run_that_was_handed_over_waits_for_the_other_and_ends_as_it_does() {
    let mut world = World::new(5);
    let to: artel_types::RunId = "7c1e90ab-0000-4000-8000-000000000003".parse().unwrap();
    let handed = artel_types::RunHandedOver {
        to,
        why: String::new(),
        opening: RecordedText::from("go on"),
    };
    world.turn.fold(&handed.into()).unwrap();
    assert_eq!(world.turn.next(), AgentRunAction::Follow(to));
    let pause = RunSteered {
        act: "pause".to_owned(),
        text: String::new(),
    };
    world.turn.fold(&pause.into()).unwrap();
    assert_eq!(
        world.turn.next(),
        AgentRunAction::Follow(to),
        "the other one pauses"
    );
    let mut cancelled = world.turn.clone();
    let cancel = RunSteered {
        act: "cancel".to_owned(),
        text: String::new(),
    };
    cancelled.fold(&cancel.into()).unwrap();
    assert_eq!(
        cancelled.next(),
        AgentRunAction::End(AgentRunEnding::Cancelled)
    );
    let ending = AgentRunEnding::Complete {
        answer: "done".to_owned(),
    };
    world.turn.followed(ending.clone(), Vec::new());
    assert_eq!(world.turn.next(), AgentRunAction::End(ending));
}

#[test]
fn calls_as_text_are_understood() {
    let is_tool = |name: &str| name == "read";
    let check = |text: &str, expected: &str| {
        let found = match read_text(text, "t", is_tool) {
            ParsedTextReply::Call(call) => format!("{} {}", call.name, call.arguments),
            ParsedTextReply::Answer(answer) => format!("= {answer}"),
            ParsedTextReply::Plain => "plain".to_owned(),
        };
        assert_eq!(found, expected, "{text}");
    };
    check(
        "Thought: x\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation: made up",
        "read {\"path\": \"a\"}",
    );
    check(
        "**Action:** `read`\nAction Input:\n```json\n{\"path\":\"a\"}\n```",
        "plain",
    );
    check(
        "Action: `read`\nAction Input:\n```json\n{\"path\":\"a\"}\n```",
        "read {\"path\":\"a\"}",
    );
    check("Action: fly\nAction Input: {}", "plain");
    check("Thought: done\nFinal Answer: 42\n", "= 42");
    check(
        "{\"thought\":\"x\",\"action\":\"read\",\"action_input\":{\"path\":\"a\"},\"is_final\":false}",
        "read {\"path\":\"a\"}",
    );
    check(
        "{\"thought\":\"x\",\"final_answer\":\"42\",\"is_final\":true}",
        "= 42",
    );
    check("{\"final_answer\":\"\",\"is_final\":true}", "plain");
    check("just words", "plain");
    check("Action: read\nAction Input: {broken", "read {broken");
}
