//! The table of checkers: compilers, linters and type checkers, with the evidence that a
//! project is configured for each.

use super::finding::{CheckerFinding, CheckerFindingSource, CheckerOutputFormat};
use super::project::{DetectionEvidence, NpxFallback, ProjectProbe};
use super::runner::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CodeChecker {
    Clippy,
    CargoCheck,
    GolangciLint,
    GoVet,
    Tsc,
    Eslint,
    Ruff,
    Mypy,
    Pyright,
}

/// Every checker, in the order in which they run.
pub(crate) const CHECKERS: [CodeChecker; 9] = [
    CodeChecker::Clippy,
    CodeChecker::CargoCheck,
    CodeChecker::GolangciLint,
    CodeChecker::GoVet,
    CodeChecker::Tsc,
    CodeChecker::Eslint,
    CodeChecker::Ruff,
    CodeChecker::Mypy,
    CodeChecker::Pyright,
];

/// Files that make a folder worth a closer look.
pub(crate) const MARKERS: &[&str] = &[
    "Cargo.toml",
    "go.mod",
    "tsconfig.json",
    "package.json",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.json",
    "eslint.config.js",
    "eslint.config.mjs",
    "pyproject.toml",
    "setup.cfg",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    "requirements.txt",
    "requirements-dev.txt",
];

/// Whether a checker takes paths to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckerPathSupport {
    /// The checker takes paths.
    Paths,
    /// The checker looks at the whole project; the findings are filtered afterwards.
    Nothing,
}

const ESLINT: &[&str] = &[
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
];

impl CodeChecker {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Clippy => "clippy",
            Self::CargoCheck => "cargo-check",
            Self::GolangciLint => "golangci-lint",
            Self::GoVet => "go-vet",
            Self::Tsc => "tsc",
            Self::Eslint => "eslint",
            Self::Ruff => "ruff",
            Self::Mypy => "mypy",
            Self::Pyright => "pyright",
        }
    }

    /// Returns the command or advice that installs it, for a person to decide.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Clippy => "rustup component add clippy",
            Self::CargoCheck => "install Rust with rustup: https://rustup.rs",
            Self::GolangciLint => {
                "go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest"
            }
            Self::GoVet => "install Go: https://go.dev/dl",
            Self::Tsc => "npm install -D typescript",
            Self::Eslint => "npm install -D eslint",
            Self::Ruff => "uv pip install ruff || pip install ruff",
            Self::Mypy => "uv pip install mypy || pip install mypy",
            Self::Pyright => "npm install -D pyright",
        }
    }

    /// Returns the evidence that a folder is configured for it, or `None`.
    pub(crate) fn evidence(self, project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
        let file = |names: &[&str]| project.first(names).map(DetectionEvidence::high);
        let table = |tool: &str| {
            let has = project.has_python_table(tool);
            has.then(|| DetectionEvidence::high(format!("pyproject.toml has [tool.{tool}]")))
        };
        let python = |tool: &str| {
            let file = project.needs_python(tool)?;
            Some(DetectionEvidence::medium(format!("{file} declares {tool}")))
        };
        let node = |tool: &str| {
            let declared = project.needs_node(tool);
            declared.then(|| DetectionEvidence::medium(format!("package.json declares {tool}")))
        };
        match self {
            Self::Clippy => project.has("Cargo.toml").then(|| clippy(project)).flatten(),
            Self::CargoCheck => {
                let fits = project.has("Cargo.toml") && clippy(project).is_none();
                fits.then(|| DetectionEvidence::medium("Cargo.toml"))
            }
            Self::GolangciLint => file(&[
                ".golangci.yml",
                ".golangci.yaml",
                ".golangci.toml",
                ".golangci.json",
            ])
            .filter(|_| project.has("go.mod")),
            Self::GoVet => project
                .has("go.mod")
                .then(|| DetectionEvidence::medium("go.mod")),
            Self::Tsc => file(&["tsconfig.json"]),
            Self::Eslint => file(ESLINT).or_else(|| node("eslint")),
            Self::Ruff => file(&["ruff.toml", ".ruff.toml"])
                .or_else(|| table("ruff"))
                .or_else(|| python("ruff")),
            Self::Mypy => file(&["mypy.ini", ".mypy.ini"])
                .or_else(|| table("mypy"))
                .or_else(|| {
                    let has = project.has_line("setup.cfg", "[mypy]");
                    has.then(|| DetectionEvidence::high("setup.cfg has [mypy]"))
                })
                .or_else(|| python("mypy")),
            Self::Pyright => file(&["pyrightconfig.json"])
                .or_else(|| table("pyright"))
                .or_else(|| python("pyright").or_else(|| node("pyright"))),
        }
    }

    /// Returns the command words that start it, or `None` if it is not installed.
    pub(crate) fn launch(self, project: &ProjectProbe<'_>) -> Option<Vec<String>> {
        let on_path = |name: &str| project.programs.has(name).then(|| words(&[name]));
        let node = |name: &str| project.node_program(name, NpxFallback::Installed);
        let (start, rest): (Vec<String>, &[&str]) = match self {
            Self::Clippy => {
                on_path("cargo-clippy")?;
                (
                    on_path("cargo")?,
                    &["clippy", "--all-targets", "--message-format=short"],
                )
            }
            Self::CargoCheck => (
                on_path("cargo")?,
                &["check", "--all-targets", "--message-format=short"],
            ),
            Self::GolangciLint => (on_path("golangci-lint")?, &["run"]),
            Self::GoVet => (on_path("go")?, &["vet", "./..."]),
            Self::Tsc => (node("tsc")?, &["--noEmit", "--pretty", "false"]),
            Self::Eslint => (node("eslint")?, &["-f", "json"]),
            Self::Ruff => (
                project.python_program("ruff")?,
                &["check", "--output-format", "concise"],
            ),
            Self::Mypy => (
                project.python_program("mypy")?,
                &[
                    "--no-color-output",
                    "--no-error-summary",
                    "--show-column-numbers",
                ],
            ),
            Self::Pyright => (
                project
                    .python_program("pyright")
                    .or_else(|| node("pyright"))?,
                &[],
            ),
        };
        Some([start, words(rest)].concat())
    }

    pub(crate) fn takes(self) -> CheckerPathSupport {
        match self {
            Self::Eslint | Self::Ruff | Self::Mypy | Self::Pyright => CheckerPathSupport::Paths,
            _ => CheckerPathSupport::Nothing,
        }
    }

    /// Returns the file extensions that it can check.
    pub(crate) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Clippy | Self::CargoCheck => &["rs"],
            Self::GolangciLint | Self::GoVet => &["go"],
            Self::Tsc => &["ts", "tsx", "mts", "cts", "js", "jsx"],
            Self::Eslint => &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue"],
            Self::Ruff | Self::Mypy | Self::Pyright => &["py", "pyi"],
        }
    }

    pub(crate) fn form(self) -> CheckerOutputFormat {
        match self {
            Self::Eslint => CheckerOutputFormat::Eslint,
            _ => CheckerOutputFormat::Lines,
        }
    }

    /// Returns whether a finding is about the meaning of the code rather than its style. Cargo
    /// and Go report both; errors of the Rust compiler have a code.
    pub(crate) fn is_of_types(self, finding: &CheckerFinding) -> bool {
        match self {
            Self::Tsc | Self::Mypy | Self::Pyright => true,
            Self::Clippy | Self::CargoCheck => finding.message.starts_with("[E"),
            Self::GolangciLint => finding.message.contains("(typecheck)"),
            Self::GoVet | Self::Eslint | Self::Ruff => finding.sort == CheckerFindingSource::Types,
        }
    }
}

/// Clippy is configured by its own file or by lints in the manifest.
fn clippy(project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
    if let Some(file) = project.first(&["clippy.toml", ".clippy.toml"]) {
        return Some(DetectionEvidence::high(file));
    }
    let manifest = project.toml("Cargo.toml")?;
    let own = manifest.get("lints").and_then(|lints| lints.get("clippy"));
    let shared = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("lints"))
        .and_then(|lints| lints.get("clippy"));
    own.or(shared)
        .map(|_| DetectionEvidence::high("Cargo.toml has lints of clippy"))
}
