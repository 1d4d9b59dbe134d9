//! Commands and scripts: waiting for their turn, their secrets, what helps when they fail.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use artel_files::RootFolder;
use artel_policy::rules::{PolicyRule, PolicyRuleSet};
use artel_policy::{
    DecidedBy, Grant, GrantScope, Policy, PolicyAction, PolicyAnswer, PolicyContext, RunWalls,
};
use artel_sandbox::SandboxLevel;
use artel_sandbox::proxy::{ProxyAccess, ProxyDialer, ProxyOptions, ProxyResolver};
use artel_sandbox::run::{CancelToken, LiveCommandEvent};
use artel_sandbox::slots::CommandInitiator;
use artel_tools::{
    DeclaredTool, ToolCallRecorder, ToolContext, ToolProcessObserver, ToolRegistry, ToolRunner,
    ToolSecretLookup,
};
use artel_types::{Actor, Clock, EventOutcome, Fact, ForeignSource, Secret, Timestamp};
use serde_json::json;

use crate::shop::{Shop, has, tool};

/// Keeps what a person would be told, and rings at the first of it.
struct Heard {
    said: Mutex<Vec<String>>,
    bell: Mutex<Sender<()>>,
}

impl ToolProcessObserver for Heard {
    fn output(&self, _: &LiveCommandEvent<'_>) {}
    fn passage(&self, _: &ProxyAccess) {}
    fn waiting(&self, what: &str) {
        self.said.lock().unwrap().push(what.to_owned());
        self.bell.lock().unwrap().send(()).ok();
    }
}

pub(crate) fn a_job_with_a_host_keeps_a_connection() {
    let Some(shop) = Shop::with(&[("x.sh", "")], |_| {}) else {
        return;
    };
    let begin = |input: serde_json::Value| tool("bash").run(&input, &shop.bench);
    if begin(json!({"command": "sleep 60", "background": true})).is_err() {
        // Below level full there are no background commands.
        return;
    }
    assert!(!shop.bench.jobs.keeps_connection(), "it reaches nothing");
    let reaching = json!({
        "command": "sleep 60", "background": true, "network": ["127.0.0.1:9"],
    });
    begin(reaching).unwrap();
    assert!(shop.bench.jobs.keeps_connection());
    shop.bench.jobs.kill(2).unwrap();
    assert!(!shop.bench.jobs.keeps_connection(), "it has ended");
}

/// A journal that nobody reads.
struct Unread;

impl ToolCallRecorder for Unread {
    fn append_by(&self, _: Option<Actor>, _: Fact, _: EventOutcome) -> Result<(), String> {
        Ok(())
    }
}

/// The hands of a run of this tree, which may do what these rules say.
fn hands(bench: ToolContext, granted: &[&str]) -> ToolRunner {
    let grant = |rule: &&str| Grant {
        rule: PolicyRule::parse(rule).unwrap(),
        scope: GrantScope::Always,
        reason: String::new(),
    };
    let policy = Policy {
        role: "engineer".to_owned(),
        grants: granted.iter().map(grant).collect(),
        ..Policy::default()
    };
    let clock = Clock::fixed(Timestamp::from_micros(0));
    let redactor = artel_policy::redact::redactor(&[]);
    let registry = ToolRegistry::of(artel_tools::built_in());
    let mut hands = ToolRunner::new(registry, bench, policy, Arc::new(Unread), redactor, clock);
    hands.situation = PolicyContext {
        is_walled: true,
        workspace: Some(hands.bench.tree.path().to_owned()),
        walls: Some(RunWalls::whole()),
        ..PolicyContext::default()
    };
    hands
}

/// A run has read a stranger's words and keeps a connection; a skill that it calls asks for a key.
pub(crate) fn a_connection_that_the_caller_keeps_counts_for_whoever_it_calls() {
    let Some(shop) = Shop::with(&[("x.sh", "")], |_| {}) else {
        return;
    };
    let caller = hands(shop.bench.clone(), &["Bash(sleep:*)", "Fetch(127.0.0.1)"]);
    let sleep = json!({
        "command": "sleep 60", "background": true, "network": ["127.0.0.1:9"],
    });
    let begun = caller.call("c-1", "bash", &sleep).unwrap();
    if begun.result.is_err() && shop.bench.jobs.list().is_empty() {
        println!("not run: there are no background commands: {begun:?}");
        return;
    }
    caller.marks.read([ForeignSource::host("example.org")]);
    let mut bench = shop.bench.clone();
    bench.jobs = Arc::default();
    let mut called = hands(bench, &["greet", "Secret(github)"]);
    called.openings = Arc::clone(&caller.openings);
    called.marks = caller.marks.clone();
    let greet = "description = \"Greets\"\ncommand = [\"env\"]\nsecrets = [\"github\"]\n";
    let greet = DeclaredTool::parse("greet", greet).unwrap();
    called.registry.add(Arc::new(greet)).unwrap();
    let rule = || {
        called
            .call("c-2", "greet", &json!({}))
            .unwrap()
            .decision
            .rule
    };
    assert_eq!(rule(), "ask.untrusted-network-secret");
    shop.bench.jobs.kill(1).unwrap();
    assert_ne!(rule(), "ask.untrusted-network-secret", "it has ended");
}

/// Nothing was let through the walls on record, and a background command reaches a host all the same.
pub(crate) fn a_connection_that_is_kept_ends_containment_by_itself() {
    let Some(shop) = Shop::with(&[("x.sh", "")], |_| {}) else {
        return;
    };
    let sleep = json!({
        "command": "sleep 60", "background": true, "network": ["127.0.0.1:9"],
    });
    if tool("bash").run(&sleep, &shop.bench).is_err() {
        println!("not run: there are no background commands");
        return;
    }
    let own = hands(shop.bench.clone(), &[]);
    let mut bench = shop.bench.clone();
    bench.jobs = Arc::default();
    let called = hands(bench, &[]);
    called.openings.watch(&shop.bench.jobs);
    let decided = |hands: &ToolRunner| {
        assert!(hands.openings.all().is_empty());
        let echo = json!({ "command": "echo $HOME" });
        let called = hands.call("c-1", "bash", &echo).unwrap();
        (called.decision.answer, called.decision.decided_by)
    };
    for hands in [&own, &called] {
        assert_eq!(decided(hands), (PolicyAnswer::Ask, DecidedBy::Rule));
    }
    shop.bench.jobs.kill(1).unwrap();
    for hands in [&own, &called] {
        assert_eq!(decided(hands), (PolicyAnswer::Allow, DecidedBy::Contained));
    }
}

pub(crate) fn whoever_waits_is_told_for_what() {
    let (bell, rung) = channel();
    let heard = Arc::new(Heard {
        said: Mutex::default(),
        bell: Mutex::new(bell),
    });
    let audience = Arc::clone(&heard);
    let Some(shop) = Shop::with(&[("x.sh", "")], move |room| room.audience = audience) else {
        return;
    };
    let room = shop.bench.workroom.clone().unwrap();
    let cancel = CancelToken::new().unwrap();
    let hold = |label: &str| {
        let never = &mut |_: &_| panic!("a slot is free");
        room.slots
            .acquire(CommandInitiator::Person, label, &cancel, never)
            .unwrap()
    };
    let held = [hold("first build"), hold("second build")];
    let background = json!({"command": "echo back", "background": true});
    let job = tool("bash").run(&background, &shop.bench);
    std::thread::scope(|scope| {
        if job.is_ok() {
            rung.recv().unwrap();
            let seen = tool("job").run(&json!({"id": 1}), &shop.bench).unwrap();
            assert!(
                seen.text.starts_with("1 waits for a free place"),
                "{}",
                seen.text
            );
            assert!(seen.text.contains("`first build`"), "{}", seen.text);
            assert_eq!(seen.data["state"], "waiting");
        }
        let front =
            scope.spawn(|| tool("bash").run(&json!({"command": "echo front"}), &shop.bench));
        let is_told = || {
            let said = heard.said.lock().unwrap();
            said.iter().any(|said| said.starts_with("`echo front`"))
        };
        while !is_told() {
            rung.recv().unwrap();
        }
        drop(held);
        let seen = front.join().unwrap().unwrap();
        assert!(seen.text.contains("front"), "{}", seen.text);
    });
    let said = heard.said.lock().unwrap();
    let is_told = |said: &String| {
        said.starts_with("`echo front` waits for a free place") && said.contains("`second build`")
    };
    assert!(said.iter().any(is_told), "{said:?}");
}

struct Store;

impl ToolSecretLookup for Store {
    fn secret(&self, name: &str) -> Option<Secret> {
        (name == "github").then(|| Secret::new("value-of-the-store-9"))
    }
}

pub(crate) fn secrets_reach_one_child_and_no_text() {
    let files = [(
        "skill/scripts/go.sh",
        "echo \"<$GITHUB_TOKEN> ${#GITHUB_TOKEN}\"\n",
    )];
    let Some(shop) = Shop::with(&files, |room| room.keys = Arc::new(Store)) else {
        return;
    };
    let mut bench = shop.bench.clone();
    let skill = RootFolder::open(&bench.tree.path().join("skill")).unwrap();
    bench.skill = Some(Arc::new(skill));
    bench.skill_secrets = vec!["github".to_owned()];
    let rules = PolicyRuleSet::from_toml(
        "[[rule]]\nprefix = [\"bash\", \"skill/scripts/go.sh\"]\ndecision = \"ask\"\nsecrets = \
         [\"github\"]\n",
    );
    bench.secret_rules = rules.unwrap().ask.into();
    let script = json!({"path": "scripts/go.sh"});
    let line = json!({"command": "bash skill/scripts/go.sh"});
    let piped = json!({"command": "bash skill/scripts/go.sh | cat"});
    for (name, input, length) in [
        ("script", &script, 20),
        ("bash", &line, 20),
        ("bash", &piped, 0),
    ] {
        let seen = tool(name).run(input, &bench).unwrap();
        assert!(!seen.text.contains("value-of-the-store-9"), "{}", seen.text);
        assert!(
            seen.text.contains(&format!("> {length}")),
            "{input}: {}",
            seen.text
        );
        for stream in ["stdout", "stderr"] {
            let spooled = fs::read_to_string(seen.data[stream].as_str().unwrap()).unwrap();
            assert!(!spooled.contains("value-of-the-store-9"), "{spooled}");
        }
    }
}

pub(crate) fn a_program_that_is_missing_has_others_named() {
    let Some(shop) = Shop::new(&[("x", "")]) else {
        return;
    };
    for (command, hint) in [
        ("pythom3 -V", "installed programs like `pythom3`: `python3"),
        ("fd x", "instead of `fd`: the `glob` tool, `find`"),
    ] {
        if command.starts_with("fd") && Path::new("/usr/bin/fd").exists() {
            println!("not run: there is an fd");
            continue;
        }
        let seen = tool("bash")
            .run(&json!({"command": command}), &shop.bench)
            .unwrap();
        let said = seen.hints.join("\n");
        assert!(said.contains(hint), "{said}");
        assert!(seen.text.contains("bash: line 1: "), "{}", seen.text);
        assert!(!seen.text.contains("state-"), "{}", seen.text);
    }
}

pub(crate) fn without_network_a_command_says_what_has_it() {
    let Some(shop) = Shop::new(&[("x", "")]) else {
        return;
    };
    if has("curl") {
        let command = json!({"command": "curl -sS http://docs.example/"});
        let seen = tool("bash").run(&command, &shop.bench).unwrap();
        let said = seen.hints.join("\n");
        assert!(said.contains("the `fetch` tool"), "{said}");
    }
}

pub(crate) fn with_hosts_a_command_reaches_those_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 1024];
            drop(stream.read(&mut asked));
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npong";
            // Whoever asked may be gone.
            drop(stream.write_all(answer));
        }
    });
    let reach = ProxyOptions {
        resolver: ProxyResolver::new(|_| Ok(vec![IpAddr::from([93, 184, 215, 14])])),
        dialer: ProxyDialer::new(move |_| address),
        ..ProxyOptions::default()
    };
    let Some(shop) = Shop::with(&[("x", "")], move |room| room.reach = reach) else {
        return;
    };
    let level = shop.bench.workroom.as_ref().map(|room| room.demand.0);
    if level != Some(SandboxLevel::Full) {
        println!("not run: a network grant needs level full");
        return;
    }
    let ask = |network: serde_json::Value| {
        let line = "python3 -c \"import urllib.request as u; \
                    print(u.urlopen('http://docs.example/', timeout=9).read().decode())\"";
        let input = json!({"command": line, "network": network});
        let intends = tool("bash").intends(&input, &shop.bench).unwrap();
        let hosts = intends
            .iter()
            .filter(|it| matches!(it, PolicyAction::Network(_)));
        assert_eq!(Some(hosts.count()), network.as_array().map(Vec::len));
        tool("bash").run(&input, &shop.bench).unwrap().text
    };
    let said = ask(json!(["docs.example"]));
    assert!(said.contains("pong"), "{said}");
    for other in [json!([]), json!(["other.example"])] {
        let said = ask(other);
        assert!(!said.contains("pong"), "{said}");
    }
    let bad = json!({"command": "true", "network": ["no host"]});
    assert!(tool("bash").intends(&bad, &shop.bench).is_err());
}
