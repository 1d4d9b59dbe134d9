//! How soon a person at a screen is served while a lot of other work is ready: the time
//! from the request to the first event of the run that answers it.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use artel_journal::{EventFilter, EventQuery, Journal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::daemon::{Daemon, tell};
use crate::figure::{Figure, Goal};

/// Number of questions.
pub(crate) const WHOLE: usize = 200;
pub(crate) const QUICK: usize = 20;

/// Number of pieces of work that are ready meanwhile. As many as there are places for are
/// in progress, with models that never reply.
const READY: usize = 100;

/// Planning takes forever; a question is answered at once.
const SCRIPT: &str = "\
rules:
  - expect: { says: Plan this request }
    say: It will take a while.
    then: silent
otherwise: { say: It is blue. }
";

/// Time limit for an answer, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks this many questions, one after the other, and prints how soon each run began.
pub(crate) async fn measure(folder: &Path, count: usize) {
    let daemon = Daemon::start_at(folder, |home, shop| {
        let script = home.join("script.yaml");
        std::fs::write(&script, SCRIPT).unwrap();
        let model = format!(
            "[models.default]\nprovider = \"rehearsal\"\nmodel = \"{}\"\n",
            script.display()
        );
        std::fs::write(shop.join("artel.toml"), model).unwrap();
        let project = home.join("project");
        std::fs::create_dir(&project).unwrap();
        let add = [
            "portal",
            "add",
            project.to_str().unwrap(),
            "--name",
            "project",
        ];
        tell(home, shop, &add);
        tell(home, shop, &["daemon", "pause"]);
    });
    let journal = daemon.journal();
    for number in 0..READY {
        // The file is moved into place, so it appears complete.
        let aside = daemon.inbox().join(format!(".r{number}"));
        std::fs::write(&aside, format!("Make part {number} of it.\n")).unwrap();
        std::fs::rename(&aside, daemon.inbox().join(format!("r{number}.md"))).unwrap();
    }
    until(|| counted(&journal, "request.created", None) == READY).await;
    daemon.told(&["daemon", "resume"]);
    until(|| counted(&journal, "model.requested", None) > 0).await;
    let mut times = Vec::new();
    for _ in 0..count {
        times.push(asked(&daemon, &journal).await);
    }
    let planned = counted(&journal, "plan.drafted", None);
    assert_eq!(planned, 0, "what was ready is still ready");
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let name = |which: &str| format!("a question beside {READY} that are ready begins, {which}");
    Figure::new(name("p50"), at(0.5), "ms", Goal::None).print();
    Figure::new(name("p99"), at(0.99), "ms", Goal::Below(500.0)).print();
}

/// Asks a question, and returns the milliseconds until its run began. The next question is
/// asked once this one is answered.
async fn asked(daemon: &Daemon, journal: &Journal) -> f64 {
    let body = json!({ "words": "What colour is it?", "portal": "project" }).to_string();
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut stream = TcpStream::connect(&daemon.address).await.unwrap();
    let text = format!(
        "POST /api/v1/requests HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        daemon.address,
        daemon.token,
        body.len()
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let made: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let trace = made["trace_id"].as_str().unwrap();
    until(|| counted(journal, "request.settled", Some(trace)) == 1).await;
    let started = journal
        .reader()
        .records(&EventQuery::of(only("run.started", Some(trace))))
        .unwrap();
    // Both clocks belong to this machine.
    let at = started[0].at.as_micros();
    (at as f64 - began.as_micros() as f64) / 1000.0
}

fn only(kind: &str, trace: Option<&str>) -> EventFilter {
    EventFilter {
        kind: Some(kind.to_owned()),
        trace: trace.map(str::to_owned),
        ..EventFilter::default()
    }
}

fn counted(journal: &Journal, kind: &str, trace: Option<&str>) -> usize {
    let query = EventQuery::of(only(kind, trace));
    journal.reader().records(&query).unwrap().len()
}

async fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it never came to it");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
