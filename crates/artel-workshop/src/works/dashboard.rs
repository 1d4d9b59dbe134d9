//! `Knowledge/Dashboard.md`: the state of everything, for people who read the workshop as
//! notes.
//!
//! Artel writes the part between its two marks, from the journal alone. The rest of the
//! page belongs to the person. The blocks for Dataview name folders from the workshop's
//! root, and only fields that requests, plans and reports have.

use std::sync::Arc;

use artel_files::{read_bounded, write_atomic};
use artel_rules::request::file::RequestStatus;
use artel_types::plan::PlanState;
use artel_types::{Failure, FailureCode, Timestamp, TraceId};

use super::calls::CallAwaitingApproval;
use super::changeset::title_of;
use super::report::ReportRow;
use super::waiting::{AttentionItem, AttentionKind};
use super::work::Work;
use crate::board::{DriverProcesses, PagedRows, WorkIndexQuery, WorkRow, WorkshopIndex};
use crate::private::PRIVATE_FILE;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// The page's path in the workshop.
pub(crate) const PAGE: &str = "Knowledge/Dashboard.md";

const BEGIN: &str = "<!-- artel: this part is written anew -->";
const END: &str = "<!-- artel: from here on it is yours -->";
/// Pages larger than this many bytes are left alone.
const LARGEST: u64 = 4 << 20;
/// Largest number of entries in a list.
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

/// Returns the page for a new workshop, or for an old one whose page nobody changed.
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

/// Returns a page without the part that Artel wrote.
pub(crate) fn outside(page: &str) -> String {
    match split(page) {
        Some((before, after)) => format!("{before}{BEGIN}\n{END}{after}"),
        None => page.to_owned(),
    }
}

/// Everything that the page shows.
#[derive(Debug)]
pub struct DashboardOverview {
    calls: Vec<CallAwaitingApproval>,
    waits: Vec<Arc<AttentionItem>>,
    counts: DashboardCounts,
    active: (Vec<TraceId>, usize),
    planned: (Vec<TraceId>, usize),
    failed: (Vec<TraceId>, usize),
    reports: (Vec<ReportRow>, usize),
}

#[derive(Debug)]
struct DashboardCounts {
    pending: usize,
    done: usize,
}

impl Workshop {
    /// Writes the dashboard if its content would change. A page that a person removed stays
    /// removed.
    pub fn write_dashboard(&self, overview: &DashboardOverview) -> Result<(), Failure> {
        let file = self.root.join(PAGE);
        if file.symlink_metadata().is_err() {
            return Ok(());
        }
        let failed = |error| file_failure(FailureCode::W008, &error);
        let bytes = read_bounded(&file, LARGEST).map_err(failed)?;
        let page = String::from_utf8(bytes).map_err(|_| {
            Failure::new(FailureCode::W008, format!("`{PAGE}` is no text"))
                .advise("save it in UTF-8, or remove it; `artel init` makes it anew")
        })?;
        let part = self
            .redactor()
            .redact(&self.dashboard(overview)?)
            .into_owned();
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
        write_atomic(&file, now.as_bytes(), PRIVATE_FILE).map_err(failed)
    }

    /// Returns the page's content, folded from the journal.
    pub fn overview(&self) -> Result<DashboardOverview, Failure> {
        Ok(DashboardOverview::of(
            &self.board_of_waits()?,
            &self.drivers_now()?,
        ))
    }

    /// Returns Artel's part of the page.
    fn dashboard(&self, overview: &DashboardOverview) -> Result<String, Failure> {
        let counts = &overview.counts;
        let needs = overview.calls.len() + overview.waits.len();
        let mut text = format!(
            "\n| Needs you | Active | Pending | Done | Failed |\n| --- | --- | --- | --- | --- |\n\
             | {} | {} | {} | {} | {} |\n",
            needs, overview.active.1, counts.pending, counts.done, overview.failed.1,
        );
        list(&mut text, "Needs You", &self.needs(overview)?, needs);
        let active = self.entries(&overview.active, |work| {
            let state = work.course.state().map_or("", PlanState::as_str);
            format!("{}, {state}, since {}", entry(work), day(work.at))
        })?;
        list(&mut text, "Active Tasks", &active, overview.active.1);
        let recent = self.entries(&overview.planned, |work| {
            let state = work.course.state().map_or("", PlanState::as_str);
            let at = work.versions.last().map_or(work.at, |it| it.at);
            format!("{}, {state}, {}", entry(work), day(at))
        })?;
        list(&mut text, "Recent Plans", &recent, overview.planned.1);
        let told = overview.reports.0.iter().map(|row| {
            let file = row.path.strip_suffix(".md").unwrap_or(&row.path);
            let (title, status) = (plain(&row.title), &row.status);
            format!("[[{file}|{title}]], {status}, {}", day(row.at))
        });
        let told: Vec<String> = told.collect();
        list(&mut text, "Reports", &told, overview.reports.1);
        let failed = self.entries(&overview.failed, |work| {
            format!("{}, {}", entry(work), day(work.at))
        })?;
        list(&mut text, "Failed", &failed, overview.failed.1);
        Ok(format!("{text}\n{QUERIES}\n"))
    }

    /// Lists what needs a person, with calls awaiting approval first.
    fn needs(&self, overview: &DashboardOverview) -> Result<Vec<String>, Failure> {
        let mut waits = Vec::new();
        for call in overview.calls.iter().take(MOST) {
            let what = self.whole_text(&call.asked.shown)?;
            waits.push(Arc::new(call.waits(what)));
        }
        waits.extend(overview.waits.iter().take(MOST - waits.len()).cloned());
        let told = waits.iter().map(|it| {
            let command = it.commands.last().map_or("", String::as_str);
            let link = match self.work(it.trace) {
                Ok(work) => named(&work, &it.title),
                Err(_) => plain(&it.title),
            };
            let (kind, text) = (it.kind.as_str(), plain(&it.text));
            format!("{kind}: {link}, {text}; `{}`", command.replace('`', "'"))
        });
        Ok(told.collect())
    }

    /// Describes the pieces of work in a list.
    fn entries(
        &self,
        (shown, _): &(Vec<TraceId>, usize),
        told: impl Fn(&Work) -> String,
    ) -> Result<Vec<String>, Failure> {
        let mut entries = Vec::with_capacity(shown.len());
        for trace in shown {
            entries.push(told(&self.work(*trace)?));
        }
        Ok(entries)
    }
}

impl DashboardOverview {
    /// Takes the content from the workshop index, so a caller that keeps an index does no
    /// extra work.
    pub fn of(board: &WorkshopIndex, drivers: &DriverProcesses) -> Self {
        // The daemon resumes work that was left, so it needs no person.
        let mut waits = board.waiting(drivers);
        waits.retain(|it| it.kind != AttentionKind::Left);
        let some = |wanted: WorkIndexQuery| {
            let limit = MOST;
            board.works(&WorkIndexQuery { limit, ..wanted }, drivers)
        };
        let in_state = |state| {
            some(WorkIndexQuery {
                state: Some(state),
                ..WorkIndexQuery::default()
            })
        };
        let with = |status| {
            some(WorkIndexQuery {
                status: Some(status),
                ..WorkIndexQuery::default()
            })
        };
        let count = |status| usize::try_from(with(status).total).unwrap_or(usize::MAX);
        let (approved, running) = (in_state(PlanState::Approved), in_state(PlanState::Running));
        let mut rows: Vec<&WorkRow> = approved.rows.iter().chain(&running.rows).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.at));
        let active = rows.iter().take(MOST).map(|row| row.trace).collect();
        let all = usize::try_from(approved.total + running.total).unwrap_or(usize::MAX);
        let reports = board.reports();
        let told = reports.len();
        Self {
            calls: board.calls(drivers),
            waits,
            counts: DashboardCounts {
                pending: count(RequestStatus::Pending) + count(RequestStatus::Processing),
                done: count(RequestStatus::Done) + count(RequestStatus::Answered),
            },
            active: (active, all),
            planned: shown(&some(WorkIndexQuery {
                planned: true,
                ..WorkIndexQuery::default()
            })),
            failed: shown(&with(RequestStatus::Failed)),
            reports: (reports.into_iter().take(MOST).collect(), told),
        }
    }
}

fn shown(page: &PagedRows<WorkRow>) -> (Vec<TraceId>, usize) {
    let traces = page.rows.iter().map(|row| row.trace).collect();
    (traces, usize::try_from(page.total).unwrap_or(usize::MAX))
}

fn split(page: &str) -> Option<(&str, &str)> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after))
}

fn entry(work: &Work) -> String {
    named(work, &title_of(work))
}

/// Returns a link to the plan of a piece of work, or to its request if it has no plan yet.
/// Plans move between folders, so the link holds only the file name.
fn named(work: &Work, title: &str) -> String {
    let target = if work.versions.is_empty() {
        let file = work.request.file.as_str();
        file.strip_suffix(".md").unwrap_or(file).to_owned()
    } else {
        format!("{}_plan", work.name())
    };
    format!("[[{target}|{}]]", plain(title))
}

/// Returns a text on one line, without characters that could form Markdown, a link or one
/// of Artel's marks.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().take(200).collect();
    text.replace(['[', ']', '|', '<', '>', '`', '*', '_', '#'], "")
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn list(text: &mut String, title: &str, entries: &[String], all: usize) {
    text.push_str(&format!("\n## {title}\n\n"));
    if entries.is_empty() {
        text.push_str("Nothing.\n");
    }
    for entry in entries {
        text.push_str(&format!("- {entry}\n"));
    }
    if let Some(more) = all.checked_sub(entries.len()).filter(|more| *more > 0) {
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
