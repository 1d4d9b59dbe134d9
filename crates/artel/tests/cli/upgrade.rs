//! A workshop as the binary of 18 November 2026 left it (`upgrade/make.sh` says how it was made), and
//! the first start of this one: what was possible then is put right, and said.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Artel, Seen, Tree};

/// Where the fixture was made. Its journal names this folder, so it is unpacked here.
const ROOT: &str = "/tmp/artel-upgrade-fixture";

/// The called skill goes on where it was killed, and tries what its caller may not.
const SCRIPT: &str = r#"
rules:
  - expect: { says: "month,sum" }
    call: { write: { path: planted.txt, content: "x" } }
  - expect: { result_of: write }
    call: { finish: { answer: "helped" } }
  - expect: { result_of: skill }
    call: { finish: { answer: "read" } }
  - expect: { result_of: ask_person, says: address }
    call: { finish: { answer: "by address" } }
otherwise: { call: { finish: { answer: "done" } } }
"#;

/// The old workshop. One test at a time has it, whatever process it runs in.
struct OldWorkshop {
    workshop: PathBuf,
    project: PathBuf,
    _turn: File,
}

impl OldWorkshop {
    fn unpack() -> Self {
        let turn = File::create(format!("{ROOT}.lock")).unwrap();
        turn.lock().unwrap();
        drop(fs::remove_dir_all(ROOT));
        let packed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/upgrade/workshop.tar.gz");
        let unpacked = Command::new("tar")
            .args(["-C", "/tmp", "--no-same-owner", "-xpzf"])
            .arg(packed)
            .status();
        assert!(unpacked.unwrap().success());
        let root = Path::new(ROOT);
        fs::write(root.join("script.yaml"), SCRIPT).unwrap();
        Self {
            workshop: root.join("work/Artel"),
            project: root.join("project"),
            _turn: turn,
        }
    }

    fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        let path = Path::new("/usr/local/bin:/usr/bin:/bin");
        Artel::new(&Path::new(ROOT).join("home"), &self.project, path)
            .words(words)
            .env("ARTEL_WORKSHOP", &self.workshop)
            .env("ARTEL_MODEL", format!("rehearsal:{ROOT}/script.yaml"))
    }

    /// The first command that writes.
    fn first_start(&self) -> Seen {
        self.artel(["run", "summary", "again"]).run().expect(0)
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let seen = self
            .artel(["journal", "export", "--kind", kind])
            .run()
            .expect(0);
        let lines = seen.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the run that stands so.
    fn run(&self, state: &str) -> String {
        let rows = self.artel(["runs", "--json"]).run().expect(0).json();
        let rows = rows.as_array().unwrap();
        let row = rows.iter().find(|row| row["state"] == state).unwrap();
        row["run"].as_str().unwrap().to_owned()
    }
}

impl Drop for OldWorkshop {
    fn drop(&mut self) {
        // A daemon that a failed test left would work on in the next one's workshop.
        self.artel(["daemon", "stop"]).run();
        drop(fs::remove_dir_all(ROOT));
    }
}

/// Returns what others could read or enter.
fn open_to_others(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.permissions().mode() & 0o077 != 0 && !about.is_symlink() {
            found.push(path.clone());
        }
        if about.is_dir() {
            open_to_others(&path, found);
        }
    }
}

#[test]
fn the_first_start_puts_right_what_was_possible_before_and_says_so() {
    let old = OldWorkshop::unpack();
    let told = old.first_start().err;
    for words in [
        "the portal `work`",
        "was closed",
        "skills that were used before are known as they are now",
        "`helper`, `reader`, `summary`, `totals`",
        "others could get at",
    ] {
        assert!(told.contains(words), "no `{words}` in:\n{told}");
    }
    let closed = old.events("portal.closed");
    assert_eq!(
        (closed.len(), &closed[0]["payload"]["name"]),
        (1, &Value::from("work"))
    );
    old.artel(["portal", "list"])
        .run()
        .expect(0)
        .says("project");
    for folder in ["Inbox", "Knowledge", "Policy", ".artel"] {
        let folder = old.workshop.join(folder);
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", folder.display());
        let mut open = Vec::new();
        open_to_others(&folder, &mut open);
        assert_eq!(open, Vec::<PathBuf>::new());
    }
    assert_eq!(
        fs::read_to_string(Path::new(ROOT).join("work/notes.txt")).unwrap(),
        "mine\n",
        "what is not the workshop's stays"
    );
    // It is done once.
    let again = old.first_start().err;
    assert!(
        !again.contains("was closed") && !again.contains("are known as"),
        "{again}"
    );
    assert_eq!(old.events("portal.closed").len(), 1);
}

#[test]
fn doctor_lists_what_the_first_start_will_do_and_changes_nothing() {
    let old = OldWorkshop::unpack();
    let before = Tree::of(Path::new(ROOT));
    let seen = old.artel(["doctor"]).run();
    let all = format!("{}{}", seen.out, seen.err);
    for words in [
        "an older Artel made this workshop",
        "a workshop lies in `work`",
        "others can get at",
        "`Bash(:*)`",
        "4 skills in use: will be trusted as they are now",
        "run `artel inbox scan --no-plan` to upgrade it now",
        "1 browser signed in before",
        "2 runs were interrupted: resuming keeps their callers' limits",
        "1 question still open",
    ] {
        assert!(all.contains(words), "no `{words}` in:\n{all}");
    }
    before.unchanged(Path::new(ROOT));
    old.first_start();
    let seen = old.artel(["doctor"]).run();
    let all = format!("{}{}", seen.out, seen.err);
    for words in ["older Artel", "a workshop lies in", "others can get at"] {
        assert!(!all.contains(words), "{all}");
    }
    assert!(all.contains("`Bash(:*)`"), "{all}");
}

#[test]
fn the_budget_of_sessions_is_warned_of_and_stops_nothing() {
    let old = OldWorkshop::unpack();
    let words = "`[budget.session]` limits nothing yet";
    let seen = old.artel(["doctor"]).run();
    assert!(seen.out.contains(words), "{}", seen.out);
    old.first_start().says(words);
}

#[test]
fn a_called_run_of_before_is_taken_up_with_its_parents_bounds() {
    let old = OldWorkshop::unpack();
    let run = old.run("left");
    old.artel(["resume", &run]).run().expect(0);
    let asked = old.events("tool.requested");
    let write = asked
        .iter()
        .find(|it| it["payload"]["tool"] == "write")
        .expect("the called skill went on");
    assert_eq!(write["payload"]["decision"], "deny", "{write}");
    let finished = old.events("run.finished");
    let ends: Vec<&Value> = finished.iter().map(|it| &it["payload"]["answer"]).collect();
    assert!(
        ends.contains(&&Value::from("helped")) && ends.contains(&&Value::from("read")),
        "{ends:?}"
    );
    let tree = old
        .workshop
        .join(".artel/worktrees")
        .join(&run)
        .join("tree");
    assert!(!tree.join("planted.txt").exists(), "it may only read");
}

/// The same, where the called run is taken up by its own id: what it was handed was not recorded
/// then, so it follows from the runs above it.
#[test]
fn a_called_run_of_before_that_is_taken_up_by_itself_may_do_no_more_than_its_caller() {
    let old = OldWorkshop::unpack();
    let started = old.events("run.started");
    let is_called = |it: &&Value| it["payload"]["parent"].is_string();
    let called = started.iter().find(is_called).unwrap();
    assert_eq!(called["payload"]["skill"], "helper");
    assert_eq!(called["payload"]["inherits"], Value::Null, "not on record");
    let (run, caller) = (&called["run"], &called["payload"]["parent"]);
    let (run, caller) = (run.as_str().unwrap(), caller.as_str().unwrap());
    let resume = || old.artel(["resume", run]).run();

    // Its skill may bind it, too: without it nobody knows, and it is not taken up.
    let skill = old.workshop.join("Skills/helper");
    let away = old.workshop.join("helper");
    fs::rename(&skill, &away).unwrap();
    let refused = resume().fails_last(3, "R008");
    refused.says("the limits of run").says("the skill is gone");
    fs::rename(&away, &skill).unwrap();

    resume().expect(0);
    let asked = old.events("tool.requested");
    let is_write = |it: &&Value| it["run"] == run && it["payload"]["tool"] == "write";
    let write = asked.iter().find(is_write).expect("it went on");
    assert_eq!(write["payload"]["decision"], "deny", "{write}");
    let finished = old.events("run.finished");
    let end = finished.iter().find(|it| it["run"] == run).unwrap();
    assert_eq!(end["payload"]["answer"], "helped");
    let trees = old.workshop.join(".artel/worktrees");
    for owner in [run, caller] {
        let planted = trees.join(owner).join("tree/planted.txt");
        assert!(!planted.exists(), "its caller may only read");
    }
}

#[test]
fn a_question_of_before_is_asked_again() {
    let old = OldWorkshop::unpack();
    let run = old.run("waiting");
    let short: String = run.chars().take(8).collect();
    old.first_start();
    old.artel(["waiting"])
        .run()
        .says("Which one shall it be?")
        .says(&short);
    old.artel(["answer", &short, "address"]).run().expect(0);
    old.artel(["resume", &short]).run().expect(0);
    let finished = old.events("run.finished");
    let is_it = |it: &&Value| it["run"] == *run;
    let end = finished.iter().find(is_it).expect("it came to its end");
    assert_eq!(end["payload"]["answer"], "by address");
}

#[test]
fn a_rule_that_is_an_error_by_now_grants_nothing_and_stops_no_start() {
    let old = OldWorkshop::unpack();
    let rules = fs::read_to_string(old.workshop.join("Policy/grants.toml")).unwrap();
    assert!(rules.contains("rule = \"Bash(:*)\""), "{rules}");
    old.first_start();
    let listed = old.artel(["policy", "list"]).run();
    listed.says("Bash(:*)");
    let script = Path::new(ROOT).join("script.yaml");
    fs::write(
        script,
        r#"
rules:
  - expect: { says: "reach out" }
    call: { bash: { command: "git push" } }
otherwise: { call: { finish: { answer: "done" } } }
"#,
    )
    .unwrap();
    old.artel(["run", "--task", "reach out"]).run();
    let asked = old.events("tool.requested");
    let push = asked
        .iter()
        .find(|it| it["payload"]["tool"] == "bash")
        .unwrap();
    assert_ne!(push["payload"]["decision"], "allow", "{push}");
}

#[test]
fn a_browser_of_before_is_asked_for_a_fresh_sign_in() {
    let old = OldWorkshop::unpack();
    let cookie = fs::read_to_string(Path::new(ROOT).join("cookie.txt")).unwrap();
    let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
    let started = old.artel(start).run().expect(0).json();
    let listen = started["listen"].as_str().unwrap().to_owned();
    let fresh = old.artel(["open", "--json"]).run().expect(0).json();
    let link = fresh["url"].as_str().unwrap().to_owned();
    let (host, path) = link
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    assert!(host.contains(".localhost:"), "{link}");
    let look = |cookie: &str| ask((&listen, host), "GET / ", cookie);
    let before = look(cookie.trim());
    let made = ask((&listen, host), "POST /api/v1/tokens ", cookie.trim());
    let (_, code) = path.split_once('?').unwrap();
    let followed = send((&listen, host), "POST /login ", "", code);
    let set = followed
        .lines()
        .find_map(|it| it.strip_prefix("set-cookie: "));
    let after = look(set.unwrap().split(';').next().unwrap());
    old.artel(["daemon", "stop"]).run().expect(0);
    assert!(before.starts_with("HTTP/1.1 401 "), "{before}");
    assert!(before.contains("artel open"), "{before}");
    assert!(made.starts_with("HTTP/1.1 401 "), "{made}");
    assert_eq!(old.events("token.created").len(), 0);
    assert!(after.starts_with("HTTP/1.1 200 "), "{after}");
}

/// Nothing says that the upgrade was made: the marker could not be written.
#[test]
fn an_upgrade_that_was_not_noted_knows_each_skill_once() {
    let old = OldWorkshop::unpack();
    let marker = old.workshop.join(".artel/workshop.json");
    let kept = fs::read(&marker).unwrap();
    let told = old.first_start().err;
    assert!(told.contains("was closed"), "{told}");
    let known = old.events("skill.known");
    assert_eq!(known.len(), 4);
    fs::write(&marker, &kept).unwrap();
    let skill = old.workshop.join("Skills/totals/SKILL.md");
    let mut text = fs::read_to_string(&skill).unwrap();
    text.push_str("\nAnd one more line.\n");
    fs::write(&skill, text).unwrap();
    let again = old.first_start().err;
    assert!(!again.contains("are known as they are now"), "{again}");
    assert_eq!(old.events("skill.known"), known);
}

/// All that the binary of then stored of an event.
const COLUMNS: &str = "seq, stream, stream_seq, at, trace, session, run, cause, actor, via, kind, \
    target, outcome, visibility, schema, payload, prev, hash";

/// What the binary of then would have read of its journal, it reads in the journal of now.
#[test]
fn the_events_of_before_stay_byte_for_byte_and_verify() {
    let old = OldWorkshop::unpack();
    let file = old.workshop.join(".artel/journal.db");
    let rows = || {
        let journal = rusqlite::Connection::open(&file).unwrap();
        let mut all = journal
            .prepare(&format!("SELECT {COLUMNS} FROM event ORDER BY seq"))
            .unwrap();
        let columns = all.column_count();
        let rows = all.query_map([], |row| {
            (0..columns)
                .map(|at| row.get::<_, rusqlite::types::Value>(at))
                .collect::<Result<Vec<_>, _>>()
        });
        let rows: Result<Vec<_>, _> = rows.unwrap().collect();
        rows.unwrap()
    };
    let before = rows();
    assert!(before.len() > 50, "{}", before.len());
    old.first_start();
    let after = rows();
    assert!(after.len() > before.len());
    assert!(
        after.starts_with(&before),
        "the events of before are changed"
    );
    old.artel(["journal", "verify"]).run().expect(0);
    let exported = old.artel(["journal", "export"]).run().expect(0).out;
    assert_eq!(exported.lines().count(), after.len());
}

/// Asks a server by a name, as a browser does that signed in.
fn ask(at: (&str, &str), what: &str, cookie: &str) -> String {
    send(at, what, cookie, r#"{"role":"admin"}"#)
}

fn send((listen, host): (&str, &str), what: &str, cookie: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(listen).unwrap();
    let head = format!(
        "{what}HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
