//! The card of a portal: a page in `Knowledge/Portals` that tells agents and people what the
//! project is. Everything from `## Notes` on is the person's, and stays byte for byte.

use std::path::PathBuf;

use artel_files::{make_dirs, read_bounded, write_atomic};
use artel_types::{Code, Failure};

use super::Portal;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

const NOTES: &[u8] = b"## Notes";

/// More than anybody notes about a project.
const LARGEST: u64 = 4 << 20;

impl Workshop {
    /// Returns where the card of a portal is.
    pub fn portal_card(&self, name: &str) -> PathBuf {
        self.root
            .join("Knowledge/Portals")
            .join(format!("{name}.md"))
    }

    /// Writes the card of a portal, with the notes that are in it already.
    pub(super) fn write_card(&self, portal: &Portal) -> Result<(), Failure> {
        let file = self.portal_card(&portal.name);
        let failed = |error| file_failure(Code::W008, &error);
        let old = self.read_card(&portal.name)?;
        let mut text = head(portal).into_bytes();
        match old.as_deref().map(notes) {
            Some(Kept::Notes(notes)) => text.extend_from_slice(notes),
            Some(Kept::Whole(page)) => {
                text.extend_from_slice(b"## Notes\n\n");
                text.extend_from_slice(page);
            }
            None => text.extend_from_slice(b"## Notes\n"),
        }
        if old.as_deref() == Some(text.as_slice()) {
            return Ok(());
        }
        make_dirs(&self.root.join("Knowledge/Portals"), 0o755).map_err(failed)?;
        write_atomic(&file, &text, 0o644).map_err(failed)
    }

    /// Removes the card of a portal, unless a person wrote into it.
    pub(super) fn drop_card(&self, portal: &Portal) -> Result<(), Failure> {
        let Some(page) = self.read_card(&portal.name)? else {
            return Ok(());
        };
        let mut ours = head(portal).into_bytes();
        ours.extend_from_slice(b"## Notes\n");
        if page != ours {
            return Ok(());
        }
        let file = self.portal_card(&portal.name);
        std::fs::remove_file(&file).map_err(|error| {
            Failure::new(Code::W008, format!("`{}` stays", file.display()))
                .because(error.to_string())
                .advise("remove it by hand")
        })
    }

    /// Tells whether the card is there and says what holds.
    pub(super) fn has_current_card(&self, portal: &Portal) -> bool {
        let page = self.read_card(&portal.name).ok().flatten();
        page.is_some_and(|page| page.starts_with(head(portal).as_bytes()))
    }

    fn read_card(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let file = self.portal_card(name);
        if file.symlink_metadata().is_err() {
            return Ok(None);
        }
        let page = read_bounded(&file, LARGEST);
        page.map(Some)
            .map_err(|error| file_failure(Code::W008, &error))
    }
}

/// What of an old page is the person's.
enum Kept<'p> {
    /// What begins with the heading.
    Notes(&'p [u8]),
    /// The heading is gone: all of it could be theirs.
    Whole(&'p [u8]),
}

fn notes(page: &[u8]) -> Kept<'_> {
    let mut start = 0;
    for line in page.split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii_end() == NOTES {
            return Kept::Notes(&page[start..]);
        }
        start += line.len();
    }
    Kept::Whole(page)
}

/// Returns the part that is written anew: frontmatter and what it says in words.
fn head(portal: &Portal) -> String {
    let words: Vec<&str> = portal.operations.iter().map(|it| it.as_str()).collect();
    let path = portal.path.display().to_string();
    let list = |items: &[String], none: &str| match items {
        [] => none.to_owned(),
        items => items.join(", "),
    };
    let mut text = String::from("---\n");
    text.push_str(&format!("portal: {}\n", json(&portal.name)));
    text.push_str(&format!("path: {}\n", json(&path)));
    text.push_str(&format!("operations: [{}]\n", words.join(", ")));
    text.push_str(&format!("agents: {}\n", json(&portal.agents)));
    text.push_str(&format!("privacy: {}\n", portal.privacy_word()));
    text.push_str(&format!("stack: {}\n", json(&portal.stack)));
    text.push_str(&format!("---\n\n# {}\n\n", portal.name));
    text.push_str(&format!("- Path: `{path}`\n"));
    text.push_str(&format!(
        "- Tech stack: {}\n",
        list(&portal.stack, "not known")
    ));
    text.push_str(&format!(
        "- Checks: {}\n\n",
        list(&portal.checks, "as detected")
    ));
    text
}

/// Returns text or a list as JSON, which YAML reads as it is.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::json!(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use artel_types::model::Privacy;

    #[test]
    fn notes_begin_with_their_heading_and_are_all_that_is_kept() {
        let page = b"---\nx\n---\n# shop\n## Notes \r\nmine\xff\n## Notes\nmore";
        let Kept::Notes(kept) = notes(page) else {
            panic!("there is a heading");
        };
        assert_eq!(kept, b"## Notes \r\nmine\xff\n## Notes\nmore");
        assert!(matches!(notes(b"all mine"), Kept::Whole(b"all mine")));
    }

    #[test]
    fn no_value_can_begin_the_notes() {
        let portal = Portal {
            name: "shop".to_owned(),
            path: "/my \"work\"/shop".into(),
            operations: vec![],
            agents: vec!["*".to_owned()],
            privacy: Privacy::LocalOnly,
            stack: vec!["C#".to_owned()],
            checks: vec!["make check".to_owned()],
        };
        let head = head(&portal);
        assert!(matches!(notes(head.as_bytes()), Kept::Whole(_)));
        assert!(head.contains("path: \"/my \\\"work\\\"/shop\"\n"), "{head}");
        assert!(head.contains("stack: [\"C#\"]\n"), "{head}");
    }
}
