//! A project with a repository, and the changeset of a plan's run that is on record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use artel_git::{CommitOutcome, CommitSpec, GitIdentity, MergeSpec, PlanBranch, RunTreeLimits};
use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_types::plan::{PlanState, ProofStage, RequestSize, Urgency};
use artel_types::{
    Actor, ActorSurface, BranchBegun, BranchChecked, ChangesetCreated, ChangesetOrdered,
    EventDraft, Fact, FileChange, FileChangeKind, PlanApproved, PlanDrafted, PlanEnded,
    PlanRunning, ProofRecorded, RecordedText, RequestCreated, RunFinished, RunId, RunStarted,
    StreamName, TraceId,
};
use serde_json::json;

use crate::support::{ADA, Artel, House, Seen};

/// A commit's moment, so that the same commits come of it each time.
const WHEN: i64 = 1_700_000_000;

pub(super) struct Bench {
    pub(super) house: Arc<House>,
    pub(super) project: PathBuf,
    pub(super) trace: TraceId,
    pub(super) run: RunId,
    pub(super) branch: String,
    pub(super) base: String,
    pub(super) head: String,
}

/// What differs from the usual changeset.
pub(super) struct Special {
    pub(super) proven: bool,
    pub(super) complete: bool,
    pub(super) state: PlanState,
    pub(super) is_detached: bool,
    pub(super) is_in_git: bool,
}

impl Default for Special {
    fn default() -> Self {
        Self {
            proven: true,
            complete: true,
            state: PlanState::Done,
            is_detached: false,
            is_in_git: true,
        }
    }
}

impl Bench {
    /// A changeset that makes `made.txt`, changes line 2 of `long.txt`, and removes `gone.txt`.
    pub(super) fn new() -> Self {
        Self::special(Special::default())
    }

    pub(super) fn special(special: Special) -> Self {
        let house = House::new();
        let project = house.folder("project");
        fs::write(project.join("long.txt"), long("old")).unwrap();
        fs::write(project.join("gone.txt"), "going\n").unwrap();
        fs::write(project.join("mine.txt"), "mine\n").unwrap();
        if special.is_in_git {
            git(&project, &["init", "-q", "-b", "main"]);
            commit(&project, "first");
        }
        if special.is_detached {
            git(&project, &["checkout", "-q", "--detach"]);
        }
        let mut bench = Self {
            house: Arc::new(house),
            project,
            trace: TraceId::from_random([7; 16]),
            run: RunId::from_random([9; 16]),
            branch: "fix/it-07070707".to_owned(),
            head: String::new(),
            base: String::new(),
        };
        let line = bench.line();
        bench.base = line.base().unwrap().commit;
        bench.head.clone_from(&bench.base);
        bench.step(&line, "a", |tree| {
            fs::write(tree.join("made.txt"), "one\ntwo\n").unwrap();
            fs::write(tree.join("long.txt"), long("new")).unwrap();
        });
        bench.step(&line, "b", |tree| {
            fs::remove_file(tree.join("gone.txt")).unwrap()
        });
        if special.is_in_git {
            line.publish(&bench.branch).unwrap();
        }
        bench.record(&line, &special);
        bench
    }

    /// Another changeset of the same project, with a change of its own.
    pub(super) fn beside(&self, number: u8, change: impl Fn(&Path)) -> Self {
        let number = 100 + number;
        let trace = TraceId::from_random([number; 16]);
        let mut bench = Self {
            house: Arc::clone(&self.house),
            project: self.project.clone(),
            trace,
            run: RunId::from_random([number; 16]),
            branch: format!("fix/it-{}", trace.short()),
            head: String::new(),
            base: String::new(),
        };
        let line = bench.line();
        bench.base = line.base().unwrap().commit;
        bench.head.clone_from(&bench.base);
        bench.step(&line, &format!("step-{number}"), change);
        line.publish(&bench.branch).unwrap();
        bench.record(&line, &Special::default());
        bench
    }

    pub(super) fn line(&self) -> PlanBranch {
        let at = self.house.state("worktrees").join(self.run.to_string());
        fs::create_dir_all(&at).unwrap();
        PlanBranch::make(
            &program(),
            &at.join("line"),
            &self.project,
            RunTreeLimits::default(),
        )
        .unwrap()
    }

    pub(super) fn id(&self) -> String {
        self.trace.short()
    }

    /// Prepares a command, standing in the project, with the real git.
    pub(super) fn artel(&self, words: &[&str]) -> Artel {
        let artel = self.house.artel([]).words(words);
        artel
            .standing_in(&self.project)
            .env("PATH", program().parent().unwrap())
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    pub(super) fn run(&self, words: &[&str]) -> Seen {
        self.artel(words).run()
    }

    /// Decides about the changeset.
    pub(super) fn decide(&self, act: &str, more: &[&str]) -> Seen {
        let id = self.id();
        let words = [&["changeset", act, &id], more].concat();
        self.run(&words)
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        git(&self.project, arguments)
    }

    pub(super) fn commit(&self, message: &str) -> String {
        commit(&self.project, message)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        fs::write(self.project.join(path), text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project.join(path)).unwrap()
    }

    pub(super) fn state(&self) -> String {
        let id = self.id();
        let shown = self.run(&["changeset", "show", &id, "--json"]).expect(0);
        shown.json()["state"].as_str().unwrap().to_owned()
    }

    /// Returns the kinds of the events of the piece of work that begin like this, in order.
    pub(super) fn kinds(&self, begin: &str) -> Vec<String> {
        let reader = JournalReader::open(&self.house.journal_home()).unwrap();
        let filter = EventFilter {
            stream: Some(StreamName::work(self.trace).to_string()),
            kind: Some(begin.to_owned()),
            ..EventFilter::default()
        };
        let records = reader.records(&EventQuery::of(filter)).unwrap();
        records.into_iter().map(|record| record.kind).collect()
    }

    pub(super) fn report(&self) -> PathBuf {
        let id = self.id();
        let shown = self.run(&["report", "show", &id, "--json"]).expect(0);
        self.house
            .workshop
            .join(shown.json()["path"].as_str().unwrap())
    }

    /// Puts the order to merge on record, as a process does that is killed right after.
    pub(super) fn order_and_die(&self) {
        let line = self.line();
        let merge = if line.is_private() {
            line.plan_placing(&self.head)
        } else {
            line.plan_merge(&MergeSpec {
                head: &self.head,
                into: "main",
                message: "Merge it\n",
                when: WHEN,
                author: &ada(),
            })
        };
        let merge = merge.unwrap();
        let plan = serde_json::to_string(&merge).unwrap();
        let ordered = ChangesetOrdered {
            act: "approve".to_owned(),
            into: merge.into,
            old: merge.old,
            new: merge.new,
            plan: RecordedText::Inline(plan),
            waiver: None,
        };
        self.tell([ordered.into()]);
    }

    /// Commits what `change` does to a checkout of the branch.
    fn step(&mut self, line: &PlanBranch, name: &str, change: impl Fn(&Path)) {
        let at = self.house.root().join(format!("step-{name}"));
        let tree = line.checkout(&self.head, &at, &[]).unwrap();
        change(tree.files());
        let left = line.take(&tree).unwrap();
        let message = format!("fix: step {name}\n\nTrace-Id: {}\n", self.trace);
        let committed = line.commit(&CommitSpec {
            tree: &left,
            base: &self.head,
            onto: &self.head,
            message: &message,
            when: WHEN,
            author: &ada(),
        });
        let Ok(CommitOutcome::Done { commit, .. }) = committed else {
            panic!("{committed:?}");
        };
        line.advance(&self.branch, &self.head, &commit).unwrap();
        let step = json!({
            "step": name, "round": 1, "commit": commit, "head": commit, "files": [],
            "outputs": "{}", "waived": [],
        });
        let started = json!({ "step": name, "round": 1, "base": self.head });
        let facts = [("step.started", started), ("step.passed", step)];
        let facts =
            facts.map(|(kind, payload)| Fact::decode(kind, 1, &payload.to_string()).unwrap());
        self.head = commit;
        self.tell_run(facts);
    }

    /// Records the request, the plan and the end of its run.
    fn record(&self, line: &PlanBranch, special: &Special) {
        let plan = plan().to_string();
        let hash = "h".repeat(64);
        let drafted = PlanDrafted {
            version: 1,
            plan: RecordedText::Inline(plan),
            hash: hash.clone(),
            title: "Fix it".to_owned(),
            file: "Inbox/Plans/x.md".to_owned(),
            run: None,
        };
        let (run, version) = (self.run, 1);
        self.tell([
            self.request().into(),
            drafted.into(),
            PlanApproved {
                version,
                hash,
                run,
                model: None,
            }
            .into(),
            PlanRunning { run, version }.into(),
        ]);
        let begun = BranchBegun {
            branch: self.branch.clone(),
            base: self.base.clone(),
            into: (!special.is_detached).then(|| "main".to_owned()),
            dirty: Vec::new(),
            patch: !special.is_in_git,
        };
        let checked = BranchChecked {
            round: 1,
            head: self.head.clone(),
            passed: special.proven,
            why: Vec::new(),
        };
        let started = RunStarted {
            plan: Some(1),
            ..RunStarted::new(self.run, "Fix it")
        };
        self.tell_run([
            started.into(),
            begun.into(),
            self.proof("tests", Some((8, 1))).into(),
            self.proof("command", None).into(),
            checked.into(),
        ]);
        let ended = PlanEnded {
            run,
            state: special.state,
            why: (special.state != PlanState::Done).then(|| "step 2 (Second): no".to_owned()),
        };
        self.tell([self.created(line, special).into(), ended.into()]);
        self.tell_run([RunFinished::new(run, "2 of 2 steps").into()]);
    }

    fn request(&self) -> RequestCreated {
        RequestCreated {
            words: "Fix it, please".into(),
            title: "Fix it, please".to_owned(),
            portal: Some("shop".to_owned()),
            folder: self.project.display().to_string(),
            agent: "default".to_owned(),
            urgency: Urgency::Normal,
            source: "cli".to_owned(),
            file: "Inbox/Requests/request-07070707.md".to_owned(),
            size: RequestSize::Work,
            why: "it is work".to_owned(),
            verify: None,
            constraints: Vec::new(),
            criteria: Vec::new(),
            skill: None,
            model: None,
        }
    }

    fn created(&self, line: &PlanBranch, special: &Special) -> ChangesetCreated {
        let stat = line.stat(&self.base, &self.head).unwrap();
        let files = stat.files.iter().map(|file| FileChange {
            path: file.path.display().to_string(),
            from: file.from.as_ref().map(|from| from.display().to_string()),
            kind: match file.kind {
                artel_git::FileDiffKind::Made => FileChangeKind::Made,
                artel_git::FileDiffKind::Deleted => FileChangeKind::Deleted,
                artel_git::FileDiffKind::Renamed => FileChangeKind::Renamed,
                _ => FileChangeKind::Changed,
            },
            added: file.added,
            removed: file.removed,
            bytes: 0,
        });
        let patch = (!special.is_in_git).then(|| {
            let bytes = line.patch(&self.base, &self.head).unwrap();
            let file = self.house.root().join("change.patch");
            fs::write(&file, bytes).unwrap();
            file.display().to_string()
        });
        let is_plain = special.is_in_git && !special.is_detached;
        ChangesetCreated {
            run: self.run,
            portal: Some("shop".to_owned()),
            folder: self.project.display().to_string(),
            branch: special.is_in_git.then(|| self.branch.clone()),
            into: is_plain.then(|| "main".to_owned()),
            base: self.base.clone(),
            head: self.head.clone(),
            commits: 2,
            files: files.collect(),
            added: stat.added,
            removed: stat.removed,
            proven: special.proven,
            complete: special.complete,
            deferred: vec!["First: the person waived f1".to_owned()],
            patch,
        }
    }

    fn proof(&self, sort: &str, tests: Option<(u64, u64)>) -> ProofRecorded {
        ProofRecorded {
            id: format!("plan/1/final/{sort}"),
            place: ProofStage::Final,
            step: None,
            round: 1,
            sort: sort.to_owned(),
            what: format!("make {sort}"),
            exit: Some(0),
            passed: tests.map(|(passed, _)| passed),
            failed: tests.map(|_| 0),
            skipped: tests.map(|(_, skipped)| skipped),
            failures: Vec::new(),
            tree: self.head.clone(),
            output: "fine".into(),
            holds: true,
            millis: 12,
            tests: None,
            findings: None,
            coverage: None,
            hash: None,
        }
    }

    pub(super) fn tell(&self, facts: impl IntoIterator<Item = Fact>) {
        let stream = StreamName::work(self.trace);
        let actor = Actor::human(ADA, ActorSurface::Cli);
        let draft = |fact| EventDraft::new(stream.clone(), self.trace, actor.clone(), fact);
        self.house.append(facts.into_iter().map(draft));
    }

    pub(super) fn tell_run(&self, facts: impl IntoIterator<Item = Fact>) {
        let stream = StreamName::run(self.run);
        let actor = Actor::system("plan");
        let draft = |fact| {
            EventDraft::new(stream.clone(), self.trace, actor.clone(), fact).in_run(self.run)
        };
        self.house.append(facts.into_iter().map(draft));
    }
}

/// A text of which the second line is the one that changes.
pub(super) fn long(second: &str) -> String {
    let rest: String = (3..=20).map(|number| format!("line {number}\n")).collect();
    format!("line 1\n{second}\n{rest}")
}

fn plan() -> serde_json::Value {
    let step = |id: &str, title: &str, after: &[&str]| {
        json!({
            "id": id, "title": title, "work": "Do it.", "check": "Look at it.", "after": after,
        })
    };
    json!({
        "title": "Fix it",
        "kind": "fix",
        "overview": "It will be fixed.",
        "reasoning": "It was broken.",
        "references": ["src/long.txt"],
        "steps": [step("a", "First", &[]), step("b", "Second", &["a"])],
    })
}

fn ada() -> GitIdentity {
    GitIdentity {
        name: "Ada".to_owned(),
        email: ADA.to_owned(),
    }
}

pub(super) fn program() -> PathBuf {
    let places = ["/usr/local/bin/git", "/usr/bin/git"].map(PathBuf::from);
    places.into_iter().find(|path| path.exists()).unwrap()
}

pub(super) fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new(program())
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder)
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", ADA)
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", ADA)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {arguments:?}: {said}");
    String::from_utf8(done.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

fn commit(folder: &Path, message: &str) -> String {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
    git(folder, &["rev-parse", "HEAD"])
}
