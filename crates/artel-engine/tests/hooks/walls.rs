//! Who may run what, and what a hook can touch.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use artel_engine::hooks::{
    CombinedHookAnswer, Hook, HookSandboxProfile, HookVerdict, RunHooks, strangers,
};
use artel_types::EventOutcome;

use crate::place::{Place, bash, hook, own, wait};

const DENIES: &str = "#!/bin/sh\necho no >&2\nexit 2\n";

fn script(place: &Place, name: &str, text: &str) {
    place.file(name, text);
    fs::set_permissions(place.tree.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn strangers_are_not_run() {
    let Some(place) = Place::new() else { return };
    script(&place, "check.sh", DENIES);
    let unknown = RunHooks::new(vec![hook("./check.sh")], place.runner(BTreeSet::new()));
    assert_eq!(
        wait(unknown.before_tool(&bash())).unwrap(),
        CombinedHookAnswer::default()
    );
    let seen = strangers(&[hook("./check.sh")], &place.tree, &BTreeSet::new());
    let hashes: BTreeSet<_> = seen.iter().map(|it| it.fact.hash.clone()).collect();
    script(&place, "check.sh", "#!/bin/sh\n# changed\nexit 2\n");
    let changed = RunHooks::new(vec![hook("./check.sh")], place.runner(hashes.clone()));
    assert_eq!(
        wait(changed.before_tool(&bash())).unwrap(),
        CombinedHookAnswer::default()
    );
    assert!(place.took().is_empty(), "none of them ran");
    script(&place, "check.sh", DENIES);
    let known = RunHooks::new(vec![hook("./check.sh")], place.runner(hashes));
    let heard = wait(known.before_tool(&bash())).unwrap();
    assert_eq!(heard.verdict, HookVerdict::Deny("no".to_owned()));
}

pub(crate) fn a_script_that_the_run_changed_denies() {
    let Some(place) = Place::new() else { return };
    script(&place, "check.sh", "#!/bin/sh\n");
    let hooks = place.hooks(vec![hook("./check.sh")]);
    assert_eq!(
        wait(hooks.before_tool(&bash())).unwrap(),
        CombinedHookAnswer::default()
    );
    script(&place, "check.sh", "#!/bin/sh\n# open to all\n");
    let heard = wait(hooks.before_tool(&bash())).unwrap();
    assert!(matches!(heard.verdict, HookVerdict::Deny(_)), "{heard:?}");
    fs::remove_file(place.tree.join("check.sh")).unwrap();
    let heard = wait(hooks.before_tool(&bash())).unwrap();
    assert!(matches!(heard.verdict, HookVerdict::Deny(_)), "{heard:?}");
    let ran = place.took();
    let ends: Vec<_> = ran
        .iter()
        .map(|(ran, outcome)| (ran.exit, *outcome))
        .collect();
    let failed = (None, EventOutcome::Failed);
    assert_eq!(ends, [(Some(0), EventOutcome::Done), failed, failed]);
}

pub(crate) fn files_are_read_only_unless_declared() {
    let Some(place) = Place::new() else { return };
    place.file("a.txt", "old");
    place.file("out/b.txt", "old");
    let secret = place.outside().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key"), "hidden").unwrap();
    symlink(&secret, place.tree.join("link")).unwrap();
    let writes = |paths: &[&str], command: &str| {
        let profile = HookSandboxProfile {
            write: paths.iter().map(Into::into).collect(),
            read: vec![secret.clone()],
            network: vec!["example.org".to_owned()],
        };
        let heard = place.one(Hook {
            profile,
            ..hook(&format!("{command} || exit 2"))
        });
        heard.verdict == HookVerdict::Pass
    };
    assert!(writes(&[], "grep -q old a.txt"));
    assert!(!writes(&[], "echo new > a.txt"));
    assert!(writes(&["out"], "echo new > out/b.txt"));
    assert!(!writes(&["out"], "echo new > a.txt"));
    assert!(!writes(&["link"], "echo new > link/key"));
    assert!(!writes(
        &["../secret"],
        &format!("echo new > {}/key", secret.display())
    ));
    assert!(!writes(&[], &format!("cat {}/key", secret.display())));
    assert!(!writes(&[], "test -n \"$HTTP_PROXY\""));
    assert_eq!(fs::read_to_string(place.tree.join("a.txt")).unwrap(), "old");
    assert_eq!(
        fs::read_to_string(place.tree.join("out/b.txt")).unwrap(),
        "new\n"
    );
    assert_eq!(fs::read_to_string(secret.join("key")).unwrap(), "hidden");
}

pub(crate) fn the_persons_own_hooks_reach_what_they_declare() {
    let Some(place) = Place::new() else { return };
    let data = place.home.join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("list"), "known").unwrap();
    let mine = place.home.join("mine.sh");
    fs::write(
        &mine,
        "#!/bin/sh\ngrep -q known ~/data/list && echo seen > ~/data/log || exit 2\n",
    )
    .unwrap();
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o755)).unwrap();
    let bare = place.one(own("~/mine.sh"));
    assert!(matches!(bare.verdict, HookVerdict::Deny(_)), "{bare:?}");
    let profile = HookSandboxProfile {
        write: vec!["~/data".into()],
        ..HookSandboxProfile::default()
    };
    let wide = place.one(Hook {
        profile,
        ..own("~/mine.sh")
    });
    assert_eq!(wide.verdict, HookVerdict::Pass, "{wide:?}");
    assert_eq!(fs::read_to_string(data.join("log")).unwrap(), "seen\n");
}

pub(crate) fn what_a_hook_with_a_way_out_tells_the_agent_is_a_strangers() {
    let Some(place) = Place::new() else { return };
    place.file("out/note", "x");
    let says = |words: &str| {
        let specific = format!("{{\"hookEventName\": \"PreToolUse\", {words}}}");
        format!("echo '{{\"hookSpecificOutput\": {specific}}}'")
    };
    let context = says("\"additionalContext\": \"words\"");
    let input = says("\"updatedInput\": {\"command\": \"ls\"}");
    let asks = says("\"permissionDecision\": \"ask\"");
    for (command, write, is_foreign) in [
        // Whoever only sends something out brings nothing.
        ("true", None, false),
        ("echo '{\"systemMessage\": \"sent\"}'", None, false),
        ("exit 1", None, false),
        ("true", Some("~/log"), false),
        (&context, None, true),
        (&input, None, true),
        (&asks, None, true),
        ("echo no >&2; exit 2", None, true),
        ("true", Some("out"), true),
    ] {
        for network in [&["example.org"][..], &[]] {
            let profile = HookSandboxProfile {
                network: network.iter().map(|&host| host.to_owned()).collect(),
                write: write.iter().map(Into::into).collect(),
                ..HookSandboxProfile::default()
            };
            place.one(Hook {
                profile,
                ..own(command)
            });
            let hosts: &[&str] = if is_foreign { network } else { &[] };
            assert_eq!(place.took_foreign(), hosts, "{command} {write:?}");
        }
    }
    let theirs = Hook {
        profile: HookSandboxProfile {
            network: vec!["example.org".to_owned()],
            ..HookSandboxProfile::default()
        },
        ..hook(&context)
    };
    place.one(theirs);
    assert!(place.took_foreign().is_empty(), "it has no way out");
}
