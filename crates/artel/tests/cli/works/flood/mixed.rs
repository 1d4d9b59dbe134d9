//! Files of every sort at once, and files that came while no daemon ran: each is what it is, once.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use super::Flooded;

impl Flooded {
    /// Returns the words of all requests, in the order in which they were taken.
    fn words(&self) -> Vec<String> {
        let requests = self.payloads("request.created");
        let words = requests.iter().map(|it| it.1["words"].as_str().unwrap());
        words.map(str::to_owned).collect()
    }

    fn stop(&self) {
        self.town.artel(["daemon", "stop"]).run().expect(0);
    }
}

/// What cannot be used, with what the note beside it says.
const BAD: [(&str, &str, &str); 5] = [
    ("status", "---\nstatus: banana\n---\nDo it.\n", "pending"),
    (
        "agent",
        "---\nagent: nobody\n---\nDo it.\n",
        "artel agent create nobody",
    ),
    ("portal", "---\nportal: nowhere\n---\nDo it.\n", "calc"),
    ("body", "", "write below"),
    ("frontmatter", "---\npriority: low\n", "---"),
];

#[test]
fn of_good_bad_unfinished_removed_and_renamed_files_each_is_what_it_is() {
    const EACH: usize = 10;
    let flooded = Flooded::new();
    flooded.start();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    let mut pieces = Vec::new();
    for number in 0..EACH {
        flooded.drop_in(
            &format!("good{number}.md"),
            &format!("Write down good {number}.\n"),
        );
        let mut piece = fs::File::create(inbox.join(format!("slow{number}.md"))).unwrap();
        write!(piece, "Write down slow {number}").unwrap();
        pieces.push(piece);
        let gone = inbox.join(format!("gone{number}.md"));
        fs::write(&gone, "Never mind.\n").unwrap();
        fs::remove_file(gone).unwrap();
        let name = |round: &str| inbox.join(format!("moved{number}{round}.md"));
        flooded.drop_in(
            &format!("moved{number}a.md"),
            &format!("Write down moved {number}.\n"),
        );
        fs::rename(name("a"), name("b")).unwrap();
        fs::rename(name("b"), name("c")).unwrap();
    }
    for (name, text, _) in BAD {
        flooded.drop_in(&format!("{name}.md"), text);
    }
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(500));
        for piece in &mut pieces {
            write!(piece, ", and more").unwrap();
        }
    }
    drop(pieces);
    flooded.until("plan.drafted", 3 * EACH);
    flooded.until("request.refused", BAD.len());
    flooded.stop();

    let mut words = flooded.words();
    words.sort();
    let mut wanted: Vec<String> = Vec::new();
    for number in 0..EACH {
        wanted.push(format!("Write down good {number}."));
        wanted.push(format!("Write down moved {number}."));
        wanted.push(format!(
            "Write down slow {number}{}",
            ", and more".repeat(3)
        ));
    }
    wanted.sort();
    assert_eq!(words, wanted);
    assert_eq!(flooded.payloads("plan.drafted").len(), 3 * EACH);
    assert_eq!(flooded.payloads("request.refused").len(), BAD.len());
    for (name, text, says) in BAD {
        let note = fs::read_to_string(inbox.join(format!("{name}.problem.md"))).unwrap();
        assert!(note.contains(says), "{name}: {note}");
        let kept = fs::read_to_string(inbox.join(format!("{name}.md"))).unwrap();
        assert_eq!(kept, text, "the file is the person's");
    }
}

#[test]
fn what_came_and_changed_while_no_daemon_ran_is_planned_once_and_in_order() {
    const COUNT: usize = 30;
    let flooded = Flooded::new();
    flooded.start();
    flooded.drop_in("before.md", "Write down what was before.\n");
    flooded.until("plan.drafted", 1);
    flooded.stop();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    // A file that is a request already is saved once more as it is.
    let known = fs::read_to_string(inbox.join("before.md")).unwrap();
    fs::write(inbox.join("before.md"), known).unwrap();
    for number in 0..COUNT {
        flooded.drop_in(
            &format!("r{number:02}.md"),
            &format!("Write down {number:02}.\n"),
        );
    }
    let (early, late) = (0..COUNT - 5, COUNT - 5..COUNT);
    for number in late.clone() {
        flooded.drop_in(
            &format!("r{number:02}.md"),
            &format!("Write down {number:02} anew.\n"),
        );
    }
    flooded.start();
    flooded.until("plan.drafted", COUNT + 1);
    flooded.stop();
    let mut wanted = vec!["Write down what was before.".to_owned()];
    wanted.extend(early.map(|number| format!("Write down {number:02}.")));
    wanted.extend(late.map(|number| format!("Write down {number:02} anew.")));
    assert_eq!(flooded.words(), wanted);
    assert_eq!(flooded.payloads("plan.drafted").len(), COUNT + 1);
    flooded.town.house.ok(["journal", "verify"]);
}
