//! Files of the inbox, taken up by name: each act once, at a price that does not grow with what is
//! there already.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use artel_config::ProcessEnvironment;
use artel_journal::{EventFilter, EventQuery};
use artel_rules::request::file::{Request, RequestOrigin, render};
use artel_testkit::plan_of_one_step;
use artel_types::plan::{PlanState, StepVerification, Urgency};
use artel_types::{
    Actor, ActorSurface, EventDraft, Fact, PlanDrafted, RequestSettled, RunId, StreamName,
    Timestamp, TraceId,
};
use artel_workshop::{
    CommandContext, GlobalFlags, InboxFound, NewPortal, OpenWorkshopJournal, RequestStatus,
    Workshop, WorkshopInitMode,
};

struct Place {
    workshop: Workshop,
    home: tempfile::TempDir,
}

impl Place {
    /// Writes the dashboard as things stand.
    fn dashboard(&self) {
        let overview = self.workshop.overview().unwrap();
        self.workshop.write_dashboard(&overview).unwrap();
    }

    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let workshop = open(home.path());
        let project = home.path().join("shop");
        fs::create_dir(&project).unwrap();
        let portal = NewPortal {
            path: project,
            ..NewPortal::default()
        };
        workshop.open_portal(&portal).unwrap();
        Self { workshop, home }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.workshop.root().join("Inbox").join(name)
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    async fn take(&self, names: &[&str]) -> Vec<(String, &'static str)> {
        let files: Vec<PathBuf> = names.iter().map(|name| self.file(name)).collect();
        let scanned = self.workshop.take_files(&files).await.unwrap();
        let short = |it: InboxFound| (it.file.trim_start_matches("Inbox/").to_owned(), it.what);
        scanned.files.into_iter().map(short).collect()
    }

    fn events(&self, kind: &str) -> Vec<Fact> {
        let filter = EventFilter {
            kind: Some(kind.to_owned()),
            ..EventFilter::default()
        };
        let records = self
            .workshop
            .reader()
            .unwrap()
            .records(&EventQuery::of(filter));
        let events = records.unwrap().into_iter();
        events.map(|it| it.event().unwrap().fact).collect()
    }

    fn append(&self, trace: TraceId, fact: impl Into<Fact>) {
        let OpenWorkshopJournal { journal, .. } = self.workshop.open().unwrap();
        let actor = Actor::agent("architect");
        let draft = EventDraft::new(StreamName::work(trace), trace, actor, fact);
        journal.append(draft).wait().unwrap();
    }

    /// Takes a request up and has a plan for it in review.
    async fn planned(&self) -> (TraceId, String) {
        self.put("Requests/idea.md", "Add rounding to the prices.\n");
        let file = self.file("Requests/idea.md");
        let scanned = self.workshop.take_files(&[file]).await.unwrap();
        let trace = scanned.due[0];
        let plan = plan_of_one_step();
        let json = serde_json::to_string(&plan).unwrap();
        let name = format!("request-{}_plan.md", trace.short());
        let drafted = PlanDrafted {
            version: 1,
            hash: blake3::hash(json.as_bytes()).to_hex().to_string(),
            plan: json.as_str().into(),
            title: plan.title,
            file: format!("Inbox/Plans/{name}"),
            run: None,
        };
        self.append(trace, drafted);
        let file = format!("Plans/{name}");
        let found = self.take(&[&file]).await;
        assert_eq!(found, [(file.clone(), "rewritten")], "a plan has a file");
        (trace, file)
    }
}

fn open(home: &Path) -> Workshop {
    let variables = [("HOME", home.to_str().unwrap().to_owned())];
    let environment = ProcessEnvironment::of(variables, home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    let root = root.canonicalize().unwrap();
    let flags = GlobalFlags {
        workshop: Some(root),
        ..GlobalFlags::default()
    };
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(environment, clock, flags, ActorSurface::Cli).unwrap();
    caller.workshop().unwrap()
}

#[tokio::test]
async fn one_file_is_one_request_however_it_is_saved() {
    let place = Place::new();
    let words = "Add rounding to the prices.\n";
    let file = place.put("Requests/idea.md", words);
    let scanned = place
        .workshop
        .take_files(&[file.clone(), file.clone()])
        .await
        .unwrap();
    assert_eq!((scanned.files.len(), scanned.due.len()), (1, 1));
    let trace = scanned.due[0];
    let whole = place.read("Requests/idea.md");
    assert_eq!(
        artel_skills::read_request(&whole).unwrap().trace,
        Some(trace)
    );
    // Its completion is no new save, and neither is a save of what it became.
    assert_eq!(place.take(&["Requests/idea.md"]).await, []);
    // An editor that had it open before saves what it had.
    place.put("Requests/idea.md", words);
    let again = place.take(&["Requests/idea.md"]).await;
    assert_eq!(again, [("Requests/idea.md".to_owned(), "rewritten")]);
    let now = artel_skills::read_request(&place.read("Requests/idea.md")).unwrap();
    assert_eq!(now.trace, Some(trace));
    // It is renamed, twice.
    fs::rename(place.file("Requests/idea.md"), place.file("Requests/b.md")).unwrap();
    fs::rename(place.file("Requests/b.md"), place.file("Requests/c.md")).unwrap();
    let names = ["Requests/idea.md", "Requests/b.md", "Requests/c.md"];
    let moved = place.take(&names).await;
    assert_eq!(moved, [("Requests/c.md".to_owned(), "moved")]);
    let work = place.workshop.work(trace).unwrap();
    assert_eq!(work.request.file, "Inbox/Requests/c.md");
    // A copy beside it is one.
    place.put("Requests/copy.md", &whole);
    let copy = place.take(&["Requests/copy.md", "Requests/c.md"]).await;
    assert_eq!(copy, [("Requests/copy.md".to_owned(), "refused")]);
    let note = place.read("Requests/copy.problem.md");
    assert!(
        note.contains("c.md") && note.contains("take the line out"),
        "{note}"
    );
    // Another process comes to the same end.
    let other = open(place.home.path());
    let files = ["idea", "b", "c", "copy"].map(|it| place.file(&format!("Requests/{it}.md")));
    let scanned = other.take_files(&files).await.unwrap();
    assert_eq!(scanned.files.len(), 1, "the copy");
    assert_eq!(place.events("request.created").len(), 1);
    assert_eq!(place.events("request.refused").len(), 1);
    assert_eq!(place.events("request.moved").len(), 1);
}

#[tokio::test]
async fn a_name_is_free_again_once_its_request_is_over() {
    let place = Place::new();
    let file = place.put("Requests/weekly.md", "Add rounding to the prices.\n");
    let first = place
        .workshop
        .take_files(std::slice::from_ref(&file))
        .await
        .unwrap()
        .due[0];
    place.put("Requests/weekly.md", "Add a total to the bill.\n");
    let found = place.take(&["Requests/weekly.md"]).await;
    assert_eq!(found[0].1, "refused");
    assert!(
        place
            .read("Requests/weekly.problem.md")
            .contains(&first.short())
    );
    place.append(
        first,
        RequestSettled {
            run: RunId::from_random([7; 16]),
            state: "done".to_owned(),
        },
    );
    let second = place.workshop.take_files(&[file]).await.unwrap();
    assert_eq!(second.files[0].what, "taken");
    assert!(second.due[0] != first);
    assert!(!place.file("Requests/weekly.problem.md").exists());
    assert_eq!(place.events("request.created").len(), 2);
}

#[tokio::test]
async fn what_is_wrong_is_recorded_once_while_it_is_the_same() {
    let place = Place::new();
    let bad = [
        ("empty", ""),
        ("status", "---\nstatus: banana\n---\nAdd it.\n"),
        ("open", "---\npriority: low\n"),
        ("agent", "---\nagent: nobody\n---\nAdd it.\n"),
    ];
    let names: Vec<String> = bad
        .iter()
        .map(|it| format!("Requests/{}.md", it.0))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, text) in bad {
        place.put(&format!("Requests/{name}.md"), text);
    }
    for _ in 0..3 {
        let found = place.take(&names).await;
        assert!(found.iter().all(|it| it.1 == "refused") && found.len() == 4);
    }
    assert_eq!(place.events("request.refused").len(), 4);
    let other = open(place.home.path());
    let files: Vec<PathBuf> = names.iter().map(|name| place.file(name)).collect();
    other.take_files(&files).await.unwrap();
    assert_eq!(
        place.events("request.refused").len(),
        4,
        "also after a restart"
    );
    place.put("Requests/status.md", "---\nstatus: orange\n---\nAdd it.\n");
    fs::remove_file(place.file("Requests/empty.md")).unwrap();
    place.put("Requests/agent.md", "Add rounding.\n");
    let found = place.take(&names).await;
    let what: Vec<_> = found.iter().map(|it| it.1).collect();
    assert_eq!(what, ["refused", "refused", "taken"]);
    assert_eq!(
        place.events("request.refused").len(),
        5,
        "another word, another row"
    );
    for gone in ["empty", "agent"] {
        assert!(
            !place.file(&format!("Requests/{gone}.problem.md")).exists(),
            "{gone}"
        );
    }
    assert_eq!(
        place
            .take(&["Requests/no.md", "Elsewhere/x.md", "../x.md"])
            .await,
        []
    );
}

#[tokio::test]
async fn plans_are_edited_moved_marked_and_commented_on_as_files() {
    let place = Place::new();
    let (trace, file) = place.planned().await;
    let state = || place.workshop.work(trace).unwrap().course.state();
    assert_eq!(place.take(&[&file]).await, [], "what we wrote is no edit");
    let text = place.read(&file);
    place.put(
        &file,
        &text.replace("Round the prices.", "Round all prices."),
    );
    assert_eq!(place.take(&[&file]).await[0].1, "edited");
    let text = place.read(&file);
    let comment = "\n## Review Comments\n\n- half up\n\n## Next Steps\n";
    place.put(&file, &text.replace("\n## Next Steps\n", comment));
    let path = place.file(&file);
    let scanned = place.workshop.take_files(&[path]).await.unwrap();
    assert_eq!(scanned.files[0].what, "commented");
    assert_eq!(scanned.due, [trace]);
    fs::remove_file(place.file(&file)).unwrap();
    assert_eq!(place.take(&[&file]).await[0].1, "rewritten");
    assert_eq!(place.events("plan.drafted").len(), 2);
    assert_eq!(place.events("plan.commented").len(), 1);
    assert_eq!(place.events("plan.approved").len(), 0);
    assert!(matches!(
        state(),
        Some(PlanState::Review | PlanState::Drafting)
    ));
    place.put("Plans/request-00000000_plan.md", "x");
    let stray = place.take(&["Plans/request-00000000_plan.md"]).await;
    assert_eq!(stray[0].1, "refused");
}

#[tokio::test]
async fn a_plan_that_is_moved_to_active_is_approved_whichever_name_comes_first() {
    for order in [[0, 1], [1, 0]] {
        let place = Place::new();
        let (trace, file) = place.planned().await;
        let active = file.replace("Plans/", "Active/");
        fs::rename(place.file(&file), place.file(&active)).unwrap();
        let names = [file.as_str(), active.as_str()];
        let found = place.take(&order.map(|at| names[at])).await;
        assert_eq!(found, [(active.clone(), "approved")]);
        let state = place.workshop.work(trace).unwrap().course.state();
        assert_eq!(state, Some(PlanState::Approved));
        assert!(place.file(&active).exists() && !place.file(&file).exists());
        assert_eq!(place.take(&names).await, []);
    }
}

fn mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns what the note beside a file says.
fn note_of(file: &str) -> String {
    file.replace(".md", ".problem.md")
}

#[tokio::test]
async fn a_file_approves_only_where_nobody_else_can_write_it() {
    let place = Place::new();
    let (trace, file) = place.planned().await;
    let active = file.replace("Plans/", "Active/");
    fs::rename(place.file(&file), place.file(&active)).unwrap();
    let state = || place.workshop.work(trace).unwrap().course.state();
    let root = place.workshop.root().to_owned();
    for (open, bad, good) in [
        (root.clone(), 0o777, 0o755),
        (root.join("Inbox"), 0o1777, 0o755),
        (place.file("Active"), 0o775, 0o755),
        (place.file(&active), 0o664, 0o644),
    ] {
        mode(&open, bad);
        let found = place.take(&[&active]).await;
        assert_eq!(found, [(active.clone(), "refused")], "{}", open.display());
        assert_eq!(state(), Some(PlanState::Review));
        let note = place.read(&note_of(&active));
        let chmod = format!("`chmod go-w {}`", open.display());
        let approve = format!("artel plan approve {}", trace.short());
        assert!(note.contains(&chmod) && note.contains(&approve), "{note}");
        mode(&open, good);
    }
    assert_eq!(place.take(&[&active]).await[0].1, "approved");
    assert!(!place.file(&note_of(&active)).exists());
    assert_eq!(place.events("plan.approved").len(), 1);
}

#[tokio::test]
async fn an_edit_of_a_plan_that_is_being_done_is_the_persons_own_version() {
    let place = Place::new();
    let (trace, file) = place.planned().await;
    let active = file.replace("Plans/", "Active/");
    fs::rename(place.file(&file), place.file(&active)).unwrap();
    place.take(&[&file, &active]).await;
    let text = place.read(&active);
    let mine = text.replace("Round the prices.", "Round all prices.");
    place.put(&active, &mine);
    // Others who write the file leave it to whoever takes it up.
    mode(&place.file("Active"), 0o775);
    assert_eq!(place.take(&[&active]).await[0].1, "refused");
    assert_eq!(place.read(&active), mine);
    mode(&place.file("Active"), 0o755);
    assert_eq!(place.take(&[&active]).await[0].1, "edited");
    let work = place.workshop.work(trace).unwrap();
    let approved = work.course.approved().unwrap();
    assert_eq!(approved.version.number, 2);
    let by = &work.events.last().unwrap().actor;
    assert_eq!(by.via, Some(ActorSurface::File));
    let now = place.read(&active);
    assert!(now.contains("Round all prices.") && now.contains("version: 2"));
    assert!(!place.file(&note_of(&active)).exists());
    assert_eq!(place.take(&[&active]).await, []);
    // One that cannot be read is left to its person, and kept when the plan is called off.
    let broken = now.replace("- verify: ", "- verify: perhaps ");
    place.put(&active, &broken);
    assert_eq!(place.take(&[&active]).await[0].1, "refused");
    assert_eq!(place.read(&active), broken);
    let short = trace.short();
    let noted = place.workshop.cancel_plan(&short, "").await.unwrap();
    let kept = format!("Archive/request-{short}_unread.md");
    assert!(
        noted.notes.iter().any(|it| it.contains(&kept)),
        "{:?}",
        noted.notes
    );
    assert_eq!(place.read(&kept), broken);
    assert!(
        !place
            .file(&format!("Archive/request-{short}_unread_2.md"))
            .exists()
    );
    assert!(!place.file(&active).exists() && !place.file(&note_of(&active)).exists());
}

#[tokio::test]
async fn a_request_that_was_taken_is_put_back_and_what_was_written_is_kept() {
    let place = Place::new();
    let (trace, _) = place.planned().await;
    let name = "Requests/idea.md";
    let text = place.read(name);
    let edits = [
        (
            "Add rounding to the prices.",
            "Add rounding to all prices.",
            "`body`",
        ),
        ("priority: normal", "priority: critical", "`priority`"),
        ("status: planned", "status: cancelled", "`status`"),
    ];
    let settled = place.take(&[name]).await;
    assert_eq!(settled, [], "{text}");
    for (at, (from, to, field)) in edits.into_iter().enumerate() {
        let mine = place.read(name).replace(from, to);
        assert!(mine.contains(to), "{mine}");
        place.put(name, &mine);
        assert_eq!(place.take(&[name]).await, [(name.to_owned(), "rewritten")]);
        let note = place.read("Requests/idea.problem.md");
        assert!(note.contains(field) && note.contains("ask anew"), "{note}");
        assert!(!place.read(name).contains(to));
        let kept = match at {
            0 => "Archive/idea_unread.md",
            1 => "Archive/idea_unread_2.md",
            _ => continue,
        };
        assert!(note.contains(kept), "{note}");
        assert_eq!(place.read(kept), mine);
    }
    // Our own writing is seen, too, and does not take the note away.
    assert_eq!(place.take(&[name]).await, []);
    assert!(place.file("Requests/idea.problem.md").exists());
    assert_eq!(place.events("request.created").len(), 1);
    // The next change of its state writes nothing over either.
    let mine = place.read(name).replace("the prices", "every price");
    place.put(name, &mine);
    let id = trace.to_string();
    place.workshop.reject_plan(&id, "not now").unwrap();
    assert_eq!(place.read("Archive/idea_unread_3.md"), mine);
    let now = place.read(name);
    assert!(
        now.contains("status: rejected") && now.contains("the prices"),
        "{now}"
    );
}

#[tokio::test]
async fn a_plan_is_turned_down_by_moving_or_marking_its_file() {
    let marked = "status: rejected";
    for (add, folder, reason) in [
        ("", "Rejected/", "moved to `Inbox/Rejected` by hand"),
        ("reason: \"too dear\"\n", "Rejected/", "too dear"),
        ("reason: too dear\n", "Plans/", "too dear"),
        ("", "Plans/", "`status: rejected` was set in its file"),
    ] {
        let place = Place::new();
        let (trace, file) = place.planned().await;
        let there = file.replace("Plans/", folder);
        let mut text = place.read(&file);
        text = text.replace("\nversion:", &format!("\n{add}version:"));
        if folder == "Plans/" {
            text = text.replace("status: review", marked);
        }
        fs::remove_file(place.file(&file)).unwrap();
        place.put(&there, &text);
        let found = place.take(&[&file]).await;
        assert_eq!(found, [(there, "rejected")]);
        let work = place.workshop.work(trace).unwrap();
        assert_eq!(work.course.state(), Some(PlanState::Rejected));
        assert_eq!(work.course.why(), Some(reason));
        assert_eq!(
            work.events.last().unwrap().actor.via,
            Some(ActorSurface::File)
        );
        let rejected = file.replace("Plans/", "Rejected/");
        assert!(place.read(&rejected).contains(marked));
        assert!(!place.file(&file).exists());
        assert!(
            !place
                .file(&format!("Archive/request-{}_unread.md", trace.short()))
                .exists()
        );
        assert_eq!(place.take(&[&file]).await, []);
    }
}

#[tokio::test]
async fn what_is_no_plan_and_why_one_was_written_anew_is_said_beside_it() {
    let place = Place::new();
    let (_, file) = place.planned().await;
    for (name, note, says) in [
        ("Plans/foo.md", "Plans/foo.problem.md", "Inbox/Requests"),
        (
            "Active/plan.txt",
            "Active/plan.txt.problem.md",
            "no Markdown",
        ),
        (
            "Plans/request-00000000_plan.md",
            "Plans/request-00000000_plan.problem.md",
            "no plan here",
        ),
    ] {
        place.put(name, "x");
        assert_eq!(place.take(&[name]).await, [(name.to_owned(), "refused")]);
        let said = place.read(note);
        assert!(said.contains(says), "{said}");
        let scanned = place.workshop.scan_inbox().await.unwrap();
        assert_eq!(scanned.files.len(), 1, "{:?}", scanned.files);
        assert_eq!(place.read(name), "x");
        fs::remove_file(place.file(name)).unwrap();
        place.take(&[name]).await;
        assert!(!place.file(note).exists(), "{note}");
    }
    place.put("Plans/.hidden.md", "x");
    let text = place.read(&file);
    place.put(&file, &text.replace("status: review", "status: done"));
    assert_eq!(
        place.take(&[&file, "Plans/.hidden.md"]).await[0].1,
        "rewritten"
    );
    let note = place.read(&note_of(&file));
    assert!(
        note.contains("was written anew") && note.contains("the journal"),
        "{note}"
    );
    assert_eq!(place.take(&[&file]).await, [], "our own writing");
    assert!(place.file(&note_of(&file)).exists());
    place.put(
        &file,
        &text.replace("Round the prices.", "Round all prices."),
    );
    assert_eq!(place.take(&[&file]).await[0].1, "edited");
    assert!(!place.file(&note_of(&file)).exists());
}

/// Returns what this thread has read so far, in bytes.
fn bytes_read() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn two_thousand_files_are_taken_at_a_price_that_does_not_grow() {
    let place = Place::new();
    let drop_in = |from: usize, to: usize| -> Vec<PathBuf> {
        let one = |number: usize| {
            let priority = ["low", "critical", "normal", "high"][number % 4];
            let text =
                format!("---\npriority: {priority}\n---\nAdd rule {number} to the prices.\n");
            place.put(&format!("Requests/r{number:05}.md"), &text)
        };
        (from..to).map(one).collect()
    };
    let mut reads = Vec::new();
    let mut due = Vec::new();
    for (from, to) in [
        (0, 100),
        (100, 200),
        (200, 1900),
        (1900, 2000),
        (2000, 2100),
    ] {
        let files = drop_in(from, to);
        let before = bytes_read();
        let scanned = place.workshop.take_files(&files).await.unwrap();
        reads.push((bytes_read() - before) / (to - from) as u64);
        assert_eq!(scanned.due.len(), to - from);
        due = scanned.due;
    }
    assert_eq!(place.events("request.created").len(), 2100);
    // The first hundred pay for the opening; the last hundred pay as much as the second.
    assert!(
        reads[4] <= 2 * reads[1].max(1),
        "bytes read for each file: {reads:?}"
    );
    let urgency = |trace: &TraceId| place.workshop.work(*trace).unwrap().request.urgency;
    let order: Vec<Urgency> = due.iter().map(urgency).collect();
    assert!(order.is_sorted_by_key(|it| std::cmp::Reverse(*it)));
    let known: Vec<PathBuf> = (0..2100)
        .map(|number| place.file(&format!("Requests/r{number:05}.md")))
        .collect();
    let scanned = place.workshop.take_files(&known).await.unwrap();
    assert_eq!((scanned.files.len(), scanned.due.len()), (0, 0));
    let scanned = place.workshop.scan_inbox().await.unwrap();
    assert_eq!(
        (scanned.files.len(), scanned.due.len()),
        (0, 2100),
        "still to be planned"
    );
}

#[test]
fn every_status_that_is_written_can_be_read_by_the_strict_judge() {
    for status in RequestStatus::ALL {
        let text = render(&Request {
            trace: "3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d".parse().unwrap(),
            created: Timestamp::from_micros(1_700_000_000_000_000),
            status,
            priority: Urgency::High,
            agent: "default".to_owned(),
            source: RequestOrigin::File,
            created_by: "ada@example.org".to_owned(),
            portal: Some("shop".to_owned()),
            tags: vec!["prices".to_owned()],
            verify: Some(StepVerification::Tdd),
            flow: None,
            other: Vec::new(),
            words: "Add rounding.".to_owned(),
        });
        let complaints = artel_skills::validate_request(&text);
        assert!(complaints.is_empty(), "{status:?}: {complaints:?}");
        assert_eq!(
            artel_skills::read_request(&text).unwrap().status,
            Some(status)
        );
    }
}

#[tokio::test]
async fn the_dashboard_shows_what_stands_and_leaves_the_rest_alone() {
    let place = Place::new();
    let page = place.workshop.root().join("Knowledge/Dashboard.md");
    let mine = fs::read_to_string(&page).unwrap() + "\nMy own line.\n";
    fs::write(&page, mine.replace("# Dashboard", "# My desk")).unwrap();
    let (trace, file) = place.planned().await;
    place.dashboard();
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("# My desk") && text.ends_with("\nMy own line.\n"),
        "{text}"
    );
    for part in [
        "Needs You",
        "Active Tasks",
        "Recent Plans",
        "Reports",
        "Failed",
    ] {
        assert!(text.contains(&format!("\n## {part}\n")), "{part}: {text}");
    }
    let link = format!("[[request-{}_plan|Round the prices]]", trace.short());
    assert_eq!(
        text.matches(&link).count(),
        2,
        "needs you, and recent: {text}"
    );
    assert!(text.contains("| 1 | 0 | 0 | 0 | 0 |"), "{text}");
    assert_eq!(text.matches("```dataview\n").count(), 4);
    // What the queries name stands in the files.
    let plan = place.read(&file);
    for field in [
        "status: review",
        "version: 1",
        "agent: ",
        "portal: shop",
        "created: ",
    ] {
        assert!(plan.contains(&format!("\n{field}")), "{field}: {plan}");
    }
    assert!(plan.contains("[[Inbox/Requests/idea]]"), "{plan}");
    // Nothing changed, nothing is written.
    let before = fs::metadata(&page).unwrap().modified().unwrap();
    place.dashboard();
    assert_eq!(fs::metadata(&page).unwrap().modified().unwrap(), before);
    // A page without marks keeps all of it, and gets the part behind it once.
    fs::write(&page, "mine").unwrap();
    place.dashboard();
    place.dashboard();
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("mine\n"), "{text}");
    assert_eq!(text.matches("## Needs You").count(), 1);
    fs::remove_file(&page).unwrap();
    place.dashboard();
    assert!(!page.exists(), "what a person took away stays away");
}
