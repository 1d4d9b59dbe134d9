//! Words of a person in files that Artel writes too: they stay where they are, or are kept beside.

use std::fs;
use std::path::PathBuf;

use super::bench::Bench;
use super::town::Town;
use crate::support::Seen;

struct Requests {
    town: Town,
}

impl Requests {
    fn new() -> Self {
        let town = Town::new();
        town.artel(["portal", "add", "."]).run().expect(0);
        Self { town }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.town.house.workshop.join("Inbox/Requests").join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.place(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.place(name)).unwrap()
    }

    fn scan(&self) -> Seen {
        self.town.artel(["inbox", "scan", "--no-plan"]).run()
    }
}

#[test]
fn a_request_that_is_called_like_a_note_is_taken() {
    let inbox = Requests::new();
    inbox.put("login.problem.md", "What is the problem with calc.py?\n");
    inbox.scan().expect(0).says("taken");
    assert!(
        inbox
            .read("login.problem.md")
            .contains("What is the problem")
    );
    inbox.scan().expect(0).says("nothing new");
    // One that cannot be used has a note of its own.
    inbox.put("empty.problem.md", "");
    inbox.scan().expect(1);
    let note = inbox.read("empty.problem.problem.md");
    assert!(note.contains("`empty.problem.md` cannot be used"), "{note}");
    assert_eq!(inbox.town.count("request.created"), 1);
}

#[test]
fn a_file_of_a_person_is_never_written_over_by_a_note() {
    let inbox = Requests::new();
    inbox.put("foo.problem.md", "Say in calc.py what is wrong with foo.\n");
    inbox.put("foo.md", b"\xff");
    for _ in 0..2 {
        inbox.scan().expect(1);
    }
    let mine = inbox.read("foo.problem.md");
    assert!(mine.contains("what is wrong with foo."), "{mine}");
    assert!(inbox.read("foo_2.problem.md").contains("no text in UTF-8"));
    assert_eq!(inbox.town.count("request.created"), 1);
    fs::remove_file(inbox.place("foo.md")).unwrap();
    inbox.scan().expect(0);
    assert!(!inbox.place("foo_2.problem.md").exists());
    assert!(inbox.place("foo.problem.md").exists());
}

#[test]
fn what_a_person_wrote_into_a_note_stays() {
    let inbox = Requests::new();
    inbox.put("bar.md", "");
    inbox.scan().expect(1);
    let note = inbox.read("bar.problem.md");
    let mine = format!("{note}\n- ask Ann first\n");
    inbox.put("bar.problem.md", &mine);
    inbox.scan().expect(1);
    inbox.put("bar.md", "Add subtraction to calc.py with tests.\n");
    inbox.scan().expect(0).says("taken");
    assert_eq!(inbox.read("bar.problem.md"), mine);
    assert!(!inbox.place("bar_2.problem.md").exists(), "ours goes away");
    fs::remove_file(inbox.place("bar.md")).unwrap();
    inbox.scan().expect(0);
    assert_eq!(inbox.read("bar.problem.md"), mine);
    assert_eq!(inbox.town.count("request.created"), 1);
}

#[test]
fn an_odd_file_that_is_called_like_a_note_costs_only_its_own() {
    let inbox = Requests::new();
    let outside = inbox.town.house.root().join("outside.txt");
    fs::write(&outside, "mine\n").unwrap();
    std::os::unix::fs::symlink(&outside, inbox.place("aaa.problem.md")).unwrap();
    fs::create_dir(inbox.place("bbb.problem.md")).unwrap();
    std::os::unix::fs::symlink("nowhere", inbox.place("ccc.problem.md")).unwrap();
    for name in ["aaa.md", "bbb.md", "ccc.md"] {
        inbox.put(name, b"\xff");
    }
    inbox.put("zzz.md", "Add subtraction to calc.py with tests.\n");
    inbox.scan().expect(1).says("zzz.md");
    assert_eq!(inbox.town.count("request.created"), 1);
    for name in ["aaa", "bbb", "ccc"] {
        let note = inbox.read(&format!("{name}_2.problem.md"));
        assert!(note.contains("no text in UTF-8"), "{name}: {note}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine\n");
    inbox.scan().expect(1);
}

#[test]
fn what_a_person_wrote_into_a_report_is_kept_beside_it() {
    let bench = Bench::new();
    bench.run(&["report", "rebuild", &bench.id()]).expect(0);
    let report = bench.report();
    let ours = fs::read_to_string(&report).unwrap();
    let mine = format!("{ours}\nTalk to Ann before this goes out.\n");
    fs::write(&report, &mine).unwrap();
    bench.decide("approve", &[]).expect(0);
    let merged = fs::read_to_string(&report).unwrap();
    assert!(
        merged.contains("approve by ") && !merged.contains("Ann"),
        "{merged}"
    );
    let stem = report.file_stem().unwrap().to_str().unwrap();
    let archive = report.ancestors().nth(3).unwrap().join("Inbox/Archive");
    let kept = archive.join(format!("{stem}_unread.md"));
    assert_eq!(fs::read_to_string(&kept).unwrap(), mine);
    let note = report.with_extension("problem.md");
    let note = fs::read_to_string(note).unwrap();
    assert!(note.contains(&format!("{stem}_unread.md")), "{note}");
    // What Artel wrote itself is written over without a word.
    bench.decide("undo", &[]).expect(0);
    assert!(!archive.join(format!("{stem}_unread_2.md")).exists());
    let mine = "only mine\n";
    fs::write(&report, mine).unwrap();
    bench.run(&["report", "rebuild", &bench.id()]).expect(0);
    let kept = archive.join(format!("{stem}_unread_2.md"));
    assert_eq!(fs::read_to_string(kept).unwrap(), mine);
    let rows = bench.run(&["report", "list", "--json"]).expect(0).json();
    assert_eq!(rows.as_array().unwrap().len(), 1);
}

#[test]
fn what_a_person_wrote_above_the_notes_of_a_card_is_put_below() {
    let inbox = Requests::new();
    let card = inbox.town.house.workshop.join("Knowledge/Portals/calc.md");
    let page = fs::read_to_string(&card).unwrap();
    let mine = page
        .replace("# calc\n", "# calc\n\nThe heart of it.\n")
        .replace("privacy: any\n", "privacy: any\nowner: Ann\n");
    fs::write(&card, format!("{mine}\nBelow.\n")).unwrap();
    let refresh = || inbox.town.artel(["portal", "refresh", "calc"]).run();
    refresh().expect(0).says("stands below it now");
    let now = fs::read_to_string(&card).unwrap();
    let expected = format!("{page}\nowner: Ann\nThe heart of it.\n\nBelow.\n");
    assert_eq!(now, expected);
    assert!(!refresh().expect(0).err.contains("below"));
    assert_eq!(fs::read_to_string(&card).unwrap(), expected);
    // What an older card said is nobody's word.
    let words = ["portal", "add", ".", "--privacy", "local-only"];
    inbox.town.artel(words).run().expect(0);
    let now = fs::read_to_string(&card).unwrap();
    let notes = now.split_once("## Notes\n").unwrap().1;
    assert_eq!(notes, "\nowner: Ann\nThe heart of it.\n\nBelow.\n");
}
