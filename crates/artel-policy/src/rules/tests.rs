use artel_types::literal_pattern;
use proptest::prelude::*;

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn admits(rule: &str, command: &str) -> bool {
    PolicyRule::parse(rule)
        .unwrap()
        .admits_command(&words(command))
}

fn catches(rule: &str, command: &str) -> bool {
    PolicyRule::parse(rule)
        .unwrap()
        .catches_command(&words(command))
}

#[test]
fn a_grant_is_read_narrowly() {
    let cases = [
        ("Bash", "rm -rf x", true),
        ("Bash(*)", "rm -rf x", true),
        ("Bash( * )", "rm", true),
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
        ("Bash(perl:*)", "perl5.36-x86_64-linux-gnu x", true),
        ("Bash(python3:*)", "/usr/bin/python3.13 x.py", true),
        ("Bash(python2:*)", "python3 x.py", false),
        ("Bash(vim:*)", "vim.basic x", true),
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
    let edit = PolicyRule::parse("Edit(src/**)").unwrap();
    assert!(edit.admits_path("edit", "src/a/b.rs"));
    assert!(edit.admits_path("edit", "./src/a.rs"));
    assert!(!edit.admits_path("edit", "tests/a.rs"));
    assert!(!edit.admits_path("write", "src/a.rs"));
    assert!(!edit.admits_tool("edit"));
    let star = PolicyRule::parse("Edit(src/*.rs)").unwrap();
    assert!(!star.admits_path("edit", "src/a/b.rs"));
    let server = PolicyRule::parse("mcp__git__*").unwrap();
    assert!(server.admits_tool("mcp__git__log"));
    assert!(!server.admits_tool("mcp__github__log"));
    assert!(PolicyRule::parse("Read").unwrap().admits_tool("read"));
    assert!(
        PolicyRule::parse("Fetch(docs.rs)")
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
        let error = PolicyRule::parse(text).unwrap_err().to_string();
        assert!(error.contains("; try "), "{text:?}: {error}");
    }
    let long = PolicyRule::parse(&"(".repeat(10_000))
        .unwrap_err()
        .to_string();
    assert!(long.len() < 400, "{long}");
}

#[test]
fn a_broken_ban_does_not_vanish() {
    let text = |text: &str| vec![text.to_owned()];
    let (set, bad) = PolicyRuleSet::parse(&text("Bash(ls"), &[], &text("Bash(rm"));
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
    let set = PolicyRuleSet::from_toml(file).unwrap();
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
        let error = PolicyRuleSet::from_toml(&text).unwrap_err();
        let PolicyRuleError::File { line, column, why } = &error else {
            panic!("{error}");
        };
        assert_eq!((*line, *column), (at_line, at_column), "{error}");
        assert!(why.contains(part), "{error}");
    }
}

#[test]
fn names_of_tools_are_compared_letter_by_letter() {
    for text in [
        "bash",
        "BASH",
        "bAsh(ls)",
        "read",
        "READ(src/**)",
        "edit(a)",
        "fetch(docs.rs)",
        "git",
        "JOB",
        "secret(x)",
        "trust(x)",
    ] {
        let bad = PolicyRule::parse(text).unwrap_err();
        assert!(bad.is_outdated(), "{text}");
        assert!(bad.to_string().contains("names no tool"), "{text}: {bad}");
    }
    for text in [
        "Bash",
        "Read(src/**)",
        "Job",
        "job",
        "run_tests",
        "WebFetch(x)",
        "greet",
    ] {
        assert!(PolicyRule::parse(text).is_ok(), "{text}");
    }
    let greet = PolicyRule::parse("greet").unwrap();
    assert!(greet.admits_tool("greet") && !greet.admits_tool("Greet"));
    let bash = PolicyRule::of_tool("bash");
    assert_eq!((bash.text(), bash.is_blanket()), ("Bash", true));
}

#[test]
fn what_names_nothing_is_outdated_and_other_faults_are_not() {
    for text in [
        "Bash()",
        "Bash(:*)",
        "Bash( :* )",
        "Bash('')",
        "Bash('':*)",
        "Read()",
        "Edit(:*)",
    ] {
        assert!(PolicyRule::parse(text).unwrap_err().is_outdated(), "{text}");
    }
    for text in ["Bash(", "Bash(a; b)", "Edit(/x)", "*", "Bash(* ls)"] {
        assert!(
            !PolicyRule::parse(text).unwrap_err().is_outdated(),
            "{text}"
        );
    }
}

#[test]
fn a_file_of_rules_holds_bans_of_any_form() {
    let file = "deny = [\"Bash(git commit:*)\", \"Read(private/**)\"]\nask = [\"Bash(make:*)\"]\n\
                [[rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\n";
    let set = PolicyRuleSet::from_toml(file).unwrap();
    assert_eq!((set.allow.len(), set.ask.len(), set.deny.len()), (1, 1, 2));
    assert!(PolicyRuleSet::unread_in_toml(file, &[]).is_empty());
    let broken = "deny = [\"bash(rm:*)\"]\nask = [\"Bash(\"]\n";
    let set = PolicyRuleSet::from_toml(broken).unwrap();
    assert_eq!((set.ask.len(), set.deny.len()), (2, 0));
    assert!(set.ask.iter().all(PolicyRule::catches_everything));
    assert_eq!(PolicyRuleSet::unread_in_toml(broken, &[]).len(), 2);
}

#[test]
fn a_number_in_a_pattern_stands_for_its_character() {
    let rule = PolicyRule::parse(r"Edit(a\u{1b}[cd]\u{2a}*)").unwrap();
    assert!(rule.admits_path("edit", "a\u{1b}c*x"));
    assert!(
        !rule.admits_path("edit", "a\u{1b}cx"),
        "a star that is spelt out is a star"
    );
    let rule = PolicyRule::parse(r"Edit(\\u{a,b})").unwrap();
    assert!(rule.admits_path("edit", r"\ua") && rule.admits_path("edit", r"\ub"));
}

/// File names made of characters that are special in patterns and rules, so that near
/// misses are common.
fn odd_path() -> impl Strategy<Value = String> {
    let part = r"[ab*?\[\]{}()!^,\\.~:u1 \n\x1b\u{202e}-]{1,4}";
    let parts = proptest::collection::vec(part, 1..3);
    let path = parts.prop_map(|parts| parts.join("/"));
    path.prop_filter("a path as git names it", |path| {
        !path.split('/').any(|part| part == "." || part == "..")
    })
}

proptest! {
    #[test]
    fn the_pattern_of_a_path_matches_it_and_no_other(path in odd_path(), other in odd_path()) {
        let rule = PolicyRule::parse(&format!("Edit({})", literal_pattern(&path))).unwrap();
        prop_assert!(rule.admits_path("edit", &path));
        prop_assert_eq!(rule.admits_path("edit", &other), path == other);
    }

    #[test]
    fn the_pattern_of_any_path_matches_it(path in "[^\0./~][^\0/]*", other in "[^\0]*") {
        let rule = PolicyRule::parse(&format!("Edit({})", literal_pattern(&path))).unwrap();
        prop_assert!(rule.admits_path("edit", &path));
        prop_assert!(path == other || !rule.admits_path("edit", &other));
    }
}

/// A name close to a built-in one is a slip; any other may be a tool declared elsewhere.
#[test]
fn a_misspelled_tool_is_refused_unless_it_was_declared() {
    let check = |rule: &str, declared: &[&str]| {
        let declared: Vec<String> = declared.iter().map(|it| (*it).to_owned()).collect();
        PolicyRule::parse(rule).unwrap().check_name(&declared)
    };
    for (rule, meant) in [
        ("Raed(private/**)", "`Read`"),
        ("Edti(kept/**)", "`Edit`"),
        ("Fetchh(docs.rs)", "`Fetch`"),
        ("git_lgo", "`git_log`"),
        ("Wrtie", "`Write`"),
        ("Secrte(github)", "`Secret`"),
        ("raed", "`Read`"),
        ("MultiEdit(src/**)", "`multi_edit`"),
    ] {
        let bad = check(rule, &[]).unwrap_err();
        assert!(bad.is_outdated(), "{rule}");
        assert!(
            bad.to_string().contains(&format!("did you mean {meant}?")),
            "{bad}"
        );
    }
    for rule in [
        "Read",
        "git_log",
        "deploy",
        "mcp__x__read",
        "WebFetch(domain:x.org)",
        "Task",
    ] {
        assert_eq!(check(rule, &[]), Ok(()), "{rule}");
    }
    assert!(check("greet", &[]).is_err());
    assert_eq!(check("greet", &["greet"]), Ok(()));
    let rules = |text: &str| vec![text.to_owned()];
    let (mut set, _) = PolicyRuleSet::parse(&rules("Raed"), &[], &rules("Edti(kept/**)"));
    assert_eq!(set.refuse_misspelled(&[]).len(), 2);
    assert!(set.allow.is_empty() && set.deny.is_empty());
    assert!(set.ask[0].is_unreadable());
}
