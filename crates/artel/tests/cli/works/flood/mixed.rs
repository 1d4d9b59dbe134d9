//! Files of every sort at once, and files that came while no daemon ran: each is what it is, once.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use artel_testkit::{figure, is_long};

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

/// How many there are of each sort: of 10,000 files half are bad, a tenth is written slowly, a
/// twentieth each removed and renamed.
struct Mix {
    good: usize,
    bad: usize,
    slow: usize,
    gone: usize,
    moved: usize,
}

impl Mix {
    fn new() -> Self {
        let all = if is_long() { 10_000 } else { 100 };
        let (bad, slow, gone, moved) = (all / 2, all / 10, all / 20, all / 20);
        Self {
            good: all - bad - slow - gone - moved,
            bad,
            slow,
            gone,
            moved,
        }
    }

    fn wanted(&self) -> Vec<String> {
        let good = (0..self.good).map(|number| format!("Write down good {number}."));
        let moved = (0..self.moved).map(|number| format!("Write down moved {number}."));
        let more = ", and more".repeat(3);
        let slow = (0..self.slow).map(|number| format!("Write down slow {number}{more}"));
        let mut wanted: Vec<String> = good.chain(moved).chain(slow).collect();
        wanted.sort();
        wanted
    }

    /// Puts all of them in, and returns those that are not finished.
    fn drop_in(&self, flooded: &Flooded) -> Vec<fs::File> {
        let inbox = flooded.town.house.workshop.join("Inbox/Requests");
        for number in 0..self.good {
            let text = format!("Write down good {number}.\n");
            flooded.drop_in(&format!("good{number}.md"), &text);
        }
        for number in 0..self.gone {
            let gone = inbox.join(format!("gone{number}.md"));
            fs::write(&gone, "Never mind.\n").unwrap();
            fs::remove_file(gone).unwrap();
        }
        for number in 0..self.moved {
            let name = |round: &str| inbox.join(format!("moved{number}{round}.md"));
            let text = format!("Write down moved {number}.\n");
            flooded.drop_in(&format!("moved{number}a.md"), &text);
            fs::rename(name("a"), name("b")).unwrap();
            fs::rename(name("b"), name("c")).unwrap();
        }
        for number in 0..self.bad {
            let (name, text, _) = BAD[number % BAD.len()];
            flooded.drop_in(&format!("{name}{number}.md"), text);
        }
        // Last, so that none of them rests for longer than its writer does.
        let begun = |number: usize| {
            let mut piece = fs::File::create(inbox.join(format!("slow{number}.md"))).unwrap();
            write!(piece, "Write down slow {number}").unwrap();
            piece
        };
        (0..self.slow).map(begun).collect()
    }
}

#[test]
fn proof_flood_of_good_bad_unfinished_removed_and_renamed_files_each_is_what_it_is() {
    let mix = Mix::new();
    let flooded = Flooded::new();
    flooded.start();
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    let mut pieces = mix.drop_in(&flooded);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(500));
        for piece in &mut pieces {
            write!(piece, ", and more").unwrap();
        }
    }
    drop(pieces);
    let wanted = mix.wanted();
    flooded.until("plan.drafted", wanted.len());
    flooded.until("request.refused", mix.bad);
    flooded.stop();

    let mut words = flooded.words();
    words.sort();
    assert_eq!(words, wanted);
    assert_eq!(flooded.payloads("plan.drafted").len(), wanted.len());
    assert_eq!(flooded.payloads("request.refused").len(), mix.bad);
    for number in 0..mix.bad {
        let (name, text, says) = BAD[number % BAD.len()];
        let name = format!("{name}{number}");
        let note = fs::read_to_string(inbox.join(format!("{name}.problem.md"))).unwrap();
        assert!(note.contains(says), "{name}: {note}");
        let kept = fs::read_to_string(inbox.join(format!("{name}.md"))).unwrap();
        assert_eq!(kept, text, "the file is the person's");
    }
    figure(&format!(
        "{} files, {} bad, {} unfinished, {} removed, {} renamed | {} planned once, {} notes",
        mix.good + mix.bad + mix.slow + mix.gone + mix.moved,
        mix.bad,
        mix.slow,
        mix.gone,
        mix.moved,
        wanted.len(),
        mix.bad
    ));
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
