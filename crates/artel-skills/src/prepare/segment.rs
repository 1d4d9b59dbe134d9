//! Cuts a text into literal text, commands and variables.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillTextSegment<'t> {
    Literal(&'t str),
    /// The text between the backticks, without spaces around it.
    Command(&'t str),
    Variable(SkillVariableReference<'t>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SkillVariableReference<'t> {
    pub(super) name: &'t str,
    pub(super) written: &'t str,
    pub(super) form: SkillVariableNotation,
    /// Whether the variable is in a fenced code block.
    pub(super) is_in_code: bool,
}

/// Notation of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillVariableNotation {
    /// `$NAME`
    Bare,
    /// `${NAME}`
    Braced,
}

/// Iterates over the pieces of a text with their offsets; together they are the whole
/// text.
pub(super) struct SkillTextSegmenter<'t> {
    text: &'t str,
    at: usize,
    /// The piece after a literal, found while the literal was cut and returned next.
    next: Option<(usize, usize, SkillTextSegment<'t>)>,
    fence: CodeFenceTracker,
    has_commands: bool,
}

/// Longest variable name recognised.
const MOST_NAME: usize = 64;

impl<'t> SkillTextSegmenter<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            next: None,
            fence: CodeFenceTracker::default(),
            has_commands: true,
        }
    }

    pub(super) fn without_commands(text: &'t str) -> Self {
        Self {
            has_commands: false,
            ..Self::of(text)
        }
    }

    /// Returns the piece that begins at a sign and its end, or `None` if no piece begins
    /// there.
    fn piece(&mut self, sign: usize) -> Option<(usize, SkillTextSegment<'t>)> {
        let before = self.text[..sign].chars().next_back();
        let rest = &self.text[sign..];
        if before == Some('\\') {
            return None;
        }
        if let Some(inner) = rest.strip_prefix("!`") {
            let is_word = before.is_some_and(char::is_alphanumeric);
            if !self.has_commands || is_word {
                return None;
            }
            let length = inner.find('`')?;
            let command = inner[..length].trim();
            return (!command.is_empty())
                .then_some((sign + 2 + length + 1, SkillTextSegment::Command(command)));
        }
        let (name, length, form) = variable(rest)?;
        self.fence.read_to(self.text, sign);
        let variable = SkillVariableReference {
            name,
            written: &rest[..length],
            form,
            is_in_code: self.fence.is_open(),
        };
        Some((sign + length, SkillTextSegment::Variable(variable)))
    }
}

impl<'t> Iterator for SkillTextSegmenter<'t> {
    type Item = (usize, SkillTextSegment<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((start, end, segment)) = self.next.take() {
            self.at = end;
            return Some((start, segment));
        }
        let start = self.at;
        let mut from = start;
        while let Some(found) = self.text[from..].find(['!', '$']) {
            let sign = from + found;
            if let Some((end, segment)) = self.piece(sign) {
                if sign == start {
                    self.at = end;
                    return Some((start, segment));
                }
                self.next = Some((sign, end, segment));
                return Some((start, SkillTextSegment::Literal(&self.text[start..sign])));
            }
            from = sign + 1;
        }
        let rest = &self.text[start..];
        self.at = self.text.len();
        (!rest.is_empty()).then_some((start, SkillTextSegment::Literal(rest)))
    }
}

/// Reads `$NAME`, `${NAME}` or `$1` at the beginning. Returns the name, the length of the
/// whole, and its form.
fn variable(text: &str) -> Option<(&str, usize, SkillVariableNotation)> {
    let inner = text.strip_prefix('$')?;
    if let Some(inner) = inner.strip_prefix('{') {
        let length = name_length(inner);
        let name = inner.get(..length)?;
        let is_closed = inner[length..].starts_with('}');
        return (is_name(name) && is_closed).then_some((
            name,
            length + 3,
            SkillVariableNotation::Braced,
        ));
    }
    if let Some(b'1'..=b'9') = inner.bytes().next() {
        let mut after = inner.bytes().skip(1);
        let is_amount = match after.next() {
            Some(b'.' | b',') => after.next().is_some_and(|byte| byte.is_ascii_digit()),
            Some(byte) => byte.is_ascii_alphanumeric() || byte == b'_',
            None => false,
        };
        return (!is_amount).then_some((&inner[..1], 2, SkillVariableNotation::Bare));
    }
    let length = name_length(inner);
    let name = &inner[..length];
    (is_name(name) && length < MOST_NAME).then_some((name, length + 1, SkillVariableNotation::Bare))
}

fn name_length(text: &str) -> usize {
    let bytes = text.bytes().take(MOST_NAME);
    bytes
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count()
}

fn is_name(name: &str) -> bool {
    let is_number = matches!(name.as_bytes(), [b'1'..=b'9']);
    is_number || name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Tracks fenced code blocks through a text, forwards only.
#[derive(Debug, Default)]
struct CodeFenceTracker {
    /// Offset of the first line that has not been examined.
    line: usize,
    /// Offset up to which that line contains no line break. Without it, a long line would be
    /// searched again for each name.
    searched: usize,
    open: Option<(u8, usize)>,
}

impl CodeFenceTracker {
    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Examines every line that ends before `end`.
    fn read_to(&mut self, text: &str, end: usize) {
        while let Some(found) = text[self.searched..end].find('\n') {
            let line = &text[self.line..self.searched + found];
            self.searched += found + 1;
            self.line = self.searched;
            self.look(line);
        }
        self.searched = end;
    }

    fn look(&mut self, line: &str) {
        let line = line.trim_start();
        let Some(sign @ (b'`' | b'~')) = line.bytes().next() else {
            return;
        };
        let length = line.bytes().take_while(|byte| *byte == sign).count();
        let rest = line[length..].trim();
        match self.open {
            None if length >= 3 && !(sign == b'`' && rest.contains('`')) => {
                self.open = Some((sign, length));
            }
            Some((open, least)) if open == sign && length >= least && rest.is_empty() => {
                self.open = None;
            }
            _ => {}
        }
    }
}
