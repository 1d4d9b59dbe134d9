//! `Knowledge/Dashboard.md`: how everything stands, for people who read the workshop as notes.
//!
//! Artel writes what stands between its two marks, from the journal alone; the rest of the page is
//! the person's. The blocks for Dataview name folders from the workshop's root, and only fields
//! that requests, plans and reports carry.

use artel_files::{read_bounded, write_atomic};
use artel_rules::request::file::Status;
use artel_types::plan::PlanState;
use artel_types::{Code, Failure, Timestamp};

use super::changeset::title_of;
use super::report::rows_of;
use super::waiting::WaitSort;
use super::work::Work;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// The page, in the workshop.
pub(crate) const PAGE: &str = "Knowledge/Dashboard.md";

const BEGIN: &str = "<!-- artel: this part is written anew -->";
const END: &str = "<!-- artel: from here on it is yours -->";
/// Larger pages are left alone.
const LARGEST: u64 = 4 << 20;
/// So many entries a list has.
const MOST: usize = 20;

const QUERIES: &str = "\
### With Dataview

These lists are filled by the Dataview plugin where the vault is opened at the workshop's folder.

```dataview
TABLE status, agent, portal, created FROM \"Inbox/Active\" WHERE trace_id SORT created DESC LIMIT 10
```

```dataview
TABLE version, agent, portal, created FROM \"Inbox/Plans\" WHERE status = \"review\" SORT created DESC LIMIT 5
```

```dataview
TABLE status, agent, portal, completed_at, cost FROM \"Knowledge/Reports\" WHERE trace_id SORT completed_at DESC LIMIT 10
```

```dataview
TABLE agent, portal, completed_at FROM \"Knowledge/Reports\" WHERE status = \"failed\" SORT completed_at DESC LIMIT 5
```
";

/// What a new workshop has, and an old one whose page nobody changed.
pub(crate) fn template() -> String {
    let head = "---\ntitle: Dashboard\naliases: [Artel]\ntags: [artel]\n---\n\n# Dashboard\n\n\
        What waits for you, what runs, what is done. Artel keeps the part between its two marks \
        current.\n\n";
    let tail = "\n## Notes\n\n\
        - Requests go into `Inbox/Requests`.\n\
        - Plans that wait for you are in `Inbox/Plans`.\n\
        - Reports are in `Knowledge/Reports`.\n";
    format!("{head}{BEGIN}\n{END}\n{tail}")
}

/// Returns a page without what Artel wrote into it.
pub(crate) fn outside(page: &str) -> String {
    match split(page) {
        Some((before, after)) => format!("{before}{BEGIN}\n{END}{after}"),
        None => page.to_owned(),
    }
}

impl Workshop {
    /// Writes the dashboard as things stand, if it says something else. A page that a person took
    /// away does not come back by itself.
    pub fn write_dashboard(&self) -> Result<(), Failure> {
        let file = self.root.join(PAGE);
        if file.symlink_metadata().is_err() {
            return Ok(());
        }
        let failed = |error| file_failure(Code::W008, &error);
        let bytes = read_bounded(&file, LARGEST).map_err(failed)?;
        let page = String::from_utf8(bytes).map_err(|_| {
            Failure::new(Code::W008, format!("`{PAGE}` is no text"))
                .advise("save it in UTF-8, or remove it; `artel init` makes it anew")
        })?;
        let part = self.redactor().redact(&self.dashboard()?).into_owned();
        let (before, after) = match split(&page) {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            None => {
                let gap = if page.ends_with('\n') { "\n" } else { "\n\n" };
                (format!("{page}{gap}"), "\n".to_owned())
            }
        };
        let now = format!("{before}{BEGIN}\n{part}{END}{after}");
        if now == page {
            return Ok(());
        }
        write_atomic(&file, now.as_bytes(), 0o644).map_err(failed)
    }

    /// Returns the part of the page that Artel writes.
    fn dashboard(&self) -> Result<String, Failure> {
        let works = self.works()?;
        // What was left is taken up by the daemon; nobody is needed for it.
        let mut waits = self.waiting()?;
        waits.retain(|it| it.kind != WaitSort::Left);
        let active: Vec<&Work> = works.iter().filter(|work| is_active(work)).collect();
        let planned: Vec<&Work> = works.iter().filter(|it| !it.versions.is_empty()).collect();
        let mut reports: Vec<_> = works.iter().flat_map(rows_of).collect();
        reports.sort_by_key(|row| std::cmp::Reverse(row.at));
        let with = |wanted: Status| works.iter().filter(|it| it.status() == wanted).count();
        let mut text = format!(
            "\n| Needs you | Active | Pending | Done | Failed |\n| --- | --- | --- | --- | --- |\n\
             | {} | {} | {} | {} | {} |\n",
            waits.len(),
            active.len(),
            with(Status::Pending) + with(Status::Processing),
            with(Status::Done) + with(Status::Answered),
            with(Status::Failed),
        );
        let waiting = waits.iter().map(|it| {
            let command = it.commands.last().map_or("", String::as_str);
            let link = match works.iter().find(|work| work.trace == it.trace) {
                Some(work) => named(work, &it.title),
                None => plain(&it.title),
            };
            let (kind, text) = (it.kind.as_str(), plain(&it.text));
            format!("{kind}: {link}, {text}; `{}`", command.replace('`', "'"))
        });
        list(&mut text, "Needs You", waiting);
        let active = active.iter().map(|work| {
            let state = work.course.state().map_or("", PlanState::as_str);
            format!("{}, {state}, since {}", entry(work), day(work.at))
        });
        list(&mut text, "Active Tasks", active);
        let recent = planned.iter().map(|work| {
            let state = work.course.state().map_or("", PlanState::as_str);
            let at = work.versions.last().map_or(work.at, |it| it.at);
            format!("{}, {state}, {}", entry(work), day(at))
        });
        list(&mut text, "Recent Plans", recent);
        let told = reports.iter().map(|row| {
            let file = row.path.strip_suffix(".md").unwrap_or(&row.path);
            let (title, status) = (plain(&row.title), &row.status);
            format!("[[{file}|{title}]], {status}, {}", day(row.at))
        });
        list(&mut text, "Reports", told);
        let failed = works.iter().filter(|it| it.status() == Status::Failed);
        list(
            &mut text,
            "Failed",
            failed.map(|work| format!("{}, {}", entry(work), day(work.at))),
        );
        Ok(format!("{text}\n{QUERIES}\n"))
    }
}

fn split(page: &str) -> Option<(&str, &str)> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after))
}

fn is_active(work: &Work) -> bool {
    matches!(
        work.course.state(),
        Some(PlanState::Approved | PlanState::Running)
    )
}

fn entry(work: &Work) -> String {
    named(work, &title_of(work))
}

/// Returns a link to the plan of a piece of work, or to its request where there is none yet. Plans
/// move from folder to folder, so they are named by their file alone.
fn named(work: &Work, title: &str) -> String {
    let target = match work.versions.is_empty() {
        false => format!("{}_plan", work.name()),
        true => {
            let file = work.request.file.as_str();
            file.strip_suffix(".md").unwrap_or(file).to_owned()
        }
    };
    format!("[[{target}|{}]]", plain(title))
}

/// Returns a text in which nothing counts as Markdown, a link or a mark of ours, on one line.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().take(200).collect();
    text.replace(['[', ']', '|', '<', '>', '`', '*', '_', '#'], "")
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn list(text: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    text.push_str(&format!("\n## {title}\n\n"));
    if entries.is_empty() {
        text.push_str("Nothing.\n");
    }
    for entry in entries.iter().take(MOST) {
        text.push_str(&format!("- {entry}\n"));
    }
    if let Some(more) = entries.len().checked_sub(MOST).filter(|more| *more > 0) {
        text.push_str(&format!("- and {more} more\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_becomes_a_link_or_a_mark() {
        let hostile = format!("a\n{END} [[x|y]] `c` {BEGIN}");
        let shown = plain(&hostile);
        assert!(!shown.contains(BEGIN) && !shown.contains(END));
        assert!(!shown.contains(['[', ']', '|', '`', '<', '\n']), "{shown}");
    }

    #[test]
    fn what_is_outside_of_the_marks_is_the_same_whatever_is_inside() {
        let page = template();
        let filled = page.replace(BEGIN, &format!("{BEGIN}\n\n## Needs You\n"));
        assert!(filled != page);
        assert_eq!(outside(&filled), outside(&page));
        assert_eq!(outside(&page), page);
        assert_eq!(outside("mine"), "mine");
    }
}
