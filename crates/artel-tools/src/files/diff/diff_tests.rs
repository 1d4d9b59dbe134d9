//! Tests patches as tools and models write them, and the results of applying them.

use ::similar::TextDiff;
use proptest::prelude::*;

use super::*;

fn unified(before: &str, after: &str, context: usize) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(context)
        .header("a/f", "b/f")
        .to_string()
}

/// Applies a patch of one file to a text.
fn apply(text: &str, patch: &str) -> Result<String, String> {
    let files = parse(patch)?;
    assert_eq!(files.len(), 1, "{files:?}");
    fit(text, &files[0].hunks).map_err(|unfit| format!("hunk {} {}", unfit.hunk, unfit.why))
}

fn names(patch: &str) -> Vec<(String, String)> {
    let files = parse(patch).unwrap();
    let name = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
    files
        .into_iter()
        .map(|file| (name(file.from), name(file.to)))
        .collect()
}

fn pair(from: &str, to: &str) -> (String, String) {
    (from.to_owned(), to.to_owned())
}

proptest! {
    #[test]
    fn a_difference_leads_there_and_back(
        before in "([abc+ -]{0,3}\n){0,12}[ab]{0,2}",
        after in "([abc+ -]{0,3}\n){0,12}[ab]{0,2}",
        context in 0_usize..4,
    ) {
        prop_assume!(before != after);
        let patch = unified(&before, &after, context);
        prop_assert_eq!(apply(&before, &patch).unwrap(), after.as_str(), "{}", patch);
        let back = parse(&patch).unwrap().remove(0).reversed().unwrap();
        prop_assert_eq!(fit(&after, &back.hunks).unwrap(), before);
    }

    #[test]
    fn any_text_is_read_without_panic(patch in "(@@|---|\\+\\+\\+|diff --git|\\*\\*\\* |Begin Patch|Update File: |[ab/\"\\\\ \n+-]){0,40}") {
        if let Ok(files) = parse(&patch) {
            for file in files {
                drop(fit("a\nb\n", &file.hunks));
            }
        }
    }

    #[test]
    fn hunks_find_their_lines_when_the_file_moved(
        lines in prop::collection::vec("[a-z]{4}", 8..20),
        above in prop::collection::vec("[A-Z]{3}", 0..5),
    ) {
        let before: String = lines.iter().enumerate().map(|(n, line)| format!("{n}{line}\n")).collect();
        let after = before.replace('5', "five");
        let moved: String = above.iter().map(|line| format!("{line}\n")).collect();
        let patch = unified(&before, &after, 2);
        prop_assert_eq!(
            apply(&format!("{moved}{before}"), &patch).unwrap(),
            format!("{moved}{after}")
        );
    }
}

#[test]
fn wrong_counts_and_lost_spaces_are_overlooked() {
    let text = "one\n\ntwo\nthree\n";
    let patches = [
        "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n one\n \n-two\n+2\n three\n",
        "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n one\n \n-two\n+2\n three\n",
        "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n one\n\n-two\n+2\n three",
        "--- f\n+++ f\n@@ ... @@\n-two\n+2\n",
        "```diff\n--- a/f\n+++ b/f\n@@ -3 +3 @@\n-two\n+2\n```\n",
    ];
    for patch in patches {
        assert_eq!(
            apply(text, patch).as_deref(),
            Ok("one\n\n2\nthree\n"),
            "{patch}"
        );
    }
}

#[test]
fn lines_that_look_like_headings_stay_lines() {
    let text = "-- a\n++ b\nlast\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n--- a\n+++ c\n-++ b\n last\n";
    assert_eq!(apply(text, patch).as_deref(), Ok("++ c\nlast\n"));
    let mail = "Subject: x\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -3 +3 @@\n-last\n+end\n-- \n2.47\n";
    assert_eq!(apply(text, mail).as_deref(), Ok("-- a\n++ b\nend\n"));
    let two = "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n-x\n+y\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(names(two), [pair("f", "f"), pair("g", "g")]);
}

#[test]
fn git_s_headings_are_understood() {
    let patch = "\
diff --git a/new.txt b/new.txt
new file mode 100755
index 0000000..e69de29
diff --git a/old name b/old name
deleted file mode 100644
--- a/old name\t
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/from b/to
similarity index 100%
rename from from
rename to to
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git \"a/\\303\\244\" \"b/\\303\\244\"
--- \"a/\\303\\244\"
+++ \"b/\\303\\244\"
@@ -1 +1 @@
-x
+y
diff --git a/a/c b/a/c
similarity index 90%
copy from a/b
copy to a/c
--- a/a/b
+++ b/a/c
@@ -1 +1 @@
-x
+y
";
    assert_eq!(
        names(patch),
        [
            pair("-", "new.txt"),
            pair("old name", "-"),
            pair("from", "to"),
            pair("run.sh", "run.sh"),
            pair("ä", "ä"),
            pair("a/b", "a/c"),
        ]
    );
    let files = parse(patch).unwrap();
    assert_eq!(files[0].new_mode, Some(0o100_755));
    assert_eq!(files[3].new_mode, Some(0o100_755));
    assert_eq!(files[5].keeps, PatchSourceHandling::Source);
    assert_eq!(
        names("--- src/x\n+++ src/x\n@@ -1 +1 @@\n-x\n+y\n"),
        [pair("src/x", "src/x")]
    );
}

#[test]
fn windows_line_ends_and_missing_last_ones_are_kept() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n";
    assert_eq!(
        apply("one\r\ntwo\r\n", patch).as_deref(),
        Ok("one\r\n2\r\n3\r\n")
    );
    let append = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n one\n+two\n";
    assert_eq!(apply("one", append).as_deref(), Ok("one\ntwo\n"));
    let above = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+zero\n one\n";
    assert_eq!(apply("one", above).as_deref(), Ok("zero\none"));
}

#[test]
fn the_envelope_is_understood() {
    let patch = "\
*** Begin Patch
*** Add File: new.txt
+one
+
*** Delete File: gone
*** Update File: src/a
*** Move to: src/b
@@ fn second() {
-    x
+    y
 }

@@
+last
*** End of File
*** End Patch
";
    assert_eq!(
        names(patch),
        [
            pair("-", "new.txt"),
            pair("gone", "-"),
            pair("src/a", "src/b")
        ]
    );
    let files = parse(patch).unwrap();
    assert_eq!(fit("", &files[0].hunks).as_deref(), Ok("one\n\n"));
    let text = "fn first() {\n    x\n}\nfn second() {\n    x\n}\n";
    assert_eq!(
        fit(text, &files[2].hunks).as_deref(),
        Ok("fn first() {\n    x\n}\nfn second() {\n    y\n}\nlast\n")
    );
}

#[test]
fn what_does_not_fit_is_said_exactly() {
    let table = [
        (
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-tow\n+2\n",
            "hunk 1 does not fit: line 2 should be `tow` and is `two`",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n three\n-four\n+4\n",
            "hunk 1 does not fit: line 4 should be `four`, but the file has 3 lines",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-2\n+two\n",
            "hunk 1 does not fit; its new lines are there already, so it may have been applied before",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n@@ fn none\n-x\n+y\n*** End Patch",
            "hunk 1 there is no line `fn none` after line 0",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n-x\n+y\n",
            "the patch has no `*** End Patch` line: it may have been cut off",
        ),
        (
            "*** Begin Patch\n*** Update File: f\nx\n*** End Patch",
            "line 3: `x` begins with none of `+`, `-`, space and `@@`",
        ),
        (
            "@@ -1 +1 @@\n-x\n+y\n",
            "line 1: no `--- ` and `+++ ` lines come before",
        ),
        (
            "Binary files a/x and b/x differ\n",
            "line 1: binary files cannot be patched",
        ),
    ];
    for (patch, expected) in table {
        assert_eq!(
            apply("one\ntwo\nthree\n", patch),
            Err(expected.to_owned()),
            "{patch}"
        );
    }
    assert!(
        parse("hello")
            .unwrap_err()
            .starts_with("there is no change")
    );
    let twice = "*** Begin Patch\n*** Update File: f\n-x\n+y\n*** End Patch";
    assert!(
        apply("x\nx\n", twice)
            .unwrap_err()
            .contains("fits at lines 1, 2")
    );
}
