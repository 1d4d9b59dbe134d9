//! Patches, on trees.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use artel_tools::ToolErrorKind::{BadInput, Mismatch, NotFound, Refused, Unfit};
use proptest::prelude::*;
use serde_json::json;
use similar::TextDiff;

use crate::{Shop, contains};

fn mode(shop: &Shop, path: &str) -> u32 {
    shop.at(path).metadata().unwrap().permissions().mode() & 0o777
}

const GIT: &str = "\
diff --git a/new.sh b/new.sh
new file mode 100755
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+echo new
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-x
-y
\\ No newline at end of file
diff --git a/old/name b/new/name
similarity index 80%
rename from old/name
rename to new/name
--- a/old/name
+++ b/new/name
@@ -1,2 +1,2 @@
 keep
-two
+2
diff --git a/run b/run
old mode 100644
new mode 100755
";

fn before() -> [(&'static str, &'static str); 3] {
    [
        ("gone", "x\ny"),
        ("old/name", "keep\ntwo\n"),
        ("run", "r\n"),
    ]
}

#[test]
fn files_are_made_deleted_renamed_and_made_runnable_and_back() {
    let shop = Shop::new(&before());
    fs::set_permissions(shop.at("run"), Permissions::from_mode(0o640)).unwrap();
    let start = shop.everything();
    let said = shop.does("apply_patch", json!({"patch": GIT}));
    insta::assert_snapshot!(said, @"
    created `new.sh`
    deleted `gone`
    renamed `old/name` to `new/name` (+1 -1)
    changed `run`
    ");
    assert_eq!(shop.content("new.sh"), "echo new\n");
    assert_eq!(shop.content("new/name"), "keep\n2\n");
    assert!(!shop.at("gone").exists() && !shop.at("old/name").exists());
    assert_eq!((mode(&shop, "new.sh"), mode(&shop, "run")), (0o755, 0o750));
    shop.does("apply_patch", json!({"patch": GIT, "reverse": true}));
    let mut end = shop.everything();
    // A folder that is empty now is no concern of a patch.
    end.retain(|path, _| !path.ends_with("new"));
    assert_eq!(end, start);
    assert_eq!(mode(&shop, "run"), 0o640);
}

#[test]
fn nothing_is_changed_when_a_part_does_not_fit() {
    let shop = Shop::new(&before());
    let start = shop.everything();
    let more = |hunk: &str| json!({"patch": format!("{GIT}{hunk}")});
    let table = [
        (
            "--- a/run\n+++ b/run\n@@ -1 +1 @@\n-wrong\n+x\n",
            Mismatch,
            "`run`: hunk 1 of 1 (`@@ -1 +1 @@`) does not fit: line 1 should be `wrong` and is `r`",
        ),
        (
            "--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-x\n+y\n",
            NotFound,
            "there is no `gone`",
        ),
        (
            "--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n",
            Mismatch,
            "`run` exists already",
        ),
        (
            "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n",
            NotFound,
            "there is no `none`",
        ),
        (
            "--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n",
            Refused,
            "leads outside",
        ),
        (
            "--- /dev/null\n+++ b/fixed\n@@ -0,0 +1 @@\n+x\n",
            Refused,
            "the test says so",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            Unfit,
            "a link",
        ),
        ("Binary files a/x and b/x differ\n", BadInput, "binary"),
    ];
    for (hunk, kind, said) in table {
        contains(&shop.fails("apply_patch", more(hunk), kind), said);
        assert_eq!(shop.everything(), start, "{hunk}");
    }
    let short = "--- a/old/name\n+++ /dev/null\n@@ -1 +0,0 @@\n-keep\n";
    contains(
        &shop.fails("apply_patch", json!({"patch": short}), Mismatch),
        "has 1 more lines",
    );
}

#[test]
fn the_envelope_works_on_trees_too() {
    let shop = Shop::new(&before());
    let patch = "*** Begin Patch\n*** Add File: a/b\n+one\n*** Update File: old/name\n@@ keep\n-two\n+2\n\
        *** Delete File: gone\n*** End Patch";
    let done = shop.run("apply_patch", json!({"patch": patch})).unwrap();
    assert_eq!(done.changed, ["a/b", "old/name", "gone"]);
    assert_eq!(
        (shop.content("a/b"), shop.content("old/name")),
        ("one\n".to_owned(), "keep\n2\n".to_owned())
    );
    assert!(!shop.at("gone").exists());
    let back = shop.fails(
        "apply_patch",
        json!({"patch": patch, "reverse": true}),
        BadInput,
    );
    contains(&back, "deleted without its lines");
}

#[test]
fn encodings_and_line_ends_are_kept() {
    let shop = Shop::new(&[("crlf", "a\r\nb\r\n")]);
    fs::write(shop.at("latin"), b"\xfc\nb\n").unwrap();
    let patch = "--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n ü\n-b\n+ß\n";
    shop.does("apply_patch", json!({"patch": patch}));
    assert_eq!(shop.content("crlf"), "a\r\nc\r\n");
    assert_eq!(shop.bytes("latin"), b"\xfc\n\xdf\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_difference_leads_there_and_back(
        one in "([a-cä]{0,2}\n){0,9}[ab]{0,2}",
        other in "([a-cä]{0,2}\n){0,9}[ab]{0,2}",
    ) {
        prop_assume!(one != other);
        let shop = Shop::new(&[("f", &one)]);
        let patch = TextDiff::from_lines(&one, &other).unified_diff().header("a/f", "b/f").to_string();
        shop.run("apply_patch", json!({"patch": patch})).unwrap();
        prop_assert_eq!(shop.content("f"), other);
        shop.run("apply_patch", json!({"patch": patch, "reverse": true})).unwrap();
        prop_assert_eq!(shop.content("f"), one);
    }
}
