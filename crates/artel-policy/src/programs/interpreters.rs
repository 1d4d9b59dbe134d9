//! Interpreters: files and modules of the project run under their grant. Code in the
//! command line, code from standard input and preloaded code are asked about.

use super::inline;
use super::options::Parsed;
use super::table::{
    Entry, Operands, Program, Style, Subs, Why, asks, asks_flag, calls, checks, inside, lists,
    writes,
};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works("python pypy")
        .style(Style::Posix)
        .values(&["-W"])
        .strict()
        .flags(&["-V --version -h --help -b -B -d -E -I -O -P -q -s -S -u -v -x -R -t"])
        .entries(&[
            calls("-c", inline::code).last(),
            asks_flag("-i", Why::Interactive),
            checks("-X", python_setting),
            asks("--check-hash-based-pycs", Why::Loads),
            calls("-m", module_named).last(),
        ])
        .operands(Operands::Call(python)),
    Program::works("node nodejs")
        .style(Style::Posix)
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
                Why::Loads,
            ),
            checks("--test-reporter", names_file),
            checks(
                "--max-old-space-size --max-semi-space-size --stack-size",
                is_apart,
            )
            .glued(),
            asks(
                "--inspect --inspect-brk --inspect-port --inspect-wait --debug-port",
                Why::Socket,
            )
            .glued(),
            asks(
                "--env-file --env-file-if-exists --openssl-config --icu-data-dir \
                --experimental-config-file",
                Why::Loads,
            ),
            asks(
                "--snapshot-blob --build-snapshot --experimental-sea-config",
                Why::Loads,
            ),
            writes(
                "--cpu-prof-dir --heap-prof-dir --redirect-warnings --report-directory \
                --diagnostic-dir --test-reporter-destination",
            ),
            asks_flag("-i --interactive", Why::Interactive),
        ])
        .operands(Operands::Call(script)),
    Program::works("tsx ts-node ts-node-esm ts-node-dev nodemon")
        .style(Style::Posix)
        .flags(&["-v --version -h --help -T --transpile-only --files --esm"])
        .entries(&[
            calls("-e --eval -p --print", inline::code),
            asks(
                "-r --require --import --loader -P --project -C --compiler -x --exec",
                Why::Loads,
            ),
        ])
        .operands(Operands::Call(script)),
    Program::works("deno")
        .confined()
        .flags(&["-A --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run"])
        .entries(&[
            asks(
                "-c --config --import-map --env-file --preload --lock --cert --import --require \
                --plugin",
                Why::Loads,
            )
            .glued(),
            inside("--cwd", Why::Elsewhere),
            asks("--inspect --inspect-brk --inspect-wait", Why::Socket).glued(),
            writes("-o --output --coverage --junit-path"),
        ])
        .operands(Operands::Call(deno)),
    Program::works("ruby jruby irb")
        .style(Style::Posix)
        .values(&["-E --encoding --external-encoding --internal-encoding"])
        .flags(&["-v --version -h --help -w -W? -c"])
        .entries(&[
            calls("-e", inline::code),
            asks("-r -I -C --require", Why::Loads),
            asks_flag("-i", Why::Writes).glued(),
            asks_flag("-n -p -a -s -S -x", Why::Inline),
        ])
        .operands(Operands::Call(script)),
    Program::works("perl")
        .style(Style::Posix)
        .flags(&["-v -V? -h -w -W -X -t -T -u -U -c"])
        .entries(&[
            calls("-e -E", inline::code),
            asks("-M -m -I", Why::Loads),
            asks_flag("-d -D", Why::Loads).glued(),
            asks_flag("-i", Why::Writes).glued(),
            asks_flag("-n -p -a -s -S", Why::Inline),
            asks_flag("-x", Why::Elsewhere).glued(),
        ])
        .operands(Operands::Call(script)),
    Program::works("php php-cgi")
        .style(Style::Posix)
        .flags(&["-v --version -h --help -l --syntax-check -i --info -m --modules -n -q"])
        .entries(&[
            calls(
                "-r --run -B --process-begin -R --process-code -E --process-end -F \
                --process-file",
                inline::code,
            ),
            asks("-c --php-ini -d --define -z --zend-extension", Why::Loads),
            asks("-S --server -t --docroot", Why::Socket),
            asks_flag("-a --interactive", Why::Interactive),
        ])
        .values(&["-f --file"])
        .operands(Operands::Call(script)),
    Program::works("lua luajit texlua")
        .style(Style::Posix)
        .flags(&["-v -W -E"])
        .entries(&[
            calls("-e", inline::code),
            asks("-l -j", Why::Loads),
            asks_flag("-i", Why::Interactive),
        ])
        .operands(Operands::Call(script)),
    Program::works(
        "Rscript R julia octave octave-cli ghci runghc runhaskell guile racket sbcl \
        clisp scheme elixir iex erl escript clojure clj groovysh",
    )
    .style(Style::Posix)
    .flags(&["--version --help -v -h --vanilla --no-save --quiet --slave -q"])
    .entries(&[
        calls(
            "-e -E --eval --print --run --command -c -r -S",
            inline::code,
        ),
        asks(
            "-l -L --load -i --require --project --sysimage -J --startup-file --init-file \
                -P --path --file -f",
            Why::Loads,
        ),
    ])
    .operands(Operands::Call(script)),
    Program::works("swipl prolog")
        .style(Style::Posix)
        .flags(&["--version --help -v -h -q --quiet -O"])
        .entries(&[
            calls("-g -t -c --goal --toplevel", inline::code),
            asks("-f -F -l -s -x -p", Why::Loads),
        ])
        .operands(Operands::Call(script)),
    Program::doubtful("pdb ipdb pudb", Why::Interactive)
        .style(Style::Posix)
        .values(&["-m"])
        .entries(&[calls("-c --command", inline::code)])
        .operands(Operands::Call(script)),
    Program::works("tclsh wish osascript jimsh ocaml utop scala amm")
        .entries(&[calls("-e", inline::code)])
        .operands(Operands::Call(script)),
    Program::works("sqlite3 sqlite")
        .style(Style::Dash)
        .values(&["-separator -nullvalue -newline -mmap -vfs -lookaside -pagecache"])
        .flags(&[
            "-readonly -csv -json -header -noheader -column -line -list -box -markdown \
            -batch -bail -version -echo -table -html -quote -safe",
        ])
        .entries(&[
            asks("-init", Why::Loads),
            calls("-cmd", sql),
            asks("-A*", Why::Writes),
            asks_flag("-interactive -unsafe-testing -append -zip", Why::Loads),
        ])
        .operands(Operands::Call(sqlite)),
    Program::works("duckdb")
        .style(Style::Dash)
        .entries(&[asks("-init -f -c -s -cmd", Why::Inline)])
        .operands(Operands::Call(sqlite)),
    Program::works("psql")
        .values(&[
            "-h --host -p --port -U --username -d --dbname -F --field-separator -P \
            --pset -T",
        ])
        .entries(&[
            calls("-c --command", psql),
            asks("-f --file", Why::Loads),
            writes("-o --output -L --log-file"),
            asks("-v --set --variable", Why::Loads),
        ])
        .operands(Operands::Call(database)),
    Program::works("mysql mariadb")
        .values(&["-h --host -P --port -u --user -D --database"])
        .flags(&["-p? --password --protocol"])
        .entries(&[
            calls("-e --execute", mysql),
            starts_pager(),
            asks(
                "--defaults-file --defaults-extra-file --init-command --plugin-dir --tee \
                --defaults-group-suffix --login-path",
                Why::Loads,
            ),
            asks("-S --socket", Why::Socket),
            asks_flag("--local-infile", Why::Sends),
        ])
        .operands(Operands::Call(database)),
    Program::works("redis-cli valkey-cli mongo mongosh cqlsh clickhouse-client")
        .style(Style::Posix)
        .values(&["-h -p -n -a -u --host --port --user --pass"])
        .entries(&[
            asks(
                "--eval -x -f --file --functions-rdb --rdb --pipe",
                Why::Inline,
            ),
            asks("-s", Why::Socket),
            asks(
                "--config --config-file --sslCAFile --cacert --cert --key",
                Why::Loads,
            ),
        ])
        .operands(Operands::Call(redis)),
    Program::works("pg_dump mysqldump pg_restore").entries(&[writes("-f --file -r --result-file")]),
    Program::works("rails mix artisan")
        .style(Style::Posix)
        .confined()
        .operands(Operands::Subs(&RAILS)),
    Program::works("jupyter ipython jupyter-nbconvert papermill")
        .operands(Operands::Subs(&JUPYTER)),
];

const RAILS: Subs = Subs {
    plain: "",
    doubtful: &[
        (
            "runner r console c dbconsole db server s run eval cmd do tinker serve",
            Why::Inline,
        ),
        (
            "new plugin local.hex local.rebar archive.install escript.install",
            Why::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const JUPYTER: Subs = Subs {
    plain: "--version kernelspec troubleshoot",
    doubtful: &[(
        "notebook lab console nbconvert execute run server",
        Why::Inline,
    )],
    starting: "",
    writing: "",
    unknown: Some(Why::Inline),
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

const fn starts_pager() -> Entry {
    super::table::starts("--pager")
}

fn names_file(value: &str) -> Option<Why> {
    value.contains(['/', '.', ':']).then_some(Why::Loads)
}

/// Doubts an option without a glued value: it is unclear whether the next word belongs to
/// it.
fn is_apart(value: &str) -> Option<Why> {
    value.is_empty().then_some(Why::Unknown)
}

fn python_setting(value: &str) -> Option<Why> {
    let name = value.split('=').next().unwrap_or_default();
    lists("pycache_prefix presite", name).then_some(Why::Loads)
}

fn module_named(view: &mut View<'_>, module: &str) {
    if lists(DOUBTFUL_MODULES, module) || module.is_empty() || view.strays(module) {
        view.doubt_word(Why::Loads, &format!("-m {module}"));
    }
}

fn python(view: &mut View<'_>, parsed: &Parsed<'_>) {
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
            view.doubt_word(Why::Elsewhere, word);
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
fn script(view: &mut View<'_>, parsed: &Parsed<'_>) {
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
            view.doubt(Why::Inline, &name);
        }
        return;
    };
    if file == "-" || file == "CMD" && view.name == "R" {
        view.doubt_word(Why::Inline, file);
    } else if file == "artisan" && view.name == "php" {
        let words: Vec<String> = parsed
            .operands
            .iter()
            .map(|word| (*word).to_owned())
            .collect();
        view.also(&words);
    } else if file == "/dev/stdin" {
        view.doubt_word(Why::Inline, file);
    } else if view.strays(file) || file.contains("://") || file.starts_with("data:") {
        view.doubt_word(Why::Loads, file);
    }
    view.read(file);
}

fn deno(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return view.doubt_word(Why::Interactive, "");
    };
    match *sub {
        "serve" => view.doubt_word(Why::Socket, sub),
        "task" | "types" | "outdated" => {}
        "run" | "fmt" | "lint" | "check" | "test" | "bench" | "info" | "doc" => {
            if let Some(file) = rest.first()
                && (view.strays(file) || file.contains(':') || *file == "-")
            {
                view.doubt_word(Why::Loads, file);
            }
        }
        "eval" | "repl" | "jupyter" => {
            view.doubt_word(Why::Inline, sub);
            inline::note_launches(view, &rest.join(" "));
        }
        "install" | "uninstall" | "publish" | "upgrade" | "add" | "init" | "compile" => {
            view.doubt_word(Why::Installs, sub);
        }
        _ => view.doubt_word(Why::Unknown, sub),
    }
}

/// Asks about SQL that reaches beyond the database it was pointed at.
fn sql(view: &mut View<'_>, text: &str) {
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
        view.doubt_word(Why::Starts, text);
        let shell = text
            .trim_start()
            .split_once(' ')
            .map_or("", |(_, shell)| shell);
        view.start_script(shell);
    }
    if words.iter().any(|word| lower.contains(word)) {
        view.doubt_word(Why::Writes, text);
    }
    if lower.contains("load_extension") {
        view.doubt_word(Why::Loads, text);
    }
    // Matches `edit(text, program)`, with any blanks before the parenthesis.
    let is_call = |rest: &str| rest.trim_start().starts_with('(');
    if lower.split("edit").skip(1).any(is_call) {
        view.doubt_word(Why::Starts, text);
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

fn sqlite(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((file, texts)) = parsed.operands.split_first() else {
        return view.doubt_word(Why::Inline, "");
    };
    if parsed.has("-readonly") {
        view.read(file);
    } else if *file != ":memory:" {
        view.write(file);
    }
    if texts.is_empty() && !parsed.has("-cmd -version") {
        view.doubt_word(Why::Inline, file);
    }
    texts.iter().for_each(|text| sql(view, text));
}

fn psql(view: &mut View<'_>, text: &str) {
    view.doubt_open_text(text);
    let lower = text.to_ascii_lowercase();
    let harmless = ["\\d", "\\l", "\\conninfo", "\\timing", "\\x", "\\z"];
    let trimmed = lower.trim_start();
    if lower.contains('\\') && !harmless.iter().any(|command| trimmed.starts_with(command))
        || lower.contains("\\!")
    {
        view.doubt_word(Why::Starts, text);
        let shell = text.split_once("\\!").map_or("", |(_, shell)| shell);
        view.start_script(shell);
    }
    if lower.contains("copy ") || lower.contains("pg_read") || lower.contains("lo_") {
        view.doubt_word(Why::Sends, text);
    }
}

fn mysql(view: &mut View<'_>, text: &str) {
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
        view.doubt_word(Why::Starts, text);
    }
}

/// Asks if no command is given, because statements then come from standard input.
fn database(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if !parsed.has("-c --command -e --execute") {
        let name = view.name.clone();
        view.doubt(Why::Inline, &name);
    }
}

fn redis(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some(command) = parsed.operands.first() else {
        return view.doubt_word(Why::Inline, "");
    };
    let harmful = "config eval evalsha script module debug slaveof replicaof shutdown save \
        bgsave migrate flushall flushdb function acl";
    if lists(harmful, &command.to_ascii_lowercase()) {
        view.doubt_word(Why::Service, command);
    }
}
