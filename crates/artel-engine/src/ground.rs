//! The files of a run: the person's folder until something has to change, then a tree of
//! its own with snapshots.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_git::{
    RunTree, RunTreeChange, RunTreeError, RunTreeFingerprint, RunTreeLimits, RunTreeSnapshot,
    RunTreeSpec, SetAsidePath, SetAsideReason,
};
use artel_tools::{ToolCrashRecovery, ToolEffect, ToolRunner, TreeWallOpenings};
use artel_types::{
    Clock, Failure, FailureCode, FileChange, FileChangeKind, LeftOutPath, LeftOutReason, TreeMade,
    TreeRestored, TreeSnapped,
};

use crate::chronicle::RunJournalEntry;
use crate::hooks::RunHooks;

/// Builds the tool runner for the run's own tree from one that only reads the person's
/// folder.
pub type Furnish = dyn Fn(&RunTree, &ToolRunner) -> Result<ToolRunner, Failure> + Send + Sync;

/// The files of a run and of all runs it calls.
pub struct RunTreeHandle {
    git: Option<PathBuf>,
    origin: PathBuf,
    at: PathBuf,
    /// Ignored files that the person named.
    named: Vec<PathBuf>,
    /// Additional folders that are shared instead of copied.
    share: Vec<String>,
    bounds: RunTreeLimits,
    clock: Clock,
    /// Prefix of the snapshot names.
    prefix: String,
    state: Mutex<RunTreeHandleState>,
    /// Openings that were allowed in the sandbox around these files.
    openings: Arc<TreeWallOpenings>,
}

/// Where a run's files come from, and where its own tree is made.
#[derive(Debug, Clone)]
pub struct RunTreeLocation {
    /// Absolute path of git, or `None` if there is none on the `PATH`.
    pub git: Option<PathBuf>,
    /// The person's folder.
    pub origin: PathBuf,
    /// The place for the tree.
    pub at: PathBuf,
    /// Ignored files that the person named.
    pub named: Vec<PathBuf>,
    /// Additional folders that are shared instead of copied.
    pub share: Vec<String>,
    /// Limits on the run's files that are kept.
    pub bounds: RunTreeLimits,
}

#[derive(Default)]
struct RunTreeHandleState {
    tree: Option<Arc<RunTree>>,
    /// The newest snapshot, with the fingerprint of the tree at that moment.
    newest: Option<(String, RunTreeFingerprint)>,
    count: u32,
}

/// The tool runner prepared for a call.
pub(crate) struct ToolCallPreparation {
    pub(crate) hands: Arc<ToolRunner>,
    /// Entries about the preparation, to be recorded before the call.
    pub(crate) entries: Vec<RunJournalEntry>,
}

/// The tool runner of a run, with its files.
#[derive(Clone)]
pub struct RunToolEnvironment {
    hands: Arc<ToolRunner>,
    ground: Option<Arc<RunTreeHandle>>,
    furnish: Arc<Furnish>,
    is_furnished: bool,
}

impl RunTreeHandle {
    /// Sets the folder, and the place for a tree once one is needed.
    pub fn new(plot: RunTreeLocation, clock: Clock) -> Self {
        let RunTreeLocation {
            git,
            origin,
            at,
            named,
            share,
            bounds,
        } = plot;
        Self {
            git,
            origin,
            at,
            named,
            share,
            bounds,
            clock,
            prefix: "snap".to_owned(),
            state: Mutex::default(),
            openings: Arc::default(),
        }
    }

    /// Returns the sandbox openings that any run was allowed around these files.
    pub fn openings(&self) -> &Arc<TreeWallOpenings> {
        &self.openings
    }

    /// Uses an existing tree that several runs work in, one after another; `prefix` tells
    /// their snapshots apart.
    pub fn holding(
        plot: RunTreeLocation,
        clock: Clock,
        tree: Arc<RunTree>,
        prefix: String,
    ) -> Self {
        let ground = Self {
            prefix,
            ..Self::new(plot, clock)
        };
        ground.lock().tree = Some(tree);
        ground
    }

    /// Opens the tree that another process made.
    pub fn reopen(&self, newest: &str) -> Result<(), Failure> {
        let tree = RunTree::open(self.git()?, &self.at).map_err(|error| failed(&error))?;
        tree.clear_unfinished().map_err(|error| failed(&error))?;
        self.lock().tree = Some(Arc::new(tree));
        self.count_from(newest);
        Ok(())
    }

    /// Continues counting from the newest snapshot of a run that is taken up.
    pub fn count_from(&self, newest: &str) {
        let count = newest.rsplit('-').next().and_then(|last| last.parse().ok());
        self.lock().count = count.unwrap_or(0);
    }

    /// Returns the tree, or `None` if none was made yet.
    pub fn tree(&self) -> Option<Arc<RunTree>> {
        self.lock().tree.clone()
    }

    /// Returns the person's folder that the run works on.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    fn make(&self) -> Result<(Arc<RunTree>, RunJournalEntry), Failure> {
        let began = self.clock.uptime();
        // A process that was killed before its tree was recorded has done nothing in it.
        if let Ok(old) = RunTree::open(self.git()?, &self.at) {
            old.remove().map_err(|error| failed(&error))?;
        }
        let tree = RunTree::make(&RunTreeSpec {
            git: self.git()?,
            from: &self.origin,
            at: &self.at,
            named: &self.named,
            share: &self.share,
            bounds: self.bounds,
        })
        .map_err(|error| failed(&error))?;
        let fingerprint = tree.fingerprint().map_err(|error| failed(&error))?;
        let tree = Arc::new(tree);
        let snapshot = tree.start().label().to_owned();
        let made = TreeMade {
            origin: self.origin.display().to_string(),
            path: tree.files().display().to_string(),
            snapshot: snapshot.clone(),
            how: how_made(&tree),
            millis: self.millis_since(began),
        };
        let mut state = self.lock();
        state.tree = Some(Arc::clone(&tree));
        state.newest = Some((snapshot, fingerprint));
        Ok((tree, RunJournalEntry::quiet(made)))
    }

    /// Takes a snapshot, unless the tree is unchanged since the last one.
    pub(crate) fn snap(&self, why: &str) -> Result<Option<RunJournalEntry>, Failure> {
        let Some(tree) = self.tree() else {
            return Ok(None);
        };
        let began = self.clock.uptime();
        let now = tree.fingerprint().map_err(|error| failed(&error))?;
        let label = {
            let mut state = self.lock();
            if state.newest.as_ref().is_some_and(|(_, then)| *then == now) {
                return Ok(None);
            }
            state.count += 1;
            format!("{}-{}", self.prefix, state.count)
        };
        let snapshot = tree.snapshot(&label).map_err(|error| failed(&error))?;
        self.lock().newest = Some((label.clone(), now));
        let snapped = TreeSnapped {
            snapshot: snapshot.label().to_owned(),
            why: why.to_owned(),
            millis: self.millis_since(began),
        };
        Ok(Some(RunJournalEntry::quiet(snapped)))
    }

    /// Restores the tree to a snapshot.
    pub(crate) fn restore(
        &self,
        label: &str,
        why: &str,
    ) -> Result<Option<RunJournalEntry>, Failure> {
        let Some(tree) = self.tree() else {
            return Ok(None);
        };
        let snapshot = self.find(&tree, label)?;
        let restored = tree.restore(&snapshot).map_err(|error| failed(&error))?;
        let now = tree.fingerprint().map_err(|error| failed(&error))?;
        self.lock().newest = Some((label.to_owned(), now));
        let fact = TreeRestored {
            snapshot: label.to_owned(),
            why: why.to_owned(),
            files: u64::try_from(restored.written.len() + restored.removed.len()).unwrap_or(0),
        };
        Ok(Some(RunJournalEntry::quiet(fact)))
    }

    /// Returns the files that the run has made and changed since its start.
    pub fn changes(&self) -> Result<Vec<FileChange>, Failure> {
        let Some(tree) = self.tree() else {
            return Ok(Vec::new());
        };
        let changes = tree.changes(tree.start()).map_err(|error| failed(&error))?;
        let is_wanted = |change: &&RunTreeChange| !change.is_ignored;
        Ok(changes.iter().filter(is_wanted).map(change_of).collect())
    }

    /// Returns the run's files that are kept nowhere and never copied back.
    pub fn left_out(&self) -> Result<Vec<LeftOutPath>, Failure> {
        let Some(tree) = self.tree() else {
            return Ok(Vec::new());
        };
        let aside = tree.set_aside().map_err(|error| failed(&error))?;
        Ok(aside.iter().map(left_out_of).collect())
    }

    fn git(&self) -> Result<&Path, Failure> {
        self.git.as_deref().ok_or_else(|| {
            Failure::new(FailureCode::W008, "a run needs git for a tree of its own")
                .because("there is no `git` on the PATH")
                .advise("install git")
        })
    }

    fn find(&self, tree: &RunTree, label: &str) -> Result<RunTreeSnapshot, Failure> {
        if tree.start().label() == label {
            return Ok(tree.start().clone());
        }
        tree.find(label).map_err(|error| failed(&error))
    }

    fn millis_since(&self, began: std::time::Duration) -> u64 {
        let span = self.clock.uptime().saturating_sub(began);
        u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, RunTreeHandleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunToolEnvironment {
    /// Starts with a tool runner that only reads. Without files for a tree it stays that
    /// way.
    pub fn new(
        mut hands: ToolRunner,
        ground: Option<Arc<RunTreeHandle>>,
        furnish: Arc<Furnish>,
    ) -> Self {
        if let Some(ground) = &ground {
            hands.openings = Arc::clone(&ground.openings);
        }
        Self {
            hands: Arc::new(hands),
            ground,
            furnish,
            is_furnished: false,
        }
    }

    /// Returns the current tool runner.
    pub fn hands(&self) -> &Arc<ToolRunner> {
        &self.hands
    }

    /// Puts hooks in front of the approver.
    pub(crate) fn asks_through(&mut self, hooks: &RunHooks) {
        let mut hands = self.hands.moved(self.hands.bench.clone(), |_, _| {});
        hands.approver = hooks.before(hands.approver.take());
        self.hands = Arc::new(hands);
    }

    /// Returns the run's files, or `None` if it has no tree.
    pub fn ground(&self) -> Option<&Arc<RunTreeHandle>> {
        self.ground.as_ref()
    }

    /// Returns whether a call needs the run's own tree: it changes files, starts a process
    /// or reaches the network. The network is reached through the filter of the sandbox,
    /// which stands around that tree.
    pub(crate) fn needs_ground(&self, tool: &str) -> bool {
        let touches = |effect: &ToolEffect| {
            matches!(
                effect,
                ToolEffect::Write | ToolEffect::Process | ToolEffect::Network
            )
        };
        let tool = self.hands.registry.get(tool);
        let Some(ground) = &self.ground else {
            return false;
        };
        let is_new = ground.tree().is_some() && !self.is_furnished;
        is_new || tool.is_ok_and(|tool| tool.card().effects.iter().any(touches))
    }

    /// Prepares the files for a call: makes a tree if the call changes something or starts
    /// a process, and a snapshot if an unknown outcome means restoring.
    pub(crate) fn ready(&mut self, tool: &str) -> Result<ToolCallPreparation, Failure> {
        let mut entries = Vec::new();
        let known = self.hands.registry.get(tool);
        let goes_back = known.is_ok_and(|tool| tool.card().unknown == ToolCrashRecovery::Restore);
        if self.needs_ground(tool)
            && let Some(ground) = self.ground.clone()
        {
            if ground.tree().is_none() {
                let (_, made) = ground.make()?;
                entries.push(made);
            }
            self.furnished()?;
            if goes_back {
                entries.extend(ground.snap("before")?);
            }
        }
        Ok(ToolCallPreparation {
            hands: Arc::clone(&self.hands),
            entries,
        })
    }

    /// Moves the tool runner into the tree, once there is one.
    pub fn furnished(&mut self) -> Result<(), Failure> {
        let tree = self.ground.as_ref().and_then(|ground| ground.tree());
        if let Some(tree) = tree
            && !self.is_furnished
        {
            self.hands = Arc::new((self.furnish)(&tree, &self.hands)?);
            self.is_furnished = true;
        }
        Ok(())
    }
}

/// Returns the failure for an error of the tree.
pub(crate) fn failed(error: &RunTreeError) -> Failure {
    let mut why = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        why.push(cause.to_string());
        next = cause.source();
    }
    let failure = Failure::new(FailureCode::W008, error.to_string());
    if why.is_empty() {
        failure
    } else {
        failure.because(why.join(": "))
    }
}

/// Describes the tree for the record.
fn how_made(tree: &RunTree) -> String {
    match (tree.is_copy(), tree.foreign()) {
        (false, _) => "a tree with its own repository".to_owned(),
        (true, None) => "a plain copy: the folder is in no git repository".to_owned(),
        (true, Some(from)) => format!(
            "a plain copy: the repository needs `{}`, which lies outside of it, where agents see \
             nothing",
            from.display()
        ),
    }
}

fn left_out_of(one: &SetAsidePath) -> LeftOutPath {
    let (why, amount) = match one.why {
        SetAsideReason::GitMetadata => (LeftOutReason::GitMetadata, None),
        SetAsideReason::BareRepository => (LeftOutReason::Repository, None),
        SetAsideReason::SpecialFile => (LeftOutReason::SpecialFile, None),
        SetAsideReason::TooDeep => (LeftOutReason::TooDeep, None),
        SetAsideReason::TooLarge(bytes) => (LeftOutReason::TooLarge, Some(bytes)),
        SetAsideReason::TooMany(files) | SetAsideReason::TooManyIn(files) => {
            (LeftOutReason::TooMany, Some(files))
        }
    };
    let path = one.path.to_string_lossy();
    let shown: String = path.chars().take(LONGEST_SHOWN).collect();
    LeftOutPath {
        path: if shown.is_empty() {
            ".".to_owned()
        } else {
            shown
        },
        why,
        amount,
    }
}

/// Most characters shown of a path. Paths in deep folders can have thousands; the
/// beginning is enough to recognise one.
const LONGEST_SHOWN: usize = 200;

fn change_of(change: &RunTreeChange) -> FileChange {
    FileChange {
        from: None,
        path: change.path.to_string_lossy().into_owned(),
        kind: match change.kind {
            artel_git::RunTreeChangeKind::Made => FileChangeKind::Made,
            artel_git::RunTreeChangeKind::Changed => FileChangeKind::Changed,
            artel_git::RunTreeChangeKind::Deleted => FileChangeKind::Deleted,
            artel_git::RunTreeChangeKind::Mode => FileChangeKind::Mode,
        },
        added: change.lines_added,
        removed: change.lines_removed,
        bytes: change.bytes,
    }
}
