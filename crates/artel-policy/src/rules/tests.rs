use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn admits(rule: &str, command: &str) -> bool {
    Rule::parse(rule).unwrap().admits_command(&words(command))
}

fn catches(rule: &str, command: &str) -> bool {
    Rule::parse(rule).unwrap().catches_command(&words(command))
}

#[test]
fn a_grant_is_read_narrowly() {
    let cases = [
        ("Bash", "rm -rf x", true),
        ("Bash(*)", "rm -rf x", true),
        ("bash( * )", "rm", true),
        ("Bash(git:*)", "git", true),
        ("Bash(git:*)", "git push", true),
        ("Bash(git *)", "git push", true),
        ("Bash(git:*)", "gitx", false),
        ("Bash(git:*)", "/usr/bin/git log", true),
        ("Bash(git:*)", "/tmp/git log", false),
        ("Bash(git:*)", "./git log", false),
        ("Bash(git log)", "git log", true),
        ("Bash(git log)", "git log -1", false),
        ("Bash(git log:*)", "git logx", false),
        ("Bash(git:log*)", "git log -1", true),
        ("Bash(git:log*)", "git logx", false),
        ("Bash(git log*)", "git log -1", true),
        ("Bash(npm run test:unit)", "npm run test:unit", true),
        ("Bash(npm run test:unit:*)", "npm run test:unit x", true),
        ("Bash(find . -name '*.rs')", "find . -name *.rs", true),
        ("Bash(./gradlew:*)", "./gradlew test", true),
        ("Bash(./gradlew:*)", "gradlew test", false),
        ("Read", "cat x", false),
        ("Edit(src/**)", "src/x", false),
    ];
    for (rule, command, expected) in cases {
        assert_eq!(admits(rule, command), expected, "{rule} {command}");
    }
}

#[test]
fn a_ban_is_read_widely() {
    let cases = [
        ("Bash(rm:*)", "/bin/rm x", true),
        ("Bash(rm)", "rm -rf x", true),
        ("Bash(rm:*)", "rmdir x", false),
        ("Bash(rm*)", "rmdir x", true),
        ("Bash(rm:*)", "/bin/r? x", true),
        ("Bash(git push:*)", "git -C . push", true),
        ("Bash(git push:*)", "git --no-pager push", true),
        ("Bash(git push:*)", "git -c a=b --git-dir=x push", true),
        ("Bash(git push:*)", "git log push", false),
        ("Bash(git push:*)", "git commit -m push", false),
        ("Bash", "ls", true),
        ("Read(x)", "cat x", false),
    ];
    for (rule, command, expected) in cases {
        assert_eq!(catches(rule, command), expected, "{rule} {command}");
    }
}

#[test]
fn paths_and_tools_are_matched_by_their_own_kind() {
    let edit = Rule::parse("Edit(src/**)").unwrap();
    assert!(edit.admits_path("edit", "src/a/b.rs"));
    assert!(edit.admits_path("EDIT", "./src/a.rs"));
    assert!(!edit.admits_path("edit", "tests/a.rs"));
    assert!(!edit.admits_path("write", "src/a.rs"));
    assert!(!edit.admits_tool("edit"));
    let star = Rule::parse("Edit(src/*.rs)").unwrap();
    assert!(!star.admits_path("edit", "src/a/b.rs"));
    let server = Rule::parse("mcp__git__*").unwrap();
    assert!(server.admits_tool("mcp__git__log"));
    assert!(!server.admits_tool("mcp__github__log"));
    assert!(Rule::parse("READ").unwrap().admits_tool("read"));
    assert!(
        Rule::parse("Fetch(docs.rs)")
            .unwrap()
            .admits_name("fetch", "docs.rs")
    );
}

#[test]
fn what_does_not_parse_is_reported_with_advice() {
    let broken = [
        "",
        "()",
        "Bash(",
        "Bash(ls",
        "Bash)",
        "Bash()",
        "Bash(:*)",
        "Bash(**)",
        "Bash(* ls)",
        "Bash(a; b)",
        "Bash($x)",
        "Bash('a)",
        "*",
        "mcp__*",
        "Edit()",
        "Edit(/etc/*)",
        "Edit(../x)",
        "Edit(~/x)",
        "Edit([)",
        "ba sh",
        "Bash(a\u{200b})",
    ];
    for text in broken {
        let error = Rule::parse(text).unwrap_err().to_string();
        assert!(error.contains("; try "), "{text:?}: {error}");
    }
    let long = Rule::parse(&"(".repeat(10_000)).unwrap_err().to_string();
    assert!(long.len() < 400, "{long}");
}

#[test]
fn a_broken_ban_does_not_vanish() {
    let text = |text: &str| vec![text.to_owned()];
    let (set, bad) = RuleSet::parse(&text("Bash(ls"), &[], &text("Bash(rm"));
    assert_eq!((set.allow.len(), set.deny.len(), bad.len()), (0, 0, 2));
    assert!(set.ask[0].catches_command(&words("ls")));
    assert!(!set.ask[0].admits_command(&words("ls")));
}

#[test]
fn prefix_rules_check_their_examples() {
    let file = r#"
        [[rule]]
        prefix = ["git", "status"]
        decision = "allow"
        match = ["git status -s", "git status"]
        not_match = ["git push", "gitx status"]
        reason = "only looks"

        [[rule]]
        prefix = ["rm"]
        decision = "deny"
        match = ["/bin/rm -rf x"]

        [[rule]]
        prefix = ["gh", "pr"]
        decision = "ask"
        secrets = ["github"]
    "#;
    let set = RuleSet::from_toml(file).unwrap();
    assert_eq!((set.allow.len(), set.ask.len(), set.deny.len()), (1, 1, 1));
    assert_eq!(set.ask[0].secrets(), ["github"]);
    assert!(set.allow[0].secrets().is_empty());
    assert_eq!(set.allow[0].reason(), Some("only looks"));
    assert_eq!(set.allow[0].text(), "Bash(git status:*)");
}

#[test]
fn a_mistake_in_a_file_has_its_place() {
    let head = "[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\n";
    let cases = [
        (format!("{head}match = [\"ls\"]"), 4, 10, "does not match"),
        (
            format!("{head}not_match = [\"git x\"]"),
            4,
            14,
            "matches this",
        ),
        (
            format!("{head}match = [\"git | x\"]"),
            4,
            10,
            "one plain command",
        ),
        (format!("{head}colour = 1"), 4, 1, "colour"),
        (
            "[[rule]]\nprefix = []\ndecision = \"ask\"".to_owned(),
            2,
            10,
            "at least",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\ndecision = \"maybe\"".to_owned(),
            3,
            12,
            "maybe",
        ),
        ("[[rule".to_owned(), 1, 7, ""),
        (format!("{head}secrets = [\" \"]"), 4, 11, "has a name"),
        (
            "[[rule]]\nprefix = [\"a\"]\ndecision = \"deny\"\nsecrets = [\"x\"]".to_owned(),
            4,
            11,
            "gives no secrets",
        ),
    ];
    for (text, at_line, at_column, part) in cases {
        let error = RuleSet::from_toml(&text).unwrap_err();
        let BadRule::File { line, column, why } = &error else {
            panic!("{error}");
        };
        assert_eq!((*line, *column), (at_line, at_column), "{error}");
        assert!(why.contains(part), "{error}");
    }
}
