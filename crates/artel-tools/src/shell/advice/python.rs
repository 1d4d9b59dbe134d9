//! Interprets Python's messages about missing modules and names, and suggests what was
//! meant.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::content;
use crate::{ToolContext, nearest};

/// Modules that people run by name.
const RUN_MODULES: [&str; 8] = [
    "json.tool",
    "http.server",
    "unittest",
    "venv",
    "pip",
    "pytest",
    "timeit",
    "zipfile",
];

/// Returns modules that can replace a missing one.
pub(super) fn missing_modules(command: &str, text: &str, here: &Path) -> Option<String> {
    let (_, rest) = text.split_once("No module named ")?;
    let module = rest
        .split_whitespace()
        .next()?
        .trim_matches(['\'', '"', ';', ')']);
    // If `a` of `a.b` is missing, Python names only `a`.
    let is_whole = |word: &&str| word.split('.').next() == Some(module);
    let module = command.split_whitespace().find(is_whole).unwrap_or(module);
    let others = standard_for(module);
    if !others.is_empty() {
        return Some(format!("instead of `{module}`: {}", others.join(", ")));
    }
    let files = std::fs::read_dir(here).into_iter().flatten().flatten();
    let own: Vec<String> = files
        .filter_map(|file| {
            let path = PathBuf::from(file.file_name());
            let is_python = path.extension().is_some_and(|ending| ending == "py");
            let stem = path.file_stem()?.to_str()?.to_owned();
            is_python.then_some(stem)
        })
        .collect();
    let run = RUN_MODULES.into_iter().filter(|_| command.contains("-m"));
    let known = own.iter().map(String::as_str).chain(run);
    let alike = nearest(module, known, 1);
    let meant = alike.first()?;
    Some(format!(
        "there is no module `{module}`; did you mean `{meant}`?"
    ))
}

/// Returns what the standard library offers instead of a module that must be installed.
fn standard_for(module: &str) -> &'static [&'static str] {
    match module {
        "pytest" | "nose" => &["the `run_tests` tool", "`unittest`"],
        "requests" | "httpx" => &["the `fetch` tool", "`urllib.request`"],
        "simplejson" | "ujson" | "orjson" => &["`json`"],
        "toml" | "tomli" => &["`tomllib`"],
        "pandas" => &["`csv`"],
        "numpy" => &["`statistics`", "`math`"],
        "dateutil" | "pytz" => &["`datetime`", "`zoneinfo`"],
        _ => &[],
    }
}

/// Returns the edit that corrects an undefined name where Python reports it: the most
/// similar name in that file replaces it.
pub(super) fn wrong_name(text: &str, bench: &ToolContext) -> Option<String> {
    let (_, rest) = text.split_once("NameError: name '")?;
    let wrong = rest.split('\'').next().filter(|name| !name.is_empty())?;
    let place = text.lines().rev().find_map(|line| {
        let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
        let inside = Path::new(path).strip_prefix(bench.tree.path()).ok()?;
        let number = rest.strip_prefix(", line ")?;
        let number = number
            .split(|letter: char| !letter.is_ascii_digit())
            .next()?;
        Some((inside.to_owned(), number.parse::<usize>().ok()?))
    });
    let (path, number) = place?;
    let bytes = content(bench, &bench.tree.path().join(&path))?;
    let code = String::from_utf8(bytes).ok()?;
    let old = code.lines().nth(number.checked_sub(1)?)?;
    let words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let alike = nearest(wrong, words.filter(|word| *word != wrong), 1);
    let new = old.replace(wrong, alike.first()?);
    if new == old || code.matches(old).count() != 1 {
        return None;
    }
    let call = json!({"path": path, "old": old, "new": new});
    Some(format!("`edit {call}` first, then run it again"))
}
