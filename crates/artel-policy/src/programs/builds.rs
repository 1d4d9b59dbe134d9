//! Build and test runners. A grant for one covers what the project's own build files
//! start. It does not cover options that bring in other files, other tools or other
//! places.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, ProgramSubcommands, asks,
    asks_flag, calls, checks, inside, lists, starts, writes,
};
use super::variables;
use super::view::{CommandInspector, base_name};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("make gmake bmake remake")
        .values(&[
            "-l --load-average --max-load -o --old-file --assume-old -W --what-if \
            --new-file",
        ])
        .flags(&["-j? --jobs -O? --output-sync --debug --environment-overrides"])
        .entries(&[
            checks("-f --file --makefile", other_makefile),
            calls("-C --directory", inside_directory),
            calls("--eval -E", recipe),
            asks("-I --include-dir", DoubtReason::Loads),
            asks_flag("-e", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(variables::make)),
    ProgramSpec::works("ninja samu")
        .values(&["-j -k -l -d -w"])
        .confined()
        .entries(&[
            calls("-C", inside_directory),
            inside("-f", DoubtReason::Loads),
            checks("-t", other_ninja_tool),
        ]),
    ProgramSpec::works("bazel bazelisk buck2")
        .confined()
        .entries(&[
            asks(
                "--run_under --shell_executable --workspace_status_command",
                DoubtReason::Starts,
            ),
            asks(
                "--bazelrc --output_base --output_user_root --override_repository \
                --override_module --action_env --host_action_env --repo_env --crosstool_top \
                --extra_toolchains --compiler --java_runtime --python_path --python_top \
                --plugin --config-file",
                DoubtReason::Loads,
            ),
            asks(
                "--remote_executor --remote_cache --bes_backend --remote_downloader \
                --remote_proxy --bes_proxy --distdir",
                DoubtReason::Elsewhere,
            ),
            checks("-c", sets_something),
            writes("--out --symlink_prefix --profile"),
        ]),
    ProgramSpec::works("meson")
        .confined()
        .entries(&[
            asks("--native-file --cross-file -D", DoubtReason::Loads),
            asks("--wrap --wrapper --gdb-path", DoubtReason::Starts),
            asks_flag("--gdb --interactive", DoubtReason::Interactive),
            asks("--destdir", DoubtReason::Installs),
            inside("-C", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Subs(&MESON)),
    ProgramSpec::works("just task mage rake invoke inv doit scons waf")
        .confined()
        .entries(&[
            asks(
                "-f --file --justfile --taskfile --rakefile -c --collection --search-root \
                --dotenv-path --dotenv-filename -E -I -R --libdir --rakelibdir --site-dir \
                --sconstruct --top --import -t",
                DoubtReason::Loads,
            ),
            asks(
                "-d --working-directory -C --dir --directory --workdir -w",
                DoubtReason::Elsewhere,
            ),
            asks(
                "--shell --shell-arg --command --require -r -e --eval --chooser --gocmd",
                DoubtReason::Starts,
            ),
        ]),
    ProgramSpec::works("tox nox")
        .values(&["-e --env -s --session -p --python -k"])
        .confined()
        .entries(&[
            asks(
                "-c --conf -f --noxfile --workdir --envdir -x --override",
                DoubtReason::Loads,
            ),
            asks("--root", DoubtReason::Elsewhere),
        ]),
    ProgramSpec::works("cmake")
        .style(ProgramOptionStyle::Dash)
        .values(&["-G -T -A -j --parallel --config --target -t --preset -D*"])
        .confined()
        .flags(&["--build --install -E"])
        .entries(&[
            asks("-P", DoubtReason::Loads),
            asks("-C", DoubtReason::Loads),
            writes("-B* --graphviz --prefix --trace-redirect --profiling-output"),
            inside("-S* -H*", DoubtReason::Elsewhere),
            asks_flag("--open", DoubtReason::Starts),
            asks("--toolchain --debugger-pipe", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(cmake)),
    ProgramSpec::works("ctest")
        .values(&["-R -E -L -LE -j -C --timeout -V"])
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks("-S -SP -D -M -T", DoubtReason::Loads),
            writes("-O --output-log --output-junit"),
            asks(
                "--build-and-test --build-makeprogram --test-command --launcher --overwrite",
                DoubtReason::Starts,
            ),
        ]),
    ProgramSpec::works("cargo")
        .values(CARGO_VALUES)
        .flags(&[
            "--target-applies --version --verbose --release --locked --offline --frozen",
            "--workspace --lib --doc --docs --lib --all --tests --test-threads",
        ])
        .confined()
        .entries(&[
            asks(
                "--config --config-file --tool-config-file --db --url",
                DoubtReason::Loads,
            ),
            writes("--lockfile-path --archive-file --extract-to --output-dir"),
            asks(
                "--cargo-metadata --binaries-metadata --workspace-remap --target-dir-remap",
                DoubtReason::Loads,
            ),
            inside("--manifest-path", DoubtReason::Elsewhere),
            asks("-C", DoubtReason::Elsewhere),
            checks("--target", names_specification),
            writes("--target-dir --out-dir --artifact-dir --output-path"),
            writes("-o --output").of("llvm-cov tarpaulin expand mutants flamegraph"),
            inside("-d --dir", DoubtReason::Elsewhere).of("mutants"),
            inside("--path --git", DoubtReason::Installs).of("add install"),
            starts("-x --exec -s --shell").of("watch"),
            asks(
                "--runner --linker --test-runner --debugger --tracer",
                DoubtReason::Starts,
            ),
            asks_flag("--open", DoubtReason::Starts),
        ])
        .operands(OperandMeaning::Call(cargo)),
    ProgramSpec::works("rustup").operands(OperandMeaning::Subs(&RUSTUP)),
    ProgramSpec::works("go")
        .style(ProgramOptionStyle::Dash)
        .values(&[
            "-run -bench -benchtime -count -cover* -cpu -p -parallel -timeout -tags -mod \
            -buildmode -f -skip -fuzz -fuzztime -shuffle -vet",
        ])
        .flags(&["-v -x -n -race -short -json -a -cover -u -m -e -c -args"])
        .confined()
        .entries(&[
            starts("-exec"),
            starts("-toolexec"),
            writes(
                "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile \
                -trace -outputdir -pkgdir -testlogfile",
            ),
            calls("-test.*", test_flag),
            asks(
                "-overlay -modfile -vettool -pgo -workfile -compiler",
                DoubtReason::Loads,
            ),
            asks_flag("-http", DoubtReason::Socket),
            asks("-replace", DoubtReason::Elsewhere),
            asks("-C", DoubtReason::Elsewhere),
            checks(
                "-ldflags -gcflags -asmflags -gccgoflags",
                names_linker_or_place,
            ),
            asks_flag("-w -u", DoubtReason::Loads).of("env"),
        ])
        .operands(OperandMeaning::Call(go)),
];

const CARGO_VALUES: &[&str] = &[
    "-p --package --bin --test --example --bench --features -F -j --jobs --profile \
        --message-format",
    "--color -Z --exclude -e --edges -i --invert --depth --prefix --format --timings",
    "-E --filter-expr --test-threads --retries --partition --vers --rev --branch --tag --name \
        --edition",
];

const CARGO_PLAIN: &str = "build b check c test t run r bench clean doc d fmt clippy fix tree \
    metadata update remove rm search fetch generate-lockfile locate-project pkgid verify-project \
    version help nextest llvm-cov deny audit expand xtask insta machete outdated udeps hack msrv \
    semver-checks bloat mutants package info report miri criterion tarpaulin watch add rustc \
    rustdoc vendor read-manifest sort about";

const RUSTUP: ProgramSubcommands = ProgramSubcommands {
    plain: "show toolchain target component check which doc help",
    doubtful: &[
        ("run", DoubtReason::Starts),
        (
            "install update self override default set man uninstall completions",
            DoubtReason::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const MESON: ProgramSubcommands = ProgramSubcommands {
    plain: "setup compile test configure introspect format wrap dist init",
    doubtful: &[
        ("devenv", DoubtReason::Starts),
        ("install", DoubtReason::Installs),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

/// Doubts makefiles with unusual names: the project's own build files have the usual ones.
fn other_makefile(path: &str) -> Option<DoubtReason> {
    let name = base_name(path).to_ascii_lowercase();
    let is_own = (name.starts_with("makefile") || name == "gnumakefile") && !leaves(path);
    (!is_own).then_some(DoubtReason::Loads)
}

/// Returns whether a path leads out of the command's directory, without an inspector.
pub(super) fn leaves(path: &str) -> bool {
    CommandInspector::new("").strays(path)
}

pub(super) fn names_linker(value: &str) -> Option<DoubtReason> {
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
    (!is_harmless && words.iter().any(|word| value.contains(word))).then_some(DoubtReason::Loads)
}

pub(super) fn names_specification(value: &str) -> Option<DoubtReason> {
    (value.ends_with(".json") || value.contains('/')).then_some(DoubtReason::Loads)
}

fn cmake(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    // `-E` is a toolbox: whatever it runs or copies is a command of its own.
    if parsed.has("-E") {
        view.doubt_word(DoubtReason::Starts, "-E");
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
            "_INCLUDES",
            "_COMMAND",
            "_EXECUTABLE",
            "_WRAPPER",
            "_AR",
            "_RANLIB",
        ];
        let setting = value.split_once('=').map_or("", |(_, setting)| setting);
        if is_tool.iter().any(|end| name.ends_with(end)) {
            view.doubt_word(DoubtReason::Loads, name);
        } else if name.contains("_FLAGS") {
            let words: Vec<&str> = setting.split_whitespace().collect();
            pass_on(view, "gcc", &words);
        } else if view.leads_out(setting) {
            view.doubt_word(DoubtReason::Elsewhere, value);
        }
    }
    if parsed.has("--install") {
        view.doubt_word(DoubtReason::Installs, "--install");
    }
    let (own, behind) = parsed
        .operands
        .split_at(parsed.before_end.min(parsed.operands.len()));
    for path in own {
        if view.strays(path) {
            view.doubt_word(DoubtReason::Elsewhere, path);
        }
    }
    // The words after `--` go to the native tool.
    pass_on(view, "make", behind);
}

fn cargo(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut operands = parsed.operands.as_slice();
    if let [first, rest @ ..] = operands
        && let Some(toolchain) = first.strip_prefix('+')
    {
        if toolchain.contains('/') {
            view.doubt_word(DoubtReason::Loads, first);
        }
        operands = rest;
    }
    let Some((sub, rest)) = operands.split_first() else {
        return;
    };
    let behind = parsed.operands.get(parsed.before_end..).unwrap_or_default();
    match *sub {
        "install" | "uninstall" | "publish" | "login" | "logout" | "owner" | "yank" => {
            view.doubt_word(DoubtReason::Installs, sub);
        }
        "new" | "init" => rest.iter().for_each(|path| view.write(path)),
        "rustc" | "clippy" => pass_on(view, "rustc", behind),
        "rustdoc" | "doc" | "d" => pass_on(view, "rustdoc", behind),
        "insta" if rest.first() == Some(&"review") => {
            view.doubt_word(DoubtReason::Interactive, "review")
        }
        "nextest" if rest.first() == Some(&"self") => {
            view.doubt_word(DoubtReason::Installs, "self")
        }
        "watch" => {
            if !behind.is_empty() {
                view.doubt_word(DoubtReason::Starts, behind[0]);
                view.start_words(behind);
            }
        }
        "fmt" => pass_on(view, "rustfmt", behind),
        "test" | "t" | "bench" => test_words(view, behind),
        "vendor" => rest.iter().for_each(|path| view.write(path)),
        _ if lists(CARGO_PLAIN, sub) => {}
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

/// Checks the words for test programs: they can write their log to a file, and
/// documentation tests can be run by another program.
fn test_words(view: &mut CommandInspector<'_>, words: &[&str]) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (*word, None),
        };
        match name {
            "--logfile" => {
                view.write(glued.or(words.next().copied()).unwrap_or_default());
            }
            "--test-runtool" | "--runtool" | "--test-builder" => {
                view.doubt_word(DoubtReason::Starts, name);
            }
            _ => {}
        }
    }
}

/// Inspects words that are handed to another program of the same toolchain.
pub(super) fn pass_on(view: &mut CommandInspector<'_>, program: &str, words: &[&str]) {
    let command = std::iter::once(program).chain(words.iter().copied());
    let command: Vec<String> = command.map(str::to_owned).collect();
    view.also(&command);
}

fn go(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "install" | "bug" | "telemetry" => view.doubt_word(DoubtReason::Installs, sub),
        "run" => {
            let from_afar = |path: &&&str| path.contains('@') || view.strays(path);
            if let Some(path) = rest.first().filter(from_afar) {
                view.doubt_word(DoubtReason::Installs, path);
            }
        }
        "tool" => {
            if rest.first().is_some_and(|tool| *tool != "cover") {
                view.doubt_word(DoubtReason::Starts, rest[0]);
            }
        }
        "build" | "test" | "vet" | "fmt" | "mod" | "list" | "doc" | "version" | "env"
        | "generate" | "work" | "clean" | "get" | "fix" | "help" => {}
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

/// Asks about make rules in the command line, whose recipe follows a semicolon.
fn recipe(view: &mut CommandInspector<'_>, text: &str) {
    view.doubt_word(DoubtReason::Inline, text);
    if let Some((_, shell)) = text.split_once([';', '\t']) {
        view.start_script(shell);
    }
}

/// Doubts a directory outside the project or a protected one.
pub(super) fn inside_directory(view: &mut CommandInspector<'_>, path: &str) {
    if view.leads_out(path) {
        view.doubt_word(DoubtReason::Elsewhere, &format!("-C {path}"));
    }
}

fn other_ninja_tool(name: &str) -> Option<DoubtReason> {
    let plain = "list targets commands deps graph query inputs rules compdb missingdeps";
    (!lists(plain, name)).then_some(DoubtReason::Starts)
}

fn sets_something(value: &str) -> Option<DoubtReason> {
    value.contains('=').then_some(DoubtReason::Loads)
}

fn names_linker_or_place(value: &str) -> Option<DoubtReason> {
    let is_place = CommandInspector::new("").leads_out(value);
    names_linker(value).or(is_place.then_some(DoubtReason::Writes))
}

/// Checks the flags of the test program that are given to `go test` itself.
fn test_flag(view: &mut CommandInspector<'_>, flag: &str) {
    let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
    if name.ends_with("profile") || lists("trace outputdir testlogfile fuzzcachedir", name) {
        view.write(value);
    }
}
