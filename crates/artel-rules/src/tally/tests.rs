//! Tests with runs, event by event, and their metrics.

use std::time::Duration;

use artel_types::model::{ModelCallAttribution, Provider, ReplyStopReason, TokenUsage};
use artel_types::{
    Actor, ContextCompacted, EventVisibility, PromptPart, RunAnswered, RunAsked, RunSteered,
    SpendAmount, StreamName, ToolAnswered, TraceId, TreeMade, TreeSnapped,
};
use serde_json::json;

use super::*;

/// A run built event by event; time passes only on request.
struct Told {
    tally: RunMetricsBuilder,
    now: u64,
    run: RunId,
}

impl Told {
    fn new() -> Self {
        let mut told = Self {
            tally: RunMetricsBuilder::default(),
            now: 0,
            run: RunId::from_random([1; 16]),
        };
        told.tell(RunStarted::new(told.run, "work"));
        told
    }

    fn after(&mut self, millis: u64) -> &mut Self {
        self.now += millis;
        self
    }

    fn tell(&mut self, fact: impl Into<Fact>) {
        self.tell_ending(fact, None);
    }

    fn tell_ending(&mut self, fact: impl Into<Fact>, outcome: Option<EventOutcome>) {
        let event = Event {
            seq: 1,
            stream: StreamName::run(self.run),
            stream_seq: 1,
            at: Timestamp::from_micros(0).after(Duration::from_millis(self.now)),
            trace: TraceId::from_random([1; 16]),
            session: None,
            run: Some(self.run),
            cause: None,
            actor: Actor::agent("engineer"),
            target: None,
            outcome,
            visibility: EventVisibility::Full,
            fact: fact.into(),
        };
        self.tally.fold(&event);
    }

    fn asks(&mut self, call: &str, tool: &str, input: Value, decision: &str) {
        self.tell(ToolRequested {
            call: call.to_owned(),
            tool: tool.to_owned(),
            role: "engineer".into(),
            input: RecordedText::Inline(input.to_string()),
            decision: decision.to_owned(),
            rule: String::new(),
            reason: String::new(),
            record: String::new(),
            unknown: "pure".into(),
            decided_by: None,
            opens: None,
        });
    }

    fn gets(&mut self, call: &str, tool: &str, text: &str, end: End) {
        let (trouble, exit) = match end {
            End::Well => (None, None),
            End::Trouble(word) => (Some(word.to_owned()), None),
            End::Exit(code) => (None, Some(code)),
        };
        self.tell(ToolFinished {
            call: call.to_owned(),
            tool: tool.to_owned(),
            observation: RecordedText::from(text),
            trouble,
            changed: Vec::new(),
            millis: 10,
            sandbox: None,
            redacted: 0,
            exit,
            memory: None,
            images: None,
        });
    }

    /// A call from its intent to its end.
    fn calls(&mut self, call: &str, tool: &str, input: Value, end: End) {
        self.asks(call, tool, input, "allow");
        self.after(10).gets(call, tool, "as it is", end);
    }

    fn ends(&mut self, state: RunOutcome) -> RunMetrics {
        let mut fact = RunFinished::new(self.run, "over");
        fact.state = Some(state.to_string());
        self.tell(fact);
        self.tally.metrics(None)
    }
}

#[derive(Debug, Clone, Copy)]
enum End {
    Well,
    Trouble(&'static str),
    Exit(i64),
}

fn replied(usage: Option<TokenUsage>, tokens: u64, cost: Option<u64>) -> ModelReplied {
    ModelReplied {
        call: "m".into(),
        attempt: 1,
        provider: Provider::Anthropic,
        model: "m-1".into(),
        account: ModelCallAttribution::default(),
        stop: ReplyStopReason::End,
        usage,
        charged: SpendAmount::new(tokens, cost.unwrap_or(0)),
        cost: cost.map(Money),
        first_ms: 5,
        total_ms: 40,
        reply: RecordedText::from("123456789"),
    }
}

fn failed(tokens: u64, cost: Option<u64>) -> ModelFailed {
    ModelFailed {
        call: "m".into(),
        attempt: 1,
        provider: Provider::Ollama,
        model: "m-2".into(),
        account: ModelCallAttribution::default(),
        fault: None,
        class: None,
        status: None,
        message: String::new(),
        request_id: None,
        charged: SpendAmount::new(tokens, cost.unwrap_or(0)),
        cost: cost.map(Money),
        retry_at: None,
        partial: None,
    }
}

#[test]
fn turns_and_calls_are_counted_by_what_was_done() {
    let mut told = Told::new();
    told.calls("1.1", "read", json!({"path": "a"}), End::Well);
    told.calls(
        "1.2",
        "read",
        json!({"path": "b"}),
        End::Trouble("not-found"),
    );
    told.calls("2.1", "bash", json!({"command": "x"}), End::Exit(2));
    // A call that was answered without being carried out has no intent.
    told.gets("3.1", "edit", "no more", End::Trouble("refused"));
    told.calls("4.1", "finish", json!({"answer": "so"}), End::Well);
    let metrics = told.ends(RunOutcome::Partial);
    assert_eq!((metrics.turns, metrics.tool_calls), (3, 5));
    assert_eq!(metrics.tool_failures, 3);
}

#[test]
fn the_same_again_right_after_it_failed_is_a_retry() {
    let (a, b) = (json!({"path": "a"}), json!({"path": "b"}));
    let same = json!({"path": "./a", "encoding": null});
    let no = End::Trouble("failed");
    type Call<'c> = (&'c str, &'c str, &'c Value, End);
    let table: [(&str, &[Call<'_>], u64); 6] = [
        (
            "once",
            &[("1.1", "read", &a, no), ("2.1", "read", &a, no)],
            1,
        ),
        (
            "as written another way",
            &[("1.1", "read", &a, no), ("2.1", "read", &same, no)],
            1,
        ),
        (
            "something else",
            &[("1.1", "read", &a, no), ("2.1", "read", &b, no)],
            0,
        ),
        (
            "after success",
            &[("1.1", "read", &a, End::Well), ("2.1", "read", &a, no)],
            0,
        ),
        (
            "with an edit in between",
            &[
                ("1.1", "run_tests", &a, no),
                ("2.1", "edit", &a, End::Well),
                ("3.1", "run_tests", &a, no),
            ],
            0,
        ),
        (
            "again and again",
            &[
                ("1.1", "read", &a, no),
                ("2.1", "read", &a, no),
                ("2.2", "read", &a, no),
            ],
            2,
        ),
    ];
    for (name, calls, retries) in table {
        let mut told = Told::new();
        for (call, tool, input, end) in calls {
            told.calls(call, tool, (*input).clone(), *end);
        }
        assert_eq!(told.ends(RunOutcome::Failed).retries, retries, "{name}");
    }
    // A process that takes over begins a call again.
    let mut told = Told::new();
    told.calls("1.1", "read", a.clone(), no);
    told.asks("2.1", "read", b.clone(), "allow");
    told.asks("2.1", "read", b, "allow");
    assert_eq!(told.tally.metrics(None).retries, 0);
}

/// Returns the recoveries of a run with these calls and this ending.
fn recovered(calls: &[(&str, Value, End)], state: RunOutcome) -> Vec<(String, u64)> {
    let mut told = Told::new();
    for (number, (tool, input, end)) in calls.iter().enumerate() {
        told.calls(&format!("{number}.1"), tool, input.clone(), *end);
    }
    told.ends(state).recoveries.into_iter().collect()
}

fn kinds(kinds: &[(&str, u64)]) -> Vec<(String, u64)> {
    let kinds = kinds.iter();
    kinds
        .map(|(kind, count)| ((*kind).to_owned(), *count))
        .collect()
}

#[test]
fn a_failure_is_recovered_by_the_same_tool_on_the_same_target() {
    let path = |path: &str| json!({ "path": path });
    let run = |command: &str| json!({ "command": command });
    let another_way = [
        ("read", path("a"), End::Trouble("unfit")),
        (
            "read",
            json!({"path": "./a", "encoding": "latin-1"}),
            End::Well,
        ),
    ];
    assert_eq!(
        recovered(&another_way, RunOutcome::Partial),
        kinds(&[("unfit", 1)])
    );
    let another_flag = [
        ("bash", run("sort --foo a"), End::Exit(2)),
        ("bash", run("sort a"), End::Well),
        ("bash", run("sort b"), End::Well),
    ];
    assert_eq!(
        recovered(&another_flag, RunOutcome::Partial),
        kinds(&[("exit", 1)])
    );
    let word_of_a_later_build = [
        ("bash", run("x"), End::Trouble("haunted")),
        ("bash", run("x"), End::Well),
    ];
    let expected = kinds(&[("failed", 1)]);
    assert_eq!(
        recovered(&word_of_a_later_build, RunOutcome::Failed),
        expected
    );
    let called_off = [
        ("bash", run("x"), End::Trouble("cancelled")),
        ("bash", run("x"), End::Well),
    ];
    assert_eq!(recovered(&called_off, RunOutcome::Complete), kinds(&[]));
}

#[test]
fn a_failure_is_recovered_another_way_where_the_run_is_complete() {
    let path = |path: &str| json!({ "path": path });
    let near_name = [
        ("read", path("dat.csv"), End::Trouble("not-found")),
        ("read", path("data.csv"), End::Well),
    ];
    assert_eq!(
        recovered(&near_name, RunOutcome::Complete),
        kinds(&[("not-found", 1)])
    );
    assert_eq!(recovered(&near_name, RunOutcome::Partial), kinds(&[]));
    let another_tool = [
        ("bash", json!({"command": "python x.py"}), End::Exit(127)),
        ("script", json!({"code": "x"}), End::Well),
    ];
    assert_eq!(
        recovered(&another_tool, RunOutcome::Complete),
        kinds(&[("not-found", 1)])
    );
    let tests = [
        ("run_tests", json!({}), End::Exit(1)),
        ("edit", path("a"), End::Trouble("mismatch")),
        ("edit", path("a"), End::Well),
        ("run_tests", json!({}), End::Well),
    ];
    let expected = kinds(&[("mismatch", 1), ("tests", 1)]);
    assert_eq!(recovered(&tests, RunOutcome::Complete), expected);
    let nothing_but_notes = [
        ("fetch", json!({"url": "u"}), End::Trouble("timed-out")),
        ("todo", json!({"tasks": []}), End::Well),
        ("finish", json!({"answer": ""}), End::Well),
    ];
    assert_eq!(
        recovered(&nothing_but_notes, RunOutcome::Complete),
        kinds(&[])
    );
}

#[test]
fn calls_beside_each_other_do_not_recover_one_another() {
    let mut told = Told::new();
    told.asks("1.1", "read", json!({"path": "a"}), "allow");
    told.asks("1.2", "read", json!({"path": "b"}), "allow");
    told.gets("1.1", "read", "", End::Trouble("not-found"));
    told.gets("1.2", "read", "", End::Well);
    assert_eq!(told.ends(RunOutcome::Complete).recoveries, BTreeMap::new());
}

#[test]
fn another_encoding_is_told_from_other_trouble() {
    let said = "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9";
    let table = [
        ("bash", said, End::Exit(1), Some("encoding")),
        (
            "read",
            "`a` is not valid UTF-8",
            End::Trouble("unfit"),
            Some("encoding"),
        ),
        (
            "read",
            "it is a folder",
            End::Trouble("unfit"),
            Some("unfit"),
        ),
        ("read", said, End::Trouble("refused"), Some("refused")),
        (
            "run_tests",
            "1 failed",
            End::Trouble("failed"),
            Some("tests"),
        ),
        ("bash", said, End::Exit(0), None),
        ("bash", said, End::Well, None),
    ];
    for (tool, text, end, expected) in table {
        let mut told = Told::new();
        told.asks("1.1", tool, json!({}), "allow");
        told.gets("1.1", tool, text, end);
        told.calls("2.1", tool, json!({}), End::Well);
        let recoveries = told.ends(RunOutcome::Complete).recoveries;
        let kinds: Vec<_> = recoveries.keys().map(String::as_str).collect();
        assert_eq!(kinds, expected.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn tokens_and_cost_are_those_of_the_provider_where_it_counts() {
    let usage = TokenUsage {
        input: 100,
        cache_read: 60,
        output: 20,
        ..TokenUsage::default()
    };
    let mut told = Told::new();
    told.tell(replied(Some(usage), 120, Some(7)));
    // Nobody counted: nine bytes are three tokens of the reply.
    told.tell(replied(None, 50, Some(3)));
    told.tell_ending(failed(30, Some(2)), Some(EventOutcome::Failed));
    told.tell_ending(failed(0, None), Some(EventOutcome::Denied));
    let metrics = told.tally.metrics(None);
    assert_eq!((metrics.model_calls, metrics.model_failures), (2, 1));
    let tokens = [
        metrics.tokens_input,
        metrics.tokens_cached,
        metrics.tokens_output,
    ];
    assert_eq!(tokens, [100 + 47 + 30, 60, 23]);
    assert_eq!(metrics.cost, Some(Money(12)));
    let by_model: Vec<_> = metrics.cost_by_model.into_iter().collect();
    let expected = [("anthropic:m-1", 10), ("ollama:m-2", 2)];
    assert_eq!(
        by_model,
        expected.map(|(name, cost)| (name.to_owned(), Money(cost)))
    );
    told.tell(replied(None, 50, None));
    assert_eq!(told.tally.metrics(None).cost, None, "a price is not known");
}

#[test]
fn time_is_split_between_models_tools_people_and_artel() {
    let mut told = Told::new();
    told.after(100).tell(replied(None, 0, Some(0)));
    // Two parallel calls take as long as one.
    told.asks("1.1", "read", json!({"path": "a"}), "allow");
    told.asks("1.2", "read", json!({"path": "b"}), "allow");
    told.after(10).gets("1.1", "read", "", End::Well);
    told.gets("1.2", "read", "", End::Well);
    told.asks("2.1", "bash", json!({"command": "x"}), "ask");
    told.after(1_000).tell(ToolAnswered {
        call: "2.1".into(),
        record: String::new(),
        answer: "once".into(),
        reason: String::new(),
        granted: None,
        offered: None,
    });
    told.after(10).gets("2.1", "bash", "", End::Well);
    told.tell(RunAsked {
        question: "q".into(),
        text: String::new(),
        choices: Vec::new(),
        call: None,
        suggested: None,
    });
    told.after(500).tell(RunAnswered {
        question: "q".into(),
        answer: "yes".into(),
    });
    for act in ["pause", "resume"] {
        let (act, text) = (act.to_owned(), String::new());
        told.after(200).tell(RunSteered { act, text });
    }
    told.tell(TreeMade {
        origin: String::new(),
        path: String::new(),
        snapshot: "s".into(),
        how: String::new(),
        millis: 3,
    });
    told.after(5).tell(TreeSnapped {
        snapshot: "t".into(),
        why: "end".into(),
        millis: 2,
    });
    let metrics = told.ends(RunOutcome::Complete);
    assert_eq!(metrics.model_ms, 40);
    assert_eq!(metrics.tool_ms, 20);
    assert_eq!(metrics.person_ms, 1_700);
    assert_eq!((metrics.snapshots, metrics.snapshot_ms), (2, 5));
    assert_eq!(metrics.total_ms, 100 + 10 + 1_000 + 10 + 500 + 400 + 5);
    assert_eq!(metrics.own_ms(), 2_025 - 40 - 20 - 1_700 - 5);
}

#[test]
fn what_was_loaded_is_what_was_read_of_the_skill() {
    let mut told = Told::new();
    let part = |name: &str, tokens| PromptPart {
        name: name.to_owned(),
        tokens,
    };
    told.tell(RunPrepared {
        role: "engineer".into(),
        model: None,
        mode: "autonomous".into(),
        calls: "native".into(),
        system: RecordedText::from(""),
        opening: RecordedText::from(""),
        turns: 15,
        retries: 3,
        cost: None,
        checks_itself: false,
        window: 100_000,
        skill_folder: Some("/skills/csv".into()),
        skill_hash: None,
        allowed_tools: None,
        parts: vec![part("role", 9), part("skill", 70), part("standing", 30)],
        standing: Vec::new(),
        calls_limit: None,
        directive: None,
    });
    let paths = [
        ("1.1", "/skills/csv/more.md", End::Well),
        ("1.2", "/skills/csv/gone.md", End::Trouble("not-found")),
        ("2.1", "/skills/csv2/other.md", End::Well),
        ("3.1", "@skill/more.md", End::Well),
    ];
    for (call, path, end) in paths {
        told.calls(call, "read", json!({ "path": path }), end);
    }
    let child = RunId::from_random([2; 16]);
    let mut started = RunStarted::new(child, "part");
    started.parent = Some(told.run);
    told.after(9_000).tell(started);
    told.now = 100;
    told.tell(ContextCompacted {
        how: "elided".into(),
        before: 2,
        after: 1,
        messages: RecordedText::from("[]"),
    });
    let metrics = told.ends(RunOutcome::Complete);
    assert_eq!(metrics.tokens_initial, 100);
    // `as it is` twice, three tokens each.
    assert_eq!((metrics.files_loaded, metrics.tokens_loaded), (1, 6));
    assert_eq!((metrics.children, metrics.compactions), (1, 1));
    assert_eq!(metrics.total_ms, 100, "a child's time is its own");
    for (all, percent) in [(1_060, Some(90)), (106, Some(0)), (50, Some(0)), (0, None)] {
        assert_eq!(saved_percent(&metrics, all), percent, "{all}");
    }
}

#[test]
fn a_skill_is_judged_by_all_its_runs() {
    let metrics = |turns, failures, kinds: &[(&str, u64)], cost, saved| RunMetrics {
        turns,
        tool_failures: failures,
        recoveries: kinds
            .iter()
            .map(|(kind, count)| ((*kind).to_owned(), *count))
            .collect(),
        tokens_input: 90,
        tokens_output: 10,
        cost,
        saved_percent: saved,
        ..RunMetrics::default()
    };
    let mut stats = SkillStats::default();
    assert_eq!(stats.success_rate(), None);
    assert_eq!(stats.common_recovery(), None);
    let kinds = [("not-found", 1), ("encoding", 2)];
    stats.add(
        RunOutcome::Complete,
        &metrics(4, 4, &kinds, Some(Money(5)), Some(80)),
    );
    stats.add(
        RunOutcome::Complete,
        &metrics(2, 0, &[], Some(Money(7)), None),
    );
    stats.add(
        RunOutcome::Partial,
        &metrics(15, 4, &[("exit", 1)], None, Some(60)),
    );
    stats.add(
        RunOutcome::Failed,
        &metrics(3, 0, &[], Some(Money(1)), None),
    );
    stats.add(
        RunOutcome::Cancelled,
        &metrics(99, 99, &kinds, None, Some(0)),
    );
    assert_eq!((stats.runs, stats.cancelled, stats.partial), (4, 1, 1));
    assert_eq!(stats.success_rate(), Some(0.5));
    assert_eq!(stats.average_turns(), Some(6.0));
    assert_eq!(stats.recovery_rate(), Some(0.5));
    assert_eq!(stats.common_recovery(), Some(("encoding", 0.5)));
    assert_eq!((stats.cost, stats.unpriced), (Money(13), 1));
    assert_eq!(stats.tokens, 400);
    assert_eq!(stats.saved_percent(), Some(70));
}
