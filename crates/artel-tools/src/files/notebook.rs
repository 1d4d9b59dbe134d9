//! Renders Jupyter notebooks as text: cells numbered, outputs shortened.

use serde_json::Value;

/// Largest number of lines shown of an output.
const MOST_OUTPUT_LINES: usize = 30;
/// Largest number of characters shown of an output.
const MOST_OUTPUT_CHARS: usize = 3000;

/// Renders a notebook. Returns `None` if the text is not a notebook.
pub(crate) fn render(text: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(text).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let mut lines = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        let kind = cell
            .get("cell_type")
            .and_then(Value::as_str)
            .unwrap_or("cell");
        let count = cell.get("execution_count").and_then(Value::as_u64);
        let count = count
            .map(|count| format!(", run {count}"))
            .unwrap_or_default();
        lines.push(format!("--- cell {}: {kind}{count} ---", number + 1));
        lines.push(joined(cell.get("source")));
        let outputs = cell.get("outputs").and_then(Value::as_array);
        for output in outputs.into_iter().flatten() {
            lines.push("--- output ---".to_owned());
            lines.push(shortened(&output_text(output)));
        }
    }
    Some(lines.join("\n"))
}

/// Joins text: notebooks store it as a string or as a list of lines.
fn joined(text: Option<&Value>) -> String {
    match text {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output_text(output: &Value) -> String {
    if let Some(text) = output.get("text") {
        return joined(Some(text));
    }
    if let Some(name) = output.get("ename").and_then(Value::as_str) {
        let value = joined(output.get("evalue"));
        let trace = output.get("traceback").and_then(Value::as_array);
        let trace: Vec<_> = trace
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        return format!("{name}: {value}\n{}", without_colours(&trace.join("\n")));
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return String::new();
    };
    let mut text = joined(data.get("text/plain"));
    for media in data.keys().filter(|media| *media != "text/plain") {
        text.push_str(&format!("\n[{media}]"));
    }
    text
}

fn shortened(text: &str) -> String {
    let all = text.lines().count();
    let mut shown: String = text
        .lines()
        .take(MOST_OUTPUT_LINES)
        .collect::<Vec<_>>()
        .join("\n");
    if let Some((end, _)) = shown.char_indices().nth(MOST_OUTPUT_CHARS) {
        shown.truncate(end);
    }
    let left = all - shown.lines().count().min(all);
    if left > 0 || shown.len() < text.trim_end().len() {
        shown.push_str(&format!(
            "\n[shortened: {all} lines, {} bytes in all]",
            text.len()
        ));
    }
    shown
}

/// Removes the terminal's colours from a traceback.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|char: char| char.is_ascii_alphabetic());
        plain.push_str(end.map_or("", |end| &piece[end + 1..]));
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_and_outputs_become_text() {
        let notebook = json!({"cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "execution_count": 3, "source": "1 + 1", "outputs": [
                {"output_type": "stream", "text": ["a\n", "b\n"]},
                {"data": {"text/plain": "2", "image/png": "iVBOR"}},
                {"ename": "ValueError", "evalue": "no", "traceback": ["\u{1b}[31mred\u{1b}[0m"]},
            ]},
        ]});
        insta::assert_snapshot!(render(&notebook.to_string()).unwrap(), @r"
        --- cell 1: markdown ---
        # Title
        words
        --- cell 2: code, run 3 ---
        1 + 1
        --- output ---
        a
        b
        --- output ---
        2
        [image/png]
        --- output ---
        ValueError: no
        red
        ");
    }

    #[test]
    fn long_outputs_are_shortened_and_other_json_is_none() {
        let long = "x\n".repeat(500);
        let notebook = json!({"cells": [{"source": "", "outputs": [{"text": long}]}]});
        let text = render(&notebook.to_string()).unwrap();
        assert!(text.lines().count() < 40);
        assert!(text.ends_with("[shortened: 500 lines, 1000 bytes in all]"));
        assert_eq!(render("[]"), None);
        assert_eq!(render("{"), None);
    }
}
