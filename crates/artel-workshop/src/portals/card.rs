//! Writes the page of a portal in `Knowledge/Portals`, which tells agents and people about
//! the project. Everything from `## Notes` on is the person's and is kept byte for byte.
//! Text that they wrote above the heading is moved below it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use artel_files::{make_dirs, read_bounded, write_atomic};
use artel_journal::{EventFilter, EventQuery};
use artel_types::{Fact, Failure, FailureCode};

use super::Portal;
use crate::private::{PRIVATE_FILE, PRIVATE_FOLDER};
use crate::trouble::file_failure;
use crate::workshop::Workshop;

const NOTES: &[u8] = b"## Notes";

/// Size limit of a page, in bytes; far more than anybody notes about a project.
const LARGEST: u64 = 4 << 20;

impl Workshop {
    /// Returns the path of a portal's page.
    pub fn portal_card(&self, name: &str) -> PathBuf {
        self.root
            .join("Knowledge/Portals")
            .join(format!("{name}.md"))
    }

    /// Writes the page of a portal and keeps the notes in it. Returns a message if text was
    /// moved below the heading of the notes.
    pub(super) fn write_card(&self, portal: &Portal) -> Result<Option<String>, Failure> {
        let file = self.portal_card(&portal.name);
        let failed = |error| file_failure(FailureCode::W008, &error);
        let old = self.read_card(&portal.name)?;
        let mut text = head(portal).into_bytes();
        let mut moved = None;
        match old.as_deref().map(notes) {
            Some(PortalPageNotes::Notes(notes)) => {
                let page = old.as_deref().unwrap_or_default();
                let above = &page[..page.len() - notes.len()];
                let theirs = self.lines_of_a_person(&portal.name, above)?;
                text.extend_from_slice(&with_lines_on_top(notes, &theirs));
                moved = (!theirs.is_empty()).then(|| {
                    let card = self.in_workshop(&file);
                    format!("what you wrote above *Notes* in `{card}` stands below it now")
                });
            }
            Some(PortalPageNotes::Whole(page)) => {
                text.extend_from_slice(b"## Notes\n\n");
                text.extend_from_slice(page);
            }
            None => text.extend_from_slice(b"## Notes\n"),
        }
        if old.as_deref() == Some(text.as_slice()) {
            return Ok(moved);
        }
        make_dirs(&self.root.join("Knowledge/Portals"), PRIVATE_FOLDER).map_err(failed)?;
        write_atomic(&file, &text, PRIVATE_FILE).map_err(failed)?;
        Ok(moved)
    }

    /// Returns the lines above the notes that no page of this portal ever had.
    fn lines_of_a_person(&self, name: &str, above: &[u8]) -> Result<Vec<u8>, Failure> {
        let filter = EventFilter {
            kind: Some("portal.opened".to_owned()),
            ..EventFilter::default()
        };
        let mut known = BTreeSet::new();
        for record in self.reader()?.records(&EventQuery::of(filter))? {
            if let Fact::PortalOpened(fact) = record.event()?.fact
                && fact.name == name
            {
                let head = head(&Portal::from(fact));
                known.extend(head.lines().map(str::to_owned));
            }
        }
        let lines = above.split_inclusive(|&byte| byte == b'\n');
        let theirs = lines.filter(|line| {
            let line = line.trim_ascii_end();
            !line.is_empty() && !str::from_utf8(line).is_ok_and(|it| known.contains(it))
        });
        Ok(theirs.flatten().copied().collect())
    }

    /// Removes the page of a portal, unless a person wrote into it.
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
            Failure::new(FailureCode::W008, format!("`{}` stays", file.display()))
                .because(error.to_string())
                .advise("remove it by hand")
        })
    }

    /// Returns whether the page exists and is up to date.
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
            .map_err(|error| file_failure(FailureCode::W008, &error))
    }
}

/// The part of an existing page that is the person's.
enum PortalPageNotes<'p> {
    /// Everything from the heading of the notes on.
    Notes(&'p [u8]),
    /// The heading is missing, so the whole page may be the person's.
    Whole(&'p [u8]),
}

fn notes(page: &[u8]) -> PortalPageNotes<'_> {
    let mut start = 0;
    for line in page.split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii_end() == NOTES {
            return PortalPageNotes::Notes(&page[start..]);
        }
        start += line.len();
    }
    PortalPageNotes::Whole(page)
}

/// Inserts lines right below the heading of the notes.
fn with_lines_on_top(notes: &[u8], lines: &[u8]) -> Vec<u8> {
    if lines.is_empty() {
        return notes.to_vec();
    }
    let end = notes.iter().position(|&byte| byte == b'\n');
    let (heading, rest) = notes.split_at(end.unwrap_or(notes.len()));
    [heading, b"\n\n", lines, rest.get(1..).unwrap_or_default()].concat()
}

/// Returns the generated part of the page: the frontmatter, and the same facts in words.
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

/// Serializes a text or a list as JSON, which is also valid YAML.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::json!(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use artel_types::model::PrivacyLabel;

    #[test]
    fn notes_begin_with_their_heading_and_are_all_that_is_kept() {
        let page = b"---\nx\n---\n# shop\n## Notes \r\nmine\xff\n## Notes\nmore";
        let PortalPageNotes::Notes(kept) = notes(page) else {
            panic!("there is a heading");
        };
        assert_eq!(kept, b"## Notes \r\nmine\xff\n## Notes\nmore");
        assert!(matches!(
            notes(b"all mine"),
            PortalPageNotes::Whole(b"all mine")
        ));
    }

    #[test]
    fn no_value_can_begin_the_notes() {
        let portal = Portal {
            name: "shop".to_owned(),
            path: "/my \"work\"/shop".into(),
            operations: vec![],
            agents: vec!["*".to_owned()],
            privacy: PrivacyLabel::LocalOnly,
            stack: vec!["C#".to_owned()],
            checks: vec!["make check".to_owned()],
        };
        let head = head(&portal);
        assert!(matches!(notes(head.as_bytes()), PortalPageNotes::Whole(_)));
        assert!(head.contains("path: \"/my \\\"work\\\"/shop\"\n"), "{head}");
        assert!(head.contains("stack: [\"C#\"]\n"), "{head}");
    }
}
