//! Creates new skills in the workshop.

use std::path::PathBuf;

use artel_files::{create_new, make_dir, make_dirs};
use artel_skills::{template, validate_skill};
use artel_types::{Failure, FailureCode};
use serde::Serialize;

use crate::trouble::{file_failure, path_text};
use crate::workshop::Workshop;

/// A new skill.
#[derive(Debug, Clone, Serialize)]
pub struct NewSkill {
    pub name: String,
    #[serde(serialize_with = "path_text")]
    pub folder: PathBuf,
    /// The skill's files, relative to its folder.
    pub files: Vec<String>,
}

impl Workshop {
    /// Creates a skill in the workshop's `Skills`. Existing files are never overwritten.
    pub fn new_skill(&self, name: &str) -> Result<NewSkill, Failure> {
        let files = template::files(name);
        for (path, text) in &files {
            // A bad name shows up in the generated text, before the name becomes part of a path.
            if *path == "SKILL.md"
                && let Some(complaint) = validate_skill(text, Some(name)).first()
            {
                let shown: String = name.chars().take(80).collect();
                let what = format!("`{shown}` is no name for a skill");
                return Err(Failure::new(FailureCode::C004, what)
                    .because(complaint.message.clone())
                    .advise("`artel skill new csv-report`"));
            }
        }
        let folder = self.root.join("Skills").join(name);
        if folder.symlink_metadata().is_ok() {
            let what = format!("there is a skill in `{}` already", folder.display());
            return Err(Failure::new(FailureCode::C004, what)
                .advise("choose another name, or edit that one"));
        }
        let failed = |error| file_failure(FailureCode::W008, &error);
        make_dirs(&self.root.join("Skills"), 0o755).map_err(failed)?;
        make_dir(&folder, 0o755).map_err(failed)?;
        for (path, text) in &files {
            let file = folder.join(path);
            if let Some(parent) = file.parent() {
                make_dirs(parent, 0o755).map_err(failed)?;
            }
            create_new(&file, text.as_bytes(), 0o644).map_err(failed)?;
        }
        Ok(NewSkill {
            name: name.to_owned(),
            folder,
            files: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        })
    }
}
