//! Decides whether a value under the name of a secret is one: not a placeholder, not a
//! reference to where it is kept, not the type of a parameter, not code that fetches it.

use std::sync::LazyLock;

use super::names::{SecretFieldCertainty, SecretFieldKind, SecretFieldName, SecretFieldNameStyle};
use super::view::contains;
use super::words::LowercaseWordList;

/// The written form of a value, which says how literally it is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldValueForm {
    /// In a place where only a literal can stand.
    Literal,
    /// In quotes.
    Quoted,
    /// As the whole rest of a line: a settings file or a declaration.
    Line,
    /// Unquoted, in the middle of other text.
    Loose,
    /// After an option of a command.
    Option,
}

/// Words that stand in for a value or name its kind.
static PLAIN: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "a abc access account an and any api apikey app argon argument array ascii async at auth \
         auto await bar base basic baz bcrypt bearer body bool boolean byte bytes change changeit \
         changeme char class client config const cookie cookies credential credentials data date \
         datetime db def default dict digest disabled double dummy dynamic email empty encrypted enabled enter \
         enum env environment err error es example expired f fake false field fields file fixme \
         flag float fn foo for form from func function goes hashed header headers here hex hidden \
         hs i id in include incorrect inherit input insert int integer invalid is isize jwt key \
         keychain keyring label let list manual map masked md me missing mock my name nan never \
         new nil no none not null number oauth object of off ok okay omit omitted on option \
         optional or origin our output param parameter pass passphrase passwd password \
         placeholder plaintext private prompt public put pw pwd query qux redacted refresh \
         removed replace required result return revoked rs same sample scrypt secret secrets self \
         server service session set settings sha some static stdin str string struct stub tbd \
         test testing text the this to todo token tokens true type u undefined unknown unset user \
         username usize utf uuid valid value var varchar variable vault void with wrong yes your",
    )
});

/// Words of settings and descriptions that are found joined together where a password
/// could stand.
static ABOUT: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "accepted algorithm allow allowed almost also always app based be been below bundle by can \
         case ci cluster command configured create created dash day days deny denied dev \
         development disable enable encoded entry expiry external fail failed failure field first \
         free generated given group grant guide has hash help hint http https ignore ignored \
         inherited initial last length less level list local login long lower lowercase managed \
         manager manual max maximum min minimum mode must need needed next off old once one only \
         parent per plain policy prod production protected provided provider quoted read ref \
         reference release reset role rotated rule safe saved scope see seed sensitive sent setup \
         shared short should sign signed single sourced stage staging state store stored strong \
         success successfully supplied team temporary tls two unchanged unencrypted until update \
         updated upper uppercase use used users using via visible was weak what when will without \
         write",
    )
});

/// Types, algorithms and versions, which a number may follow.
static NUMBERED: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of("argon base ed es f float hs i int md oauth ps rs sha u uint utf utfmb v")
});

/// Words of which one is enough to mark a placeholder.
static PLACEHOLDER: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "changeme here insert omitted placeholder redacted removed replaceme todo your",
    )
});

/// Words that mark a sentence.
static PROSE: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "a account an and are as at be by can cannot change changed characters confirm current \
         digits do does enter for forgot forgotten from given has have if in invalid is it \
         least letters login long match maximum minimum missing must new no not of old on \
         option or please repeat required reset short should sign that the then this to too \
         unless use using value was when will with wrong you your",
    )
});

/// Shortest value that can look random, in bytes.
const LEAST_RANDOM: usize = 20;

/// Counts of the kinds of characters in a value.
struct ValueCharacterCounts {
    upper: usize,
    lower: usize,
    digits: usize,
    /// Anything other than letters, digits, blanks and `_-.`.
    marks: usize,
    blanks: usize,
}

/// Returns whether the value of this name is a secret.
pub(super) fn is_secret(name: SecretFieldName, value: &[u8], written: FieldValueForm) -> bool {
    let least = match name.weight {
        SecretFieldCertainty::Sure | SecretFieldCertainty::IfMixed => 3,
        SecretFieldCertainty::Maybe => LEAST_RANDOM,
    };
    if value.len() < least {
        return false;
    }
    let shape = ValueCharacterCounts::of(value);
    if is_template(value) || is_filler(value) || is_elsewhere(value) {
        return false;
    }
    if name.style == SecretFieldNameStyle::Upper
        && written == FieldValueForm::Quoted
        && is_salt(value, &shape)
    {
        return true;
    }
    if shape.blanks > 0 {
        return is_phrase(name, value, written);
    }
    if is_placeholder(value, &shape) || is_code(value, written) {
        return false;
    }
    match name.weight {
        SecretFieldCertainty::Maybe => return is_random(value, &shape),
        SecretFieldCertainty::IfMixed
            if shape.letters() == 0 || shape.digits + shape.marks == 0 =>
        {
            return false;
        }
        SecretFieldCertainty::IfMixed | SecretFieldCertainty::Sure => {}
    }
    match name.noun {
        SecretFieldKind::Password | SecretFieldKind::Secret => {
            is_password(name, value, &shape, written)
        }
        SecretFieldKind::Token | SecretFieldKind::Key | SecretFieldKind::Auth => {
            is_token(name, value, &shape, written)
        }
        SecretFieldKind::Signature => written == FieldValueForm::Literal && value.len() >= 16,
        SecretFieldKind::Phrase => false,
    }
}

fn is_password(
    name: SecretFieldName,
    value: &[u8],
    shape: &ValueCharacterCounts,
    written: FieldValueForm,
) -> bool {
    if shape.letters() == 0 && shape.marks == 0 {
        return shape.digits >= 6 || shape.digits >= 4 && written != FieldValueForm::Loose;
    }
    let simple = shape.digits == 0 && shape.marks == 0;
    if shape.letters() + shape.digits == 0 {
        return false;
    }
    match written {
        FieldValueForm::Literal => true,
        FieldValueForm::Quoted if simple => value.len() >= 4 && !is_label(value, shape),
        FieldValueForm::Option if simple => {
            value.len() >= 5 && !PROSE.has(&String::from_utf8_lossy(value).to_lowercase())
        }
        FieldValueForm::Line if simple => {
            let word = shape.letters() == value.len();
            let meant =
                name.style == SecretFieldNameStyle::Upper || name.noun == SecretFieldKind::Password;
            let code = is_label(value, shape) || is_camel(value) || is_about(value);
            let whole = word && meant && !code;
            value.len() >= 6 && whole || is_spoken_password(value)
        }
        FieldValueForm::Loose if simple => {
            let word = name.noun == SecretFieldKind::Password
                && value.iter().filter(|b| **b == b'-').count() >= 2;
            word && is_spoken_password(value)
        }
        FieldValueForm::Loose => {
            let path = value.contains(&b'/') && is_wordy(value);
            value.len() >= 6 && !path && !is_stem(value)
        }
        FieldValueForm::Quoted | FieldValueForm::Option | FieldValueForm::Line => {
            value.len() >= 4 && !(written == FieldValueForm::Line && is_stem(value))
        }
    }
}

fn is_token(
    name: SecretFieldName,
    value: &[u8],
    shape: &ValueCharacterCounts,
    written: FieldValueForm,
) -> bool {
    if shape.letters() == 0 && shape.marks == 0 {
        return shape.digits >= 10;
    }
    let upper = name.style == SecretFieldNameStyle::Upper;
    match written {
        FieldValueForm::Literal if name.noun == SecretFieldKind::Auth => {
            value.len() >= 6 && shape.digits > 0
        }
        FieldValueForm::Literal => value.len() >= 6 && (shape.digits > 0 || value.len() >= 8),
        FieldValueForm::Line if upper => {
            value.len() >= 6 && (shape.digits > 0 || value.len() >= 12)
        }
        FieldValueForm::Quoted if upper && value.len() >= 8 && shape.digits > 0 => true,
        FieldValueForm::Quoted if upper && is_spoken_password(value) => true,
        FieldValueForm::Quoted if name.noun == SecretFieldKind::Auth && value.contains(&b':') => {
            value.len() >= 8 && shape.digits > 0 && !value.contains(&b'(')
        }
        FieldValueForm::Quoted | FieldValueForm::Line | FieldValueForm::Option => {
            value.len() >= 8 && (!is_wordy(value) || is_random(value, shape))
        }
        FieldValueForm::Loose => value.len() >= 10 && !is_wordy(value) && !is_identifier(value),
    }
}

/// Returns whether these are dash-joined words that say nothing about passwords, which is
/// how people make one they can remember.
pub(super) fn is_spoken_password(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'-');
    value.len() >= 10
        && value.contains(&b'-')
        && parts.all(|part| {
            part.len() >= 3 && part[1..].iter().all(u8::is_ascii_lowercase) && !is_about(part)
        })
}

/// Returns whether a word is typical of passwords, settings or sentences.
fn is_about(word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word).to_lowercase();
    PLAIN.has(&word) || PROSE.has(&word) || PLACEHOLDER.has(&word) || ABOUT.has(&word)
}

/// Matches `likeThis`, as names are written in code.
fn is_camel(value: &[u8]) -> bool {
    let turns = value.windows(2);
    let turns = turns.filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    value[0].is_ascii_lowercase() && turns.count() > 0
}

/// Judges a value with blanks: it is a sentence, unless the name or the place suggests
/// otherwise.
fn is_phrase(name: SecretFieldName, value: &[u8], written: FieldValueForm) -> bool {
    let text = String::from_utf8_lossy(value);
    let words: Vec<&str> = text.split_whitespace().collect();
    let all_small = words.iter().all(|word| {
        word.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    let prose = words
        .iter()
        .any(|word| PROSE.has(&word.trim_matches(['.', ',', '\'']).to_lowercase()));
    match name.noun {
        SecretFieldKind::Phrase => {
            let usual = |word: &&str| (3..=8).contains(&word.len());
            words.len() >= 10 && all_small && words.iter().all(usual)
        }
        SecretFieldKind::Password | SecretFieldKind::Secret
            if words.iter().all(|word| PLAIN.has(&word.to_lowercase())) =>
        {
            false
        }
        SecretFieldKind::Secret if written == FieldValueForm::Quoted => false,
        SecretFieldKind::Password | SecretFieldKind::Secret
            if name.weight != SecretFieldCertainty::Maybe =>
        {
            match written {
                FieldValueForm::Literal => !prose && words.len() <= 12,
                FieldValueForm::Quoted => {
                    let unusual = words.iter().any(|word| is_unusual(word.as_bytes()));
                    !prose && words.len() <= 8 && (all_small || unusual)
                }
                FieldValueForm::Line | FieldValueForm::Loose | FieldValueForm::Option => false,
            }
        }
        _ => false,
    }
}

/// Returns whether this is a long mix of all kinds of typable characters.
fn is_salt(value: &[u8], shape: &ValueCharacterCounts) -> bool {
    let kinds = [shape.upper, shape.lower, shape.digits, shape.marks];
    value.len() >= 40 && shape.blanks <= 4 && kinds.iter().all(|count| *count >= 2)
}

/// Returns whether a word cannot belong to a sentence, because it has marks or digits
/// among its letters.
fn is_unusual(word: &[u8]) -> bool {
    let shape = ValueCharacterCounts::of(word);
    let marked = word
        .iter()
        .rev()
        .skip(1)
        .any(|byte| b"@#$%^&*!".contains(byte));
    shape.letters() > 0 && (marked || shape.digits > 0 && !word[0].is_ascii_digit())
}

/// Returns whether a value looks machine-made and unguessable.
fn is_random(value: &[u8], shape: &ValueCharacterCounts) -> bool {
    let plain = value
        .iter()
        .all(|byte| super::view::is_token(*byte) && *byte != b':');
    let changes = value
        .windows(2)
        .filter(|two| class(two[0]) != class(two[1]));
    value.len() >= LEAST_RANDOM
        && plain
        && shape.upper >= 2
        && shape.lower >= 2
        && shape.digits >= 2
        && changes.count() * 8 >= value.len() * 3
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Matches `$NAME`, `${NAME}`, `{{ name }}`, `<name>`, `%NAME%`, `[name]` and similar
/// forms, which say where a value comes from.
pub(super) fn is_template(value: &[u8]) -> bool {
    let has = |what: &[u8]| contains(value, what);
    let wraps = |open: &[u8], close: &[u8]| value.starts_with(open) && value.ends_with(close);
    let name = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    if !value.iter().any(|byte| b"$<{[(%_@#&".contains(byte)) {
        return false;
    }
    value.starts_with(b"[REDACTED]")
        || value
            .strip_prefix(b"$")
            .is_some_and(|rest| name(rest) && !rest[0].is_ascii_digit())
        || value.strip_prefix(b"$env:").is_some_and(name)
        || [&b"${"[..], b"$(", b"{{", b"<%", b"#{", b"%(", b"{%"]
            .into_iter()
            .any(has)
        || wraps(b"<", b">")
        || value.starts_with(b"{")
        || value.starts_with(b"&lt;")
        || value.starts_with(b"&#")
        || wraps(b"[", b"]")
        || wraps(b"(", b")")
        || wraps(b"%", b"%")
        || wraps(b"__", b"__")
        || wraps(b"@", b"@")
        || value.starts_with(b"%s")
        || value == b"%v"
}

/// Matches `****`, `xxxx`, `....` and values shortened with dots.
fn is_filler(value: &[u8]) -> bool {
    let filler = |byte: &u8| b"*xX.-_#?0".contains(byte);
    let has = |what: &[u8]| contains(value, what);
    value.iter().all(filler)
        || value.windows(2).all(|two| two[0] == two[1])
        || has(b"...")
        || has("…".as_bytes())
        || has("•".as_bytes())
        || has(b"****")
        || has(b"xxxx")
        || has(b"XXXX")
}

/// Matches paths and URLs, which say where something is.
fn is_elsewhere(value: &[u8]) -> bool {
    if contains(value, b"://") {
        return true;
    }
    let rooted = [&b"/"[..], b"./", b"../", b"~/", b"\\\\", b"$HOME"]
        .iter()
        .any(|start| value.starts_with(start))
        || value.get(1..3) == Some(b":\\");
    let random = |part: &[u8]| {
        let shape = ValueCharacterCounts::of(part);
        let mixed = shape.upper > 0 && shape.lower > 0 && shape.digits > 0;
        part.len() >= 8 && mixed || part.len() >= 20 && shape.digits >= 3 && !part.contains(&b'.')
    };
    rooted && !value.split(|byte| matches!(byte, b'/' | b'\\')).any(random)
}

/// Matches words that say what goes there.
fn is_placeholder(value: &[u8], shape: &ValueCharacterCounts) -> bool {
    let text = String::from_utf8_lossy(value).to_lowercase();
    let words = || {
        text.split(|char: char| !char.is_alphabetic())
            .filter(|word| !word.is_empty())
    };
    if shape.marks == 0 && words().any(|word| PLACEHOLDER.has(word)) {
        return true;
    }
    match shape.digits {
        0 => shape.marks <= 1 && shape.letters() > 0 && words().all(|word| PLAIN.has(word)),
        1..=4 => shape.marks == 0 && words().all(|word| NUMBERED.has(word)),
        _ => false,
    }
}

/// Matches calls, lookups and member paths, which fetch a value.
fn is_code(value: &[u8], written: FieldValueForm) -> bool {
    if written == FieldValueForm::Quoted {
        return false;
    }
    let ident = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = value
        .iter()
        .take_while(|byte| ident(byte) || b".:!&*".contains(byte));
    let path_end = start.count();
    let opens = value
        .get(path_end)
        .is_some_and(|byte| b"([{".contains(byte));
    let closes =
        written != FieldValueForm::Literal || matches!(value.last(), Some(b')' | b']' | b'}'));
    if opens && closes && path_end > 0 && !value[0].is_ascii_digit() {
        return true;
    }
    let has = |what: &[u8]| contains(value, what);
    if written != FieldValueForm::Literal && (has(b"::") || has(b"->") || has(b"()") || has(b"[")) {
        return true;
    }
    let borrowed = matches!(value[0], b'&' | b'*' | b'!')
        && value[1..]
            .iter()
            .all(|byte| ident(byte) || b".*+-".contains(byte));
    let number = value.starts_with(b"0x") && value.len() <= 18;
    let scoped = value.get(1) == Some(&b':') && value[2..].iter().all(ident);
    let opens = matches!(value[0], b'(' | b'|' | b':' | b'$') || value.starts_with(b"!0") || scoped;
    let own = value.starts_with(b"self.") || value.starts_with(b"this.");
    if number || written != FieldValueForm::Literal && (opens || own) {
        return true;
    }
    let marks = value
        .iter()
        .rev()
        .take_while(|byte| b"|!?&+".contains(byte));
    let path = &value[..value.len() - marks.count()];
    let mut parts = path.split(|byte| *byte == b'.');
    let chained = path.contains(&b'.')
        && parts.all(|part| {
            part.first()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && part.iter().all(ident)
                && part.iter().filter(|byte| byte.is_ascii_digit()).count() <= 2
        });
    (borrowed && written != FieldValueForm::Literal) || chained
}

/// Matches labels such as `Password` and `Kennwort` above a form field.
fn is_label(value: &[u8], shape: &ValueCharacterCounts) -> bool {
    value[0].is_ascii_uppercase() && shape.upper == 1 && shape.lower == value.len() - 1
}

/// Matches plain words with a short number after them, such as `token2`.
fn is_stem(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    if digits > 2 {
        return false;
    }
    let stem = &value[..value.len() - digits];
    let lower = String::from_utf8_lossy(stem).to_lowercase();
    let mut words = lower.split(['_', '-']).filter(|word| !word.is_empty());
    words.all(|word| PLAIN.has(word) || ABOUT.has(word))
}

/// Matches `several_words_in_1`, as names are written in code.
fn is_identifier(value: &[u8]) -> bool {
    let parts = || value.split(|byte| *byte == b'_');
    let word = |part: &[u8]| part.len() <= 20 && part.iter().all(u8::is_ascii_alphanumeric);
    value[0].is_ascii_alphabetic() && parts().count() >= 3 && parts().all(word)
}

/// Matches a UUID, which usually identifies something.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    let lengths = value.split(|byte| *byte == b'-').map(<[u8]>::len);
    lengths.eq([8, 4, 4, 4, 12])
        && value
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Matches joined words and short numbers: an identifier, a version, the name of a thing.
fn is_wordy(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    parts.all(|part| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic());
        let (word, digits) = part.split_at(letters.count());
        digits.iter().all(u8::is_ascii_digit) && digits.len() <= 4 && is_spoken(word)
    })
}

/// Returns whether letters can be pronounced; otherwise they are not a word.
fn is_spoken(word: &[u8]) -> bool {
    let vowels = word.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte));
    // In camel case the parts are longer than a few letters.
    let turns = word
        .windows(2)
        .filter(|two| two[0].is_ascii_lowercase() != two[1].is_ascii_lowercase());
    let cased = turns.count() * 4 <= word.len();
    word.len() < 12 || cased && vowels.count() * 5 >= word.len()
}

impl ValueCharacterCounts {
    fn of(value: &[u8]) -> Self {
        let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
        let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
        let (digits, blanks) = (count(u8::is_ascii_digit), count(u8::is_ascii_whitespace));
        let joints = count(|byte| matches!(byte, b'_' | b'-' | b'.'));
        Self {
            upper,
            lower,
            digits,
            marks: value.len() - upper - lower - digits - blanks - joints,
            blanks,
        }
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }
}
