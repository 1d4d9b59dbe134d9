//! Strict validation of a `SKILL.md`, on its text alone.

use crate::Complaint;
use crate::front::{self, Manner};
use crate::split::{MOST_BYTES, MOST_FRONT_BYTES, Parts, check_body, split};
use crate::yaml::{self, Key, Node, Value, YamlError};

/// Returns all faults in the text of a `SKILL.md`; an empty list means that it follows the
/// format. `dir` is the name or path of its folder, if it has one. Only the form is
/// checked, not whether a file, a model or a tool exists.
pub fn validate_skill(text: &str, dir: Option<&str>) -> Vec<Complaint> {
    let (parts, mut complaints) = match open(text) {
        Ok(opened) => opened,
        Err(complaint) => return vec![complaint],
    };
    match yaml::parse(parts.front) {
        Err(error) => complaints.push(broken(error)),
        Ok(node) => {
            let map = map(&node, &mut complaints);
            let name = dir.and_then(|dir| dir.trim_end_matches('/').rsplit('/').next());
            complaints.extend(front::read(map, name, Manner::Strict, 1).complaints);
        }
    }
    complaints.extend(check_body(&parts));
    complaints
}

/// Splits a text for strict validation, which complains about a byte order mark.
pub(crate) fn open(text: &str) -> Result<(Parts<'_>, Vec<Complaint>), Complaint> {
    if text.len() > MOST_BYTES + MOST_FRONT_BYTES {
        let field = split(text).map_or("frontmatter", |_| "body");
        let message = format!("the file is larger than {} KiB", MOST_BYTES / 1024);
        return Err(Complaint::new(field, message));
    }
    let parts = split(text)?;
    let mark = parts.has_mark.then(|| {
        Complaint::new(
            "frontmatter",
            "a byte order mark stands before the first line",
        )
        .at(1)
        .advise("save the file as UTF-8 without it: other readers do not see the frontmatter")
    });
    Ok((parts, mark.into_iter().collect()))
}

/// Returns the entries of a frontmatter. Adds a complaint if it is not a map.
pub(crate) fn map<'n>(node: &'n Node, complaints: &mut Vec<Complaint>) -> &'n [(Key, Node)] {
    match &node.value {
        Value::Map(entries) => entries,
        Value::Scalar { text, .. } if text.is_empty() => {
            complaints.push(Complaint::new("frontmatter", "it is empty").at(1));
            &[]
        }
        _ => {
            let message = "it is not a map of fields such as `name: pdf`";
            complaints.push(Complaint::new("frontmatter", message).at(node.line + 1));
            &[]
        }
    }
}

/// Returns the complaint about YAML that could not be parsed.
pub(crate) fn broken(error: YamlError) -> Complaint {
    let field = match error.duplicate.first() {
        Some(key) => crate::complaint::shown(key),
        None => "frontmatter".to_owned(),
    };
    let complaint = Complaint::new(field, error.message).at(error.line + 1);
    match error.remedy {
        Some(remedy) => complaint.advise(remedy),
        None => complaint,
    }
}
