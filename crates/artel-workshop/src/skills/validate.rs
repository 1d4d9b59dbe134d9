//! The strict check of skills, both for people's files and for batches of JSON lines.

use std::path::{Path, PathBuf};

use artel_files::read_bounded;
use artel_skills::{
    FileComplaint, Remark, SkillOrigin, SkillSizeEnforcement, cases, empty_body, load,
    validate_request, validate_skill,
};
use artel_types::{Failure, FailureCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::caller::CommandContext;
use crate::trouble::{WorkshopFailures, file_failure, path_text};

/// Largest file that is checked, in bytes. No `SKILL.md` may be this large.
const LARGEST: u64 = 4 << 20;

/// Longest message, in characters. Most of a longer one would be the value it complains
/// about.
const LONGEST: usize = 200;

/// The result of checking a `SKILL.md`.
#[derive(Debug, Clone, Serialize)]
pub struct SkillFileCheck {
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Whether there are no errors.
    pub ok: bool,
    pub errors: Vec<FileComplaint>,
    /// Things that work, but could be better.
    pub warnings: Vec<Remark>,
}

#[derive(Deserialize)]
struct SkillValidationCase {
    kind: String,
    dir: Option<String>,
    text: String,
}

/// Checks one line of a batch, `{"kind", "dir"?, "text"}`, and returns `{"ok", "errors"}`
/// with `warnings` if there are any.
pub fn validate_skill_line(line: &str) -> String {
    let mut warnings = Vec::new();
    let errors = match serde_json::from_str::<SkillValidationCase>(line) {
        Err(error) => vec![json!({
            "field": "line",
            "message": cut(&format!("it is not a case in JSON: {error}")),
        })],
        Ok(line) => {
            warnings.extend(empty_body(&line.text).iter().map(shown));
            let complaints = match line.kind.as_str() {
                "skill" => Ok(validate_skill(&line.text, line.dir.as_deref())),
                "request" => Ok(validate_request(&line.text)),
                other => Err(format!("`{other}` is none of skill, request")),
            };
            match complaints {
                Ok(complaints) => complaints.iter().map(shown).collect(),
                Err(message) => vec![json!({ "field": "kind", "message": cut(&message) })],
            }
        }
    };
    let mut answer = json!({ "ok": errors.is_empty(), "errors": errors });
    if !warnings.is_empty() {
        answer["warnings"] = warnings.into();
    }
    answer.to_string()
}

fn shown(complaint: &FileComplaint) -> serde_json::Value {
    json!({ "field": complaint.field, "message": complaint.message })
}

fn cut(message: &str) -> String {
    message.chars().take(LONGEST).collect()
}

impl CommandContext {
    /// Checks skills by their folders or files. Without paths, checks the skill in the current
    /// folder, or else all skills that are found from there. This needs no workshop and makes
    /// none.
    pub fn validate_skills(
        &self,
        paths: &[PathBuf],
    ) -> Result<Vec<SkillFileCheck>, WorkshopFailures> {
        let files = match paths {
            [] => self.skill_files()?,
            paths => paths.iter().map(|path| file_of(self, path)).collect(),
        };
        let checked = files.iter().map(|file| self.validate(file));
        checked
            .collect::<Result<_, _>>()
            .map_err(WorkshopFailures::from)
    }

    /// Returns the folder of a skill, even of one that cannot be loaded.
    pub fn skill_folder(&self, name: &str) -> Result<PathBuf, WorkshopFailures> {
        let found = self.skills_here()?.found;
        let is_it = |path: &Path| path.file_name().is_some_and(|it| it == name);
        let broken = found.broken.iter().find(|it| is_it(&it.path));
        match (found.get(name), broken) {
            (Ok(skill), _) => Ok(skill.folder.clone()),
            (Err(_), Some(broken)) => Ok(broken.path.clone()),
            (Err(failure), None) => Err(failure.into()),
        }
    }

    fn skill_files(&self) -> Result<Vec<PathBuf>, WorkshopFailures> {
        if self.absolute("SKILL.md".as_ref()).is_file() {
            return Ok(vec!["SKILL.md".into()]);
        }
        let found = self.skills_here()?.found;
        let skills = found.skills.into_iter().map(|skill| skill.folder);
        let shadowed = found.shadowed.into_iter().map(|it| it.path);
        let broken = found.broken.into_iter().map(|it| it.path);
        let folders = skills.chain(shadowed).chain(broken);
        Ok(folders.map(|folder| folder.join("SKILL.md")).collect())
    }

    fn validate(&self, file: &Path) -> Result<SkillFileCheck, Failure> {
        let at = self.absolute(file);
        if !at.exists() {
            let what = format!("there is no file `{}`", file.display());
            return Err(Failure::new(FailureCode::W010, what)
                .advise("name a skill's folder, or its `SKILL.md`"));
        }
        let bytes =
            read_bounded(&at, LARGEST).map_err(|error| file_failure(FailureCode::W008, &error))?;
        let folder = at.parent().map(|folder| {
            let whole = folder.canonicalize();
            whole.unwrap_or_else(|_| folder.to_owned())
        });
        let is_named = at.file_name().is_some_and(|name| name == "SKILL.md");
        let folder = folder.filter(|_| is_named);
        let name = folder.as_deref().and_then(Path::file_name);
        let name = name.map(|name| name.to_string_lossy().into_owned());
        let mut errors = match std::str::from_utf8(&bytes) {
            Ok(text) => validate_skill(text, name.as_deref()),
            Err(bad) => vec![not_text(&bytes, bad.valid_up_to())],
        };
        let text = std::str::from_utf8(&bytes).ok();
        let mut warnings: Vec<Remark> = text.and_then(empty_body).into_iter().collect();
        if let Some(folder) = &folder {
            match load(folder, SkillOrigin::User, SkillSizeEnforcement::Warn) {
                Ok(skill) => warnings.extend(beside(&errors, skill.remarks)),
                // A reason why the skill cannot be loaded is an error, too.
                Err(complaints) => errors.extend(beside(&errors, complaints)),
            }
            errors.extend(cases::read(folder).err().into_iter().flatten());
        }
        for complaint in errors.iter_mut().chain(&mut warnings) {
            let place = complaint.file.as_ref();
            if place.is_none_or(|place| place.ends_with("SKILL.md")) {
                complaint.file = Some(file.to_owned());
            }
        }
        Ok(SkillFileCheck {
            path: file.to_owned(),
            ok: errors.is_empty(),
            errors,
            warnings,
        })
    }
}

/// Leaves out complaints about a place that has one already.
fn beside(said: &[FileComplaint], complaints: Vec<FileComplaint>) -> Vec<FileComplaint> {
    let is_new = |complaint: &FileComplaint| {
        let same = |it: &FileComplaint| (it.line, &it.field) == (complaint.line, &complaint.field);
        !said.iter().any(same)
    };
    complaints.into_iter().filter(is_new).collect()
}

fn not_text(bytes: &[u8], valid: usize) -> FileComplaint {
    let before = bytes.get(..valid).unwrap_or_default();
    FileComplaint {
        file: None,
        line: Some(before.iter().filter(|byte| **byte == b'\n').count() + 1),
        field: "body".to_owned(),
        message: "it is not UTF-8".to_owned(),
        remedy: Some("save the file as UTF-8".to_owned()),
    }
}

fn file_of(caller: &CommandContext, path: &Path) -> PathBuf {
    if caller.absolute(path).is_dir() {
        return path.join("SKILL.md");
    }
    path.to_owned()
}
