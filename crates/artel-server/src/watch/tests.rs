//! Tests the watcher on real folders. Notifications come from the system, and waits are for
//! conditions.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use artel_config::{ProcessEnvironment, system_clock};
use artel_journal::{EventFilter, EventQuery};
use artel_types::{ActorSurface, Fact};
use artel_workshop::{CommandContext, GlobalFlags, NewPortal, WorkshopInitMode};

use super::*;

/// Time limit for everything, far longer than anything takes.
const BOUND: Duration = Duration::from_secs(60);

struct Place {
    workshop: Arc<Workshop>,
    home: tempfile::TempDir,
    found: mpsc::UnboundedReceiver<TraceId>,
    finds: mpsc::UnboundedSender<TraceId>,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("Artel");
        let caller = |flags| {
            let variables = [("HOME", home.path().to_str().unwrap().to_owned())];
            let environment = ProcessEnvironment::of(variables, home.path());
            CommandContext::new(environment, system_clock(), flags, ActorSurface::Cli).unwrap()
        };
        caller(GlobalFlags::default())
            .init(Some(&root), WorkshopInitMode::Complete)
            .unwrap();
        let flags = GlobalFlags {
            workshop: Some(root),
            ..GlobalFlags::default()
        };
        let workshop = Arc::new(caller(flags).workshop().unwrap());
        let project = home.path().join("shop");
        fs::create_dir(&project).unwrap();
        let portal = NewPortal {
            path: project,
            ..NewPortal::default()
        };
        workshop.open_portal(&portal).unwrap();
        let (finds, found) = mpsc::unbounded_channel();
        Self {
            workshop,
            home,
            found,
            finds,
        }
    }

    fn watcher(&self) -> InboxWatcher<impl Fn() -> Arc<Workshop> + Send + 'static> {
        let workshop = Arc::clone(&self.workshop);
        let says: DaemonMessageSink = Arc::new(|_| {});
        InboxWatcher::new(move || Arc::clone(&workshop), self.finds.clone(), says)
    }

    /// Starts a watcher, and waits until it is watching.
    async fn watched(&self) -> JoinHandle<()> {
        let going = tokio::spawn(self.watcher().go());
        let probe = self.file("Requests/probe.md");
        fs::write(&probe, "").unwrap();
        let note = self.file("Requests/probe.problem.md");
        until_true(|| note.exists()).await;
        fs::remove_file(&probe).unwrap();
        until_true(|| !note.exists()).await;
        going
    }

    fn file(&self, name: &str) -> PathBuf {
        self.workshop.root().join("Inbox").join(name)
    }

    /// Writes a file elsewhere and renames it into place.
    fn drop_in(&self, name: &str, text: &str) {
        let beside = self.home.path().join("draft");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, self.file(name)).unwrap();
    }

    fn requests(&self) -> Vec<(String, String)> {
        let filter = EventFilter {
            kind: Some("request.created".to_owned()),
            ..EventFilter::default()
        };
        let records = self
            .workshop
            .reader()
            .unwrap()
            .records(&EventQuery::of(filter));
        let of = |fact: Fact| match fact {
            Fact::RequestCreated(it) => {
                let words = match it.words {
                    artel_types::RecordedText::Inline(words) => words,
                    artel_types::RecordedText::Kept(at) => format!("{} bytes", at.bytes),
                };
                (it.file.replace("Inbox/Requests/", ""), words)
            }
            other => panic!("{other:?}"),
        };
        let records = records.unwrap().into_iter();
        let mut all: Vec<_> = records.map(|it| of(it.event().unwrap().fact)).collect();
        all.sort();
        all
    }

    async fn next(&mut self) -> TraceId {
        let found = tokio::time::timeout(BOUND, self.found.recv()).await;
        found.unwrap().unwrap()
    }
}

async fn until_true(is_so: impl Fn() -> bool) {
    let wait = async {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        while !is_so() {
            tick.tick().await;
        }
    };
    tokio::time::timeout(BOUND, wait).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_file_is_one_request_however_it_comes() {
    let mut place = Place::new();
    let going = place.watched().await;
    place.drop_in("Requests/moved.md", "Add one.\n");
    fs::write(place.file("Requests/written.md"), "Add two.\n").unwrap();
    fs::write(place.file("Requests/brief.md"), "Add nothing.\n").unwrap();
    fs::remove_file(place.file("Requests/brief.md")).unwrap();
    place.drop_in("Requests/early.md", "Add three.\n");
    fs::rename(
        place.file("Requests/early.md"),
        place.file("Requests/late.md"),
    )
    .unwrap();
    // This file arrives in pieces, further apart than a path has to be quiet.
    let slow = place.file("Requests/slow.md");
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&slow)
        .unwrap();
    let mut pace = tokio::time::interval(Duration::from_millis(500));
    for piece in 0..6 {
        pace.tick().await;
        file.write_all(format!("Add part {piece}.\n").as_bytes())
            .unwrap();
        file.flush().unwrap();
    }
    let mut due = Vec::new();
    for _ in 0..4 {
        due.push(place.next().await);
    }
    due.dedup();
    assert_eq!(due.len(), 4);
    let requests = place.requests();
    let names: Vec<&str> = requests.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["late.md", "moved.md", "slow.md", "written.md"]);
    assert!(requests[2].1.contains("part 0") && requests[2].1.contains("part 5"));
    // Artel completes the files itself, and the notifications of that must not count as new
    // files: the next one found is the file that is dropped in after all of this.
    place.drop_in("Requests/last.md", "Add five.\n");
    let last = place.next().await;
    assert_eq!(
        place.workshop.work(last).unwrap().request.file,
        "Inbox/Requests/last.md"
    );
    assert_eq!(place.requests().len(), 5);
    going.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_nobody_watched_is_found_at_the_start_and_once() {
    let mut place = Place::new();
    for number in 0..50 {
        place.drop_in(&format!("Requests/r{number}.md"), "Add it to the prices.\n");
    }
    for _ in 0..2 {
        let going = place.watched().await;
        until_true(|| place.requests().len() == 50).await;
        going.abort();
    }
    assert_eq!(place.requests().len(), 50);
    let mut found = std::collections::BTreeSet::new();
    while let Ok(trace) = place.found.try_recv() {
        assert!(found.insert(trace), "named once");
    }
    assert_eq!(found.len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_made_anew_is_watched_again() {
    let mut place = Place::new();
    let going = place.watched().await;
    let folder = place.file("Requests");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    place.drop_in("Requests/again.md", "Add one.\n");
    place.next().await;
    place.drop_in("Requests/more.md", "Add two.\n");
    place.next().await;
    assert_eq!(place.requests().len(), 2);
    going.abort();
}

#[tokio::test(start_paused = true)]
async fn where_no_notification_comes_the_folders_are_looked_through() {
    let mut place = Place::new();
    let mut watcher = place.watcher();
    watcher.ear = InboxNotifier::deaf(place.workshop.root().to_owned());
    let begun = Instant::now();
    let going = tokio::spawn(watcher.go());
    tokio::time::sleep(Duration::from_secs(1)).await;
    place.drop_in("Requests/a.md", "Add one.\n");
    place.next().await;
    assert!(begun.elapsed() >= EVERY);
    assert!(begun.elapsed() < EVERY + Duration::from_secs(5));
    assert_eq!(place.requests().len(), 1);
    going.abort();
}

#[tokio::test]
async fn what_was_not_heard_is_found_by_one_look_through_all() {
    let place = Place::new();
    let mut watcher = place.watcher();
    watcher.ear = InboxNotifier::deaf(place.workshop.root().to_owned());
    watcher.hear(InboxNotification::Missed).await;
    place.drop_in("Requests/a.md", "Add one.\n");
    place.drop_in("Requests/b.md", "Add two.\n");
    assert!(watcher.settle.is_empty());
    watcher.hear(InboxNotification::Missed).await;
    assert_eq!(watcher.settle.len(), 2);
    watcher.hear(InboxNotification::Missed).await;
    assert_eq!(watcher.settle.len(), 2, "once");
}
