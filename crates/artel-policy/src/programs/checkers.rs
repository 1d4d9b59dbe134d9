//! Test runners, linters and formatters: other configuration and plugins are asked about.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramSpec,
    ProgramSubcommands, asks, asks_flag, checks, lists, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("rollup").entries(&[
        checks("-c --config", is_named),
        asks("-p --plugin --configPlugin", DoubtReason::Loads),
        writes("-o --file -d --dir"),
    ]),
    ProgramSpec::works("golangci-lint staticcheck govulncheck")
        .confined()
        .entries(&[asks("-c --config --path-prefix", DoubtReason::Loads)])
        .operands(OperandMeaning::Subs(&GOLANGCI)),
    ProgramSpec::works("pytest py.test")
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
        .operands(OperandMeaning::Call(inside_paths)),
    ProgramSpec::works("eslint eslint_d jshint stylelint standard xo oxlint")
        .values(&[
            "--ext --max-warnings --format-name --ignore-pattern --rule --global --env \
            --parser-options",
        ])
        .flags(&["--fix-dry-run --cache --color --quiet --no-eslintrc"])
        .confined()
        .entries(&[
            asks("-c --config", DoubtReason::Loads),
            asks(
                "--rulesdir --resolve-plugins-relative-to --plugin --parser --custom-syntax \
                    --config-basedir --custom-formatter",
                DoubtReason::Loads,
            ),
            checks("-f --format --formatter", names_module),
            writes("-o --output-file --cache-location --cache-file"),
            asks("--env-info --init", DoubtReason::Interactive),
        ])
        .operands(OperandMeaning::Read),
    ProgramSpec::works("prettier biome dprint")
        .values(&["--parser --tab-width --print-width --log-level --ignore-path --stdin-filepath"])
        .flags(&["--write -w --check -c --list-different -l --cache"])
        .confined()
        .entries(&[
            asks("--plugin --plugin-search-dir", DoubtReason::Loads),
            asks("--config --config-path", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(prettier)),
    ProgramSpec::works(
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
    .operands(OperandMeaning::Call(js_runner)),
    ProgramSpec::works(
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
            DoubtReason::Loads,
        ),
        asks_flag("--server", DoubtReason::Socket),
        checks("-f --format --output-format", names_module),
        asks(
            "--config --config-file --rcfile -c --settings-path --settings-file",
            DoubtReason::Loads,
        ),
        asks(
            "--load-plugins --init-hook --custom-typeshed-dir --python-executable \
                --plugin -r --require --load",
            DoubtReason::Loads,
        ),
        asks("--install-types --install", DoubtReason::Installs).glued(),
        writes(
            "-o --output-file --output --cache-dir --html-report --xml-report \
                --txt-report --junit-xml --any-exprs-report",
        ),
    ])
    .operands(OperandMeaning::Call(formatted)),
    ProgramSpec::works("coverage")
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Call(coverage)),
    ProgramSpec::works("clang-tidy")
        .style(ProgramOptionStyle::Dash)
        .values(&["-checks -header-filter -p -format-style"])
        .flags(&["-fix -fix-errors -quiet -list-checks"])
        .confined()
        .entries(&[asks(
            "-load* -config-file -vfsoverlay -export-fixes -plugin*",
            DoubtReason::Loads,
        )])
        .operands(OperandMeaning::Call(formatted)),
    ProgramSpec::works("pre-commit lefthook husky")
        .entries(&[asks("-c --config", DoubtReason::Loads)])
        .operands(OperandMeaning::Subs(&PRE_COMMIT)),
];

const JS_RUNNERS: &[ProgramOptionEntry] = &[
    asks(
        "-c --config --config-file --configFile --rootDir --root --roots --globalSetup \
            --globalTeardown --setupFiles --setupFilesAfterEnv --setupTestFrameworkScriptFile \
            --testEnvironment --env --environment --testRunner --testSequencer --preset \
            --snapshotSerializers --testResultsProcessor --watchPlugins --moduleDirectories \
            --modulePaths --moduleNameMapper --dependencyExtractor --haste --projects \
            --prettierPath --coverageProvider --opts --package",
        DoubtReason::Loads,
    ),
    asks(
        "-r --require --import --loader --transform --runner --resolver --reporters --plugin \
            --file -n --node-option --before --after --inject --customProviderModule --tsconfig \
            --ts-config",
        DoubtReason::Loads,
    ),
    checks("--filter", names_script),
    checks("-R --reporter --ui -u --coverageReporters", names_module),
    writes(
        "--outputFile --coverageDirectory --cacheDirectory --outfile --outdir --outDir \
            --output-path --output --report-dir --reports-dir --temp-dir --dist-dir --cache-dir \
            --cacheDir --metafile --profile --summarize -o",
    ),
    asks(
        "--cwd --globals --context -P --project",
        DoubtReason::Elsewhere,
    ),
    asks(
        "--browser --api --servedir --serve --host -H --hostname",
        DoubtReason::Socket,
    )
    .glued(),
    asks_flag("--open", DoubtReason::Starts),
];

/// Asks about subcommands of these runners that start, install or publish something else.
fn js_runner(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    let doubt = match (view.name.as_str(), *sub) {
        ("nx" | "lerna" | "turbo" | "ng", "exec") => Some(DoubtReason::Starts),
        ("lerna" | "nx", "publish" | "release" | "import" | "migrate") => {
            Some(DoubtReason::Installs)
        }
        ("ng", "add" | "update" | "generate" | "g" | "new" | "config") => {
            Some(DoubtReason::Installs)
        }
        ("turbo", "link" | "login" | "unlink") => Some(DoubtReason::Service),
        ("playwright", "install" | "install-deps") => Some(DoubtReason::Installs),
        ("playwright" | "cypress", "open" | "codegen" | "show-report" | "show-trace") => {
            Some(DoubtReason::Interactive)
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

const GOLANGCI: ProgramSubcommands = ProgramSubcommands {
    plain: "run linters version help fmt",
    doubtful: &[("custom config cache", DoubtReason::Loads)],
    starting: "",
    writing: "",
    unknown: None,
};

const PRE_COMMIT: ProgramSubcommands = ProgramSubcommands {
    plain: "run validate-config sample-config help",
    doubtful: &[(
        "install uninstall add init migrate-config autoupdate try-repo clean",
        DoubtReason::Installs,
    )],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const PYTEST_VALUES: &[&str] = &[
    "-k -m -n --numprocesses --maxfail --tb --durations-min -r --color --capture -W --dist \
        --timeout",
    "--import-mode --log-format --log-date-format --show-capture --verbosity --cov-fail-under",
];

const PYTEST: &[ProgramOptionEntry] = &[
    checks("-p", other_plugin),
    asks(
        "-c --config-file -o --override-ini --cov-config",
        DoubtReason::Loads,
    ),
    asks("--rootdir --confcutdir --basetemp", DoubtReason::Elsewhere),
    asks_flag("--pyargs", DoubtReason::Elsewhere),
    asks_flag("--pdb --trace", DoubtReason::Interactive),
    asks("--pdbcls", DoubtReason::Loads),
    asks("--pastebin", DoubtReason::Sends),
    asks("--debug", DoubtReason::Writes).glued(),
    asks("--tx --px --rsyncdir -d", DoubtReason::Starts),
    writes("--junitxml --junit-xml --resultlog --log-file --report-log --html --json-report-file"),
    checks("--cov-report", reports_elsewhere),
];

pub(super) fn names_module(value: &str) -> Option<DoubtReason> {
    value
        .contains(['/', '.', '@'])
        .then_some(DoubtReason::Loads)
}

fn names_script(value: &str) -> Option<DoubtReason> {
    let is_script = [".js", ".cjs", ".mjs", ".ts"]
        .iter()
        .any(|end| value.ends_with(end));
    (is_script || CommandInspector::new("").leads_out(value)).then_some(DoubtReason::Loads)
}

fn other_plugin(value: &str) -> Option<DoubtReason> {
    (!value.starts_with("no:")).then_some(DoubtReason::Loads)
}

fn reports_elsewhere(value: &str) -> Option<DoubtReason> {
    let place = value.split_once(':').map(|(_, place)| place);
    let leads_out = |place| CommandInspector::new("").leads_out(place);
    place.is_some_and(leads_out).then_some(DoubtReason::Writes)
}

/// Asks about tests outside the project: they are not the project's own.
fn inside_paths(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        let path = operand.split("::").next().unwrap_or(operand);
        if view.strays(path) {
            view.doubt_word(DoubtReason::Elsewhere, operand);
        }
        if path.starts_with('@') {
            view.doubt_word(DoubtReason::Loads, operand);
        }
    }
}

fn coverage(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut words = parsed.operands.iter().skip(1);
    while let Some(word) = words.next() {
        match word.split('=').next().unwrap_or(word) {
            "-m" | "--module" if parsed.operands[0] == "run" => {
                let command = ["python", "-m"].into_iter().chain(words.copied());
                let command: Vec<String> = command.map(str::to_owned).collect();
                return view.also(&command);
            }
            "--rcfile" => view.doubt_word(DoubtReason::Loads, word),
            "-o" | "-d" | "--directory" => view.write(words.next().copied().unwrap_or_default()),
            _ if view.leads_out(word) => view.doubt_word(DoubtReason::Elsewhere, word),
            _ => {}
        }
    }
}

/// Doubts a configuration that is named: it is not the project's default one.
fn is_named(value: &str) -> Option<DoubtReason> {
    (!value.is_empty() && !value.starts_with('-')).then_some(DoubtReason::Loads)
}

/// Records the files that are written, which only `--write` causes. The project as a whole
/// is the intended target.
fn prettier(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
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
fn formatted(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let behind = parsed.operands.get(parsed.before_end..).unwrap_or_default();
    if !behind.is_empty() && view.name == "clang-tidy" {
        super::builds::pass_on(view, "clang", behind);
    }
    for path in &parsed.operands {
        if path.starts_with('@') {
            view.doubt_word(DoubtReason::Loads, path);
        }
        if *path == "server" && view.name == "ruff" {
            view.doubt_word(DoubtReason::Socket, path);
        }
        if view.strays(path) || crate::path::protected(path).is_some() {
            view.write(path);
        } else {
            view.read(path);
        }
    }
}
