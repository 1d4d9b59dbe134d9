//! Syntax highlighting of comments, strings, numbers and keywords.
//!
//! It does not parse. It knows how comments and strings begin and end, which is enough for
//! reading a diff, and it never loses a character.

/// A part of a line in one colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::console) struct HighlightSpan {
    pub(in crate::console) class: &'static str,
    pub(in crate::console) text: String,
}

impl HighlightSpan {
    /// Returns text without a colour.
    pub(super) fn plain(text: &str) -> Self {
        Self {
            class: "",
            text: text.to_owned(),
        }
    }
}

/// The syntax of a language, as far as it is highlighted.
#[derive(Debug, Clone, Copy)]
pub(super) struct HighlightLanguage {
    words: &'static str,
    /// Start of a comment that ends with the line.
    line: &'static str,
    /// Start and end of a block comment.
    block: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    /// For markup languages, the character before a tag name, which is coloured like a
    /// keyword.
    tag: Option<char>,
    /// First character of a line that is a heading as a whole.
    heading: Option<char>,
}

/// The defaults of all languages.
const PLAIN: HighlightLanguage = HighlightLanguage {
    words: " ",
    line: NEVER,
    block: None,
    quotes: "\"'",
    tag: None,
    heading: None,
};

/// Text that no line contains.
const NEVER: &str = "\u{0}";

const RUST: HighlightLanguage = HighlightLanguage {
    words: " as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while ",
    line: "//",
    block: Some(("/*", "*/")),
    quotes: "\"",
    ..PLAIN
};

const PYTHON: HighlightLanguage = HighlightLanguage {
    words: " and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield ",
    line: "#",
    block: None,
    quotes: "\"'",
    ..PLAIN
};

const SCRIPT: HighlightLanguage = HighlightLanguage {
    words: " async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private public return static super switch this throw true try type typeof undefined var void while with yield ",
    line: "//",
    block: Some(("/*", "*/")),
    quotes: "\"'`",
    ..PLAIN
};

const CURLY: HighlightLanguage = HighlightLanguage {
    words: " abstract auto bool boolean break byte case catch char class const continue default defer do double else enum extends extern false final finally float for func go goto if implements import int interface internal long map namespace new nil null override package private protected public range return select short signed sizeof static string struct super switch template this throw throws true try type typedef union unsigned using var virtual void volatile while ",
    line: "//",
    block: Some(("/*", "*/")),
    quotes: "\"'",
    ..PLAIN
};

const SHELL: HighlightLanguage = HighlightLanguage {
    words: " case do done elif else esac export fi for function if in local return set then until while ",
    line: "#",
    block: None,
    quotes: "\"'",
    ..PLAIN
};

const SETTINGS: HighlightLanguage = HighlightLanguage {
    words: " true false null yes no on off ",
    line: "#",
    block: None,
    quotes: "\"'",
    ..PLAIN
};

const SQL: HighlightLanguage = HighlightLanguage {
    words: " ADD ALTER AND AS BY CREATE DELETE DROP FROM GROUP HAVING IN INDEX INSERT INTO JOIN LEFT LIMIT NOT NULL ON OR ORDER PRIMARY KEY SELECT SET TABLE UNION UPDATE VALUES WHERE WITH ",
    line: "--",
    block: Some(("/*", "*/")),
    quotes: "'",
    ..PLAIN
};

const STYLE: HighlightLanguage = HighlightLanguage {
    block: Some(("/*", "*/")),
    ..PLAIN
};

const RUBY: HighlightLanguage = HighlightLanguage {
    words: " alias and begin break case class def defined do else elsif end ensure extend false for if in include module next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield ",
    line: "#",
    quotes: "\"'`",
    ..PLAIN
};

const LUA: HighlightLanguage = HighlightLanguage {
    words: " and break do else elseif end false for function goto if in local nil not or repeat return then true until while ",
    line: "--",
    block: Some(("--[[", "]]")),
    ..PLAIN
};

// Apostrophes in text between tags do not start strings.
const MARKUP: HighlightLanguage = HighlightLanguage {
    block: Some(("<!--", "-->")),
    quotes: "\"",
    tag: Some('<'),
    ..PLAIN
};

/// Markup with embedded scripts. URLs also contain `//`, but without a space after it.
const COMPONENT: HighlightLanguage = HighlightLanguage {
    words: SCRIPT.words,
    line: "// ",
    quotes: "\"`",
    ..MARKUP
};

const PROSE: HighlightLanguage = HighlightLanguage {
    block: Some(("<!--", "-->")),
    quotes: "`",
    heading: Some('#'),
    ..PLAIN
};

impl HighlightLanguage {
    /// Returns the language of a file, by the ending of its name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
        Some(match ending.to_ascii_lowercase().as_str() {
            "rs" => RUST,
            "py" | "pyi" => PYTHON,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" => SCRIPT,
            "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "go" | "java" | "kt" | "swift" | "scala"
            | "php" | "dart" | "zig" => CURLY,
            "sh" | "bash" | "zsh" | "makefile" | "dockerfile" => SHELL,
            "toml" | "yaml" | "yml" | "json" | "ini" | "cfg" => SETTINGS,
            "sql" => SQL,
            "css" | "scss" | "less" => STYLE,
            "rb" | "rake" | "gemspec" | "gemfile" | "rakefile" => RUBY,
            "lua" => LUA,
            "html" | "htm" | "xhtml" | "xml" | "svg" | "xsd" | "xsl" => MARKUP,
            "vue" | "svelte" => COMPONENT,
            "md" | "markdown" => PROSE,
            _ => return None,
        })
    }

    fn has(self, word: &str) -> bool {
        self.words.split(' ').any(|known| known == word)
    }
}

/// Highlights one line after another, and remembers open block comments.
#[derive(Debug, Clone)]
pub(super) struct LineHighlighter {
    language: Option<HighlightLanguage>,
    /// Whether the next line begins within a block comment.
    is_comment: bool,
}

impl LineHighlighter {
    pub(super) fn new(language: Option<HighlightLanguage>) -> Self {
        Self {
            language,
            is_comment: false,
        }
    }

    pub(super) fn line(&mut self, text: &str) -> Vec<HighlightSpan> {
        let Some(language) = self.language else {
            return vec![HighlightSpan::plain(text)];
        };
        let is_heading = |sign: char| text.trim_start().starts_with(sign);
        if !self.is_comment && language.heading.is_some_and(is_heading) {
            return vec![HighlightSpan {
                class: "k",
                text: text.to_owned(),
            }];
        }
        let mut spans: Vec<HighlightSpan> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (class, length) = self.next(language, rest);
            let (taken, after) = rest.split_at(length);
            match spans.last_mut() {
                Some(last) if last.class == class => last.text.push_str(taken),
                _ => spans.push(HighlightSpan {
                    class,
                    text: taken.to_owned(),
                }),
            }
            rest = after;
        }
        spans
    }

    /// Returns the class of the next token and its length in bytes, at least one character.
    fn next(&mut self, language: HighlightLanguage, rest: &str) -> (&'static str, usize) {
        if let Some((begin, end)) = language.block
            && (self.is_comment || rest.starts_with(begin))
        {
            let from = if self.is_comment { 0 } else { begin.len() };
            let found = rest[from..].find(end).map(|at| from + at + end.len());
            self.is_comment = found.is_none();
            return ("c", found.unwrap_or(rest.len()));
        }
        if rest.starts_with(language.line) {
            return ("c", rest.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if language.quotes.contains(first) {
            return ("s", quoted(rest, first));
        }
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        if language.tag == Some(first) {
            let is_tag = |letter: char| is_part(letter) || "/-:!?".contains(letter);
            let name = rest.char_indices().skip(1);
            let mut name = name.skip_while(|(_, letter)| is_tag(*letter));
            let length = name.next().map_or(rest.len(), |(at, _)| at);
            let class = if length > 1 { "k" } else { "" };
            return (class, length);
        }
        if first.is_ascii_digit() {
            let is_number = |letter: char| is_part(letter) || letter == '.';
            return (
                "n",
                rest.find(|letter| !is_number(letter)).unwrap_or(rest.len()),
            );
        }
        if is_part(first) {
            let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            let class = if language.has(&rest[..length]) {
                "k"
            } else {
                ""
            };
            return (class, length);
        }
        ("", first.len_utf8())
    }
}

/// Returns the length of a string with its quotes, or of the rest of the line if it does
/// not end.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match (is_escaped, letter) {
            (true, _) => is_escaped = false,
            (false, '\\') => is_escaped = true,
            (false, letter) if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use artel_testkit::Random;

    use super::{HighlightLanguage, LineHighlighter};

    fn painted(name: &str, lines: &[&str]) -> Vec<String> {
        let mut paint = LineHighlighter::new(HighlightLanguage::of(name));
        let shown = |line: &&str| {
            let spans = paint.line(line).into_iter();
            let spans = spans.filter(|span| !span.class.is_empty());
            let spans: Vec<String> = spans
                .map(|it| format!("{}:{}", it.class, it.text))
                .collect();
            spans.join("|")
        };
        lines.iter().map(shown).collect()
    }

    #[test]
    fn comments_texts_numbers_and_words() {
        for (name, line, expected) in [
            (
                "a.rs",
                "let x = \"a // b\"; // c",
                "k:let|s:\"a // b\"|c:// c",
            ),
            ("a.rs", "fn life<'a>(x: &'a str)", "k:fn"),
            (
                "a.py",
                "return 'it\\'s' + 42  # no",
                "k:return|s:'it\\'s'|n:42|c:# no",
            ),
            ("a.toml", "x = true", "k:true"),
            ("a.txt", "let x = 1", ""),
            ("Makefile", "if x # y", "k:if|c:# y"),
            (
                "a.html",
                "<p class=\"x\">don't <b>1</b></p> <!-- c -->",
                "k:<p|s:\"x\"|k:<b|n:1|k:</b|k:</p|c:<!-- c -->",
            ),
            ("a.xml", "<?xml version=\"1.0\"?>", "k:<?xml|s:\"1.0\""),
            ("README.md", "## A heading `x`", "k:## A heading `x`"),
            ("a.md", "It's `code` here", "s:`code`"),
            (
                "a.rb",
                "def x = 'a' unless nil # no",
                "k:def|s:'a'|k:unless|k:nil|c:# no",
            ),
            ("a.lua", "local x = \"a\" -- no", "k:local|s:\"a\"|c:-- no"),
            (
                "a.vue",
                "<a href=\"https://x\"> const a = 1 // b",
                "k:<a|s:\"https://x\"|k:const|n:1|c:// b",
            ),
            ("a.svelte", "{#if open}</script>", "k:if|k:</script"),
        ] {
            assert_eq!(painted(name, &[line]), [expected], "{name}");
        }
        let lines = ["--[[ a", "# b", "]] end"];
        assert_eq!(
            painted("a.lua", &lines),
            ["c:--[[ a", "c:# b", "c:]]|k:end"]
        );
        let lines = ["<!-- a", "# b -->", "# c"];
        assert_eq!(painted("a.md", &lines), ["c:<!-- a", "c:# b -->", "k:# c"]);
        let lines = ["a /* b", "c */ if"];
        assert_eq!(painted("a.c", &lines), ["c:/* b", "c:c */|k:if"]);
    }

    #[test]
    fn no_character_is_lost() {
        let mut random = Random::of_seed(7);
        let letters = [
            '"', '\'', '/', '*', '#', '\\', 'a', '1', ' ', 'é', '-', '`', '<', '>', '!', '[',
        ];
        for name in [
            "a.rs", "a.py", "a.js", "a.sql", "a.css", "a.txt", "a.html", "a.md", "a.rb", "a.lua",
            "a.vue",
        ] {
            let mut paint = LineHighlighter::new(HighlightLanguage::of(name));
            for _ in 0..200 {
                let length = random.below(30);
                let line: String = (0..length)
                    .map(|_| letters[usize::try_from(random.below(16)).unwrap()])
                    .collect();
                let spans = paint.line(&line);
                let joined: String = spans.iter().map(|span| span.text.as_str()).collect();
                assert_eq!(joined, line, "{name}");
            }
        }
    }
}
