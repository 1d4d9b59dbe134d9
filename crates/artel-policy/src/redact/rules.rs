//! The rules and the words they begin with.

use super::fields::{self, Extra};
use super::grams::{Anchor, Case};
use super::vendors::{VENDORS, Vendor};
use super::verdict::{Ending, Verdict};
use super::view::{View, contains, is_base64, is_name};
use super::{commands, headers, pem, urls};

/// What is looked at where its word was found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Vendor(&'static Vendor),
    Field,
    Armour,
    Putty,
    EncodedKey,
    Url,
    Hook,
    Oracle,
    GoDsn,
    Sql,
    Bearer,
    Basic,
    Cookie,
    NextCookie,
    Option,
    User,
    Jwt,
    Telegram,
    Mailchimp,
    AzureSecret,
    Terraform,
    Discord,
    Crypt,
    Pgpass,
}

/// The words of names of secrets. What stands around them decides.
const NAME_WORDS: [&str; 20] = [
    "psk",
    "pass",
    "kennwort",
    "pwd",
    "pswd",
    "pw=",
    "pw:",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "jwt",
    "sig=",
    "signature",
    "salt",
    "mnemonic",
    "phrase",
    "_pat",
    "sessionid",
];

const OTHERS: [(&str, Rule); 39] = [
    ("@tcp(", Rule::GoDsn),
    ("@unix(", Rule::GoDsn),
    ("BEGIN", Rule::Armour),
    ("Private-Lines:", Rule::Putty),
    ("LS0tLS1CRUdJTi", Rule::EncodedKey),
    ("://", Rule::Url),
    ("hooks.slack.com/services/", Rule::Hook),
    ("hooks.slack.com/workflows/", Rule::Hook),
    ("hooks.slack.com/triggers/", Rule::Hook),
    ("/api/webhooks/", Rule::Hook),
    ("webhook.office.com/webhookb2/", Rule::Hook),
    ("thin:", Rule::Oracle),
    ("; ", Rule::NextCookie),
    (" -u", Rule::Option),
    (" -U", Rule::Option),
    (" -p", Rule::Option),
    (" -P", Rule::Option),
    (" -a", Rule::Option),
    (" -w", Rule::Option),
    ("--user", Rule::User),
    ("--proxy-user", Rule::User),
    ("eyJ", Rule::Jwt),
    (":AA", Rule::Telegram),
    ("-us", Rule::Mailchimp),
    ("Q~", Rule::AzureSecret),
    (".atlasv1.", Rule::Terraform),
    ("MT", Rule::Discord),
    ("Mz", Rule::Discord),
    ("Mj", Rule::Discord),
    ("ND", Rule::Discord),
    ("NT", Rule::Discord),
    ("Nz", Rule::Discord),
    ("Nj", Rule::Discord),
    ("OD", Rule::Discord),
    ("OT", Rule::Discord),
    ("$2", Rule::Crypt),
    ("$apr1$", Rule::Crypt),
    ("$argon2", Rule::Crypt),
    (":5432:", Rule::Pgpass),
];

const OTHERS_ANY_CASE: [(&str, Rule); 4] = [
    ("identified ", Rule::Sql),
    ("bearer", Rule::Bearer),
    ("basic", Rule::Basic),
    ("cookie", Rule::Cookie),
];

/// A longer token is hidden while it is read.
const LONGEST: usize = 512;

/// Returns every word to look for.
pub(super) fn anchors(extra: &[String]) -> Vec<Anchor<Rule>> {
    let anchor = |word: &str, case, rule| Anchor {
        word: word.as_bytes().to_vec(),
        case,
        rule,
    };
    let vendors = VENDORS
        .iter()
        .map(|vendor| anchor(vendor.prefix, Case::Exact, Rule::Vendor(vendor)));
    let names = NAME_WORDS
        .iter()
        .map(|word| anchor(word, Case::Any, Rule::Field));
    let others = OTHERS
        .iter()
        .map(|(word, rule)| anchor(word, Case::Exact, *rule));
    let any_case = OTHERS_ANY_CASE
        .iter()
        .map(|(word, rule)| anchor(word, Case::Any, *rule));
    let shadow = ["$1$", "$5$", "$6$", "$y$"].map(|word| anchor(word, Case::Exact, Rule::Crypt));
    // A configured name is found by its longest run of letters, however it is joined.
    let extra = extra.iter().filter_map(|name| {
        let lower = name.to_ascii_lowercase();
        let parts = lower.split(|char: char| !char.is_ascii_alphanumeric());
        let word = parts.max_by_key(|part| part.len())?;
        (!word.is_empty()).then(|| anchor(word, Case::Any, Rule::Field))
    });
    vendors
        .chain(names)
        .chain(others)
        .chain(any_case)
        .chain(shadow)
        .chain(extra)
        .collect()
}

impl Rule {
    /// Judges the place `at`, where the word stands that is `word` long.
    pub(super) fn judge(self, view: &View<'_>, at: usize, word: usize, extra: &Extra) -> Verdict {
        match self {
            Self::Vendor(vendor) => vendor.judge(view, at),
            Self::Field => fields::field(view, at, extra),
            Self::Armour => pem::begin(view, at),
            Self::Putty => pem::putty(view, at),
            Self::EncodedKey => pem::encoded(view, at),
            Self::Url => urls::authority(view, at),
            Self::Hook => urls::hook(view, at, word),
            Self::Oracle => urls::oracle(view, at),
            Self::GoDsn => urls::go_dsn(view, at),
            Self::Sql => commands::sql(view, at, word),
            Self::Bearer => headers::bearer(view, at),
            Self::Basic => headers::basic(view, at),
            Self::Cookie => headers::cookie(view, at),
            Self::NextCookie => headers::next_cookie(view, at),
            Self::Option => commands::option(view, at),
            Self::User => commands::user(view, at, word),
            Self::Jwt => jwt(view, at),
            Self::Telegram => telegram(view, at),
            Self::Mailchimp => mailchimp(view, at),
            Self::AzureSecret => azure_secret(view, at),
            Self::Terraform => terraform(view, at, word),
            Self::Discord => discord(view, at),
            Self::Crypt => crypt(view, at),
            Self::Pgpass => pgpass(view, at, word),
        }
    }
}

/// Two parts of JSON in base64 and a signature, with full stops between.
fn jwt(view: &View<'_>, at: usize) -> Verdict {
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let header = view.run(at, LONGEST, dash);
    let second = header + 1;
    if !view.begins_word(at) || header - at < 10 || view.get(header) != Some(b'.') {
        return Verdict::Nothing;
    }
    let claims = view.run(second, LONGEST, dash);
    let signed = view.starts(second, b"eyJ") && claims - second >= 8;
    let encrypted = claims - second >= 16 && view.get(claims) == Some(b'.');
    if !signed && !encrypted {
        return Verdict::Nothing;
    }
    let mut end = view.run(claims, 2 * LONGEST, is_name);
    if claims - second == LONGEST || end - claims == 2 * LONGEST {
        return Verdict::Long(at..end, Ending::Token, "jwt");
    }
    while view.before(end) == Some(b'.') {
        end -= 1;
    }
    Verdict::Secret(at..end, "jwt")
}

/// The number of a bot, a colon, and 35 characters.
fn telegram(view: &View<'_>, at: usize) -> Verdict {
    let start = view.run_before(at, 12, |byte| byte.is_ascii_digit());
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = view.run(at + 1, 40, dash);
    if !(8..=11).contains(&(at - start)) || !(33..40).contains(&(end - at - 1)) {
        return Verdict::Nothing;
    }
    Verdict::Secret(start..end, "telegram bot token")
}

/// 32 of hex, a dash, and the name of a data centre.
fn mailchimp(view: &View<'_>, at: usize) -> Verdict {
    let start = view.run_before(at, 33, |byte| byte.is_ascii_hexdigit());
    let end = view.run(at + 3, 3, |byte| byte.is_ascii_digit());
    if at - start != 32 || !(1..=2).contains(&(end - at - 3)) {
        return Verdict::Nothing;
    }
    Verdict::Secret(start..end, "mailchimp key")
}

/// Three characters, a digit, `Q~`, and at least 31 more.
fn azure_secret(view: &View<'_>, at: usize) -> Verdict {
    let is_part = |byte: u8| is_name(byte) || byte == b'~';
    let start = view.run_before(at, 6, is_part);
    let end = view.run(at + 2, 48, is_part);
    let digit = view.before(at).is_some_and(|byte| byte.is_ascii_digit());
    if !digit || !(4..6).contains(&(at - start)) || !(31..=40).contains(&(end - at - 2)) {
        return Verdict::Nothing;
    }
    Verdict::Secret(start..end, "azure client secret")
}

fn terraform(view: &View<'_>, at: usize, word: usize) -> Verdict {
    let start = view.run_before(at, 20, |byte| byte.is_ascii_alphanumeric());
    let end = view.run(at + word, 128, is_base64);
    if at - start < 10 || end - at - word < 40 {
        return Verdict::Nothing;
    }
    Verdict::Secret(start..end, "terraform token")
}

/// The number of a bot in base64, its time, and a signature.
fn discord(view: &View<'_>, at: usize) -> Verdict {
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !view.begins_word(at) {
        return Verdict::Nothing;
    }
    let id = view.run(at, 30, |byte| byte.is_ascii_alphanumeric());
    if !(23..=28).contains(&(id - at)) || view.get(id) != Some(b'.') {
        return Verdict::Nothing;
    }
    let time = view.run(id + 1, 8, dash);
    if !(5..=7).contains(&(time - id - 1)) || view.get(time) != Some(b'.') {
        return Verdict::Nothing;
    }
    let end = view.run(time + 1, 64, dash);
    match end - time - 1 {
        25..=45 => Verdict::Secret(at..end, "discord token"),
        _ => Verdict::Nothing,
    }
}

/// The hash of a password as it stands in password files, which can be guessed at leisure.
fn crypt(view: &View<'_>, at: usize) -> Verdict {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"$./,=+-".contains(&byte);
    let end = view.run(at, 200, is_part);
    let text = &view.text()[at..end];
    let fields = text.iter().filter(|byte| **byte == b'$').count();
    let bcrypt = text.len() >= 60 && matches!(text.get(2..4), Some(b"a$" | b"b$" | b"x$" | b"y$"));
    let hashed = !text.starts_with(b"$2") && fields >= 3 && text.len() >= 30;
    match view.begins_word(at) && (bcrypt || hashed) && !contains(text, b"..") {
        true => Verdict::Secret(at..end, "password hash"),
        false => Verdict::Nothing,
    }
}

/// `host:5432:database:user:password`
fn pgpass(view: &View<'_>, at: usize, word: usize) -> Verdict {
    let host = view.line_before(at);
    if host.is_empty() || !host.iter().all(|byte| is_name(*byte) || *byte == b'*') {
        return Verdict::Nothing;
    }
    let part = |byte: u8| is_name(byte) || byte == b'*';
    let database = view.run(at + word, 64, part);
    let user = view.run(database + 1, 64, part);
    if view.get(database) != Some(b':') || view.get(user) != Some(b':') {
        return Verdict::Nothing;
    }
    let end = view.run(user + 1, 128, |byte| !byte.is_ascii_whitespace());
    match end > user + 1 && !super::values::is_template(&view.text()[user + 1..end]) {
        true => Verdict::Secret(user + 1..end, "password"),
        false => Verdict::Nothing,
    }
}
