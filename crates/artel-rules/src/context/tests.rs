//! Tests with conversations of all sizes, and what remains of them.

use artel_types::RunObjective;
use artel_types::model::{MessageImage, MessagePart, ToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn call(id: &str, name: &str, input: &Value) -> MessagePart {
    MessagePart::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: input.to_string(),
        seal: None,
    })
}

fn result(id: &str, name: &str, text: impl Into<String>) -> ToolResult {
    ToolResult {
        id: id.to_owned(),
        name: name.to_owned(),
        text: text.into().into(),
        images: Vec::new(),
        is_error: false,
    }
}

/// One turn: a call with its result.
fn turn(name: &str, input: &Value, text: impl Into<String>) -> [ModelMessage; 2] {
    [
        ModelMessage::assistant(vec![MessagePart::text("next"), call("c", name, input)]),
        ModelMessage::results([result("c", name, text)]),
    ]
}

fn conversation(turns: usize, bytes: usize) -> Vec<ModelMessage> {
    let turns = (0..turns).flat_map(|number| {
        let path = format!("file-{number}.txt");
        turn("read", &json!({ "path": path }), "x".repeat(bytes))
    });
    let task = ModelMessage::user("count the files");
    std::iter::once(task).chain(turns).collect()
}

fn results(messages: &[ModelMessage]) -> Vec<&ToolResult> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match part {
        MessagePart::ToolResult(result) => Some(result),
        _ => None,
    });
    results.collect()
}

fn elided(messages: &[ModelMessage], window: u64) -> Vec<ModelMessage> {
    match plan(messages, window, 0) {
        CompactionDecision::Elide(elided) => elided,
        other => panic!("{other:?}"),
    }
}

/// Applies the decision, with a summary as long as a model may make it.
fn carried_out(messages: &[ModelMessage], window: u64, reserve: u64) -> Vec<ModelMessage> {
    match plan(messages, window, reserve) {
        CompactionDecision::Fits => messages.to_vec(),
        CompactionDecision::Elide(elided) => elided,
        CompactionDecision::Summarise { head, recent, .. } => {
            with_summary(head, &"s".repeat(100_000), recent)
        }
    }
}

#[test]
fn what_fits_is_not_touched() {
    let messages = conversation(10, 1_000);
    let size = tokens::of_messages(&messages);
    // Three quarters of the window without the reserve.
    assert_eq!(
        plan(&messages, size * 4 / 3 + 8 + 500, 500),
        CompactionDecision::Fits
    );
    assert_ne!(
        plan(&messages, size * 4 / 3 - 8 + 500, 500),
        CompactionDecision::Fits
    );
    assert_eq!(plan(&[], 0, 0), CompactionDecision::Fits);
}

#[test]
fn old_results_go_first_and_say_how_to_have_them_again() {
    let messages = conversation(20, 3_000);
    let size = tokens::of_messages(&messages);
    let shorter = elided(&messages, size);
    assert_eq!(shorter.len(), messages.len());
    let texts = results(&shorter);
    let (old, recent) = texts.split_at(16);
    let expected =
        "[read {\"path\":\"file-0.txt\"}: 3000 bytes left out; call it again if it is needed]";
    assert_eq!(&*old[0].text, expected);
    assert!(old.iter().all(|result| result.text.ends_with("needed]")));
    assert!(recent.iter().all(|result| result.text.len() == 3_000));
    // The model's calls and text stay unchanged.
    for (before, after) in messages.iter().zip(&shorter) {
        if before.role == MessageRole::Assistant {
            assert_eq!(before, after);
        }
    }
}

#[test]
fn what_holds_for_the_whole_run_is_never_left_out() {
    let mut messages = conversation(20, 3_000);
    let skill = "how to count ".repeat(100);
    messages.splice(
        1..1,
        turn("skill", &json!({"name": "count"}), skill.clone()),
    );
    let task = json!({"tasks": [{"text": "count", "state": "open"}]});
    messages.splice(3..3, turn("todo", &task, "1. count (open) ".repeat(30)));
    let size = tokens::of_messages(&messages);
    let shorter = elided(&messages, size);
    assert_eq!(*results(&shorter)[0].text, *skill);
    assert_eq!(results(&shorter)[1].text.len(), 480);
    // Not even a summary leaves it out, and once kept, it is kept for good.
    for round in 0..3 {
        let talk =
            (0..400).map(|_| ModelMessage::assistant(vec![MessagePart::text("words ".repeat(60))]));
        messages.extend(talk);
        messages.extend(turn("todo", &task, format!("list {round}")));
        messages.extend(conversation(5, 10).split_off(1));
        let CompactionDecision::Summarise { head, old, recent } = plan(&messages, 60_000, 0) else {
            panic!("{round}");
        };
        assert_eq!(round > 0, summary_request(&old).contains("so far: all"));
        messages = with_summary(head, "so far: all", recent);
        let first = messages[0].parts.iter().map(|part| match part {
            MessagePart::Text { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        });
        let first: Vec<&str> = first.collect();
        assert_eq!(first.len(), 4, "{first:?}");
        assert_eq!(first[0], "count the files");
        assert!(first.iter().any(|text| text.ends_with(&skill)));
        let list = format!("[Still holds: todo]\nlist {round}");
        assert!(first.contains(&list.as_str()), "{first:?}");
        assert_eq!(first[3], "[Summary of the work so far]\nso far: all");
    }
}

#[test]
fn where_leaving_out_is_not_enough_the_old_part_is_summarised() {
    let long = json!({"path": "a", "content": "y".repeat(2_000)});
    let mut messages = vec![ModelMessage::user("the task")];
    (0..20).for_each(|_| messages.extend(turn("write", &long, "written")));
    let size = tokens::of_messages(&messages);
    let CompactionDecision::Summarise { head, old, recent } = plan(&messages, size, 0) else {
        panic!("calls are not left out");
    };
    assert_eq!(head, messages[0]);
    assert_eq!((old.len(), recent.len()), (32, 8));
    assert_eq!(recent, messages[33..]);
    let asked = summary_request(&old);
    for heading in ["Decisions:", "Files:", "Findings:", "Open:", "Next:"] {
        assert!(asked.contains(heading), "{heading}");
    }
    assert!(asked.contains("called write {") && asked.contains("write answered: written"));
    let shorter = with_summary(head, "all is well", recent);
    assert_eq!(shorter.len(), 9);
    assert_eq!(plan(&shorter, size, 0), CompactionDecision::Fits);
}

#[test]
fn a_single_huge_text_is_cut_in_the_middle() {
    let huge = format!("first {} last", "z".repeat(1_000_000));
    let of_result = [
        vec![ModelMessage::user("the task")],
        turn("read", &json!({"path": "a"}), huge.clone()).to_vec(),
    ]
    .concat();
    let of_task = vec![ModelMessage::user(huge.clone())];
    let of_call = [
        vec![ModelMessage::user("the task")],
        turn("write", &json!({"content": huge}), "written").to_vec(),
    ]
    .concat();
    for (name, messages) in [("result", of_result), ("task", of_task), ("call", of_call)] {
        let shorter = elided(&messages, 10_000);
        let size = tokens::of_messages(&shorter);
        assert!((2_000..=7_500).contains(&size), "{name}: {size}");
        let shown = serde_json::to_string(&shorter).unwrap();
        for part in ["first z", "z last", "bytes left out"] {
            assert!(shown.contains(part), "{name}: {part}");
        }
        assert_eq!(
            plan(&shorter, 10_000, 0),
            CompactionDecision::Fits,
            "{name}"
        );
        let calls = shorter.iter().flat_map(elide::calls_of);
        calls.for_each(|call| assert!(call.input().is_ok(), "{name}"));
    }
}

#[test]
fn pictures_go_where_they_do_not_fit() {
    let image = || MessageImage {
        media_type: "image/png".into(),
        data: "AAAA".into(),
    };
    let mut messages = vec![ModelMessage::user("look")];
    for number in 0..6 {
        messages.extend(turn(
            "read",
            &json!({"path": "a.png"}),
            format!("picture {number}"),
        ));
    }
    for message in &mut messages {
        for part in &mut message.parts {
            if let MessagePart::ToolResult(result) = part {
                result.images = vec![image(), image()];
            }
        }
    }
    let shorter = elided(&messages, 13_000);
    let left: Vec<_> = results(&shorter)
        .iter()
        .map(|result| result.images.len())
        .collect();
    assert_eq!(left, [0, 0, 0, 0, 2, 2]);
    let first = &results(&shorter)[0].text;
    assert!(first.contains("and 2 pictures left out"), "{first}");
    assert!(results(&shorter)[2].text.contains("picture was left out"));
}

#[test]
fn results_that_are_words_are_left_out_too() {
    let mut messages = vec![ModelMessage::user("the task")];
    for number in 0..10 {
        let said = format!("Thought: x\nAction: read\nAction Input: {{\"path\": \"f{number}\"}}");
        messages.push(ModelMessage::assistant(vec![MessagePart::text(said)]));
        let answer = format!("Observation: {}", "x".repeat(2_000));
        messages.push(ModelMessage::user(answer));
    }
    messages.push(ModelMessage::assistant(vec![MessagePart::text("so")]));
    messages.push(ModelMessage::user("go on"));
    let shorter = elided(&messages, tokens::of_messages(&messages));
    let expected = "Observation: [read {\"path\": \"f0\"}: 2000 bytes left out; call it again if \
                    it is needed]";
    assert_eq!(shorter[2], ModelMessage::user(expected));
    assert_eq!(shorter.last(), messages.last());
}

#[test]
fn without_a_model_the_calls_speak_for_themselves() {
    let mut messages = Vec::new();
    messages.extend(turn("read", &json!({"path": "a.csv"}), "x"));
    messages.extend(turn(
        "write",
        &json!({"path": "b.csv", "content": "1"}),
        "x",
    ));
    messages.extend(turn("read", &json!({"path": "a.csv"}), "x"));
    let tasks = json!({"tasks": [{"text": "sort", "state": "done"}, {"text": "check"}]});
    messages.extend(turn("todo", &tasks, "x"));
    let [said, mut answered] = turn(
        "bash",
        &json!({"command": "sort --x"}),
        "no such flag\nusage",
    );
    if let Some(MessagePart::ToolResult(result)) = answered.parts.first_mut() {
        result.is_error = true;
    }
    messages.extend([said, answered]);
    messages.push(ModelMessage::assistant(vec![MessagePart::text(
        "I try without it.",
    )]));
    let expected = "\
Files changed: b.csv

Files read: a.csv

To do:
- sort (done)
- check (open)

Failed, not to be tried again: bash {\"command\":\"sort --x\"}: no such flag

Last words: I try without it.";
    assert_eq!(fallback_summary(&messages), expected);
    let again = [
        vec![ModelMessage::user(format!(
            "[Summary of the work so far]\n{expected}"
        ))],
        messages,
    ]
    .concat();
    let twice = fallback_summary(&again);
    assert!(twice.starts_with("Before: Files changed: b.csv"), "{twice}");
    assert!(fallback_summary(&conversation(2_000, 10)).len() < 8_000);
}

#[test]
fn a_hand_over_has_the_task_and_what_is_known() {
    let objectives = [("sort", true), ("check", false)].map(|(text, done)| RunObjective {
        text: text.to_owned(),
        done,
    });
    let text = handover(&HandoverBrief {
        task: "sort the files",
        why: "the conversation is too long",
        summary: "a was sorted",
        objectives: &objectives,
        changed: &["a".to_owned(), "b".to_owned()],
        failed: &[],
        last_words: &"w".repeat(100_000),
        pinned: &[],
    });
    assert!(text.starts_with("sort the files\n"), "{text}");
    for part in ["Done: sort", "Still open: check", "- a\n- b\n", "left out"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("Failed"), "what there is not has no heading");
    assert!(text.len() < 20_000);
}

#[test]
fn work_is_handed_over_where_summaries_no_longer_help() {
    for (summaries, expected) in [
        (&[][..], false),
        (&[(1_000, 400)], false),
        (&[(1_000, 800)], true),
        (&[(1_000, 800), (1_000, 400)], true),
        (&[(1_000, 400), (1_000, 400)], true),
    ] {
        let mut shortened = CompactionHistory::default();
        for (before, after) in summaries {
            shortened.summarised(*before, *after);
        }
        assert_eq!(shortened.is_worn(), expected, "{summaries:?}");
    }
}

#[test]
fn what_was_handed_over_once_is_handed_over_again() {
    let mut opening = "sort the files".to_owned();
    for round in 0..3 {
        let mut messages = vec![ModelMessage::user(opening)];
        messages.extend(turn("todo", &json!({}), format!("[ ] round {round}")));
        messages.extend(turn("skill", &json!({"skill": "count"}), "two\n\nfiles"));
        messages.extend(turn("read", &json!({"path": "a"}), "x".repeat(50_000)));
        let apart = taken_apart(&messages, 3_000);
        assert_eq!(apart.task, "sort the files");
        assert_eq!(
            apart.pinned,
            [
                format!("[Still holds: todo]\n[ ] round {round}"),
                "[Still holds: skill {\"skill\":\"count\"}]\ntwo\n\nfiles".to_owned(),
            ]
        );
        assert!(tokens::of_messages(&apart.work) <= 3_000);
        let words = fallback_summary(&apart.work);
        if round > 0 {
            let known = apart.work[0].parts.first();
            let known = matches!(known, Some(MessagePart::Text { text, .. }) if text.contains("round trip"));
            assert!(known, "what an earlier run knew is part of the work");
        }
        opening = handover(&HandoverBrief {
            task: &apart.task,
            why: "round trip",
            summary: &words,
            pinned: &apart.pinned,
            ..HandoverBrief::default()
        });
        assert_eq!(opening.matches("[Taken over").count(), 1, "{opening}");
        assert_eq!(opening.matches("[Still holds").count(), 2, "{opening}");
    }
}

prop_compose! {
    fn any_turn()(
        tool in prop::sample::select(vec!["read", "bash", "skill", "todo", "write"]),
        count in 1..4_usize,
        argument in 0..300_usize,
        bytes in prop::sample::select(vec![0_usize, 20, 400, 3_000, 40_000]),
        words in 0..200_usize,
        is_error in any::<bool>(),
        beside in any::<bool>(),
    ) -> [ModelMessage; 2] {
        let mut parts = vec![MessagePart::text("ä".repeat(words))];
        let ids: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
        let input = json!({"path": "p".repeat(argument)});
        parts.extend(ids.iter().map(|id| call(id, tool, &input)));
        let answers = ids.iter().map(|id| ToolResult {
            is_error,
            ..result(id, tool, "é".repeat(bytes / 2))
        });
        let mut answered = ModelMessage::results(answers);
        if beside {
            answered.parts.push(MessagePart::text("a hint"));
        }
        [ModelMessage::assistant(parts), answered]
    }
}

/// Checks that every call has its result in the next message, in order, and that every
/// result has its call.
fn are_paired(messages: &[ModelMessage]) -> bool {
    let ids = |message: Option<&ModelMessage>, role: MessageRole| -> Vec<(String, String)> {
        let parts = message.filter(|message| message.role == role);
        let parts = parts
            .map(|message| message.parts.as_slice())
            .unwrap_or_default();
        let names = parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall(call) => Some((call.id.clone(), call.name.clone())),
            MessagePart::ToolResult(result) => Some((result.id.clone(), result.name.clone())),
            _ => None,
        });
        names.collect()
    };
    let is_fine = |at: usize| {
        let calls = ids(messages.get(at), MessageRole::Assistant);
        let answers = ids(messages.get(at + 1), MessageRole::User);
        calls == answers
    };
    ids(messages.first(), MessageRole::User).is_empty() && (0..messages.len()).all(is_fine)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_said_something_can_be_sent(
        task in prop::sample::select(vec![10_usize, 3_000, 100_000]),
        turns in prop::collection::vec(any_turn(), 0..24),
        window in prop::sample::select(vec![8_000_u64, 32_000, 200_000]),
    ) {
        let mut messages = vec![ModelMessage::user("t".repeat(task))];
        messages.extend(turns.into_iter().flatten());
        let reserve = window / 8;
        let threshold = (window - reserve) / 4 * 3;
        let mut before = messages.clone();
        for _ in 0..2 {
            let after = carried_out(&before, window, reserve);
            prop_assert!(are_paired(&after));
            prop_assert!(tokens::of_messages(&after) <= tokens::of_messages(&before));
            let roles: Vec<MessageRole> = after.iter().map(|message| message.role).collect();
            prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]));
            // The end is the same conversation: its calls are the last ones, in order.
            let calls = |messages: &[ModelMessage]| -> Vec<String> {
                let calls = messages.iter().flat_map(elide::calls_of);
                calls.map(|call| call.name).collect()
            };
            prop_assert!(calls(&before).ends_with(&calls(&after)));
            let (old, new) = (before.last().unwrap(), after.last().unwrap());
            prop_assert!(after.len() == 1 || old.parts.len() == new.parts.len());
            before = after;
        }
        // After a second pass it fits, and a third one finds nothing to do.
        prop_assert!(tokens::of_messages(&before) <= threshold);
        prop_assert_eq!(plan(&before, window, reserve), CompactionDecision::Fits);
    }

    #[test]
    fn a_cut_text_is_its_beginning_and_its_end(
        text in "[a-zäß€😀\n]{0,400}",
        most in 60..400_usize,
    ) {
        let cut = cut_middle(&text, most);
        prop_assert!(cut.len() <= most.max(text.len()));
        if text.len() <= most {
            prop_assert_eq!(&cut, &text);
        } else {
            prop_assert!(cut.len() <= most);
            let (head, rest) = cut.split_once("\n[… ").unwrap();
            let (_, tail) = rest.split_once(" …]\n").unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
        }
        prop_assert_eq!(cut_middle(&cut, most), cut);
    }
}
