//! The second and third parser of plain text: brush-parser and tree-sitter-bash.
//!
//! Both must see the same words and operators as our own pass, or the person is asked.
//! They only get plain text. On hostile text brush-parser retries alternatives at every
//! level, reads numbers without a limit and may never finish a here-document, and
//! tree-sitter-bash, written in C, uses a character as an index. Other text cannot be
//! allowed anyway; our own pass, which is linear and bounded, finds the commands in it.

use std::ops::ControlFlow;

use brush_parser::{Parser, ParserOptions, ast};
use tree_sitter::{Node, ParseOptions};

use super::scan::{ShellScanResult, single_word};
use crate::programs::CommandDoubt;

/// Number of progress reports that tree-sitter may make per byte of text before it is
/// stopped.
const STEPS_PER_BYTE: usize = 4;

/// Returns a doubt if the parsers disagree about a plain text.
pub(super) fn disagreement(text: &str, found: &ShellScanResult) -> Option<CommandDoubt> {
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
    Some(CommandDoubt {
        rule: "shell.ambiguous",
        reason: "shells may read it in different ways".to_owned(),
    })
}

/// Returns the words of every command that brush-parser sees, or `None` if it sees
/// anything but simple commands.
fn brush_commands(text: &str) -> Option<Vec<Vec<String>>> {
    let options = ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let program = Parser::new(text.as_bytes(), &options)
        .parse_program()
        .ok()?;
    let lists = program.complete_commands.iter().flat_map(|list| &list.0);
    let pipelines = lists.flat_map(|ast::CompoundListItem(list, _)| list);
    let mut commands = Vec::new();
    for (_, pipeline) in pipelines {
        let mut words = match &pipeline.timed {
            None => Vec::new(),
            Some(ast::PipelineTimed::Timed(_)) => vec!["time".to_owned()],
            Some(ast::PipelineTimed::TimedWithPosixOutput(_)) => {
                vec!["time".to_owned(), "-p".to_owned()]
            }
        };
        for command in &pipeline.seq {
            let ast::Command::Simple(simple) = command else {
                return None;
            };
            words.extend(simple_words(simple)?);
            commands.push(std::mem::take(&mut words));
        }
    }
    Some(commands)
}

fn simple_words(simple: &ast::SimpleCommand) -> Option<Vec<String>> {
    use ast::CommandPrefixOrSuffixItem as Item;
    let mut words = vec![literal(simple.word_or_name.as_ref()?)?];
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => words.push(literal(word)?),
            Item::IoRedirect(_) => {}
            Item::ProcessSubstitution(..) => return None,
        }
    }
    Some(words)
}

/// Returns the literal text of a word: brush-parser leaves the quotes in place.
fn literal(word: &ast::Word) -> Option<String> {
    single_word(&word.value).map(|word| word.text)
}

/// Tokens that must not occur in plain text, wherever tree-sitter sees one.
const FOREIGN: &[&str] = &[
    "$", "$(", "${", "$((", "$[", "`", "<(", ">(", "(", ")", "((", "))", "<<", "<<-", "<<<", "<",
    ">>", ">|", "&>>", "<&", "&", ";;", ";&", ";;&", "|&", "function", "if", "for", "while",
    "until", "case", "select", "$'", "$\"",
];

/// Returns whether tree-sitter sees the same operators at the same places, and no others.
fn tree_agrees(text: &str, found: &ShellScanResult) -> bool {
    let Some(tree) = parse(text) else {
        return false;
    };
    if tree.root_node().has_error() {
        return false;
    }
    let redirections = found.parts.iter().flat_map(|part| &part.redirections);
    let appends = redirections.map(|one| one.operator).any(|one| one == ">>");
    let mut operators = found.operators.iter();
    let mut agrees = true;
    visit(tree.root_node(), |node| {
        if node.is_named() || node.child_count() > 0 {
            return;
        }
        let kind = node.kind();
        if matches!(kind, "&&" | "||" | ";" | "|") {
            agrees &= operators.next() == Some(&(node.start_byte(), kind_name(kind)));
        } else if FOREIGN.contains(&kind) && !(kind == ">>" && appends) {
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
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
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
