//! `artel sandbox run`: the command's own exit code, streams and nothing else of this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Artel, House, Seen, Tree};

/// Where programs are on every machine.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Prepares a command behind the walls.
fn inside<'w>(house: &House, words: impl IntoIterator<Item = &'w str>) -> Artel {
    house
        .artel(["sandbox", "run"])
        .words(words)
        .env("PATH", PATH)
}

/// Runs a script behind the walls, with the workshop's folder to write to.
fn script(house: &House, script: &str) -> Seen {
    inside(house, ["--write", ".", "--", "sh", "-c", script]).run()
}

fn output(artel: Artel) -> Output {
    artel.command().output().unwrap()
}

/// Something on this machine that answers whoever connects, and counts.
struct Listener {
    port: u16,
    visits: Arc<AtomicUsize>,
}

impl Listener {
    fn start() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let visits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&visits);
        std::thread::spawn(move || {
            for stream in socket.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                // A request ends with an empty line.
                while lines
                    .next()
                    .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
                {}
                let answer =
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                drop(stream.write_all(answer.as_bytes()));
            }
        });
        Self { port, visits }
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

/// Connects and prints what comes.
const CONNECT: &str = "import socket, sys
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20)
s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
print(s.makefile().read())";

/// The same as a program that knows of proxies.
const FETCH: &str = "import urllib.request, sys
print(urllib.request.urlopen('http://127.0.0.1:' + sys.argv[1], timeout=20).read().decode())";

#[test]
fn the_exit_code_is_the_command_s() {
    let house = House::empty();
    for (ends, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        ("exit 3", 3),
        ("exit 70", 70),
        ("exit 255", 255),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let seen = output(inside(&house, ["--", "sh", "-c", ends]));
        assert_eq!(seen.status.code(), Some(code), "{ends}: {seen:?}");
        assert_eq!((seen.stdout.len(), seen.stderr.len()), (0, 0), "{seen:?}");
    }
}

#[test]
fn programs_are_told_the_exit_code_behind_the_output() {
    let house = House::empty();
    let words = [
        "--json",
        "sandbox",
        "run",
        "--",
        "sh",
        "-c",
        "echo hi; exit 3",
    ];
    let told = house
        .artel(words)
        .env("PATH", "/usr/bin:/bin")
        .run()
        .expect(3);
    assert_eq!(told.out, "hi\n{\"exit\":3}\n");
}

#[test]
fn streams_pass_byte_for_byte_and_apart() {
    let house = House::empty();
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let file = house.root().join("bytes");
    fs::write(&file, &bytes).unwrap();
    let mut command = inside(&house, ["--", "sh", "-c", "echo aside >&2; exec cat"]).command();
    let seen = command
        .stdin(fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    assert!(seen.stdout == bytes, "{} bytes", seen.stdout.len());
    assert_eq!(seen.stderr, b"aside\n");
    // Without anything to read, it reads the end.
    assert_eq!(output(inside(&house, ["cat"])).stdout, b"");
}

#[test]
fn a_pipe_is_read_while_it_is_written() {
    let house = House::empty();
    let mut command = inside(&house, ["--", "cat"]).command();
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in ["one", "two"] {
        writeln!(input, "{line}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), line);
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn large_output_passes_whole() {
    let house = House::empty();
    let words = ["--", "sh", "-c", "yes 0123456789abcde | head -c 50000000"];
    let mut child = inside(&house, words).command().spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut piece, mut count) = (vec![0; 1 << 20], 0);
    loop {
        let read = out.read(&mut piece).unwrap();
        if read == 0 {
            break;
        }
        let line = b"0123456789abcde\n";
        let fits = |(at, byte): (usize, &u8)| *byte == line[(count + at) % line.len()];
        assert!(piece[..read].iter().enumerate().all(fits), "after {count}");
        count += read;
    }
    assert_eq!(count, 50_000_000);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn limits_end_it_and_are_named() {
    let house = House::empty();
    let slow = inside(&house, ["--timeout", "300ms", "--", "sleep", "600"]).run();
    insta::assert_snapshot!(slow.text(), @r"
    exit 124
    note: ended after 300ms; `--timeout` gives it longer
    ");
    let hungry = "x = b'a' * (300 << 20)\nprint(len(x))";
    let words = ["--memory", "64M", "--", "python3", "-c", hungry];
    let seen = inside(&house, words).run();
    assert_ne!(seen.code, 0);
    assert_eq!(seen.out, "");
    assert!(
        seen.err
            .contains("note: ended: it used more memory than it may"),
        "{}",
        seen.err
    );
    let fed = inside(&house, ["--memory", "1G", "--", "python3", "-c", hungry]).run();
    assert_eq!(fed.expect(0).out, "314572800\n");
    for (flag, value) in [
        ("--memory", "1K"),
        ("--memory", "many"),
        ("--memory", "99999999999999G"),
        ("--memory", ""),
        ("--timeout", "0s"),
        ("--timeout", "soon"),
    ] {
        let seen = inside(&house, [flag, value, "--", "true"]).run();
        seen.fails(2, "C004").says(flag);
    }
    inside(&house, []).run().fails(2, "C005");
}

#[test]
fn only_what_was_named_can_be_written() {
    let house = House::empty();
    let other = house.folder("other");
    fs::write(other.join("kept"), "kept").unwrap();
    let before = Tree::of(&other);
    let attempts = format!(
        "echo x > made; mkdir -p deep/er; \
         for f in {other}/new {other}/kept /usr/new /etc/new /new /bin/sh; do \
         (echo x >> $f) 2>/dev/null && echo \"wrote $f\"; done; true",
        other = other.display(),
    );
    let seen = script(&house, &attempts).expect(0);
    assert_eq!(seen.out, "");
    assert_eq!(fs::read(house.workshop.join("made")).unwrap(), b"x\n");
    assert!(house.workshop.join("deep/er").is_dir());
    before.unchanged(&other);
    // The home folder inside is a private one: what is written there goes with the command.
    let home = house.home.join("new");
    script(&house, &format!("echo x > {}", home.display())).expect(0);
    assert!(!home.exists());
    for path in ["/usr/new", "/etc/new", "/new"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    // Two folders can be named; one that is not there is said.
    let both = [
        "--write",
        ".",
        "--write",
        "../other",
        "--",
        "sh",
        "-c",
        "echo x > ../other/two",
    ];
    inside(&house, both).run().expect(0);
    assert!(other.join("two").exists());
    let missing = inside(&house, ["--write", "nowhere", "--", "true"]).run();
    missing.fails(4, "W010").says("nowhere");
}

#[test]
fn it_starts_here_if_here_can_be_seen() {
    let house = House::empty();
    let at = |artel: Artel| artel.run().expect(0).out;
    assert_eq!(at(inside(&house, ["pwd"])), "/\n");
    let here = format!("{}\n", house.workshop.display());
    assert_eq!(at(inside(&house, ["--write", ".", "pwd"])), here);
    let seen = inside(&house, ["pwd"]).standing_in(Path::new("/usr"));
    assert_eq!(at(seen), "/usr\n");
}

#[test]
fn secrets_of_the_person_are_not_there() {
    let house = House::empty();
    fs::create_dir(house.home.join(".ssh")).unwrap();
    for name in [".ssh/id_ed25519", ".env", ".netrc", ".aws-credentials"] {
        fs::write(house.home.join(name), "canary-5d1f").unwrap();
    }
    fs::write(house.workshop.join("beside"), "canary-5d1f").unwrap();
    let names = [
        "ANTHROPIC_API_KEY",
        "FOO_TOKEN",
        "AWS_REGION",
        "X_SECRET",
        "SSH_AUTH_SOCK",
    ];
    let mut artel = inside(&house, ["printenv"]).env("LANG", "C.UTF-8");
    for name in names {
        artel = artel.env(name, "canary-5d1f");
    }
    let seen = artel.run().expect(0);
    assert!(!seen.out.contains("canary"), "{}", seen.out);
    assert!(
        !names.iter().any(|name| seen.out.contains(name)),
        "{}",
        seen.out
    );
    assert!(
        seen.out.contains("PATH=") && seen.out.contains("LANG=C.UTF-8"),
        "{}",
        seen.out
    );
    let look = format!(
        "cat {0}/.ssh/id_ed25519 {0}/.env {0}/.netrc {1}/beside; ls -R {0}; \
         grep -r canary-5d1f /proc/1/environ /proc/*/environ; true",
        house.home.display(),
        house.workshop.display()
    );
    let seen = inside(&house, ["--", "sh", "-c", &look])
        .env("X_SECRET", "canary-5d1f")
        .run();
    assert!(!seen.out.contains("canary"), "{}", seen.out);
    assert!(!seen.err.contains("id_ed25519\n"), "{}", seen.err);
}

#[test]
fn the_network_is_out_of_reach_unless_one_place_was_granted() {
    let house = House::empty();
    let (granted, other) = (Listener::start(), Listener::start());
    let (port, second) = (granted.port.to_string(), other.port.to_string());
    // It answers outside.
    let mut outside = TcpStream::connect(("127.0.0.1", granted.port)).unwrap();
    outside.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut said = String::new();
    outside.read_to_string(&mut said).unwrap();
    assert!(said.ends_with("hello"), "{said}");
    TcpStream::connect(("127.0.0.1", other.port)).unwrap();
    let before = granted.visits();
    for program in [CONNECT, FETCH] {
        let seen = inside(&house, ["--", "python3", "-c", program, &port]).run();
        assert_ne!(seen.code, 0, "{seen:?}");
        assert!(!seen.out.contains("hello"), "{seen:?}");
    }
    assert_eq!(granted.visits(), before);
    let place = format!("127.0.0.1:{port}");
    for program in [CONNECT, FETCH] {
        let words = ["--net", &place, "--", "python3", "-c", program, &port];
        inside(&house, words).run().expect(0).says("hello");
    }
    assert_eq!(granted.visits(), before + 2);
    let before = other.visits();
    for program in [CONNECT, FETCH] {
        let words = ["--net", &place, "--", "python3", "-c", program, &second];
        let seen = inside(&house, words).run();
        assert_ne!(seen.code, 0, "{seen:?}");
        assert!(!seen.out.contains("hello"), "{seen:?}");
        // Whoever asks the proxy is refused, and a person reads why.
        if program == FETCH {
            assert!(
                seen.err
                    .contains(&format!("note: 127.0.0.1:{second} was refused")),
                "{seen:?}"
            );
        }
    }
    assert_eq!(other.visits(), before);
}

#[test]
fn names_of_this_machine_and_nonsense_are_no_grant() {
    let house = House::empty();
    for net in [
        "localhost:80",
        "localhost",
        "LOCALHOST.",
        "a b",
        "",
        "http://x",
        "x:99999",
        "*",
    ] {
        let seen = inside(&house, ["--net", net, "--", "true"]).run();
        seen.fails(2, "B005");
    }
}

#[test]
fn what_is_not_there_cannot_be_started() {
    let house = House::empty();
    let seen = inside(&house, ["--", "no-such-program-here"]).run();
    seen.fails(4, "B003").says("no-such-program-here");
    let hidden = house.workshop.join("mine");
    fs::write(&hidden, "#!/bin/sh\necho mine\n").unwrap();
    let seen = inside(&house, ["--", hidden.to_str().unwrap()]).run();
    seen.fails(4, "B003");
    // There, but no program.
    let seen = inside(&house, ["--write", ".", "--", "./mine"]).run();
    seen.fails(4, "B003");
}

/// Returns what stands in a folder.
fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn protected_names_stay_and_nothing_is_left_behind() {
    let house = House::empty();
    fs::create_dir_all(house.workshop.join(".git/hooks")).unwrap();
    fs::write(house.workshop.join(".git/config"), "[core]\n").unwrap();
    fs::write(house.workshop.join("a.txt"), "a").unwrap();
    // Placeholders come and go, so that the time of the folder itself changes.
    let (before, names) = (
        Tree::of(&house.workshop.join(".git")),
        names(&house.workshop),
    );
    let attempts = "for f in .git/hooks/x .git/config .git/new .artel/x .claude/settings.json \
         .mcp.json .envrc .vscode/tasks.json .husky/pre-commit; do \
         mkdir -p $(dirname $f) 2>/dev/null; (echo x >> $f) 2>/dev/null && echo \"wrote $f\"; done; \
         rm -rf .git 2>/dev/null; mv .git elsewhere 2>/dev/null; cat .git/config";
    let seen = script(&house, attempts);
    assert_eq!(seen.out, "[core]\n", "{seen:?}");
    before.unchanged(&house.workshop.join(".git"));
    assert_eq!(self::names(&house.workshop), names);
    // The same where nothing of it exists yet.
    let empty = house.folder("empty");
    let seen = inside(&house, ["--write", ".", "--", "sh", "-c", attempts]);
    let seen = seen.standing_in(&empty).run();
    assert_eq!(seen.out, "", "{seen:?}");
    assert_eq!(self::names(&empty), BTreeSet::new());
}

/// Whether a process with these words on its command line is alive.
fn is_alive(words: &str) -> bool {
    fs::read_dir("/proc").unwrap().any(|entry| {
        let line = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(words)
    })
}

#[test]
fn nothing_goes_on_after_its_end() {
    let house = House::empty();
    let mark = house
        .root()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .replace('.', "")
        + "-lives-on";
    let mut control = Command::new("sh");
    control.args(["-c", "echo ready; read x; true", &mark]);
    let mut control = control
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(control.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    assert!(is_alive(&mark), "such a process can be found");
    drop(control.stdin.take());
    control.wait().unwrap();
    for detached in [
        "(sh -c 'sleep 600; true' MARK &)",
        "(setsid sh -c 'sleep 600; true' MARK >/dev/null 2>&1 </dev/null &)",
        "(setsid nohup sh -c 'trap \"\" INT TERM HUP; sleep 600; true' MARK >/dev/null 2>&1 &)",
    ] {
        let seen = script(
            &house,
            &format!("{}; echo started", detached.replace("MARK", &mark)),
        );
        assert_eq!(seen.expect(0).out, "started\n");
        assert!(!is_alive(&mark), "{detached}");
    }
}

#[test]
fn what_a_killed_one_left_is_removed_by_the_next() {
    let house = House::empty();
    let scratch = house.home.join(".local/state/artel/scratch");
    let left = || -> Vec<_> {
        let entries = fs::read_dir(&scratch)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let mut command = inside(&house, ["--", "sh", "-c", "echo ready; sleep 600"]).command();
    let mut child = command.spawn().unwrap();
    let mut ready = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut ready).unwrap();
    assert_eq!(left().len(), 1);
    inside(&house, ["true"]).run().expect(0);
    assert_eq!(left().len(), 1, "what is in use stays");
    child.kill().unwrap();
    child.wait().unwrap();
    // Everything inside is gone once nobody holds the pipe any more.
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let is_swept = (0..100).any(|_| {
        inside(&house, ["true"]).run().expect(0);
        left().is_empty()
    });
    assert!(is_swept, "{:?}", left());
}

/// A flag that is misspelt is a flag, not a program.
#[test]
fn a_misspelt_flag_is_not_taken_for_the_command() {
    let house = House::new();
    let run = house.artel(["sandbox", "run", "--wirte", ".", "--", "true"]);
    run.run().fails(2, "C002").says("--write");
    let check = house.artel(["policy", "check", "--alow", "Bash", "--", "ls", "-la"]);
    check.run().fails(2, "C002").says("--allow");
    house.ok(["policy", "check", "ls", "-la"]);
}

/// What lies beside a `bin` in a portal is as closed to what a person tries as it is to runs elsewhere.
#[test]
fn a_bin_in_a_portal_opens_nothing_beside_it() {
    let house = House::new();
    let portal = house.folder("code/portal");
    for (name, text) in [
        ("bin/tool", "#!/bin/sh\necho tool\n"),
        ("lib/private.txt", "PRIVATE\n"),
    ] {
        let file = portal.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (bin, lib) = (portal.join("bin"), portal.join("lib"));
    let path = format!("{}:{PATH}", bin.display());
    let reads = format!("tool; cat {}/private.txt", lib.display());
    let shows = || {
        let reads = inside(&house, ["--", "sh", "-c", &reads])
            .env("PATH", &path)
            .run();
        let doctor = house.artel(["doctor"]).env("PATH", &path).run();
        (reads.out, doctor.out.contains(&*lib.to_string_lossy()))
    };
    assert_eq!(shows(), ("tool\nPRIVATE\n".to_owned(), true));
    house.ok(["portal", "add", portal.to_str().unwrap()]);
    assert_eq!(shows(), ("tool\n".to_owned(), false));
}
