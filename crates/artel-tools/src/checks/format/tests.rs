use std::fs;
use std::sync::Arc;

use artel_files::{FileAccessGuard, RootFolder};
use serde_json::Value;

use super::*;
use crate::PlaceGuardProvider;

struct Anything;

impl PlaceGuardProvider for Anything {
    fn in_place(&self, _: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(any)
    }
}

/// Formats `src/a.rs` with a formatter that does `deed` to the tree.
fn formatted(
    exit: i64,
    deed: impl FnOnce(&Path),
) -> (Result<FormatOutcome, ToolError>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/a.rs"), "fn  a() {}\n").unwrap();
    fs::write(dir.path().join("src/b.rs"), "fn  b() {}\n").unwrap();
    let bench = ToolContext::new(
        RootFolder::open(dir.path()).unwrap(),
        Arc::new(Anything),
        "engineer",
    );
    let target = file("src/../src/a.rs", &bench).unwrap();
    let end = format(&bench, &target, || {
        deed(dir.path());
        Ok(CheckProgramOutput {
            exit,
            stdout: String::new(),
            stderr: "error: expected an item\n".to_owned(),
            excerpt: String::new(),
            data: Value::Null,
        })
    });
    (end.map(|(end, _)| end), dir)
}

fn text(dir: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

#[test]
fn a_file_counts_as_changed_only_if_its_content_is_another() {
    let (end, _) = formatted(0, |root| {
        fs::write(root.join("src/a.rs"), "fn a() {}\n").unwrap()
    });
    assert_eq!(end, Ok(FormatOutcome::Changed));
    let (end, _) = formatted(0, |root| {
        fs::write(root.join("src/a.rs"), "fn  a() {}\n").unwrap()
    });
    assert_eq!(end, Ok(FormatOutcome::Same));
    let (end, _) = formatted(0, |_| {});
    assert_eq!(end, Ok(FormatOutcome::Same));
}

#[test]
fn a_formatter_that_fails_leaves_the_file_intact_and_says_why() {
    for deed in [
        (|root: &Path| fs::write(root.join("src/a.rs"), "").unwrap()) as fn(&Path),
        |root| fs::remove_file(root.join("src/a.rs")).unwrap(),
        |_| {},
    ] {
        let (end, dir) = formatted(1, deed);
        assert_eq!(
            end,
            Ok(FormatOutcome::Failed("error: expected an item".to_owned()))
        );
        assert_eq!(text(&dir, "src/a.rs"), "fn  a() {}\n");
    }
}

#[test]
fn other_files_are_put_back() {
    let (end, dir) = formatted(0, |root| {
        fs::write(root.join("src/a.rs"), "fn a() {}\n").unwrap();
        fs::write(root.join("src/b.rs"), "fn b() {}\n").unwrap();
    });
    assert_eq!(end, Ok(FormatOutcome::Changed));
    assert_eq!(text(&dir, "src/a.rs"), "fn a() {}\n");
    assert_eq!(text(&dir, "src/b.rs"), "fn  b() {}\n");
}
