//! Detects the technologies of a project from the names of its files.

use std::collections::BTreeSet;
use std::path::Path;

/// Technologies with the file names and endings that indicate them, in display order.
const MARKS: &[(&str, &[&str])] = &[
    ("Rust", &["Cargo.toml", ".rs"]),
    ("Go", &["go.mod", ".go"]),
    ("TypeScript", &["tsconfig.json", ".ts", ".tsx"]),
    ("JavaScript", &["package.json", ".js", ".mjs", ".jsx"]),
    (
        "Python",
        &[
            "pyproject.toml",
            "setup.py",
            "requirements.txt",
            "Pipfile",
            ".py",
        ],
    ),
    ("Java", &["pom.xml", ".java"]),
    ("Kotlin", &["build.gradle.kts", ".kt"]),
    ("Gradle", &["build.gradle", "build.gradle.kts"]),
    ("C#", &[".csproj", ".sln", ".cs"]),
    ("Ruby", &["Gemfile", ".rb"]),
    ("PHP", &["composer.json", ".php"]),
    ("Elixir", &["mix.exs", ".ex"]),
    ("Swift", &["Package.swift", ".swift"]),
    ("Dart", &["pubspec.yaml", ".dart"]),
    ("C++", &[".cpp", ".cc", ".hpp"]),
    ("C", &[".c"]),
    ("CMake", &["CMakeLists.txt"]),
    ("Make", &["Makefile"]),
    ("Shell", &[".sh"]),
    (
        "Docker",
        &["Dockerfile", "docker-compose.yml", "compose.yaml"],
    ),
    ("GitHub Actions", &["workflows"]),
    ("Git", &[".git"]),
];

/// Folders with dependencies or build results, which are skipped.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "venv",
    "dist",
    "build",
    "out",
];

/// Maximum number of names that are read; below, the maximum depth.
const MOST: usize = 5_000;
const DEEPEST: usize = 3;

/// Returns the technologies of a folder. Reads only names, and a limited number of them.
pub(super) fn detect(folder: &Path) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut left = MOST;
    look(folder, DEEPEST, &mut left, &mut seen);
    // GitHub Actions are in a hidden folder, which the walk skips.
    if folder.join(".github/workflows").is_dir() {
        seen.insert("workflows".to_owned());
    }
    let is_there = |marks: &&[&str]| marks.iter().any(|mark| seen.contains(*mark));
    let found = MARKS.iter().filter(|(_, marks)| is_there(marks));
    found.map(|(name, _)| (*name).to_owned()).collect()
}

/// Collects the names and endings of all files.
fn look(folder: &Path, depth: usize, left: &mut usize, seen: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // A link is treated as a file: its target is not part of the project.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && name != ".git" {
            let is_other = name.starts_with('.') || SKIPPED.contains(&name.as_str());
            if depth > 1 && !is_other {
                look(&entry.path(), depth - 1, left, seen);
            }
            continue;
        }
        if let Some(at) = name.rfind('.').filter(|at| *at > 0) {
            seen.insert(name[at..].to_owned());
        }
        seen.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_tell_what_a_project_is_made_of() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert_eq!(detect(folder.path()), Vec::<String>::new());
        for name in [
            "Cargo.toml",
            "web/package.json",
            "tools/x.py",
            ".github/workflows/ci.yml",
        ] {
            put(name);
        }
        put("node_modules/left/pad.rb");
        put("a/b/c/deep.go");
        fs::create_dir(folder.path().join(".git")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        let found = detect(folder.path());
        assert_eq!(
            found,
            ["Rust", "JavaScript", "Python", "GitHub Actions", "Git"]
        );
    }
}
