//! The table of formatters: their order, their file types, and the evidence that a project
//! uses each. The first one that fits is used.

use super::project::{NpxFallback, ProjectProbe};
use super::runner::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeFormatter {
    Goimports,
    Gofmt,
    Biome,
    Prettier,
    Ruff,
    Black,
    Rustfmt,
    ClangFormat,
    Shfmt,
    Rubocop,
    Terraform,
}

/// Every formatter, the preferred first.
pub(crate) const FORMATTERS: [CodeFormatter; 11] = [
    CodeFormatter::Goimports,
    CodeFormatter::Gofmt,
    CodeFormatter::Biome,
    CodeFormatter::Prettier,
    CodeFormatter::Ruff,
    CodeFormatter::Black,
    CodeFormatter::Rustfmt,
    CodeFormatter::ClangFormat,
    CodeFormatter::Shfmt,
    CodeFormatter::Rubocop,
    CodeFormatter::Terraform,
];

/// A formatter chosen for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenFormatter {
    pub(crate) formatter: CodeFormatter,
    /// The folder to run it in, relative to the tree.
    pub(crate) folder: String,
    /// The command words, including the file.
    pub(crate) words: Vec<String>,
}

/// The formatters for a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FormatterChoices {
    /// Formatters that can run, the preferred first.
    pub(crate) ready: Vec<ChosenFormatter>,
    /// Formatters that are configured but not installed.
    pub(crate) missing: Vec<CodeFormatter>,
}

/// The folder where a formatter is in use, and the words that start it if it is installed.
struct FormatterUsage {
    folder: String,
    start: Option<Vec<String>>,
}

impl CodeFormatter {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Goimports => "goimports",
            Self::Gofmt => "gofmt",
            Self::Biome => "biome",
            Self::Prettier => "prettier",
            Self::Ruff => "ruff-format",
            Self::Black => "black",
            Self::Rustfmt => "rustfmt",
            Self::ClangFormat => "clang-format",
            Self::Shfmt => "shfmt",
            Self::Rubocop => "rubocop",
            Self::Terraform => "terraform-fmt",
        }
    }

    /// Returns the command or advice that installs it, for a person to decide.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Goimports => "go install golang.org/x/tools/cmd/goimports@latest",
            Self::Gofmt => "install Go: https://go.dev/dl",
            Self::Biome => "npm install -D @biomejs/biome",
            Self::Prettier => "npm install -D prettier",
            Self::Ruff => "pip install ruff",
            Self::Black => "pip install black",
            Self::Rustfmt => "rustup component add rustfmt",
            Self::ClangFormat => "install clang-format with the system's packages",
            Self::Shfmt => "go install mvdan.cc/sh/v3/cmd/shfmt@latest",
            Self::Rubocop => "gem install rubocop",
            Self::Terraform => "install Terraform",
        }
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Goimports | Self::Gofmt => &["go"],
            Self::Biome => &["js", "jsx", "ts", "tsx", "json", "css"],
            Self::Prettier => &[
                "js", "jsx", "ts", "tsx", "json", "html", "css", "scss", "md", "yaml", "yml",
            ],
            Self::Ruff | Self::Black => &["py", "pyi"],
            Self::Rustfmt => &["rs"],
            Self::ClangFormat => &["c", "cpp", "cc", "cxx", "h", "hpp", "hxx"],
            Self::Shfmt => &["sh", "bash"],
            Self::Rubocop => &["rb", "rake"],
            Self::Terraform => &["tf", "tfvars"],
        }
    }

    /// Finds the project that uses it, at or above a file's folder.
    fn used(self, near: &ProjectProbe<'_>) -> Option<FormatterUsage> {
        let on_path = |name: &str| near.programs.has(name).then(|| words(&[name]));
        let anywhere = |start: Option<Vec<String>>| {
            // It needs no configuration, so it is enough that it is installed.
            start.map(|start| FormatterUsage {
                folder: String::new(),
                start: Some(start),
            })
        };
        let where_ = |fits: &dyn Fn(&ProjectProbe<'_>) -> bool| {
            near.upwards()
                .map(|(project, _)| project)
                .find(|project| fits(project))
        };
        let with = |project: Option<ProjectProbe<'_>>, start: Option<Vec<String>>| {
            project.map(|project| FormatterUsage {
                folder: project.folder,
                start,
            })
        };
        match self {
            Self::Goimports => anywhere(on_path("goimports")),
            Self::Gofmt => anywhere(on_path("gofmt")),
            Self::Shfmt => anywhere(on_path("shfmt")),
            Self::Terraform => anywhere(on_path("terraform")),
            Self::Biome => {
                let project =
                    where_(&|project| project.first(&["biome.json", "biome.jsonc"]).is_some())?;
                let start = project.node_program("biome", NpxFallback::Npx);
                with(Some(project), start)
            }
            Self::Prettier => {
                let project =
                    where_(&|it| it.first(PRETTIER).is_some() || it.needs_node("prettier"))?;
                let start = project.node_program("prettier", NpxFallback::Npx);
                with(Some(project), start)
            }
            Self::Ruff => {
                let project = where_(&uses_ruff)?;
                let start = project.python_program("ruff");
                with(Some(project), start)
            }
            Self::Black => black(near),
            Self::Rustfmt => with(where_(&|it| it.has("Cargo.toml")), on_path("rustfmt")),
            Self::ClangFormat => with(
                where_(&|it| it.first(&[".clang-format", "_clang-format"]).is_some()),
                on_path("clang-format"),
            ),
            Self::Rubocop => with(
                where_(&|it| it.first(&[".rubocop.yml", "Gemfile"]).is_some()),
                on_path("rubocop"),
            ),
        }
    }

    /// Returns the command words that format one file in place.
    fn words(self, start: Vec<String>, file: &str, project: &ProjectProbe<'_>) -> Vec<String> {
        let file = if file.starts_with('-') {
            format!("./{file}")
        } else {
            file.to_owned()
        };
        let flags = match self {
            Self::Goimports | Self::Gofmt | Self::Shfmt => words(&["-w"]),
            Self::Biome => words(&["format", "--write"]),
            Self::Prettier => words(&["--write"]),
            Self::Ruff => words(&["format"]),
            Self::Black => words(&["--quiet"]),
            Self::Rustfmt => words(&["--edition", &edition(project)]),
            Self::ClangFormat => words(&["-i"]),
            Self::Rubocop => words(&["-a"]),
            Self::Terraform => words(&["fmt"]),
        };
        [start, flags, vec![file]].concat()
    }
}

const PRETTIER: &[&str] = &[
    ".prettierrc",
    ".prettierrc.json",
    ".prettierrc.js",
    ".prettierrc.cjs",
    ".prettierrc.mjs",
    ".prettierrc.yml",
    ".prettierrc.yaml",
    ".prettierrc.toml",
    "prettier.config.js",
    "prettier.config.cjs",
    "prettier.config.mjs",
];

/// Chooses the formatters for a file of the tree.
pub(crate) fn choose(top: &ProjectProbe<'_>, file: &str) -> FormatterChoices {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let mut choices = FormatterChoices::default();
    let Some((_, ending)) = name.rsplit_once('.') else {
        return choices;
    };
    let near = top.at(folder);
    for formatter in FORMATTERS {
        if !formatter.endings().contains(&ending) {
            continue;
        }
        let Some(used) = formatter.used(&near) else {
            continue;
        };
        let Some(start) = used.start else {
            choices.missing.push(formatter);
            continue;
        };
        let inside = file
            .get(used.folder.len()..)
            .unwrap_or(file)
            .trim_start_matches('/');
        let words = formatter.words(start, inside, &near);
        choices.ready.push(ChosenFormatter {
            formatter,
            folder: used.folder,
            words,
        });
    }
    choices
}

/// A bare `pyproject.toml` proves nothing.
fn uses_ruff(project: &ProjectProbe<'_>) -> bool {
    project.first(&["ruff.toml", ".ruff.toml"]).is_some()
        || project.has_python_table("ruff")
        || project.needs_python("ruff").is_some()
}

/// Black needs no configuration. If it is configured but missing, it is reported as
/// missing.
fn black(near: &ProjectProbe<'_>) -> Option<FormatterUsage> {
    let above = near.upwards().map(|(project, _)| project);
    let configured = above.into_iter().find(|project| {
        project.has_python_table("black") || project.needs_python("black").is_some()
    });
    let start = configured.as_ref().unwrap_or(near).python_program("black");
    match (configured, start) {
        (Some(project), start) => Some(FormatterUsage {
            folder: project.folder,
            start,
        }),
        (None, None) => None,
        (None, start) => {
            // The program's path is relative to the file's folder.
            Some(FormatterUsage {
                folder: near.folder.clone(),
                start,
            })
        }
    }
}

/// Returns the Rust edition of the nearest package: without it, newer syntax is an error.
fn edition(near: &ProjectProbe<'_>) -> String {
    let mut inherited = false;
    for (project, _) in near.upwards() {
        let Some(manifest) = project.toml("Cargo.toml") else {
            continue;
        };
        let package = manifest.get("package");
        let workspace = manifest.get("workspace").and_then(|all| all.get("package"));
        let own = if inherited { workspace } else { package };
        match own.and_then(|own| own.get("edition")) {
            Some(toml::Value::String(edition)) => return edition.clone(),
            Some(_) => {
                let here = workspace.and_then(|all| all.get("edition"));
                if let Some(edition) = here.and_then(toml::Value::as_str) {
                    return edition.to_owned();
                }
                inherited = true;
            }
            None if inherited => {}
            // A manifest without an edition means the first edition.
            None if package.is_some() => return "2015".to_owned(),
            None => {}
        }
    }
    "2021".to_owned()
}
