//! Windows in the walls: what a repository or the `PATH` points to, and what is too much to keep.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::json;

use super::world::World;

/// A script that writes a file, runs a command and ends.
fn script(command: &str) -> String {
    let lines = json!({ "lines": [
        { "call": { "write": { "path": "good.txt", "content": "good\n" } } },
        { "call": { "bash": { "command": command } } },
        { "call": { "finish": { "answer": "done" } } },
    ] });
    lines.to_string()
}

/// A world whose model reads a file of somebody else's and keeps what it got in its tree.
fn reading(prepare: &dyn Fn(&World, &Path) -> String) -> (World, String) {
    let world = World::new("");
    let private = world.house.folder("elsewhere/private");
    fs::write(private.join("secret.txt"), "PRIVATE-MARK\n").unwrap();
    let found = prepare(&world, &private);
    let code = format!("print(open('{found}').read())");
    let command = format!("python3 -c \"{code}\" > got.txt 2>&1; true");
    fs::write(world.house.root().join("script.yaml"), script(&command)).unwrap();
    (world, private.join("secret.txt").display().to_string())
}

fn got(world: &World) -> String {
    let seen = world.task([]).run().expect(0);
    let path = world.tree(&world.run(), "got.txt");
    fs::read_to_string(path).unwrap_or_else(|_| panic!("{}", seen.err))
}

#[test]
fn what_a_repository_points_to_is_not_opened() {
    let ways: [fn(&Path, &Path); 6] = [
        |git, private| {
            let list = git.join("objects/info/alternates");
            fs::write(list, format!("{}\n", private.display())).unwrap();
        },
        |git, private| {
            let home = private.ancestors().nth(2).unwrap();
            let list = git.join("objects/info/alternates");
            fs::write(list, format!("{}\n", home.display())).unwrap();
        },
        |git, private| symlink(private, git.join("objects/ff")).unwrap(),
        |git, private| symlink(private, git.join("objects/pack/more")).unwrap(),
        |git, private| {
            fs::create_dir_all(git.join("objects/ff")).unwrap();
            symlink(private.join("secret.txt"), git.join("objects/ff/ff")).unwrap();
        },
        |git, private| {
            fs::write(git.join("commondir"), format!("{}\n", private.display())).unwrap();
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (world, _) = reading(&|world, private| {
            world.git();
            way(&world.project.join(".git"), private);
            private.join("secret.txt").display().to_string()
        });
        let got = got(&world);
        assert!(
            !got.contains("PRIVATE-MARK") && got.contains("No such file"),
            "{number}: {got}"
        );
        // The run's work is as good as any other's.
        let run = world.run();
        world.ok(["apply", &run, "--yes"]);
        assert!(world.project.join("good.txt").exists(), "{number}");
    }
}

/// Says of each file that is named in `list.txt` whether it can be read, and what is in it.
const LOOK: &str = "
for line in open('list.txt'):
    name = line.strip()
    try:
        print(name, open(name).read().strip())
    except OSError as error:
        print(name, type(error).__name__)
";

#[test]
fn a_bin_on_the_path_does_not_open_the_project_around_it() {
    let world = World::new(&script("python3 look.py > got.txt 2>&1"));
    let root = world.house.root();
    let folders = [
        "elsewhere/private/bin",
        // `PATH_add .` of direnv.
        "elsewhere/app",
        "home/code/bin",
        "home/code/shop/bin",
        "home/.config/bin",
        "home/go/bin",
    ];
    let private = [
        "elsewhere/private/.env",
        "elsewhere/private/secret.txt",
        "elsewhere/private/lib/secret.txt",
        "elsewhere/private/bin/nested/.env",
        "elsewhere/app/config/master.key",
        "elsewhere/app/secret.txt",
        "home/code/shop/.env",
        "home/code/shop/lib/secret.txt",
        "home/code/other/.env",
        "home/.config/gh/hosts.yml",
        "home/.config/lib/secret.txt",
        "home/go/src/shop/.env",
        "home/go/src/shop/secret.txt",
    ];
    let needed = ["home/go/pkg/mod/x.go", "elsewhere/private/bin/tool"];
    for (names, text) in [(&private[..], "PRIVATE-MARK"), (&needed[..], "needed")] {
        for name in names {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let folders = folders.map(|name| world.house.folder(name));
    let listed = private.iter().chain(&needed);
    let listed: Vec<_> = listed.map(|name| root.join(name)).collect();
    let lines: String = listed
        .iter()
        .map(|it| format!("{}\n", it.display()))
        .collect();
    fs::write(world.project.join("list.txt"), lines).unwrap();
    fs::write(world.project.join("look.py"), LOOK).unwrap();
    let path = folders.iter().map(|it| it.display().to_string());
    let path = path.collect::<Vec<_>>().join(":") + ":/usr/local/bin:/usr/bin:/bin";
    let seen = world.task([]).env("PATH", &path).run().expect(0);
    let got = fs::read_to_string(world.tree(&world.run(), "got.txt"));
    let got = got.unwrap_or_else(|_| panic!("{}", seen.err));
    assert!(!got.contains("PRIVATE-MARK"), "{got}");
    assert_eq!(got.lines().count(), listed.len(), "{got}");
    assert_eq!(got.matches(" needed").count(), needed.len(), "{got}");
    let seen = world.artel(["doctor"]).env("PATH", &path).run();
    let is_it = |line: &&str| line.split_whitespace().nth(1) == Some("path");
    let line = seen.out.lines().find(is_it).unwrap().to_owned();
    let [bin, .., go] = &folders;
    let shown = format!("`{0}` shows commands `{0}`", bin.display());
    assert!(
        line.contains(&shown) && !line.contains("private/lib"),
        "{line}"
    );
    let pkg = go.with_file_name("pkg");
    let shown = format!(
        "`{0}` shows commands `{0}`, `{1}`",
        go.display(),
        pkg.display()
    );
    assert!(line.contains(&shown), "{line}");
}

#[test]
fn what_is_too_much_costs_little_is_named_last_and_the_rest_is_kept() {
    let command = "mkdir -p q/r/s/objects q/r/s/refs many && \
                   echo 'ref: refs/heads/main' > q/r/s/HEAD && \
                   printf '[core]\\n\\tfsmonitor = touch x\\n' > q/r/s/config && \
                   echo x > q/r/s/refs/x && truncate -s 3G big.bin && \
                   python3 -c \"\nimport os\nfor n in range(400): open('many/%d' % n, 'w').close()\n\
                   for n in range(1500):\n    os.mkdir('deep'); os.chdir('deep')\n\"";
    let world = World::new(&script(command));
    let mut artel = world.task(["--set", "portal.most_files=200"]).command();
    artel.stdout(Stdio::null()).stderr(Stdio::piped());
    let seen = with_peak(artel);
    assert!(seen.status.success(), "{}", seen.err);
    assert!(seen.peak < 700 << 10, "{} KiB", seen.peak);
    let line = seen.err.lines().find(|line| line.contains("left out: "));
    let line = line.unwrap_or_else(|| panic!("{}", seen.err));
    for words in [
        "q/r/s (git takes it for a repository)",
        "big.bin (3221225472 bytes, too large)",
        "many (400 new files, too many)",
        "deep/deep/",
        "(too deep)",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
    let finished = &world.events("run.finished")[0]["payload"];
    assert_eq!(
        finished["changed"].as_array().unwrap().len(),
        1,
        "{finished}"
    );
    let run = world.run();
    world
        .ok(["apply", &run, "--yes"])
        .says("put 1 file in place");
    assert!(world.project.join("good.txt").exists());
    assert!(!world.project.join("q").exists() && !world.project.join("big.bin").exists());
    assert!(
        !world.house.state("worktrees").join(&run).exists(),
        "all of it is gone"
    );
}

/// What a process said, how it ended, and how much memory it had at most, in KiB. That of its
/// children does not count.
struct Measured {
    err: String,
    status: ExitStatus,
    peak: u64,
}

/// Runs a command and looks at its memory again and again until it ends.
fn with_peak(mut command: Command) -> Measured {
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut stderr = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        std::thread::yield_now();
    }
    let err = reading.join().unwrap();
    let status = child.wait().unwrap();
    Measured { err, status, peak }
}

#[test]
fn a_huge_file_of_the_persons_is_told_from_the_runs_without_reading_it() {
    let command = "echo small > huge.bin && echo changed > sales.csv";
    let world = World::new(&script(command));
    let huge = |name: &str| {
        let file = fs::File::create(world.project.join(name)).unwrap();
        file.set_len(3 << 30).unwrap();
    };
    huge("huge.bin");
    world.task([]).run().expect(0);
    // This one grew while the run was at work.
    huge("sales.csv");
    let mut artel = world.artel(["apply", &world.run(), "--yes"]).command();
    artel.stdout(Stdio::null()).stderr(Stdio::piped());
    let seen = with_peak(artel);
    assert!(!seen.status.success(), "{}", seen.err);
    assert!(seen.peak < 700 << 10, "{} KiB", seen.peak);
    for name in ["huge.bin", "sales.csv"] {
        assert!(seen.err.contains(name), "{name}: {}", seen.err);
        let about = fs::metadata(world.project.join(name)).unwrap();
        assert_eq!(about.len(), 3 << 30, "{name}");
    }
    assert!(!world.project.join("good.txt").exists());
}

#[test]
fn fetch_can_be_the_first_call_of_a_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        let _ = stream.read(&mut asked).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\
                      connection: close\r\n\r\nhello\n";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let lines = json!({ "lines": [
        { "call": [
            { "read": { "path": "sales.csv" } },
            { "fetch": { "url": format!("http://127.0.0.1:{port}/") } },
        ] },
        { "expect": { "says": "hello" }, "call": { "finish": { "answer": "done" } } },
    ] });
    let world = World::new(&lines.to_string());
    let rule = format!("Fetch(127.0.0.1:{port})");
    world.ok(["policy", "grant", &rule, "--reason", "docs"]);
    let seen = world.task([]).run().expect(0);
    assert!(
        !seen.err.contains("no process can be started"),
        "{}",
        seen.err
    );
    serving.join().unwrap();
}
