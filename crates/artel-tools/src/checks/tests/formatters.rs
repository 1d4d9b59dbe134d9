use super::place;
use crate::checks::formatter::choose;

/// Lists the formatters for a file, the chosen one first, missing ones in brackets.
fn line(tree: &'static str, programs: &str, file: &str) -> String {
    let place = place(tree, programs);
    let choices = choose(&place.top(), file);
    let ready = choices
        .ready
        .iter()
        .map(|choice| choice.formatter.id().to_owned());
    let missing = choices
        .missing
        .iter()
        .map(|formatter| format!("({})", formatter.id()));
    ready.chain(missing).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_file_has_its_formatter() {
    let table: &[(&'static str, &str, &str, &str)] = &[
        ("a.go=", "gofmt goimports", "a.go", "goimports gofmt"),
        ("a.go=", "gofmt", "a.go", "gofmt"),
        ("a.go=", "", "a.go", ""),
        (
            "biome.json={} .prettierrc= a.ts=",
            "npx",
            "a.ts",
            "biome prettier",
        ),
        (
            "biome.json={} .prettierrc= a.md=",
            "npx",
            "a.md",
            "prettier",
        ),
        (".prettierrc= src/a.js=", "prettier", "src/a.js", "prettier"),
        (".prettierrc= src/a.js=", "", "src/a.js", "(prettier)"),
        (
            r#"package.json={"devDependencies":{"prettier":"3"}} a.css="#,
            "npx",
            "a.css",
            "prettier",
        ),
        ("package.json={} a.js=", "npx prettier", "a.js", ""),
        (
            "ruff.toml= a.py=",
            "ruff black",
            "a.py",
            "ruff-format black",
        ),
        (
            "pyproject.toml=[tool.ruff] a.py=",
            "ruff black",
            "a.py",
            "ruff-format black",
        ),
        (
            "pyproject.toml=[project] a.py=",
            "ruff black",
            "a.py",
            "black",
        ),
        ("ruff.toml= a.py=", "black", "a.py", "black (ruff-format)"),
        (
            "Cargo.toml=[package] src/a.rs=",
            "rustfmt",
            "src/a.rs",
            "rustfmt",
        ),
        ("a.rs=", "rustfmt", "a.rs", ""),
        ("a.cpp=", "clang-format", "a.cpp", ""),
        (
            ".clang-format= a.cpp=",
            "clang-format",
            "a.cpp",
            "clang-format",
        ),
        (".clang-format= a.cpp=", "", "a.cpp", "(clang-format)"),
        ("a.sh=", "shfmt", "a.sh", "shfmt"),
        (".rubocop.yml= a.rb=", "rubocop", "a.rb", "rubocop"),
        ("a.rb=", "rubocop", "a.rb", ""),
        ("a.tf=", "terraform", "a.tf", "terraform-fmt"),
        ("Makefile=", "shfmt", "Makefile", ""),
        ("a.xyz=", "prettier npx", "a.xyz", ""),
    ];
    for (tree, programs, file, expected) in table {
        let first = line(tree, programs, file);
        assert_eq!(first, *expected, "{tree} with {programs}");
        assert_eq!(first, line(tree, programs, file));
    }
}

#[test]
fn the_words_are_those_of_the_project() {
    let words = |tree: &'static str, programs: &str, file: &str| {
        let place = place(tree, programs);
        let choice = choose(&place.top(), file).ready.remove(0);
        format!("{}: {}", choice.folder, choice.words.join(" "))
    };
    let rust = r#"Cargo.toml=[workspace.package]\nedition="2024" a/Cargo.toml=[package]\nedition.workspace=true a/src/x.rs="#;
    let table: &[(&'static str, &str, &str, &str)] = &[
        (
            "web/.prettierrc= web/src/a.js=",
            "npx",
            "web/src/a.js",
            "web: npx prettier --write src/a.js",
        ),
        (
            "web/.prettierrc= web/a.js=",
            "prettier npx",
            "web/a.js",
            "web: prettier --write a.js",
        ),
        (
            "biome.jsonc= -a.js=",
            "npx",
            "-a.js",
            ": npx biome format --write ./-a.js",
        ),
        (
            rust,
            "rustfmt",
            "a/src/x.rs",
            "a: rustfmt --edition 2024 src/x.rs",
        ),
        (
            "ruff.toml= .venv/bin/ruff= a.py=",
            "ruff",
            "a.py",
            ": .venv/bin/ruff format a.py",
        ),
        ("cmd/a.go=", "gofmt", "cmd/a.go", ": gofmt -w cmd/a.go"),
    ];
    for (tree, programs, file, expected) in table {
        assert_eq!(words(tree, programs, file), *expected, "{tree}");
    }
}
