//! Renders a report as text. The same facts of a run always give the same bytes.

use artel_types::plan::PlanState;

use super::failed;
use super::past::PastPlanRun;
use super::sections as section;

/// Longest quote of a request, in bytes.
const LONGEST_REQUEST: usize = 8_000;

/// Renders the report of a finished run.
pub(super) fn render(past: &PastPlanRun, words: &str) -> String {
    let mut page = ReportPageWriter::default();
    page.raw(&front(past));
    page.raw(&format!("# {}\n", line(&past.conduct.plan().title)));
    page.section("Summary", &section::summary(past));
    if past.status() == "failed" {
        page.section("Error Summary", &failed::error(past));
        page.section("What Was Tried", &failed::tried(past));
        page.section("Execution Context", &failed::context(past));
    }
    page.section("Request", &quoted(words));
    page.section("Steps", &section::steps(past));
    page.section("Changes Made", &section::changes(past));
    page.section("Git Summary", &section::git(past));
    page.section("Evidence", &section::evidence(past));
    page.section("Deferred", &section::deferred(past));
    page.section("Decisions", &section::decisions(past));
    page.section("Context Used", &section::used(past));
    page.section("Reasoning", &section::reasoning(past));
    page.section("Cost", &section::cost(past));
    page.section("Links", &section::links(past));
    page.section("Next Steps", &section::next(past));
    page.text
}

impl PastPlanRun {
    /// Returns the word for the outcome: `completed` or `failed`.
    pub(super) fn status(&self) -> &'static str {
        match &self.ended {
            Some((_, ended)) if ended.state == PlanState::Done => "completed",
            _ => "failed",
        }
    }
}

/// A Markdown page under construction.
#[derive(Default)]
struct ReportPageWriter {
    text: String,
}

impl ReportPageWriter {
    fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn section(&mut self, title: &str, body: &str) {
        let body = body.trim_end();
        self.raw(&format!("\n## {title}\n\n"));
        self.raw(if body.is_empty() { "None." } else { body });
        self.raw("\n");
    }
}

fn front(past: &PastPlanRun) -> String {
    let (at, ended) = match &past.ended {
        Some((at, ended)) => (at.to_string(), ended.state.as_str()),
        None => (String::new(), ""),
    };
    let branch = past
        .created
        .as_ref()
        .and_then(|made| made.branch.as_deref());
    let cost = past.metrics.cost.map(|_| section::money(past));
    let fields = [
        ("trace_id", Some(past.work.trace.to_string())),
        ("request_id", Some(past.work.name())),
        ("status", Some(past.status().to_owned())),
        ("ended", Some(ended.to_owned())),
        ("created", Some(past.work.at.to_string())),
        ("completed_at", Some(at)),
        ("agent", Some(yaml(&past.work.request.agent))),
        ("branch", branch.map(yaml)),
        ("portal", past.work.request.portal.as_deref().map(yaml)),
        ("run", Some(past.run.to_string())),
        ("plan_version", Some(past.version.to_string())),
        ("cost", cost.as_deref().map(yaml)),
    ];
    let mut text = String::from("---\n");
    for (key, value) in fields {
        text.push_str(&format!("{key}: {}\n", value.as_deref().unwrap_or("null")));
    }
    text + "---\n\n"
}

/// Returns a text as a YAML value. YAML accepts JSON strings.
fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a text as a quote, so that nothing in it counts as part of the page.
pub(super) fn quoted(text: &str) -> String {
    let shown = bounded(text.trim(), LONGEST_REQUEST);
    let lines = shown.lines().map(|line| format!("> {line}"));
    lines
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Cuts a text at a limit and says so.
pub(super) fn bounded(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let cut = &text[..text.floor_char_boundary(longest)];
    format!("{cut} […]")
}

/// Escapes a text for a table cell.
pub(super) fn cell(text: &str) -> String {
    let text = bounded(&line(text), 300);
    if text.is_empty() {
        return "-".to_owned();
    }
    text.replace('|', "\\|")
}

/// Returns a text as inline code, on one line.
pub(super) fn code(text: &str) -> String {
    let text = bounded(&line(text), 300);
    let fence = if text.contains('`') { "``" } else { "`" };
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Renders a Markdown table.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "| {} |\n|{}\n",
        head.join(" | "),
        " --- |".repeat(head.len())
    );
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_part_of_the_page() {
        let request = "Fix it\n\n## Summary\n---\n- no";
        assert_eq!(quoted(request), "> Fix it\n>\n> ## Summary\n> ---\n> - no");
        assert_eq!(cell("a | b\n| c"), "a \\| b \\| c");
        assert_eq!(code("x `y`"), "`` x `y` ``");
        assert_eq!(yaml("a: \"b\"\n---"), r#""a: \"b\"\n---""#);
    }

    #[test]
    fn what_is_cut_says_so_and_stays_text() {
        assert_eq!(bounded("äöü", 3), "ä […]");
        assert_eq!(bounded("äöü", 6), "äöü");
    }
}
