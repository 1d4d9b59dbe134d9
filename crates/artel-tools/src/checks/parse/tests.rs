use proptest::prelude::*;

use super::*;
use crate::checks::report::{TestCounts, TestFailureDetail};
use crate::checks::runner::RUNNERS;

fn read(runner: TestRunner, text: &str) -> TestRunReport {
    let printed = TestRunnerOutput {
        stdout: text,
        stderr: "",
        module: "example.com/shop",
    };
    parse(runner, printed)
}

fn counts(passed: u64, failed: u64, skipped: u64) -> Option<TestCounts> {
    Some(TestCounts {
        passed,
        failed,
        skipped,
    })
}

/// Returns the name, the place, and a part of the message of each failure.
fn failures(report: &TestRunReport) -> Vec<(&str, String, &str)> {
    let line = |failure: &TestFailureDetail| failure.place().unwrap_or_default();
    let first =
        |failure: &'_ TestFailureDetail| failure.message.lines().next().unwrap_or_default().len();
    let all = report.failures.iter();
    all.map(|failure| {
        (
            failure.name.as_str(),
            line(failure),
            &failure.message[..first(failure)],
        )
    })
    .collect()
}

fn own(all: &[(&'static str, &str, &'static str)]) -> Vec<(&'static str, String, &'static str)> {
    all.iter()
        .map(|(name, place, message)| (*name, (*place).to_owned(), *message))
        .collect()
}

#[test]
fn cargo_test_says_which_tests_failed_where() {
    let report = read(TestRunner::Cargo, include_str!("samples/cargo.txt"));
    assert_eq!(report.counts, counts(2, 3, 1));
    assert_eq!(report.millis, Some(1800));
    assert_eq!(
        failures(&report),
        own(&[
            (
                "tests::bad",
                "src/lib.rs:10",
                "assertion `left == right` failed: one is two"
            ),
            ("fails", "", "Error: \"no way\""),
            (
                "index",
                "tests/whole.rs:4",
                "index out of bounds: the len is 0 but the index is 1"
            ),
        ])
    );
}

#[test]
fn nextest_says_the_same() {
    let report = read(TestRunner::Cargo, include_str!("samples/nextest.txt"));
    assert_eq!(report.counts, counts(1, 3, 1));
    assert_eq!(report.millis, Some(693));
    assert_eq!(
        failures(&report),
        own(&[
            ("rs::whole fails", "", "    Error: \"no way\"".trim_start()),
            (
                "rs tests::bad",
                "src/lib.rs:10",
                "assertion `left == right` failed: one is two"
            ),
            (
                "rs::whole index",
                "tests/whole.rs:4",
                "index out of bounds: the len is 0 but the index is 1"
            ),
        ])
    );
}

#[test]
fn a_panic_in_the_older_form_has_its_place() {
    let text = "---- old stdout ----\nthread 'old' panicked at 'no way', src/lib.rs:7:5\n\nfailures:\n    old\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let report = read(TestRunner::Cargo, text);
    assert_eq!(failures(&report), own(&[("old", "src/lib.rs:7", "no way")]));
}

#[test]
fn what_does_not_compile_is_a_failure() {
    let text = "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\nerror: could not compile `shop`\n";
    let report = read(TestRunner::Cargo, text);
    assert_eq!(report.counts, None);
    assert_eq!(
        failures(&report),
        own(&[(
            "(does not compile)",
            "src/lib.rs:3",
            "error[E0308]: mismatched types"
        )])
    );
}

#[test]
fn go_test_is_read_as_text_and_as_json() {
    let report = read(TestRunner::Go, include_str!("samples/go.txt"));
    assert_eq!(report.counts, counts(2, 2, 1));
    assert_eq!(report.millis, Some(17));
    assert_eq!(
        failures(&report),
        own(&[
            (
                "TestBad",
                "sum/sum_test.go:12",
                "sum_test.go:12: Sum(1, 1) = 2, want 3"
            ),
            (
                "TestTable/one",
                "sum/sum_test.go:24",
                "sum_test.go:24: got 1"
            ),
        ])
    );
    let report = read(TestRunner::Go, include_str!("samples/go.json"));
    assert_eq!(report.counts, counts(1, 1, 1));
    assert_eq!(report.millis, Some(13));
    assert_eq!(
        failures(&report),
        own(&[(
            "TestTable/one",
            "sum/sum_test.go:24",
            "sum_test.go:24: got 1"
        )])
    );
}

#[test]
fn go_that_does_not_build_is_a_failure() {
    let text = "# example.com/shop/sum [example.com/shop/sum.test]\n./sum.go:3:5: undefined: x\nFAIL\texample.com/shop/sum [build failed]\n";
    let report = read(TestRunner::Go, text);
    assert_eq!(
        failures(&report),
        own(&[("(does not build)", "sum.go:3", "undefined: x")])
    );
}

#[test]
fn pytest_is_read_with_and_without_its_header() {
    for text in [
        include_str!("samples/pytest.txt"),
        include_str!("samples/pytest-q.txt"),
    ] {
        let report = read(TestRunner::Pytest, text);
        assert_eq!(report.counts, counts(2, 5, 3));
        assert!(report.millis.is_some());
        assert_eq!(
            failures(&report),
            own(&[
                (
                    "test_a.py::Sums::test_bad",
                    "test_a.py:9",
                    "AssertionError: 2 != 3 : sums are broken"
                ),
                (
                    "test_a.py::Sums::test_error",
                    "test_a.py:12",
                    "ValueError: boom"
                ),
                (
                    "test_b.py::test_bad",
                    "test_b.py:9",
                    "AssertionError: lists differ"
                ),
                (
                    "test_b.py::test_deep",
                    "test_b.py:12",
                    "TypeError: unsupported operand type(s) for /: 'NoneType' and 'int'",
                ),
                (
                    "test_b.py::test_fix",
                    "test_b.py:24",
                    "RuntimeError: no database"
                ),
            ])
        );
    }
}

#[test]
fn pytest_without_tests_has_counts() {
    assert_eq!(
        read(TestRunner::Pytest, "no tests ran in 0.01s\n").counts,
        counts(0, 0, 0)
    );
}

#[test]
fn unittest_has_the_line_of_the_test_itself() {
    let report = read(TestRunner::Unittest, include_str!("samples/unittest.txt"));
    assert_eq!(report.counts, counts(1, 2, 1));
    assert_eq!(report.millis, Some(1));
    assert_eq!(
        failures(&report),
        own(&[
            (
                "test_a.Sums.test_error",
                "/home/me/shop/py/test_a.py:12",
                "ValueError: boom"
            ),
            (
                "test_a.Sums.test_bad",
                "/home/me/shop/py/test_a.py:9",
                "AssertionError: 2 != 3 : sums are broken"
            ),
        ])
    );
}

#[test]
fn runners_of_javascript_are_read() {
    let report = read(TestRunner::Jest, include_str!("samples/jest.txt"));
    assert_eq!(report.counts, counts(1, 1, 1));
    assert_eq!(report.millis, Some(893));
    assert_eq!(
        failures(&report),
        own(&[(
            "sum › is wrong",
            "src/sum.test.js:3",
            "expect(received).toBe(expected) // Object.is equality"
        )])
    );
    let report = read(TestRunner::Vitest, include_str!("samples/vitest.txt"));
    assert_eq!(report.counts, counts(1, 1, 1));
    assert_eq!(report.millis, Some(474));
    assert_eq!(
        failures(&report),
        own(&[(
            "a.test.js > sum > is wrong",
            "a.test.js:4",
            "AssertionError: expected 2 to be 3 // Object.is equality",
        )])
    );
    let report = read(TestRunner::Mocha, include_str!("samples/mocha.txt"));
    assert_eq!(report.counts, counts(1, 1, 1));
    assert_eq!(report.millis, Some(11));
    assert_eq!(
        failures(&report),
        own(&[(
            "sum > is wrong",
            "m.spec.js:4",
            "AssertionError [ERR_ASSERTION]: 2 == 3"
        )])
    );
}

#[test]
fn a_test_of_node_is_not_counted_for_its_subtests() {
    let report = read(TestRunner::Node, include_str!("samples/node.tap"));
    assert_eq!(report.counts, counts(2, 2, 1));
    assert_eq!(report.millis, Some(261));
    let file = "/home/me/shop/js/test/a.test.js";
    let all = failures(&report);
    assert_eq!(
        all[0],
        (
            "fails here",
            format!("{file}:4"),
            "Expected values to be strictly equal:"
        )
    );
    assert_eq!(all[1], ("inner fails", format!("{file}:6"), "boom"));
}

#[test]
fn npm_test_is_read_whatever_runs_behind_it() {
    for sample in [
        include_str!("samples/jest.txt"),
        include_str!("samples/vitest.txt"),
        include_str!("samples/mocha.txt"),
    ] {
        assert_eq!(read(TestRunner::Npm, sample).counts, counts(1, 1, 1));
    }
    assert_eq!(
        read(TestRunner::Npm, include_str!("samples/node.tap")).counts,
        counts(2, 2, 1)
    );
}

#[test]
fn other_runners_have_their_counts() {
    let table = [
        (
            TestRunner::Rspec,
            "Finished in 0.5 seconds\n12 examples, 2 failures, 1 pending\n",
            counts(9, 2, 1),
        ),
        (
            TestRunner::Minitest,
            "5 runs, 9 assertions, 1 failures, 1 errors, 1 skips\n",
            counts(2, 2, 1),
        ),
        (
            TestRunner::Maven,
            "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1\n",
            counts(1, 2, 1),
        ),
        (
            TestRunner::Ctest,
            "75% tests passed, 1 tests failed out of 4\n",
            counts(3, 1, 0),
        ),
        (
            TestRunner::Mix,
            "3 tests, 1 failure, 1 skipped\n",
            counts(1, 1, 1),
        ),
        (
            TestRunner::Phpunit,
            "OK (3 tests, 5 assertions)\n",
            counts(3, 0, 0),
        ),
        (
            TestRunner::Phpunit,
            "Tests: 3, Assertions: 5, Failures: 1, Skipped: 1.\n",
            counts(1, 1, 1),
        ),
        (
            TestRunner::Bun,
            " 2 pass\n 1 fail\n 3 expect() calls\n",
            counts(2, 1, 0),
        ),
    ];
    for (runner, text, expected) in table {
        assert_eq!(read(runner, text).counts, expected, "{runner:?}");
    }
}

#[test]
fn colours_are_no_obstacle() {
    let text = "\u{1b}[31m1 failed\u{1b}[0m, \u{1b}[32m2 passed\u{1b}[0m in 0.10s\r\n";
    assert_eq!(read(TestRunner::Pytest, text).counts, counts(2, 1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_has_an_answer(text in "(?s).{0,400}") {
        for runner in RUNNERS {
            read(runner, &text);
        }
    }

    /// Pieces of real output in any order reach more edge cases than random text.
    #[test]
    fn any_mixture_of_real_lines_has_an_answer(picks in prop::collection::vec((0..400_usize, 0..80_usize), 0..60)) {
        let samples = [
            include_str!("samples/cargo.txt"), include_str!("samples/nextest.txt"),
            include_str!("samples/go.txt"), include_str!("samples/go.json"),
            include_str!("samples/pytest.txt"), include_str!("samples/unittest.txt"),
            include_str!("samples/jest.txt"), include_str!("samples/vitest.txt"),
            include_str!("samples/mocha.txt"), include_str!("samples/node.tap"),
        ];
        let lines: Vec<&str> = samples.iter().flat_map(|sample| sample.lines()).collect();
        let text: String = picks.iter().map(|(at, cut)| {
            let line: String = lines[at % lines.len()].chars().take(*cut).collect();
            line + "\n"
        }).collect();
        for runner in RUNNERS {
            read(runner, &text);
        }
    }
}

#[test]
fn tests_are_named_where_the_output_names_them_all() {
    let names = |runner, text: &str| {
        let names = read(runner, text).names?;
        Some((names.passed.join(", "), names.skipped.join(", ")))
    };
    let said = |passed: &str, skipped: &str| Some((passed.to_owned(), skipped.to_owned()));
    let cargo = "running 3 tests\ntest tests::good ... ok\ntest tests::later ... ignored, slow\n\
                 test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                 test src/lib.rs - one (line 3) ... ok\ntest src/lib.rs - one (line 9) ... ok\n\
                 test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(
        names(TestRunner::Cargo, cargo),
        said(
            "src/lib.rs - one, src/lib.rs - one (2), tests::good",
            "tests::later"
        )
    );
    let unittest = "test_doc (test_a.Sums.test_doc)\nSays what it does. ... ok\n\
                    test_bad (test_a.Sums.test_bad) ... FAIL\n\
                    test_skip (test_a.Sums.test_skip) ... skipped 'later'\n\
                    Ran 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n";
    assert_eq!(
        names(TestRunner::Unittest, unittest),
        said("test_a.Sums.test_doc", "test_a.Sums.test_skip")
    );
    let pytest = "test_a.py::Sums::test_good PASSED    [ 50%]\n\
                  test_a.py::test_later SKIPPED (slow) [100%]\n\
                  ==== 1 passed, 1 skipped in 0.01s ====\n";
    assert_eq!(
        names(TestRunner::Pytest, pytest),
        said("test_a.py::Sums::test_good", "test_a.py::test_later")
    );
    let jest = include_str!("samples/jest.txt");
    assert_eq!(
        names(TestRunner::Jest, jest),
        said(
            "src/sum.test.js › sum › adds",
            "src/sum.test.js › sum › later"
        )
    );
    let vitest = " ✓ a.test.js > sum > adds 2ms\n ↓ a.test.js > sum > later\n\
                  \n Tests  1 passed | 1 skipped (2)\n";
    assert_eq!(
        names(TestRunner::Vitest, vitest),
        said("a.test.js > sum > adds", "a.test.js > sum > later")
    );
    let go = "{\"Action\":\"pass\",\"Package\":\"example.com/shop\",\"Test\":\"TestSum\"}\n\
              {\"Action\":\"skip\",\"Package\":\"example.com/shop\",\"Test\":\"TestLater\"}\n";
    assert_eq!(
        names(TestRunner::Go, go),
        said("example.com/shop TestSum", "example.com/shop TestLater")
    );
    // Dots name no tests, and neither does truncated output.
    assert_eq!(
        names(TestRunner::Unittest, include_str!("samples/unittest.txt")),
        None
    );
    assert_eq!(
        names(TestRunner::Pytest, include_str!("samples/pytest.txt")),
        None
    );
    let cut = cargo.find("test tests::later").unwrap();
    assert_eq!(names(TestRunner::Cargo, &cargo[cut..]), None);
}

#[test]
fn coverage_is_what_the_projects_own_tool_says() {
    let table = [
        (
            "TOTAL      120      6    95%\n1 passed in 0.1s",
            Some("95%"),
        ),
        ("All files |   91.66 |       50 |\n", Some("91.66%")),
        (
            "ok  shop 0.1s  coverage: 80.0% of statements\n",
            Some("80.0%"),
        ),
        ("72.50% coverage, 29/40 lines covered\n", Some("72.50%")),
        ("we want 95% one day\n", None),
    ];
    for (text, expected) in table {
        let found = read(TestRunner::Pytest, text).coverage;
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}
