//! Names that people see in git, branches and commits, and the kinds of files.

use artel_types::plan::{CommitType, PlanStep};
use artel_types::{TraceId, shown_path};

/// Longest readable part of a branch name, in characters.
const LONGEST_SLUG: usize = 50;
/// Longest part of a title in the first line of a commit, in characters.
const LONGEST_SUBJECT: usize = 50;
/// Placeholder for a title without usable letters.
const FALLBACK: &str = "untitled";
/// Most files that a commit message names.
const MOST_FILES: usize = 50;

/// Returns a title as part of a name: lower-case letters, digits and single hyphens, at
/// most 50 characters.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(LONGEST_SLUG);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        FALLBACK.to_owned()
    } else {
        slug.to_owned()
    }
}

/// Returns the branch name of a plan: `<kind>/<slug>-<short trace>`.
pub fn branch(kind: CommitType, title: &str, trace: TraceId) -> String {
    format!("{kind}/{}-{}", slug(title), trace.short())
}

/// Returns whether a file holds tests, by the conventions of many languages. Any other
/// file is production code, which is reverted to find out whether the tests notice.
pub fn is_test_path(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    const FOLDERS: &[&str] = &[
        "test",
        "tests",
        "__tests__",
        "__test__",
        "__mocks__",
        "__snapshots__",
        "spec",
        "specs",
        "testing",
        "testdata",
        "test_data",
        "test-data",
        "fixtures",
        "e2e",
        "testsuite",
        "androidtest",
        "unittest",
        "unittests",
        "integration-tests",
        "integration_tests",
        "snapshots",
        "cypress",
    ];
    let in_folder = folders
        .split('/')
        .any(|folder| FOLDERS.contains(&&*folder.to_ascii_lowercase()) || is_test_project(folder));
    in_folder || is_test_name(name)
}

/// Returns whether a folder is a test project by the convention of C#: `Shop.Tests`.
fn is_test_project(folder: &str) -> bool {
    [".Tests", ".Test", ".UnitTests", ".IntegrationTests"]
        .iter()
        .any(|ending| folder.ends_with(ending))
}

fn is_test_name(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let lower = stem.to_ascii_lowercase();
    if lower == "conftest" && extension == "py" {
        return true;
    }
    // `shop.test.ts`, `shop.spec.js`, `shop.cy.ts`, `shop.stories.test.tsx`.
    let marks = extension.split('.');
    let inner = marks.clone().count().saturating_sub(1);
    if marks
        .take(inner)
        .any(|mark| matches!(mark, "test" | "tests" | "spec" | "cy" | "e2e"))
    {
        return true;
    }
    // `ShopTest.java`, `ShopTests.cs`, `ShopSpec.scala`, `ShopIT.java`, `TestShop.java`.
    let follows_word = |ending: &&str| {
        let before = stem
            .strip_suffix(*ending)
            .and_then(|rest| rest.chars().last());
        before.is_some_and(|letter| *ending != "IT" || !letter.is_uppercase())
    };
    let is_any = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    if !is_code_path(name) {
        // Data that tests read lies beside them: `test_cases.json`, `shop_test.golden`.
        let by_words = lower.starts_with("test_") || is_any(&["_test", "_tests"]);
        let by_case = ["Test", "Tests"].iter().any(follows_word);
        return !is_prose(name) && (by_words || by_case);
    }
    let by_words = lower == "test"
        || lower == "tests"
        || lower.starts_with("test_")
        || lower.starts_with("test-")
        || is_any(&[
            "_test",
            "_tests",
            "-test",
            "-tests",
            "_spec",
            "-spec",
            "_unittest",
        ]);
    let by_case = ["Test", "Tests", "TestCase", "Spec", "Specs", "IT"]
        .iter()
        .any(follows_word)
        || stem
            .strip_prefix("Test")
            .is_some_and(|rest| rest.starts_with(char::is_uppercase));
    by_words || by_case
}

/// Returns whether a file is only for people.
fn is_prose(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "md", "mdx", "markdown", "rst", "adoc", "org", "tex", "pdf", "doc", "docx", "odt",
    ];
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.contains(&&*ending.to_ascii_lowercase()))
}

/// Returns whether a file holds code: something whose change tests could notice.
pub fn is_code_path(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "rs", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "java",
        "kt", "kts", "scala", "groovy", "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m",
        "mm", "cs", "fs", "fsx", "vb", "rb", "php", "swift", "dart", "lua", "pl", "pm", "r", "jl",
        "ex", "exs", "erl", "hrl", "hs", "ml", "mli", "clj", "cljs", "cljc", "elm", "nim", "zig",
        "v", "sv", "vhd", "vhdl", "d", "sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "sql",
        "vue", "svelte", "astro", "html", "htm", "css", "scss", "sass", "less", "sol", "proto",
        "graphql", "gql", "tf", "nix", "cmake", "gradle", "asm", "s", "f90", "f95", "pas", "lisp",
        "el", "scm", "rkt", "tcl", "awk", "coffee", "cr", "cu", "wgsl", "glsl",
    ];
    const NAMES: &[&str] = &[
        "makefile",
        "dockerfile",
        "rakefile",
        "gemfile",
        "justfile",
        "cmakelists.txt",
    ];
    let name = path
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path)
        .to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    NAMES.contains(&&*name) || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Returns whether a file is known to hold nothing that is run: text for people, data,
/// settings. Unknown files are not plain, because a script needs no ending.
pub fn is_plain_path(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "md",
        "mdx",
        "markdown",
        "rst",
        "adoc",
        "txt",
        "org",
        "tex",
        "pdf",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "json",
        "jsonc",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "csv",
        "tsv",
        "xml",
        "properties",
        "po",
    ];
    const NAMES: &[&str] = &[
        "readme",
        "license",
        "licence",
        "copying",
        "notice",
        "authors",
        "contributors",
        "changelog",
        "contributing",
        "codeowners",
        ".gitignore",
        ".gitattributes",
        ".editorconfig",
    ];
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_known = NAMES.contains(&&*name) || ending.is_some_and(|it| ENDINGS.contains(&it));
    is_known && !is_code_path(path) && !is_test_path(path)
}

/// Returns the type of a change by its words and files; the first match counts.
pub fn sort_of(text: &str, files: &[String]) -> CommitType {
    let has_word = |wanted: &[&str]| {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .map(str::to_lowercase)
            .any(|word| wanted.contains(&&*word))
    };
    let all = |is: fn(&str) -> bool| !files.is_empty() && files.iter().all(|file| is(file));
    if has_word(&[
        "fix", "fixes", "fixed", "fixing", "bug", "bugs", "bugfix", "hotfix",
    ]) {
        CommitType::Fix
    } else if all(is_test_path) {
        CommitType::Test
    } else if all(is_style_path) {
        CommitType::Style
    } else if all(is_document_path) {
        CommitType::Docs
    } else if has_word(&["refactor", "refactors", "refactored", "refactoring"]) {
        CommitType::Refactor
    } else {
        CommitType::Feat
    }
}

/// Returns the message of a step's only commit. If the step's words and files do not
/// determine a type, the plan's type is used.
pub fn commit_message(
    step: &PlanStep,
    kind: CommitType,
    files: &[String],
    trace: TraceId,
) -> String {
    let sort = match sort_of(&format!("{} {}", step.title, step.work), files) {
        CommitType::Feat => kind,
        sort => sort,
    };
    let mut message = format!("{sort}: {}\n", subject(&step.title));
    let shown: Vec<&String> = files.iter().take(MOST_FILES).collect();
    if !shown.is_empty() {
        message.push_str("\nModified files:\n");
        for file in &shown {
            message.push_str(&format!("- {}\n", shown_path(file)));
        }
        if files.len() > shown.len() {
            message.push_str(&format!("- and {} more\n", files.len() - shown.len()));
        }
    }
    message.push_str(&format!("\nStep: {}\nTrace-Id: {trace}\n", step.id));
    message
}

/// Returns the message of a commit with the unfinished work of a step when a person took
/// over. It has a different trailer, because the step did not pass.
pub fn unfinished_message(step: &PlanStep, trace: TraceId) -> String {
    format!(
        "wip: {}\n\nNobody has checked this.\n\nUnfinished-Step: {}\nTrace-Id: {trace}\n",
        subject(&step.title),
        step.id
    )
}

/// Cuts a title to the first line of a commit, at a word.
fn subject(title: &str) -> String {
    let title: Vec<&str> = title.split_whitespace().collect();
    let title = title.join(" ");
    if title.chars().count() <= LONGEST_SUBJECT {
        return title;
    }
    let start: String = title.chars().take(LONGEST_SUBJECT + 1).collect();
    match start.rfind(' ').filter(|end| *end > 0) {
        Some(end) => start[..end]
            .trim_end_matches([',', ';', ':', '-', ' '])
            .to_owned(),
        None => start.chars().take(LONGEST_SUBJECT).collect(),
    }
}

fn is_style_path(path: &str) -> bool {
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| matches!(&*ending, "css" | "scss" | "sass" | "less" | "styl"))
}

fn is_document_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let ending = lower.rsplit_once('.').map(|(_, ending)| ending);
    let is_text =
        ending.is_some_and(|ending| matches!(ending, "md" | "rst" | "adoc" | "txt" | "mdx"));
    is_text || (lower.starts_with("docs/") || lower.starts_with("doc/")) && !is_code_path(&lower)
}
