//! A role's file, as far as it bounds what the role may use: `Agents/<id>.md`.

use artel_policy::rules::Rule;
use artel_types::{Code, Failure};
use serde::Deserialize;

use super::policy::rule;
use crate::caller::Caller;
use crate::trouble::Problems;

/// More than a role's file needs.
const LARGEST: u64 = 256 * 1024;

/// Roles that are built in: a file of theirs is not needed.
pub(crate) const BUILT_IN: &[&str] = &[
    "academic",
    "architect",
    "archivalist",
    "default",
    "designer",
    "engineer",
    "guide",
    "inspector",
    "librarian",
    "orchestrator",
    "tester",
];

/// What a role's file says about tools.
#[derive(Debug, Default)]
pub(crate) struct Role {
    /// What it may use; everything that fits it if not said.
    pub(crate) tools: Option<Vec<Rule>>,
    /// What it may not.
    pub(crate) deny: Vec<Rule>,
    /// What its runs go past, as it is written, and the file that says so.
    pub(crate) hooks: Option<(std::path::PathBuf, serde_json::Value)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Front {
    tools: Option<Names>,
    #[serde(alias = "disallowedTools", alias = "disallowed-tools")]
    disallowed_tools: Option<Names>,
    hooks: Option<serde_json::Value>,
}

/// A list, or the same as text with commas.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    List(Vec<String>),
    Text(String),
}

impl Caller {
    /// Returns how a role works, in the words of its file; nothing where it has none.
    pub(crate) fn persona(&self, name: &str) -> Option<String> {
        let root = self.workshop_root().ok()??;
        let file = root.join(format!("Agents/{name}.md"));
        let bytes = artel_files::read_bounded(&file, LARGEST).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = match text.strip_prefix("---\n") {
            Some(rest) => rest.split_once("\n---").map_or("", |(_, body)| body),
            None => &text,
        };
        let body = body.trim().to_owned();
        (!body.is_empty()).then_some(body)
    }

    /// Reads a role of the workshop in use. A role that is built in may have no file.
    pub(crate) fn role(&self, name: &str) -> Result<Option<Role>, Problems> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let unknown = || {
            Failure::new(Code::W010, format!("there is no role `{name}`"))
                .because("it is not built in, and the workshop's `Agents` folder has no such file")
                .advise(format!("built in: {}", BUILT_IN.join(", ")))
        };
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(unknown().into());
        }
        let Some(root) = self.workshop_root()? else {
            return if BUILT_IN.contains(&name) {
                Ok(None)
            } else {
                Err(unknown().into())
            };
        };
        let file = root.join(format!("Agents/{name}.md"));
        if !file.exists() {
            return if BUILT_IN.contains(&name) {
                Ok(None)
            } else {
                Err(unknown().into())
            };
        }
        let bytes = artel_files::read_bounded(&file, LARGEST)
            .map_err(|error| Failure::new(Code::W008, error.to_string()))?;
        Ok(Some(parse(&file, &String::from_utf8_lossy(&bytes))?))
    }
}

fn parse(file: &std::path::Path, text: &str) -> Result<Role, Failure> {
    let front = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"))
        .map_or("", |(front, _)| front);
    let front: Front = if front.trim().is_empty() {
        Front::default()
    } else {
        serde_saphyr::from_str(front).map_err(|error| {
            Failure::new(
                Code::P004,
                format!("`{}` has a broken frontmatter", file.display()),
            )
            .because(error.to_string())
            .advise("`tools: [Read, Grep, \"Bash(cargo test:*)\"]` is what it may say")
        })?
    };
    Ok(Role {
        tools: front.tools.map(rules).transpose()?,
        deny: front.disallowed_tools.map_or(Ok(Vec::new()), rules)?,
        hooks: front.hooks.map(|hooks| (file.to_owned(), hooks)),
    })
}

fn rules(names: Names) -> Result<Vec<Rule>, Failure> {
    let texts = match names {
        Names::List(texts) => texts,
        Names::Text(text) => split(&text),
    };
    let texts = texts
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty());
    texts.map(rule).collect()
}

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_a_list_or_text_with_commas() {
        let file = std::path::Path::new("Agents/x.md");
        let texts = |role: Role| -> Vec<String> {
            let tools = role.tools.unwrap_or_default();
            tools.iter().map(|rule| rule.text().to_owned()).collect()
        };
        let list = parse(
            file,
            "---\nname: x\ntools:\n  - Read\n  - Bash(git log:*)\n---\nText",
        )
        .unwrap();
        assert_eq!(texts(list), ["Read", "Bash(git log:*)"]);
        let text = parse(file, "---\ntools: Read, Bash(echo a, b), Grep\n---\n").unwrap();
        assert_eq!(texts(text), ["Read", "Bash(echo a, b)", "Grep"]);
        let none = parse(file, "No frontmatter").unwrap();
        assert!(none.tools.is_none() && none.deny.is_empty());
        let front =
            "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: make";
        let (_, hooks) = parse(file, &format!("---\n{front}\n---\n"))
            .unwrap()
            .hooks
            .unwrap();
        assert_eq!(hooks["Stop"][0]["hooks"][0]["command"], "make");
        let denied = parse(file, "---\ndisallowedTools: Bash\n---\n").unwrap();
        assert_eq!(denied.deny.len(), 1);
        assert!(parse(file, "---\ntools: [\"Bash(\"]\n---\n").is_err());
        assert!(parse(file, "---\ntools: {a: [}\n---\n").is_err());
    }
}
