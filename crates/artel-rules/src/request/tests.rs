use artel_types::plan::{RequestSize, RequirementSource};
use proptest::prelude::*;

use super::*;

use RequestSize::{Question as Q, Trivial as T, Work as W};

const SIZES: &[(RequestSize, &str)] = &[
    // Orders, plain and polite.
    (W, "Add rate limiting"),
    (W, "add a --json flag to the list command"),
    (W, "Please implement OAuth login"),
    (W, "Can you add a dark mode?"),
    (W, "Could you please fix the flaky test?"),
    (W, "Would you mind adding retries to the client?"),
    (W, "I'd like you to rewrite the parser."),
    (W, "I want a dark mode."),
    (W, "We need pagination on the users endpoint."),
    (W, "Let's move the config to TOML"),
    (W, "Can we upgrade to React 19?"),
    (W, "Is it possible to add an export button?"),
    (W, "It would be nice to have search"),
    (W, "Hi! Please make the build faster. Thanks!"),
    (W, "Refactor the session module"),
    (W, "make it work"),
    (W, "Write tests for the tokenizer"),
    (W, "Why don't we use tokio here? Switch to it."),
    (W, "How about adding a cache?"),
    // Questions that end in an order.
    (W, "Why does the login fail? Fix it."),
    (W, "Why does the login fail, and can you fix it?"),
    (W, "Find out why the tests hang and fix it"),
    (
        W,
        "What is this flag for? Please remove it if it is unused.",
    ),
    (W, "Look into the memory leak, then write a regression test"),
    (W, "Explain the parser and document it in docs/parser.md"),
    (
        W,
        "Where is the timeout set? Set it to 30 seconds everywhere.",
    ),
    // Reports without an order.
    (W, "The login page crashes on empty input."),
    (W, "Tests fail on main since yesterday"),
    (W, "Dark mode"),
    (W, "Users should get an email when their export is ready."),
    (W, "Why is there no dark mode? There should be one."),
    (W, "The docs are broken. Any idea? They must build again."),
    (W, ""),
    (W, "Kannst du bitte einen Test hinzufügen?"),
    (W, "修复登录错误"),
    (W, "Implement this:\n- login\n- logout"),
    (
        W,
        "# Request\n\nAdd a logout button\n\n## Acceptance criteria\n- it logs out",
    ),
    // Questions.
    (Q, "Where do we validate tokens?"),
    (Q, "Why does the login fail?"),
    (Q, "why does the login fail"),
    (Q, "How do I add a new route?"),
    (Q, "What happens when I add a user and delete it?"),
    (Q, "Explain how to add a new route"),
    (Q, "Can you explain the retry logic?"),
    (Q, "Could you tell me which module parses the config?"),
    (Q, "Show me where sessions are stored"),
    (Q, "Is the cache thread-safe?"),
    (Q, "Does this project use async?"),
    (Q, "Should we rename the crate?"),
    (Q, "In the parser, where is the stack kept?"),
    (Q, "The build fails since yesterday. Any idea?"),
    (Q, "The build fails since yesterday. Why?"),
    (Q, "Describe the architecture"),
    (Q, "Summarise the last three commits"),
    (Q, "List all endpoints that need a token"),
    (Q, "I wonder how the scheduler picks the next step"),
    (Q, "I'd like to know how errors are reported."),
    (Q, "Which tests cover the limiter?"),
    (Q, "Hi, how can I run a single test?"),
    (Q, "What would it take to add dark mode?"),
    (Q, "Who wrote the first version of the router?"),
    (Q, "Help me understand the locking"),
    // Small changes that are named exactly.
    (T, "Fix the typo in README.md"),
    (T, "Typo in docs/intro.md: recieve"),
    (T, "fix typo in src/main.rs"),
    (T, "Rename the variable `cnt` to `count` in src/lib.rs"),
    (T, "Change \"Helo\" to \"Hello\" in index.html"),
    (T, "Set the timeout to 30 in config.toml"),
    (T, "Please bump the version to 1.2.4 in package.json"),
    (T, "Remove the trailing comma in package.json"),
    (T, "Remove the unused import in src/app.py"),
    (T, "Can you correct the spelling of `seperate` in NOTES.md?"),
    (T, "Replace `foo` with `bar` in Makefile"),
    // Almost small, but not named exactly, or not small enough.
    (W, "Fix all typos in the docs"),
    (W, "Fix the typo"),
    (W, "Rename the module auth to identity"),
    (W, "Rename `cnt` to `count` everywhere in src/lib.rs"),
    (W, "Replace `foo` with `bar` in a.rs and b.rs"),
    (W, "Fix the typo in README.md and add a section on testing"),
    (W, "Fix the bug in src/main.rs"),
    (
        W,
        "Set the timeout to 30 in config.toml. Add a test for it.",
    ),
    (W, "Change the API to return 404 in routes.rs"),
];

#[test]
fn the_size_decides_the_path() {
    let wrong: Vec<String> = SIZES
        .iter()
        .filter_map(|(size, text)| {
            let read = read(text);
            (read.size != *size)
                .then(|| format!("{size} but {}: {text:?} ({})", read.size, read.why))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn texts(claims: &[Requirement]) -> Vec<&str> {
    assert!(
        claims
            .iter()
            .all(|claim| claim.source == RequirementSource::Explicit)
    );
    claims.iter().map(|claim| claim.text.as_str()).collect()
}

#[test]
fn limits_and_wishes_are_found_in_prose() {
    let read = read(
        "Add rate limiting to the API. It must return 429 when the limit is hit. Do not add new \
         dependencies, e.g. redis. Do it without touching the tests. Log each hit so that we can \
         count them. When the window ends, the counter starts again. Which limit is usual?\n\n\
         ```\nyou must not read this\n```\n> somebody said: it must be blue\n",
    );
    assert_eq!(
        texts(&read.constraints),
        [
            "Do not add new dependencies, e.g. redis.",
            "Do it without touching the tests."
        ]
    );
    assert_eq!(
        texts(&read.criteria),
        [
            "It must return 429 when the limit is hit.",
            "Log each hit so that we can count them.",
            "When the window ends, the counter starts again."
        ]
    );
    assert_eq!(
        (&*read.title, read.size),
        ("Add rate limiting to the API", RequestSize::Work)
    );
}

#[test]
fn lists_under_headings_are_taken_whole() {
    let read = read(
        "# Request\n\nExport as CSV\n\n## Constraints\n- Python 3.9\n* standard library\n\
         \n**Acceptance criteria**\n1. a header row\n2) [ ] quoted commas\n- [x] quoted commas\n\
         Notes:\n- see the wiki\n",
    );
    assert_eq!(read.title, "Export as CSV");
    assert_eq!(texts(&read.constraints), ["Python 3.9", "standard library"]);
    assert_eq!(texts(&read.criteria), ["a header row", "quoted commas"]);
}

#[test]
fn titles_are_one_short_line() {
    let table = [
        ("Fix it. Now.", "Fix it"),
        ("# Request\n\nsee app.py line 3", "see app.py line 3"),
        ("- first\n- second", "first"),
        ("Task:\nDo this", "Do this"),
        ("", ""),
        ("## Rate limits\nmore", "Rate limits"),
    ];
    for (text, title) in table {
        assert_eq!(read(text).title, title, "{text:?}");
    }
    let long = read(&"word ".repeat(100)).title;
    assert!(
        long.ends_with("word…") && long.chars().count() <= LONGEST_TITLE + 1,
        "{long}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_within_bounds(text in "(?s).{0,300}", lines in "(- must [a-z]{1,5}\n){0,80}") {
        for text in [&text, &lines] {
            let read = read(text);
            prop_assert!(read.constraints.len() <= MOST_CLAIMS && read.criteria.len() <= MOST_CLAIMS);
            prop_assert!(read.title.chars().count() <= LONGEST_TITLE + 1);
            prop_assert!(!read.title.contains('\n') && !read.why.is_empty());
        }
    }
}
