//! Several hooks: their order, and which word counts.

use std::sync::{Arc, Mutex};

use artel_engine::hooks::{
    BuiltInHook, CombinedHookAnswer, Hook, HookAction, HookAnswer, HookEvent, HookFirstApprover,
    HookSource, HookVerdict,
};
use artel_policy::{ConsentRecord, PolicyAnswer as Say, PolicyRuling};
use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use serde_json::{Value, json};

use crate::place::{Place, bash, call, hook, on, wait};

pub(crate) fn lower_priorities_run_first_and_equals_in_their_order() {
    let Some(place) = Place::new() else { return };
    let numbers = [
        (100, "a"),
        (0, "b"),
        (50, "c"),
        (25, "d"),
        (75, "e"),
        (50, "f"),
        (0, "g"),
    ];
    for event in [HookEvent::PreToolUse, HookEvent::PostToolUse] {
        let hooks = numbers.map(|(priority, name)| Hook {
            priority,
            ..on(event, &format!("true {name}"))
        });
        let hooks = place.hooks(hooks.to_vec());
        match event {
            HookEvent::PreToolUse => wait(hooks.before_tool(&bash())),
            _ => wait(hooks.after_tool(&bash(), Ok(&json!({})))),
        }
        .unwrap();
        let ran = place.took();
        let order: Vec<_> = ran.iter().map(|(ran, _)| &ran.hook[5..]).collect();
        assert_eq!(order, ["b", "g", "d", "c", "f", "e", "a"]);
    }
}

fn says(word: &str, priority: u8) -> Hook {
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": word,
        "additionalContext": format!("from {word}"),
    }});
    Hook {
        priority,
        ..hook(&format!("echo '{output}'"))
    }
}

pub(crate) fn deny_beats_allow_and_ends_the_row() {
    let Some(place) = Place::new() else { return };
    let rank = ["allow", "ask", "defer", "deny"];
    for (low, one) in rank.iter().enumerate() {
        for other in &rank[low..] {
            for (first, second) in [(0, 1), (1, 0)] {
                let hooks = place.hooks(vec![says(one, first), says(other, second)]);
                let heard = wait(hooks.before_tool(&bash())).unwrap();
                let word = match &heard.verdict {
                    HookVerdict::Pass => "none",
                    HookVerdict::Allow => "allow",
                    HookVerdict::Ask(why) | HookVerdict::Defer(why) | HookVerdict::Deny(why) => why,
                };
                assert_eq!(word, *other);
            }
        }
    }
    place.took();
    let hooks = place.hooks(vec![says("ask", 0), says("deny", 1), says("allow", 2)]);
    let heard = wait(hooks.before_tool(&bash())).unwrap();
    assert_eq!(heard.context, ["from ask", "from deny"]);
    assert_eq!(place.took().len(), 2, "nothing is asked after a no");
}

pub(crate) fn changed_input_reaches_the_next_hook_and_comes_back_in_our_words() {
    let Some(place) = Place::new() else { return };
    let path = place.tree.join("b.rs").display().to_string();
    let output = json!({"hookSpecificOutput": {
        "updatedInput": {"file_path": path, "old_string": "x", "new_string": "z"},
    }});
    let hooks = place.hooks(vec![
        hook(&format!("echo '{output}'")),
        hook("grep -q new_string.:.z || exit 2"),
    ]);
    let edit = call("edit", json!({"path": "a.rs", "old": "x", "new": "y"}));
    let heard = wait(hooks.before_tool(&edit)).unwrap();
    assert_eq!(heard.verdict, HookVerdict::Pass);
    assert_eq!(
        heard.input,
        Some(json!({"path": "b.rs", "old": "x", "new": "z"}))
    );
    assert_eq!(place.took()[0].0.message, "the input was changed");
}

struct Sundays(Mutex<Vec<Value>>);

impl BuiltInHook for Sundays {
    fn name(&self) -> &str {
        "no-bash-on-sundays"
    }

    fn answer(&self, _: HookEvent, input: &Value) -> Result<HookAnswer, String> {
        self.0.lock().unwrap().push(input["tool_name"].clone());
        Ok(HookAnswer {
            verdict: HookVerdict::Deny("it is Sunday".to_owned()),
            ..HookAnswer::default()
        })
    }
}

pub(crate) fn built_in_hooks_are_hooks_like_others() {
    let Some(place) = Place::new() else { return };
    let sundays = Arc::new(Sundays(Mutex::default()));
    let built_in = Hook {
        action: HookAction::BuiltIn(Arc::clone(&sundays) as Arc<dyn BuiltInHook>),
        source: HookSource::BuiltIn,
        priority: 10,
        ..hook("")
    };
    let hooks = place.hooks(vec![hook("true late"), built_in]);
    let heard = wait(hooks.before_tool(&bash())).unwrap();
    assert_eq!(heard.verdict, HookVerdict::Deny("it is Sunday".to_owned()));
    assert_eq!(*sundays.0.lock().unwrap(), [json!("Bash")]);
    let ran = place.took();
    assert_eq!(ran.len(), 1);
    assert_eq!(
        (ran[0].0.hook.as_str(), ran[0].0.exit),
        ("no-bash-on-sundays", None)
    );
}

struct Yes;

impl ToolCallApprover for Yes {
    fn approve(&self, _: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        Some(ToolApprovalAnswer::once().into())
    }
}

pub(crate) fn questions_pass_hooks_first() {
    let Some(place) = Place::new() else { return };
    let question = ToolApprovalQuestion {
        call: "c1".to_owned(),
        tool: "bash".to_owned(),
        decision: PolicyRuling::new(Say::Ask, "default.ask", "it is asked"),
        record: ConsentRecord {
            input: json!({"command": "make deploy"}).to_string(),
            ..ConsentRecord::default()
        },
        offers: Vec::new(),
        exactly: None,
    };
    let gate = |command: &str, person: Option<Arc<dyn ToolCallApprover>>| HookFirstApprover {
        hooks: place.hooks(vec![on(HookEvent::PermissionRequest, command)]),
        person,
    };
    let allow = r#"echo '{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}'"#;
    let yes: Arc<dyn ToolCallApprover> = Arc::new(Yes);
    let reply = gate(
        "grep -q deploy && echo no deploys >&2 && exit 2",
        Some(Arc::clone(&yes)),
    )
    .approve(&question);
    assert!(
        matches!(&reply, Some(AttributedToolApproval { reply: ToolApprovalAnswer::No { reason }, .. }) if reason.contains("no deploys")),
        "{reply:?}"
    );
    let reply = gate("true", Some(yes)).approve(&question);
    assert!(
        matches!(
            reply,
            Some(AttributedToolApproval {
                reply: ToolApprovalAnswer::Yes { .. },
                ..
            })
        ),
        "{reply:?}"
    );
    // A hook's yes is nobody's yes.
    assert!(gate(allow, None).approve(&question).is_none());
    let decisions: Vec<_> = place
        .took()
        .into_iter()
        .map(|(ran, _)| ran.decision)
        .collect();
    assert_eq!(decisions, ["deny", "none", "allow"]);
    assert_eq!(CombinedHookAnswer::default().words(), None);
}
