//! Armoured private keys: the whole block, from the dashes of `BEGIN` to those of `END`.
//!
//! A block may stand in a string with `\n` for its line ends, be indented, quoted with `>
//! `, or lack its end. It is followed line by line. A line that cannot belong to a key
//! ends it, so a text that only mentions the header stays unchanged.

use super::verdict::{LongSecretEnding, LongSecretProgress, RedactionRuleOutcome};
use super::view::{SecretScanText, contains, is_base64};

const NAME: &str = "private key";

/// Length at which a line of base64 belongs to a key, whatever follows.
const SURE_RUN: usize = 40;

/// Limit on blank lines and headers between two lines of a key.
const MOST_BETWEEN: usize = 8;

/// Number of bytes of the first lines that are searched for proof of a key.
const FIRST_LOOK: usize = 400;

/// Judges a block whose `BEGIN` is at `at`.
pub(super) fn begin(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let dashes = at - usize::from(view.before(at) == Some(b' '));
    let start = view.run_before(dashes, 8, |byte| byte == b'-');
    if dashes - start < 4 {
        return RedactionRuleOutcome::Nothing;
    }
    let Some(body) = header_end(view, at + 5) else {
        return RedactionRuleOutcome::Nothing;
    };
    match first_body(view, body) {
        PemBodyStart::Sure(at) => {
            RedactionRuleOutcome::Long(start..at, LongSecretEnding::KeyLine, NAME)
        }
        PemBodyStart::Short(end) => RedactionRuleOutcome::Secret(start..end, NAME),
        PemBodyStart::None => RedactionRuleOutcome::Nothing,
    }
}

/// Judges `Private-Lines:` at `at`, the secret half of a PuTTY key.
pub(super) fn putty(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let count = view.skip_blanks(at + 14, 4);
    let line_end = view.run(count, 4, |byte| byte.is_ascii_digit());
    let body = skip_break(view, line_end).unwrap_or(line_end);
    let run = view.run(body, SURE_RUN, is_base64);
    if body == line_end || run - body < SURE_RUN {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Long(body..run, LongSecretEnding::KeyRun, NAME)
}

/// Judges the base64 of an armour header at `at`: only a private key is a secret.
pub(super) fn encoded(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let end = view.run(at, 64, is_base64);
    let text = decode_base64(&view.text()[at..end]);
    let private = contains(&text, b"PRIVATE");
    match (private, end - at == 64) {
        (false, _) => RedactionRuleOutcome::Nothing,
        (true, false) => RedactionRuleOutcome::Secret(at..end, NAME),
        (true, true) => RedactionRuleOutcome::Long(at..end, LongSecretEnding::Base64, NAME),
    }
}

/// Judges a number of a key in JSON, whose name is at `at`. The type of key is stated
/// nearby; the primes are so long that nothing else looks like them.
pub(super) fn jwk(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    const LONGEST: usize = 512;
    let open = view.skip_blanks(at + word, 4);
    if view.get(open) != Some(b'"') {
        return RedactionRuleOutcome::Nothing;
    }
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = view.run(open + 1, LONGEST, dash);
    let number = &view.text()[open + 1..end];
    let around = view.run_before(at, 200, |_| true);
    let around = &view.text()[around..at];
    let told = [&b"\"kty\""[..], b"\"crv\"", b"\"AQAB\""];
    let least = if told.iter().any(|part| contains(around, part)) {
        40
    } else {
        80
    };
    let lone = word == 4 && least == 80 && !matches!(view.text()[at + 1], b'p' | b'q');
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let capitals = number
        .iter()
        .filter(|byte| byte.is_ascii_uppercase())
        .count();
    if lone || number.len() < least || digits < 3 || capitals < 3 {
        return RedactionRuleOutcome::Nothing;
    }
    if end - open > LONGEST {
        RedactionRuleOutcome::Long(open + 1..end, LongSecretEnding::Quote(b'"'), NAME)
    } else {
        RedactionRuleOutcome::Secret(open + 1..end, NAME)
    }
}

/// Follows a key's lines from `from` on. Blank lines and headers belong to it only if more
/// of it follows soon.
pub(super) fn follow(
    view: &SecretScanText<'_>,
    from: usize,
    ending: LongSecretEnding,
) -> LongSecretProgress {
    let (mut solid, mut at, mut between) = (from, from, 0);
    let mut ending = ending;
    loop {
        if ending == LongSecretEnding::KeyRun {
            let rest = view.text()[at..].iter();
            let run = rest.take_while(|byte| is_body(**byte)).count();
            view.count(run);
            at += run;
            (solid, between) = (at, 0);
        }
        if at == view.len() && view.is_open() {
            let inside = if solid == at {
                ending
            } else {
                LongSecretEnding::KeyLine
            };
            return LongSecretProgress::GoesOn(solid, inside);
        }
        let line = line(view, at);
        if view.was_touched() {
            return LongSecretProgress::GoesOn(solid, LongSecretEnding::KeyLine);
        }
        match line {
            PemLine::Run(end) => (at, ending) = (end, LongSecretEnding::KeyRun),
            PemLine::Other(end) if end > at && between < MOST_BETWEEN => {
                (at, ending, between) = (end, LongSecretEnding::KeyLine, between + 1);
            }
            PemLine::End(end) => return LongSecretProgress::Ended(end),
            PemLine::Other(_) | PemLine::Foreign => return LongSecretProgress::Ended(solid),
        }
    }
}

enum PemBodyStart {
    /// Base64 that only a key can have begins after this position.
    Sure(usize),
    /// A short block that ends here.
    Short(usize),
    None,
}

/// One line of a key, with the preceding line break and decoration.
enum PemLine {
    /// Base64 up to this position.
    Run(usize),
    /// A header or an empty line, up to this position.
    Other(usize),
    /// An `END` line whose dashes end at this position.
    End(usize),
    Foreign,
}

/// Returns the position after `… PRIVATE KEY-----`.
fn header_end(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || b" %+_".contains(&byte);
    let end = view.run(at, 64, is_label);
    let label = &view.text()[at..end];
    if !contains(label, b"PRIVATE") {
        return None;
    }
    let dashes = view.run(end, 6, |byte| byte == b'-');
    (dashes - end >= 4).then_some(dashes)
}

fn first_body(view: &SecretScanText<'_>, body: usize) -> PemBodyStart {
    let (mut at, mut letters) = (body, 0);
    while at - body < FIRST_LOOK {
        match line(view, at) {
            PemLine::Run(end) => {
                let run = view.run_before(end, SURE_RUN, is_body);
                let filler = |byte: &&u8| b"xX.".contains(*byte);
                letters += end - run - view.text()[run..end].iter().filter(filler).count();
                if end - run >= 20 {
                    return PemBodyStart::Sure(at);
                }
                at = end;
            }
            PemLine::Other(end) if end > at => at = end,
            PemLine::End(end) if letters >= 6 => return PemBodyStart::Short(end),
            PemLine::End(_) | PemLine::Other(_) | PemLine::Foreign => return PemBodyStart::None,
        }
    }
    PemBodyStart::None
}

/// Reads the line that begins at `at` with its line break.
fn line(view: &SecretScanText<'_>, at: usize) -> PemLine {
    let broken = skip_break(view, at);
    let text = decoration(view, broken.unwrap_or(at));
    if view.starts(text, b"---") {
        return armour_end(view, text);
    }
    let run = view.run(text, SURE_RUN, is_body);
    if run - text == SURE_RUN {
        return PemLine::Run(run);
    }
    if run == text {
        return empty_line(view, broken, at, text);
    }
    if let Some(end) = header_line(view, text) {
        return PemLine::Other(end);
    }
    match view.get(run) {
        None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'%' | b',') => PemLine::Run(run),
        Some(b' ' | b'\t') if ends_soon(view, run) => PemLine::Run(run),
        _ => PemLine::Foreign,
    }
}

fn empty_line(view: &SecretScanText<'_>, broken: Option<usize>, at: usize, text: usize) -> PemLine {
    match broken {
        Some(next) if next > at && text < view.len() && skip_break(view, text).is_some() => {
            PemLine::Other(text)
        }
        _ => PemLine::Foreign,
    }
}

/// Returns the end of a header line, which precedes the body.
fn header_line(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    const HEADERS: [&[u8]; 6] = [
        b"Proc-Type: ",
        b"DEK-Info: ",
        b"Version: ",
        b"Comment: ",
        b"Hash: ",
        b"Charset: ",
    ];
    let header = HEADERS.into_iter().find(|name| view.starts(at, name))?;
    let ends = |byte: u8| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'');
    let end = view.run(at + header.len(), 160, |byte| !ends(byte));
    (end - at < 160).then_some(end)
}

fn armour_end(view: &SecretScanText<'_>, at: usize) -> PemLine {
    let dashes = view.run(at, 8, |byte| matches!(byte, b'-' | b' '));
    if !view.starts(dashes, b"END") {
        return PemLine::Foreign;
    }
    let label = view.run(dashes, 64, |byte| {
        byte.is_ascii_alphanumeric() || b" %+_".contains(&byte)
    });
    PemLine::End(view.run(label, 5, |byte| byte == b'-'))
}

/// Returns whether the armour ends here. Where spaces replace line ends, the last line is
/// short and followed by the end.
fn ends_soon(view: &SecretScanText<'_>, at: usize) -> bool {
    let next = view.run(at, 8, |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    view.starts(next, b"---")
}

/// Returns the position after a line end, real or escaped, including quotes that close and
/// open a string.
fn skip_break(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    let mut here = at;
    for _ in 0..8 {
        here = match view.get(here) {
            Some(b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b',' | b'+') => here + 1,
            Some(b'\\') => view.run(here, 3, |byte| byte == b'\\') + 1,
            Some(b'%') if view.starts(here, b"%0") => here + 3,
            _ => break,
        };
    }
    (here > at).then_some(here)
}

/// Skips indentation, quote marks and the line numbers that viewers put before a line.
fn decoration(view: &SecretScanText<'_>, at: usize) -> usize {
    let quoted = view.run(at, 24, |byte| b" \t>|#*\"'`".contains(&byte));
    let digits = view.run(quoted, 6, |byte| byte.is_ascii_digit());
    let marks = view.run(digits, 3, |byte| b"\t|:>\xe2\x86\x92".contains(&byte));
    if digits > quoted && marks > digits {
        view.skip_blanks(marks, 8)
    } else {
        quoted
    }
}

fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'.')
}

/// Decodes as much base64 as possible; damage only shortens the result.
pub(super) fn decode_base64(text: &[u8]) -> Vec<u8> {
    let six = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let sixes: Vec<u8> = text.iter().map_while(|byte| six(*byte)).collect();
    let mut decoded = Vec::with_capacity(sixes.len());
    for four in sixes.chunks(4) {
        let bits = four
            .iter()
            .fold(0u32, |bits, six| bits << 6 | u32::from(*six));
        let bits = bits << (6 * (4 - four.len()));
        let bytes = bits.to_be_bytes();
        decoded.extend_from_slice(&bytes[1..four.len().max(1)]);
    }
    decoded
}
