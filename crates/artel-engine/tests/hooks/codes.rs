//! What exit codes, output and facts mean, with commands that really run.

use std::time::Duration;

use artel_engine::hooks::{
    CombinedHookAnswer, Hook, HookEvent, HookFailureMode, HookSession, HookVerdict, StopHookActive,
};
use artel_types::EventOutcome;
use serde_json::{Value, json};

use crate::place::{Place, bash, call, hook, on, wait};

/// Command, exit code on record, what its failure is called; nothing where it did not fail.
const WAYS: &[(&str, Option<i32>, Option<&str>)] = &[
    ("true", Some(0), None),
    ("echo words; echo more >&2", Some(0), None),
    ("exit 1", Some(1), Some("exit code 1")),
    ("echo bad >&2; exit 3", Some(3), Some("exit code 3: bad")),
    ("no-such-program-here", Some(127), Some("exit code 127")),
    ("./no-such-script.sh", Some(127), Some("exit code 127")),
    (
        "echo '{\"decision\": '",
        Some(0),
        Some("not the JSON of a hook"),
    ),
    (
        "echo '{\"decision\": \"perhaps\"}'",
        Some(0),
        Some("not the JSON of a hook"),
    ),
    ("kill -9 $$", None, Some("signal 9")),
    (
        "sleep 1000 & sleep 1000",
        None,
        Some("took longer than 300ms"),
    ),
    (
        "head -c 400000 /dev/zero",
        None,
        Some("more than 262144 bytes"),
    ),
];

pub(crate) fn every_way_to_end_has_its_meaning() {
    let Some(place) = Place::new() else { return };
    for (command, code, failure) in WAYS {
        for on_failure in [HookFailureMode::Warn, HookFailureMode::Block] {
            let heard = place.one(Hook {
                on_failure,
                timeout: Some(Duration::from_millis(300)).filter(|_| command.contains("1000")),
                ..hook(command)
            });
            let ran = place.took();
            let [(ran, outcome)] = &ran[..] else {
                panic!("{ran:?}");
            };
            assert_eq!(ran.exit, *code, "{command}");
            let Some(failure) = failure else {
                assert_eq!(
                    (heard, *outcome),
                    (CombinedHookAnswer::default(), EventOutcome::Done)
                );
                continue;
            };
            assert!(ran.message.contains(failure), "{command}: {}", ran.message);
            assert_eq!(*outcome, EventOutcome::Failed, "{command}");
            assert!(heard.notices[0].contains(failure), "{:?}", heard.notices);
            match (on_failure, &heard.verdict) {
                (HookFailureMode::Warn, HookVerdict::Pass) => assert_eq!(ran.decision, "none"),
                (HookFailureMode::Block, HookVerdict::Deny(why)) => {
                    assert!(why.contains(failure), "{why}");
                    assert_eq!(ran.decision, "deny");
                }
                other => panic!("{command}: {other:?}"),
            }
        }
    }
    let heard = place.one(hook("echo not on Sundays >&2; exit 2"));
    assert_eq!(
        heard.verdict,
        HookVerdict::Deny("not on Sundays".to_owned())
    );
    let ran = place.took();
    assert_eq!((ran[0].0.exit, ran[0].1), (Some(2), EventOutcome::Denied));
    assert_eq!(ran[0].0.message, "not on Sundays");
}

pub(crate) fn the_facts_are_told_as_documented() {
    let Some(place) = Place::new() else { return };
    let told = |heard: &CombinedHookAnswer| -> Value {
        let HookVerdict::Deny(why) = &heard.verdict else {
            panic!("{heard:?}");
        };
        serde_json::from_str(why).unwrap()
    };
    let hooks = place.hooks(vec![hook("cat >&2; exit 2")]);
    let edit = call("edit", json!({"path": "src/a.rs", "old": "x", "new": "y"}));
    let heard = wait(hooks.before_tool(&edit)).unwrap();
    let tree = place.tree.display().to_string();
    let expected = json!({
        "session_id": "run-1",
        "transcript_path": "",
        "cwd": tree,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {
            "file_path": format!("{tree}/src/a.rs"), "old_string": "x", "new_string": "y",
        },
        "tool_use_id": "c-1",
    });
    assert_eq!(told(&heard), expected);
    let heard = place.one(hook(
        "echo \"\\\"$CLAUDE_PROJECT_DIR|$ARTEL_HOOK_EVENT|$ARTEL_SESSION_ID|$(pwd)\\\"\" >&2; exit 2",
    ));
    let expected = format!("{tree}|PreToolUse|run-1|{tree}");
    assert_eq!(told(&heard), json!(expected));
    // What is secret stays so, whoever says it.
    let heard = place.one(hook("echo very-known-value-1 >&2; exit 2"));
    assert!(!format!("{heard:?}").contains("very-known"), "{heard:?}");
}

pub(crate) fn answers_after_calls_and_at_the_end_are_heard() {
    let Some(place) = Place::new() else { return };
    let echo = "cat >&2; exit 2";
    let hooks = place.hooks(vec![
        on(HookEvent::SessionStart, "echo the branch is main"),
        on(
            HookEvent::UserPromptSubmit,
            "echo '{\"continue\": false, \"stopReason\": \"closed\"}'",
        ),
        on(HookEvent::PostToolUse, echo),
        on(HookEvent::PostToolUseFailure, echo),
        on(HookEvent::Stop, echo),
        on(HookEvent::SubagentStop, echo),
        on(HookEvent::PreCompact, echo),
        on(HookEvent::SessionEnd, echo),
    ]);
    let start = wait(hooks.session_started("startup")).unwrap();
    assert_eq!(start.words().as_deref(), Some("the branch is main"));
    let prompt = wait(hooks.prompt_submitted("hello")).unwrap();
    assert_eq!(prompt.stop.as_deref(), Some("closed"));
    let block = |heard: CombinedHookAnswer| -> Value {
        serde_json::from_str(&heard.block.unwrap()).unwrap()
    };
    let response = json!({"content": "a.rs"});
    let after = block(wait(hooks.after_tool(&bash(), Ok(&response))).unwrap());
    assert_eq!(
        (&after["tool_name"], &after["tool_response"]),
        (&json!("Bash"), &response)
    );
    let failed = block(wait(hooks.after_tool(&bash(), Err("not there"))).unwrap());
    assert_eq!(failed["error"], "not there");
    let stop = block(wait(hooks.stopping("done", StopHookActive::Yes)).unwrap());
    assert_eq!(stop["hook_event_name"], "Stop");
    assert_eq!(stop["stop_hook_active"], true);
    assert_eq!(stop["last_assistant_message"], "done");
    assert_eq!(
        block(wait(hooks.compacting("auto")).unwrap())["trigger"],
        "auto"
    );
    let end = wait(hooks.session_ended("done")).unwrap();
    assert!(
        end.block.is_none() && end.notices[0].contains("\"reason\":\"done\""),
        "{end:?}"
    );
    let session = HookSession {
        id: "run-2".to_owned(),
        agent: Some("explore".to_owned()),
        ..HookSession::default()
    };
    let child = hooks.of_child(session, place.runner(Default::default()).record);
    let stop = block(wait(child.stopping("done", StopHookActive::No)).unwrap());
    assert_eq!(stop["hook_event_name"], "SubagentStop");
    assert_eq!(
        (&stop["agent_type"], &stop["agent_id"]),
        (&json!("explore"), &json!("run-2"))
    );
    // Nothing is declared for these: nothing is run.
    let before = place.took().len();
    assert_eq!(
        wait(hooks.before_tool(&bash())).unwrap(),
        CombinedHookAnswer::default()
    );
    assert_eq!((before, place.took().len()), (8, 0));
}
