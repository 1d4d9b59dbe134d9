//! Programs that start another command: the judge looks through them at what they start.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramPurpose, ProgramSpec, asks, asks_flag,
    inside, reads, starts, writes,
};
use super::view::{CommandInspector, UNKNOWN_WORD};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::wraps("timeout gtimeout", 1).values(&["-k --kill-after -s --signal"]),
    ProgramSpec::wraps("nice", 0).values(&["-n --adjustment"]),
    ProgramSpec::wraps("ionice", 0)
        .values(&["-c --class -n --classdata"])
        .entries(&[asks("-p --pid -P --pgid -u --uid", DoubtReason::Process)]),
    ProgramSpec::wraps("nohup", 0),
    ProgramSpec::wraps(
        "tini dumb-init caffeinate proxychains proxychains4 torsocks",
        0,
    ),
    ProgramSpec::wraps("setsid", 0),
    ProgramSpec::wraps("stdbuf", 0).values(&["-i --input -o --output -e --error"]),
    ProgramSpec::wraps("unbuffer", 0),
    ProgramSpec::wraps("time gtime", 0)
        .values(&["-f --format"])
        .entries(&[writes("-o --output")])
        .role(ProgramPurpose::Wraps),
    ProgramSpec::wraps("chrt", 1)
        .values(&["-T --sched-runtime -P --sched-period -D --sched-deadline"])
        .entries(&[asks_flag("-p --pid", DoubtReason::Process)]),
    ProgramSpec::wraps("taskset", 1).entries(&[asks_flag("-p --pid", DoubtReason::Process)]),
    ProgramSpec::wraps("setarch", 1),
    ProgramSpec::wraps("linux32 linux64 i386 x86_64 uname26", 0),
    ProgramSpec::wraps("prlimit", 0).entries(&[asks("-p --pid", DoubtReason::Process)]),
    ProgramSpec::wraps("choom", 0)
        .values(&["-n --adjust"])
        .entries(&[asks("-p --pid", DoubtReason::Process)]),
    ProgramSpec::wraps("numactl", 0)
        .values(&["-N --cpunodebind -C --physcpubind -m --membind -i --interleave -p --preferred"]),
    ProgramSpec::wraps("cpulimit", 0)
        .values(&["-l --limit -c --cpu"])
        .entries(&[asks("-p --pid -e --exe -P --path", DoubtReason::Process)]),
    ProgramSpec::wraps("env genv", 0)
        .values(&["-u --unset"])
        .flags(&[
            "-i --ignore-environment -0 --null -v --debug --list-signal-handling",
            "--default-signal --ignore-signal --block-signal",
        ])
        .entries(&[
            asks("-C --chdir", DoubtReason::Elsewhere),
            asks("-S --split-string", DoubtReason::Evaluates),
            asks("-P -a --argv0", DoubtReason::Elsewhere),
            asks("-L -U", DoubtReason::Privilege),
        ])
        .operands(OperandMeaning::Call(env)),
    ProgramSpec::wraps("xargs gxargs", 0)
        .values(&[
            "-d --delimiter -E -I -L -n --max-args -P --max-procs -s --max-chars",
            "-J -R -S",
        ])
        .flags(&["-e? -i? -l? --eof --replace --max-lines --null -0 -r -t -x -p"])
        .entries(&[
            reads("-a --arg-file"),
            asks("--process-slot-var", DoubtReason::ChangesShell),
        ])
        .operands(OperandMeaning::Call(xargs)),
    ProgramSpec::wraps("watch", 0)
        .values(&["-n --interval -q --equexit"])
        .flags(&["-d? --differences"])
        .operands(OperandMeaning::Call(watch)),
    ProgramSpec::wraps("flock", 1)
        .values(&["-w --wait --timeout -E --conflict-exit-code"])
        .operands(OperandMeaning::Call(flock)),
    ProgramSpec::doubtful("parallel rush sem", DoubtReason::Starts)
        .style(ProgramOptionStyle::Posix)
        .values(&["-j --jobs -a --arg-file -I -S --sshlogin --colsep -C -N -n -L"])
        .operands(OperandMeaning::Call(parallel)),
    ProgramSpec::doubtful("entr", DoubtReason::Starts)
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful("script", DoubtReason::Starts).entries(&[
        starts("-c --command"),
        writes("-I --log-in -O --log-out -B --log-io -T --log-timing"),
    ]),
    ProgramSpec::doubtful(
        "expect rlwrap dtach abduco screen tmux zellij byobu",
        DoubtReason::Interactive,
    ),
    ProgramSpec::doubtful("sudo doas sudoedit gosu su-exec", DoubtReason::Privilege)
        .style(ProgramOptionStyle::Posix)
        .values(&[
            "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type",
            "-T --command-timeout -U --other-user -D --chdir -R --chroot",
        ])
        .operands(OperandMeaning::Call(sudo)),
    ProgramSpec::doubtful("su runuser", DoubtReason::Privilege)
        .values(&["-g --group -G --supp-group -s --shell -w -u --user"])
        .entries(&[starts("-c --command --session-command")])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful(
        "pkexec setpriv capsh fakeroot faketime proot firejail",
        DoubtReason::Privilege,
    )
    .style(ProgramOptionStyle::Posix)
    .values(&["--user --reuid --regid"])
    .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful("chroot", DoubtReason::Privilege)
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Command(1)),
    ProgramSpec::doubtful("unshare nsenter", DoubtReason::Privilege)
        .style(ProgramOptionStyle::Posix)
        .values(&["-t --target -S --setuid -G --setgid -w --wd -R --root"])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful("bwrap flatpak toolbox distrobox", DoubtReason::Privilege),
    ProgramSpec::works("strace")
        .style(ProgramOptionStyle::Posix)
        .values(&["-a -b -e -I -O -P -s -S -U -X --trace --string-limit --columns"])
        .entries(&[
            writes("-o --output"),
            asks("-p --attach", DoubtReason::Process),
            asks("-E --env -u --user", DoubtReason::Privilege),
        ])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::works("ltrace")
        .style(ProgramOptionStyle::Posix)
        .values(&["-a -A -D -e -l -n -s -w -x --align --indent --library"])
        .entries(&[
            writes("-o --output"),
            asks("-p", DoubtReason::Process),
            asks("-u -F --config", DoubtReason::Privilege),
        ])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::works("valgrind")
        .style(ProgramOptionStyle::Posix)
        .entries(&[
            writes("--log-file --xml-file --massif-out-file --callgrind-out-file --vgdb-prefix"),
            inside("--tool --suppressions", DoubtReason::Loads),
            starts("--db-command"),
            asks("--config", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful("gdb lldb bpftrace", DoubtReason::Starts)
        .entries(&[asks("-p --pid", DoubtReason::Process)]),
    ProgramSpec::doubtful("perf rr", DoubtReason::Starts)
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Call(traced)),
    ProgramSpec::doubtful("gcore", DoubtReason::Process),
    ProgramSpec::works("hyperfine")
        .values(&[
            "-w --warmup -r --runs -m --min-runs -M --max-runs -P --parameter-scan -n",
            "--command-name -L --parameter-list -D -u --time-unit --style --input --output",
        ])
        .entries(&[
            starts("-p --prepare -s --setup -c --cleanup -C --conclude -S --shell"),
            writes("--export-json --export-markdown --export-csv --export-asciidoc"),
        ])
        .operands(OperandMeaning::Call(texts)),
    ProgramSpec::wraps("coreutils", 0)
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(coreutils)),
    ProgramSpec::doubtful("sg newgrp", DoubtReason::Privilege)
        .flags(&["-c"])
        .operands(OperandMeaning::Call(as_group)),
    ProgramSpec::doubtful("pee mispipe concurrently", DoubtReason::Starts)
        .operands(OperandMeaning::Call(texts)),
    ProgramSpec::doubtful("dpkg-architecture", DoubtReason::Starts)
        .entries(&[starts("-c --command")]),
    ProgramSpec::wraps("busybox toybox", 0)
        .entries(&[asks("--install", DoubtReason::Installs).glued()]),
    ProgramSpec::doubtful(
        "direnv devbox nix nix-shell nix-env nix-build guix mise asdf",
        DoubtReason::Starts,
    ),
    ProgramSpec::doubtful(
        "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1",
        DoubtReason::Loads,
    )
    .style(ProgramOptionStyle::Posix)
    .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful(
        "xvfb-run dbus-run-session catchsegv start-stop-daemon daemonize",
        DoubtReason::Starts,
    )
    .style(ProgramOptionStyle::Posix)
    .values(&["-e -f -n -p -s -w --server-args --server-num"])
    .operands(OperandMeaning::Command(0)),
];

fn env(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    // A single dash is an old spelling of `-i`.
    let operands = match parsed.operands.as_slice() {
        ["-", rest @ ..] => rest,
        operands => operands,
    };
    let is_assignment = |word: &&&str| word.contains('=');
    let assigned = operands.iter().take_while(is_assignment).count();
    if let Some(word) = operands.first().filter(|_| assigned > 0) {
        view.doubt_word(DoubtReason::ChangesShell, word);
    }
    for text in parsed.values_of("-S --split-string") {
        // Its quoting is close to the shell's, and the doubt above asks anyway: this makes
        // sure that a denied program is seen.
        view.start_script(text);
    }
    view.start_words(operands.get(assigned..).unwrap_or_default());
}

fn xargs(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
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

fn watch(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.operands.is_empty() {
        view.start_script(&parsed.operands.join(" "));
    }
}

fn flock(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((lock, rest)) = parsed.operands.split_first() else {
        return;
    };
    view.write(lock);
    match rest {
        ["-c" | "--command", text, ..] => view.start_script(text),
        words => view.start_words(words),
    }
}

fn parallel(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
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
fn traced(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    const MOST: usize = 4;
    let rest = parsed.operands.get(1..).unwrap_or_default();
    let begins = (0..rest.len()).filter(|at| !rest[*at].starts_with('-'));
    begins
        .take(MOST)
        .for_each(|at| view.start_words(&rest[at..]));
}

fn sudo(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let assigned = parsed
        .operands
        .iter()
        .take_while(|word| word.contains('='))
        .count();
    view.start_words(parsed.operands.get(assigned..).unwrap_or_default());
}

/// Records the program that an option selects: all the small programs are in one file.
fn coreutils(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let named = parsed.operands.first().and_then(|word| {
        word.strip_prefix("--coreutils-prog=")
            .or_else(|| word.strip_prefix("--coreutils-prog-shebang="))
    });
    let Some(program) = named else {
        let name = view.name.clone();
        return view.doubt(DoubtReason::Starts, &name);
    };
    let arguments = parsed.operands.iter().skip(1).copied();
    let words: Vec<&str> = [program].into_iter().chain(arguments).collect();
    view.start_words(&words);
}

/// Records the text of `sg staff -c TEXT`, which is also accepted without `-c`.
fn as_group(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let Some(text) = parsed.operands.get(1) {
        view.start_script(text);
    }
}

/// Records each operand as a shell text.
fn texts(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let all = parsed.operands.iter();
    all.for_each(|text| view.start_script(text));
}
