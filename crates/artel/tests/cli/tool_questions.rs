//! Questions about a call, answered at a terminal, and what a person is told while it waits.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroUsize;
use std::process::Stdio;

use artel_sandbox::run::CancelToken;
use artel_sandbox::slots::{CommandConcurrencyPool, CommandInitiator};
use serde_json::{Value, json};

use crate::support::{Artel, House, KEY, holding};
use crate::terminal::in_terminal;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Tries a tool on a project that has a file with settings.
fn run(house: &House, name: &str, input: &Value) -> Artel {
    let root = house.folder("project");
    fs::write(root.join(".env"), "MODE=quick\n").unwrap();
    let input = input.to_string();
    let words = [
        "tool",
        "run",
        name,
        &input,
        "--root",
        root.to_str().unwrap(),
    ];
    house.artel(words).env("PATH", PATH)
}

fn grants(house: &House) -> String {
    fs::read_to_string(house.workshop.join("Policy/grants.toml")).unwrap_or_default()
}

#[test]
fn a_yes_reaches_as_far_as_was_said() {
    let house = House::new();
    let read = json!({"path": ".env"});
    for (typed, answer, code) in [
        ("o\n", "once", 0),
        ("once\n", "once", 0),
        ("yes\n", "once", 0),
        ("R\n", "run", 0),
        // There are no sessions yet; it says so.
        ("session\n", "run", 0),
        ("s\n", "run", 0),
        ("n\n", "no", 3),
        ("\n", "no", 3),
        ("x\nN\n", "no", 3),
        ("\u{4}", "nobody", 3),
    ] {
        let (screen, ended) = in_terminal(run(&house, "read", &read), typed);
        let choices = "Allow it? [o]nce  for this [r]un  [a]lways  [N]o";
        assert!(screen.contains(choices), "{screen}");
        assert!(
            screen.contains("beyond once it allows: Read(.env)"),
            "{screen}"
        );
        assert_eq!(ended, code, "{typed:?}: {screen}");
        assert_eq!(screen.contains("MODE="), code == 0, "{screen}");
        let answered = house
            .ok(["journal", "export", "--kind", "tool.answered"])
            .out;
        let last: Value = serde_json::from_str(answered.lines().last().unwrap()).unwrap();
        assert_eq!(last["payload"]["answer"], answer, "{typed:?}");
        let granted = match answer {
            "run" => json!({"reach": "run", "rules": ["Read(.env)"]}),
            _ => Value::Null,
        };
        assert_eq!(last["payload"]["granted"], granted, "{typed:?}");
        let is_session = typed.starts_with('s');
        assert_eq!(screen.contains("no sessions yet"), is_session, "{screen}");
        let outcome = if code == 0 { "allowed" } else { "denied" };
        assert_eq!(last["outcome"], outcome, "{typed:?}");
    }
    assert_eq!(grants(&house), "", "nothing was granted for good");
}

#[test]
fn always_asks_for_a_reason_and_is_kept() {
    let house = House::new();
    let read = || run(&house, "read", &json!({"path": ".env"}));
    let (screen, code) = in_terminal(read(), "a\n\nn\n");
    assert!(screen.contains("needs a reason") && code == 3, "{screen}");
    assert_eq!(grants(&house), "");
    let (screen, code) = in_terminal(read(), "a\nthe mode is no secret\n");
    assert_eq!(code, 0, "{screen}");
    let kept = grants(&house);
    assert!(kept.contains("rule = \"Read(.env)\""), "{kept}");
    assert!(
        kept.contains("reason = \"the mode is no secret\""),
        "{kept}"
    );
    let listed = house.ok(["policy", "list"]).out;
    assert!(listed.contains("Read(.env)"), "{listed}");
    let granted = house
        .ok(["journal", "export", "--kind", "policy.granted"])
        .out;
    assert!(granted.contains("the mode is no secret"), "{granted}");
    // From now on nobody is asked, terminal or not.
    read().run().expect(0).says("MODE=");
    house.ok(["policy", "revoke", "1"]);
    read().run().expect(3);
    house.ok(["journal", "verify"]);
}

/// Without a workshop there is nowhere to keep a grant.
#[test]
fn what_cannot_be_kept_is_not_offered() {
    let house = House::empty();
    let (screen, code) = in_terminal(run(&house, "read", &json!({"path": ".env"})), "a\nn\n");
    let choices = "Allow it? [o]nce  for this [r]un  [N]o";
    assert!(screen.contains(choices) && code == 3, "{screen}");
    // What no rule can say is allowed as it is, for this run.
    let (screen, _) = in_terminal(run(&house, "bash", &json!({"command": "cat $X"})), "n\n");
    assert!(
        screen.contains("Allow it? [o]nce  for this [r]un  [N]o"),
        "{screen}"
    );
    assert!(
        screen.contains("for this run it allows exactly this"),
        "{screen}"
    );
}

#[test]
fn a_command_rule_hands_a_secret_to_its_command() {
    let house = House::new();
    house
        .artel(["auth", "set", "--tool", "github"])
        .given(KEY)
        .run()
        .expect(0);
    let rules = "[[rule]]\nprefix = [\"printenv\", \"GITHUB_TOKEN\"]\ndecision = \"allow\"\n\
                 match = [\"printenv GITHUB_TOKEN\"]\nsecrets = [\"github\"]\n";
    fs::create_dir_all(house.workshop.join("Policy")).unwrap();
    let file = house.workshop.join("Policy/rules.toml");
    fs::write(&file, rules).unwrap();
    let bash = |command: &str| run(&house, "bash", &json!({"command": command}));
    let (screen, code) = in_terminal(bash("printenv GITHUB_TOKEN"), "o\n");
    assert!(screen.contains("secret github") && code == 0, "{screen}");
    assert!(
        !screen.contains(KEY) && screen.contains("[REDACTED]"),
        "{screen}"
    );
    // Nothing is handed to a line that does more.
    let seen = bash("printenv GITHUB_TOKEN | wc -c").run().expect(0);
    assert!(seen.out.contains('0'), "{seen:?}");
    let used = house.ok(["journal", "export", "--kind", "secret.used"]).out;
    assert_eq!(used.lines().count(), 1, "{used}");
    assert!(holding(&house.root(), KEY.as_bytes()).is_empty());
    // One mistake in the file, and nothing runs.
    fs::write(&file, rules.replace("match = [\"printenv", "match = [\"ls")).unwrap();
    bash("true").run().fails(2, "P004").says("line 4");
    fs::write(
        &file,
        rules
            .replace(", \"GITHUB_TOKEN\"]", "]")
            .replace("printenv", "bash"),
    )
    .unwrap();
    bash("true").run().fails(2, "P004");
}

#[test]
fn what_is_gone_with_the_copy_is_not_named() {
    let house = House::empty();
    let seen = run(&house, "bash", &json!({"command": "echo hello"}))
        .words(["--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(seen["data"]["exit"], 0);
    assert_eq!(seen["data"]["bytes"], 6);
    assert!(!seen["data"].to_string().contains("spool"), "{seen}");
}

#[test]
fn a_person_is_told_what_a_call_waits_for() {
    let house = House::empty();
    let folder = house.home.join(".local/state/artel/slots");
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let slots = CommandConcurrencyPool::of_cores(folder, cores).unwrap();
    let cancel = CancelToken::new().unwrap();
    let hold = |_| {
        let never = &mut |_: &_| panic!("a slot is free");
        slots
            .acquire(CommandInitiator::Person, "a long build", &cancel, never)
            .unwrap()
    };
    let held: Vec<_> = (0..cores.get() * 2).map(hold).collect();
    let mut command = run(&house, "bash", &json!({"command": "echo hello"})).command();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    told.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("note: `echo hello` waits for a free place"),
        "{line}"
    );
    assert!(line.contains("`a long build`"), "{line}");
    drop(held);
    let done = child.wait_with_output().unwrap();
    assert!(String::from_utf8(done.stdout).unwrap().contains("hello"));
    assert!(done.status.success());
}
