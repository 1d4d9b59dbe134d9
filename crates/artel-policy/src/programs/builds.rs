//! Build and test runners. A grant for one covers what the project's own build files start; it
//! does not cover options that bring other files, other tools or other places.

use super::options::Parsed;
use super::table::{
    Operands, Program, Style, Subs, Why, asks, asks_flag, checks, inside, lists, starts, writes,
};
use super::view::{View, base_name};

pub(super) const TABLE: &[Program] = &[
    Program::works("make gmake bmake remake")
        .values(&[
            "-l --load-average --max-load -o --old-file --assume-old -W --what-if \
            --new-file",
        ])
        .flags(&["-j? --jobs -O? --output-sync --debug --environment-overrides"])
        .entries(&[
            checks("-f --file --makefile", other_makefile),
            asks("-C --directory", Why::Elsewhere),
            asks("--eval -E", Why::Inline),
            asks("-I --include-dir", Why::Loads),
            asks_flag("-e", Why::Loads),
        ])
        .operands(Operands::Call(make)),
    Program::works("ninja samu")
        .values(&["-j -k -l -d -w -t"])
        .entries(&[inside("-C", Why::Elsewhere), inside("-f", Why::Loads)]),
    Program::works("just task mage rake invoke inv doit scons waf bazel bazelisk buck2 meson")
        .style(Style::Posix)
        .entries(&[
            asks(
                "-f --file --justfile --taskfile --rakefile -c --collection --search-root",
                Why::Loads,
            ),
            asks(
                "-d --working-directory -C --dir --directory --workdir",
                Why::Elsewhere,
            ),
            asks(
                "--shell --shell-arg --command --require -r -e --eval",
                Why::Starts,
            ),
            asks(
                "--output_base --output_user_root --bazelrc --workspace_status_command",
                Why::Loads,
            ),
        ]),
    Program::works("tox nox")
        .values(&["-e --env -s --session -p --python -k"])
        .entries(&[
            asks(
                "-c --conf -f --noxfile --workdir --envdir -x --override",
                Why::Loads,
            ),
            asks("--root", Why::Elsewhere),
        ]),
    Program::works("cmake")
        .style(Style::Dash)
        .values(&["-G -T -A -j --parallel --config --target -t --preset -D*"])
        .flags(&["--build --install -E"])
        .entries(&[
            asks("-P", Why::Loads),
            asks("-C", Why::Loads),
            writes("-B* --graphviz --prefix --trace-redirect"),
            inside("-S* -H*", Why::Elsewhere),
            asks_flag("--open", Why::Starts),
            asks("--toolchain --debugger-pipe", Why::Loads),
        ])
        .operands(Operands::Call(cmake)),
    Program::works("ctest")
        .values(&["-R -E -L -LE -j -C --timeout --test-dir -V"])
        .style(Style::Dash)
        .entries(&[
            asks("-S -SP -D -M -T", Why::Loads),
            writes("-O --output-log --output-junit"),
            asks(
                "--build-and-test --build-makeprogram --test-command",
                Why::Starts,
            ),
        ]),
    Program::works("cargo")
        .values(CARGO_VALUES)
        .flags(&["--target-applies --version --verbose --release --locked --offline --frozen"])
        .entries(&[
            asks("--config", Why::Loads),
            inside("--manifest-path", Why::Elsewhere),
            asks("-C", Why::Elsewhere),
            checks("--target", names_specification),
            writes("--target-dir --out-dir --artifact-dir --output-path"),
            writes("-o --output").of("llvm-cov tarpaulin expand"),
            inside("--path --git", Why::Installs).of("add install"),
            starts("-x --exec -s --shell").of("watch"),
            asks("--runner --linker", Why::Starts),
            asks_flag("--open", Why::Starts),
        ])
        .operands(Operands::Call(cargo)),
    Program::works("rustup").operands(Operands::Subs(&RUSTUP)),
    Program::works("go")
        .style(Style::Dash)
        .values(&[
            "-run -bench -benchtime -count -cover* -cpu -p -parallel -timeout -tags -mod \
            -buildmode -f -skip -fuzz -fuzztime -shuffle -vet -args",
        ])
        .flags(&["-v -x -n -race -short -json -a -cover -u -m -e -c"])
        .entries(&[
            starts("-exec"),
            starts("-toolexec"),
            writes(
                "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile \
                -trace -outputdir -pkgdir -test.* -testlogfile",
            ),
            asks("-overlay -modfile -vettool -pgo -workfile", Why::Loads),
            asks("-C", Why::Elsewhere),
            checks("-ldflags -gcflags -asmflags -gccgoflags", names_linker),
            asks_flag("-w -u", Why::Loads).of("env"),
        ])
        .operands(Operands::Call(go)),
    Program::works("gradle gradlew ant sbt lein mill")
        .values(&["-D -P -x --exclude-task --tests --max-workers --console"])
        .flags(&["--info --debug --stacktrace --parallel --continue --offline"])
        .entries(&[
            asks("-I --init-script", Why::Loads),
            asks(
                "-p --project-dir -b --build-file -c --settings-file -f",
                Why::Elsewhere,
            ),
            asks(
                "-g --gradle-user-home --include-build --project-cache-dir",
                Why::Elsewhere,
            ),
        ]),
    Program::works("mvn mvnw")
        .style(Style::Dash)
        .values(&["-P* -D* -pl -projects -T* -rf -l -log-file"])
        .entries(&[
            asks(
                "-s -settings -gs -global-settings -t -toolchains",
                Why::Loads,
            ),
            asks("-f -file", Why::Elsewhere),
        ])
        .operands(Operands::Call(maven)),
    Program::works("dotnet msbuild")
        .entries(&[
            writes("-o --output"),
            asks_flag("-g --global", Why::Installs),
        ])
        .operands(Operands::Subs(&DOTNET)),
    Program::works("swift xcodebuild").entries(&[asks(
        "--package-path --build-path --scratch-path",
        Why::Elsewhere,
    )]),
];

const CARGO_VALUES: &[&str] = &[
    "-p --package --bin --test --example --bench --features -F -j --jobs --profile \
        --message-format",
    "--color -Z --exclude -e --edges -i --invert --depth --prefix --format --lockfile-path \
        --timings",
    "-E --filter-expr --test-threads --retries --partition --vers --rev --branch --tag --name \
        --edition",
];

const CARGO_PLAIN: &str = "build b check c test t run r bench clean doc d fmt clippy fix tree \
    metadata update remove rm search fetch generate-lockfile locate-project pkgid verify-project \
    version help nextest llvm-cov deny audit expand xtask insta machete outdated udeps hack msrv \
    semver-checks bloat mutants package info report miri criterion tarpaulin watch add rustc \
    rustdoc vendor read-manifest sort about";

const RUSTUP: Subs = Subs {
    plain: "show toolchain target component check which doc help",
    doubtful: &[
        ("run", Why::Starts),
        (
            "install update self override default set man uninstall completions",
            Why::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

const DOTNET: Subs = Subs {
    plain: "build test run restore clean format list build-server help --info",
    doubtful: &[(
        "tool nuget publish workload new add exec fsi",
        Why::Installs,
    )],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

/// The project's own build files have the usual names; other names are asked about.
fn other_makefile(path: &str) -> Option<Why> {
    let name = base_name(path).to_ascii_lowercase();
    let is_own = (name.starts_with("makefile") || name == "gnumakefile") && !leaves(path);
    (!is_own).then_some(Why::Loads)
}

/// Tells, without a view, whether a path leads out of where the command runs.
pub(super) fn leaves(path: &str) -> bool {
    View::new("").strays(path)
}

pub(super) fn names_linker(value: &str) -> Option<Why> {
    let words = [
        "linker=",
        "linker-plugin",
        "link-arg",
        "-extld=",
        "-extld ",
        "-fplugin",
        "-wrapper",
        "-specs",
        "-plugin",
        "-dynamic-linker",
        "-B/",
        "codegen-backend",
        "ar=",
        "profile-use",
        "-rpath",
    ];
    let is_harmless = value.contains("linker-flavor");
    (!is_harmless && words.iter().any(|word| value.contains(word))).then_some(Why::Loads)
}

pub(super) fn names_specification(value: &str) -> Option<Why> {
    (value.ends_with(".json") || value.contains('/')).then_some(Why::Loads)
}

/// Variables given to `make` change what its recipes run.
fn make(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for operand in &parsed.operands {
        if operand.contains('=') {
            view.doubt_word(Why::ChangesShell, operand);
        }
    }
}

fn cmake(view: &mut View<'_>, parsed: &Parsed<'_>) {
    // `-E` is a tool box: what it runs and copies is a command of its own.
    if parsed.has("-E") {
        view.doubt_word(Why::Starts, "-E");
        let words = match parsed.operands.as_slice() {
            ["env" | "time" | "chdir", rest @ ..] => rest,
            words => words,
        };
        view.start_words(words);
        return;
    }
    for value in parsed.values_of("-D*") {
        let name = value.split(['=', ':']).next().unwrap_or_default();
        let is_tool = [
            "_LAUNCHER",
            "_COMPILER",
            "_LINKER",
            "TOOLCHAIN_FILE",
            "_PROGRAM",
            "_INCLUDE",
        ];
        if is_tool.iter().any(|end| name.ends_with(end)) {
            view.doubt_word(Why::Loads, name);
        }
    }
    let (own, behind) = parsed
        .operands
        .split_at(parsed.before_end.min(parsed.operands.len()));
    for path in own {
        if view.strays(path) {
            view.doubt_word(Why::Elsewhere, path);
        }
    }
    // Behind `--` stands what the native tool gets.
    pass_on(view, "make", behind);
}

fn cargo(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let mut operands = parsed.operands.as_slice();
    if let [first, rest @ ..] = operands
        && let Some(toolchain) = first.strip_prefix('+')
    {
        if toolchain.contains('/') {
            view.doubt_word(Why::Loads, first);
        }
        operands = rest;
    }
    let Some((sub, rest)) = operands.split_first() else {
        return;
    };
    let behind = parsed.operands.get(parsed.before_end..).unwrap_or_default();
    match *sub {
        "install" | "uninstall" | "publish" | "login" | "logout" | "owner" | "yank" => {
            view.doubt_word(Why::Installs, sub);
        }
        "new" | "init" => rest.iter().for_each(|path| view.write(path)),
        "rustc" | "rustdoc" | "clippy" => pass_on(view, "rustc", behind),
        "fmt" => pass_on(view, "rustfmt", behind),
        "test" | "t" | "bench" => test_log(view, behind),
        "vendor" => rest.iter().for_each(|path| view.write(path)),
        _ if lists(CARGO_PLAIN, sub) => {}
        _ => view.doubt_word(Why::Unknown, sub),
    }
}

/// The test programs can write their log to a file.
fn test_log(view: &mut View<'_>, words: &[&str]) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "--logfile" {
            view.write(words.next().copied().unwrap_or_default());
        } else if let Some(path) = word.strip_prefix("--logfile=") {
            view.write(path);
        }
    }
}

/// Looks at words that are handed to another program of the same tool chain.
fn pass_on(view: &mut View<'_>, program: &str, words: &[&str]) {
    let command = std::iter::once(program).chain(words.iter().copied());
    let command: Vec<String> = command.map(str::to_owned).collect();
    view.also(&command);
}

fn go(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "install" | "bug" | "telemetry" => view.doubt_word(Why::Installs, sub),
        "run" => {
            let from_afar = |path: &&&str| path.contains('@') || view.strays(path);
            if let Some(path) = rest.first().filter(from_afar) {
                view.doubt_word(Why::Installs, path);
            }
        }
        "tool" => {
            if rest.first().is_some_and(|tool| *tool != "cover") {
                view.doubt_word(Why::Starts, rest[0]);
            }
        }
        "build" | "test" | "vet" | "fmt" | "mod" | "list" | "doc" | "version" | "env"
        | "generate" | "work" | "clean" | "get" | "fix" | "help" => {}
        _ => view.doubt_word(Why::Unknown, sub),
    }
}

fn maven(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for goal in &parsed.operands {
        let is_launch = goal.starts_with("exec:") || goal.contains("exec-maven-plugin");
        let is_named = goal.matches(':').count() > 1 && !goal.starts_with(':');
        if is_launch || is_named || goal.starts_with("deploy") || goal.starts_with("antrun") {
            view.doubt_word(Why::Starts, goal);
        }
    }
}
