//! The checks from end to end: real programs in the real sandbox. This program is its own starter,
//! as Artel's is, so it has a `main` instead of the usual harness.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "it lists its tests like any harness")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test program reads the clock and the environment itself"
)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use artel_files::{Guard, Op, Refusal, Root};
use artel_policy::{Action, Place, redact};
use artel_rules::patience::Graces;
use artel_sandbox::proxy::{Passage, Reach};
use artel_sandbox::run::{Cancel, Live};
use artel_sandbox::slots::{Slots, Who};
use artel_sandbox::{Demand, Level, Limits, Sandbox, Setup, Standard, View};
use artel_tools::{Audience, Bench, Judge, Keys, Tool, TroubleKind, Workroom, check_tools};
use artel_types::{Clock, Secret, Timestamp};
use serde_json::json;

const TESTS: &[(&str, fn())] = &[
    (
        "a_failing_test_has_its_name_message_and_line",
        a_failing_test_has_its_name_message_and_line,
    ),
    (
        "nothing_runs_without_a_framework",
        nothing_runs_without_a_framework,
    ),
];

fn main() {
    artel_sandbox::enter_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        }
        return;
    }
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, test) in TESTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
}

fn a_failing_test_has_its_name_message_and_line() {
    let shop = Shop::new(&[
        ("py/setup.py", ""),
        (
            "py/tests/test_sums.py",
            "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_good(self):\n        \
             self.assertEqual(2, 2)\n\n    def test_bad(self):\n        self.assertEqual(2, 3, 'broken')\n",
        ),
    ]);
    let Some(shop) = shop else { return };
    let tool = tool("run_tests");
    let words = tool.intends(&json!({}), &shop.bench).unwrap();
    let expected = ["python3", "-m", "unittest", "discover", "-s", "tests"].map(str::to_owned);
    assert_eq!(words, [Action::Words(expected.into())]);
    let seen = tool.run(&json!({}), &shop.bench).unwrap();
    assert!(
        seen.text.starts_with("1 passed, 1 failed, 0 skipped"),
        "{}",
        seen.text
    );
    let failure = &seen.data["runs"][0]["failures"][0];
    assert_eq!(failure["name"], "test_sums.Sums.test_bad");
    assert_eq!(failure["file"], "py/tests/test_sums.py");
    assert_eq!(failure["line"], 9);
    assert_eq!(failure["message"], "AssertionError: 2 != 3 : broken");
    let one = json!({"file": "py/tests/test_sums.py", "test": "Sums.test_good"});
    let seen = tool.run(&one, &shop.bench).unwrap();
    assert_eq!(
        (&seen.data["passed"], &seen.data["failed"]),
        (&json!(1), &json!(0)),
        "{}",
        seen.text
    );
}

fn nothing_runs_without_a_framework() {
    let Some(shop) = Shop::new(&[("notes.txt", "hello")]) else {
        return;
    };
    for name in ["run_tests", "diagnostics"] {
        let trouble = tool(name).run(&json!({}), &shop.bench).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::NotFound);
    }
    let trouble = tool("run_tests").run(&json!({}), &shop.bench).unwrap_err();
    assert_eq!(trouble.what, "no test framework detected");
    let seen = tool("format")
        .run(&json!({"paths": ["notes.txt"]}), &shop.bench)
        .unwrap();
    assert!(
        seen.text.contains("no formatter available"),
        "{}",
        seen.text
    );
    assert!(
        fs::read_dir(&shop.spool).unwrap().next().is_none(),
        "something was started"
    );
}

fn tool(name: &str) -> Arc<dyn Tool> {
    check_tools()
        .into_iter()
        .find(|tool| tool.card().name == name)
        .unwrap()
}

/// A tree with a sandbox around it.
struct Shop {
    _dir: tempfile::TempDir,
    spool: std::path::PathBuf,
    bench: Bench,
}

struct Anything;

impl Judge for Anything {
    fn in_place(&self, _: &Place) -> Arc<dyn Guard + Send + Sync> {
        Arc::new(|_: &Path, _: Op| Ok::<(), Refusal>(()))
    }
}

struct Nobody;

impl Keys for Nobody {
    fn secret(&self, _: &str) -> Option<Secret> {
        None
    }
}

impl Audience for Nobody {
    fn output(&self, _: &Live<'_>) {}
    fn passage(&self, _: &Passage) {}
    fn waiting(&self, _: &str) {}
}

impl Shop {
    /// Makes a tree; nothing where the machine has no walls or no Python to run behind them.
    fn new(files: &[(&str, &str)]) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let (tree, spool) = (dir.path().join("tree"), dir.path().join("spool"));
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir_all(&spool).unwrap();
        for (path, content) in files {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let sandbox = Sandbox::new(Setup::of_this_program().unwrap()).unwrap();
        let level = sandbox.engaged().level;
        if level == Level::None || !Path::new("/usr/bin/python3").exists() {
            println!("not run: the sandbox has level {level}, or there is no /usr/bin/python3");
            return None;
        }
        let root = Root::open(&tree).unwrap();
        let mut view = View::standard(&Standard {
            home: None,
            path: vec!["/usr/bin".into(), "/bin".into()],
            read: Vec::new(),
        });
        view.write.push(root.path().to_owned());
        let mut bench = Bench::new(root, Arc::new(Anything), "tester");
        bench.workroom = Some(Arc::new(Workroom {
            sandbox,
            demand: Demand(level),
            view,
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            limits: Limits::default(),
            spool: spool.clone(),
            clock: clock(),
            graces: Graces::default(),
            known: Vec::new(),
            formats: redact::formats_with_fields(Vec::<String>::new()),
            reach: Reach::default(),
            keys: Arc::new(Nobody),
            audience: Arc::new(Nobody),
            slots: Slots::of_cores(dir.path().join("slots"), NonZeroUsize::MIN).unwrap(),
            who: Who::Person,
            cancel: Cancel::new().unwrap(),
            count: AtomicU64::new(1),
        }));
        Some(Self {
            _dir: dir,
            spool,
            bench,
        })
    }
}

fn clock() -> Clock {
    let start = Instant::now();
    Clock::new(|| Timestamp::from_micros(0), move || start.elapsed())
}
