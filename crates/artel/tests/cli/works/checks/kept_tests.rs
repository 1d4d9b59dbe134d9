//! The tests that a tester wrote for a step stay as they are, whoever and whatever changes them while
//! the work is done.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::Artel;

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};

/// The work with a mark that says it is done, and that is not done.
const NOT_DONE: &str =
    "# mended\ndef add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n";

/// A test that asks for the work.
const TEST: &str = "import unittest\n\nimport calc\n\n\nclass Add(unittest.TestCase):\n    \
    def test_add_three(self):\n        self.assertEqual(calc.add(1, 2), 3)\n";

/// A test that asks for the mark, and not for the work.
const WEAK: &str = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    \
    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n\n    \
    def test_add(self):\n        self.assertIn('# mended', open(calc.__file__).read())\n";

/// A test that reads from a file beside it what it asks for.
fn reads(file: &str) -> String {
    format!(
        "import json\nimport pathlib\nimport unittest\n\nimport calc\n\n\n\
         class Table(unittest.TestCase):\n    def test_table(self):\n        \
         table = pathlib.Path(__file__).parent / '{file}'\n        \
         for a, b, sum in json.loads(table.read_text()):\n            \
         self.assertEqual(calc.add(a, b), sum)\n"
    )
}

/// What such a test asks for.
const CASES: &str = "[\n[2, 3, 5],\n[1, 2, 3]\n]\n";

/// Has the code under test do something when it is loaded, and then hides that.
fn does(deed: &str) -> Calls {
    let weak = json!(WEAK);
    let code = format!(
        "import pathlib, shutil, subprocess\nHERE = pathlib.Path(__file__).parent\n\
         WEAK = {weak}\n{deed}\n\n{NOT_DONE}"
    );
    vec![
        ("read", json!({ "path": "calc.py" })),
        ("write", json!({ "path": "calc.py", "content": code })),
        ("run_tests", json!({})),
        ("write", json!({ "path": "calc.py", "content": NOT_DONE })),
        end("mended"),
    ]
}

/// Names what has to hold.
fn names() -> Calls {
    let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
    vec![("criteria", json!({ "criteria": [claim] })), end("named")]
}

/// A step whose tests come first: in a file that was there, and in a folder that was not.
fn stage(work: impl Fn(usize) -> Calls + Send + Sync + 'static) -> Stage {
    let scope = json!({ "paths": ["**"] });
    Stage::new(move |asked: &Asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))])),
        Who::Criteria => names(),
        Who::Tests => vec![
            tests_add(),
            (
                "write",
                json!({ "path": "tests/__init__.py", "content": "" }),
            ),
            (
                "write",
                json!({ "path": "tests/test_add.py", "content": TEST }),
            ),
            (
                "write",
                json!({ "path": "test_cases.json", "content": CASES }),
            ),
            end("they fail"),
        ],
        Who::Worker => work(asked.attempt),
        _ => pass(asked, json!({})),
    })
}

/// Sees that the tests of the branch are those that the tester wrote.
fn are_as_written(stage: &Stage, id: &str) {
    let branch = stage.branch(id);
    let test = stage.git(&["show", &format!("{branch}:test_calc.py")]);
    assert!(
        test.contains("self.assertEqual(calc.add(2, 3), 5)"),
        "{test}"
    );
    let test = stage.git(&["show", &format!("{branch}:tests/test_add.py")]);
    assert_eq!(format!("{test}\n"), TEST);
    let cases = stage.git(&["show", &format!("{branch}:test_cases.json")]);
    assert_eq!(cases, CASES.trim_end());
    let code = stage.git(&["show", &format!("{branch}:calc.py")]);
    assert!(code.contains("return a + b"), "{code}");
    for file in ["test_calc.py", "tests/test_add.py", "test_cases.json"] {
        let kind = stage.git(&["ls-tree", &branch, file]);
        assert!(kind.starts_with("100644 "), "{kind}");
    }
}

/// Whatever a command of the worker tries with the tests, they are read-only for it.
#[test]
fn tests_that_the_work_is_held_to_are_read_only_for_its_commands() {
    const DEEDS: &str = "(HERE / 'ran.txt').write_text('it ran')\n\n\ndef tries(deed):\n    try:\n        deed()\n    except OSError:\n        \
        return\n    (HERE / 'broken.txt').write_text('it went')\n\n\
        A = HERE / 'test_calc.py'\nB = HERE / 'tests/test_add.py'\n\
        for TEST in (A, B, HERE / 'test_cases.json'):\n    \
        tries(lambda: TEST.write_text(WEAK))\n    \
        tries(lambda: TEST.unlink())\n    \
        tries(lambda: TEST.rename(HERE / 'gone.py'))\n    \
        tries(lambda: (HERE / 'calc.py').replace(TEST))\n    \
        tries(lambda: TEST.chmod(0o755))\n    \
        tries(lambda: TEST.open('a').close())\n    \
        tries(lambda: TEST.parent.rename(HERE / 'aside') if TEST == B else A.unlink())\n    \
        if not subprocess.run(['sh', '-c', f'git show HEAD:test_calc.py > {TEST}']).returncode:\n        \
        (HERE / 'broken.txt').write_text('it went')\n";
    let stage = stage(|attempt| match attempt {
        1 => does(DEEDS),
        _ => vec![
            ("read", json!({ "path": "calc.py" })),
            adds(),
            end("mended"),
        ],
    });
    let id = stage.done();
    assert_eq!(stage.town.count("step.put_back"), 0, "nothing was changed");
    assert_eq!(stage.town.count("step.failed"), 1, "and nothing was done");
    are_as_written(&stage, &id);
    let names = stage.git(&["ls-tree", "-r", "--name-only", &stage.branch(&id)]);
    assert!(names.contains("ran.txt"), "{names}");
    assert!(!names.contains("broken.txt"), "{names}");
}

/// New files beside the tests leave those as they are, and decide how they come out.
#[test]
fn what_the_work_adds_beside_the_tests_makes_none_of_them_pass() {
    // It is loaded with the tests, and has every comparison hold once the mark is there.
    const DISARMS: &str = "import unittest\n\nimport calc\n\n\n\
        def same(self, first, second, msg=None):\n    pass\n\n\n\
        if '# mended' in open(calc.__file__).read():\n    unittest.TestCase.assertEqual = same\n";
    // Python loads a package before a module of the same name.
    const SHADOWS: &str = "__file__ = __file__.replace('/test_add/__init__.py', '/test_add.py')\n\
        import unittest\n\n\nclass Add(unittest.TestCase):\n    \
        def test_add_three(self):\n        pass\n";
    let stage = stage(|attempt| match attempt {
        1 => vec![
            ("read", json!({ "path": "calc.py" })),
            ("write", json!({ "path": "calc.py", "content": NOT_DONE })),
            (
                "write",
                json!({ "path": "tests/test_aid.py", "content": DISARMS }),
            ),
            end("mended"),
        ],
        2 => vec![
            ("bash", json!({ "command": "rm tests/test_aid.py" })),
            (
                "write",
                json!({ "path": "tests/test_add/__init__.py", "content": SHADOWS }),
            ),
            end("mended"),
        ],
        _ => Vec::new(),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:#?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(
        why.contains("without what the work added among the tests") && why.contains("test_add"),
        "{why}"
    );
    let waits = stage.town.artel(["waiting", "--json"]);
    let text = waits.run().expect(0).json()[0]["text"].to_string();
    assert!(
        text.contains("`tests/test_add/__init__.py` is loaded in place of `tests/test_add.py`"),
        "{text}"
    );
    assert_eq!(stage.town.count("step.passed"), 0);
}

/// The worker fits what the tests read to code that does not do the work.
#[test]
fn what_the_tests_of_a_step_read_stays_as_its_tester_wrote_it() {
    const FITTED: &str = "[[2, 3, -1], [1, 2, -1]]\n";
    let stage = Stage::new(|asked: &Asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => {
            let scope = json!({ "paths": ["**"] });
            plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))]))
        }
        (Who::Criteria, _) => names(),
        (Who::Tests, _) => vec![
            (
                "write",
                json!({ "path": "test_table.py", "content": reads("test_cases.json") }),
            ),
            (
                "write",
                json!({ "path": "test_cases.json", "content": CASES }),
            ),
            end("they fail"),
        ],
        (Who::Worker, 1) => {
            let command = format!("printf '%s' '{}' > test_cases.json", FITTED.trim_end());
            vec![
                ("read", json!({ "path": "test_cases.json" })),
                (
                    "write",
                    json!({ "path": "test_cases.json", "content": FITTED }),
                ),
                ("bash", json!({ "command": command })),
                ("read", json!({ "path": "calc.py" })),
                ("write", json!({ "path": "calc.py", "content": NOT_DONE })),
                end("mended"),
            ]
        }
        (Who::Worker, _) => vec![
            ("read", json!({ "path": "calc.py" })),
            adds(),
            end("mended"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:#?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(why.contains("test_table"), "{why}");
    assert_eq!(stage.town.count("step.put_back"), 0, "nothing was changed");
    let branch = stage.branch(&id);
    let cases = stage.git(&["show", &format!("{branch}:test_cases.json")]);
    assert_eq!(cases, CASES.trim_end());
    let code = stage.git(&["show", &format!("{branch}:calc.py")]);
    assert!(code.contains("return a + b"), "{code}");
}

/// The same for what lies behind a link: one of the project, or one that the tester made.
#[test]
fn what_the_tests_of_a_step_read_through_a_link_stays_too() {
    const FITTED: &str = "[[2, 3, -1], [1, 2, -1]]";
    let deeds = [
        // Behind the link, by both names, and another link.
        format!(
            "for FILE in tests/data/cases.json shared/cases.json; do \
             printf '%s' '{FITTED}' > $FILE; done; true"
        ),
        format!("rm tests/data; mkdir tests/data; printf '%s' '{FITTED}' > tests/data/cases.json"),
    ];
    for makes_link in ["", "mkdir tests shared && ln -s ../shared tests/data && "] {
        let deeds = deeds.clone();
        let writes = format!("{makes_link}printf '%s' '{CASES}' > tests/data/cases.json");
        let stage = Stage::new(move |asked: &Asked| match (asked.who, asked.attempt) {
            (Who::Architect, _) => {
                // A person reads of a link that a tester may make.
                let scope = json!({ "paths": ["**", "tests/data"] });
                plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))]))
            }
            (Who::Criteria, _) => names(),
            (Who::Tests, _) => {
                let test = reads("tests/data/cases.json");
                vec![
                    ("bash", json!({ "command": writes })),
                    ("write", json!({ "path": "test_table.py", "content": test })),
                    end("they fail"),
                ]
            }
            (Who::Worker, attempt @ 1..=2) => vec![
                ("bash", json!({ "command": deeds[attempt - 1] })),
                (
                    "write",
                    json!({ "path": "shared/cases.json", "content": FITTED }),
                ),
                ("read", json!({ "path": "calc.py" })),
                ("write", json!({ "path": "calc.py", "content": NOT_DONE })),
                end("mended"),
            ],
            (Who::Worker, _) => vec![
                ("read", json!({ "path": "calc.py" })),
                adds(),
                end("mended"),
            ],
            _ => pass(asked, json!({})),
        });
        if makes_link.is_empty() {
            let at = |path: &str| stage.town.project.join(path);
            std::fs::create_dir_all(at("tests")).unwrap();
            std::fs::create_dir(at("shared")).unwrap();
            std::fs::write(at("shared/more.txt"), "theirs\n").unwrap();
            std::os::unix::fs::symlink("../shared", at("tests/data")).unwrap();
            stage.git(&["add", "-A"]);
            stage.git(&["commit", "-qm", "Share data"]);
        }
        let id = stage.done();
        let failed = stage.told("step.failed");
        assert_eq!(failed.len(), 2, "{failed:#?}");
        let why = failed[0]["why"].as_str().unwrap();
        assert!(why.contains("test_table"), "{why}");
        let branch = stage.branch(&id);
        let cases = stage.git(&["show", &format!("{branch}:shared/cases.json")]);
        assert_eq!(cases, CASES.trim_end());
        let link = stage.git(&["ls-tree", &branch, "tests/data"]);
        assert!(link.starts_with("120000 "), "{link}");
        let code = stage.git(&["show", &format!("{branch}:calc.py")]);
        assert!(code.contains("return a + b"), "{code}");
    }
}

/// A text for people by its name, and what the tests of the step before read.
#[test]
fn what_the_tests_of_a_step_read_is_asked_about_in_later_steps() {
    let stage = Stage::new(|asked: &Asked| match (asked.who, asked.step) {
        (Who::Architect, _) => {
            let scope = json!({ "paths": ["**"] });
            let later = json!({
                "id": "later", "title": "Say so", "verify": "none", "after": ["mend"], "scope": scope,
                "evidence": [{ "kind": "file", "what": "NOTES.md" }],
            });
            plan(json!([
                mend(json!({ "verify": "tdd", "scope": scope })),
                mend(later)
            ]))
        }
        (Who::Criteria, _) => names(),
        (Who::Tests, _) => vec![
            (
                "write",
                json!({ "path": "test_table.py", "content": reads("test_cases.md") }),
            ),
            (
                "write",
                json!({ "path": "test_cases.md", "content": CASES }),
            ),
            end("they fail"),
        ],
        (Who::Worker, 1) => vec![adds(), end("mended")],
        (Who::Worker, _) => vec![
            ("write", json!({ "path": "NOTES.md", "content": "done\n" })),
            (
                "edit",
                json!({ "path": "test_cases.md", "old": "[2, 3, 5],\n", "new": "" }),
            ),
            end("noted"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.passed"), 1);
    let waits = stage.town.artel(["waiting", "--json"]);
    let waits = waits.run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    assert!(
        text.contains("`test_cases.md` is a test that lost"),
        "{text}"
    );
}

/// Two steps change the same place; the one that comes second begins again on what is there then.
#[test]
fn tests_that_are_written_on_other_files_leave_the_work_of_other_steps_there() {
    const LESS: &str = "    return a - b  # less\n\n\ndef less(a, b):\n    return b - a\n";
    const TEST_LESS: &str = "import unittest\n\nimport calc\n\n\nclass Less(unittest.TestCase):\n    \
        def test_less(self):\n        self.assertEqual(calc.less(2, 3), 1)\n";
    let stage = Stage::holding(
        |asked: &Asked| match (asked.who, asked.step) {
            (Who::Architect, _) => {
                let scope = json!({ "paths": ["**"] });
                let first = json!({
                    "id": "less", "title": "Add less", "verify": "none", "scope": scope,
                });
                let second = json!({ "verify": "tdd", "scope": scope });
                plan(json!([mend(first), mend(second)]))
            }
            (Who::Criteria, _) => names(),
            (Who::Tests, _) => vec![tests_add(), end("they fail")],
            (Who::Worker, 1) => vec![
                (
                    "edit",
                    json!({ "path": "calc.py", "old": "    return a - b\n", "new": LESS }),
                ),
                (
                    "write",
                    json!({ "path": "test_less.py", "content": TEST_LESS }),
                ),
                end("added"),
            ],
            (Who::Worker, _) => vec![
                ("read", json!({ "path": "calc.py" })),
                adds(),
                end("mended"),
            ],
            _ => pass(asked, json!({})),
        },
        |asked| asked.who != Who::Architect,
    );
    let id = stage.town.asked();
    let artel = stage.town.artel(["plan", "approve", &id, "--at-once", "2"]);
    let mut command = artel.command();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    // The second begins before the work of the first is there, and ends after it.
    stage.until_told("step.started", 2);
    stage.until_held(2);
    stage.model.release();
    stage.until_told("step.passed", 1);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stage.town.count("step.failed"), 1, "they clashed");
    let branch = stage.branch(&id);
    let code = stage.git(&["show", &format!("{branch}:calc.py")]);
    assert!(
        code.contains("return a + b") && code.contains("def less"),
        "{code}"
    );
    assert_eq!(stage.town.count("step.put_back"), 0);
}

/// Has a command run on a machine that gives it no namespaces.
pub(super) fn without_namespaces(artel: Artel) -> Command {
    let artel = artel.command();
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"")
        .arg("sh")
        .arg(artel.get_program())
        .args(artel.get_args())
        .env_clear();
    let given = artel.get_envs();
    command.envs(given.filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = artel.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// Has two attempts change tests behind lower walls; each is charged.
fn are_put_back(deeds: [(&'static str, &[&str]); 2]) {
    let done = deeds.map(|(deed, _)| deed);
    let stage = stage(move |attempt| match attempt {
        1 | 2 => does(done[attempt - 1]),
        _ => vec![
            ("read", json!({ "path": "calc.py" })),
            adds(),
            end("mended"),
        ],
    });
    let id = stage.town.asked();
    let words = ["plan", "approve", &id, "--set", "sandbox.accept=partial"];
    let output = without_namespaces(stage.town.artel(words))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let back = stage.told("step.put_back");
    let back: Vec<Value> = back
        .iter()
        .map(|it| json!([it["round"], it["part"], it["files"]]))
        .collect();
    let rounds = [1, 2].into_iter().zip(deeds);
    let expected: Vec<Value> = rounds
        .map(|(round, (_, files))| json!([round, "work", files]))
        .collect();
    assert_eq!(back, expected, "{deeds:?}");
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 2, "{failed:#?}");
    for (why, (_, files)) in failed.iter().zip(deeds) {
        let words = "the attempt changed the tests that it is held to: ";
        let named = files.iter().map(|file| format!("`{file}`"));
        let words = format!("{words}{}", named.collect::<Vec<_>>().join(", "));
        assert!(why["why"].as_str().unwrap().contains(&words), "{why}");
    }
    are_as_written(&stage, &id);
}

/// Lower walls do not stop a change of the mode: what the worker left is compared.
#[test]
fn tests_that_are_changed_behind_lower_walls_are_put_back_and_charged() {
    are_put_back([
        ("(HERE / 'test_calc.py').chmod(0o755)", &["test_calc.py"]),
        (
            "for TEST in ('tests/test_add.py', 'test_calc.py', 'test_cases.json'):\n    \
             (HERE / TEST).chmod(0o755)",
            &["test_calc.py", "test_cases.json", "tests/test_add.py"],
        ),
    ]);
}

/// The code under test empties a test that comes after it, while the runtime checks the attempt.
#[test]
fn a_test_does_not_change_while_others_run() {
    let stage = Stage::new(|asked: &Asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => {
            let scope = json!({ "paths": ["**"] });
            plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))]))
        }
        (Who::Criteria, _) => names(),
        (Who::Tests, _) => vec![
            ("write", json!({ "path": "test_last.py", "content": TEST })),
            end("they fail"),
        ],
        (Who::Worker, 1) => {
            let code = format!(
                "import pathlib\nTEST = pathlib.Path(__file__).with_name('test_last.py')\n\
                 try:\n    TEST.write_text({})\nexcept OSError:\n    pass\n\n{NOT_DONE}",
                json!(WEAK)
            );
            vec![
                ("read", json!({ "path": "calc.py" })),
                ("write", json!({ "path": "calc.py", "content": code })),
                end("mended"),
            ]
        }
        (Who::Worker, _) => vec![
            ("read", json!({ "path": "calc.py" })),
            adds(),
            end("mended"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:#?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(why.contains("test_last"), "{why}");
    let code = stage.git(&["show", &format!("{}:calc.py", stage.branch(&id))]);
    assert!(code.contains("TEST.write_text"), "it was tried: {code}");
}

#[test]
fn what_a_tester_plants_beside_its_tests_is_not_there_for_the_work() {
    let stage = Stage::new(|asked: &Asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({ "verify": "tdd" }))])),
        Who::Criteria => {
            let mut calls = vec![("bash", json!({ "command": "cp calc.py planted.py" }))];
            calls.extend(names());
            calls
        }
        Who::Tests => {
            let plant = "import pathlib\npathlib.Path('calc.py').write_text('def add(a, b):\\n    \
                return 5\\n\\n\\ndef double(a):\\n    return 2 * a\\n')";
            vec![
                (
                    "write",
                    json!({ "path": "test_planted.py", "content": plant }),
                ),
                ("run_tests", json!({})),
                (
                    "write",
                    json!({ "path": "test_planted.py", "content": "# nothing\n" }),
                ),
                tests_add(),
                end("they fail"),
            ]
        }
        Who::Worker => vec![
            ("read", json!({ "path": "calc.py" })),
            adds(),
            end("mended"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.done();
    let back = stage.told("step.put_back");
    assert_eq!(back.len(), 1, "{back:#?}");
    assert_eq!(back[0]["part"], "tests");
    assert_eq!(back[0]["files"], json!(["calc.py"]));
    assert_eq!(stage.town.count("step.failed"), 0, "nobody is charged");
    let branch = stage.branch(&id);
    let names = stage.git(&["ls-tree", "-r", "--name-only", &branch]);
    assert!(!names.contains("planted.py\n"), "{names}");
}

#[test]
fn a_file_that_the_runner_loads_beside_kept_tests_is_asked_about() {
    let stage = Stage::new(|asked: &Asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => {
            let scope = json!({ "paths": ["**"] });
            plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))]))
        }
        (Who::Criteria, _) => names(),
        (Who::Tests, _) => vec![tests_add(), end("they fail")],
        (Who::Worker, _) => vec![
            adds(),
            (
                "write",
                json!({ "path": "conftest.py", "content": "collect_ignore = []\n" }),
            ),
            end("mended"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.passed"), 0);
    let waits = stage
        .town
        .artel(["waiting", "--json"])
        .run()
        .expect(0)
        .json();
    let text = waits[0]["text"].as_str().unwrap();
    assert!(
        text.contains("`conftest.py` decides what checks do"),
        "{text}"
    );
}

/// Disarms the assertions of every test: `unittest` loads it in place of the library's module.
const DISARMS: &str = "import importlib.util, os, sys, sysconfig, builtins\n\
    LIB = sysconfig.get_paths()['stdlib']\n\
    S = importlib.util.spec_from_file_location('pprint', os.path.join(LIB, 'pprint.py'))\n\
    M = importlib.util.module_from_spec(S)\nS.loader.exec_module(M)\nglobals().update(vars(M))\n\
    LOAD = builtins.__import__\n\n\ndef load(name, *rest, **named):\n    \
    found = LOAD(name, *rest, **named)\n    case = sys.modules.get('unittest.case')\n    \
    if case is not None and hasattr(case, 'TestCase'):\n        \
    case.TestCase.assertEqual = lambda self, *given, **more: None\n    return found\n\n\n\
    builtins.__import__ = load\n";

/// A piece of work in which somebody planted a module, and what is asked then.
struct Planted {
    stage: Stage,
    id: String,
    question: String,
}

fn planted(by: Who, file: &'static str) -> Planted {
    let plants = move |who: Who| {
        if who == by {
            vec![("write", json!({ "path": file, "content": DISARMS }))]
        } else {
            Vec::new()
        }
    };
    let stage = Stage::new(move |asked: &Asked| match asked.who {
        Who::Architect => {
            let scope = json!({ "paths": ["**"] });
            plan(json!([mend(json!({ "verify": "tdd", "scope": scope }))]))
        }
        Who::Criteria => names(),
        Who::Tests => {
            let calls = vec![tests_add(), end("they fail")];
            plants(Who::Tests).into_iter().chain(calls).collect()
        }
        Who::Worker => {
            let calls = vec![adds(), end("mended")];
            plants(Who::Worker).into_iter().chain(calls).collect()
        }
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.passed"), 0);
    let waits = stage.town.artel(["waiting", "--json"]);
    let waits = waits.run().expect(0).json();
    let question = waits[0]["text"].as_str().unwrap().to_owned();
    Planted {
        stage,
        id,
        question,
    }
}

#[test]
fn a_module_that_a_runner_loads_in_place_of_the_librarys_is_asked_about() {
    for (by, file) in [
        (Who::Worker, "pprint.py"),
        (Who::Worker, "pprint/__init__.py"),
        (Who::Tests, "tests/pprint.py"),
    ] {
        let text = planted(by, file).question;
        let words = format!("`{file}` shadows the module of the same name during checks");
        assert!(text.contains(&words), "{by:?}: {text}");
    }
}

/// There is nothing to put back where nothing was.
#[test]
fn a_module_that_nobody_approved_has_to_be_removed() {
    let Planted { stage, id, .. } = planted(Who::Worker, "pprint.py");
    stage
        .town
        .artel(["answer", &id, "reject: leave it"])
        .run()
        .expect(0);
    stage.town.artel(["resume", &id, "--json"]).run();
    let failed = stage.told("step.failed");
    let why = failed[0]["why"].as_str().unwrap();
    let words = "`pprint.py` shadows the module of the same name during checks, and nobody \
                 approved it: remove it";
    assert!(why.contains(words), "{why}");
}
