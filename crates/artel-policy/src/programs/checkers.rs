//! Test runners, linters and formatters: other configuration and plugins are asked about.

use super::builds::leaves;
use super::options::Parsed;
use super::table::{Entry, Operands, Program, Subs, Why, asks, asks_flag, checks, writes};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works("rollup").entries(&[
        checks("-c --config", is_named),
        asks("-p --plugin --configPlugin", Why::Loads),
        writes("-o --file -d --dir"),
    ]),
    Program::works("golangci-lint staticcheck govulncheck")
        .entries(&[asks("-c --config --path-prefix", Why::Loads)])
        .operands(Operands::Subs(&GOLANGCI)),
    Program::works("pytest py.test")
        .values(PYTEST_VALUES)
        .flags(&[
            "--co --collect-only --cov --cov-append --cov-branch --doctest-modules --exitfirst \
                --lf",
            "--last-failed --ff --failed-first --nf --sw --stepwise --quiet --verbose \
                --strict-markers",
            "--durations --no-header --no-summary --showlocals --disable-warnings -x -q -v -s \
                -l -V -h",
            "--ignore --deselect --log-level --log-cli-level --cache-show --setup-only --help \
                --version",
        ])
        .entries(PYTEST)
        .operands(Operands::Call(inside_paths)),
    Program::works("eslint eslint_d jshint stylelint standard xo oxlint")
        .values(&[
            "--ext --max-warnings --format-name --ignore-pattern --rule --global --env \
            --parser-options",
        ])
        .flags(&["--fix-dry-run --cache --color --quiet --no-eslintrc"])
        .entries(&[
            asks("-c --config", Why::Loads),
            asks(
                "--rulesdir --resolve-plugins-relative-to --plugin --parser --custom-syntax",
                Why::Loads,
            ),
            checks("-f --format --formatter", names_module),
            writes("-o --output-file --cache-location --cache-file"),
            asks("--env-info --init", Why::Interactive),
        ])
        .operands(Operands::Read),
    Program::works("prettier biome dprint")
        .values(&["--parser --tab-width --print-width --log-level --ignore-path --stdin-filepath"])
        .flags(&["--write -w --check -c --list-different -l --cache"])
        .entries(&[
            asks("--plugin --plugin-search-dir", Why::Loads),
            asks("--config --config-path", Why::Loads),
        ])
        .operands(Operands::Call(prettier)),
    Program::works(
        "jest vitest mocha ava tap c8 nyc karma cypress playwright webpack vite esbuild parcel \
            turbo nx lerna next nuxt astro svelte-kit ng vue-cli-service storybook",
    )
    .values(&[
        "-t --testNamePattern --testPathPattern --reporter --project --mode \
            --maxWorkers -w",
    ])
    .flags(&[
        "--coverage --watch --ci --run -u --verbose --bail --silent --cache --build \
            --color --colors",
    ])
    .entries(&[
        asks(
            "-c --config --rootDir --root --globalSetup --setupFiles --setupFilesAfterEnv \
                --testEnvironment",
            Why::Loads,
        ),
        asks(
            "-r --require --import --loader --transform --runner --resolver --reporters \
                --plugin",
            Why::Loads,
        ),
        writes(
            "--outputFile --coverageDirectory --cacheDirectory --outfile --outdir \
                --output-path",
        ),
        asks("--cwd --globals", Why::Elsewhere),
    ]),
    Program::works(
        "ruff black isort autopep8 yapf flake8 pylint mypy pyright bandit pyupgrade \
        djlint sqlfluff rubocop shellcheck shfmt clang-format clang-tidy ktlint hadolint \
        yamllint markdownlint actionlint taplo",
    )
    .values(&[
        "-l --line-length --select --ignore --target-version -t -q -e --exclude \
            --output-format -f --format --python-version -s --severity",
    ])
    .flags(&["--check --diff --fix --strict --quiet "])
    .entries(&[
        asks(
            "--config --config-file --rcfile -c --settings-path --settings-file",
            Why::Loads,
        ),
        asks(
            "--load-plugins --init-hook --custom-typeshed-dir --python-executable \
                --plugin -r --require --load",
            Why::Loads,
        ),
        asks("--install-types --install", Why::Installs).glued(),
        writes(
            "-o --output-file --output --cache-dir --html-report --xml-report \
                --txt-report --junit-xml --any-exprs-report",
        ),
    ])
    .operands(Operands::Call(formatted)),
    Program::works("coverage")
        .operands(Operands::Call(coverage))
        .entries(&[
            writes("-o -d --directory --data-file"),
            asks("--rcfile", Why::Loads),
        ]),
    Program::works("pre-commit lefthook husky")
        .entries(&[asks("-c --config", Why::Loads)])
        .operands(Operands::Subs(&PRE_COMMIT)),
];

const GOLANGCI: Subs = Subs {
    plain: "run linters version help fmt",
    doubtful: &[("custom config cache", Why::Loads)],
    starting: "",
    writing: "",
    unknown: None,
};

const PRE_COMMIT: Subs = Subs {
    plain: "run validate-config sample-config help",
    doubtful: &[(
        "install uninstall add init migrate-config autoupdate try-repo clean",
        Why::Installs,
    )],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

const PYTEST_VALUES: &[&str] = &[
    "-k -m -n --numprocesses --maxfail --tb --durations-min -r --color --capture -W --dist \
        --timeout",
    "--import-mode --log-format --log-date-format --show-capture --verbosity --cov-fail-under",
];

const PYTEST: &[Entry] = &[
    checks("-p", other_plugin),
    asks(
        "-c --config-file -o --override-ini --cov-config",
        Why::Loads,
    ),
    asks("--rootdir --confcutdir --basetemp", Why::Elsewhere),
    asks_flag("--pyargs", Why::Elsewhere),
    asks_flag("--pdb --trace", Why::Interactive),
    asks("--pdbcls", Why::Loads),
    asks("--pastebin", Why::Sends),
    asks("--debug", Why::Writes).glued(),
    asks("--tx --px --rsyncdir -d", Why::Starts),
    writes("--junitxml --junit-xml --resultlog --log-file --report-log --html --json-report-file"),
    checks("--cov-report", reports_elsewhere),
];

fn names_module(value: &str) -> Option<Why> {
    value.contains(['/', '.', '@']).then_some(Why::Loads)
}

fn other_plugin(value: &str) -> Option<Why> {
    (!value.starts_with("no:")).then_some(Why::Loads)
}

fn reports_elsewhere(value: &str) -> Option<Why> {
    let place = value.split_once(':').map(|(_, place)| place);
    place.is_some_and(leaves).then_some(Why::Writes)
}

/// Tests outside the project are not the project's.
fn inside_paths(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for operand in &parsed.operands {
        let path = operand.split("::").next().unwrap_or(operand);
        if view.strays(path) {
            view.doubt_word(Why::Elsewhere, operand);
        }
        if path.starts_with('@') {
            view.doubt_word(Why::Loads, operand);
        }
    }
}

fn coverage(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if let ["run", file, ..] = parsed.operands.as_slice()
        && view.strays(file)
    {
        view.doubt_word(Why::Loads, file);
    }
}

/// A configuration that is named is another one than the project's.
fn is_named(value: &str) -> Option<Why> {
    (!value.is_empty() && !value.starts_with('-')).then_some(Why::Loads)
}

/// Nothing is written unless it is asked for, and the project as a whole is what it is for.
fn prettier(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let writes = parsed.has("--write -w");
    for path in &parsed.operands {
        match *path {
            "." | "./" | "format" | "check" | "lint" | "ci" | "fmt" => {}
            path if writes => view.write(path),
            path => view.read(path),
        }
    }
}

/// Formatters write what they are given; inside the project that is what they were granted for.
fn formatted(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for path in &parsed.operands {
        if view.strays(path) || crate::path::protected(path).is_some() {
            view.write(path);
        } else {
            view.read(path);
        }
    }
}
