//! The sandbox's test program: the starter's entry point, and attempts to break out.
//!
//! Each attempt prints `open …` if it succeeds and `shut …` with the system's error number
//! if not, so that the same attempt can be shown to work outside and to fail inside.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unsafe_code,
    reason = "a test program that has to try what no other code may"
)]

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use artel_sandbox::{
    CommandExit, DefaultViewSources, RequiredSandboxLevel, Sandbox, SandboxCommandSpec,
    SandboxLevel, SandboxLimits, SandboxNetwork, SandboxStarterProgram, SandboxStdin, SandboxView,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

fn main() {
    artel_sandbox::enter_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["call", number, rest @ ..] => report(call(number, rest).map(|value| value.to_string())),
        ["tcp", address] => report(tcp(address)),
        ["udp", address] => report(udp(address)),
        ["unix", path] => report(UnixStream::connect(path).map(|_| "connected".to_owned())),
        ["abstract", name] => report(abstract_socket(name)),
        ["signal", pid] => report(call("62", &[pid, "0"]).map(|_| "heard".to_owned())),
        ["type", text] => report(type_into_terminal(text)),
        ["descriptors"] => descriptors(),
        ["write-descriptor", path] => report(reopen(path)),
        ["lend", folder] => lend(folder),
        ["threads"] => report(threads()),
        ["processes"] => report(processes()),
        ["memory", mebibytes] => report(memory(mebibytes)),
        ["pairs"] => report(UnixStream::pair().map(|_| "a pair".to_owned())),
        ["ladder", without @ ..] => ladder(without),
        ["start", level, without @ ..] => start(level, without),
        ["time", folder, program] => time(folder, program),
        _ => panic!("unknown attempt: {args:?}"),
    }
}

fn report(result: io::Result<String>) {
    match result {
        Ok(detail) => println!("open {detail}"),
        Err(cause) => println!("shut {}", cause.raw_os_error().unwrap_or(-1)),
    }
}

/// Tries every way to create a file that runs with the rights of its owner or group.
fn lend(folder: &str) {
    use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
    let plain = Mode::from_raw_mode(0o755);
    for (name, bits) in [("owner", 0o4755), ("group", 0o2755)] {
        let mode = Mode::from_raw_mode(bits);
        let path = |way: &str| format!("{folder}/{name}-{way}");
        let make = OFlags::CREATE | OFlags::WRONLY;
        let fresh = |way: &str| rustix::fs::open(path(way), make, plain).unwrap();
        let said = |done: rustix::io::Result<()>| {
            report(done.map(|()| name.to_owned()).map_err(Into::into));
        };
        said(rustix::fs::open(path("open"), make, mode).map(drop));
        said(
            rustix::fs::openat2(CWD, path("openat2"), make, mode, ResolveFlags::empty()).map(drop),
        );
        said(rustix::fs::open(folder, OFlags::TMPFILE | OFlags::WRONLY, mode).map(drop));
        said(rustix::fs::mknodat(
            CWD,
            path("mknod"),
            FileType::RegularFile,
            mode,
            0,
        ));
        said(rustix::fs::fchmod(fresh("fchmod"), mode));
        drop(fresh("chmod"));
        said(rustix::fs::chmod(path("chmod"), mode));
        drop(fresh("chmodat"));
        let flags = rustix::fs::AtFlags::empty();
        said(rustix::fs::chmodat(CWD, path("chmodat"), mode, flags));
    }
}

/// Makes a system call by number.
fn call(number: &str, rest: &[&str]) -> io::Result<i64> {
    let mut given = [0_i64; 6];
    for (place, text) in given.iter_mut().zip(rest) {
        *place = text.parse().unwrap();
    }
    let [a, b, c, d, e, f] = given;
    // SAFETY: the tests pass no number that a call could use as a pointer to write through.
    let value = unsafe { libc::syscall(number.parse().unwrap(), a, b, c, d, e, f) };
    if value == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(value)
}

fn tcp(address: &str) -> io::Result<String> {
    let address: SocketAddr = address.parse().unwrap();
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"ping")?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn udp(address: &str) -> io::Result<String> {
    let address: SocketAddr = address.parse().unwrap();
    let any = if address.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(any)?;
    socket.set_read_timeout(Some(Duration::from_millis(500)))?;
    socket.connect(address)?;
    socket.send(b"ping")?;
    let mut answer = [0; 16];
    let count = socket.recv(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..count]).into_owned())
}

fn abstract_socket(name: &str) -> io::Result<String> {
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    UnixStream::connect_addr(&address).map(|_| "connected".to_owned())
}

/// Types into the terminal at descriptor 0, as a person would.
fn type_into_terminal(text: &str) -> io::Result<String> {
    for byte in text.bytes() {
        // SAFETY: the request reads one byte from a live value.
        let done = unsafe { libc::ioctl(0, libc::TIOCSTI, &raw const byte) };
        if done == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok("typed".to_owned())
}

/// Lists all open descriptors except the three standard ones and the one used for listing.
fn descriptors() {
    let mut open = Vec::new();
    for fd in 3..4096 {
        // SAFETY: asking for flags touches no memory.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1 {
            open.push(fd);
        }
    }
    println!("descriptors {open:?}");
}

/// Opens a file for reading and tries to turn that handle into a writable one.
fn reopen(path: &str) -> io::Result<String> {
    let file = std::fs::File::open(path)?;
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut file = std::fs::OpenOptions::new().write(true).open(again)?;
    file.write_all(b"changed")?;
    Ok("written".to_owned())
}

fn threads() -> io::Result<String> {
    let mut running = Vec::new();
    for _ in 0..10_000 {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        running.push(thread.spawn(std::thread::park)?);
    }
    Ok("ten thousand threads".to_owned())
}

fn processes() -> io::Result<String> {
    for _ in 0..10_000 {
        // SAFETY: the child only waits and ends.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => loop {
                std::thread::park();
            },
            _ => {}
        }
    }
    Ok("ten thousand processes".to_owned())
}

fn memory(mebibytes: &str) -> io::Result<String> {
    let mut held = Vec::new();
    for _ in 0..mebibytes.parse::<usize>().unwrap() {
        let mut block = vec![0_u8; 1 << 20];
        block.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        held.push(block);
    }
    Ok(format!("{} MiB", held.len()))
}

/// Forbids features that a poorer machine lacks, for this process and every starter.
fn forbid(without: &[&str]) {
    for wall in without {
        let program = match *wall {
            "namespaces" => {
                let flag = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
                let op = SeccompCmpOp::MaskedEq(flag);
                let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, op, flag);
                let rule = SeccompRule::new(vec![condition.unwrap()]).unwrap();
                filter(libc::SYS_clone, vec![rule], libc::EPERM)
            }
            "landlock" => filter(libc::SYS_landlock_create_ruleset, Vec::new(), libc::ENOSYS),
            "mounts" => filter(libc::SYS_fsopen, Vec::new(), libc::EPERM),
            "filters" => filter(libc::SYS_seccomp, Vec::new(), libc::EINVAL),
            other => panic!("unknown wall: {other}"),
        };
        seccompiler::apply_filter(&program).unwrap();
    }
}

fn filter(number: libc::c_long, rules: Vec<SeccompRule>, errno: libc::c_int) -> BpfProgram {
    let rules = BTreeMap::from([(number, rules)]);
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch).unwrap();
    filter.try_into().unwrap()
}

/// Prints the walls found on this machine, or on one without the given features.
fn ladder(without: &[&str]) {
    forbid(without);
    let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
    println!("{}", serde_json::to_string(sandbox.engaged()).unwrap());
}

/// Tries to start a shell at a required level. The shell's script is read from standard
/// input.
fn start(level: &str, without: &[&str]) {
    let mut script = String::new();
    io::stdin().read_to_string(&mut script).unwrap();
    forbid(without);
    let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
    let level = match level {
        "full" => SandboxLevel::Full,
        "partial" => SandboxLevel::Partial,
        _ => SandboxLevel::None,
    };
    let here = std::env::current_dir().unwrap();
    let program = std::env::current_exe().unwrap();
    let view = SandboxView::standard(&DefaultViewSources::default());
    let mut view = SandboxView {
        write: vec![here.clone()],
        protected: [".git", ".artel", ".bashrc"].map(str::to_owned).into(),
        ..view
    };
    view.read.push(program.clone());
    let job = SandboxCommandSpec {
        argv: ["/bin/sh", "-c", &script].map(Into::into).into(),
        cwd: here,
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("PROBE".into(), program.into()),
        ],
        view,
        network: SandboxNetwork::None,
        limits: SandboxLimits::default(),
        stdin: SandboxStdin::Empty,
    };
    match sandbox.start(&job, RequiredSandboxLevel(level)) {
        Ok(started) => {
            let mut text = String::new();
            let mut stdout = std::fs::File::from(started.stdout);
            stdout.read_to_string(&mut text).unwrap();
            let mut stderr = std::fs::File::from(started.stderr);
            stderr.read_to_string(&mut text).unwrap();
            println!("{text}{:?}", started.process.wait());
        }
        Err(refused) => println!("refused: {refused}"),
    }
}

/// Measures start times: of a plain program, and of one behind all walls with the default
/// view.
fn time(folder: &str, program: &str) {
    const COUNT: usize = 300;
    let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
    let path: Vec<_> = std::env::var("PATH")
        .unwrap()
        .split(':')
        .map(Into::into)
        .collect();
    let view = SandboxView::standard(&DefaultViewSources {
        home: std::env::var_os("HOME").map(Into::into),
        path,
        ..DefaultViewSources::default()
    });
    let job = SandboxCommandSpec {
        argv: vec![program.into()],
        cwd: folder.into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        view: SandboxView {
            write: vec![folder.into()],
            protected: [".git", ".artel", ".bashrc", ".envrc"]
                .map(str::to_owned)
                .into(),
            ..view
        },
        network: SandboxNetwork::None,
        limits: SandboxLimits::default(),
        stdin: SandboxStdin::Empty,
    };
    let plain = median(COUNT, || {
        std::process::Command::new(program).status().unwrap();
    });
    let walled = median(COUNT, || {
        let started = sandbox
            .start(&job, RequiredSandboxLevel(SandboxLevel::Full))
            .unwrap();
        assert_eq!(started.process.wait(), CommandExit::Code(0));
    });
    println!(
        "plain {plain:?} walled {walled:?} added {:?}",
        walled.saturating_sub(plain)
    );
}

fn median(count: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[count / 2]
}
