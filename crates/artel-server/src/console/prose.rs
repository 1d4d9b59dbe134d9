//! Splits the Markdown that Artel writes into the blocks of a page: headings, lists,
//! tables, quotes. Everything in them stays text, and unknown syntax is shown as it is.

use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{InlineCodeText, coded};

/// A text, split into blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(path = "prose.html")]
pub(super) struct ProseView {
    pub(super) blocks: Vec<ProseBlock>,
}

// The template escapes its values itself.
impl HtmlSafe for ProseView {}

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProseBlock {
    /// A heading of the second level.
    Head(InlineCodeText),
    /// A heading of the third level.
    Under(InlineCodeText),
    /// A paragraph.
    Text(InlineCodeText),
    /// A quotation.
    Quote(InlineCodeText),
    /// A list; each item has whether it is nested below the one before.
    Items(Vec<(bool, InlineCodeText)>),
    /// A table, with its heading first.
    Table(Vec<Vec<InlineCodeText>>),
}

/// Splits a text into blocks. The front matter and the title are left out, because the page
/// shows them elsewhere.
pub(super) fn prose(text: &str) -> ProseView {
    let body = match text.strip_prefix("---\n") {
        Some(rest) => rest.split_once("\n---\n").map_or(text, |(_, body)| body),
        None => text,
    };
    let mut blocks = Vec::new();
    for line in body.lines() {
        take(&mut blocks, line);
    }
    blocks.retain(|block| !matches!(block, ProseBlock::Text(text) if text.is_empty()));
    ProseView { blocks }
}

fn take(blocks: &mut Vec<ProseBlock>, line: &str) {
    let bare = line.trim();
    if let Some(rest) = bare.strip_prefix("### ") {
        blocks.push(ProseBlock::Under(coded(rest)));
    } else if let Some(rest) = bare.strip_prefix("## ") {
        blocks.push(ProseBlock::Head(coded(rest)));
    } else if bare.starts_with("# ") {
        // The title is at the top of the page.
    } else if let Some(rest) = bare.strip_prefix("- ") {
        let item = (line.starts_with(' '), coded(rest));
        match blocks.last_mut() {
            Some(ProseBlock::Items(items)) => items.push(item),
            _ => blocks.push(ProseBlock::Items(vec![item])),
        }
    } else if bare.starts_with('|') {
        row(blocks, bare);
    } else if let Some(rest) = bare.strip_prefix('>') {
        match blocks.last_mut() {
            Some(ProseBlock::Quote(said)) => said.add(rest.trim_start()),
            _ => blocks.push(ProseBlock::Quote(coded(rest.trim_start()))),
        }
    } else {
        match blocks.last_mut() {
            Some(ProseBlock::Text(text)) if !bare.is_empty() && !text.is_empty() => text.add(bare),
            _ => blocks.push(ProseBlock::Text(coded(bare))),
        }
    }
}

fn row(blocks: &mut Vec<ProseBlock>, line: &str) {
    let cells = line.trim_matches('|').split(" | ");
    let cells: Vec<InlineCodeText> = cells.map(|cell| coded(cell.trim())).collect();
    let is_rule = line.chars().all(|letter| "|-: ".contains(letter));
    match blocks.last_mut() {
        Some(ProseBlock::Table(rows)) if is_rule && rows.len() == 1 => {}
        Some(ProseBlock::Table(rows)) => rows.push(cells),
        _ => blocks.push(ProseBlock::Table(vec![cells])),
    }
}

#[cfg(test)]
mod tests {
    use super::{ProseBlock, prose};
    use crate::console::coded::coded;

    #[test]
    fn a_report_is_cut_into_what_a_page_is_made_of() {
        let text = "---\nkey: value\n---\n\n# Title\n\n## Steps\n\n> said\n> twice\n\n\
            | A | B |\n| --- | --- |\n| `x` | 2 |\n\n- one\n  - below\n\nfirst\nsecond\n\nnext\n";
        let cells = |one: &str, two: &str| vec![coded(one), coded(two)];
        let wanted = [
            ProseBlock::Head(coded("Steps")),
            ProseBlock::Quote(coded("said\ntwice")),
            ProseBlock::Table(vec![cells("A", "B"), cells("`x`", "2")]),
            ProseBlock::Items(vec![(false, coded("one")), (true, coded("below"))]),
            ProseBlock::Text(coded("first\nsecond")),
            ProseBlock::Text(coded("next")),
        ];
        assert_eq!(prose(text).blocks, wanted);
    }

    #[test]
    fn what_is_no_report_is_shown_all_the_same() {
        for text in ["", "---", "|", "---\nno end", "- ", "### "] {
            drop(prose(text));
        }
        assert_eq!(prose("plain").blocks, [ProseBlock::Text(coded("plain"))]);
    }
}
