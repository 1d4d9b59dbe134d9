//! Test runners, linters and formatters: other configuration and plugins are asked about.

use super::options::Parsed;
use super::table::{
    Entry, Operands, Program, Style, Subs, Why, asks, asks_flag, checks, lists, writes,
};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works("rollup").entries(&[
        checks("-c --config", is_named),
        asks("-p --plugin --configPlugin", Why::Loads),
        writes("-o --file -d --dir"),
    ]),
    Program::works("golangci-lint staticcheck govulncheck")
        .confined()
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
        .confined()
        .operands(Operands::Call(inside_paths)),
    Program::works("eslint eslint_d jshint stylelint standard xo oxlint")
        .values(&[
            "--ext --max-warnings --format-name --ignore-pattern --rule --global --env \
            --parser-options",
        ])
        .flags(&["--fix-dry-run --cache --color --quiet --no-eslintrc"])
        .confined()
        .entries(&[
            asks("-c --config", Why::Loads),
            asks(
                "--rulesdir --resolve-plugins-relative-to --plugin --parser --custom-syntax \
                    --config-basedir --custom-formatter",
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
        .confined()
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
        "-t --testNamePattern --testPathPattern --testPathPatterns --mode --maxWorkers -w -g \
            --grep --fgrep",
    ])
    .flags(&[
        "--coverage --watch --ci --run --verbose --bail --silent --cache --build --color \
            --colors --ui-off",
    ])
    .confined()
    .entries(JS_RUNNERS)
    .operands(Operands::Call(js_runner)),
    Program::works(
        "ruff black isort autopep8 yapf flake8 pylint mypy pyright bandit pyupgrade \
        djlint sqlfluff rubocop shellcheck shfmt clang-format ktlint hadolint \
        yamllint markdownlint actionlint taplo",
    )
    .values(&[
        "-l --line-length --select --ignore --target-version -t -q -e --exclude \
            --python-version -s --severity",
    ])
    .flags(&["--check --diff --fix --strict --quiet "])
    .confined()
    .entries(&[
        asks(
            "--pythonpath --venvpath --vfsoverlay --ruleset -R --append-config --shadow-file \
                --export-fixes --createstub",
            Why::Loads,
        ),
        asks_flag("--server", Why::Socket),
        checks("-f --format --output-format", names_module),
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
        .style(Style::Posix)
        .operands(Operands::Call(coverage)),
    Program::works("clang-tidy")
        .style(Style::Dash)
        .values(&["-checks -header-filter -p -format-style"])
        .flags(&["-fix -fix-errors -quiet -list-checks"])
        .confined()
        .entries(&[asks(
            "-load* -config-file -vfsoverlay -export-fixes -plugin*",
            Why::Loads,
        )])
        .operands(Operands::Call(formatted)),
    Program::works("pre-commit lefthook husky")
        .entries(&[asks("-c --config", Why::Loads)])
        .operands(Operands::Subs(&PRE_COMMIT)),
];

const JS_RUNNERS: &[Entry] = &[
    asks(
        "-c --config --config-file --configFile --rootDir --root --roots --globalSetup \
            --globalTeardown --setupFiles --setupFilesAfterEnv --setupTestFrameworkScriptFile \
            --testEnvironment --env --environment --testRunner --testSequencer --preset \
            --snapshotSerializers --testResultsProcessor --watchPlugins --moduleDirectories \
            --modulePaths --moduleNameMapper --dependencyExtractor --haste --projects \
            --prettierPath --coverageProvider --opts --package",
        Why::Loads,
    ),
    asks(
        "-r --require --import --loader --transform --runner --resolver --reporters --plugin \
            --file -n --node-option --before --after --inject --customProviderModule --tsconfig \
            --ts-config",
        Why::Loads,
    ),
    checks("--filter", names_script),
    checks("-R --reporter --ui -u --coverageReporters", names_module),
    writes(
        "--outputFile --coverageDirectory --cacheDirectory --outfile --outdir --outDir \
            --output-path --output --report-dir --reports-dir --temp-dir --dist-dir --cache-dir \
            --cacheDir --metafile --profile --summarize -o",
    ),
    asks("--cwd --globals --context -P --project", Why::Elsewhere),
    asks(
        "--browser --api --servedir --serve --host -H --hostname",
        Why::Socket,
    )
    .glued(),
    asks_flag("--open", Why::Starts),
];

/// Asks about subcommands of these runners that start, install or publish something else.
fn js_runner(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    let doubt = match (view.name.as_str(), *sub) {
        ("nx" | "lerna" | "turbo" | "ng", "exec") => Some(Why::Starts),
        ("lerna" | "nx", "publish" | "release" | "import" | "migrate") => Some(Why::Installs),
        ("ng", "add" | "update" | "generate" | "g" | "new" | "config") => Some(Why::Installs),
        ("turbo", "link" | "login" | "unlink") => Some(Why::Service),
        ("playwright", "install" | "install-deps") => Some(Why::Installs),
        ("playwright" | "cypress", "open" | "codegen" | "show-report" | "show-trace") => {
            Some(Why::Interactive)
        }
        ("nyc" | "c8", _) if !lists("report merge check-coverage instrument", sub) => {
            view.start_words(&parsed.operands);
            None
        }
        _ => None,
    };
    if let Some(why) = doubt {
        view.doubt_word(why, sub);
        let behind = parsed
            .operands
            .get(parsed.before_end.max(1)..)
            .unwrap_or_default();
        view.start_words(if behind.is_empty() { rest } else { behind });
    }
}

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

pub(super) fn names_module(value: &str) -> Option<Why> {
    value.contains(['/', '.', '@']).then_some(Why::Loads)
}

fn names_script(value: &str) -> Option<Why> {
    let is_script = [".js", ".cjs", ".mjs", ".ts"]
        .iter()
        .any(|end| value.ends_with(end));
    (is_script || View::new("").leads_out(value)).then_some(Why::Loads)
}

fn other_plugin(value: &str) -> Option<Why> {
    (!value.starts_with("no:")).then_some(Why::Loads)
}

fn reports_elsewhere(value: &str) -> Option<Why> {
    let place = value.split_once(':').map(|(_, place)| place);
    let leads_out = |place| View::new("").leads_out(place);
    place.is_some_and(leads_out).then_some(Why::Writes)
}

/// Asks about tests outside the project: they are not the project's own.
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
    let mut words = parsed.operands.iter().skip(1);
    while let Some(word) = words.next() {
        match word.split('=').next().unwrap_or(word) {
            "-m" | "--module" if parsed.operands[0] == "run" => {
                let command = ["python", "-m"].into_iter().chain(words.copied());
                let command: Vec<String> = command.map(str::to_owned).collect();
                return view.also(&command);
            }
            "--rcfile" => view.doubt_word(Why::Loads, word),
            "-o" | "-d" | "--directory" => view.write(words.next().copied().unwrap_or_default()),
            _ if view.leads_out(word) => view.doubt_word(Why::Elsewhere, word),
            _ => {}
        }
    }
}

/// Doubts a configuration that is named: it is not the project's default one.
fn is_named(value: &str) -> Option<Why> {
    (!value.is_empty() && !value.starts_with('-')).then_some(Why::Loads)
}

/// Records the files that are written, which only `--write` causes. The project as a whole
/// is the intended target.
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

/// Records the files of a formatter. Writing them inside the project is what it was
/// granted for.
fn formatted(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let behind = parsed.operands.get(parsed.before_end..).unwrap_or_default();
    if !behind.is_empty() && view.name == "clang-tidy" {
        super::builds::pass_on(view, "clang", behind);
    }
    for path in &parsed.operands {
        if path.starts_with('@') {
            view.doubt_word(Why::Loads, path);
        }
        if *path == "server" && view.name == "ruff" {
            view.doubt_word(Why::Socket, path);
        }
        if view.strays(path) || crate::path::protected(path).is_some() {
            view.write(path);
        } else {
            view.read(path);
        }
    }
}
