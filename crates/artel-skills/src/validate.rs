//! Strict validation of a `SKILL.md`, on its text alone.

use crate::FileComplaint;
use crate::front::{self, FrontmatterStrictness};
use crate::split::{FrontmatterSplit, MOST_BYTES, MOST_FRONT_BYTES, check_body, split};
use crate::yaml::{self, YamlError, YamlKey, YamlNode, YamlValue};

/// Returns all faults in the text of a `SKILL.md`; an empty list means that it follows the
/// format. `dir` is the name or path of its folder, if it has one. Only the form is
/// checked, not whether a file, a model or a tool exists.
pub fn validate_skill(text: &str, dir: Option<&str>) -> Vec<FileComplaint> {
    let (parts, mut complaints) = match open(text) {
        Ok(opened) => opened,
        Err(complaint) => return vec![complaint],
    };
    match yaml::parse(parts.front) {
        Err(error) => complaints.push(broken(error)),
        Ok(node) => {
            let map = map(&node, &mut complaints);
            let name = dir.and_then(|dir| dir.trim_end_matches('/').rsplit('/').next());
            complaints.extend(front::read(map, name, FrontmatterStrictness::Strict, 1).complaints);
        }
    }
    complaints.extend(check_body(&parts));
    complaints
}

/// Splits a text for strict validation, which complains about a byte order mark.
pub(crate) fn open(
    text: &str,
) -> Result<(FrontmatterSplit<'_>, Vec<FileComplaint>), FileComplaint> {
    if text.len() > MOST_BYTES + MOST_FRONT_BYTES {
        let field = split(text).map_or("frontmatter", |_| "body");
        let message = format!("the file is larger than {} KiB", MOST_BYTES / 1024);
        return Err(FileComplaint::new(field, message));
    }
    let parts = split(text)?;
    let mark = parts.has_mark.then(|| {
        FileComplaint::new(
            "frontmatter",
            "a byte order mark stands before the first line",
        )
        .at(1)
        .advise("save the file as UTF-8 without it: other readers do not see the frontmatter")
    });
    Ok((parts, mark.into_iter().collect()))
}

/// Returns the entries of a frontmatter. Adds a complaint if it is not a map.
pub(crate) fn map<'n>(
    node: &'n YamlNode,
    complaints: &mut Vec<FileComplaint>,
) -> &'n [(YamlKey, YamlNode)] {
    match &node.value {
        YamlValue::Map(entries) => entries,
        YamlValue::Scalar { text, .. } if text.is_empty() => {
            complaints.push(FileComplaint::new("frontmatter", "it is empty").at(1));
            &[]
        }
        _ => {
            let message = "it is not a map of fields such as `name: pdf`";
            complaints.push(FileComplaint::new("frontmatter", message).at(node.line + 1));
            &[]
        }
    }
}

/// Returns the complaint about YAML that could not be parsed.
pub(crate) fn broken(error: YamlError) -> FileComplaint {
    let field = match error.duplicate.first() {
        Some(key) => crate::complaint::shown(key),
        None => "frontmatter".to_owned(),
    };
    let complaint = FileComplaint::new(field, error.message).at(error.line + 1);
    match error.remedy {
        Some(remedy) => complaint.advise(remedy),
        None => complaint,
    }
}
