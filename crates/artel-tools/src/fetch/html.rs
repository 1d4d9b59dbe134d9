//! Converts HTML to readable text: tags are removed, links and headings stay. It reads
//! once from front to back, so no page takes long, and every text gives a result.

use reqwest::Url;

/// Elements whose content is not meant for reading.
const DROPPED: &[&str] = &[
    "script", "style", "noscript", "svg", "template", "iframe", "object",
];

/// Elements that start on a new line.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "ul",
    "ol",
    "table",
    "tr",
    "blockquote",
    "form",
    "figure",
    "dl",
    "dt",
    "dd",
    "hr",
    "body",
    "title",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
];

/// Converts a page to text. Links are completed with the page's own address.
pub(super) fn to_text(html: &str, base: &Url) -> String {
    let mut page = HtmlTextRenderer {
        out: String::new(),
        base,
        links: Vec::new(),
        pre: 0,
    };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        page.text(&rest[..at]);
        rest = page.markup(&rest[at..]);
    }
    page.text(rest);
    page.finish()
}

struct HtmlTextRenderer<'p> {
    out: String,
    base: &'p Url,
    /// Offset of each open link in the text, and its target.
    links: Vec<(usize, Option<String>)>,
    /// Number of open `pre` elements.
    pre: usize,
}

impl HtmlTextRenderer<'_> {
    /// Consumes one tag or comment, and returns the rest.
    fn markup<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(comment) = text.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |end| &comment[end + 3..]);
        }
        let inner = &text[1..];
        let is_tag = inner.starts_with(|letter: char| {
            letter.is_ascii_alphabetic() || matches!(letter, '/' | '!' | '?')
        });
        if !is_tag {
            self.text("<");
            return inner;
        }
        let Some(end) = end_of_tag(inner) else {
            return "";
        };
        let (tag, after) = (&inner[..end], &inner[end + 1..]);
        let (is_closing, body) = match tag.strip_prefix('/') {
            Some(body) => (true, body),
            None => (false, tag),
        };
        let length = body
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(body.len());
        let name = body[..length].to_ascii_lowercase();
        if !is_closing && DROPPED.contains(&name.as_str()) && !tag.ends_with('/') {
            return after_closing(after, &name);
        }
        if is_closing {
            self.close(&name)
        } else {
            self.open(&name, &body[length..])
        }
        after
    }

    fn open(&mut self, name: &str, attributes: &str) {
        if BLOCKS.contains(&name) {
            self.line();
        }
        match name {
            "br" => self.out.push('\n'),
            "li" => {
                self.line();
                self.out.push_str("- ");
            }
            "td" | "th" => self.out.push_str(" | "),
            "pre" => self.pre += 1,
            "a" => {
                let target = attribute(attributes, "href").and_then(|href| self.whole(&href));
                self.links.push((self.out.len(), target));
            }
            "img" => {
                if let Some(alt) = attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty())
                {
                    self.text(&format!("[image: {alt}]"));
                }
            }
            _ => {}
        }
        let level = name
            .strip_prefix('h')
            .and_then(|level| level.parse::<usize>().ok());
        if let Some(level @ 1..=6) = level {
            self.out.push('\n');
            self.out.push_str(&"#".repeat(level));
            self.out.push(' ');
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "pre" => self.pre = self.pre.saturating_sub(1),
            "a" => self.close_link(),
            _ => {}
        }
        if BLOCKS.contains(&name) || name == "li" {
            self.line();
        }
    }

    fn close_link(&mut self) {
        let Some((start, Some(target))) = self.links.pop() else {
            return;
        };
        let Some(text) = self.out.get(start..) else {
            return;
        };
        let text = text.trim();
        if text.is_empty() || text.contains('\n') {
            return;
        }
        let link = format!("[{text}]({target})");
        let before = self.out[start..].starts_with(' ');
        self.out.truncate(start);
        if before {
            self.out.push(' ');
        }
        self.out.push_str(&link);
    }

    /// Completes a link. Links within the page and scripts give `None` and stay plain text.
    fn whole(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.starts_with('#') {
            return None;
        }
        let url = self.base.join(href).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.to_string())
    }

    /// Adds text. White space collapses to one space, except in `pre`.
    fn text(&mut self, text: &str) {
        let text = entities(text);
        if self.pre > 0 {
            self.out.push_str(&text);
            return;
        }
        for letter in text.chars() {
            match letter.is_whitespace() {
                true if self.out.is_empty() || self.out.ends_with([' ', '\n']) => {}
                true => self.out.push(' '),
                false => self.out.push(letter),
            }
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Removes repeated empty lines and trailing spaces.
    fn finish(self) -> String {
        let mut out = String::with_capacity(self.out.len());
        let mut empty = 0;
        for line in self.out.lines() {
            let line = line.trim_end();
            empty = if line.is_empty() { empty + 1 } else { 0 };
            if empty < 2 {
                out.push_str(line);
                out.push('\n');
            }
        }
        out.trim().to_owned()
    }
}

/// Finds the end of a tag; a `>` in quotes does not count.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // A quote that is never closed would swallow the page.
    text.find('>')
}

/// Returns the text after the end of an element whose content is dropped.
fn after_closing<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        let inner = &rest[at + 2..];
        let is_end = inner
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name));
        if is_end {
            return inner.find('>').map_or("", |end| &inner[end + 1..]);
        }
        rest = inner;
    }
    ""
}

/// Reads an attribute of a tag.
fn attribute(text: &str, name: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = from + lower.get(from..)?.find(name)?;
        let is_start = lower[..at].ends_with(char::is_whitespace);
        let value = text[at + name.len()..].trim_start().strip_prefix('=');
        if let (true, Some(value)) = (is_start, value) {
            let value = value.trim_start();
            let end = match value.chars().next()? {
                quote @ ('"' | '\'') => {
                    let inner = &value[1..];
                    return Some(entities(&inner[..inner.find(quote).unwrap_or(inner.len())]));
                }
                _ => value.find(char::is_whitespace).unwrap_or(value.len()),
            };
            return Some(entities(&value[..end]));
        }
        from = at + name.len();
    }
}

/// Replaces the character references that pages really use.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((letter, end)) => {
                out.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|letter| !letter.is_control() || *letter == '\n');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "middot" => '·',
        "bull" => '•',
        "times" => '×',
        "rarr" => '→',
        "larr" => '←',
        _ => return None,
    })
}
