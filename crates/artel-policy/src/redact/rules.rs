//! The rules and the words that trigger them.

use super::fields::{self, ConfiguredSecretFields};
use super::grams::{RedactionTrigger, RedactionTriggerLetterCase};
use super::vendors::{VENDORS, VendorTokenFormat};
use super::verdict::{LongSecretEnding, RedactionRuleOutcome};
use super::view::{SecretScanText, contains, is_base64, is_name};
use super::{commands, headers, pem, urls};

/// The check to run where a trigger word was found.
#[derive(Debug, Clone, Copy)]
pub(super) enum RedactionRule {
    Vendor(&'static VendorTokenFormat),
    Field,
    Armour,
    Putty,
    EncodedKey,
    Url,
    Hook,
    ChatHook,
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
    Marked,
    Pair,
    Client,
    Salesforce,
    Jwk,
    Foreign,
}

/// Words in the names of secrets. Their context decides.
const NAME_WORDS: [&str; 25] = [
    "psk",
    "pass",
    "kennwort",
    "pwd",
    "pswd",
    "pw=",
    "pw:",
    "bindpw",
    "rootpw",
    "dbpw",
    "pw\"",
    "pw'",
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

const OTHERS: [(&str, RedactionRule); 74] = [
    ("@tcp(", RedactionRule::GoDsn),
    ("@unix(", RedactionRule::GoDsn),
    ("BEGIN", RedactionRule::Armour),
    ("Private-Lines:", RedactionRule::Putty),
    ("LS0tLS1CRUdJTi", RedactionRule::EncodedKey),
    ("://", RedactionRule::Url),
    ("hooks.slack.com/services/", RedactionRule::Hook),
    ("hooks.slack.com/workflows/", RedactionRule::Hook),
    ("hooks.slack.com/triggers/", RedactionRule::Hook),
    ("/webhooks/", RedactionRule::ChatHook),
    ("hooks.zapier.com/hooks/catch/", RedactionRule::Hook),
    ("/open-apis/bot/v2/hook/", RedactionRule::Hook),
    ("/cgi-bin/webhook/send?key=", RedactionRule::Hook),
    ("webhook.office.com/webhookb2/", RedactionRule::Hook),
    ("thin:", RedactionRule::Oracle),
    ("; ", RedactionRule::NextCookie),
    (" -u", RedactionRule::Option),
    (" -U", RedactionRule::Option),
    (" -p", RedactionRule::Option),
    (" -P", RedactionRule::Option),
    (" -a", RedactionRule::Option),
    (" -w", RedactionRule::Option),
    (" -k", RedactionRule::Option),
    ("--user", RedactionRule::User),
    ("--proxy-user", RedactionRule::User),
    ("eyJ", RedactionRule::Jwt),
    (":AA", RedactionRule::Telegram),
    ("-us", RedactionRule::Mailchimp),
    ("Q~", RedactionRule::AzureSecret),
    (".atlasv1.", RedactionRule::Terraform),
    ("MT", RedactionRule::Discord),
    ("Mz", RedactionRule::Discord),
    ("Mj", RedactionRule::Discord),
    ("ND", RedactionRule::Discord),
    ("NT", RedactionRule::Discord),
    ("Nz", RedactionRule::Discord),
    ("Nj", RedactionRule::Discord),
    ("OD", RedactionRule::Discord),
    ("OT", RedactionRule::Discord),
    ("$2", RedactionRule::Crypt),
    ("$apr1$", RedactionRule::Crypt),
    ("$argon2", RedactionRule::Crypt),
    ("{SHA", RedactionRule::Crypt),
    ("{SSHA", RedactionRule::Crypt),
    ("{MD5}", RedactionRule::Crypt),
    ("{SMD5}", RedactionRule::Crypt),
    ("{CRYPT}", RedactionRule::Crypt),
    ("pbkdf2_sha", RedactionRule::Crypt),
    ("pbkdf2:sha", RedactionRule::Crypt),
    (":5432:", RedactionRule::Pgpass),
    (":5433:", RedactionRule::Pgpass),
    (":6432:", RedactionRule::Pgpass),
    ("*:*:", RedactionRule::Pgpass),
    ("AZDO", RedactionRule::Marked),
    ("+ASt", RedactionRule::Marked),
    ("AzFu", RedactionRule::Marked),
    ("ACDb", RedactionRule::Marked),
    ("+ARm", RedactionRule::Marked),
    ("jsn", RedactionRule::Marked),
    ("auth=(", RedactionRule::Pair),
    ("Client(", RedactionRule::Client),
    ("!AQ", RedactionRule::Salesforce),
    ("\"d\":", RedactionRule::Jwk),
    ("\"k\":", RedactionRule::Jwk),
    ("\"p\":", RedactionRule::Jwk),
    ("\"q\":", RedactionRule::Jwk),
    ("\"dp\":", RedactionRule::Jwk),
    ("\"dq\":", RedactionRule::Jwk),
    ("\"qi\":", RedactionRule::Jwk),
    ("пароль", RedactionRule::Foreign),
    ("Пароль", RedactionRule::Foreign),
    ("密码", RedactionRule::Foreign),
    ("パスワード", RedactionRule::Foreign),
    ("contraseña", RedactionRule::Foreign),
];

const OTHERS_ANY_CASE: [(&str, RedactionRule); 5] = [
    ("identified ", RedactionRule::Sql),
    ("basicauth(", RedactionRule::Pair),
    ("bearer", RedactionRule::Bearer),
    ("basic", RedactionRule::Basic),
    ("cookie", RedactionRule::Cookie),
];

/// Longest token that is held, in bytes. A longer one is hidden while it is read.
const LONGEST: usize = 512;

/// Returns every trigger word with its rule.
pub(super) fn anchors(extra: &[String]) -> Vec<RedactionTrigger<RedactionRule>> {
    let anchor = |word: &str, case, rule| RedactionTrigger {
        word: word.as_bytes().to_vec(),
        case,
        rule,
    };
    let vendors = VENDORS.iter().map(|vendor| {
        anchor(
            vendor.prefix,
            RedactionTriggerLetterCase::Exact,
            RedactionRule::Vendor(vendor),
        )
    });
    let names = NAME_WORDS
        .iter()
        .map(|word| anchor(word, RedactionTriggerLetterCase::Any, RedactionRule::Field));
    let others = OTHERS
        .iter()
        .map(|(word, rule)| anchor(word, RedactionTriggerLetterCase::Exact, *rule));
    let any_case = OTHERS_ANY_CASE
        .iter()
        .map(|(word, rule)| anchor(word, RedactionTriggerLetterCase::Any, *rule));
    let shadow = ["$1$", "$5$", "$6$", "$y$"].map(|word| {
        anchor(
            word,
            RedactionTriggerLetterCase::Exact,
            RedactionRule::Crypt,
        )
    });
    // A configured name is found by its longest run of letters, however the name is joined.
    let extra = extra.iter().filter_map(|name| {
        let lower = name.to_ascii_lowercase();
        let parts = lower.split(|char: char| !char.is_ascii_alphanumeric());
        let word = parts.max_by_key(|part| part.len())?;
        (!word.is_empty())
            .then(|| anchor(word, RedactionTriggerLetterCase::Any, RedactionRule::Field))
    });
    vendors
        .chain(names)
        .chain(others)
        .chain(any_case)
        .chain(shadow)
        .chain(extra)
        .collect()
}

impl RedactionRule {
    /// Judges the place `at`, where a trigger word of length `word` stands.
    pub(super) fn judge(
        self,
        view: &SecretScanText<'_>,
        at: usize,
        word: usize,
        extra: &ConfiguredSecretFields,
    ) -> RedactionRuleOutcome {
        match self {
            Self::Vendor(vendor) => vendor.judge(view, at),
            Self::Field => fields::field(view, at, extra),
            Self::Armour => pem::begin(view, at),
            Self::Putty => pem::putty(view, at),
            Self::EncodedKey => pem::encoded(view, at),
            Self::Url => urls::authority(view, at),
            Self::Hook => urls::hook(view, at, word),
            Self::ChatHook => urls::chat_hook(view, at, word),
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
            Self::Marked => marked(view, at, word),
            Self::Pair => commands::pair(view, at + word),
            Self::Client => commands::client(view, at + word),
            Self::Salesforce => salesforce(view, at),
            Self::Jwk => pem::jwk(view, at, word),
            Self::Foreign => fields::foreign(view, at + word),
        }
    }
}

/// Judges a JWT: two parts of JSON in base64 and a signature, joined by full stops.
fn jwt(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let header = view.run(at, LONGEST, dash);
    let second = header + 1;
    if !view.begins_word(at) || header - at < 10 || view.get(header) != Some(b'.') {
        return RedactionRuleOutcome::Nothing;
    }
    let claims = view.run(second, LONGEST, dash);
    let signed = view.starts(second, b"eyJ") && claims - second >= 8;
    let encrypted = claims - second >= 16 && view.get(claims) == Some(b'.');
    if !signed && !encrypted {
        return RedactionRuleOutcome::Nothing;
    }
    let mut end = view.run(claims, 2 * LONGEST, is_name);
    if claims - second == LONGEST || end - claims == 2 * LONGEST {
        return RedactionRuleOutcome::Long(at..end, LongSecretEnding::Token, "jwt");
    }
    while view.before(end) == Some(b'.') {
        end -= 1;
    }
    RedactionRuleOutcome::Secret(at..end, "jwt")
}

/// Judges a Telegram token: the number of a bot, a colon, and 35 characters.
fn telegram(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let start = view.run_before(at, 12, |byte| byte.is_ascii_digit());
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = view.run(at + 1, 40, dash);
    if !(8..=11).contains(&(at - start)) || !(33..40).contains(&(end - at - 1)) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..end, "telegram bot token")
}

/// Judges a Mailchimp key: 32 hex digits, a dash, and the name of a data centre.
fn mailchimp(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let start = view.run_before(at, 33, |byte| byte.is_ascii_hexdigit());
    let end = view.run(at + 3, 3, |byte| byte.is_ascii_digit());
    if at - start != 32 || !(1..=2).contains(&(end - at - 3)) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..end, "mailchimp key")
}

/// Judges an Azure secret: three characters, a digit, `Q~`, and at least 31 more.
fn azure_secret(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let is_part = |byte: u8| is_name(byte) || byte == b'~';
    let start = view.run_before(at, 6, is_part);
    let end = view.run(at + 2, 48, is_part);
    let digit = view.before(at).is_some_and(|byte| byte.is_ascii_digit());
    if !digit || !(4..6).contains(&(at - start)) || !(31..=40).contains(&(end - at - 2)) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..end, "azure client secret")
}

fn terraform(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let start = view.run_before(at, 20, |byte| byte.is_ascii_alphanumeric());
    let start = view.without_escape(start).min(at);
    let end = view.run(at + word, 128, is_base64);
    if at - start < 10 || end - at - word < 40 {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..end, "terraform token")
}

/// Judges a Discord token: the number of a bot in base64, a time, and a signature.
fn discord(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let dash = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !view.begins_word(at) {
        return RedactionRuleOutcome::Nothing;
    }
    let id = view.run(at, 30, |byte| byte.is_ascii_alphanumeric());
    if !(23..=28).contains(&(id - at)) || view.get(id) != Some(b'.') {
        return RedactionRuleOutcome::Nothing;
    }
    let time = view.run(id + 1, 8, dash);
    if !(5..=7).contains(&(time - id - 1)) || view.get(time) != Some(b'.') {
        return RedactionRuleOutcome::Nothing;
    }
    let end = view.run(time + 1, 64, dash);
    match end - time - 1 {
        25..=45 => RedactionRuleOutcome::Secret(at..end, "discord token"),
        _ => RedactionRuleOutcome::Nothing,
    }
}

/// Judges the password hashes of password files, which can be attacked offline.
fn crypt(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"$./,=+-_:{}".contains(&byte);
    let end = view.run(at, 200, is_part);
    if !view.starts(at, b"$") {
        return directory_hash(view, at, end);
    }
    let plain = |byte: u8| is_part(byte) && !b"_:{}".contains(&byte);
    let end = view.run(at, 200, plain);
    let text = &view.text()[at..end];
    let fields = text.iter().filter(|byte| **byte == b'$').count();
    let bcrypt = text.len() >= 60 && matches!(text.get(2..4), Some(b"a$" | b"b$" | b"x$" | b"y$"));
    let hashed = !text.starts_with(b"$2") && fields >= 3 && text.len() >= 30;
    if view.begins_word(at) && (bcrypt || hashed) && !contains(text, b"..") {
        RedactionRuleOutcome::Secret(at..end, "password hash")
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges hashes such as `{SSHA}…` in directories and `pbkdf2_sha256$…` in web frameworks.
fn directory_hash(view: &SecretScanText<'_>, at: usize, end: usize) -> RedactionRuleOutcome {
    let text = &view.text()[at..end];
    let last = text.rsplit(|byte| b"}$".contains(byte)).next();
    let hash = last.unwrap_or_default();
    let mixed = hash.iter().any(u8::is_ascii_digit) && hash.iter().any(u8::is_ascii_alphabetic);
    if hash.len() >= 22 && hash.len() < text.len() && mixed && hash.iter().all(|b| is_base64(*b)) {
        RedactionRuleOutcome::Secret(at..end, "password hash")
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges keys whose vendor is marked in their middle or near their end.
fn marked(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let start = view
        .without_escape(view.run_before(at, 90, is_part))
        .min(at);
    let tail = view.run(at + word, 16, |byte| byte.is_ascii_alphanumeric());
    let (before, after) = (&view.text()[start..at], tail - at - word);
    let gateway = before.len() == 36 && before[10..].starts_with(b"msh") && after == 12;
    let azure = matches!(before.len(), 42..=46 | 74..=80) && (4..=8).contains(&after);
    let digits = before.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits < 3 || !gateway && (!azure || view.starts(at, b"jsn")) {
        return RedactionRuleOutcome::Nothing;
    }
    let end = view.run(tail, 2, |byte| byte == b'=');
    RedactionRuleOutcome::Secret(
        start..end,
        if gateway { "rapidapi key" } else { "azure key" },
    )
}

/// Judges a Salesforce token; the number of the organisation before it is not secret.
fn salesforce(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let start = view.run_before(at, 20, |byte| byte.is_ascii_alphanumeric());
    let start = view.without_escape(start).min(at);
    let mut end = view.run(at + 1, 200, is_name);
    while matches!(view.before(end), Some(b'.' | b'-')) {
        end -= 1;
    }
    let organisation = view.text()[start..at].starts_with(b"00D");
    if organisation && matches!(at - start, 15 | 18) && end - at > 60 {
        RedactionRuleOutcome::Secret(at + 1..end, "salesforce token")
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges a line of a password file: `host:5432:database:user:password`.
fn pgpass(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    // A wildcard host is part of the trigger word.
    let (at, word) = if view.starts(at, b"*") {
        (at + 1, word - 1)
    } else {
        (at, word)
    };
    let host = view.line_before(at);
    if host.is_empty() || !host.iter().all(|byte| is_name(*byte) || *byte == b'*') {
        return RedactionRuleOutcome::Nothing;
    }
    let part = |byte: u8| is_name(byte) || byte == b'*';
    let database = view.run(at + word, 64, part);
    let user = view.run(database + 1, 64, part);
    if view.get(database) != Some(b':') || view.get(user) != Some(b':') {
        return RedactionRuleOutcome::Nothing;
    }
    let end = view.run(user + 1, 128, |byte| !byte.is_ascii_whitespace());
    if end > user + 1 && !super::values::is_template(&view.text()[user + 1..end]) {
        RedactionRuleOutcome::Secret(user + 1..end, "password")
    } else {
        RedactionRuleOutcome::Nothing
    }
}
