//! Shell text as a model may have written it: a decision for every text, and no ban talked around.
//!
//! The first line is a rule, tried as a grant and as a ban; the rest is the command.
#![no_main]

use artel_policy::PolicyAnswer;
use artel_policy::command::{self, CommandOrigin, judge_line};
use artel_policy::rules::PolicyRuleSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (rule, text) = text.split_once('\n').unwrap_or(("Bash", &text));
    let rules = [rule.to_owned()];
    let reading = command::read(text);

    let (granted, bad) = PolicyRuleSet::parse(&rules, &[], &[]);
    let grant = command::judge(&reading, &granted, CommandOrigin::Person, None);
    assert!(!grant.rule.is_empty() && !grant.reason.is_empty());
    if grant.answer == PolicyAnswer::Allow {
        assert!(bad.is_empty() && reading.is_plain(), "{text:?}");
        assert!(!text.contains(['\0', '\r', '\u{200b}']), "{text:?}");
        let is_quoted = text.contains(['\'', '\\', '#']);
        assert!(is_quoted || !text.contains(['$', '`']), "{text:?}");
    }

    let (banned, _) = PolicyRuleSet::parse(&["Bash".to_owned()], &[], &rules);
    let ban = command::judge(&reading, &banned, CommandOrigin::Person, None);
    if grant.answer == PolicyAnswer::Allow {
        assert!(
            ban.answer > PolicyAnswer::Allow,
            "{rule:?} grants and does not ban {text:?}"
        );
    }
    assert_eq!(judge_line(text).lines().count(), 1);
});
