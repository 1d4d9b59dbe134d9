//! Very many files at once, and the daemon killed in the middle: each becomes one request with one
//! plan, the most urgent first.

mod fair;
mod large;
mod mixed;
mod urgent;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use artel_journal::{EventFilter, EventQuery, JournalReader, JournalRecord};
use artel_testkit::{Random, figure, is_long};
use serde_json::Value;

use self::large::peak_of;
use self::urgent::most_late;
use super::town::Town;

/// A model that plans whatever it is asked for, in one answer.
const PLANNER: &str = r#"
rules:
  - expect: { says: Plan this request }
    call:
      - submit_plan:
          title: Write it down
          kind: docs
          overview: It is written down.
          steps:
            - { id: note, title: Write it down, role: engineer, work: Write NOTES.md., check: It is there., verify: none, scope: { paths: [NOTES.md] }, evidence: [{ kind: file, what: NOTES.md }] }
      - finish: { answer: planned }
"#;

struct Flooded {
    town: Town,
}

impl Flooded {
    fn new() -> Self {
        Self::saying(PLANNER)
    }

    /// The same with another model.
    fn saying(script: &str) -> Self {
        let town = Town::saying(script);
        town.artel(["portal", "add", "."]).run().expect(0);
        Self { town }
    }

    fn start(&self) -> String {
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let seen = self.town.artel(start).run().expect(0);
        seen.json()["pid"].to_string()
    }

    /// Puts a file into the inbox as a whole.
    fn drop_in(&self, name: &str, text: &str) {
        let folder = self.town.house.workshop.join("Inbox/Requests");
        let aside = self.town.house.workshop.join(format!(".{name}.part"));
        fs::write(&aside, text).unwrap();
        fs::rename(aside, folder.join(name)).unwrap();
    }

    fn payloads(&self, kind: &str) -> Vec<(String, Value)> {
        let pair = |record: JournalRecord| {
            let payload = serde_json::from_str(&record.payload).unwrap();
            (record.trace, payload)
        };
        self.records(kind).into_iter().map(pair).collect()
    }

    /// Returns the numbers of the events of a kind.
    fn numbers(&self, kind: &str) -> Vec<u64> {
        self.records(kind).iter().map(|record| record.seq).collect()
    }

    fn records(&self, kind: &str) -> Vec<JournalRecord> {
        let reader = JournalReader::open(&self.town.house.journal_home()).unwrap();
        let filter = EventFilter {
            kind: Some(kind.to_owned()),
            ..EventFilter::default()
        };
        reader.records(&EventQuery::of(filter).few()).unwrap()
    }

    /// Waits until so many are on record; without any progress for long it never ends.
    fn until(&self, kind: &str, count: usize) {
        Self::until_there(kind, count, || self.records(kind).len());
    }

    /// Returns how many plans can be read. A daemon that is killed while it writes one leaves an
    /// unfinished file, which people do not see.
    fn plans(&self) -> usize {
        let folder = self.town.house.workshop.join("Inbox/Plans");
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap().file_name());
        names
            .filter(|name| !name.as_encoded_bytes().starts_with(b"."))
            .count()
    }

    fn until_there(kind: &str, count: usize, there: impl Fn() -> usize) {
        let (mut best, mut since) = (0, Instant::now());
        loop {
            let now = there();
            if now >= count {
                return;
            }
            if now > best {
                (best, since) = (now, Instant::now());
            }
            assert!(
                since.elapsed() < Duration::from_secs(90),
                "{now} of {count} {kind}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn kill(pid: &str) {
    assert!(
        Command::new("kill")
            .args(["-9", pid])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn proof_flood_each_file_becomes_one_plan_though_the_daemon_is_killed() {
    let count = if is_long() { 10_000 } else { 120 };
    let flooded = Flooded::new();
    let mut random = Random::for_test("flood");
    let began = Instant::now();
    let pid = flooded.start();
    for number in 0..count {
        let priority = ["low", "normal", "high", "critical"][random.below(4) as usize];
        let text = format!(
            "---\npriority: {priority}\n---\nWrite down that number {number} was asked for.\n"
        );
        flooded.drop_in(&format!("r{number:05}.md"), &text);
    }
    flooded.until("plan.drafted", count / 20);
    let mut peak = peak_of(&pid);
    kill(&pid);
    // Held until all are in: from then on there is one order.
    flooded.town.artel(["daemon", "pause"]).run().expect(0);
    let pid = flooded.start();
    flooded.until("request.created", count);
    flooded.town.artel(["daemon", "resume"]).run().expect(0);
    flooded.until("plan.drafted", count / 2);
    peak = peak.max(peak_of(&pid));
    kill(&pid);
    let pid = flooded.start();
    flooded.until("plan.drafted", count);
    // One that was killed between a plan and its file leaves the file to the next.
    Flooded::until_there("files of plans", count, || flooded.plans());
    let took = began.elapsed().as_secs();
    peak = peak.max(peak_of(&pid));
    flooded.town.artel(["daemon", "stop"]).run().expect(0);

    each_once(&flooded, count);
    let late = most_late(&flooded);
    flooded.town.house.ok(["journal", "verify"]);
    figure(&format!(
        "{count} files at once, the daemon killed twice | each planned once, the most urgent first \
         (at most {late} less urgent ones begun before) | {took} s, {peak} MB at most"
    ));
    assert!(peak < 400, "{peak} MB");
}

/// Demands that each file became one request with one plan.
fn each_once(flooded: &Flooded, count: usize) {
    let requests = flooded.payloads("request.created");
    assert_eq!(requests.len(), count);
    let words = requests.iter().filter_map(|it| it.1["words"].as_str());
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count, "a request twice");
    let mut drafts: BTreeMap<String, usize> = BTreeMap::new();
    for (trace, _) in flooded.payloads("plan.drafted") {
        *drafts.entry(trace).or_default() += 1;
    }
    assert_eq!(drafts.len(), count);
    assert!(drafts.values().all(|count| *count == 1), "a plan twice");
    assert!(flooded.payloads("request.refused").is_empty());
    assert_eq!(flooded.plans(), count);
}

#[test]
fn a_plan_whose_file_was_lost_has_it_again_when_the_daemon_starts() {
    let flooded = Flooded::new();
    let pid = flooded.start();
    flooded.drop_in("one.md", "Write down that it was asked for.\n");
    let is_there = || flooded.plans();
    Flooded::until_there("files of plans", 1, is_there);
    kill(&pid);
    let folder = flooded.town.house.workshop.join("Inbox/Plans");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    fs::remove_file(file.path()).unwrap();
    flooded.start();
    // Before anybody is let in.
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
    flooded.town.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(flooded.records("plan.drafted").len(), 1);
}

#[test]
fn however_a_file_is_saved_it_is_one_request() {
    let flooded = Flooded::new();
    flooded.start();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    // As an editor that writes in place, again and again.
    let touched = inbox.join("touched.md");
    for round in 0..10 {
        fs::write(&touched, "Write down that it was touched.\n").unwrap();
        std::thread::sleep(Duration::from_millis(20 * (round % 3)));
    }
    // As a slow writer.
    let slow = inbox.join("slow.md");
    for part in ["Write down ", "that it was ", "written slowly.\n"] {
        use std::io::Write as _;
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(&slow)
            .unwrap();
        file.write_all(part.as_bytes()).unwrap();
        drop(file);
        std::thread::sleep(Duration::from_millis(500));
    }
    // As one that thinks better of it.
    let gone = inbox.join("gone.md");
    fs::write(&gone, "Never mind.\n").unwrap();
    fs::remove_file(&gone).unwrap();
    // As one that writes beside and renames, with a backup.
    flooded.drop_in("beside.md", "Write down that it was renamed.\n");
    fs::write(inbox.join("beside.md~"), "an older one").unwrap();
    // As what cannot be used.
    fs::write(inbox.join("wrong.md"), "---\nstatus: banana\n---\nDo it.\n").unwrap();
    flooded.until("plan.drafted", 3);
    flooded.until("request.refused", 1);
    let mut words: Vec<String> = flooded
        .payloads("request.created")
        .iter()
        .map(|it| it.1["words"].as_str().unwrap().to_owned())
        .collect();
    words.sort();
    assert_eq!(
        words,
        [
            "Write down that it was renamed.",
            "Write down that it was touched.",
            "Write down that it was written slowly.",
        ]
    );
    assert_eq!(flooded.payloads("request.refused").len(), 1);
    let note = fs::read_to_string(inbox.join("wrong.problem.md")).unwrap();
    assert!(note.contains("status"), "{note}");
    // The daemon lives, and another start plans nothing anew.
    flooded
        .town
        .artel(["daemon", "restart", "--listen", "127.0.0.1:0"])
        .run()
        .expect(0);
    flooded.drop_in("last.md", "Write down that this was last.\n");
    flooded.until("plan.drafted", 4);
    flooded.town.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(flooded.payloads("plan.drafted").len(), 4);
}

impl Drop for Flooded {
    fn drop(&mut self) {
        let ended = self.payloads("daemon.stopped");
        for (_, it) in self.payloads("daemon.started") {
            if !ended.iter().any(|(_, end)| end["pid"] == it["pid"]) {
                drop(
                    Command::new("kill")
                        .args(["-9", &it["pid"].to_string()])
                        .status(),
                );
            }
        }
    }
}
