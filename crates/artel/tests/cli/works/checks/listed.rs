//! The page of checks names tests that are there, and every test that is named after a check.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::support::tests_that_are_there;

#[test]
fn every_check_is_shown_by_tests_that_are_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(crates.join("../docs/checks.md")).unwrap();
    let there = tests_that_are_there();
    let named = Regex::new(r"`([a-z0-9_]{12,})`").unwrap();
    let named: BTreeSet<String> = named
        .captures_iter(&page)
        .map(|it| it[1].to_owned())
        .collect();
    let gone: Vec<_> = named.difference(&there).collect();
    assert!(gone.is_empty(), "on the page and not there: {gone:?}");
    let of_checks = Regex::new(r"^(exoframe|skills_agent|sylk_[2457])_[0-9]{2}_").unwrap();
    let unlisted: Vec<_> = there
        .iter()
        .filter(|name| of_checks.is_match(name) && !named.contains(*name))
        .collect();
    assert!(
        unlisted.is_empty(),
        "there and not on the page: {unlisted:?}"
    );
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'));
    assert!(rows.count() > 50, "a row for each check");
}
