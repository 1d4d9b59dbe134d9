//! One spelling for all the spellings that some file system treats as the same name.
//!
//! A tree made on Linux may be checked out on file systems that ignore case, drop
//! invisible characters and trailing dots, or know a second, short name. A name that
//! becomes a protected one anywhere is protected everywhere: nobody needs a file called
//! `.GIT` or `git~1`.

/// Returns the folded components of a path. A backslash separates components too, and the
/// text after a colon (the stream of a file) does not belong to the name.
pub(super) fn components(path: &str) -> Vec<String> {
    path.split(['/', '\\'])
        .map(component)
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns a component as the most forgiving file system sees it.
fn component(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars().filter(|letter| !is_ignorable(*letter)) {
        match letter {
            '\u{ff01}'..='\u{ff5e}' => folded.extend(narrow(letter).to_lowercase()),
            'ſ' => folded.push('s'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            'ﬀ' => folded.push_str("ff"),
            'ﬁ' => folded.push_str("fi"),
            'ﬂ' => folded.push_str("fl"),
            'ﬃ' => folded.push_str("ffi"),
            'ﬄ' => folded.push_str("ffl"),
            'ﬅ' | 'ﬆ' => folded.push_str("st"),
            '․' | '。' | '｡' => folded.push('.'),
            _ => folded.extend(letter.to_lowercase()),
        }
    }
    let name = match folded.split_once(':') {
        Some((name, _stream)) if !name.is_empty() => name,
        _ => &folded,
    };
    if name.bytes().all(|byte| byte == b'.') {
        return String::new();
    }
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Returns whether a component is the short name (`MCP~1.JSO`) that some file systems give
/// to a long one: up to six letters of it without dots, a tilde and a number, three
/// letters of its extension.
pub(super) fn is_short_name_of(component: &str, long: &str) -> bool {
    let Some((head, tail)) = component.split_once('~') else {
        return false;
    };
    let (number, ending) = tail.split_once('.').unwrap_or((tail, ""));
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return false;
    }
    let long = long.trim_start_matches('.');
    let (stem, long_ending) = long.rsplit_once('.').unwrap_or((long, ""));
    let stem: String = stem.chars().filter(|letter| *letter != '.').collect();
    let stem = &stem[..stem.len().min(6)];
    head == stem && ending == &long_ending[..long_ending.len().min(3)]
}

fn narrow(wide: char) -> char {
    char::from_u32(u32::from(wide) - 0xfee0).unwrap_or(wide)
}

/// Returns whether a character is invisible and ignored by some file systems when they
/// compare names.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
