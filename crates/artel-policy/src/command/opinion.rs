//! The second and the third reader: brush-parser and tree-sitter-bash.
//!
//! On plain text both have to see what our own pass saw. On other text brush-parser adds commands
//! that bans apply to, as long as the text cannot make it slow: its grammar tries alternatives
//! again at every level. tree-sitter-bash is written in C and takes a character for an index, so it
//! is shown plain text alone, and of that only ASCII.

use std::ops::ControlFlow;

use brush_parser::{Parser, ParserOptions, ast};
use tree_sitter::{Node, ParseOptions};

use super::scan::{Found, single_word};
use crate::programs::Doubt;

/// The longest text that is not plain and still shown to brush-parser.
const MAX_OTHER: usize = 16 * 1024;

/// How many opening signs such a text may hold: each can double brush-parser's work.
const MAX_OPEN: usize = 12;

/// How often tree-sitter may report progress before it is stopped, for each byte of text.
const STEPS_PER_BYTE: usize = 4;

/// Returns the doubt of a plain text in which the readers do not see the same.
pub(super) fn disagreement(text: &str, found: &Found) -> Option<Doubt> {
    let own = found.parts.iter().map(|part| part.words.iter());
    let is_alike = brush_commands(text).is_some_and(|brush| {
        brush.len() == found.parts.len()
            && own
                .zip(&brush)
                .all(|(own, brush)| own.map(|word| &word.text).eq(brush))
    });
    if is_alike && tree_agrees(text, found) {
        return None;
    }
    Some(Doubt {
        rule: "shell.ambiguous",
        reason: "shells may read it in different ways".to_owned(),
    })
}

/// Returns the words of the commands that brush-parser sees in a text that is not plain.
pub(super) fn commands(text: &str) -> Vec<Vec<String>> {
    let is_tame = text.len() <= MAX_OTHER
        && openings(text) <= MAX_OPEN
        && text.matches('[').count() <= 3
        && !has_long_number(text);
    let commands = is_tame.then(|| brush_commands(text)).flatten();
    commands.unwrap_or_default()
}

/// Counts whatever may open a level, quoted or not.
fn openings(text: &str) -> usize {
    const WORDS: &[&str] = &[
        "if", "while", "until", "for", "select", "case", "function", "coproc",
    ];
    let signs = text.bytes().filter(|byte| b"([{`!".contains(byte)).count();
    signs + WORDS.iter().map(|word| text.matches(word).count()).sum::<usize>()
}

/// brush-parser reads the number of a descriptor into 32 bits.
fn has_long_number(text: &str) -> bool {
    let mut digits = 0;
    text.bytes().any(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits > 9
    })
}

fn brush_commands(text: &str) -> Option<Vec<Vec<String>>> {
    let options = ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let program = Parser::new(text.as_bytes(), &options).parse_program().ok()?;
    let mut walk = Walk::default();
    for list in &program.complete_commands {
        walk.list(list);
    }
    (!walk.is_lost).then_some(walk.commands)
}

/// A walk over the tree of brush-parser that gathers the words of every simple command.
#[derive(Default)]
struct Walk {
    commands: Vec<Vec<String>>,
    is_lost: bool,
}

impl Walk {
    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(list, _) in &list.0 {
            for (_, pipeline) in list {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        let mut before = match &pipeline.timed {
            None => Vec::new(),
            Some(ast::PipelineTimed::Timed(_)) => vec!["time".to_owned()],
            Some(ast::PipelineTimed::TimedWithPosixOutput(_)) => {
                vec!["time".to_owned(), "-p".to_owned()]
            }
        };
        for command in &pipeline.seq {
            self.command(command, std::mem::take(&mut before));
        }
    }

    fn command(&mut self, command: &ast::Command, before: Vec<String>) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, before),
            ast::Command::Compound(compound, _) => self.compound(compound),
            ast::Command::Function(function) => self.compound(&function.body.0),
            ast::Command::ExtendedTest(..) => {}
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, mut words: Vec<String>) {
        if let Some(program) = &simple.word_or_name {
            self.word(&mut words, program);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(word)
                | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    self.word(&mut words, word);
                }
                ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, group) => {
                    self.list(&group.list);
                }
                ast::CommandPrefixOrSuffixItem::IoRedirect(_) => {}
            }
        }
        if !words.is_empty() {
            self.commands.push(words);
        }
    }

    fn word(&mut self, words: &mut Vec<String>, word: &ast::Word) {
        match single_word(&word.value) {
            Some(word) => words.push(word.text),
            None => self.is_lost = true,
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand) {
        match compound {
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list),
            ast::CompoundCommand::Subshell(group) => self.list(&group.list),
            ast::CompoundCommand::ForClause(clause) => self.list(&clause.body.list),
            ast::CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list),
            ast::CompoundCommand::CaseClause(clause) => {
                for case in &clause.cases {
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            ast::CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for part in clause.elses.iter().flatten() {
                    part.condition.iter().for_each(|list| self.list(list));
                    self.list(&part.body);
                }
            }
            ast::CompoundCommand::WhileClause(clause)
            | ast::CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            ast::CompoundCommand::Coprocess(coprocess) => {
                self.command(&coprocess.body, Vec::new());
            }
            ast::CompoundCommand::Arithmetic(_) => {}
        }
    }
}

/// Signs that have no place in plain text, wherever tree-sitter sees one.
const FOREIGN: &[&str] = &[
    "$", "$(", "${", "$((", "$[", "`", "<(", ">(", "(", ")", "((", "))", "<<", "<<-", "<<<", "<",
    ">>", ">|", "&>>", "<&", "&", ";;", ";&", ";;&", "|&", "function", "if", "for", "while",
    "until", "case", "select", "$'", "$\"",
];

/// Tells whether tree-sitter sees the same operators at the same places, and no others.
fn tree_agrees(text: &str, found: &Found) -> bool {
    let Some(tree) = parse(text) else {
        return false;
    };
    if tree.root_node().has_error() {
        return false;
    }
    let mut operators = found.operators.iter();
    let mut agrees = true;
    visit(tree.root_node(), |node| {
        if node.is_named() || node.child_count() > 0 {
            return;
        }
        let kind = node.kind();
        if matches!(kind, "&&" | "||" | ";" | "|") {
            agrees &= operators.next() == Some(&(node.start_byte(), kind_name(kind)));
        } else if FOREIGN.contains(&kind) {
            agrees = false;
        }
    });
    agrees && operators.next().is_none()
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "&&" => "&&",
        "||" => "||",
        ";" => ";",
        _ => "|",
    }
}

fn parse(text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let most = STEPS_PER_BYTE * (text.len() + 1024);
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > most {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let ascii = |byte: u8| if byte.is_ascii() { byte } else { b'x' };
    let bytes: Vec<u8> = text.bytes().map(ascii).collect();
    parser.parse_with_options(
        &mut |start, _| bytes.get(start..).unwrap_or_default(),
        None,
        Some(options),
    )
}

/// Visits every node, without recursion.
fn visit<'tree>(root: Node<'tree>, mut see: impl FnMut(Node<'tree>)) {
    let mut cursor = root.walk();
    loop {
        see(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
