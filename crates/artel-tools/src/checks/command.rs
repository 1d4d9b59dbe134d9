//! Builds the command of a test run for a whole part, one folder, one file or one test.

use super::detect::DetectedTestRunner;
use super::project::ProjectProbe;
use super::runner::{TestRunner, words};
use super::survey::ProjectSurvey;
use crate::{ToolError, ToolErrorKind};

/// The tests to run in a part. Paths are relative to the part's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestSelection {
    /// A folder inside the part.
    pub(crate) folder: Option<String>,
    pub(crate) file: Option<String>,
    /// The name of a test.
    pub(crate) test: Option<String>,
}

/// Appends the words that select the tests to the words that start the runner.
pub(crate) fn words_for(
    found: &DetectedTestRunner,
    start: Vec<String>,
    scope: &TestSelection,
    project: &ProjectProbe<'_>,
    survey: &ProjectSurvey,
) -> Result<Vec<String>, ToolError> {
    let here = project.at(&found.folder);
    let path = scope
        .file
        .as_deref()
        .or(scope.folder.as_deref())
        .map(not_an_option);
    let test = scope.test.as_deref();
    let rest = match found.runner {
        TestRunner::Cargo => cargo(&here, scope),
        TestRunner::Go => go(scope),
        TestRunner::Vitest => [
            words(&["run"]),
            by_name(scope, "--reporter=verbose"),
            list(path),
            flag("-t", test),
        ]
        .concat(),
        TestRunner::Jest => [by_name(scope, "--verbose"), list(path), flag("-t", test)].concat(),
        TestRunner::Mocha => {
            let recursive = scope.folder.as_ref().map(|_| "--recursive".to_owned());
            [list(recursive), list(path), flag("--grep", test)].concat()
        }
        TestRunner::Bun => [
            words(&["test"]),
            list(path),
            flag("--test-name-pattern", test),
        ]
        .concat(),
        TestRunner::Npm => npm(path, test),
        TestRunner::Node => node(path, test),
        TestRunner::Pytest => pytest(path, scope),
        TestRunner::Unittest => unittest(&here, scope, survey)?,
        TestRunner::Rspec => match (path, test) {
            (Some(path), Some(line)) if is_number(line) => vec![format!("{path}:{line}")],
            (path, test) => [list(path), flag("-e", test)].concat(),
        },
        TestRunner::Minitest => minitest(path, test),
        TestRunner::Gradle => gradle(scope),
        TestRunner::Maven => maven(scope),
        TestRunner::Ctest => {
            let pattern = test.or(scope.file.as_deref().map(stem));
            [words(&["--output-on-failure"]), flag("-R", pattern)].concat()
        }
        TestRunner::Mix => mix(path, test),
        TestRunner::Phpunit => [flag("--filter", test), list(path)].concat(),
    };
    Ok([start, rest].concat())
}

/// Makes sure that a path is not read as an option.
fn not_an_option(path: &str) -> String {
    if path.starts_with('-') {
        format!("./{path}")
    } else {
        path.to_owned()
    }
}

fn list(path: Option<String>) -> Vec<String> {
    path.into_iter().collect()
}

fn flag(name: &str, value: Option<&str>) -> Vec<String> {
    value.map(|value| words(&[name, value])).unwrap_or_default()
}

/// Makes the runner report every test by name if all tests run: comparing two runs needs
/// the names.
fn by_name(scope: &TestSelection, option: &str) -> Vec<String> {
    if *scope == TestSelection::default() {
        words(&[option])
    } else {
        Vec::new()
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// A file in `tests` is its own target; a file in `src` is a module of the library or
/// program.
fn cargo(here: &ProjectProbe<'_>, scope: &TestSelection) -> Vec<String> {
    let mut all = words(&["test", "--no-fail-fast"]);
    let parts: Vec<&str> = scope
        .file
        .as_deref()
        .unwrap_or_default()
        .split('/')
        .collect();
    let target = |at: usize| parts.get(at).map(|part| stem(part)).unwrap_or_default();
    match parts.as_slice() {
        ["tests", _, ..] => all.extend(words(&["--test", target(1)])),
        ["benches", _, ..] => all.extend(words(&["--bench", target(1)])),
        ["examples", _, ..] => all.extend(words(&["--example", target(1)])),
        ["src", "bin", _, ..] => all.extend(words(&["--bin", target(2)])),
        ["src", "main.rs"] => all.extend(words(&["--bins"])),
        ["src", "lib.rs"] => all.extend(words(&["--lib"])),
        ["src", modules @ ..] if !modules.is_empty() => {
            let kind = if here.has("src/lib.rs") {
                "--lib"
            } else {
                "--bins"
            };
            let modules = modules
                .iter()
                .map(|part| stem(part))
                .filter(|part| *part != "mod");
            let path = modules.collect::<Vec<_>>().join("::");
            all.push(kind.to_owned());
            if scope.test.is_none() {
                all.push(format!("{path}::"));
            }
        }
        _ => {
            let manifest = here.toml("Cargo.toml").unwrap_or_default();
            if manifest.contains_key("workspace") {
                all.push("--workspace".to_owned());
            }
        }
    }
    all.extend(scope.test.clone());
    all
}

/// Go tests packages, so a file stands for its folder.
fn go(scope: &TestSelection) -> Vec<String> {
    let package = match (&scope.file, &scope.folder) {
        (Some(file), _) => match file.rsplit_once('/') {
            Some((folder, _)) => format!("./{folder}"),
            None => ".".to_owned(),
        },
        (None, Some(folder)) => format!("./{folder}/..."),
        (None, None) => "./...".to_owned(),
    };
    let pattern = scope.test.as_ref().map(|test| {
        let exact = |part: &str| {
            if part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                format!("^{part}$")
            } else {
                part.to_owned()
            }
        };
        test.split('/').map(exact).collect::<Vec<_>>().join("/")
    });
    [
        words(&["test", "-json"]),
        flag("-run", pattern.as_deref()),
        vec![package],
    ]
    .concat()
}

fn npm(path: Option<String>, test: Option<&str>) -> Vec<String> {
    let rest: Vec<String> = path.into_iter().chain(test.map(str::to_owned)).collect();
    if rest.is_empty() {
        words(&["test"])
    } else {
        [words(&["test", "--"]), rest].concat()
    }
}

fn node(path: Option<String>, test: Option<&str>) -> Vec<String> {
    let pattern = test.map(|test| format!("--test-name-pattern={test}"));
    [
        words(&["--test", "--test-reporter=tap"]),
        list(pattern),
        list(path),
    ]
    .concat()
}

fn pytest(path: Option<String>, scope: &TestSelection) -> Vec<String> {
    match (path, scope.test.as_deref()) {
        (Some(path), Some(test)) if scope.file.is_some() => {
            vec![format!("{path}::{}", test.replace('.', "::"))]
        }
        (path, test) => [by_name(scope, "-v"), list(path), flag("-k", test)].concat(),
    }
}

/// Modules have dotted names. A test without its class is found by pattern.
fn unittest(
    here: &ProjectProbe<'_>,
    scope: &TestSelection,
    survey: &ProjectSurvey,
) -> Result<Vec<String>, ToolError> {
    let by_name = |test: &str| !test.contains('.') && !test.starts_with(char::is_uppercase);
    let Some(file) = &scope.file else {
        let mut all = words(&["discover"]);
        all.extend(self::by_name(scope, "-v"));
        let start = scope.folder.clone().or_else(|| start_folder(here, survey));
        all.extend(flag("-s", start.as_deref()));
        all.extend(flag("-k", scope.test.as_deref()));
        return Ok(all);
    };
    let module = file.strip_suffix(".py").unwrap_or(file).replace('/', ".");
    let fits = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if !module.split('.').all(fits) {
        let what =
            format!("`{file}` cannot be imported as a module, so unittest cannot run it alone");
        return Err(ToolError::new(ToolErrorKind::Unfit, what).hint("run the whole folder instead"));
    }
    Ok(match scope.test.as_deref() {
        None => vec![module],
        Some(test) if by_name(test) => words(&[&module, "-k", test]),
        Some(test) => vec![format!("{module}.{test}")],
    })
}

/// Returns the folder where discovery must start. Discovery enters only packages, so tests
/// in a plain folder are found only from that folder.
fn start_folder(here: &ProjectProbe<'_>, survey: &ProjectSurvey) -> Option<String> {
    let inside = |path: &str| {
        let rest = path.strip_prefix(&here.folder)?;
        Some(rest.trim_start_matches('/').to_owned())
    };
    let mut folders = Vec::new();
    for (path, _) in survey
        .tests
        .iter()
        .filter(|(path, _)| path.ends_with(".py"))
    {
        let Some(path) = inside(path) else { continue };
        let folder = path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned();
        let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        let is_package =
            |depth: usize| here.has(&format!("{}/__init__.py", parts[..depth].join("/")));
        if (1..=parts.len()).all(is_package) {
            return None;
        }
        folders.push(folder);
    }
    folders
        .into_iter()
        .min_by_key(|folder| folder.matches('/').count())
}

fn minitest(path: Option<String>, test: Option<&str>) -> Vec<String> {
    const ALL: &str = "Dir.glob('./test/**/{*_test,test_*}.rb').sort.each { |file| require file }";
    let what = match path {
        Some(path) => vec![path],
        None => words(&["-e", ALL]),
    };
    let name = test
        .map(|test| words(&["--name", test]))
        .unwrap_or_default();
    let name = match what.len() {
        2 if !name.is_empty() => [words(&["--"]), name].concat(),
        _ => name,
    };
    [words(&["-Ilib:test"]), what, name].concat()
}

/// Returns the class of a test file: `src/test/java/shop/CartTest.java` is
/// `shop.CartTest`.
fn class_of(file: &str) -> String {
    let inside = ["src/test/java/", "src/test/kotlin/", "src/test/groovy/"]
        .iter()
        .find_map(|folder| file.split_once(folder).map(|(_, inside)| inside));
    match inside {
        Some(inside) => inside
            .rsplit_once('.')
            .map_or(inside, |(path, _)| path)
            .replace('/', "."),
        None => stem(file).to_owned(),
    }
}

fn gradle(scope: &TestSelection) -> Vec<String> {
    let pattern = match (&scope.file, &scope.test) {
        (Some(file), Some(test)) => Some(format!("{}.{test}", class_of(file))),
        (Some(file), None) => Some(class_of(file)),
        (None, Some(test)) => Some(format!("*{test}")),
        (None, None) => None,
    };
    [words(&["test"]), flag("--tests", pattern.as_deref())].concat()
}

fn maven(scope: &TestSelection) -> Vec<String> {
    let pattern = match (&scope.file, &scope.test) {
        (Some(file), Some(test)) => Some(format!("-Dtest={}#{test}", stem(file))),
        (Some(file), None) => Some(format!("-Dtest={}", stem(file))),
        (None, Some(test)) => Some(format!("-Dtest=*#{test}")),
        (None, None) => None,
    };
    [list(pattern), words(&["test"])].concat()
}

fn mix(path: Option<String>, test: Option<&str>) -> Vec<String> {
    match (path, test) {
        (Some(path), Some(line)) if is_number(line) => words(&["test", &format!("{path}:{line}")]),
        (path, test) => {
            let only = test.map(|test| format!("test:test {test}"));
            [
                words(&["test"]),
                list(path),
                flag("--only", only.as_deref()),
            ]
            .concat()
        }
    }
}
