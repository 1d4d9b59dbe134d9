//! The settings files of runners and checkers, and the parts of them that decide what a
//! check does.

use std::collections::BTreeMap;

use serde_json::Value;

/// Names of settings files, in any folder.
const NAMES: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "noxfile.py",
    "setup.cfg",
    "pyproject.toml",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    "mypy.ini",
    ".flake8",
    "ruff.toml",
    ".ruff.toml",
    ".pylintrc",
    "manage.py",
    "package.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "biome.json",
    "Cargo.toml",
    "build.rs",
    "clippy.toml",
    ".clippy.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "Rakefile",
    "rakefile",
    ".rspec",
    "CMakeLists.txt",
    "CTestTestfile.cmake",
    "meson.build",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "pom.xml",
    "build.sbt",
    "mix.exs",
    "phpunit.xml",
    "phpunit.xml.dist",
    "composer.json",
    "Package.swift",
    "Directory.Build.props",
    "Directory.Build.targets",
    ".runsettings",
    ".golangci.yml",
    ".golangci.yaml",
    "go.work",
];

/// Beginnings of names that have many endings.
const BEGINNINGS: &[&str] = &[
    "jest.config.",
    "jest.setup.",
    "vitest.config.",
    "vitest.setup.",
    "vitest.workspace.",
    "vite.config.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    ".mocharc",
    ".eslintrc",
    "eslint.config.",
    "babel.config.",
    ".babelrc",
    "ava.config.",
    "wdio.conf.",
    ".nycrc",
    "tsconfig",
];

/// Returns whether a file configures a runner or a checker.
pub(super) fn is_setting(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_in = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|it| name.starts_with(it))
        || is_in(".cargo/")
        || is_in(".config/nextest")
        || is_in(".mvn/")
        || name.ends_with(".mk")
}

/// Returns whether a change of a setting can change what a check does. Manifests also hold
/// a project's name and dependencies, which decide nothing.
pub(super) fn decide_differently(path: &str, old: Option<&str>, new: Option<&str>) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    match name {
        "package.json" => of_package(before) != of_package(after) && !only_adds(before, after),
        "Cargo.toml" => of_cargo(before) != of_cargo(after),
        "pyproject.toml" => of_pyproject(before) != of_pyproject(after),
        _ => before != after || old.is_some() != new.is_some(),
    }
}

/// The fields of a `package.json` that decide how the project is tested.
const PACKAGE: [&str; 13] = [
    "scripts",
    "jest",
    "mocha",
    "ava",
    "vitest",
    "tap",
    "nyc",
    "c8",
    "babel",
    "eslintConfig",
    "workspaces",
    "type",
    "imports",
];

fn of_package(text: &str) -> BTreeMap<String, Value> {
    let Ok(Value::Object(all)) = serde_json::from_str::<Value>(text) else {
        // Unreadable, so all of it counts.
        return BTreeMap::from([("text".to_owned(), Value::from(text))]);
    };
    let decides = |name: &str| PACKAGE.contains(&name);
    all.into_iter().filter(|(name, _)| decides(name)).collect()
}

/// Returns whether the change only adds scripts that no other script triggers.
fn only_adds(before: &str, after: &str) -> bool {
    let (mut old, mut new) = (of_package(before), of_package(after));
    if old.contains_key("text") || new.contains_key("text") {
        return false;
    }
    let scripts = |all: &mut BTreeMap<String, Value>| match all.remove("scripts") {
        Some(Value::Object(scripts)) => scripts,
        _ => serde_json::Map::new(),
    };
    let (was, is) = (scripts(&mut old), scripts(&mut new));
    let is_hook = |name: &str| {
        let runs = name
            .strip_prefix("pre")
            .or_else(|| name.strip_prefix("post"));
        runs.is_some() || name == "test"
    };
    let mut came = is.iter().filter(|(name, _)| !was.contains_key(*name));
    old == new
        && was.iter().all(|(name, text)| is.get(name) == Some(text))
        && !came.any(|(name, _)| is_hook(name))
}

fn of_cargo(text: &str) -> Vec<String> {
    const WHOLE: [&str; 7] = [
        "lib", "test", "profile", "lints", "patch", "replace", "bench",
    ];
    kept(text, |section, key| {
        let first = section.split('.').next().unwrap_or_default();
        let of_tests = ["build", "autotests", "autolib"];
        WHOLE.contains(&first)
            || section.starts_with("workspace.lints")
            || (section == "package" && of_tests.contains(&key))
            || (section == "workspace" && ["exclude", "default-members"].contains(&key))
    })
}

fn of_pyproject(text: &str) -> Vec<String> {
    const HARMLESS: [&str; 5] = ["poetry", "pdm", "uv", "setuptools", "setuptools_scm"];
    kept(text, |section, _| {
        let mut parts = section.split('.');
        let is_tool = parts.next() == Some("tool");
        is_tool && !parts.next().is_some_and(|tool| HARMLESS.contains(&tool))
    })
}

/// Returns the lines of a TOML text that decide something, each with its section. A
/// continued value belongs to the key before it.
fn kept(text: &str, decides: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let (mut section, mut key) = (String::new(), String::new());
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') && line.ends_with(']') && !line.contains('"') {
            section = line.trim_matches(['[', ']']).trim().replace(' ', "");
            key.clear();
        } else if let Some((name, _)) = line.split_once('=') {
            let name = name.trim();
            let is_key = |letter: char| letter.is_alphanumeric() || "_-.\"'".contains(letter);
            if name.chars().all(is_key) {
                key = name.trim_matches(['"', '\'']).to_owned();
            }
        }
        // `package.autotests = false` outside of every section.
        let (group, own) = match (section.as_str(), key.rsplit_once('.')) {
            ("", Some((group, own))) => (group, own),
            (section, _) => (section, key.as_str()),
        };
        if decides(group, own) {
            lines.push(format!("{section}: {line}"));
        }
    }
    lines
}
