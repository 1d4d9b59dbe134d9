//! `artel inbox scan`: requests and decisions that come as files.

use std::fs;
use std::path::PathBuf;

use super::town::{Town, payload};

struct Tray {
    town: Town,
}

impl Tray {
    /// A town whose one portal is open.
    fn new() -> Self {
        let town = Town::new();
        town.artel(["portal", "add", "."]).run().expect(0);
        Self { town }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.town.house.workshop.join("Inbox").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.place(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.place(name)).unwrap()
    }

    fn scan(&self, more: &[&str]) -> crate::support::Seen {
        self.town.artel(["inbox", "scan"]).words(more).run()
    }

    /// Has a plan in review, and returns its name and its file.
    fn planned(&self) -> (String, String) {
        let id: String = self.town.asked().chars().take(8).collect();
        let file = format!("Plans/request-{id}_plan.md");
        (id, file)
    }
}

#[test]
fn plain_markdown_is_completed_and_taken_up_once() {
    let inbox = Tray::new();
    inbox.put(
        "Requests/idea.md",
        "Add subtraction to calc.py, with tests.\n\nIt must subtract.\n",
    );
    inbox.scan(&["--no-plan"]).expect(0).says("taken");
    let first = inbox.read("Requests/idea.md");
    assert!(first.starts_with("---\ntrace_id: \""), "{first}");
    assert!(
        first.contains("status: pending") && first.contains("source: file"),
        "{first}"
    );
    assert!(first.contains("It must subtract."), "{first}");
    for _ in 0..3 {
        inbox.scan(&["--no-plan"]).expect(0).says("nothing new");
    }
    assert_eq!(inbox.town.count("request.created"), 1);
    let created = inbox
        .town
        .events()
        .into_iter()
        .find(|it| it["kind"] == "request.created")
        .unwrap();
    assert_eq!(payload(&created)["source"], "file");
    assert_eq!(created["actor"]["via"], "file");
    inbox.scan(&[]).expect(0).says("Plan ready");
    inbox.scan(&[]).expect(0).says("nothing new");
    assert_eq!(inbox.town.count("plan.drafted"), 1);
    assert!(inbox.read("Requests/idea.md").contains("status: planned"));
    // A copy is another file, and says so.
    let copy = inbox.read("Requests/idea.md");
    inbox.put("Requests/copy.md", &copy);
    inbox.scan(&[]).expect(1).says("trace_id");
}

#[test]
fn the_most_urgent_comes_first_and_keeps_what_its_person_wrote() {
    let inbox = Tray::new();
    inbox.put(
        "Requests/a.md",
        "---\npriority: low\n---\nAdd subtraction to calc.py with tests.\n",
    );
    let text = "---\npriority: critical\ntags: [calc]\nmine: 7\n---\nAdd division to calc.py with tests.\n";
    inbox.put("Requests/b.md", text);
    let seen = inbox.scan(&["--json"]).expect(0).json();
    let files: Vec<_> = seen["planned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["filename"])
        .collect();
    assert_eq!(files, ["b.md", "a.md"]);
    let kept = inbox.read("Requests/b.md");
    assert!(
        kept.contains("tags: [calc]") && kept.contains("mine: 7"),
        "{kept}"
    );
}

#[test]
fn a_file_that_cannot_be_used_is_said_once_and_beside_it() {
    let inbox = Tray::new();
    let bad = [
        (
            "priority",
            "---\npriority: urgent\n---\nx y\n",
            "low, normal, high, critical",
        ),
        (
            "agent",
            "---\nagent: nobody\n---\nAdd a thing\n",
            "artel agent create nobody",
        ),
        ("portal", "---\nportal: nowhere\n---\nAdd a thing\n", "calc"),
        (
            "status",
            "---\nstatus: planned\n---\nAdd a thing\n",
            "pending",
        ),
        ("body", "", "write below"),
        ("frontmatter", "---\npriority: low\n", "---"),
    ];
    for (name, text, _) in bad {
        inbox.put(&format!("Requests/{name}.md"), text);
    }
    for _ in 0..2 {
        inbox.scan(&[]).expect(1);
    }
    assert_eq!(inbox.town.count("request.refused"), bad.len());
    assert_eq!(inbox.town.count("request.created"), 0);
    for (name, text, says) in bad {
        let note = inbox.read(&format!("Requests/{name}.problem.md"));
        assert!(note.contains(says), "{name}: {note}");
        assert_eq!(
            inbox.read(&format!("Requests/{name}.md")),
            text,
            "the file is the person's"
        );
    }
    inbox.put(
        "Requests/priority.md",
        "---\npriority: high\n---\nAdd a thing to calc.py\n",
    );
    fs::remove_file(inbox.place("Requests/agent.md")).unwrap();
    inbox.scan(&["--no-plan"]).expect(1).says("taken");
    for gone in ["priority", "agent"] {
        assert!(
            !inbox.place(&format!("Requests/{gone}.problem.md")).exists(),
            "{gone}"
        );
    }
}

#[test]
fn what_is_no_request_by_its_kind_is_said_once_and_beside_it() {
    let inbox = Tray::new();
    let outside = inbox.town.house.root().join("outside.md");
    fs::write(&outside, "Add a thing to calc.py\n").unwrap();
    fs::hard_link(&outside, inbox.place("Requests/linked.md")).unwrap();
    let bad = [
        ("nul.md", "Add a \0 thing\n", "nul", "NUL bytes"),
        (
            "note.txt",
            "Add a thing\n",
            "note.txt",
            "rename it to `note.md`",
        ),
        ("Makefile", "all:\n", "Makefile", "end with `.md`"),
    ];
    for (name, text, _, _) in bad {
        inbox.put(&format!("Requests/{name}"), text);
    }
    let passing = [".hidden.txt", "a.md~", "a.md.swp", "4913", "half.md.part"];
    for name in passing {
        inbox.put(&format!("Requests/{name}"), "x");
    }
    fs::create_dir(inbox.place("Requests/drafts")).unwrap();
    for _ in 0..3 {
        inbox.scan(&["--no-plan"]).expect(1);
    }
    assert_eq!(inbox.town.count("request.refused"), bad.len() + 1);
    assert_eq!(inbox.town.count("request.created"), 0);
    for (name, _, note, says) in bad {
        let note = inbox.read(&format!("Requests/{note}.problem.md"));
        assert!(note.contains(says), "{name}: {note}");
    }
    assert!(
        inbox
            .read("Requests/linked.problem.md")
            .contains("cp FILE ")
    );
    assert_eq!(
        fs::read_to_string(&outside).unwrap(),
        "Add a thing to calc.py\n"
    );
    let notes = fs::read_dir(inbox.place("Requests")).unwrap().flatten();
    let notes = notes.filter(|it| it.file_name().to_string_lossy().contains(".problem"));
    assert_eq!(
        notes.count(),
        bad.len() + 1,
        "none for a note, none for what passes"
    );
    // Renamed it is a request, in whatever letters; the notes of what is gone go, too.
    let text = inbox.place("Requests/note.txt");
    fs::rename(text, inbox.place("Requests/NOTE.MD")).unwrap();
    fs::remove_file(inbox.place("Requests/nul.md")).unwrap();
    inbox.scan(&["--no-plan"]).expect(1).says("NOTE.MD");
    assert_eq!(inbox.town.count("request.created"), 1);
    for gone in ["note.txt.problem.md", "nul.problem.md", "NOTE.problem.md"] {
        assert!(!inbox.place(&format!("Requests/{gone}")).exists(), "{gone}");
    }
}

#[test]
fn an_edit_of_a_plans_file_is_its_next_version() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let text = inbox.read(&file);
    inbox.put(&file, &text.replace("with one line", "with two lines"));
    inbox.scan(&[]).expect(0).says("version 2 is yours");
    let drafted = inbox
        .town
        .events()
        .into_iter()
        .rfind(|it| it["kind"] == "plan.drafted")
        .unwrap();
    assert_eq!(drafted["actor"]["via"], "file");
    inbox.scan(&[]).expect(0).says("nothing new");
    // An old copy comes back, a broken one is left to its person, a changed state is put right.
    inbox.put(&file, &text);
    inbox.scan(&[]).expect(0).says("rewritten");
    let now = inbox.read(&file);
    assert!(
        now.contains("two lines") && now.contains("version: 2"),
        "{now}"
    );
    let broken = now.replace("- verify: none", "- verify: maybe");
    inbox.put(&file, &broken);
    inbox.scan(&[]).expect(1).says("cannot be read");
    assert_eq!(inbox.read(&file), broken);
    let note = file.replace(".md", ".problem.md");
    assert!(inbox.read(&note).contains("line "));
    inbox.put(&file, &now.replace("status: review", "status: done"));
    inbox.scan(&[]).expect(0).says("rewritten");
    assert!(inbox.read(&note).contains("was written anew"));
    fs::remove_file(inbox.place(&file)).unwrap();
    inbox.scan(&[]).expect(0).says("rewritten");
    assert_eq!(inbox.read(&file), now);
    assert_eq!(inbox.town.count("plan.drafted"), 2);
    let json = inbox
        .town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(json["state"], "review");
}

#[test]
fn a_file_approves_what_it_shows_and_nothing_else() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let active = format!("Active/request-{id}_plan.md");
    // A change and an approval in one save is a change.
    let text = inbox.read(&file);
    let changed = text.replace("with one line", "with two lines");
    inbox.put(
        &file,
        &changed.replace("status: review", "status: approved"),
    );
    inbox.scan(&[]).expect(0).says("is no approval");
    fs::rename(inbox.place(&file), inbox.place(&active)).unwrap();
    let moved = inbox
        .read(&active)
        .replace("with two lines", "with three lines");
    inbox.put(&active, &moved);
    inbox.scan(&[]).expect(0).says("version 3 is yours");
    assert!(inbox.place(&file).exists() && !inbox.place(&active).exists());
    assert_eq!(inbox.town.count("plan.approved"), 0);
    let now = inbox.read(&file);
    inbox.put(&file, &now.replace("status: review", "status: approved"));
    inbox.scan(&[]).expect(0).says("approved");
    let approved = inbox
        .town
        .events()
        .into_iter()
        .find(|it| it["kind"] == "plan.approved")
        .unwrap();
    assert_eq!(
        (
            &approved["actor"]["via"],
            payload(&approved)["version"].as_u64()
        ),
        (&"file".into(), Some(3))
    );
    assert!(inbox.place(&active).exists() && !inbox.place(&file).exists());
    inbox.scan(&[]).expect(0).says("nothing new");
    let done = inbox
        .town
        .artel(["resume", &id, "--json"])
        .run()
        .expect(0)
        .result();
    assert_eq!(done["plan_state"], "done");
    assert!(
        inbox
            .read(&format!("Archive/request-{id}_plan.md"))
            .contains("[x] Step 2")
    );
}

#[test]
fn a_comment_in_a_plans_file_goes_to_the_architect() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let text = inbox.read(&file);
    inbox.put(
        &file,
        &text.replace(
            "\n## Next Steps\n",
            "\n## Review Comments\n\n- no new files\n\n## Next Steps\n",
        ),
    );
    inbox
        .scan(&[])
        .expect(0)
        .says("1 comment")
        .says("version 2");
    let json = inbox
        .town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(json["comments"][0]["text"], "no new files");
}

#[test]
fn what_a_person_wrote_into_a_plan_is_kept_where_it_is_called_off() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let mine = inbox
        .read(&file)
        .replace("add adds.", "add adds, and it is documented.");
    inbox.put(&file, &mine);
    let seen = inbox.town.artel(["plan", "cancel", &id]).run().expect(0);
    let kept = format!("Archive/request-{id}_unread.md");
    seen.says(&kept).says("nobody had taken yet");
    assert_eq!(inbox.read(&kept), mine);
    let archived = inbox.read(&format!("Archive/request-{id}_plan.md"));
    assert!(archived.contains("status: cancelled"), "{archived}");
    // What is as it was written is not kept twice.
    let (other, _) = inbox.planned();
    inbox.town.artel(["plan", "cancel", &other]).run().expect(0);
    assert!(
        !inbox
            .place(&format!("Archive/request-{other}_unread.md"))
            .exists()
    );
}

#[test]
fn an_edit_of_a_running_plans_file_is_taken_by_whoever_carries_it_out() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let active = format!("Active/request-{id}_plan.md");
    fs::rename(inbox.place(&file), inbox.place(&active)).unwrap();
    inbox.scan(&[]).expect(0).says("approved");
    let text = inbox.read(&active);
    inbox.put(&active, &text.replace("with one line", "with two lines"));
    let seen = inbox.town.artel(["resume", &id]).run().expect(0);
    seen.says("version 2 is yours");
    assert_eq!(inbox.town.count("plan.drafted"), 2);
    assert_eq!(inbox.town.count("plan.approved"), 2);
    let done = inbox.read(&format!("Archive/request-{id}_plan.md"));
    assert!(
        done.contains("with two lines") && done.contains("[x] Step 2"),
        "{done}"
    );
    let unread = format!("Archive/request-{id}_unread.md");
    assert!(!inbox.place(&unread).exists());
}

#[test]
fn what_a_person_wrote_while_the_architect_planned_anew_is_kept() {
    let inbox = Tray::new();
    let (id, file) = inbox.planned();
    let nobody = format!("rehearsal:{}", inbox.place("nothing.yaml").display());
    let revise = ["plan", "revise", &id, "--comment", "shorter"];
    let revise = inbox.town.artel(revise).env("ARTEL_MODEL", &nobody);
    assert_ne!(revise.run().code, 0);
    let mine = inbox.read(&file).replace("with one line", "with two lines");
    inbox.put(&file, &mine);
    inbox
        .town
        .artel(["resume", &id])
        .run()
        .expect(0)
        .says("version 2");
    let kept = format!("Archive/request-{id}_unread.md");
    assert_eq!(inbox.read(&kept), mine);
    assert!(inbox.read(&file).contains("with one line"));
    let note = inbox.read(&file.replace(".md", ".problem.md"));
    assert!(
        note.contains(&kept) && note.contains("artel plan edit"),
        "{note}"
    );
}
