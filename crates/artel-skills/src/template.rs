//! The files that a new skill begins with.

/// Returns the files of a new skill, by their paths in its folder. The name must follow
/// the rule for names; the result is a valid skill as it stands.
pub fn files(name: &str) -> Vec<(&'static str, String)> {
    vec![("SKILL.md", skill(name)), ("tests/basic.yaml", cases(name))]
}

fn skill(name: &str) -> String {
    let title = title(name);
    format!(
        "---
name: {name}
description: Says in one sentence what {title} does. Use when somebody asks for it, and name the words they would use.
allowed-tools: Read Glob Grep
---

# {title}

What the person wants: $ARGUMENTS

## Steps

1. Read what the person named. If it is not there, look for a file with a similar name and say so.
2. Do the work in small steps, and check each before the next.
3. Say what was done, what was not, and why.

## Rules

- Change only what was asked for.
- When a step fails twice in the same way, try another way.

Long explanations belong into `reference.md`, examples into `examples.md`, programs into `scripts/`:
they are loaded only when they are needed.
"
    )
}

fn cases(name: &str) -> String {
    let title = title(name);
    let request = title.to_lowercase();
    format!(
        "# Requests that must choose this skill, and requests that must not.
triggers:
  must:
    - \"please use {name} for this\"
    - \"help me with {request}\"
  must_not:
    - \"what is the weather like tomorrow?\"

# Rehearsed runs: `artel skill test --from RUN` adds a recorded one.
runs: []
"
    )
}

fn title(name: &str) -> String {
    let mut words = name.replace('-', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_skill_is_valid() {
        for name in ["pdf", "csv-report", "1-a"] {
            for (path, text) in files(name) {
                match path {
                    "SKILL.md" => assert_eq!(crate::validate_skill(&text, Some(name)), []),
                    _ => assert!(!crate::cases::parse(&text).unwrap().triggers.must.is_empty()),
                }
            }
        }
    }
}
