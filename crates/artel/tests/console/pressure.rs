//! The server under pressure: slow, huge, many and crooked requests are refused or bounded, and
//! everybody else is answered all the while.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_testkit::{figure, note, scaled};

use crate::stage::{Stage, with_remarks};
use crate::support::{House, notes};
use crate::wire::{Events, connect, get, post, send};

/// Nobody asks the model here.
const MUTE: &str = "otherwise: { say: Hm. }\n";

/// A served workshop with some remarks in its journal, and a token for it.
fn served(remarks: u64) -> (Stage, String) {
    let stage = Stage::of(with_remarks(MUTE, remarks));
    let token = stage.token("admin");
    (stage, token)
}

/// The numbers of all remarks there are.
fn remarks(house: &House) -> Vec<u64> {
    let reader = JournalReader::open(&house.journal_home()).unwrap();
    let filter = EventFilter {
        kind: Some("note.".to_owned()),
        ..EventFilter::default()
    };
    let records = reader.records(&EventQuery::of(filter)).unwrap();
    records.iter().map(|record| record.seq).collect()
}

/// How much memory the daemon has, in kilobytes.
fn memory(stage: &Stage) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", stage.pid().unwrap())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse().unwrap()
}

/// Tells whether the server has hung up.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut bytes = [0; 512];
    match stream.read(&mut bytes) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn those_who_never_finish_a_request_keep_nobody_waiting() {
    let (stage, token) = served(10);
    let begin = |_| {
        let mut stream = connect(&stage.listen);
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
            .unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let mut slow: Vec<TcpStream> = (0..500).map(begin).collect();
    let mut answers = 0;
    let mut rounds = 0;
    while !slow.is_empty() {
        rounds += 1;
        assert!(rounds < 2_000, "{} are still there", slow.len());
        // A byte each, now and then.
        slow.retain_mut(|stream| stream.write_all(b"x").is_ok() && !is_closed(stream));
        let answer = get(&stage.listen, &token, "/api/v1/runs");
        assert_eq!(answer.status, Some(200), "{}", answer.text);
        answers += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    figure(&format!("slow | 500 gone | {answers} answered meanwhile"));
}

#[test]
fn what_is_too_large_is_refused() {
    let (stage, token) = served(10);
    let listen = &stage.listen;
    let head = format!(
        "POST /api/v1/requests HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nConnection: close\r\n"
    );
    let body = format!("{{\"words\":\"{}\"}}", "a".repeat(9 * 1024 * 1024));
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    let whole = send(
        listen,
        &[head.as_bytes(), length.as_bytes(), body.as_bytes()],
    );
    assert_eq!(whole.status, Some(413), "{}", whole.text);

    let chunked = b"Transfer-Encoding: chunked\r\n\r\n";
    let size = format!("{:x}\r\n", body.len());
    let end: &[u8] = b"\r\n0\r\n\r\n";
    let parts: [&[u8]; 5] = [
        head.as_bytes(),
        chunked,
        size.as_bytes(),
        body.as_bytes(),
        end,
    ];
    let pieces = send(listen, &parts);
    assert!(pieces.is_refused(), "{}", pieces.text);

    let mut query = String::from("/api/v1/runs?a=1");
    for number in 0..100_000 {
        write!(query, "&p{number}={number}").unwrap();
    }
    assert!(get(listen, &token, &query).is_refused());
    let few: String = (0..900).map(|number| format!("&q{number}=1")).collect();
    assert!(get(listen, &token, &format!("/api/v1/events?limit=1{few}")).is_refused());

    let long = format!(
        "GET /healthz HTTP/1.1\r\nHost: {listen}\r\nX-Long: {}\r\n\r\n",
        "a".repeat(1024 * 1024)
    );
    assert!(send(listen, &[long.as_bytes()]).is_refused());
    let many: String = (0..5_000)
        .map(|number| format!("X-{number}: 1\r\n"))
        .collect();
    let many = format!("GET /healthz HTTP/1.1\r\nHost: {listen}\r\n{many}\r\n");
    assert!(send(listen, &[many.as_bytes()]).is_refused());
    assert_eq!(stage.town.count("request.created"), 0);
    assert_eq!(get(listen, &token, "/healthz").status, Some(200));
}

#[test]
fn no_path_leads_out() {
    let (stage, token) = served(10);
    let canary = "heron-4711";
    for place in [&stage.town.house.workshop, &stage.town.house.home] {
        fs::write(place.join("heron.md"), canary).unwrap();
    }
    let ups = [
        "../heron.md",
        "..%2fheron.md",
        "..%2Fheron.md",
        "%2e%2e%2fheron.md",
        "%2e%2e/heron.md",
        "..%252fheron.md",
        "%252e%252e%252fheron.md",
        "..%5cheron.md",
        "..%c0%afheron.md",
        "....//heron.md",
        "%2fetc%2fpasswd",
        "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "heron.md%00.css",
        "%00",
        "console.css%2f..%2f..%2fheron.md",
    ];
    let folders = [
        "/",
        "/assets/",
        "/plans/",
        "/runs/",
        "/changesets/",
        "/reports/",
        "/skills/",
        "/agents/",
        "/api/v1/plans/",
        "/api/v1/runs/",
        "/api/v1/changesets/",
        "/api/v1/reports/",
        "/api/v1/skills/",
        "/api/v1/agents/",
        "/api/v1/requests/",
        "/api/v1/portals/",
    ];
    for folder in folders {
        for up in ups {
            let path = format!("{folder}{up}");
            let answer = get(&stage.listen, &token, &path);
            assert!(answer.is_refused(), "{path}: {}", answer.text);
            let leaks = [canary, "root:x:"];
            assert!(!leaks.iter().any(|it| answer.text.contains(it)), "{path}");
        }
    }
}

/// Reads on from where it was, with a new connection for every few events.
#[test]
fn proof_reconnects_leave_no_gap_no_repeat_and_no_memory() {
    let (stage, token) = served(300);
    let house = &stage.town.house;
    let rounds = scaled(10_000);
    let mut got: Vec<u64> = Vec::new();
    let mut known = remarks(house).len();
    let mut early = 0;
    for round in 1..=rounds {
        if got.len() == known {
            // The last one waits for what is not there yet.
            let last = got.last().copied().unwrap_or_default();
            let mut waiting = Events::follow(&stage.listen, &token, last);
            house.append(notes("notes", 60));
            known += 60;
            got.push(waiting.next().unwrap());
        } else {
            let last = got.last().copied().unwrap_or_default();
            let events = Events::follow(&stage.listen, &token, last);
            let wanted = (known - got.len()).min(1 + (round % 3) as usize);
            got.extend(events.take(wanted));
        }
        if round == rounds.div_ceil(10) {
            early = memory(&stage);
        }
    }
    let all = remarks(house);
    assert_eq!(got, all[..got.len()], "each once, in order");
    let late = memory(&stage);
    figure(&format!(
        "reconnects | {rounds} | {} events, {early} kB, then {late} kB",
        got.len()
    ));
    assert!(late < early + 48 * 1024, "{early} kB, then {late} kB");
}

#[test]
fn a_reader_that_never_reads_is_cut_and_can_go_on() {
    let (stage, token) = served(10);
    let house = &stage.town.house;
    let mut stuck = Events::follow(&stage.listen, &token, 0);
    assert_eq!(stuck.status, 200);
    let long = "heron ".repeat(1_000);
    for _ in 0..20 {
        house.append((0..200).map(|_| note("notes", &long)));
    }
    // Others are told everything meanwhile.
    let all = remarks(house);
    let other: Vec<u64> = Events::follow(&stage.listen, &token, 0)
        .take(all.len())
        .collect();
    assert_eq!(other, all);
    let mut got: Vec<u64> = stuck.by_ref().collect();
    assert!(got.len() < all.len(), "it was cut");
    while got.len() < all.len() {
        let last = got.last().copied().unwrap_or_default();
        got.extend(Events::follow(&stage.listen, &token, last).take(all.len() - got.len()));
    }
    assert_eq!(got, all);
}

/// How many times the daemon has its journal open.
fn open_journals(stage: &Stage) -> usize {
    let folder = format!("/proc/{}/fd", stage.pid().unwrap());
    let files = fs::read_dir(folder).unwrap().flatten();
    let targets = files.filter_map(|file| fs::read_link(file.path()).ok());
    targets
        .filter(|target| target.ends_with("journal.db"))
        .count()
}

/// A daemon lives longer than its runs, so whatever each of them left would add up.
#[test]
fn nothing_stays_open_of_runs_that_are_over() {
    let (stage, token) = served(10);
    let run = |count: usize| {
        for _ in 0..count {
            let answer = post(&stage.listen, &token, "/api/v1/runs", r#"{"task":"Hum."}"#);
            assert!(answer.status.is_some_and(|it| it < 300), "{}", answer.text);
        }
    };
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let found = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            is_so()
        });
        assert!(found, "never: {what}");
    };
    run(2);
    wait("two are over", &|| stage.town.count("run.finished") == 2);
    let few = open_journals(&stage);
    run(16);
    wait("all are over", &|| stage.town.count("run.finished") == 18);
    wait("as few are open as before", &|| {
        open_journals(&stage) <= few + 4
    });
}

#[test]
fn more_readers_than_there_may_be_are_refused() {
    let stage = Stage::with(MUTE, "[server]\nevent_streams = 5\n");
    let token = stage.token("user");
    let mut readers: Vec<Events> = (0..5)
        .map(|_| Events::follow(&stage.listen, &token, 0))
        .collect();
    assert!(readers.iter().all(|it| it.status == 200));
    assert_eq!(Events::follow(&stage.listen, &token, 0).status, 429);
    assert_eq!(get(&stage.listen, &token, "/api/v1/runs").status, Some(200));
    drop(readers.pop());
    let is_let_in = |_| {
        std::thread::sleep(Duration::from_millis(50));
        Events::follow(&stage.listen, &token, 0).status == 200
    };
    assert!((0..600).any(is_let_in), "a place that was left is free");
}
