//! Rules that deny files, interpreted as broadly as possible.
//!
//! A ban that matches too much can be written better; one that matches too little is a
//! hole. So a name without a slash applies at every depth, a folder includes its content,
//! and a leading slash is the root. A rule that cannot be read refuses the whole line.

use std::path::Path;

use artel_files::{FileAccessKind, FileAccessRefusal};
use artel_policy::rules::PolicyRule;

/// The rules of one line that deny files.
pub(super) struct FileDenyRuleSet(Vec<FileDenyRule>);

struct FileDenyRule {
    text: String,
    /// All forms that the rule may mean.
    forms: Vec<PolicyRule>,
}

impl FileDenyRuleSet {
    /// Reads the rules. An unreadable rule is an error, because nobody knows what it forbids.
    pub(super) fn read(texts: &[String], root: &Path) -> Result<Self, String> {
        let read = |text: &String| -> Result<FileDenyRule, String> {
            if let Ok(rule) = PolicyRule::parse(text) {
                let unread = |cause| format!("the deny rule `{text}` cannot be read: {cause}");
                rule.check_name(&[]).map_err(unread)?;
            }
            let forms = forms(text, root)
                .iter()
                .map(|form| PolicyRule::parse(form))
                .collect();
            let forms: Result<Vec<PolicyRule>, _> = forms;
            let forms =
                forms.map_err(|cause| format!("the deny rule `{text}` cannot be read: {cause}"))?;
            Ok(FileDenyRule {
                text: text.clone(),
                forms,
            })
        };
        texts.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Judges a path, which the caller may also have written as `@Name/path`.
    pub(super) fn judge(
        &self,
        named: Option<String>,
        path: &str,
        op: FileAccessKind,
    ) -> Result<(), FileAccessRefusal> {
        let tools: &[&str] = match op {
            FileAccessKind::Read => &["read", "list", "glob", "grep"],
            FileAccessKind::Write => &["write", "edit", "multi_edit"],
            FileAccessKind::Delete => &["write", "edit", "multi_edit", "delete"],
        };
        let plain = path.trim_end_matches('/').to_owned();
        let paths = [Some(plain), named, Some(path.to_owned())];
        let hits = |rule: &PolicyRule| {
            let paths = paths.iter().flatten();
            paths
                .into_iter()
                .any(|path| tools.iter().any(|tool| rule.admits_path(tool, path)))
        };
        match self.0.iter().find(|denial| denial.forms.iter().any(hits)) {
            None => Ok(()),
            Some(denial) => Err(FileAccessRefusal {
                rule: denial.text.clone(),
                reason: "a rule denies it".to_owned(),
            }),
        }
    }
}

/// Returns the texts of all rules that one rule stands for.
fn forms(text: &str, root: &Path) -> Vec<String> {
    let Some((tool, pattern)) = text
        .trim()
        .strip_suffix(')')
        .and_then(|it| it.split_once('('))
    else {
        return vec![text.to_owned()];
    };
    let is_about_files = [
        "read",
        "list",
        "glob",
        "grep",
        "write",
        "edit",
        "multi_edit",
        "delete",
    ]
    .iter()
    .any(|name| tool.trim().eq_ignore_ascii_case(name));
    // A home folder is never beneath the root, and other tools are not checked here.
    if !is_about_files || pattern.trim().starts_with('~') {
        return Vec::new();
    }
    patterns(pattern.trim(), root)
        .iter()
        .map(|pattern| format!("{}({pattern})", tool.trim()))
        .collect()
}

fn patterns(pattern: &str, root: &Path) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./");
    let at_root = pattern
        .strip_prefix('/')
        .map(|rest| format!("/{}", rest.trim_start_matches('/')));
    let pattern = match &at_root {
        Some(absolute) => {
            let beneath = Path::new(absolute).strip_prefix(root).ok();
            beneath.and_then(Path::to_str).unwrap_or(&absolute[1..])
        }
        None => pattern,
    };
    let name = pattern.trim_end_matches('/');
    if matches!(name, "" | "*" | "**") {
        return vec!["**".to_owned()];
    }
    let mut patterns = vec![name.to_owned(), format!("{name}/**")];
    if at_root.is_none() && !name.contains('/') {
        patterns.extend([format!("**/{name}"), format!("**/{name}/**")]);
    }
    patterns
}
