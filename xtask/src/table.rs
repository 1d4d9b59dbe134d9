//! Text tables.

/// Rows of cells, printed in aligned columns.
pub(crate) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Returns an empty table with these headings.
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self {
            rows: vec![headings.map(str::to_owned).to_vec()],
        }
    }

    /// Adds a row; it may be shorter or longer than the headings.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns whether the table has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Returns the table as text, with a line below the headings.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
            if number == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                text.push_str(&rule.join("  "));
                text.push('\n');
            }
        }
        text
    }
}

/// Returns the cells of a line such as `figure: kills | 2000 | 0 lost`, or `None` if the
/// line does not start with `mark`.
///
/// The mark may follow the `test name ... ` that the test harness leaves on the line.
pub(crate) fn marked_cells(line: &str, mark: &str) -> Option<Vec<String>> {
    let (before, rest) = line.split_once(mark)?;
    if !(before.trim().is_empty() || before.ends_with("... ")) {
        return None;
    }
    Some(rest.split('|').map(|cell| cell.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_rows_may_differ_in_length() {
        let mut table = TextTable::new(["phase", "took"]);
        table.row(["format".to_owned(), "1.0 s".to_owned()]);
        table.row(["ü".to_owned()]);
        assert_eq!(
            table.render(),
            "phase   took\n------  -----\nformat  1.0 s\nü\n"
        );
    }

    #[test]
    fn a_mark_counts_at_the_head_of_a_line_only() {
        let cells = |line| marked_cells(line, "figure:");
        let expected = Some(vec!["kills".to_owned(), "2000".to_owned()]);
        assert_eq!(cells("figure: kills | 2000"), expected);
        assert_eq!(cells("test proof_kill ... figure: kills | 2000"), expected);
        assert_eq!(cells("see figure: 3"), None);
    }
}
