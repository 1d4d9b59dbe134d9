//! Interpreters: files and modules of the project run under their grant. Code in the
//! command line, code from standard input and preloaded code are asked about.

use super::inline;
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramSpec,
    ProgramSubcommands, asks, asks_flag, calls, checks, inside, lists, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("python pypy")
        .style(ProgramOptionStyle::Posix)
        .values(&["-W"])
        .strict()
        .flags(&["-V --version -h --help -b -B -d -E -I -O -P -q -s -S -u -v -x -R -t"])
        .entries(&[
            calls("-c", inline::code).last(),
            asks_flag("-i", DoubtReason::Interactive),
            checks("-X", python_setting),
            asks("--check-hash-based-pycs", DoubtReason::Loads),
            calls("-m", module_named).last(),
        ])
        .operands(OperandMeaning::Call(python)),
    ProgramSpec::works("node nodejs")
        .style(ProgramOptionStyle::Posix)
        .strict()
        .values(&[
            "--test-name-pattern --test-concurrency --test-timeout --title --unhandled-rejections",
            "--input-type -C --conditions --dns-result-order --disable-warning",
        ])
        .flags(&[
            "-v --version -h --help --test --test-only --watch --check -c --trace-warnings",
            "--no-warnings --trace-deprecation --no-deprecation --throw-deprecation",
            "--trace-uncaught",
            "--experimental-strip-types --experimental-transform-types --experimental-vm-modules",
            "--experimental-test-coverage --enable-source-maps --expose-gc --preserve-symlinks",
            "--use-system-ca --abort-on-uncaught-exception --harmony --test-force-exit",
        ])
        .entries(&[
            calls("-e --eval -p --print", inline::code),
            asks(
                "-r --require --import --loader --experimental-loader",
                DoubtReason::Loads,
            ),
            checks("--test-reporter", names_file),
            checks(
                "--max-old-space-size --max-semi-space-size --stack-size",
                is_apart,
            )
            .glued(),
            asks(
                "--inspect --inspect-brk --inspect-port --inspect-wait --debug-port",
                DoubtReason::Socket,
            )
            .glued(),
            asks(
                "--env-file --env-file-if-exists --openssl-config --icu-data-dir \
                --experimental-config-file",
                DoubtReason::Loads,
            ),
            asks(
                "--snapshot-blob --build-snapshot --experimental-sea-config",
                DoubtReason::Loads,
            ),
            writes(
                "--cpu-prof-dir --heap-prof-dir --redirect-warnings --report-directory \
                --diagnostic-dir --test-reporter-destination",
            ),
            asks_flag("-i --interactive", DoubtReason::Interactive),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("tsx ts-node ts-node-esm ts-node-dev nodemon")
        .style(ProgramOptionStyle::Posix)
        .flags(&["-v --version -h --help -T --transpile-only --files --esm"])
        .entries(&[
            calls("-e --eval -p --print", inline::code),
            asks(
                "-r --require --import --loader -P --project -C --compiler -x --exec",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("deno")
        .confined()
        .flags(&["-A --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run"])
        .entries(&[
            asks(
                "-c --config --import-map --env-file --preload --lock --cert --import --require \
                --plugin",
                DoubtReason::Loads,
            )
            .glued(),
            inside("--cwd", DoubtReason::Elsewhere),
            asks(
                "--inspect --inspect-brk --inspect-wait",
                DoubtReason::Socket,
            )
            .glued(),
            writes("-o --output --coverage --junit-path"),
        ])
        .operands(OperandMeaning::Call(deno)),
    ProgramSpec::works("ruby jruby irb")
        .style(ProgramOptionStyle::Posix)
        .values(&["-E --encoding --external-encoding --internal-encoding"])
        .flags(&["-v --version -h --help -w -W? -c"])
        .entries(&[
            calls("-e", inline::code),
            asks("-r -I -C --require", DoubtReason::Loads),
            asks_flag("-i", DoubtReason::Writes).glued(),
            asks_flag("-n -p -a -s -S -x", DoubtReason::Inline),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("perl")
        .style(ProgramOptionStyle::Posix)
        .flags(&["-v -V? -h -w -W -X -t -T -u -U -c"])
        .entries(&[
            calls("-e -E", inline::code),
            asks("-M -m -I", DoubtReason::Loads),
            asks_flag("-d -D", DoubtReason::Loads).glued(),
            asks_flag("-i", DoubtReason::Writes).glued(),
            asks_flag("-n -p -a -s -S", DoubtReason::Inline),
            asks_flag("-x", DoubtReason::Elsewhere).glued(),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("php php-cgi")
        .style(ProgramOptionStyle::Posix)
        .flags(&["-v --version -h --help -l --syntax-check -i --info -m --modules -n -q"])
        .entries(&[
            calls(
                "-r --run -B --process-begin -R --process-code -E --process-end -F \
                --process-file",
                inline::code,
            ),
            asks(
                "-c --php-ini -d --define -z --zend-extension",
                DoubtReason::Loads,
            ),
            asks("-S --server -t --docroot", DoubtReason::Socket),
            asks_flag("-a --interactive", DoubtReason::Interactive),
        ])
        .values(&["-f --file"])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("lua luajit texlua")
        .style(ProgramOptionStyle::Posix)
        .flags(&["-v -W -E"])
        .entries(&[
            calls("-e", inline::code),
            asks("-l -j", DoubtReason::Loads),
            asks_flag("-i", DoubtReason::Interactive),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works(
        "Rscript R julia octave octave-cli ghci runghc runhaskell guile racket sbcl \
        clisp scheme elixir iex erl escript clojure clj groovysh",
    )
    .style(ProgramOptionStyle::Posix)
    .flags(&["--version --help -v -h --vanilla --no-save --quiet --slave -q"])
    .entries(&[
        calls(
            "-e -E --eval --print --run --command -c -r -S",
            inline::code,
        ),
        asks(
            "-l -L --load -i --require --project --sysimage -J --startup-file --init-file \
                -P --path --file -f",
            DoubtReason::Loads,
        ),
    ])
    .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("swipl prolog")
        .style(ProgramOptionStyle::Posix)
        .flags(&["--version --help -v -h -q --quiet -O"])
        .entries(&[
            calls("-g -t -c --goal --toplevel", inline::code),
            asks("-f -F -l -s -x -p", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::doubtful("pdb ipdb pudb", DoubtReason::Interactive)
        .style(ProgramOptionStyle::Posix)
        .values(&["-m"])
        .entries(&[calls("-c --command", inline::code)])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("tclsh wish osascript jimsh ocaml utop scala amm")
        .entries(&[calls("-e", inline::code)])
        .operands(OperandMeaning::Call(script)),
    ProgramSpec::works("sqlite3 sqlite")
        .style(ProgramOptionStyle::Dash)
        .values(&["-separator -nullvalue -newline -mmap -vfs -lookaside -pagecache"])
        .flags(&[
            "-readonly -csv -json -header -noheader -column -line -list -box -markdown \
            -batch -bail -version -echo -table -html -quote -safe",
        ])
        .entries(&[
            asks("-init", DoubtReason::Loads),
            calls("-cmd", sql),
            asks("-A*", DoubtReason::Writes),
            asks_flag(
                "-interactive -unsafe-testing -append -zip",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(sqlite)),
    ProgramSpec::works("duckdb")
        .style(ProgramOptionStyle::Dash)
        .entries(&[asks("-init -f -c -s -cmd", DoubtReason::Inline)])
        .operands(OperandMeaning::Call(sqlite)),
    ProgramSpec::works("psql")
        .values(&[
            "-h --host -p --port -U --username -d --dbname -F --field-separator -P \
            --pset -T",
        ])
        .entries(&[
            calls("-c --command", psql),
            asks("-f --file", DoubtReason::Loads),
            writes("-o --output -L --log-file"),
            asks("-v --set --variable", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(database)),
    ProgramSpec::works("mysql mariadb")
        .values(&["-h --host -P --port -u --user -D --database"])
        .flags(&["-p? --password --protocol"])
        .entries(&[
            calls("-e --execute", mysql),
            starts_pager(),
            asks(
                "--defaults-file --defaults-extra-file --init-command --plugin-dir --tee \
                --defaults-group-suffix --login-path",
                DoubtReason::Loads,
            ),
            asks("-S --socket", DoubtReason::Socket),
            asks_flag("--local-infile", DoubtReason::Sends),
        ])
        .operands(OperandMeaning::Call(database)),
    ProgramSpec::works("redis-cli valkey-cli mongo mongosh cqlsh clickhouse-client")
        .style(ProgramOptionStyle::Posix)
        .values(&["-h -p -n -a -u --host --port --user --pass"])
        .entries(&[
            asks(
                "--eval -x -f --file --functions-rdb --rdb --pipe",
                DoubtReason::Inline,
            ),
            asks("-s", DoubtReason::Socket),
            asks(
                "--config --config-file --sslCAFile --cacert --cert --key",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(redis)),
    ProgramSpec::works("pg_dump mysqldump pg_restore")
        .entries(&[writes("-f --file -r --result-file")]),
    ProgramSpec::works("rails mix artisan")
        .style(ProgramOptionStyle::Posix)
        .confined()
        .operands(OperandMeaning::Subs(&RAILS)),
    ProgramSpec::works("jupyter ipython jupyter-nbconvert papermill")
        .operands(OperandMeaning::Subs(&JUPYTER)),
];

const RAILS: ProgramSubcommands = ProgramSubcommands {
    plain: "",
    doubtful: &[
        (
            "runner r console c dbconsole db server s run eval cmd do tinker serve",
            DoubtReason::Inline,
        ),
        (
            "new plugin local.hex local.rebar archive.install escript.install",
            DoubtReason::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const JUPYTER: ProgramSubcommands = ProgramSubcommands {
    plain: "--version kernelspec troubleshoot",
    doubtful: &[(
        "notebook lab console nbconvert execute run server",
        DoubtReason::Inline,
    )],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Inline),
};

/// Modules that run other code, serve, install or write.
const DOUBTFUL_MODULES: &str = "pdb timeit code runpy webbrowser ensurepip zipfile tarfile \
    zipapp cProfile profile trace smtpd idlelib turtledemo antigravity test lib2to3 ctypes \
    asyncio sqlite3 pydoc base64 gzip quopri uu encodings http.server socketserver xmlrpc.server \
    pipx uv virtualenv IPython jupyter notebook invoke nbconvert ptvsd debugpy pyinstaller \
    PyInstaller twine keyring pexpect pty imaplib ftplib telnetlib smtplib nntplib poplib \
    http.client wsgiref.simple_server bdb multiprocessing.spawn multiprocessing.forkserver \
    subprocess os shutil distutils setuptools site py_mini_racer cgi pickle pickletools \
    modulefinder pstats gunicorn flask uvicorn hypercorn celery ptpython bpython twisted django \
    fabric ansible sphinx_autobuild streamlit gradio";

/// Modules that are programs of the table under another name.
const TOOL_MODULES: &str = "pip pytest black ruff mypy flake8 pylint isort coverage bandit yapf \
    autopep8 pyright nox tox poetry pdm hatch";

const fn starts_pager() -> ProgramOptionEntry {
    super::table::starts("--pager")
}

fn names_file(value: &str) -> Option<DoubtReason> {
    value
        .contains(['/', '.', ':'])
        .then_some(DoubtReason::Loads)
}

/// Doubts an option without a glued value: it is unclear whether the next word belongs to
/// it.
fn is_apart(value: &str) -> Option<DoubtReason> {
    value.is_empty().then_some(DoubtReason::Unknown)
}

fn python_setting(value: &str) -> Option<DoubtReason> {
    let name = value.split('=').next().unwrap_or_default();
    lists("pycache_prefix presite", name).then_some(DoubtReason::Loads)
}

fn module_named(view: &mut CommandInspector<'_>, module: &str) {
    if lists(DOUBTFUL_MODULES, module) || module.is_empty() || view.strays(module) {
        view.doubt_word(DoubtReason::Loads, &format!("-m {module}"));
    }
}

fn python(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.has("-V --version -h --help -c") {
        return;
    }
    let Some(module) = parsed.values_of("-m").next() else {
        return script(view, parsed);
    };
    if lists(TOOL_MODULES, module) {
        let words = std::iter::once(module).chain(parsed.operands.iter().copied());
        let words: Vec<String> = words.map(str::to_owned).collect();
        return view.also(&words);
    }
    for word in &parsed.operands {
        if view.leads_out(word) {
            view.doubt_word(DoubtReason::Elsewhere, word);
        }
    }
    let operands = parsed.operands.iter().filter(|word| !word.starts_with('-'));
    match module {
        "json.tool" => operands.enumerate().for_each(|(at, path)| match at {
            0 => view.read(path),
            _ => view.write(path),
        }),
        "venv" => operands.for_each(|path| view.write(path)),
        _ => {}
    }
}

/// Checks the first operand, which is a file with code.
fn script(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.has(
        "-v --version -h --help -V -e --eval -p --print -r --run -E --info -i --info \
        -m --modules",
    ) {
        return;
    }
    let named = parsed.values_of("-f --file").next();
    let Some(file) = named.or(parsed.operands.first().copied()) else {
        if !parsed.has("--test") {
            let name = view.name.clone();
            view.doubt(DoubtReason::Inline, &name);
        }
        return;
    };
    if file == "-" || file == "CMD" && view.name == "R" {
        view.doubt_word(DoubtReason::Inline, file);
    } else if file == "artisan" && view.name == "php" {
        let words: Vec<String> = parsed
            .operands
            .iter()
            .map(|word| (*word).to_owned())
            .collect();
        view.also(&words);
    } else if file == "/dev/stdin" {
        view.doubt_word(DoubtReason::Inline, file);
    } else if view.strays(file) || file.contains("://") || file.starts_with("data:") {
        view.doubt_word(DoubtReason::Loads, file);
    }
    view.read(file);
}

fn deno(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return view.doubt_word(DoubtReason::Interactive, "");
    };
    match *sub {
        "serve" => view.doubt_word(DoubtReason::Socket, sub),
        "task" | "types" | "outdated" => {}
        "run" | "fmt" | "lint" | "check" | "test" | "bench" | "info" | "doc" => {
            if let Some(file) = rest.first()
                && (view.strays(file) || file.contains(':') || *file == "-")
            {
                view.doubt_word(DoubtReason::Loads, file);
            }
        }
        "eval" | "repl" | "jupyter" => {
            view.doubt_word(DoubtReason::Inline, sub);
            inline::note_launches(view, &rest.join(" "));
        }
        "install" | "uninstall" | "publish" | "upgrade" | "add" | "init" | "compile" => {
            view.doubt_word(DoubtReason::Installs, sub);
        }
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

/// Asks about SQL that reaches beyond the database it was pointed at.
fn sql(view: &mut CommandInspector<'_>, text: &str) {
    view.doubt_open_text(text);
    let lower = text.to_ascii_lowercase();
    let words = [
        "attach",
        "readfile",
        "writefile",
        "vacuum into",
        "fsdir",
        "copy ",
        "install ",
        "read_csv",
        "writable_schema",
    ];
    if text.trim_start().starts_with('.') && !is_plain_dot(&lower) || lower.contains("\n.") {
        view.doubt_word(DoubtReason::Starts, text);
        let shell = text
            .trim_start()
            .split_once(' ')
            .map_or("", |(_, shell)| shell);
        view.start_script(shell);
    }
    if words.iter().any(|word| lower.contains(word)) {
        view.doubt_word(DoubtReason::Writes, text);
    }
    if lower.contains("load_extension") {
        view.doubt_word(DoubtReason::Loads, text);
    }
    // Matches `edit(text, program)`, with any blanks before the parenthesis.
    let is_call = |rest: &str| rest.trim_start().starts_with('(');
    if lower.split("edit").skip(1).any(is_call) {
        view.doubt_word(DoubtReason::Starts, text);
    }
}

fn is_plain_dot(text: &str) -> bool {
    let name = text
        .trim_start()
        .split_ascii_whitespace()
        .next()
        .unwrap_or_default();
    let plain = ".tables .schema .headers .header .mode .dump .indexes .indices .databases \
        .width .nullvalue .separator .help .version .show .timer .stats .quit .exit .fullschema \
        .dbinfo";
    lists(plain, name)
}

fn sqlite(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((file, texts)) = parsed.operands.split_first() else {
        return view.doubt_word(DoubtReason::Inline, "");
    };
    if parsed.has("-readonly") {
        view.read(file);
    } else if *file != ":memory:" {
        view.write(file);
    }
    if texts.is_empty() && !parsed.has("-cmd -version") {
        view.doubt_word(DoubtReason::Inline, file);
    }
    texts.iter().for_each(|text| sql(view, text));
}

fn psql(view: &mut CommandInspector<'_>, text: &str) {
    view.doubt_open_text(text);
    let lower = text.to_ascii_lowercase();
    let harmless = ["\\d", "\\l", "\\conninfo", "\\timing", "\\x", "\\z"];
    let trimmed = lower.trim_start();
    if lower.contains('\\') && !harmless.iter().any(|command| trimmed.starts_with(command))
        || lower.contains("\\!")
    {
        view.doubt_word(DoubtReason::Starts, text);
        let shell = text.split_once("\\!").map_or("", |(_, shell)| shell);
        view.start_script(shell);
    }
    if lower.contains("copy ") || lower.contains("pg_read") || lower.contains("lo_") {
        view.doubt_word(DoubtReason::Sends, text);
    }
}

fn mysql(view: &mut CommandInspector<'_>, text: &str) {
    view.doubt_open_text(text);
    let lower = text.to_ascii_lowercase();
    let words = [
        "system",
        "\\!",
        "outfile",
        "dumpfile",
        "load_file",
        "load data",
        "source ",
        "\\.",
        "tee ",
    ];
    if words.iter().any(|word| lower.contains(word)) {
        view.doubt_word(DoubtReason::Starts, text);
    }
}

/// Asks if no command is given, because statements then come from standard input.
fn database(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.has("-c --command -e --execute") {
        let name = view.name.clone();
        view.doubt(DoubtReason::Inline, &name);
    }
}

fn redis(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some(command) = parsed.operands.first() else {
        return view.doubt_word(DoubtReason::Inline, "");
    };
    let harmful = "config eval evalsha script module debug slaveof replicaof shutdown save \
        bgsave migrate flushall flushdb function acl";
    if lists(harmful, &command.to_ascii_lowercase()) {
        view.doubt_word(DoubtReason::Service, command);
    }
}
