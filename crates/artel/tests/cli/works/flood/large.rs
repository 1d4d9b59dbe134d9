//! Requests that are very long: one that fits is taken whole, one that does not is refused with a
//! note that says what to do. Nothing is cut, and the daemon holds no more than a few copies.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use super::{Flooded, PLANNER, kill};

/// How the plan's author knows that nothing was cut.
const LAST: &str = "And last of all, count the pages.";

/// A model that plans a request only if its last words reached it.
fn reader() -> String {
    let said = "{ says: Plan this request }";
    assert!(PLANNER.contains(said));
    let all = format!("{{ matches: \"(?s)Plan this request.*{LAST}\" }}");
    PLANNER.replace(said, &all)
}

/// The most memory that the daemon has taken so far, in MB.
pub(super) fn peak_of(pid: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_ascii_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() / 1024
}

#[test]
fn ten_megabytes_that_come_in_pieces_are_one_request_with_every_word() {
    let flooded = Flooded::saying(&reader());
    let pid = flooded.start();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    let line = "Write down what is on this page, and then turn it over.\n";
    let piece = line.repeat((2 << 20) / line.len());
    let mut file = fs::File::create(inbox.join("book.md")).unwrap();
    for _ in 0..5 {
        file.write_all(piece.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
    }
    file.write_all(LAST.as_bytes()).unwrap();
    drop(file);
    flooded.until("plan.drafted", 1);
    let requests = flooded.payloads("request.created");
    assert_eq!(requests.len(), 1);
    let bytes = piece.len() * 5 + LAST.len();
    assert_eq!(requests[0].1["words"]["bytes"], bytes, "every word is kept");
    let text = fs::read_to_string(inbox.join("book.md")).unwrap();
    assert!(text.ends_with(&format!("{LAST}\n")), "the file is whole");
    assert!(flooded.payloads("request.refused").is_empty());
    assert!(peak_of(&pid) < 400, "{} MB", peak_of(&pid));
    flooded.town.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(flooded.payloads("plan.drafted").len(), 1);
    flooded.town.house.ok(["journal", "verify"]);
}

#[test]
fn what_is_too_long_is_refused_with_a_note_and_left_as_it_is() {
    let flooded = Flooded::new();
    let pid = flooded.start();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    let text = "Write down that this is long.\n".repeat((64 << 20) / 30);
    flooded.drop_in("endless.md", &text);
    flooded.until("request.refused", 1);
    let refused = &flooded.payloads("request.refused")[0].1;
    assert_eq!(refused["file"], "Inbox/Requests/endless.md");
    let note = fs::read_to_string(inbox.join("endless.problem.md")).unwrap();
    assert!(note.contains("16 MB"), "{note}");
    assert!(note.contains("name the file"), "{note}");
    let kept = fs::metadata(inbox.join("endless.md")).unwrap().len();
    assert_eq!(kept, text.len() as u64, "the file is the person's");
    // It holds nobody up, and made shorter it is a request like any other.
    flooded.drop_in("endless.md", "Write down that this was long.\n");
    flooded.until("plan.drafted", 1);
    assert!(!inbox.join("endless.problem.md").exists());
    assert_eq!(flooded.payloads("request.created").len(), 1);
    assert!(peak_of(&pid) < 400, "{} MB", peak_of(&pid));
    kill(&pid);
}
