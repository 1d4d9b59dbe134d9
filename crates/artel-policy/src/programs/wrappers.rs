//! Programs that start another command: the judge looks through them at what they start.

use super::options::Parsed;
use super::table::{
    Operands, Program, Role, Style, Why, asks, asks_flag, inside, reads, starts, writes,
};
use super::view::{UNKNOWN_WORD, View};

pub(super) const TABLE: &[Program] = &[
    Program::wraps("timeout gtimeout", 1).values(&["-k --kill-after -s --signal"]),
    Program::wraps("nice", 0).values(&["-n --adjustment"]),
    Program::wraps("ionice", 0)
        .values(&["-c --class -n --classdata"])
        .entries(&[asks("-p --pid -P --pgid -u --uid", Why::Process)]),
    Program::wraps("nohup", 0),
    Program::wraps(
        "tini dumb-init caffeinate proxychains proxychains4 torsocks",
        0,
    ),
    Program::wraps("setsid", 0),
    Program::wraps("stdbuf", 0).values(&["-i --input -o --output -e --error"]),
    Program::wraps("unbuffer", 0),
    Program::wraps("time gtime", 0)
        .values(&["-f --format"])
        .entries(&[writes("-o --output")])
        .role(Role::Wraps),
    Program::wraps("chrt", 1)
        .values(&["-T --sched-runtime -P --sched-period -D --sched-deadline"])
        .entries(&[asks_flag("-p --pid", Why::Process)]),
    Program::wraps("taskset", 1).entries(&[asks_flag("-p --pid", Why::Process)]),
    Program::wraps("setarch", 1),
    Program::wraps("linux32 linux64 i386 x86_64 uname26", 0),
    Program::wraps("prlimit", 0).entries(&[asks("-p --pid", Why::Process)]),
    Program::wraps("choom", 0)
        .values(&["-n --adjust"])
        .entries(&[asks("-p --pid", Why::Process)]),
    Program::wraps("numactl", 0)
        .values(&["-N --cpunodebind -C --physcpubind -m --membind -i --interleave -p --preferred"]),
    Program::wraps("cpulimit", 0)
        .values(&["-l --limit -c --cpu"])
        .entries(&[asks("-p --pid -e --exe -P --path", Why::Process)]),
    Program::wraps("env genv", 0)
        .values(&["-u --unset"])
        .flags(&[
            "-i --ignore-environment -0 --null -v --debug --list-signal-handling",
            "--default-signal --ignore-signal --block-signal",
        ])
        .entries(&[
            asks("-C --chdir", Why::Elsewhere),
            asks("-S --split-string", Why::Evaluates),
            asks("-P -a --argv0", Why::Elsewhere),
            asks("-L -U", Why::Privilege),
        ])
        .operands(Operands::Call(env)),
    Program::wraps("xargs gxargs", 0)
        .values(&[
            "-d --delimiter -E -I -L -n --max-args -P --max-procs -s --max-chars",
            "-J -R -S",
        ])
        .flags(&["-e? -i? -l? --eof --replace --max-lines --null -0 -r -t -x -p"])
        .entries(&[
            reads("-a --arg-file"),
            asks("--process-slot-var", Why::ChangesShell),
        ])
        .operands(Operands::Call(xargs)),
    Program::wraps("watch", 0)
        .values(&["-n --interval -q --equexit"])
        .flags(&["-d? --differences"])
        .operands(Operands::Call(watch)),
    Program::wraps("flock", 1)
        .values(&["-w --wait --timeout -E --conflict-exit-code"])
        .operands(Operands::Call(flock)),
    Program::doubtful("parallel rush sem", Why::Starts)
        .style(Style::Posix)
        .values(&["-j --jobs -a --arg-file -I -S --sshlogin --colsep -C -N -n -L"])
        .operands(Operands::Call(parallel)),
    Program::doubtful("entr", Why::Starts)
        .style(Style::Posix)
        .operands(Operands::Command(0)),
    Program::doubtful("script", Why::Starts).entries(&[
        starts("-c --command"),
        writes("-I --log-in -O --log-out -B --log-io -T --log-timing"),
    ]),
    Program::doubtful(
        "expect rlwrap dtach abduco screen tmux zellij byobu",
        Why::Interactive,
    ),
    Program::doubtful("sudo doas sudoedit gosu su-exec", Why::Privilege)
        .style(Style::Posix)
        .values(&[
            "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type",
            "-T --command-timeout -U --other-user -D --chdir -R --chroot",
        ])
        .operands(Operands::Call(sudo)),
    Program::doubtful("su runuser", Why::Privilege)
        .values(&["-g --group -G --supp-group -s --shell -w -u --user"])
        .entries(&[starts("-c --command --session-command")])
        .operands(Operands::Command(0)),
    Program::doubtful(
        "pkexec setpriv capsh fakeroot faketime proot firejail",
        Why::Privilege,
    )
    .style(Style::Posix)
    .values(&["--user --reuid --regid"])
    .operands(Operands::Command(0)),
    Program::doubtful("chroot", Why::Privilege)
        .style(Style::Posix)
        .operands(Operands::Command(1)),
    Program::doubtful("unshare nsenter", Why::Privilege)
        .style(Style::Posix)
        .values(&["-t --target -S --setuid -G --setgid -w --wd -R --root"])
        .operands(Operands::Command(0)),
    Program::doubtful("bwrap flatpak toolbox distrobox", Why::Privilege),
    Program::works("strace")
        .style(Style::Posix)
        .values(&["-a -b -e -I -O -P -s -S -U -X --trace --string-limit --columns"])
        .entries(&[
            writes("-o --output"),
            asks("-p --attach", Why::Process),
            asks("-E --env -u --user", Why::Privilege),
        ])
        .operands(Operands::Command(0)),
    Program::works("ltrace")
        .style(Style::Posix)
        .values(&["-a -A -D -e -l -n -s -w -x --align --indent --library"])
        .entries(&[
            writes("-o --output"),
            asks("-p", Why::Process),
            asks("-u -F --config", Why::Privilege),
        ])
        .operands(Operands::Command(0)),
    Program::works("valgrind")
        .style(Style::Posix)
        .entries(&[
            writes("--log-file --xml-file --massif-out-file --callgrind-out-file --vgdb-prefix"),
            inside("--tool --suppressions", Why::Loads),
            starts("--db-command"),
            asks("--config", Why::Loads),
        ])
        .operands(Operands::Command(0)),
    Program::doubtful("gdb lldb bpftrace", Why::Starts).entries(&[asks("-p --pid", Why::Process)]),
    Program::doubtful("perf rr", Why::Starts)
        .style(Style::Posix)
        .operands(Operands::Call(traced)),
    Program::doubtful("gcore", Why::Process),
    Program::works("hyperfine")
        .values(&[
            "-w --warmup -r --runs -m --min-runs -M --max-runs -P --parameter-scan -n",
            "--command-name -L --parameter-list -D -u --time-unit --style --input --output",
        ])
        .entries(&[
            starts("-p --prepare -s --setup -c --cleanup -C --conclude -S --shell"),
            writes("--export-json --export-markdown --export-csv --export-asciidoc"),
        ])
        .operands(Operands::Call(texts)),
    Program::wraps("coreutils", 0)
        .style(Style::Raw)
        .operands(Operands::Call(coreutils)),
    Program::doubtful("sg newgrp", Why::Privilege)
        .flags(&["-c"])
        .operands(Operands::Call(as_group)),
    Program::doubtful("pee mispipe concurrently", Why::Starts).operands(Operands::Call(texts)),
    Program::doubtful("dpkg-architecture", Why::Starts).entries(&[starts("-c --command")]),
    Program::wraps("busybox toybox", 0).entries(&[asks("--install", Why::Installs).glued()]),
    Program::doubtful(
        "direnv devbox nix nix-shell nix-env nix-build guix mise asdf",
        Why::Starts,
    ),
    Program::doubtful(
        "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1",
        Why::Loads,
    )
    .style(Style::Posix)
    .operands(Operands::Command(0)),
    Program::doubtful(
        "xvfb-run dbus-run-session catchsegv start-stop-daemon daemonize",
        Why::Starts,
    )
    .style(Style::Posix)
    .values(&["-e -f -n -p -s -w --server-args --server-num"])
    .operands(Operands::Command(0)),
];

fn env(view: &mut View<'_>, parsed: &Parsed<'_>) {
    // A single dash is an old spelling of `-i`.
    let operands = match parsed.operands.as_slice() {
        ["-", rest @ ..] => rest,
        operands => operands,
    };
    let is_assignment = |word: &&&str| word.contains('=');
    let assigned = operands.iter().take_while(is_assignment).count();
    if let Some(word) = operands.first().filter(|_| assigned > 0) {
        view.doubt_word(Why::ChangesShell, word);
    }
    for text in parsed.values_of("-S --split-string") {
        // Its quoting is close to the shell's, and the doubt above asks anyway: this makes
        // sure that a denied program is seen.
        view.start_script(text);
    }
    view.start_words(operands.get(assigned..).unwrap_or_default());
}

fn xargs(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let known: Vec<String> = parsed
        .operands
        .iter()
        .map(|word| (*word).to_owned())
        .collect();
    if known.is_empty() {
        return;
    }
    let mark = parsed.values_of("-I -J -i --replace").last();
    let mark = mark.map(|mark| if mark.is_empty() { "{}" } else { mark });
    let unknown = UNKNOWN_WORD.to_string();
    let mut trial = known.clone();
    match mark {
        Some(mark) => trial
            .iter_mut()
            .for_each(|word| *word = word.replace(mark, &unknown)),
        None => trial.push(unknown),
    }
    view.start_open(&known, &trial);
}

fn watch(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if !parsed.operands.is_empty() {
        view.start_script(&parsed.operands.join(" "));
    }
}

fn flock(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((lock, rest)) = parsed.operands.split_first() else {
        return;
    };
    view.write(lock);
    match rest {
        ["-c" | "--command", text, ..] => view.start_script(text),
        words => view.start_words(words),
    }
}

fn parallel(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let is_command = |word: &&&str| !word.starts_with(":::");
    let words: Vec<&str> = parsed
        .operands
        .iter()
        .take_while(is_command)
        .copied()
        .collect();
    if !words.is_empty() {
        view.start_script(&words.join(" "));
    }
}

/// Records the command after a subcommand and its options, as in `perf stat -e cycles
/// make`. It may begin at any word that is not an option, because option values look the
/// same, so each candidate is recorded.
fn traced(view: &mut View<'_>, parsed: &Parsed<'_>) {
    const MOST: usize = 4;
    let rest = parsed.operands.get(1..).unwrap_or_default();
    let begins = (0..rest.len()).filter(|at| !rest[*at].starts_with('-'));
    begins
        .take(MOST)
        .for_each(|at| view.start_words(&rest[at..]));
}

fn sudo(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let assigned = parsed
        .operands
        .iter()
        .take_while(|word| word.contains('='))
        .count();
    view.start_words(parsed.operands.get(assigned..).unwrap_or_default());
}

/// Records the program that an option selects: all the small programs are in one file.
fn coreutils(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let named = parsed.operands.first().and_then(|word| {
        word.strip_prefix("--coreutils-prog=")
            .or_else(|| word.strip_prefix("--coreutils-prog-shebang="))
    });
    let Some(program) = named else {
        let name = view.name.clone();
        return view.doubt(Why::Starts, &name);
    };
    let arguments = parsed.operands.iter().skip(1).copied();
    let words: Vec<&str> = [program].into_iter().chain(arguments).collect();
    view.start_words(&words);
}

/// Records the text of `sg staff -c TEXT`, which is also accepted without `-c`.
fn as_group(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if let Some(text) = parsed.operands.get(1) {
        view.start_script(text);
    }
}

/// Records each operand as a shell text.
fn texts(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let all = parsed.operands.iter();
    all.for_each(|text| view.start_script(text));
}
