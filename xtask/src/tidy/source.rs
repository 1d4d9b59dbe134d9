//! One Rust file: its production code, its comments, and which of its lines are tests.

use std::collections::BTreeSet;

use super::lexer;
use super::test_items::{self, DeclaredModule};
use super::tokens::CodeTokens;

/// A Rust file, read once. After [`SourceFile::separate_tests`] it holds production only.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    /// The package it belongs to.
    pub(super) package: String,
    pub(super) code: CodeTokens,
    comments: Vec<(usize, usize)>,
    line_starts: Vec<usize>,
    test_lines: BTreeSet<usize>,
    /// How many of its lines are production.
    pub(super) length: usize,
}

/// One line of a comment, without its slashes.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommentLine<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
    /// Whether it documents the item below it.
    pub(super) is_doc: bool,
}

impl SourceFile {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let lexed = lexer::lex(text);
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts: Vec<usize> = [0]
            .into_iter()
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        let has_open_end = !text.is_empty() && !text.ends_with('\n');
        Self {
            path: path.to_owned(),
            package: String::new(),
            code: CodeTokens::new(text.to_owned(), lexed.tokens),
            comments: lexed.comments,
            length: line_starts.len() - 1 + usize::from(has_open_end),
            line_starts,
            test_lines: BTreeSet::new(),
        }
    }

    /// Returns the files that are tests because this one declares them under `#[cfg(test)]`.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let items = test_items::of(&self.code);
        let declared = items.into_iter().filter_map(|item| item.module);
        declared.flat_map(|module| self.files_of(&module)).collect()
    }

    /// Returns the files of all modules that this one declares.
    pub(super) fn modules(&self) -> Vec<String> {
        let declared = test_items::modules(&self.code);
        declared.iter().flat_map(|it| self.files_of(it)).collect()
    }

    fn files_of(&self, module: &DeclaredModule) -> Vec<String> {
        let (folder, base) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        if let Some(path) = &module.path {
            return vec![join(folder, path)];
        }
        let stem = base.strip_suffix(".rs").unwrap_or(base);
        let folder = match stem {
            "lib" | "mod" | "main" => folder.to_owned(),
            _ => join(folder, stem),
        };
        let name = &module.name;
        let candidates = [format!("{name}.rs"), format!("{name}/mod.rs")];
        candidates.map(|path| join(&folder, &path)).to_vec()
    }

    /// Removes the items under `#[cfg(test)]`.
    pub(super) fn separate_tests(&mut self) {
        let items = test_items::of(&self.code);
        let spans: Vec<(usize, usize)> = items.iter().map(|item| (item.start, item.end)).collect();
        for (start, end) in &spans {
            let lines = self.line(*start)..=self.line(end.saturating_sub(1));
            self.test_lines.extend(lines);
        }
        let code = std::mem::take(&mut self.code);
        self.code = code.filtered(|token| {
            let mut spans = spans.iter();
            spans.all(|(start, end)| token.end <= *start || token.start >= *end)
        });
        self.length -= self.test_lines.len().min(self.length);
    }

    /// Returns the line of a byte, counted from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Returns the byte at which the line after `line` starts.
    pub(super) fn byte_after(&self, line: usize) -> usize {
        let next = self.line_starts.get(line).copied();
        next.unwrap_or(self.code.text().len())
    }

    /// Returns the line of a token.
    pub(super) fn line_of(&self, token: usize) -> usize {
        self.line(self.code.start(token))
    }

    /// Returns the text of a line, counted from 1.
    pub(super) fn text_of_line(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|at| self.line_starts.get(at));
        let rest = start.and_then(|start| self.code.text().get(*start..));
        rest.and_then(|rest| rest.lines().next())
            .unwrap_or_default()
    }

    /// Tells whether only `pub` or blanks stand before the token on its line.
    pub(super) fn begins_line(&self, token: usize) -> bool {
        let start = self.code.start(token);
        let line_start = self.line_starts[self.line(start) - 1];
        let before = self.code.text()[line_start..start].trim();
        before.is_empty()
            || before == "pub"
            || (before.starts_with("pub(") && before.ends_with(')'))
    }

    /// Returns the comments of production, line by line.
    pub(super) fn comment_lines(&self) -> impl Iterator<Item = CommentLine<'_>> {
        let comments = self.comments.iter();
        let production =
            comments.filter(move |(start, _)| !self.test_lines.contains(&self.line(*start)));
        production.flat_map(move |(start, end)| {
            let text = &self.code.text()[*start..*end];
            let is_doc = text.starts_with("///") && !text.starts_with("////");
            let first = self.line(*start);
            let lines = text.split('\n').enumerate();
            lines.map(move |(offset, text)| CommentLine {
                line: first + offset,
                text: without_slashes(text),
                is_doc,
            })
        })
    }

    /// Returns the functions, with or without a body.
    pub(super) fn functions(&self) -> impl Iterator<Item = FunctionShape<'_>> {
        let code = &self.code;
        let heads = code
            .places_of(&["fn"])
            .filter(move |at| code.is_word(at + 1));
        heads.map(move |at| {
            let open = code.after_generics(at + 2);
            let line = self.line_of(at);
            let close = code.body(at + 2).and_then(|body| code.partner(body));
            FunctionShape {
                name: code.at(at + 1),
                line,
                length: close.map_or(0, |close| self.line_of(close) - line + 1),
                parameters: if code.at(open) == "(" {
                    code.parts(open)
                } else {
                    Vec::new()
                },
            }
        })
    }
}

/// A function as the gates see it.
#[derive(Debug)]
pub(super) struct FunctionShape<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    /// Lines from `fn` to the closing brace; 0 without a body.
    pub(super) length: usize,
    /// The first and last token of each parameter.
    pub(super) parameters: Vec<(usize, usize)>,
}

fn without_slashes(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("//") else {
        return line;
    };
    let rest = rest.strip_prefix(['/', '!']).unwrap_or(rest);
    rest.strip_prefix(char::is_whitespace).unwrap_or(rest)
}

/// Joins two paths; `..` and `.` are resolved.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_inside_a_file_are_not_production() {
        let text =
            "fn a() {\n}\n#[cfg(test)]\nmod tests {\n    // Whoever\n    fn b() {}\n}\n// c\n";
        let mut file = SourceFile::new("src/a.rs", text);
        file.separate_tests();
        assert_eq!(file.length, 3);
        let names: Vec<&str> = file.functions().map(|function| function.name).collect();
        assert_eq!(names, ["a"]);
        let comments: Vec<_> = file.comment_lines().map(|it| (it.line, it.text)).collect();
        assert_eq!(comments, [(8, "c")]);
    }

    #[test]
    fn declared_modules_are_found_beside_and_below() {
        let text = "mod a;\n#[path = \"../x/b.rs\"]\nmod b;\n#[cfg(test)]\nmod c;";
        let file = SourceFile::new("src/world.rs", text);
        assert_eq!(
            file.test_modules(),
            ["src/world/c.rs", "src/world/c/mod.rs"]
        );
        assert!(file.modules().contains(&"x/b.rs".to_owned()));
        let root = SourceFile::new("src/lib.rs", text);
        assert!(root.modules().contains(&"src/a.rs".to_owned()));
    }

    #[test]
    fn functions_are_measured_from_head_to_closing_brace() {
        let text = "fn a<T: Fn(u8) -> u8>(\n    (x, y): (u8, u8),\n) {\n    {}\n}\nfn b();";
        let file = SourceFile::new("a.rs", text);
        let shapes: Vec<_> = file.functions().map(|it| (it.name, it.length)).collect();
        assert_eq!(shapes, [("a", 5), ("b", 0)]);
    }
}
