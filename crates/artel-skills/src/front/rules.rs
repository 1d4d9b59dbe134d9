//! `allowed-tools`: a list of rules, or all rules in one text.

use artel_policy::rules::PolicyRule;

use crate::complaint::shown;

/// Splits a text of rules at spaces and commas outside parentheses.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_border = letter == ',' || letter.is_whitespace();
        if is_border && depth == 0 {
            rules.push(String::new());
        } else if let Some(rule) = rules.last_mut() {
            rule.push(letter);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

/// Returns what is wrong with a rule, or `None` if it is valid.
pub(super) fn fault(rule: &str) -> Option<String> {
    if !is_rule(rule) {
        let rule = shown(rule);
        return Some(format!(
            "`{rule}` is not a rule of the form `Tool` or `Tool(…)`"
        ));
    }
    // Other rules that policy cannot use may be meant for another agent; they grant nothing
    // here.
    let bad = PolicyRule::parse(rule).err()?;
    bad.is_outdated().then(|| bad.to_string())
}

/// Returns whether a rule has the form `Tool` or `Tool(…)`.
fn is_rule(rule: &str) -> bool {
    let (name, rest) = match rule.find('(') {
        Some(at) => rule.split_at(at),
        None => (rule, "()"),
    };
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-.:*/".contains(letter);
    let inner = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let is_name = !name.is_empty() && name.chars().all(is_plain);
    is_name && inner.is_some_and(is_balanced)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i64;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_split_outside_of_parentheses() {
        let expected = ["Read", "Bash(git log:*)", "Bash(echo a, b)", "mcp__x__*"];
        for text in [
            "Read, Bash(git log:*), Bash(echo a, b), mcp__x__*",
            "Read Bash(git log:*)\nBash(echo a, b)  mcp__x__*",
        ] {
            assert_eq!(split(text), expected);
        }
        assert!(expected.into_iter().all(is_rule));
        assert!(split(" , ").is_empty());
        for rule in [
            "", "Bash(", "Bash)", "Bash(a))", "Bash(a)b", "(a)", "a b", "Bash)(a",
        ] {
            assert!(!is_rule(rule), "{rule}");
        }
    }
}
