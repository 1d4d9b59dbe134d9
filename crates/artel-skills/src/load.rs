//! Loads one skill from its folder.

use std::path::Path;

use artel_files::{RootFolder, RootFolderError};

use crate::folder::{self, any};
use crate::front::{self, FrontmatterStrictness, ParsedSkillFrontmatter};
use crate::split::{MOST_BYTES, MOST_FRONT_BYTES, split};
use crate::validate::{broken, map};
use crate::{FileComplaint, Remark, Skill, SkillOrigin, describe, name, prepare, repair, yaml};

/// Number of lines of a `SKILL.md` above which it gets a remark: it is part of every
/// prompt of its run.
pub const MOST_LINES: usize = 500;

/// Treatment of a `SKILL.md` with more than [`MOST_LINES`] lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SkillSizeEnforcement {
    /// Loading adds a remark.
    #[default]
    Warn,
    /// Loading fails, unless the skill says `legacy_large_file: true`.
    Enforce,
}

/// Loads the skill in a folder, or returns everything that keeps it from loading.
///
/// Deviations that other agents accept are accepted with a remark. These stay errors: a
/// missing or unreadable `SKILL.md`, a missing description, values that are out of range
/// or would change what the skill may do, and duplicate keys.
pub fn load(
    folder: &Path,
    scope: SkillOrigin,
    limit: SkillSizeEnforcement,
) -> Result<Skill, Vec<FileComplaint>> {
    let file = folder.join("SKILL.md");
    let place = |mut complaint: FileComplaint| {
        complaint.file.get_or_insert_with(|| file.clone());
        complaint
    };
    let root = RootFolder::open(folder).map(RootFolder::across_mounts);
    let root = root.map_err(|error| vec![place(unreadable(&error))])?;
    let skill = read(&root, scope, limit);
    skill
        .map(|mut skill| {
            skill.remarks = skill.remarks.into_iter().map(place).collect();
            skill
        })
        .map_err(|complaints| complaints.into_iter().map(place).collect())
}

fn read(
    root: &RootFolder,
    scope: SkillOrigin,
    limit: SkillSizeEnforcement,
) -> Result<Skill, Vec<FileComplaint>> {
    let most = (MOST_BYTES + MOST_FRONT_BYTES) as u64;
    let bytes = root.read(Path::new("SKILL.md"), most, &any);
    let bytes = bytes.map_err(|error| vec![unreadable(&error)])?;
    let (text, mut remarks) = decode(&bytes);
    let parts = split(&text).map_err(|complaint| vec![complaint])?;
    let folder_name = root
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let reading = fields(parts.front, folder_name.as_deref(), &mut remarks)?;
    let lines = text.lines().count();
    remarks.extend(size(&reading, lines, limit).map_err(|complaint| vec![complaint])?);
    remarks.extend(commands(parts.body, parts.body_line));

    let mut inventory = folder::take(root).map_err(|complaint| vec![complaint])?;
    describe::describe(parts.body, &mut inventory.files);
    let ParsedSkillFrontmatter {
        name,
        description,
        front,
        ..
    } = reading;
    remarks.extend(reading.remarks);
    remarks.extend(inventory.remarks);
    Ok(Skill {
        name: usable_name(name, folder_name, &mut remarks),
        description: description.unwrap_or_default().trim().to_owned(),
        folder: root.path().to_owned(),
        scope,
        front,
        body: parts.body.to_owned(),
        lines,
        bytes: bytes.len() as u64,
        hash: inventory.hash,
        files: inventory.files,
        scripts: inventory.scripts,
        remarks,
    })
}

fn decode(bytes: &[u8]) -> (String, Vec<Remark>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), Vec::new()),
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let remark = FileComplaint::new("body", "it is not UTF-8; unknown letters show as `�`")
                .at(line)
                .advise("save the file as UTF-8");
            (String::from_utf8_lossy(bytes).into_owned(), vec![remark])
        }
    }
}

/// Reads the fields, and repairs values that only lack quotes.
fn fields(
    front: &str,
    folder: Option<&str>,
    remarks: &mut Vec<Remark>,
) -> Result<ParsedSkillFrontmatter, Vec<FileComplaint>> {
    let node = match yaml::parse(front) {
        Ok(node) => node,
        Err(error) => {
            let mended = repair::repair(front).and_then(|text| yaml::parse(&text).ok());
            let remark = broken(error);
            match mended {
                Some(node) if remark.field == "frontmatter" => {
                    remarks.push(remark);
                    node
                }
                _ => return Err(vec![remark]),
            }
        }
    };
    let mut complaints = Vec::new();
    let map = map(&node, &mut complaints);
    let mut reading = front::read(map, folder, FrontmatterStrictness::Lenient, 1);
    complaints.append(&mut reading.complaints);
    if complaints.is_empty() {
        return Ok(reading);
    }
    Err(complaints)
}

fn size(
    reading: &ParsedSkillFrontmatter,
    lines: usize,
    limit: SkillSizeEnforcement,
) -> Result<Option<Remark>, FileComplaint> {
    if lines <= MOST_LINES {
        return Ok(None);
    }
    let message = format!("SKILL.md has {lines} lines; at most {MOST_LINES} should be in it");
    let complaint = FileComplaint::new("body", message).at(MOST_LINES + 1);
    let places = "move API details and specifications to `reference.md`, usage to `examples.md`, \
                  boilerplate to `templates/`";
    if reading.front.legacy_large_file {
        return Ok(Some(
            complaint.advise(format!("{places}, then take `legacy_large_file` out")),
        ));
    }
    match limit {
        SkillSizeEnforcement::Warn => Ok(Some(complaint.advise(places))),
        SkillSizeEnforcement::Enforce => Err(complaint.advise(format!(
            "{places}; `legacy_large_file: true` lets it load meanwhile"
        ))),
    }
}

/// Warns the author about commands that can never run.
fn commands(body: &str, body_line: usize) -> Vec<Remark> {
    prepare::placed_commands(body)
        .into_iter()
        .filter_map(|(line, command)| {
            let refused = prepare::check_command(command).err()?;
            let shown = crate::complaint::shown(command);
            let message = format!("the command `{shown}` will not run: {refused}");
            Some(FileComplaint::new("body", message).at(body_line + line))
        })
        .collect()
}

fn usable_name(name: Option<String>, folder: Option<String>, remarks: &mut Vec<Remark>) -> String {
    let folder = folder.unwrap_or_else(|| "skill".into());
    match name {
        Some(name) if name::is_usable(&name) => name,
        given => {
            if given.is_some() {
                let message = format!("the folder's name, `{folder}`, is used instead");
                remarks.push(FileComplaint::new("name", message));
            }
            folder
        }
    }
}

fn unreadable(error: &RootFolderError) -> FileComplaint {
    let complaint = FileComplaint::new("frontmatter", error.to_string());
    if error.is_missing() {
        return complaint.advise("a skill is a folder with a file named exactly `SKILL.md`");
    }
    complaint
}
