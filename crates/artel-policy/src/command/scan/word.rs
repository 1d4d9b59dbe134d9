//! Reads one word: quotes, escapes, and the parts that the shell would still compute.

use super::ShellScanner;
use crate::command::reading::ShellWord;

/// The end of a run of text, which decides the characters that are special in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellTextBoundary {
    /// At any character that ends a word.
    Meta,
    /// At a double quote.
    Quote,
    /// At the end of a here-document; quotes are ordinary characters.
    Body,
    /// At the `}` or `]` of an expansion: `Bare` outside double quotes, `Quoted` inside.
    Bare(u8),
    Quoted(u8),
}

impl ShellTextBoundary {
    fn is_end(self, byte: u8) -> bool {
        match self {
            Self::Meta => b" \t\n;&|()<>".contains(&byte),
            Self::Quote => byte == b'"',
            Self::Body => false,
            Self::Bare(end) | Self::Quoted(end) => byte == end,
        }
    }

    fn is_quoted(self) -> bool {
        matches!(self, Self::Quote | Self::Body | Self::Quoted(_))
    }

    fn closing(self, end: u8) -> Self {
        if self.is_quoted() {
            Self::Quoted(end)
        } else {
            Self::Bare(end)
        }
    }
}

impl ShellScanner<'_> {
    /// Reads a word of at least one byte.
    pub(super) fn word(&mut self) -> ShellWord {
        let mut word = ShellWord {
            is_bare: true,
            ..ShellWord::default()
        };
        self.pieces(&mut word, ShellTextBoundary::Meta);
        self.settle(&mut word);
        word
    }

    /// Looks for commands in the body of a here-document that the shell expands.
    pub(super) fn body(&mut self) {
        let mut word = ShellWord::default();
        self.pieces(&mut word, ShellTextBoundary::Body);
    }

    /// Decides about braces and patterns once the whole word is known.
    fn settle(&mut self, word: &mut ShellWord) {
        if let Some(open) = word.brace_at {
            let inner = &word.text[open..];
            if inner.contains(',') || inner.contains("..") {
                word.is_computed = true;
                self.doubt("shell.brace", "the shell makes several words of its braces");
            } else {
                word.brace_at = None;
            }
        }
        if let Some(at) = word.glob_at {
            let is_bracket = at == 0 && matches!(word.text.as_str(), "[" | "[[");
            if is_bracket {
                word.glob_at = None;
            }
        }
    }

    fn pieces(&mut self, word: &mut ShellWord, stop: ShellTextBoundary) {
        while let Some(byte) = self.byte() {
            if stop.is_end(byte) {
                return;
            }
            match byte {
                b'\\' => self.escape(word, stop),
                b'\'' if !stop.is_quoted() => self.single_quoted(word),
                b'"' if stop != ShellTextBoundary::Body => self.double_quoted(word),
                b'$' => self.dollar(word, stop),
                b'`' => self.backquoted(word),
                b'*' | b'?' | b'[' if !stop.is_quoted() => {
                    word.glob_at.get_or_insert(word.text.len());
                    self.take(word, 1);
                }
                b'{' if !stop.is_quoted() => {
                    word.brace_at.get_or_insert(word.text.len());
                    self.take(word, 1);
                }
                b'~' if !stop.is_quoted() => self.tilde(word),
                _ => self.ordinary(word, stop),
            }
        }
        if !matches!(stop, ShellTextBoundary::Meta | ShellTextBoundary::Body) {
            self.doubt("shell.unfinished", "a quote or an expansion is not closed");
        }
    }

    /// Takes a run of bytes without special meaning.
    fn ordinary(&mut self, word: &mut ShellWord, stop: ShellTextBoundary) {
        let is_special = |byte: &u8| b"\\'\"$`*?[{~".contains(byte) || stop.is_end(*byte);
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().skip(1).position(is_special);
        self.take(word, length.map_or(rest.len(), |length| length + 1));
    }

    fn take(&mut self, word: &mut ShellWord, length: usize) {
        word.text.push_str(&self.text[self.at..self.at + length]);
        self.at += length;
    }

    fn escape(&mut self, word: &mut ShellWord, stop: ShellTextBoundary) {
        let Some(next) = self.text[self.at + 1..].chars().next() else {
            self.doubt("shell.unfinished", "it ends in the middle of an escape");
            return self.take(word, 1);
        };
        if next == '\n' {
            self.at += 2;
            return;
        }
        let is_escape = match stop {
            ShellTextBoundary::Meta | ShellTextBoundary::Bare(_) => true,
            ShellTextBoundary::Quote => matches!(next, '$' | '`' | '"' | '\\'),
            ShellTextBoundary::Body => matches!(next, '$' | '`' | '\\'),
            ShellTextBoundary::Quoted(end) => {
                matches!(next, '$' | '`' | '"' | '\\') || next == char::from(end)
            }
        };
        word.is_bare = false;
        if is_escape {
            self.at += 1;
            self.take(word, next.len_utf8());
        } else {
            self.take(word, 1);
        }
    }

    fn single_quoted(&mut self, word: &mut ShellWord) {
        word.is_bare = false;
        self.at += 1;
        let Some(length) = self.rest().find('\'') else {
            self.doubt("shell.unfinished", "a quote is not closed");
            return self.take(word, self.text.len() - self.at);
        };
        self.take(word, length);
        self.at += 1;
    }

    fn double_quoted(&mut self, word: &mut ShellWord) {
        word.is_bare = false;
        self.at += 1;
        self.deeper(|scan| scan.pieces(word, ShellTextBoundary::Quote));
        self.at = (self.at + 1).min(self.text.len());
    }

    fn tilde(&mut self, word: &mut ShellWord) {
        let is_start = word.text.is_empty() && word.is_bare;
        if is_start || word.text.ends_with(['=', ':']) {
            self.doubt("shell.tilde", "`~` leads to a home directory");
            word.is_computed = true;
        }
        self.take(word, 1);
    }

    fn backquoted(&mut self, word: &mut ShellWord) {
        self.doubt(
            "shell.substitution",
            "its words depend on the output of another command",
        );
        word.compute();
        self.at += 1;
        let mut inner = String::new();
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '`' => return self.other_text(&inner, |scan| scan.script(None)),
                '\\' => match self.byte() {
                    Some(next @ (b'`' | b'\\' | b'$')) => {
                        inner.push(char::from(next));
                        self.at += 1;
                    }
                    _ => inner.push('\\'),
                },
                _ => inner.push(c),
            }
        }
        self.doubt("shell.unfinished", "a backquote is not closed");
        self.other_text(&inner, |scan| scan.script(None));
    }

    /// Reads an expansion that begins with a dollar sign.
    fn dollar(&mut self, word: &mut ShellWord, stop: ShellTextBoundary) {
        let next = self.byte_at(1);
        match next {
            Some(b'(') => self.substitution(word),
            Some(b'{') => self.deeper(|scan| scan.parameter(word, stop)),
            Some(b'[') => {
                self.doubt("shell.variable", "its words are computed");
                word.compute();
                self.at += 2;
                let mut inner = ShellWord::default();
                self.deeper(|scan| scan.pieces(&mut inner, stop.closing(b']')));
                self.at = (self.at + 1).min(self.text.len());
            }
            Some(b'\'') if !stop.is_quoted() => self.ansi_quoted(word),
            Some(b'"') if !stop.is_quoted() => {
                self.doubt("shell.escape", "the shell translates a quoted text");
                word.compute();
                self.at += 1;
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                let name = self.name();
                self.expand(word, &name, stop);
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'0'..=b'9') => {
                self.doubt("shell.variable", "its words depend on a variable");
                word.compute();
                self.at += 2;
            }
            _ => {
                self.doubt(
                    "shell.variable",
                    "a dollar sign stands outside single quotes",
                );
                self.take(word, 1);
            }
        }
    }

    fn substitution(&mut self, word: &mut ShellWord) {
        self.doubt(
            "shell.substitution",
            "its words depend on the output of another command",
        );
        word.compute();
        self.at += 2;
        let is_arithmetic = self.byte() == Some(b'(');
        let outer = self.arithmetic;
        self.arithmetic = usize::from(is_arithmetic);
        self.group();
        self.arithmetic = outer;
    }

    fn name(&mut self) -> String {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let name = self.text[self.at..self.at + length].to_owned();
        self.at += length;
        name
    }

    /// Inserts the known value of a variable; an unknown variable counts as empty.
    fn expand(&mut self, word: &mut ShellWord, name: &str, stop: ShellTextBoundary) {
        self.doubt("shell.variable", "its words depend on a variable");
        word.compute();
        if name == "IFS" {
            word.text.push(' ');
            word.is_split |= !stop.is_quoted();
        } else if let Some(value) = self.found.variables.get(name) {
            word.text.push_str(value);
            word.is_split |= !stop.is_quoted() && value.contains([' ', '\t', '\n']);
        }
    }

    /// Reads `${…}`: the name, and the word that may replace its value.
    fn parameter(&mut self, word: &mut ShellWord, stop: ShellTextBoundary) {
        self.at += 2;
        let is_indirect = self.byte() == Some(b'!');
        if matches!(self.byte(), Some(b'!' | b'#')) {
            self.at += 1;
        }
        let mut name = self.name();
        if is_indirect {
            name = self.found.variables.get(&name).cloned().unwrap_or_default();
        }
        let mut inner = ShellWord::default();
        self.pieces(&mut inner, stop.closing(b'}'));
        self.at = (self.at + 1).min(self.text.len());
        let default = inner.text.trim_start_matches(':');
        match default.split_at_checked(1) {
            Some(("+", value)) => word.text.push_str(value),
            Some((operator @ ("-" | "="), value)) if !self.found.variables.contains_key(&name) => {
                word.text.push_str(value);
                word.is_split |= !stop.is_quoted() && value.contains(' ');
                if operator == "=" {
                    self.assign(&name, value);
                }
            }
            _ => {}
        }
        self.expand(word, &name, stop);
    }

    /// Reads `$'…'`. Its escapes are resolved here so that a ban still sees the word.
    fn ansi_quoted(&mut self, word: &mut ShellWord) {
        self.doubt("shell.escape", "the shell resolves escapes in `$'…'`");
        word.compute();
        self.at += 2;
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '\'' => return,
                '\\' => self.ansi_escape(word),
                _ => word.text.push(c),
            }
        }
        self.doubt("shell.unfinished", "a quote is not closed");
    }

    fn ansi_escape(&mut self, word: &mut ShellWord) {
        let Some(c) = self.rest().chars().next() else {
            return;
        };
        self.at += c.len_utf8();
        let (radix, most) = match c {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            'n' => return word.text.push('\n'),
            't' => return word.text.push('\t'),
            'r' => return word.text.push('\r'),
            _ => return word.text.push(c),
        };
        let digits = self.rest().chars().take(most);
        let length = digits.take_while(|digit| digit.is_digit(radix)).count();
        let code = u32::from_str_radix(&self.text[self.at..self.at + length], radix);
        self.at += length;
        word.text.extend(code.ok().and_then(char::from_u32));
    }
}
