//! The table of facts, found by its macro `facts! {` wherever it stands.

use std::collections::BTreeSet;

use super::source::SourceFile;
use super::tokens::CodeTokens;
use super::tree::SourceTree;

/// The names in the table.
#[derive(Debug, Default)]
pub(super) struct FactTable {
    pub(super) facts: BTreeSet<String>,
    /// The fields whose type is `String` or `Option<String>`.
    pub(super) text_fields: BTreeSet<String>,
}

impl FactTable {
    pub(super) fn read(tree: &SourceTree) -> Self {
        let mut table = Self::default();
        for file in &tree.files {
            let code = &file.code;
            let heads = code.places_of(&["facts", "!", "{"]);
            for at in heads.filter(|at| file.begins_line(*at)) {
                table.read_entries(code, at + 2);
            }
        }
        table
    }

    fn read_entries(&mut self, code: &CodeTokens, open: usize) {
        let close = code.partner(open).unwrap_or(open);
        for at in open..close {
            if code.is_literal(at)
                && code.at(at + 1) == "schema"
                && let Some(name) = name_after(code, at + 3)
            {
                self.facts.insert(code.at(name).to_owned());
                self.read_fields(code, name + 1);
            }
        }
    }

    fn read_fields(&mut self, code: &CodeTokens, open: usize) {
        for (first, last) in code.parts(open) {
            let form: String = (first + 2..=last).map(|at| code.at(at)).collect();
            if code.at(first + 1) == ":" && matches!(&*form, "String" | "Option<String>") {
                self.text_fields.insert(code.at(first).to_owned());
            }
        }
    }

    /// Tells whether the file names a fact: only there can a field be one of a fact.
    pub(super) fn is_named_in(&self, file: &SourceFile) -> bool {
        let code = &file.code;
        let mut names = (0..code.len())
            .map(|at| code.at(at))
            .filter(|it| is_capital(it));
        names.any(|name| name == "Fact" || self.facts.contains(name))
    }
}

fn is_capital(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_uppercase)
}

/// Returns the name of an entry, from behind its schema number: `(old)` may stand between.
fn name_after(code: &CodeTokens, at: usize) -> Option<usize> {
    let name = match code.at(at) {
        "(" => code.partner(at)? + 1,
        _ => at,
    };
    (code.is_word(name) && code.at(name + 1) == "{").then_some(name)
}

/// A table for the tests of the gates.
#[cfg(test)]
pub(super) const TABLE: &str = "\
facts! {
    /// A run was paused.
    \"run.paused\" schema 1 RunPaused {
        /// Why.
        why: String,
        /// Who.
        name: String,
        count: u64,
    }
    \"run.ended\" schema 2 (old_ended) RunEnded { state: Option<String> }
}
";

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    #[test]
    fn entries_and_their_text_fields_are_read() {
        let table = FactTable::read(&tree_of([("src/fact.rs", TABLE)]));
        assert!(table.facts.iter().eq(["RunEnded", "RunPaused"]));
        assert!(table.text_fields.iter().eq(["name", "state", "why"]));
    }

    #[test]
    fn the_macro_itself_is_not_a_table() {
        let text = "macro_rules! facts { () => { \"a\" schema 1 Wrong { why: String } } }";
        assert!(
            FactTable::read(&tree_of([("src/fact.rs", text)]))
                .facts
                .is_empty()
        );
    }
}
