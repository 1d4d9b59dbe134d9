//! Reads git's configuration format, as far as needed for a person's own `user.email`.
//!
//! This starts no process, because a configuration can name programs that git would run.

/// One assignment. A bare name (`[core] bare`) has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GitConfigEntry {
    /// `section.key` or `section.subsection.key`, with section and key in lower case.
    pub(crate) key: String,
    pub(crate) value: Option<String>,
}

/// Returns the assignments in order, up to the first line that git would refuse.
pub(crate) fn parse(text: &str) -> Vec<GitConfigEntry> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut reader = GitConfigReader { rest: &text };
    let mut section = String::new();
    let mut items = Vec::new();
    while let Some(line) = reader.line() {
        match line {
            GitConfigLine::Section(name) => section = name,
            GitConfigLine::Item(mut item) => {
                item.key = format!("{section}.{}", item.key);
                items.push(item);
            }
        }
    }
    items
}

enum GitConfigLine {
    Section(String),
    Item(GitConfigEntry),
}

struct GitConfigReader<'t> {
    rest: &'t str,
}

impl GitConfigReader<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let end = self
            .rest
            .find(|letter| !wanted(letter))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_owned()
    }

    /// Returns the next header or assignment, or `None` at the end and at anything else.
    fn line(&mut self) -> Option<GitConfigLine> {
        loop {
            self.take_while(char::is_whitespace);
            match self.rest.chars().next()? {
                '#' | ';' => drop(self.take_while(|letter| letter != '\n')),
                '[' => return self.section().map(GitConfigLine::Section),
                _ => return self.item().map(GitConfigLine::Item),
            }
        }
    }

    /// Reads `[name]`, `[name.sub]` or `[name "Sub"]`. Only the quoted name keeps its case.
    fn section(&mut self) -> Option<String> {
        self.next();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        let mut name = self.take_while(is_part).to_ascii_lowercase();
        let gap = self.take_while(|letter| letter == ' ' || letter == '\t');
        if !gap.is_empty() {
            name = format!("{name}.{}", self.subsection()?);
        }
        (self.next()? == ']' && !name.is_empty()).then_some(name)
    }

    fn subsection(&mut self) -> Option<String> {
        let mut name = String::new();
        if self.next()? != '"' {
            return None;
        }
        loop {
            match self.next()? {
                '"' => return Some(name),
                '\n' => return None,
                '\\' => name.push(self.next().filter(|letter| *letter != '\n')?),
                letter => name.push(letter),
            }
        }
    }

    fn item(&mut self) -> Option<GitConfigEntry> {
        let key = self.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        if !key.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return None;
        }
        let key = key.to_ascii_lowercase();
        self.take_while(|letter| letter == ' ' || letter == '\t');
        match self.next() {
            None | Some('\n') => Some(GitConfigEntry { key, value: None }),
            Some('=') => Some(GitConfigEntry {
                key,
                value: Some(self.value()?),
            }),
            Some(_) => None,
        }
    }

    /// Reads up to the end of the line, or further if the line ends in a backslash.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Blanks at the end are dropped unless they are quoted. This is where the last kept
        // character ends.
        let mut kept = 0;
        let mut is_quoted = false;
        loop {
            match self.next() {
                None | Some('\n') if is_quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !is_quoted => {
                    self.take_while(|letter| letter != '\n');
                    continue;
                }
                Some('"') => is_quoted = !is_quoted,
                Some('\\') => match self.next() {
                    None | Some('\n') => {}
                    Some(letter) => value.push(escaped(letter)?),
                },
                Some(letter) if letter.is_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                Some(letter) => value.push(letter),
            }
            kept = value.len();
        }
        value.truncate(kept);
        Some(value)
    }
}

fn escaped(letter: char) -> Option<char> {
    match letter {
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'n' => Some('\n'),
        '\\' | '"' => Some(letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Option<&str>)]) {
        let found = parse(text);
        let found: Vec<_> = found
            .iter()
            .map(|item| (item.key.as_str(), item.value.as_deref()))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn the_format_is_git_s() {
        let ada: &[_] = &[("user.email", Some("ada@example.org"))];
        check("[user]\n\temail = ada@example.org\n", ada);
        check("[USER]\r\n  Email=ada@example.org  \r\n", ada);
        check("\u{feff}[user] email = ada@example.org", ada);
        check("# c\n; c\n[user]\n email = ada@example.org ; c\n", ada);
        check("[user]\n email = ada@example.org# c\n", ada);
        check("[user]\n email = \"ada@\"example.org\n", ada);
        check("[user]\n email = ada@\\\nexample.org\n", ada);
        check(
            "[user]\n email = \"  #a;\\\"\\\\ \" \n",
            &[("user.email", Some("  #a;\"\\ "))],
        );
        check("[user]\n email\n", &[("user.email", None)]);
        check("[user]\n email =\n", &[("user.email", Some(""))]);
        check(
            "[user \"Work\"]\n email = x\n",
            &[("user.Work.email", Some("x"))],
        );
        check(
            "[user \"a\\\"b\"]\n email = x\n",
            &[("user.a\"b.email", Some("x"))],
        );
        check(
            "[User.Work]\n email = x\n",
            &[("user.work.email", Some("x"))],
        );
        check(
            "[a] x = 1\n[b]\ny = 2",
            &[("a.x", Some("1")), ("b.y", Some("2"))],
        );
    }

    #[test]
    fn reading_stops_where_git_would_refuse() {
        let good = "[user]\nemail = x\n";
        for bad in [
            "= y",
            "1a = y",
            "a b",
            "a = \"y\n",
            "a = \\q\n",
            "[",
            "[]",
            "[a \"b]",
            "[a b]",
            "[a \"b\n\"]",
            "[a/b]",
            "!",
        ] {
            check(
                &format!("{good}{bad}\n[user]\nemail = z\n"),
                &[("user.email", Some("x"))],
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in r#"[\[\]"\\=#; \n\r\ta-z.é]{0,60}"#) {
            parse(&text);
        }

        #[test]
        fn a_quoted_value_reads_back(value in "[ -~]{0,30}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let items = parse(&format!("[a]\nb = \"{quoted}\"\n"));
            prop_assert_eq!(items, vec![GitConfigEntry { key: "a.b".to_owned(), value: Some(value) }]);
        }
    }
}
