//! Makes a workshop, or completes one: what is there stays as it is.

use std::path::{Path, PathBuf};

use artel_files::{FileError, create_new, make_dir, make_dirs, read_bounded, write_atomic};
use artel_journal::{AppendError, Batch, Filter, Journal, Options, Query};
use artel_types::{Code, Failure, Stream, WorkshopCreated};
use serde::Serialize;

use crate::brought::{Brought, skills_in};
use crate::caller::Caller;
use crate::find::{Found, Place};
use crate::marker::Marker;
use crate::private::{OpenModes, PRIVATE, PRIVATE_FILE, PRIVATE_FOLDER};
use crate::registry;
use crate::safety;
use crate::strangers;
use crate::trouble::{Problems, file_failure, path_text, shell_word};
use crate::upgrade;
use crate::works::{DASHBOARD, dashboard, outside};

/// The folders of a workshop that people see.
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

/// What to do with templates that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// Leave them.
    Complete,
    /// Write them anew where nobody edited them.
    Regenerate,
}

/// What making a workshop did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Where it is.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Whether it is new.
    pub is_new: bool,
    /// What was made or written, relative to the workshop.
    pub made: Vec<String>,
    /// Templates that were kept because a person edited them.
    pub kept: Vec<String>,
    /// What a person should be told, a sentence each.
    pub notes: Vec<String>,
}

/// Whose workshop a folder is.
enum Standing {
    /// Nobody's yet.
    None,
    /// This user's.
    Ours(Marker),
    /// It has a marker that this user did not make, and no journal that would go with it.
    Foreign,
}

impl Caller {
    /// Makes a workshop in `folder`, or in the named one, or here. What already has something that
    /// would decide in it is refused.
    pub fn init(&self, folder: Option<&Path>, how: Init) -> Result<Made, Problems> {
        match self.brought(folder)? {
            Some(brought) => Err(brought.refusal().into()),
            None => self.make(self.target(folder)?, how),
        }
    }

    /// Makes a workshop in a folder with what is already there, as a person saw it.
    pub fn init_with(&self, seen: &Brought, how: Init) -> Result<Made, Problems> {
        match self.brought(Some(&seen.root))? {
            Some(brought) if brought != *seen => Err(brought.refusal().into()),
            _ => self.make(seen.root.clone(), how),
        }
    }

    /// Returns what a folder that is no workshop of this user's already has and that would decide
    /// if it became one. Nothing is written.
    pub fn brought(&self, folder: Option<&Path>) -> Result<Option<Brought>, Problems> {
        let wanted = self.target(folder)?;
        // A folder may be reached through a link; what counts is where it really is.
        let wanted = wanted.canonicalize().unwrap_or(wanted);
        let is_ours = || Ok::<_, Failure>(matches!(self.standing(&wanted)?, Standing::Ours(_)));
        if is_ours()? {
            return Ok(None);
        }
        // A setting that is wrong ends the command before anything is made.
        self.settings_in(&wanted)?;
        match Brought::find(&wanted) {
            // Another process may have made a workshop of it meanwhile.
            Some(brought) if !is_ours()? => Ok(Some(brought)),
            _ => Ok(None),
        }
    }

    fn make(&self, wanted: PathBuf, how: Init) -> Result<Made, Problems> {
        let wanted = wanted.canonicalize().unwrap_or(wanted);
        let standing = self.standing(&wanted)?;
        self.settings_in(&wanted)?;
        let root = make_root(&wanted)?;
        let mut made = Made {
            path: root.clone(),
            id: String::new(),
            is_new: !matches!(standing, Standing::Ours(_)),
            made: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        };
        lay_out(&root, &mut made)?;
        let mut marker = self.mark(&root, standing)?;
        made.id = marker.id.to_string();
        if made.is_new {
            // Folders that were here before are the workshop's from now on.
            OpenModes::find(&root).tighten(&root);
            let no_longer_written = strangers::stop_writing(&root);
            if !no_longer_written.is_empty() {
                let named = upgrade::named(&no_longer_written);
                let note = format!("others could write {named} and no longer can");
                made.notes.push(note);
            }
        }
        write_templates(&root, &mut marker, how, &mut made)?;
        let workshop = self.at(Place {
            root,
            marker,
            found: Found::Parent,
        })?;
        // A whole workshop is only looked at: opening its journal for writing would already leave
        // traces, such as the daily backup.
        if !made.made.is_empty() || !workshop.has_begun() {
            made.notes.extend(workshop.begin_journal()?);
        }
        Ok(made)
    }

    /// Tells whose workshop a folder is. One with a journal that is not this user's is refused.
    fn standing(&self, root: &Path) -> Result<Standing, Failure> {
        let state = root.join(".artel");
        safety::check(&state)?;
        let has_journal = state.join("journal.db").exists();
        match Marker::read(root)? {
            Some(marker) if registry::knows(self.places.data(), marker.id, root)? => {
                Ok(Standing::Ours(marker))
            }
            Some(_) if has_journal => Err(not_ours(root)),
            Some(_) => Ok(Standing::Foreign),
            // A new id would part the journal from its workshop.
            None if has_journal => Err(Marker::missing(root)),
            None => Ok(Standing::None),
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
            Failure::new(Code::W004, "the current folder no longer exists")
                .advise("`artel init DIR` names the folder")
        })
    }

    /// Marks the folder as this user's workshop. It is noted as theirs first: a marker that is not
    /// noted came from elsewhere.
    fn mark(&self, root: &Path, standing: Standing) -> Result<Marker, Failure> {
        let fresh = match &standing {
            Standing::Ours(marker) => return Ok(marker.clone()),
            Standing::None | Standing::Foreign => Marker {
                skills_found: skills_in(root),
                ..Marker::fresh()?
            },
        };
        let data = self.places.data();
        registry::note(data, fresh.id, root, &self.redactor())?;
        if matches!(standing, Standing::Foreign) {
            // No journal goes with it, so nothing names its id.
            fresh.write(root)?;
            return Ok(fresh);
        }
        fresh.create(root)?;
        // Another process may have been first; its marker counts.
        match Marker::read(root)? {
            Some(first) if first.id != fresh.id => {
                registry::forget(data, fresh.id, root)?;
                Ok(first)
            }
            _ => Ok(fresh),
        }
    }
}

impl crate::Workshop {
    /// Tells whether the journal has its beginning. What cannot be read is looked at by
    /// [`Self::begin_journal`], which says what is wrong.
    fn has_begun(&self) -> bool {
        let recorded = |kind: &str| {
            let filter = Filter {
                kind: Some(kind.to_owned()),
                ..Filter::default()
            };
            let reader = self.reader().ok()?;
            let found = reader.records(&Query::of(filter).limit(1)).ok()?;
            (!found.is_empty()).then_some(())
        };
        recorded("workshop.created")
            .and_then(|()| recorded("config.loaded"))
            .is_some()
    }

    /// Makes the journal if there is none, and records the beginning. An interrupted `init` is
    /// completed by the next one. Returns what a person should be told.
    fn begin_journal(&self) -> Result<Vec<String>, Failure> {
        // There is nothing yet that would be worth a copy.
        let options = Options {
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
        // Only the first of several processes finds the stream empty.
        let beginning = Batch::of([created, self.settings_draft()]);
        let beginning = beginning.expecting(Stream::workshop(), 0);
        match journal.append(beginning).wait() {
            Ok(_) => {}
            Err(AppendError::Conflict { .. }) => self.record_settings(&journal)?,
            Err(error) => return Err(error.into()),
        }
        Ok(opened.notes)
    }
}

/// Makes the folder, if it is not there, and returns where it really is.
fn make_root(wanted: &Path) -> Result<PathBuf, Failure> {
    make_dirs(wanted, 0o755).map_err(|error| file_failure(Code::W004, &error))?;
    wanted.canonicalize().map_err(|error| {
        Failure::new(
            Code::W004,
            format!("`{}` cannot be entered", wanted.display()),
        )
        .because(error.to_string())
        .advise("look at the folder's owner and mode, then repeat")
    })
}

fn not_ours(root: &Path) -> Failure {
    let shown = root.display();
    Failure::new(
        Code::W009,
        format!("`{shown}` holds a workshop that you did not make"),
    )
    .because("its id and place are not noted in your data folder")
    .advise(format!(
        "look at its `artel.toml`, then `artel workshop trust {}`",
        shell_word(root)
    ))
}

fn lay_out(root: &Path, made: &mut Made) -> Result<(), Failure> {
    let failed = |error| file_failure(Code::W004, &error);
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
        // A workshop may lie in a repository; its machine state never belongs into it.
        make_new(&ignore, b"*\n", PRIVATE_FILE)?;
    }
    Ok(())
}

/// Makes a file; another `init` in the same folder may have made it a moment ago.
fn make_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    match create_new(path, bytes, mode) {
        Ok(()) | Err(FileError::Exists { .. }) => Ok(()),
        Err(error) => Err(file_failure(Code::W004, &error)),
    }
}

fn write_templates(
    root: &Path,
    marker: &mut Marker,
    how: Init,
    made: &mut Made,
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
        } else if how == Init::Regenerate {
            regenerate(&path, name, &text, hash, marker, made)?;
        }
    }
    if marker.templates != before {
        marker.write(root)?;
    }
    Ok(())
}

/// Writes a template anew if it is still what we wrote; a person's edit is never touched.
fn regenerate(
    path: &Path,
    name: &str,
    text: &str,
    hash: String,
    marker: &mut Marker,
    made: &mut Made,
) -> Result<(), Failure> {
    let now = read_bounded(path, 4 << 20).map_err(|error| file_failure(Code::W004, &error))?;
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
        .map_err(|error| file_failure(Code::W004, &error))?;
    made.made.push(name.to_owned());
    marker.templates.insert(name.to_owned(), hash);
    Ok(())
}

/// Settings may be shared; what stands in a private folder is not.
fn mode_of(template: &str) -> u32 {
    match template {
        DASHBOARD => PRIVATE_FILE,
        _ => 0o644,
    }
}

/// Tells whether a file is a template as `init` writes it.
pub(crate) fn is_own_template(root: &Path, name: &Path) -> bool {
    if name != Path::new(DASHBOARD) {
        return false;
    }
    let now = read_bounded(&root.join(name), 4 << 20).unwrap_or_default();
    hash_of(&String::from_utf8_lossy(&now)) == hash_of(&dashboard())
}

/// Returns the hash of a template without what Artel writes into it later.
fn hash_of(text: &str) -> String {
    blake3::hash(outside(text).as_bytes()).to_hex().to_string()
}
