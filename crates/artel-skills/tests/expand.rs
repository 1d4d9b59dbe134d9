//! Preparation: one pass over the author's text, and nothing that comes in is looked at again.

use std::collections::BTreeMap;

use artel_skills::prepare::{
    ExpandedSkillText, SkillArguments, SkillVariables, commands, expand, expand_supporting,
};
use proptest::prelude::*;

fn variables(arguments: &str) -> SkillVariables {
    SkillVariables {
        arguments: SkillArguments::from_text(arguments),
        skill_dir: "/skills/pdf".into(),
        workspace: "/work".into(),
        session: "s-1".into(),
        user: "anna".into(),
        date: "2026-11-15".into(),
        custom: [
            ("TICKET".into(), "T-1".into()),
            ("lower".into(), "x".into()),
        ]
        .into(),
    }
}

fn plain(text: &str, arguments: &str) -> ExpandedSkillText {
    expand(text, &variables(arguments), &BTreeMap::new())
}

#[test]
fn every_variable_has_its_value() {
    let table = [
        ("$ARGUMENTS", "a 'b c'"),
        ("${ARGUMENTS}", "a 'b c'"),
        ("$1|$2", "a|b c"),
        ("${1}", "a"),
        ("${CLAUDE_SESSION_ID}|${SESSION_ID}|$1", "s-1|s-1|a"),
        ("${SKILL_DIR}/x $1", "/skills/pdf/x a"),
        ("${CLAUDE_SKILL_DIR}|$1", "/skills/pdf|a"),
        ("${WORKSPACE} ${USER} ${DATE} $1", "/work anna 2026-11-15 a"),
        ("$TICKET ${TICKET} ${lower} $lower $1", "T-1 T-1 x x a"),
        (
            "$1 costs $1.50, $5 or $3,000; $10",
            "a costs $1.50, $5 or $3,000; $10",
        ),
        (
            "$1: awk '{print $0}' $$ $ ${ ${} ${a",
            "a: awk '{print $0}' $$ $ ${ ${} ${a",
        ),
        ("\\$ARGUMENTS $1", "\\$ARGUMENTS a"),
        ("$ARGUMENTSX $1", "$ARGUMENTSX a"),
    ];
    for (text, expected) in table {
        let expanded = plain(text, "a 'b c'");
        assert_eq!(expanded.text, expected, "{text}");
        assert!(!expanded.appended, "{text}");
    }
}

#[test]
fn arguments_that_are_not_used_are_appended_once() {
    let expanded = plain("Do it.", "sales.csv");
    assert_eq!(expanded.text, "Do it.\n\nARGUMENTS: sales.csv");
    assert!(expanded.appended);
    assert!(!plain("Do it.", "").appended);
    assert!(!plain("Do it.", "  ").appended);
    assert!(!plain("Do $ARGUMENTS.", "x").appended);
    // A fifth argument that was not given does not use the first.
    assert!(plain("It costs $5.", "x").appended);
    // What the value holds does not count as use.
    let expanded = plain("Hello ${USER}", "$ARGUMENTS");
    assert_eq!(expanded.text, "Hello anna\n\nARGUMENTS: $ARGUMENTS");
}

#[test]
fn unknown_names_are_reported_outside_of_code() {
    let text = "$NOPE ${NOPE} $NOPE $lower_case $USER $7\n```bash\necho $HOME ${PATH} $1\n```\n\
                ~~~\n$X\n```\n$Y\n~~~\n$Z `$INLINE`";
    let expanded = plain(text, "a");
    let expected = ["$NOPE", "${NOPE}", "$USER", "$7", "$Z", "$INLINE"];
    assert_eq!(expanded.undefined, expected);
    assert!(expanded.text.contains("echo $HOME ${PATH} a\n"));
    assert_eq!(expanded.made, 1);
}

#[test]
fn commands_are_found_once_each_and_replaced_everywhere() {
    let text = "A !`git status` and !` git status `, (!`git log`)\nwow!`no` \\!`no` !`` !` `";
    assert_eq!(commands(text), ["git status", "git log"]);
    let injected = [("git status".to_owned(), "clean".to_owned())].into();
    let expanded = expand(text, &variables(""), &injected);
    assert_eq!(
        expanded.text,
        "A clean and clean, ([Command not allowed: git log])\nwow!`no` \\!`no` !`` !` `"
    );
    assert_eq!(commands("!`a\nb` x"), ["a\nb"]);
    assert_eq!(commands("!`open"), [""; 0]);
}

#[test]
fn what_comes_in_is_never_looked_at_again() {
    let evil = "$ARGUMENTS ${USER} !`id` $1";
    let injected = [("git log".to_owned(), evil.to_owned())].into();
    let expanded = expand(
        "!`git log` / $ARGUMENTS",
        &variables("${USER} !`id`"),
        &injected,
    );
    assert_eq!(expanded.text, format!("{evil} / ${{USER}} !`id`"));
    // Two pieces that only together would be a variable.
    let injected = [("a".to_owned(), "$ARGU".to_owned())].into();
    assert_eq!(
        expand("!`a`MENTS", &variables("x"), &injected).text,
        "$ARGUMENTS\n\nARGUMENTS: x"
    );
    // A variable in a command stays what it is: no argument reaches a command.
    assert_eq!(
        commands("!`gh pr view $ARGUMENTS`"),
        ["gh pr view $ARGUMENTS"]
    );
}

#[test]
fn supporting_files_have_variables_only() {
    let expanded = expand_supporting("${DATE} !`date` ${NOPE}", &variables("x"));
    assert_eq!(expanded.text, "2026-11-15 !`date` ${NOPE}");
    assert!(!expanded.appended);
    assert_eq!(expanded.undefined, ["${NOPE}"]);
}

#[test]
fn words_make_a_text_that_splits_again() {
    let words = |list: &[&str]| {
        list.iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let one = SkillArguments::from_words(words(&["please do this"]));
    assert_eq!(one.text(), "please do this");
    assert_eq!(one.words(), ["please do this"]);
    let many = SkillArguments::from_words(words(&["a b", "", "it's"]));
    assert_eq!(SkillArguments::from_text(many.text()).words(), many.words());
    assert_eq!(SkillArguments::from_text("it's").words(), ["it's"]);
}

#[test]
fn long_lines_with_many_names_take_no_longer_than_they_are_long() {
    // A second look at what was seen would take minutes here.
    for piece in [
        "$A", "${A}", "!`", "!`a", "$", "${", "!", "$1", "`", "```\n", "\\$A",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let expanded = plain(&text, "x");
        assert!(expanded.text.len() >= text.len() / 4, "{piece}");
        commands(&text);
    }
}

proptest! {
    #[test]
    fn text_without_signs_is_left_alone(text in "[^$!]{0,300}") {
        let expanded = plain(&text, "");
        prop_assert_eq!(expanded.text, text);
    }

    #[test]
    fn any_text_expands(text in "[$!`{}A-C1-9 \\n~é]{0,200}", arguments in "\\PC{0,40}") {
        plain(&text, &arguments);
        expand_supporting(&text, &variables(&arguments));
    }

    #[test]
    fn values_arrive_whole(value in "[$!`{}A-Z1-9a-z \\n]{1,60}", output in "\\PC{0,60}") {
        let injected = [("cmd".to_owned(), output.clone())].into();
        let mut variables = variables("");
        variables.custom.insert("VALUE".into(), value.clone());
        let expanded = expand("<!`cmd`|${VALUE}|$VALUE>", &variables, &injected);
        prop_assert_eq!(expanded.text, format!("<{output}|{value}|{value}>"));
        prop_assert_eq!(expanded.made, 2);
    }

    #[test]
    fn every_command_found_is_a_piece_of_the_text(text in "[!`a-c \\n]{0,100}") {
        for command in commands(&text) {
            prop_assert!(!command.trim().is_empty() && text.contains(command));
            let injected: BTreeMap<String, String> = commands(&text)
                .into_iter()
                .map(|command| (command.to_owned(), "X".to_owned()))
                .collect();
            let expanded = expand(&text, &variables(""), &injected);
            prop_assert!(!expanded.text.contains("not allowed"));
        }
    }
}
