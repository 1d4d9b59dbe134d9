//! Formatting for the terminal.

use artel_journal::JournalRecord;
pub(crate) use artel_types::counted;
pub(crate) use artel_workshop::price;

/// Returns text in which nothing moves the cursor, starts a new line, changes colours or
/// reverses the reading direction. What agents and files wrote is shown, never obeyed.
pub(crate) fn harmless(text: &str) -> String {
    artel_policy::record::visible(text)
}

/// Returns text of several lines, each made harmless. Tabs are kept.
pub(crate) fn harmless_lines(text: &str) -> String {
    let line = |line: &str| {
        let parts: Vec<_> = line.split('\t').map(harmless).collect();
        parts.join("\t")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns text of several lines, each made harmless and all but the first indented.
pub(crate) fn harmless_below(text: &str, indent: &str) -> String {
    harmless_lines(text.trim_end()).replace('\n', &format!("\n{indent}"))
}

/// Returns text shortened for one cell of a table.
pub(crate) fn cell(text: &str, longest: usize) -> String {
    let text = harmless(&text.replace('\n', " "));
    if text.chars().count() <= longest {
        return text;
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns text that cannot control the terminal, with its line breaks kept. All lines
/// after the first are indented, so that none of them can pass for a separate message.
pub(crate) fn in_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    lines.join("\n  ")
}

/// Lays out rows in columns. The last column is not padded.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            format!(
                "{cell}{}",
                " ".repeat(width.saturating_sub(cell.chars().count()))
            )
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let lines: Vec<String> = std::iter::once(&head)
        .chain(rows)
        .map(|row| line(row) + "\n")
        .collect();
    lines.concat()
}

/// The column heads of an event list.
pub(crate) const EVENT_HEAD: [&str; 7] = [
    "SEQ",
    "AT",
    "TRACE",
    "ACTOR",
    "KIND",
    "OUTCOME",
    "TARGET / PAYLOAD",
];

/// Returns the table row for an event.
pub(crate) fn event_row(record: &JournalRecord) -> Vec<String> {
    let about = match &record.target {
        Some(target) => target,
        None => &record.payload,
    };
    let via = record
        .via
        .as_ref()
        .map_or(String::new(), |via| format!(" ({via})"));
    vec![
        record.seq.to_string(),
        record
            .at
            .to_string()
            .chars()
            .take(19)
            .collect::<String>()
            .replace('T', " "),
        cell(&record.trace.chars().take(8).collect::<String>(), 80),
        cell(&format!("{}{via}", record.actor), 40),
        cell(&record.kind, 40),
        cell(record.outcome.as_deref().unwrap_or_default(), 20),
        cell(about, 100),
    ]
}

/// Formats a number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", count as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_can_steer_the_terminal() {
        assert_eq!(
            harmless("a\u{1b}[31mb\r\u{202e}c\nd"),
            "a\\u{1b}[31mb\\u{d}\\u{202e}c\\u{a}d"
        );
        assert_eq!(
            in_lines("it broke\n  why: \u{1b}[2J\nnote: all is well"),
            "it broke\n    why: \\u{1b}[2J\n  note: all is well"
        );
        assert_eq!(cell("two\nlines that are long", 12), "two lines t…");
    }

    #[test]
    fn tables_line_up() {
        let rows = [vec!["1".into(), "long cell".into(), "x".into()]];
        assert_eq!(
            table(&["A", "B", "C"], &rows),
            "A  B          C\n1  long cell  x\n"
        );
    }
}
