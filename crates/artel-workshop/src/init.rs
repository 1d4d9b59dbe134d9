//! Creates a workshop, or completes one. Existing files are kept.

use std::path::{Path, PathBuf};

use artel_files::{FileError, create_new, make_dir, make_dirs, read_bounded, write_atomic};
use artel_journal::{
    EventBatch, EventFilter, EventQuery, Journal, JournalAppendError, JournalOptions,
};
use artel_types::{Failure, FailureCode, StreamName, WorkshopCreated};
use serde::Serialize;

use crate::brought::{PreexistingWorkshopFiles, skills_in};
use crate::caller::CommandContext;
use crate::find::{WorkshopDiscovery, WorkshopLocation};
use crate::marker::WorkshopMarker;
use crate::private::{LoosePermissionPaths, PRIVATE, PRIVATE_FILE, PRIVATE_FOLDER};
use crate::registry;
use crate::safety;
use crate::strangers;
use crate::trouble::{WorkshopFailures, file_failure, path_text, shell_word};
use crate::upgrade;
use crate::works::{DASHBOARD, dashboard, outside};

/// The workshop's folders that people see.
pub(crate) const FOLDERS: &[&str] = &[
    "Inbox",
    "Inbox/Requests",
    "Inbox/Plans",
    "Inbox/Active",
    "Inbox/Rejected",
    "Inbox/Archive",
    "Knowledge",
    "Knowledge/Context",
    "Knowledge/Reports",
    "Knowledge/Research",
    "Knowledge/Portals",
    "Agents",
    "Skills",
    "Tools",
    "Policy",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkshopInitMode {
    /// Leave them as they are.
    Complete,
    /// Write them again, unless a person edited them.
    Regenerate,
}

/// The outcome of creating a workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkshopInitOutcome {
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    pub id: String,
    pub is_new: bool,
    /// The files and folders that were created or written, relative to the workshop.
    pub made: Vec<String>,
    /// Templates that were kept because a person edited them.
    pub kept: Vec<String>,
    /// Notes for the person, one sentence each.
    pub notes: Vec<String>,
}

/// Whose workshop a folder is.
enum WorkshopOwnership {
    /// The folder is not a workshop.
    None,
    /// This user's workshop.
    Ours(WorkshopMarker),
    /// The folder has a marker that this user did not make, and no journal that belongs to it.
    Foreign,
}

impl CommandContext {
    /// Creates a workshop in `folder`, in the named folder, or in the current one. Refuses a
    /// folder that already contains files that would control a workshop.
    pub fn init(
        &self,
        folder: Option<&Path>,
        how: WorkshopInitMode,
    ) -> Result<WorkshopInitOutcome, WorkshopFailures> {
        match self.brought(folder)? {
            Some(brought) => Err(brought.refusal().into()),
            None => self.make(self.target(folder)?, how),
        }
    }

    /// Creates a workshop in a folder with the existing files that a person has seen and
    /// accepted.
    pub fn init_with(
        &self,
        seen: &PreexistingWorkshopFiles,
        how: WorkshopInitMode,
    ) -> Result<WorkshopInitOutcome, WorkshopFailures> {
        match self.brought(Some(&seen.root))? {
            Some(brought) if brought != *seen => Err(brought.refusal().into()),
            _ => self.make(seen.root.clone(), how),
        }
    }

    /// Returns the files of a folder that would control it as a workshop. Returns `None` if it
    /// already is this user's workshop. Writes nothing.
    pub fn brought(
        &self,
        folder: Option<&Path>,
    ) -> Result<Option<PreexistingWorkshopFiles>, WorkshopFailures> {
        let wanted = self.target(folder)?;
        // The folder may be named through a link; its real location counts.
        let wanted = wanted.canonicalize().unwrap_or(wanted);
        let is_ours = || {
            Ok::<_, Failure>(matches!(
                self.standing(&wanted)?,
                WorkshopOwnership::Ours(_)
            ))
        };
        if is_ours()? {
            return Ok(None);
        }
        // An invalid setting ends the command before anything is created.
        self.settings_in(&wanted)?;
        match PreexistingWorkshopFiles::find(&wanted) {
            // Another process may have made it a workshop in the meantime.
            Some(brought) if !is_ours()? => Ok(Some(brought)),
            _ => Ok(None),
        }
    }

    fn make(
        &self,
        wanted: PathBuf,
        how: WorkshopInitMode,
    ) -> Result<WorkshopInitOutcome, WorkshopFailures> {
        let wanted = wanted.canonicalize().unwrap_or(wanted);
        let standing = self.standing(&wanted)?;
        self.settings_in(&wanted)?;
        let root = make_root(&wanted)?;
        let mut made = WorkshopInitOutcome {
            path: root.clone(),
            id: String::new(),
            is_new: !matches!(standing, WorkshopOwnership::Ours(_)),
            made: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        };
        lay_out(&root, &mut made)?;
        let mut marker = self.mark(&root, standing)?;
        made.id = marker.id.to_string();
        if made.is_new {
            // From now on, the folders that already existed belong to the workshop.
            LoosePermissionPaths::find(&root).tighten(&root);
            let no_longer_written = strangers::stop_writing(&root);
            if !no_longer_written.is_empty() {
                let named = upgrade::named(&no_longer_written);
                let note = format!("others could write {named} and no longer can");
                made.notes.push(note);
            }
        }
        write_templates(&root, &mut marker, how, &mut made)?;
        let workshop = self.at(WorkshopLocation {
            root,
            marker,
            found: WorkshopDiscovery::Parent,
        })?;
        // A complete workshop is left untouched: opening its journal for writing would leave
        // traces, such as the daily backup.
        if !made.made.is_empty() || !workshop.has_begun() {
            made.notes.extend(workshop.begin_journal()?);
        }
        Ok(made)
    }

    /// Returns whose workshop a folder is. Fails if it has a journal that is not this user's.
    fn standing(&self, root: &Path) -> Result<WorkshopOwnership, Failure> {
        let state = root.join(".artel");
        safety::check(&state)?;
        let has_journal = state.join("journal.db").exists();
        match WorkshopMarker::read(root)? {
            Some(marker) if registry::knows(self.places.data(), marker.id, root)? => {
                Ok(WorkshopOwnership::Ours(marker))
            }
            Some(_) if has_journal => Err(not_ours(root)),
            Some(_) => Ok(WorkshopOwnership::Foreign),
            // A new id would separate the journal from its workshop.
            None if has_journal => Err(WorkshopMarker::missing(root)),
            None => Ok(WorkshopOwnership::None),
        }
    }

    fn target(&self, folder: Option<&Path>) -> Result<PathBuf, Failure> {
        if let Some(folder) = folder {
            return Ok(self.absolute(folder));
        }
        if let Some((named, _)) = self.named() {
            return Ok(named);
        }
        let here = self.environment.current_dir().map(Path::to_owned);
        here.ok_or_else(|| {
            Failure::new(FailureCode::W004, "the current folder no longer exists")
                .advise("`artel init DIR` names the folder")
        })
    }

    /// Marks the folder as this user's workshop. The registry is written first, because a
    /// marker without an entry counts as foreign.
    fn mark(&self, root: &Path, standing: WorkshopOwnership) -> Result<WorkshopMarker, Failure> {
        let fresh = match &standing {
            WorkshopOwnership::Ours(marker) => return Ok(marker.clone()),
            WorkshopOwnership::None | WorkshopOwnership::Foreign => WorkshopMarker {
                skills_found: skills_in(root),
                ..WorkshopMarker::fresh()?
            },
        };
        let data = self.places.data();
        registry::note(data, fresh.id, root, &self.redactor())?;
        if matches!(standing, WorkshopOwnership::Foreign) {
            // No journal belongs to the old marker, so nothing refers to its id.
            fresh.write(root)?;
            return Ok(fresh);
        }
        fresh.create(root)?;
        // Another process may have been first; then its marker counts.
        match WorkshopMarker::read(root)? {
            Some(first) if first.id != fresh.id => {
                registry::forget(data, fresh.id, root)?;
                Ok(first)
            }
            _ => Ok(fresh),
        }
    }
}

impl crate::Workshop {
    /// Returns whether the journal holds its first events. If it cannot be read, the answer is
    /// no, and [`Self::begin_journal`] reports what is wrong.
    fn has_begun(&self) -> bool {
        let recorded = |kind: &str| {
            let filter = EventFilter {
                kind: Some(kind.to_owned()),
                ..EventFilter::default()
            };
            let reader = self.reader().ok()?;
            let found = reader.records(&EventQuery::of(filter).limit(1)).ok()?;
            (!found.is_empty()).then_some(())
        };
        recorded("workshop.created")
            .and_then(|()| recorded("config.loaded"))
            .is_some()
    }

    /// Creates the journal if there is none, and records its first events. An interrupted
    /// `init` is completed by the next one. Returns notes for the person.
    fn begin_journal(&self) -> Result<Vec<String>, Failure> {
        // There is nothing worth a backup yet.
        let options = JournalOptions {
            backup_every: None,
            ..self.options()
        };
        let opened = Journal::create(&self.home, self.marker.id, options)?;
        let journal = opened.journal;
        let created = WorkshopCreated {
            id: self.marker.id,
            version: self.marker.version.clone(),
        };
        let created = self.draft(created).on(self.root.display().to_string());
        // If several processes try this, only the first finds the stream empty.
        let beginning = EventBatch::of([created, self.settings_draft()]);
        let beginning = beginning.expecting(StreamName::workshop(), 0);
        match journal.append(beginning).wait() {
            Ok(_) => {}
            Err(JournalAppendError::Conflict { .. }) => self.record_settings(&journal)?,
            Err(error) => return Err(error.into()),
        }
        Ok(opened.notes)
    }
}

/// Creates the folder if it does not exist, and returns its real path.
fn make_root(wanted: &Path) -> Result<PathBuf, Failure> {
    make_dirs(wanted, 0o755).map_err(|error| file_failure(FailureCode::W004, &error))?;
    wanted.canonicalize().map_err(|error| {
        Failure::new(
            FailureCode::W004,
            format!("`{}` cannot be entered", wanted.display()),
        )
        .because(error.to_string())
        .advise("look at the folder's owner and mode, then repeat")
    })
}

fn not_ours(root: &Path) -> Failure {
    let shown = root.display();
    Failure::new(
        FailureCode::W009,
        format!("`{shown}` holds a workshop that you did not make"),
    )
    .because("its id and place are not noted in your data folder")
    .advise(format!(
        "look at its `artel.toml`, then `artel workshop trust {}`",
        shell_word(root)
    ))
}

fn lay_out(root: &Path, made: &mut WorkshopInitOutcome) -> Result<(), Failure> {
    let failed = |error| file_failure(FailureCode::W004, &error);
    for folder in FOLDERS {
        if !root.join(folder).is_dir() {
            let top = folder.split('/').next().unwrap_or(folder);
            let is_private = PRIVATE.contains(&top);
            let mode = if is_private { PRIVATE_FOLDER } else { 0o755 };
            make_dir(&root.join(folder), mode).map_err(failed)?;
            made.made.push(format!("{folder}/"));
        }
    }
    let state = root.join(".artel");
    if !state.is_dir() {
        make_dir(&state, PRIVATE_FOLDER).map_err(failed)?;
        made.made.push(".artel/".to_owned());
    }
    for folder in ["blobs", "worktrees", "logs", "run"] {
        make_dir(&state.join(folder), PRIVATE_FOLDER).map_err(failed)?;
    }
    let ignore = state.join(".gitignore");
    if !ignore.exists() {
        // A workshop may lie in a repository, and its machine state must never be committed.
        make_new(&ignore, b"*\n", PRIVATE_FILE)?;
    }
    Ok(())
}

/// Creates a file. It is not an error if another `init` has just created it.
fn make_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    match create_new(path, bytes, mode) {
        Ok(()) | Err(FileError::Exists { .. }) => Ok(()),
        Err(error) => Err(file_failure(FailureCode::W004, &error)),
    }
}

fn write_templates(
    root: &Path,
    marker: &mut WorkshopMarker,
    how: WorkshopInitMode,
    made: &mut WorkshopInitOutcome,
) -> Result<(), Failure> {
    let templates = [
        ("artel.toml", artel_config::template()),
        (DASHBOARD, dashboard()),
    ];
    let before = marker.templates.clone();
    for (name, text) in templates {
        let path = root.join(name);
        let hash = hash_of(&text);
        if path.symlink_metadata().is_err() {
            make_new(&path, text.as_bytes(), mode_of(name))?;
            made.made.push(name.to_owned());
            marker.templates.insert(name.to_owned(), hash);
        } else if how == WorkshopInitMode::Regenerate {
            regenerate(&path, name, &text, hash, marker, made)?;
        }
    }
    if marker.templates != before {
        marker.write(root)?;
    }
    Ok(())
}

/// Rewrites a template if it is unchanged since Artel wrote it. A person's edit is never
/// touched.
fn regenerate(
    path: &Path,
    name: &str,
    text: &str,
    hash: String,
    marker: &mut WorkshopMarker,
    made: &mut WorkshopInitOutcome,
) -> Result<(), Failure> {
    let now =
        read_bounded(path, 4 << 20).map_err(|error| file_failure(FailureCode::W004, &error))?;
    if now == text.as_bytes() {
        return Ok(());
    }
    let known = marker.templates.get(name);
    let is_untouched = known.is_some_and(|old| *old == hash_of(&String::from_utf8_lossy(&now)));
    if !is_untouched {
        made.kept.push(name.to_owned());
        return Ok(());
    }
    write_atomic(path, text.as_bytes(), mode_of(name))
        .map_err(|error| file_failure(FailureCode::W004, &error))?;
    made.made.push(name.to_owned());
    marker.templates.insert(name.to_owned(), hash);
    Ok(())
}

/// Settings may be shared; files in private folders may not.
fn mode_of(template: &str) -> u32 {
    match template {
        DASHBOARD => PRIVATE_FILE,
        _ => 0o644,
    }
}

/// Returns whether a file is a template exactly as `init` writes it.
pub(crate) fn is_own_template(root: &Path, name: &Path) -> bool {
    if name != Path::new(DASHBOARD) {
        return false;
    }
    let now = read_bounded(&root.join(name), 4 << 20).unwrap_or_default();
    hash_of(&String::from_utf8_lossy(&now)) == hash_of(&dashboard())
}

/// Returns the hash of a template without the parts that Artel fills in later.
fn hash_of(text: &str) -> String {
    blake3::hash(outside(text).as_bytes()).to_hex().to_string()
}
