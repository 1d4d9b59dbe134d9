//! Processes: none outside can be touched, none inside survives, nothing leaks in.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use artel_sandbox::{CommandExit, SandboxStdin, Signal};

use crate::fixture::{PROBE, Place, finish, run, start};

/// A process of the same user outside.
struct Sibling(Child);

impl Sibling {
    fn new() -> Self {
        Self(
            Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_process_outside_cannot_be_signalled_traced_or_seen() {
    let place = Place::new();
    let sibling = Sibling::new();
    let pid = sibling.0.id();
    let signal = format!("\"$PROBE\" signal {pid}");
    assert_eq!(place.outside(&signal).stdout, "open heard\n");
    assert_eq!(
        place.inside(&signal).stdout,
        format!("shut {}\n", libc::ESRCH)
    );
    let trace = format!("\"$PROBE\" call {} 16902 {pid} 0 0", libc::SYS_ptrace);
    assert_eq!(place.outside(&trace).stdout, "open 0\n");
    assert_eq!(place.inside(&trace).stdout, "shut 1\n");
    let memory = format!("test -r /proc/{pid}/mem && echo readable");
    assert_eq!(place.outside(&memory).stdout, "readable\n");
    assert_eq!(place.inside(&memory).stdout, "");
    let everyone = place.inside("kill -9 -1; true");
    assert!(
        matches!(everyone.exit, CommandExit::Code(0) | CommandExit::Signal(9)),
        "{everyone:?}"
    );
    assert!(
        Command::new("kill")
            .args(["-0", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn only_the_own_processes_are_seen() {
    let place = Place::new();
    let inside = place.inside("for p in /proc/[0-9]*; do echo ${p#/proc/}; done");
    let pids: Vec<u32> = inside
        .stdout
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    assert!(pids.len() <= 3 && pids.contains(&1), "{pids:?}");
}

#[test]
fn our_own_first_process_cannot_be_killed_or_read() {
    let place = Place::new();
    let inside = place.inside(
        "kill -9 1; kill -15 1; kill -19 1; cat /proc/1/environ; ls /proc/1/fd; \
         \"$PROBE\" call 434 1 0; echo still here",
    );
    let lines: Vec<_> = inside.stdout.lines().collect();
    assert_eq!(lines.last(), Some(&"still here"), "{inside:?}");
    assert!(!inside.stdout.contains("PATH"), "{inside:?}");
}

#[test]
fn whoever_forks_twice_and_leaves_the_session_ends_with_the_command() {
    let place = Place::new();
    let mark = format!("artel-survivor-{}", std::process::id());
    let script = format!(
        "(setsid sh -c 'trap \"\" TERM INT HUP; echo up > up; exec -a {mark} cat gate' \
         </dev/null >/dev/null 2>&1 &) ; while ! test -s up; do :; done"
    );
    let script = format!("mkfifo gate; {script}");
    let mut job = place.job(&["/bin/bash", "-c", &script.replace("sh -c", "bash -c")]);
    job.env.push(("MARK".into(), mark.clone().into()));
    let started = start(&job);
    let outcome = finish(started);
    assert_eq!(outcome.exit, CommandExit::Code(0), "{outcome:?}");
    assert!(place.inside.join("up").exists());
    assert_eq!(processes_named(&mark), 0);
}

#[test]
fn killing_ends_everything_at_once() {
    let place = Place::new();
    let mark = format!("artel-stubborn-{}", std::process::id());
    let script = format!(
        "trap '' TERM INT HUP; mkfifo gate; \
         (setsid bash -c 'trap \"\" TERM INT HUP; exec -a {mark} cat gate' &); \
         echo ready; exec -a {mark} cat gate"
    );
    let started = start(&place.job(&["/bin/bash", "-c", &script]));
    read_line(&started.stdout);
    started.process.signal(Signal::INT).unwrap();
    started.process.signal(Signal::TERM).unwrap();
    assert_eq!(started.process.try_wait(), None);
    started.process.kill_all().unwrap();
    assert_eq!(started.process.wait(), CommandExit::Signal(libc::SIGKILL));
    assert_eq!(processes_named(&mark), 0);
}

#[test]
fn dropping_a_command_ends_it() {
    let place = Place::new();
    let mark = format!("artel-dropped-{}", std::process::id());
    let script = format!("echo ready; exec -a {mark} cat gate");
    let script = format!("mkfifo gate; {script}");
    let started = start(&place.job(&["/bin/bash", "-c", &script]));
    read_line(&started.stdout);
    drop(started);
    assert_eq!(processes_named(&mark), 0);
    assert!(
        !place.inside.join(".artel").exists(),
        "its placeholders are gone too"
    );
}

#[test]
fn when_we_are_killed_everything_ends_and_nothing_is_left() {
    let place = Place::new();
    let mark = format!("artel-abandoned-{}", std::process::id());
    let script = format!("trap '' TERM INT HUP; mkfifo gate; echo up > up; exec cat gate # {mark}");
    let mut ours = Command::new(PROBE)
        .args(["start", "full"])
        .current_dir(&place.inside)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    ours.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    while fs::read(place.inside.join("up"))
        .unwrap_or_default()
        .is_empty()
    {
        std::thread::yield_now();
    }
    assert!(place.inside.join(".artel").exists(), "its names are held");
    let starter = children_of(ours.id()).pop().unwrap();
    let starter = rustix::process::Pid::from_raw(starter).unwrap();
    let starter =
        rustix::process::pidfd_open(starter, rustix::process::PidfdFlags::empty()).unwrap();
    ours.kill().unwrap();
    ours.wait().unwrap();
    let mut fds = [rustix::event::PollFd::new(
        &starter,
        rustix::event::PollFlags::IN,
    )];
    let ten_seconds = rustix::event::Timespec {
        tv_sec: 10,
        tv_nsec: 0,
    };
    let ended = rustix::event::poll(&mut fds, Some(&ten_seconds)).unwrap();
    assert_eq!(ended, 1, "the starter is still there");
    assert!(!place.inside.join(".artel").exists());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let holds = |line: &Vec<u8>| line.windows(mark.len()).any(|part| part == mark.as_bytes());
    assert_eq!(lines.filter(holds).count(), 0);
}

fn children_of(pid: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

#[test]
fn signals_reach_the_command_and_its_children() {
    let place = Place::new();
    let script = "trap 'echo got INT' INT; trap 'echo got TERM; exit 5' TERM; mkfifo gate; \
                  echo ready; while :; do read line < gate; done";
    let started = start(&place.job(&["/bin/bash", "-c", script]));
    read_line(&started.stdout);
    started.process.signal(Signal::INT).unwrap();
    assert_eq!(read_line(&started.stdout), "got INT");
    started.process.signal(Signal::TERM).unwrap();
    let outcome = finish(started);
    assert_eq!(outcome.stdout, "got TERM\n");
    assert_eq!(outcome.exit, CommandExit::Code(5));
}

#[test]
fn no_descriptor_of_ours_is_open_inside() {
    let place = Place::new();
    // The attempt itself sees one that is left open.
    let outside = Command::new("/bin/sh")
        .args([
            "-c",
            &format!(
                "exec 9<{}; {PROBE} descriptors",
                place.outside.join("secret").display()
            ),
        ])
        .output()
        .unwrap();
    let outside = String::from_utf8_lossy(&outside.stdout).into_owned();
    assert!(outside.contains('9'), "{outside}");
    let careless = Careless::new(&place.outside.join("secret"));
    let inside = run(&place.job(&[PROBE, "descriptors"]));
    assert_eq!(inside.stdout, "descriptors []\n", "{inside:?}");
    drop(careless);
}

/// A descriptor that would be inherited by every child.
struct Careless(fs::File);

impl Careless {
    fn new(path: &std::path::Path) -> Self {
        let file = fs::File::open(path).unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        Self(file)
    }
}

impl Drop for Careless {
    fn drop(&mut self) {
        rustix::io::fcntl_setfd(&self.0, rustix::io::FdFlags::CLOEXEC).unwrap();
    }
}

#[test]
fn there_is_no_terminal_of_ours_inside() {
    let place = Place::new();
    let inside = place.inside("cat /dev/tty || echo none; tty; \"$PROBE\" type x; ps -o tty= -p 1");
    assert!(
        inside.stdout.starts_with("none\n") || inside.stderr.contains("/dev/tty"),
        "{inside:?}"
    );
    assert!(
        inside.stdout.contains("not a tty") && inside.stdout.contains("shut"),
        "{inside:?}"
    );
}

#[test]
fn own_terminals_work_and_typing_into_them_is_refused() {
    let place = Place::new();
    let script = "import pty, os, sys\n\
        pid, fd = pty.fork()\n\
        if pid == 0:\n\
        \x20   os.execv(os.environ['PROBE'], ['probe', 'type', 'x'])\n\
        print(os.read(fd, 100).decode().strip()); os.waitpid(pid, 0)";
    let mut job = place.job(&["/usr/bin/python3", "-c", script]);
    job.env[0].1 = "/usr/bin:/bin".into();
    let inside = run(&job);
    assert_eq!(inside.stdout, "shut 1\n", "{inside:?}");
}

#[test]
fn the_environment_is_what_was_given() {
    let place = Place::new();
    let mut job = place.job(&["/usr/bin/env"]);
    job.env = vec![("ONLY".into(), "this".into())];
    assert_eq!(run(&job).stdout, "ONLY=this\n");
}

#[test]
fn input_of_any_size_arrives() {
    let place = Place::new();
    let mut job = place.job(&["/usr/bin/wc", "-c"]);
    job.stdin = SandboxStdin::Bytes(vec![b'x'; 3 << 20]);
    assert_eq!(run(&job).stdout, "3145728\n");
}

fn read_line(fd: &std::os::fd::OwnedFd) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while rustix::io::read(fd, &mut byte).unwrap() == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

/// How many processes of the machine carry this name.
fn processes_named(name: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| line.starts_with(name.as_bytes()))
        .count()
}
