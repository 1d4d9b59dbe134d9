use super::place;
use crate::checks::command::{TestSelection, words_for};
use crate::checks::detect::{DetectedTestRunner, everywhere, upwards};
use crate::checks::runner::MARKERS;
use crate::checks::survey::{ProjectSurvey, language_of};

/// Programs that run JavaScript.
const JS: &str = "npx node npm";

/// A tree, the installed programs, and the expected runners.
const TREES: &[(&str, &str, &str)] = &[
    // No runner.
    ("README.md=hi", "cargo npx python3", ""),
    ("src/main.rs=fn~main(){}", "cargo", ""),
    ("test_a.py=", "python3 pytest", "pytest ."),
    ("test_a.py=", "python3", "unittest ."),
    ("requirements.txt=flask", "python3", ""),
    ("package.json={}", JS, ""),
    (
        r#"package.json={"scripts":{"test":"echo~no~test~specified"}}"#,
        JS,
        "",
    ),
    (
        "node_modules/x/package.json={} node_modules/x/x.test.js=",
        JS,
        "",
    ),
    ("package.json=nonsense", JS, ""),
    // One runner.
    ("Cargo.toml=[package]", "cargo", "cargo-test ."),
    ("Cargo.toml=[package]", "", "cargo-test! ."),
    ("go.mod=module~x", "go", "go-test ."),
    (
        r#"package.json={"devDependencies":{"jest":"1"}}"#,
        JS,
        "jest .",
    ),
    (r#"package.json={"jest":{}}"#, JS, "jest ."),
    ("package.json={} jest.config.ts=", JS, "jest ."),
    (
        r#"package.json={"dependencies":{"vitest":"1"}}"#,
        JS,
        "vitest .",
    ),
    ("package.json={} vitest.config.mts=", JS, "vitest ."),
    (
        r#"package.json={"devDependencies":{"mocha":"1"}}"#,
        JS,
        "mocha .",
    ),
    ("package.json={} .mocharc.yml=", JS, "mocha ."),
    ("package.json={} bun.lockb=", "bun", "bun-test ."),
    ("package.json={} bun.lockb=", "node", ""),
    ("package.json={} a.test.js=", JS, "node-test ."),
    (
        r#"package.json={"scripts":{"test":"tap"}}"#,
        JS,
        "npm-test .",
    ),
    (
        r#"package.json={"scripts":{"test":"node~--test"}} a.test.js="#,
        JS,
        "node-test .",
    ),
    ("pytest.ini=", "pytest", "pytest ."),
    ("pytest.ini=", "python3", "pytest ."),
    ("pytest.ini=", "", "pytest! ."),
    (
        "pyproject.toml=[tool.pytest.ini_options]",
        "pytest",
        "pytest .",
    ),
    (
        r#"pyproject.toml=[project]\ndependencies=["pytest>=8"]"#,
        "pytest",
        "pytest .",
    ),
    (
        r#"pyproject.toml=[dependency-groups]\ndev=["pytest"]"#,
        "pytest",
        "pytest .",
    ),
    (
        r#"pyproject.toml=[project]\ndependencies=["pytest-cov"]"#,
        "pytest",
        "",
    ),
    ("requirements-dev.txt=pytest==8.0", "pytest", "pytest ."),
    ("setup.cfg=[tool:pytest]", "pytest", "pytest ."),
    ("tox.ini=[pytest]", "pytest", "pytest ."),
    ("tests/conftest.py= tests/test_a.py=", "pytest", "pytest ."),
    ("setup.py= tests/test_a.py=", "python3 pytest", "unittest ."),
    ("pyproject.toml= test_a.py=", "python3", "unittest ."),
    (".rspec=", "rspec", "rspec ."),
    (r#"Gemfile=gem~"rspec""#, "bundle", "rspec ."),
    ("Gemfile=gem~'minitest'", "ruby", "minitest ."),
    ("Rakefile= test/test_helper.rb=", "ruby", "minitest ."),
    ("build.gradle.kts= gradlew=", "", "gradle-test ."),
    ("build.gradle=", "", "gradle-test! ."),
    ("pom.xml=", "mvn", "maven-test ."),
    ("CMakeLists.txt=", "ctest", "ctest! ."),
    (
        "CMakeLists.txt= build/CTestTestfile.cmake=",
        "ctest",
        "ctest .",
    ),
    ("mix.exs=", "mix", "mix-test ."),
    ("phpunit.xml.dist= vendor/bin/phpunit=", "", "phpunit ."),
    // Several runners of one language: configured before declared, then the table's order.
    (
        r#"package.json={"devDependencies":{"mocha":"1","jest":"1","vitest":"1"}}"#,
        JS,
        "vitest .",
    ),
    (
        r#"package.json={"devDependencies":{"mocha":"1","jest":"1"}}"#,
        JS,
        "jest .",
    ),
    (
        r#"package.json={"devDependencies":{"vitest":"1"}} jest.config.js="#,
        JS,
        "jest .",
    ),
    (
        r#"package.json={"devDependencies":{"jest":"1"},"scripts":{"test":"mocha"}}"#,
        JS,
        "mocha .",
    ),
    (
        "package.json={} vitest.config.ts= jest.config.js= .mocharc.json=",
        JS,
        "vitest .",
    ),
    (
        "setup.py= test_a.py= pytest.ini=",
        "pytest python3",
        "pytest .",
    ),
    (".rspec= test/test_helper.rb=", "rspec ruby", "rspec ."),
    ("build.gradle= pom.xml=", "gradle mvn", "gradle-test ."),
    // Several languages and several parts.
    (
        "Cargo.toml=[package] pytest.ini=",
        "cargo pytest",
        "cargo-test . | pytest .",
    ),
    (
        "Cargo.toml=[package] py/pyproject.toml=[tool.pytest]",
        "cargo pytest",
        "cargo-test . | pytest py",
    ),
    (
        "core/Cargo.toml= web/package.json={\"jest\":{}} api/go.mod=",
        "cargo go npx",
        "cargo-test core | go-test api | jest web",
    ),
    (
        "Cargo.toml=[workspace] a/Cargo.toml=[package] b/Cargo.toml=[package]",
        "cargo",
        "cargo-test .",
    ),
    (
        "Cargo.toml=[package] a/Cargo.toml=[package]",
        "cargo",
        "cargo-test . | cargo-test a",
    ),
    (
        r#"Cargo.toml=[workspace]\nexclude=["fuzz"] fuzz/Cargo.toml=[package]"#,
        "cargo",
        "cargo-test . | cargo-test fuzz",
    ),
    (
        "go.mod=module~x tools/go.mod=module~y",
        "go",
        "go-test . | go-test tools",
    ),
    (
        r#"package.json={"jest":{}} packages/a/package.json={"jest":{}}"#,
        JS,
        "jest .",
    ),
    (
        r#"package.json={} packages/a/package.json={"jest":{}}"#,
        JS,
        "jest packages/a",
    ),
    ("pytest.ini= lib/pytest.ini=", "pytest", "pytest ."),
];

const RUST: &str =
    "Cargo.toml=[package] src/lib.rs= src/a/b.rs= tests/whole.rs= tests/big/main.rs=";
const MEMBER: &str = "Cargo.toml=[workspace] a/Cargo.toml=[package] a/tests/x.rs=";
const PYTHON: &str = "setup.py= pkg/__init__.py= pkg/test_a.py=";
const PLAIN: &str = "setup.py= tests/test_a.py=";
const JEST: &str = r#"package.json={"jest":{}} src/a.test.js="#;
const JAVA: &str = "build.gradle= src/test/java/shop/CartTest.java=";

/// A tree, its programs, a file, a test, and the expected command.
const WORDS: &[(&str, &str, &str, &str, &str)] = &[
    (RUST, "cargo", "", "", "cargo test --no-fail-fast"),
    (
        RUST,
        "cargo",
        "tests/whole.rs",
        "",
        "cargo test --no-fail-fast --test whole",
    ),
    (
        RUST,
        "cargo",
        "tests/big/main.rs",
        "one",
        "cargo test --no-fail-fast --test big one",
    ),
    (
        RUST,
        "cargo",
        "src/a/b.rs",
        "",
        "cargo test --no-fail-fast --lib a::b::",
    ),
    (
        RUST,
        "cargo",
        "src/lib.rs",
        "t",
        "cargo test --no-fail-fast --lib t",
    ),
    (
        MEMBER,
        "cargo",
        "",
        "",
        "cargo test --no-fail-fast --workspace",
    ),
    (
        MEMBER,
        "cargo",
        "a/tests/x.rs",
        "",
        "cargo test --no-fail-fast --test x",
    ),
    (
        "go.mod= sum/sum_test.go=",
        "go",
        "sum/sum_test.go",
        "",
        "go test -json ./sum",
    ),
    (
        "go.mod= a_test.go=",
        "go",
        "a_test.go",
        "TestA/b c",
        "go test -json -run ^TestA$/b c .",
    ),
    ("go.mod=", "go", "", "", "go test -json ./..."),
    (
        "pytest.ini= tests/test_a.py=",
        "pytest",
        "tests/test_a.py",
        "Sums.test_bad",
        "pytest tests/test_a.py::Sums::test_bad",
    ),
    ("pytest.ini=", "pytest", "", "bad", "pytest -k bad"),
    (
        "pytest.ini= .venv/bin/pytest=",
        "",
        "",
        "",
        ".venv/bin/pytest -v",
    ),
    (PYTHON, "python3", "", "", "python3 -m unittest discover -v"),
    (
        PLAIN,
        "python3",
        "",
        "",
        "python3 -m unittest discover -v -s tests",
    ),
    (
        PYTHON,
        "python3",
        "pkg/test_a.py",
        "",
        "python3 -m unittest pkg.test_a",
    ),
    (
        PYTHON,
        "python3",
        "pkg/test_a.py",
        "Sums.test_bad",
        "python3 -m unittest pkg.test_a.Sums.test_bad",
    ),
    (
        PYTHON,
        "python3",
        "pkg/test_a.py",
        "test_bad",
        "python3 -m unittest pkg.test_a -k test_bad",
    ),
    (
        JEST,
        "npx",
        "src/a.test.js",
        "adds",
        "npx jest src/a.test.js -t adds",
    ),
    (JEST, "jest", "", "", "jest --verbose"),
    (
        "package.json={} vitest.config.ts= a.test.ts=",
        "npx",
        "a.test.ts",
        "",
        "npx vitest run a.test.ts",
    ),
    (
        r#"package.json={"devDependencies":{"mocha":"1"}}"#,
        "mocha npx",
        "",
        "x",
        "mocha --grep x",
    ),
    (
        "package.json={} a.test.js=",
        "node",
        "a.test.js",
        "",
        "node --test --test-reporter=tap a.test.js",
    ),
    (
        JAVA,
        "gradle",
        "src/test/java/shop/CartTest.java",
        "adds",
        "gradle test --tests shop.CartTest.adds",
    ),
    (
        "pom.xml= src/test/java/CartTest.java=",
        "mvn",
        "src/test/java/CartTest.java",
        "adds",
        "mvn -Dtest=CartTest#adds test",
    ),
    (
        ".rspec= spec/a_spec.rb=",
        "rspec",
        "spec/a_spec.rb",
        "12",
        "rspec spec/a_spec.rb:12",
    ),
    (
        "mix.exs= test/a_test.exs=",
        "mix",
        "test/a_test.exs",
        "7",
        "mix test test/a_test.exs:7",
    ),
    (
        "phpunit.xml= vendor/bin/phpunit= tests/ATest.php=",
        "",
        "tests/ATest.php",
        "a",
        "./vendor/bin/phpunit --filter a tests/ATest.php",
    ),
];

fn found(files: &'static str, programs: &str) -> Vec<DetectedTestRunner> {
    let place = place(files, programs);
    let survey = ProjectSurvey::of(&place.root, "", MARKERS);
    everywhere(&place.top(), &survey)
}

/// Lists the runners on one line: `cargo-test . | pytest py`, with `!` for one that is not
/// installed.
fn line(files: &'static str, programs: &str) -> String {
    let all = found(files, programs);
    let one = |found: &DetectedTestRunner| {
        let folder = if found.folder.is_empty() {
            "."
        } else {
            &found.folder
        };
        let missing = if found.launch.is_none() { "!" } else { "" };
        format!("{}{missing} {folder}", found.runner.id())
    };
    all.iter().map(one).collect::<Vec<_>>().join(" | ")
}

#[test]
fn each_tree_has_its_runners() {
    for (files, programs, expected) in TREES {
        assert_eq!(line(files, programs), *expected, "{files} with {programs}");
    }
}

#[test]
fn the_same_tree_gives_the_same_choice() {
    let tree = r#"Cargo.toml=[package] package.json={"devDependencies":{"mocha":"1","jest":"1"}} pytest.ini="#;
    let first = found(tree, "cargo npx pytest");
    assert_eq!(first, found(tree, "cargo npx pytest"));
    assert_eq!(first[1].alternatives.len(), 1);
}

/// Returns the command for a file and a test of a tree.
fn words(tree: &'static str, programs: &str, file: &str, test: &str) -> String {
    let place = place(tree, programs);
    let top = place.top();
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let survey = ProjectSurvey::of(&place.root, "", MARKERS);
    let found = match file.rsplit_once('.') {
        None => everywhere(&top, &survey).remove(0),
        Some((_, end)) => upwards(&top.at(folder), &survey, language_of(end), None).unwrap(),
    };
    let inside = file
        .get(found.folder.len()..)
        .unwrap()
        .trim_start_matches('/');
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let scope = TestSelection {
        folder: None,
        file: some(inside),
        test: some(test),
    };
    let start = found.launch.clone().unwrap();
    words_for(&found, start, &scope, &top, &survey)
        .unwrap()
        .join(" ")
}

#[test]
fn a_file_and_a_test_are_named_as_the_runner_wants() {
    for (tree, programs, file, test, expected) in WORDS {
        assert_eq!(
            words(tree, programs, file, test),
            *expected,
            "{tree} {file} {test}"
        );
    }
}

#[test]
fn a_link_in_the_place_of_a_manifest_is_not_read() {
    let place = place("secret.json={\"jest\":{}}", "npx");
    std::os::unix::fs::symlink("secret.json", place.root.path().join("package.json")).unwrap();
    assert!(place.top().package().is_none());
}
