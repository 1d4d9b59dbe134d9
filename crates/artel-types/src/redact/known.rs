//! Known secret values, in the forms they usually travel in.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use aho_corasick::{AhoCorasick, Anchored, MatchKind};

use super::escapes::UnescapedText;
use crate::Secret;

/// Minimum length of a known value. Shorter ones are not removed, because they would tear
/// holes in ordinary text.
pub const SHORTEST_KNOWN_VALUE: usize = 8;

/// The values to remove, ready for searching.
pub(super) struct KnownSecrets {
    forms: usize,
    longest: usize,
    search: Option<KnownSecretSearch>,
}

struct KnownSecretSearch {
    /// Quickly rules out text without a match, which is nearly all text.
    quick: AhoCorasick,
    /// Finds every match, including overlapping ones, and matches that may begin at the end
    /// of the text.
    exact: NFA,
    start: StateID,
    /// For each state, the number of bytes before it that may be the beginning of something
    /// longer.
    open: HashMap<StateID, usize>,
}

impl KnownSecrets {
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a Secret>) -> Option<Self> {
        let needles: BTreeSet<Vec<u8>> = values
            .into_iter()
            .map(Secret::expose)
            .filter(|value| value.len() >= SHORTEST_KNOWN_VALUE)
            .flat_map(forms)
            .map(|form| one_case(&form).unwrap_or(form))
            .collect();
        let longest = needles.iter().map(Vec::len).max()?;
        Some(Self {
            forms: needles.len(),
            longest,
            search: KnownSecretSearch::of(&needles),
        })
    }

    pub(super) fn forms(&self) -> usize {
        self.forms
    }

    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        match &self.search {
            Some(search) => {
                search.is_in(bytes)
                    || UnescapedText::of(bytes, 0).is_some_and(|it| search.is_in(&it.text))
            }
            None => !bytes.is_empty(),
        }
    }

    /// Appends every match from `from` on and returns how far the text is settled; after
    /// that point, a value may have begun.
    pub(super) fn find(&self, text: &[u8], from: usize, found: &mut Vec<Range<usize>>) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        let Some(search) = &self.search else {
            // Building the search fails only beyond gigabytes of values. Removing
            // everything is the safe choice.
            found.extend((!rest.is_empty()).then_some(from..text.len()));
            return text.len();
        };
        let settled = self.find_in_one_case(search, text, from, found);
        // Text that reads as an escape may also be the value itself, so both texts are
        // searched.
        let Some(unescaped) = UnescapedText::of(text, from) else {
            return settled;
        };
        let mut read = Vec::new();
        let settled_there = self.find_in_one_case(search, &unescaped.text, 0, &mut read);
        found.extend(read.iter().map(|place| unescaped.came(place)));
        settled.min(unescaped.settled(settled_there))
    }

    fn find_in_one_case(
        &self,
        search: &KnownSecretSearch,
        text: &[u8],
        from: usize,
        found: &mut Vec<Range<usize>>,
    ) -> usize {
        let settled = self.find_as_is(search, text, from, found);
        // A percent sign may be followed by a value as well as by an escape, so both texts
        // are searched.
        one_case(text).map_or(settled, |text| {
            settled.min(self.find_as_is(search, &text, from, found))
        })
    }

    fn find_as_is(
        &self,
        search: &KnownSecretSearch,
        text: &[u8],
        from: usize,
        found: &mut Vec<Range<usize>>,
    ) -> usize {
        let tail = text.len().saturating_sub(self.longest).max(from);
        let (mut at, mut state) = (from, search.start);
        while at < text.len() {
            if state == search.start && at < tail {
                let next = search.quick.find(&text[at..]);
                at = next.map_or(tail, |place| tail.min(at + place.start()));
            }
            state = search.exact.next_state(Anchored::No, state, text[at]);
            at += 1;
            for index in 0..search.matches(state) {
                let needle = search.exact.match_pattern(state, index);
                found.push(at - search.exact.pattern_len(needle)..at);
            }
        }
        let open = search.open.get(&state).copied().unwrap_or(0);
        text.len() - open.min(text.len() - from)
    }
}

impl KnownSecretSearch {
    fn of(needles: &BTreeSet<Vec<u8>>) -> Option<Self> {
        let quick = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(needles)
            .ok()?;
        let exact = NFA::builder()
            .match_kind(MatchKind::Standard)
            .build(needles)
            .ok()?;
        let start = exact.start_state(Anchored::No).ok()?;
        let mut search = Self {
            quick,
            exact,
            start,
            open: HashMap::new(),
        };
        search.measure(needles);
        Some(search)
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.quick.is_match(bytes) || one_case(bytes).is_some_and(|text| self.quick.is_match(&text))
    }

    /// Every proper prefix of a value is open for its whole length. The end of a whole
    /// value is open only for the part it shares with the beginning of another value.
    fn measure(&mut self, needles: &BTreeSet<Vec<u8>>) {
        let mut whole = Vec::new();
        for needle in needles {
            let mut state = self.start;
            for (index, byte) in needle.iter().enumerate() {
                state = self.exact.next_state(Anchored::No, state, *byte);
                if index + 1 < needle.len() {
                    self.open.insert(state, index + 1);
                }
            }
            whole.push((needle, state));
        }
        whole.sort_unstable_by_key(|(needle, _)| needle.len());
        for (needle, end) in whole {
            let walk = |state, byte: &u8| self.exact.next_state(Anchored::No, state, *byte);
            let shared = needle[1..].iter().fold(self.start, walk);
            let length = self.open.get(&shared).copied().unwrap_or(0);
            self.open.entry(end).or_insert(length);
        }
    }

    fn matches(&self, state: StateID) -> usize {
        if self.exact.is_match(state) {
            self.exact.match_len(state)
        } else {
            0
        }
    }
}

/// Converts the digits of percent escapes to upper case, because writers differ in their
/// case, even within one text. No byte moves, so positions are the same in both texts.
/// Returns `None` if there is nothing to change, as in most text.
fn one_case(text: &[u8]) -> Option<Vec<u8>> {
    let mut changed = None;
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| find_byte(rest, b'%')) {
        at += next + 1;
        // One digit at the end already counts: the other may come with the next piece.
        let digits = text[at..].iter().take(2);
        let digits = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
        let escape = at..at + digits;
        if text[escape.clone()].iter().any(u8::is_ascii_lowercase) {
            let changed = changed.get_or_insert_with(|| text.to_vec());
            changed[escape].make_ascii_uppercase();
        }
    }
    changed
}

/// Searches whole blocks, because most text has no escape at all and this shows it quickly.
pub(super) fn find_byte(text: &[u8], wanted: u8) -> Option<usize> {
    const BLOCK: usize = 64;
    let block = text
        .chunks(BLOCK)
        .position(|block| block.contains(&wanted))?
        * BLOCK;
    let inside = text[block..].iter().position(|byte| *byte == wanted)?;
    Some(block + inside)
}

/// Returns the ways in which a value may be spelt in text that carries it.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![
        bytes.to_vec(),
        hex.to_ascii_uppercase().into_bytes(),
        wrapped(hex.as_bytes(), 60),
        hex.into_bytes(),
        html_escaped(value).into_bytes(),
        value.replace('\'', r"'\''").into_bytes(),
    ];
    forms.extend(percent_forms(bytes));
    forms.extend(json_forms(value));
    for offset in 0..3 {
        forms.push(base64_inside(bytes, offset, b'+', b'/'));
        forms.push(base64_inside(bytes, offset, b'-', b'_'));
    }
    for offset in 0..3 {
        forms.extend(broken(&base64_inside(bytes, offset, b'+', b'/')));
    }
    forms.retain(|form| form.len() >= SHORTEST_KNOWN_VALUE);
    forms
}

/// Returns base64 as tools break it into lines of 64 or 76. Other data encoded with a value
/// decides where a line ends within it, so it may end anywhere. A value of many lines is
/// taken from the first column only, because it would have too many forms.
fn broken(text: &[u8]) -> Vec<Vec<u8>> {
    const MOST: usize = 400;
    let mut forms = Vec::new();
    for ending in [&b"\n"[..], b"\r\n"] {
        for columns in [64, 76] {
            let starts = if text.len() <= MOST { columns } else { 1 };
            forms.extend((0..starts).map(|at| {
                let (first, rest) = text.split_at(text.len().min(columns - at));
                let lines = std::iter::once(first).chain(rest.chunks(columns));
                lines.collect::<Vec<_>>().join(ending)
            }));
        }
    }
    // A line that ends after the value does not break it.
    forms.retain(|form| form.len() > text.len());
    forms
}

fn wrapped(text: &[u8], columns: usize) -> Vec<u8> {
    text.chunks(columns).collect::<Vec<_>>().join(&b'\n')
}

fn html_escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// JSON often travels as text within JSON, and writers differ in whether they escape a
/// slash. Characters that they spell as numbers are decoded before the search.
fn json_forms(value: &str) -> impl Iterator<Item = Vec<u8>> {
    /// A request holds a body, which holds the arguments of a call.
    const LEVELS: usize = 3;
    let escaped = |text: &str| {
        let quoted = serde_json::Value::String(text.to_owned()).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let once = escaped(value);
    let firsts = [once.replace('/', r"\/"), once];
    firsts.into_iter().flat_map(move |first| {
        let levels = std::iter::successors(Some(first), move |before| Some(escaped(before)));
        levels.take(LEVELS).map(String::into_bytes)
    })
}

/// Writers of URLs differ in which characters they encode and in how they write a space.
/// The case of the digits is made uniform before the search.
fn percent_forms(bytes: &[u8]) -> Vec<Vec<u8>> {
    const KEPT: [&[u8]; 5] = [b"-_.~", b"-_.~!'()*", b"-_.~!'()*;/?:@&=+$,#", b"-_.*", b""];
    let mut forms = Vec::new();
    for kept in KEPT {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || kept.contains(&byte);
        let encoded = percent_encoded(bytes, plain);
        forms.extend([encoded.replace("%20", "+"), encoded]);
    }
    forms.push(percent_encoded(bytes, |_| false));
    forms.into_iter().map(String::into_bytes).collect()
}

fn percent_encoded(bytes: &[u8], plain: impl Fn(u8) -> bool) -> String {
    bytes
        .iter()
        .map(|&byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// Returns the base64 characters that depend on `bytes` alone when `offset` other bytes (0
/// to 2) come before them in the same encoded text.
fn base64_inside(bytes: &[u8], offset: usize, plus: u8, slash: u8) -> Vec<u8> {
    let digit = |six: u32| match six {
        0..26 => b'A' + six as u8,
        26..52 => b'a' + (six - 26) as u8,
        52..62 => b'0' + (six - 52) as u8,
        62 => plus,
        _ => slash,
    };
    let first_bit = offset * 8;
    let last_bit = first_bit + bytes.len() * 8;
    let bit = |at: usize| u32::from(bytes[(at - first_bit) / 8] >> (7 - (at % 8)) & 1);
    (first_bit.div_ceil(6)..last_bit / 6)
        .map(|group| digit((group * 6..group * 6 + 6).fold(0, |six, at| six << 1 | bit(at))))
        .collect()
}
