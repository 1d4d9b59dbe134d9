//! Tools that a workshop declares in `Tools/*.toml`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Artel, House, KEY, Seen, holding};
use crate::terminal::in_terminal;

const COUNT: &str = r#"description = "Counts the lines of a file"
command = ["wc", "-l", "{path}"]
blocked = ["forbidden"]

[parameters.path]
type = "path"
description = "The file"
pattern = "[a-z./-]+"
"#;

const SHOW: &str = r#"description = "Prints its words, one a line"
command = ["printf", "%s\\n", "{word}", "--level={level}", "{loud}", "{mode}"]

[parameters.word]
type = "text"
description = "A word"
pattern = "[^A-Z]*"

[parameters.level]
type = "integer"
description = "How much"
optional = true

[parameters.loud]
type = "flag"
description = "Louder"
word = "--loud"

[parameters.mode]
type = "choice"
description = "How"
choices = ["fast", "slow"]
optional = true
"#;

/// A workshop with these tools, and a project to try them on.
fn house(tools: &[(&str, &str)]) -> House {
    let house = House::new();
    for (name, text) in tools {
        fs::write(house.workshop.join(format!("Tools/{name}.toml")), text).unwrap();
    }
    let root = house.folder("project");
    fs::write(root.join("notes.txt"), "one\ntwo\n").unwrap();
    fs::write(root.join("forbidden.txt"), "no\n").unwrap();
    house
}

fn tool<const N: usize>(house: &House, words: [&str; N]) -> Artel {
    let path = "/usr/local/bin:/usr/bin:/bin";
    house.artel(["tool"]).words(words).env("PATH", path)
}

fn run(house: &House, name: &str, input: &Value) -> Seen {
    let root = house.root().join("project");
    let input = input.to_string();
    tool(
        house,
        ["run", name, &input, "--root", root.to_str().unwrap()],
    )
    .run()
}

#[test]
fn a_declared_tool_is_listed_shown_and_run() {
    let house = house(&[("count", COUNT), ("show", SHOW)]);
    let listed = tool(&house, ["list"]).run().expect(0);
    assert!(listed.out.contains("  count "), "{}", listed.out);
    let shown = tool(&house, ["show", "count", "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["bundle"], "declared");
    assert_eq!(
        shown["input"]["properties"]["path"]["pattern"],
        "^(?:[a-z./-]+)$"
    );
    run(&house, "count", &json!({"path": "notes.txt"}))
        .expect(0)
        .says("2 notes.txt");
    // Outside of the workshop it is not there, and neither is it in another's.
    let elsewhere = House::empty();
    tool(&elsewhere, ["show", "count"]).run().fails(4, "T001");
    tool(&elsewhere, ["show", "count"])
        .standing_in(&house.workshop)
        .run()
        .fails(4, "T001");
}

#[test]
fn values_are_words_and_no_shell_reads_them() {
    let house = house(&[("show", SHOW)]);
    let word = "a b; touch x && $(ls) `ls` | cat > y '\"*\n\\ {level} ü";
    let input = json!({"word": word, "level": 3, "loud": true, "mode": "slow"});
    let root = house.root().join("project");
    let words = [
        "run",
        "show",
        &input.to_string(),
        "--root",
        root.to_str().unwrap(),
        "--json",
    ];
    let seen = tool(&house, words).run().expect(0).json();
    let text = seen["text"].as_str().unwrap();
    assert!(
        text.contains(&format!("{word}\n--level=3\n--loud\nslow\n")),
        "{text}"
    );
    assert_eq!(seen["changed"], json!([]));
    let short = run(&house, "show", &json!({"word": "x"})).expect(0);
    assert!(
        !short.out.contains("level") && !short.out.contains("loud"),
        "{}",
        short.out
    );
}

#[test]
fn what_does_not_fit_is_refused_with_the_rule() {
    let house = house(&[("count", COUNT), ("show", SHOW)]);
    for (name, input, code, said) in [
        (
            "count",
            json!({"path": "NOTES"}),
            3,
            "`path` does not match its pattern `^(?:[a-z./-]+)$`",
        ),
        (
            "count",
            json!({"path": "notes.txt\n"}),
            3,
            "does not match its pattern",
        ),
        (
            "count",
            json!({"path": "forbidden.txt"}),
            3,
            "the blocked pattern `forbidden`",
        ),
        ("count", json!({"path": "../home/x"}), 3, "outside"),
        ("count", json!({"path": "/etc/passwd"}), 3, "outside"),
        ("count", json!({"path": "-x"}), 3, "read as an option"),
        ("count", json!({}), 1, "`path` is missing"),
        ("count", json!({"path": 1}), 1, "`path` is not of type path"),
        (
            "count",
            json!({"path": "notes.txt", "more": 1}),
            1,
            "no parameter `more`",
        ),
        (
            "show",
            json!({"word": "x", "level": "3"}),
            1,
            "`level` is not of type integer",
        ),
        (
            "show",
            json!({"word": "x", "level": 1.5}),
            1,
            "`level` is not of type integer",
        ),
        (
            "show",
            json!({"word": "x", "mode": "odd"}),
            1,
            "`mode` is none of: fast, slow",
        ),
        ("show", json!({"word": "a\u{0}b"}), 1, "`word` holds a NUL"),
        (
            "show",
            json!({"word": "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}),
            3,
            "looks like a secret",
        ),
    ] {
        let seen = run(&house, name, &input);
        assert_eq!(seen.code, code, "{input}: {seen:?}");
        assert!(seen.out.contains(said), "{input}: {}", seen.out);
        assert!(
            !seen.out.contains("stdout"),
            "nothing was started: {}",
            seen.out
        );
    }
}

#[test]
fn a_broken_file_is_named_with_its_field() {
    let good = "description = \"x\"\ncommand = [\"ls\", \"{a}\"]\n[parameters.a]\ntype = \"text\"\ndescription = \"a\"\npattern = \"x\"\n";
    for (name, text, field) in [
        (
            "broken",
            good.replace("pattern = \"x\"", "pattern = \"(\""),
            "parameters.a.pattern",
        ),
        (
            "broken",
            good.replace("pattern = \"x\"", ""),
            "parameters.a.pattern",
        ),
        ("broken", good.replace("\"{a}\"", "\"{b}\""), "command"),
        ("broken", good.replace("[\"ls\", \"{a}\"]", "[]"), "command"),
        (
            "broken",
            good.replace("\"x\"\ncommand", "\" \"\ncommand"),
            "description",
        ),
        (
            "broken",
            good.replace(
                "description = \"x\"\n",
                "description = \"x\"\ntimeout = \"soon\"\n",
            ),
            "timeout",
        ),
        (
            "broken",
            good.replace(
                "description = \"x\"\n",
                "description = \"x\"\nshell = true\n",
            ),
            "2:1",
        ),
        (
            "broken",
            good.replace("parameters.a]", "parameters.token]")
                .replace("{a}", "{token}"),
            "parameters.token",
        ),
        ("broken", "not toml".to_owned(), "1:"),
        ("Broken-Name", good.to_owned(), "file name"),
    ] {
        let house = house(&[("count", COUNT), (name, &text)]);
        for words in [&["list"][..], &["run", "read", "{\"path\": \"x\"}"]] {
            let seen = tool(&house, []).words(words).run().fails(2, "T004");
            let seen = seen.says(&format!("Tools/{name}.toml"));
            assert!(
                seen.err.contains(&format!("`{field}")),
                "{field}: {}",
                seen.err
            );
        }
    }
    // A name that is taken does not replace what is built in.
    let house = house(&[("read", COUNT)]);
    tool(&house, ["list"]).run().fails(2, "T004").says("`read`");
}

/// A tool that prints what it was given.
const GREET: &str = "description = \"Greets\"\ncommand = [\"printenv\"]\nsecrets = [\"github\"]\n";

/// Tries it with a person at the terminal, who types.
fn greeted(house: &House, role: &str, typed: &str) -> (String, i32) {
    let root = house.root().join("project");
    let words = [
        "run",
        "greet",
        "{}",
        "--root",
        root.to_str().unwrap(),
        "--role",
        role,
    ];
    in_terminal(tool(house, words), typed)
}

#[test]
fn a_secret_is_asked_for_first() {
    let house = house(&[("greet", GREET)]);
    let seen = run(&house, "greet", &json!({})).expect(3);
    let named = seen.out.contains("`github`") && seen.out.contains("default.secret");
    assert!(named, "{}", seen.out);
    let (screen, code) = greeted(&house, "engineer", "y\n");
    assert!(screen.contains("no secret `github` is stored"), "{screen}");
    assert_eq!(code, 1, "{screen}");
}

#[test]
fn a_secret_goes_into_one_child_and_nowhere_else() {
    let house = house(&[("greet", GREET)]);
    let set = house.artel(["auth", "set", "--tool", "github"]);
    set.given(KEY).run().expect(0);
    let listed = house.ok(["auth", "status"]).out;
    assert!(
        listed.contains("tool") && listed.contains("github"),
        "{listed}"
    );
    let (screen, code) = greeted(&house, "engineer", "y\n");
    let choices = "Allow it? [o]nce  for this [r]un  [a]lways  [N]o";
    assert!(screen.contains(choices), "{screen}");
    assert!(
        screen.contains("secret github"),
        "the question names it: {screen}"
    );
    assert!(screen.contains("GITHUB_TOKEN="), "{screen}");
    assert_eq!(code, 0, "{screen}");
    let (refused, code) = greeted(&house, "engineer", "n\n");
    assert!(code == 3 && !refused.contains("GITHUB_TOKEN"), "{refused}");
    // A role that has no use for it is not even asked about.
    let (denied, code) = greeted(&house, "tester", "y\n");
    assert!(code == 3 && !denied.contains("Allow it?"), "{denied}");
    for shown in [screen, refused, denied] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    let used = house.ok(["journal", "export", "--kind", "secret.used"]).out;
    let used: Vec<Value> = used
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = used
        .iter()
        .map(|event| {
            assert_eq!(event["payload"]["secret"], "github");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            [
                text(&event["payload"]["role"]),
                text(&event["payload"]["verdict"]),
                text(&event["outcome"]),
            ]
        })
        .collect();
    assert_eq!(
        told,
        [
            ["engineer", "granted", "done"],
            ["engineer", "denied", "denied"],
            ["tester", "denied", "denied"],
        ]
    );
    assert_eq!(
        holding(&house.root(), KEY.as_bytes()),
        Vec::<PathBuf>::new()
    );
    house.ok(["auth", "remove", "--tool", "github"]);
    let again = house.artel(["auth", "remove", "--tool", "github"]);
    again.run().fails(4, "K003");
}

#[test]
fn a_tool_that_takes_too_long_is_ended() {
    let text = "description = \"Waits\"\ncommand = [\"sleep\", \"600\"]\ntimeout = \"300ms\"\n";
    let house = house(&[("wait", text)]);
    let seen = run(&house, "wait", &json!({}));
    seen.expect(1).says("its 300ms were over");
}

#[test]
fn the_file_of_a_role_says_which_secrets_it_holds() {
    let house = house(&[("greet", GREET)]);
    let set = house.artel(["auth", "set", "--tool", "github"]);
    set.given(KEY).run().expect(0);
    let role = |secrets: &str| {
        let text = format!(
            "---\nname: Deployer\ndescription: Deploys.\n{secrets}---\n\nYou deploy what is done.\n"
        );
        fs::write(house.workshop.join("Agents/deployer.md"), text).unwrap();
    };
    role("");
    let (denied, code) = greeted(&house, "deployer", "y\n");
    assert!(code == 3 && !denied.contains("Allow it?"), "{denied}");
    let way = "in `secrets:` of `Agents/deployer.md`";
    assert!(denied.contains(way), "the way out: {denied}");
    role("secrets: [github]\n");
    let (screen, code) = greeted(&house, "deployer", "y\n");
    assert!(screen.contains("GITHUB_TOKEN="), "{screen}");
    assert_eq!(code, 0, "{screen}");
    role("secrets: [bank]\n");
    let (denied, code) = greeted(&house, "deployer", "y\n");
    assert!(code == 3 && !denied.contains("Allow it?"), "{denied}");
}
