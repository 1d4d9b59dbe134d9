//! `awk`: its programs can run commands, write files and read others, so they are read
//! token by token.
//!
//! The reader knows strings, regular expressions between slashes, comments and where a
//! print statement ends. That is enough to tell `NR > 1` from `print > "file"`. Where awks
//! disagree about what is a regular expression and what a division, it asks.

use super::options::ParsedProgramArguments;
use super::table::{DoubtReason, OperandMeaning, ProgramSpec, asks, asks_flag};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] =
    &[ProgramSpec::reads("awk gawk mawk nawk original-awk bwk")
        .values(&["-F --field-separator -v --assign -e --source"])
        .flags(&[
            "--posix --traditional --re-interval --sandbox --version --help --characters-as-bytes",
            "--lint --csv --bignum --use-lc-numeric --optimize --no-optimize --non-decimal-data",
            "-P -c -r -S -V -h -b -L? -k -M -N -O -s -n -t -C",
        ])
        .entries(&[
            asks("-f --file -E --exec", DoubtReason::Loads),
            asks("-i --include -l --load", DoubtReason::Loads),
            asks("-W", DoubtReason::Inline),
            asks_flag(
                "-d --dump-variables -p --profile -o --pretty-print",
                DoubtReason::Writes,
            )
            .glued(),
            asks_flag("-D --debug", DoubtReason::Interactive).glued(),
        ])
        .operands(OperandMeaning::Call(awk))];

fn awk(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut files = parsed.operands.as_slice();
    if !parsed.has("-f --file -E --exec -e --source") {
        let Some((program, rest)) = files.split_first() else {
            return;
        };
        files = rest;
        judge(view, program);
    }
    for text in parsed.values_of("-e --source") {
        judge(view, text);
    }
    for file in files.iter().filter(|file| !is_assignment(file)) {
        view.read(file);
    }
}

/// Returns whether an operand such as `n=5` sets a variable.
fn is_assignment(operand: &str) -> bool {
    let name = operand.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter == '_' || letter.is_alphanumeric())
    })
}

fn judge(view: &mut CommandInspector<'_>, program: &str) {
    view.doubt_open_text(program);
    let tokens = match tokens(program) {
        Some(tokens) if !names_system(program) => tokens,
        Some(tokens) => {
            view.doubt_word(DoubtReason::Starts, program);
            tokens
        }
        None => return view.doubt_word(DoubtReason::Unknown, program),
    };
    let mut statement = AwkStatementState::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let after = tokens.get(at + 2);
        statement.step(token);
        match token {
            AwkToken::Sign("|" | "|&") => {
                view.doubt_word(DoubtReason::Starts, program);
                let texts = [tokens.get(at.wrapping_sub(1)), next];
                for text in texts.into_iter().flatten() {
                    start_text(view, text);
                }
            }
            // awk reads the values stored there as files.
            AwkToken::Word("ARGV") => view.doubt_word(DoubtReason::Elsewhere, program),
            AwkToken::Sign("@") => view.doubt_word(DoubtReason::Loads, program),
            AwkToken::Sign(">" | ">>") if statement.is_printing_here() => {
                written(view, program, next, after);
            }
            AwkToken::Sign("<") if statement.has_getline => {
                view.doubt_word(DoubtReason::Elsewhere, program)
            }
            AwkToken::Word("system") => {
                tokens
                    .iter()
                    .skip(at + 1)
                    .take(2)
                    .for_each(|text| start_text(view, text));
            }
            _ => {}
        }
    }
}

fn start_text(view: &mut CommandInspector<'_>, token: &AwkToken<'_>) {
    if let AwkToken::Text(text) = token {
        view.start_script(text);
    }
}

/// Records that a print writes a file, unless it plainly goes to one of the standard
/// streams.
fn written(
    view: &mut CommandInspector<'_>,
    program: &str,
    to: Option<&AwkToken<'_>>,
    after: Option<&AwkToken<'_>>,
) {
    let ends = matches!(after, None | Some(AwkToken::Sign("}" | ";" | "\n")));
    match to {
        Some(AwkToken::Text("/dev/stderr" | "/dev/stdout")) if ends => {}
        Some(AwkToken::Text(path)) if ends => view.write(path),
        _ => view.doubt_word(DoubtReason::Writes, program),
    }
}

/// Returns whether `system (` occurs anywhere, even where it may be only text.
fn names_system(program: &str) -> bool {
    program.match_indices("system").any(|(at, word)| {
        let rest = program.get(at + word.len()..).unwrap_or_default();
        let rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\\');
        rest.starts_with('(')
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AwkToken<'p> {
    Word(&'p str),
    Number,
    Text(&'p str),
    Regex,
    Sign(&'static str),
}

/// Position of the reader within a statement.
#[derive(Debug, Default)]
struct AwkStatementState {
    depth: usize,
    /// The parenthesis depth at which a print began, if one did.
    printing: Option<usize>,
    has_getline: bool,
}

impl AwkStatementState {
    fn step(&mut self, token: &AwkToken<'_>) {
        match token {
            AwkToken::Sign("(" | "[") => self.depth += 1,
            AwkToken::Sign(")" | "]") => self.depth = self.depth.saturating_sub(1),
            AwkToken::Sign(";" | "\n" | "{" | "}") => {
                self.printing = None;
                self.has_getline = false;
                self.depth = 0;
            }
            AwkToken::Word("print" | "printf") => self.printing = Some(self.depth),
            AwkToken::Word("getline") => self.has_getline = true,
            _ => {}
        }
    }

    fn is_printing_here(&self) -> bool {
        self.printing.is_some_and(|depth| self.depth <= depth)
    }
}

/// Splits a program into tokens, or returns `None` if awks would not agree on it.
fn tokens(program: &str) -> Option<Vec<AwkToken<'_>>> {
    let mut lexer = AwkLexer {
        program,
        at: 0,
        tokens: Vec::new(),
        headers: Vec::new(),
        closed_header: false,
    };
    while lexer.step()? {}
    Some(lexer.tokens)
}

struct AwkLexer<'p> {
    program: &'p str,
    at: usize,
    tokens: Vec<AwkToken<'p>>,
    /// For each open parenthesis, whether it belongs to an `if`, `while` or `for`.
    headers: Vec<bool>,
    /// Whether the last token closed such a header: then a statement follows, not an operator.
    closed_header: bool,
}

const SIGNS: &[&str] = &[
    "|&", "||", "&&", ">>", "++", "--", "+=", "-=", "*=", "^=", "%=", "==", "<=", ">=", "!=", "!~",
    "|", "&", ">", "<", "+", "-", "*", "^", "%", "=", "!", "~", "(", ")", "[", "]", "{", "}", ";",
    ",", "?", ":", "$", "@", "\n",
];

impl<'p> AwkLexer<'p> {
    fn step(&mut self) -> Option<bool> {
        let rest = self.program.get(self.at..)?;
        let Some(letter) = rest.chars().next() else {
            return Some(false);
        };
        match letter {
            ' ' | '\t' | '\r' => self.at += 1,
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => self.at += 2,
            '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
            '"' => self.text(rest)?,
            '/' if self.is_regex_next()? => self.regex(rest)?,
            '/' => self.push(
                AwkToken::Sign("/"),
                if rest.starts_with("/=") { 2 } else { 1 },
            ),
            '0'..='9' | '.' => {
                let end =
                    rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
                self.push(AwkToken::Number, end.unwrap_or(rest.len()));
            }
            '_' | 'a'..='z' | 'A'..='Z' => {
                let end =
                    rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                let end = end.unwrap_or(rest.len());
                self.push(AwkToken::Word(&rest[..end]), end);
            }
            _ => self.sign(rest)?,
        }
        Some(true)
    }

    fn push(&mut self, token: AwkToken<'p>, length: usize) {
        self.closed_header = false;
        self.tokens.push(token);
        self.at += length;
    }

    fn sign(&mut self, rest: &str) -> Option<()> {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
        let heads = matches!(
            self.tokens.last(),
            Some(AwkToken::Word("if" | "while" | "for"))
        );
        self.push(AwkToken::Sign(sign), sign.len());
        if *sign == "(" {
            self.headers.push(heads);
        } else if *sign == ")" {
            self.closed_header = self.headers.pop().unwrap_or_default();
        }
        Some(())
    }

    fn text(&mut self, rest: &'p str) -> Option<()> {
        let mut letters = rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => {
                    letters.next()?;
                }
                '\n' => return None,
                '"' => {
                    self.push(AwkToken::Text(&rest[1..at]), at + 1);
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }

    fn regex(&mut self, rest: &str) -> Option<()> {
        let mut letters = rest.char_indices().skip(1).peekable();
        let mut in_brackets = false;
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => {
                    letters.next()?;
                }
                '\n' => return None,
                // Some awks end the regular expression here, others do not.
                '/' if in_brackets => return None,
                '/' => {
                    self.push(AwkToken::Regex, at + 1);
                    return Some(());
                }
                '[' if !in_brackets => {
                    in_brackets = true;
                    letters.next_if(|(_, letter)| *letter == '^');
                    letters.next_if(|(_, letter)| *letter == ']');
                }
                ']' => in_brackets = false,
                _ => {}
            }
        }
        None
    }

    /// Returns whether a slash begins a regular expression here, or `None` if that is unclear.
    fn is_regex_next(&self) -> Option<bool> {
        Some(match self.tokens.last() {
            Some(AwkToken::Word("getline" | "length")) => return None,
            Some(AwkToken::Word(word)) => is_keyword(word),
            Some(AwkToken::Number | AwkToken::Text(_) | AwkToken::Regex | AwkToken::Sign("]")) => {
                false
            }
            Some(AwkToken::Sign(")")) => self.closed_header,
            Some(AwkToken::Sign("++" | "--")) => {
                let before = self
                    .tokens
                    .len()
                    .checked_sub(2)
                    .and_then(|at| self.tokens.get(at));
                match before {
                    Some(AwkToken::Word(_) | AwkToken::Number | AwkToken::Sign("]" | ")")) => false,
                    _ => return None,
                }
            }
            _ => true,
        })
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "print"
            | "printf"
            | "return"
            | "if"
            | "else"
            | "while"
            | "for"
            | "do"
            | "in"
            | "exit"
            | "delete"
            | "case"
            | "BEGIN"
            | "END"
            | "BEGINFILE"
            | "ENDFILE"
    )
}
