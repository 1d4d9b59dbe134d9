//! One run of 15 turns in the sandbox, measured from outside: the program `artel` next to
//! this one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use crate::figure::{Figure, Goal, median};
use crate::place;

const TURNS: usize = 15;

/// The measurements of one round.
struct Round {
    wall_ms: f64,
    bare_ms: f64,
    peak_mb: f64,
    sent_kb: f64,
    journaled_kb: f64,
    own_ms: f64,
    snapshot_ms: f64,
}

/// The tools that the turns call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tools {
    /// A command in the sandbox, with a kilobyte of output.
    Walled,
    /// A file is read in process.
    InProcess,
}

pub(crate) fn measure(rounds: usize) {
    for tools in [Tools::Walled, Tools::InProcess] {
        let rounds: Vec<Round> = (0..rounds).map(|_| round(tools)).collect();
        let middle = |pick: fn(&Round) -> f64| median(rounds.iter().map(pick));
        let (what, own) = match tools {
            Tools::Walled => ("15 sandboxed turns", 10.0),
            Tools::InProcess => ("15 in-process turns", 2.0),
        };
        let print = |name: &str, value: f64, unit: &'static str, goal: Goal| {
            Figure::new(format!("{what}, {name}"), value, unit, goal).print();
        };
        let turns = TURNS as f64;
        print(
            "own time per turn",
            middle(|it| it.own_ms) / turns,
            "ms",
            Goal::Below(own),
        );
        print(
            "snapshots per turn",
            middle(|it| it.snapshot_ms) / turns,
            "ms",
            Goal::None,
        );
        print("stand-in alone", middle(|it| it.bare_ms), "ms", Goal::None);
        let beyond = middle(|it| it.wall_ms - it.bare_ms);
        print("`artel run` beyond it", beyond, "ms", Goal::Below(300.0));
        print(
            "peak memory",
            middle(|it| it.peak_mb),
            "MB",
            Goal::Below(40.0),
        );
        print(
            "sent to the model",
            middle(|it| it.sent_kb),
            "KB",
            Goal::Below(250.0),
        );
        print(
            "journaled",
            middle(|it| it.journaled_kb),
            "KB",
            Goal::Below(200.0),
        );
    }
}

fn answers(tools: Tools) -> Vec<Answer> {
    let call = |number: usize| match tools {
        Tools::Walled => {
            let command = format!("printf '%01000d\\n' {number}");
            Answer::says("").calls("bash", json!({ "command": command }))
        }
        Tools::InProcess => {
            let path = format!("{number}.txt");
            Answer::says("").calls("read", json!({ "path": path }))
        }
    };
    let mut answers: Vec<_> = (0..TURNS).map(call).collect();
    answers.push(Answer::says("").calls("finish", json!({ "answer": "done" })));
    answers
}

fn round(tools: Tools) -> Round {
    let home = tempfile::tempdir_in(place::on_disk().folder).unwrap();
    let folder = home.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..TURNS {
        std::fs::write(folder.join(format!("{number}.txt")), "x".repeat(1_000)).unwrap();
    }
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(
        &folder,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "one",
        ],
    );
    let workshop = home.path().join("Artel");
    artel(home.path(), &folder)
        .args(["init", workshop.to_str().unwrap()])
        .output()
        .unwrap();
    let stand_in = StandIn::start(Format::Chat, answers(tools));
    let settings = format!(
        "[models.default]\nprovider = \"openai-chat\"\nmodel = \"tiny\"\nbase_url = \"{}\"\napi_key_env = \"OPENAI_API_KEY\"\n",
        stand_in.url()
    );
    let file = workshop.join("artel.toml");
    let old = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::write(&file, old + &settings).unwrap();
    let began = Instant::now();
    let mut command = artel(home.path(), &folder);
    command
        .args(["run", "--task", "do it", "--json", "--workshop"])
        .arg(&workshop);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (peak_mb, output) = watched(child);
    let wall_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metrics = metrics(&workshop);
    let requests: Vec<Vec<u8>> = stand_in
        .seen()
        .into_iter()
        .map(|seen| seen.body.to_string().into_bytes())
        .collect();
    assert_eq!(requests.len(), TURNS + 1);
    let sent: usize = requests.iter().map(Vec::len).sum();
    let number = |name: &str| metrics[name].as_f64().unwrap();
    Round {
        wall_ms,
        bare_ms: bare(tools, &requests),
        peak_mb,
        sent_kb: sent as f64 / 1_000.0,
        journaled_kb: journaled(&workshop),
        own_ms: number("total_ms")
            - number("model_ms")
            - number("tool_ms")
            - number("snapshot_ms")
            - number("person_ms"),
        snapshot_ms: number("snapshot_ms"),
    }
}

/// Sends a stand-in the same requests without Artel, one after the other.
fn bare(tools: Tools, requests: &[Vec<u8>]) -> f64 {
    let stand_in = StandIn::start(Format::Chat, answers(tools));
    // Nothing is encrypted here, but the client needs a crypto provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let began = Instant::now();
    runtime.block_on(async {
        for request in requests {
            let url = format!("{}/chat/completions", stand_in.url());
            let sent = client.post(url).header("content-type", "application/json");
            let answer = sent.body(request.clone()).send().await.unwrap();
            drop(answer.bytes().await.unwrap());
        }
    });
    began.elapsed().as_secs_f64() * 1_000.0
}

/// Waits for a child, and returns its peak memory in megabytes.
fn watched(mut child: std::process::Child) -> (f64, std::process::Output) {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0.0_f64;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0.0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (peak / 1_000.0, child.wait_with_output().unwrap())
}

/// Returns the metrics of the newest run.
fn metrics(workshop: &Path) -> Value {
    let journal = rusqlite::Connection::open(workshop.join(".artel/journal.db")).unwrap();
    let query = "SELECT payload FROM event WHERE kind = 'run.finished' ORDER BY seq DESC LIMIT 1";
    let payload: String = journal.query_row(query, [], |row| row.get(0)).unwrap();
    serde_json::from_str::<Value>(&payload).unwrap()["metrics"].clone()
}

/// Returns the kilobytes that the run added to the journal and its blobs.
fn journaled(workshop: &Path) -> f64 {
    let journal = rusqlite::Connection::open(workshop.join(".artel/journal.db")).unwrap();
    let mut query = journal
        .prepare("SELECT * FROM event WHERE run IS NOT NULL")
        .unwrap();
    let columns = query.column_count();
    let mut rows = query.query([]).unwrap();
    let mut bytes = 0;
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            bytes += match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Text(text) => text.len(),
                rusqlite::types::ValueRef::Blob(blob) => blob.len(),
                rusqlite::types::ValueRef::Null => 0,
                _ => 8,
            };
        }
    }
    let blobs = size_of(&workshop.join(".artel/blobs"));
    (bytes as u64 + blobs) as f64 / 1_000.0
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

fn artel(home: &Path, folder: &Path) -> Command {
    let program = std::env::current_exe().unwrap().with_file_name("artel");
    assert!(
        program.exists(),
        "build `artel` first: {}",
        program.display()
    );
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("OPENAI_API_KEY", "sk-bench")
        .current_dir(folder);
    command.stdin(Stdio::null());
    command
}

fn git(folder: &Path, words: &[&str]) {
    let status = Command::new("git")
        .args(words)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success());
}
