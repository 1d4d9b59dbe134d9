//! The table of test runners: their order, the evidence that a folder uses each, and the
//! command that starts it. The order is the priority, and a configured runner comes before
//! one that is only declared.

use super::project::{DetectionEvidence, NpxFallback, ProjectProbe};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestRunner {
    Cargo,
    Go,
    Vitest,
    Jest,
    Mocha,
    Bun,
    Npm,
    Node,
    Pytest,
    Unittest,
    Rspec,
    Minitest,
    Gradle,
    Maven,
    Ctest,
    Mix,
    Phpunit,
}

/// The language of tests. A folder has one runner per language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestLanguage {
    Rust,
    Go,
    JavaScript,
    Python,
    Ruby,
    Java,
    C,
    Elixir,
    Php,
}

/// Every runner, the preferred first.
pub(crate) const RUNNERS: [TestRunner; 17] = [
    TestRunner::Cargo,
    TestRunner::Go,
    TestRunner::Vitest,
    TestRunner::Jest,
    TestRunner::Mocha,
    TestRunner::Bun,
    TestRunner::Npm,
    TestRunner::Node,
    TestRunner::Pytest,
    TestRunner::Unittest,
    TestRunner::Rspec,
    TestRunner::Minitest,
    TestRunner::Gradle,
    TestRunner::Maven,
    TestRunner::Ctest,
    TestRunner::Mix,
    TestRunner::Phpunit,
];

/// Files that make a folder worth a closer look.
pub(crate) const MARKERS: &[&str] = &[
    "Cargo.toml",
    "go.mod",
    "package.json",
    "bun.lockb",
    "bun.lock",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "conftest.py",
    "Gemfile",
    ".rspec",
    "Rakefile",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "pom.xml",
    "CMakeLists.txt",
    "mix.exs",
    "phpunit.xml",
    "phpunit.xml.dist",
    "composer.json",
];

impl TestRunner {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Cargo => "cargo-test",
            Self::Go => "go-test",
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Bun => "bun-test",
            Self::Npm => "npm-test",
            Self::Node => "node-test",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Rspec => "rspec",
            Self::Minitest => "minitest",
            Self::Gradle => "gradle-test",
            Self::Maven => "maven-test",
            Self::Ctest => "ctest",
            Self::Mix => "mix-test",
            Self::Phpunit => "phpunit",
        }
    }

    /// Finds a runner by its name, with or without the suffix `-test`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let short = |id: &'static str| id.strip_suffix("-test").unwrap_or(id);
        RUNNERS
            .into_iter()
            .find(|runner| runner.id() == name || short(runner.id()) == name)
    }

    pub(crate) fn language(self) -> TestLanguage {
        match self {
            Self::Cargo => TestLanguage::Rust,
            Self::Go => TestLanguage::Go,
            Self::Vitest | Self::Jest | Self::Mocha | Self::Bun | Self::Npm | Self::Node => {
                TestLanguage::JavaScript
            }
            Self::Pytest | Self::Unittest => TestLanguage::Python,
            Self::Rspec | Self::Minitest => TestLanguage::Ruby,
            Self::Gradle | Self::Maven => TestLanguage::Java,
            Self::Ctest => TestLanguage::C,
            Self::Mix => TestLanguage::Elixir,
            Self::Phpunit => TestLanguage::Php,
        }
    }

    /// Returns the command or advice that installs it, for a person to decide.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Cargo => "install Rust with rustup: https://rustup.rs",
            Self::Go => "install Go: https://go.dev/dl",
            Self::Vitest => "npm install -D vitest",
            Self::Jest => "npm install -D jest",
            Self::Mocha => "npm install -D mocha",
            Self::Bun => "npm install -g bun",
            Self::Npm | Self::Node => "install Node.js 18 or newer: https://nodejs.org",
            Self::Pytest => "pip install pytest",
            Self::Unittest => "install Python 3",
            Self::Rspec => "bundle install",
            Self::Minitest => "install Ruby",
            Self::Gradle => "gradle wrapper",
            Self::Maven => "install Maven: https://maven.apache.org",
            Self::Ctest => "cmake -B build && cmake --build build",
            Self::Mix => "install Elixir",
            Self::Phpunit => "composer require --dev phpunit/phpunit",
        }
    }

    /// Returns the evidence that this folder uses it, or `None`. `has_tests` returns whether
    /// the folder has files that look like tests of a language.
    pub(crate) fn evidence(
        self,
        project: &ProjectProbe<'_>,
        has_tests: &dyn Fn(TestLanguage) -> bool,
    ) -> Option<DetectionEvidence> {
        match self {
            Self::Cargo => marker(project, &["Cargo.toml"]),
            Self::Go => marker(project, &["go.mod"]),
            Self::Vitest => node(project, "vitest", VITEST),
            Self::Jest => jest(project),
            Self::Mocha => node(project, "mocha", MOCHA),
            Self::Bun => bun(project),
            Self::Npm => npm(project),
            Self::Node => {
                let fits = project.has("package.json") && has_tests(TestLanguage::JavaScript);
                fits.then(|| DetectionEvidence::low("package.json and test files"))
            }
            Self::Pytest => pytest(project).or_else(|| {
                // Without any configuration, pytest is used if it is installed.
                let is_bare = project.folder.is_empty() && project.first(PYTHON).is_none();
                let fits = is_bare && has_tests(TestLanguage::Python);
                let fits = fits && project.python_program("pytest").is_some();
                fits.then(|| DetectionEvidence::low("test files"))
            }),
            Self::Unittest => {
                if !has_tests(TestLanguage::Python) {
                    return None;
                }
                match project.first(PYTHON) {
                    Some(mark) => Some(DetectionEvidence::low(format!("{mark} and test files"))),
                    // Only the tree as a whole needs no configuration: a folder in it is just a
                    // part of it.
                    None => project
                        .folder
                        .is_empty()
                        .then(|| DetectionEvidence::low("test files")),
                }
            }
            Self::Rspec => marker(project, &[".rspec", "spec/spec_helper.rb"])
                .or_else(|| gem(project, "rspec").or_else(|| gem(project, "rspec-rails"))),
            Self::Minitest => marker(project, &["test/test_helper.rb"])
                .or_else(|| gem(project, "minitest"))
                .or_else(|| {
                    let fits = project.has("Gemfile") && has_tests(TestLanguage::Ruby);
                    fits.then(|| DetectionEvidence::low("Gemfile and test files"))
                }),
            Self::Gradle => marker(
                project,
                &[
                    "build.gradle",
                    "build.gradle.kts",
                    "settings.gradle",
                    "settings.gradle.kts",
                ],
            ),
            Self::Maven => marker(project, &["pom.xml"]),
            Self::Ctest => marker(project, &["CMakeLists.txt"]),
            Self::Mix => marker(project, &["mix.exs"]),
            Self::Phpunit => marker(
                project,
                &["phpunit.xml", "phpunit.xml.dist", "vendor/bin/phpunit"],
            ),
        }
    }

    /// Returns the command words that start it in a folder, or `None` if it is not installed.
    pub(crate) fn launch(self, project: &ProjectProbe<'_>) -> Option<Vec<String>> {
        let on_path = |name: &str| project.programs.has(name).then(|| vec![name.to_owned()]);
        let own = |name: &str| project.has(name).then(|| vec![format!("./{name}")]);
        match self {
            Self::Cargo => on_path("cargo"),
            Self::Go => on_path("go"),
            Self::Vitest => project.node_program("vitest", NpxFallback::Npx),
            Self::Jest => project.node_program("jest", NpxFallback::Npx),
            Self::Mocha => project.node_program("mocha", NpxFallback::Npx),
            Self::Bun => on_path("bun"),
            Self::Npm => on_path("npm"),
            Self::Node => on_path("node"),
            Self::Pytest => project
                .python_program("pytest")
                .or_else(|| python_module(project, "pytest")),
            Self::Unittest => python_module(project, "unittest"),
            Self::Rspec => (if project.has("Gemfile") {
                on_path("bundle").map(|_| words(&["bundle", "exec", "rspec"]))
            } else {
                None
            })
            .or_else(|| on_path("rspec")),
            Self::Minitest => on_path("ruby"),
            Self::Gradle => own("gradlew").or_else(|| on_path("gradle")),
            Self::Maven => own("mvnw").or_else(|| on_path("mvn")),
            Self::Ctest => {
                let folder = ctest_folder(project)?;
                let words = on_path("ctest")?;
                Some([words, vec!["--test-dir".to_owned(), folder.to_owned()]].concat())
            }
            Self::Mix => on_path("mix"),
            Self::Phpunit => own("vendor/bin/phpunit").or_else(|| on_path("phpunit")),
        }
    }
}

/// Files that make a folder a Python project.
const PYTHON: &[&str] = &[
    "setup.py",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
];

const VITEST: &[&str] = &[
    "vitest.config.ts",
    "vitest.config.js",
    "vitest.config.mts",
    "vitest.config.mjs",
    "vitest.workspace.ts",
];

const JEST: &[&str] = &[
    "jest.config.js",
    "jest.config.ts",
    "jest.config.json",
    "jest.config.mjs",
    "jest.config.cjs",
];

const MOCHA: &[&str] = &[
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.json",
    ".mocharc.yml",
    ".mocharc.yaml",
    "test/mocha.opts",
];

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Finds a file that is proof in itself.
fn marker(project: &ProjectProbe<'_>, names: &[&str]) -> Option<DetectionEvidence> {
    project.first(names).map(DetectionEvidence::high)
}

/// Finds a runner of a Node package by its configuration, the test script, or a
/// dependency.
fn node(project: &ProjectProbe<'_>, name: &str, configs: &[&str]) -> Option<DetectionEvidence> {
    if let Some(found) = marker(project, configs) {
        return Some(found);
    }
    if runs(project, name) {
        return Some(DetectionEvidence::high(format!(
            "the test script of package.json runs {name}"
        )));
    }
    project
        .needs_node(name)
        .then(|| DetectionEvidence::medium(format!("package.json declares {name}")))
}

/// Returns whether the test script starts a program.
fn runs(project: &ProjectProbe<'_>, name: &str) -> bool {
    let script = project.script("test").unwrap_or_default();
    let commands = script.split(['&', '|', ';']);
    commands.into_iter().any(|command| {
        let mut words = command
            .split_whitespace()
            .filter(|word| !word.contains('='));
        let first = words.find(|word| !matches!(*word, "npx" | "cross-env" | "c8" | "nyc"));
        first == Some(name)
    })
}

fn jest(project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
    let package = project.package();
    let has_key = package.is_some_and(|package| package.get("jest").is_some());
    if has_key && marker(project, JEST).is_none() {
        return Some(DetectionEvidence::high("package.json has a key `jest`"));
    }
    node(project, "jest", JEST)
}

fn bun(project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
    let lock = project.first(&["bun.lockb", "bun.lock"])?;
    project
        .programs
        .has("bun")
        .then(|| DetectionEvidence::medium(lock))
}

/// A test script that no runner in the table claims is run as it is.
fn npm(project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
    let script = project.script("test")?;
    let is_empty = script.trim().is_empty() || script.contains("no test specified");
    let is_node = script.trim_start().starts_with("node --test");
    (!is_empty && !is_node).then(|| DetectionEvidence::low("package.json has a test script"))
}

fn pytest(project: &ProjectProbe<'_>) -> Option<DetectionEvidence> {
    if let Some(found) = marker(project, &["pytest.ini", ".pytest.ini"]) {
        return Some(found);
    }
    if project.has_python_table("pytest") {
        return Some(DetectionEvidence::high("pyproject.toml has [tool.pytest]"));
    }
    if project.has_line("setup.cfg", "[tool:pytest]") {
        return Some(DetectionEvidence::high("setup.cfg has [tool:pytest]"));
    }
    if project.has_line("tox.ini", "[pytest]") {
        return Some(DetectionEvidence::high("tox.ini has [pytest]"));
    }
    let file = marker(
        project,
        &["conftest.py", "tests/conftest.py", "test/conftest.py"],
    );
    file.or_else(|| {
        let file = project.needs_python("pytest")?;
        Some(DetectionEvidence::medium(format!("{file} declares pytest")))
    })
}

fn gem(project: &ProjectProbe<'_>, name: &str) -> Option<DetectionEvidence> {
    project
        .needs_gem(name)
        .then(|| DetectionEvidence::medium(format!("Gemfile names {name}")))
}

fn python_module(project: &ProjectProbe<'_>, module: &str) -> Option<Vec<String>> {
    let python = project
        .python_program("python3")
        .or_else(|| project.python_program("python"))?;
    Some([python, words(&["-m", module])].concat())
}

/// Finds a build folder that has tests.
fn ctest_folder(project: &ProjectProbe<'_>) -> Option<&'static str> {
    let folders = [
        "build",
        "out",
        "cmake-build-debug",
        "cmake-build-release",
        ".",
    ];
    folders
        .into_iter()
        .find(|folder| project.has(&format!("{folder}/CTestTestfile.cmake")))
}
