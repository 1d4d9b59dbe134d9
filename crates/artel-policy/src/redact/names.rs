//! The meaning of a setting's name for its value.

use std::sync::LazyLock;

use super::words::LowercaseWordList;

/// The kind of value that a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretFieldKind {
    Password,
    Secret,
    Token,
    Key,
    Auth,
    /// The signature of a URL, which gives access to it.
    Signature,
    /// The words that restore a wallet.
    Phrase,
}

/// The certainty that a name means a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretFieldCertainty {
    /// The value is of that kind.
    Sure,
    /// The value is of that kind unless it has only letters or only digits: the name has other
    /// meanings.
    IfMixed,
    /// The value is of that kind only if it looks random.
    Maybe,
}

/// The capitalization of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretFieldNameStyle {
    /// `LIKE_THIS`, as environment variables are written.
    Upper,
    Other,
}

/// A name that may stand before a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretFieldName {
    pub(super) noun: SecretFieldKind,
    pub(super) weight: SecretFieldCertainty,
    pub(super) style: SecretFieldNameStyle,
}

/// Number of words kept of a name. The longest names have about this many; of longer ones
/// the last words count.
const MOST_WORDS: usize = 12;

/// Longest name that is judged, in bytes.
const LONGEST: usize = 256;

/// Words after the noun that do not change its meaning.
static NEUTRAL: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "a b b64 backup base base64 ci confirmation content contents current data default dev \
         development encoded env live new next old pem plain plaintext prev previous primary prod \
         production raw sandbox secondary stage staging str string test testing text v val value",
    )
});

/// Words that make the value public.
static PUBLIC: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "allow cert certificate checksum commit digest etag fingerprint hash integrity pattern \
         placeholder pub public publishable regex regexp revision schema sha thumbprint",
    )
});

/// Words before `key` that make it a secret key.
static KEY_OF: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "access account admin aes algolia anthropic api app application auth authentication aws \
         azure cipher client cloudflare cohere consumer crypto datadog decryption deploy encrypt \
         encryption fastly functions gcp gemini google heroku hmac ingest ingestion instrumentation integration \
         jwt licence license mailgun master mistral openai private recovery rest root rsa secret \
         sendgrid service session shared sign signature signing ssh storage stripe subscription \
         twilio vault webhook write",
    )
});

/// Words before `pass` that make it a password.
static PASS_OF: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "account admin api app auth client database db email ftp host http ldap login mail mongo \
         mqtt my mysql pg postgres proxy rabbitmq redis registry root rpc server smtp ssh sudo user \
         vnc wifi",
    )
});

/// Words before `pat` that make it a personal access token.
static PAT_OF: LazyLock<LowercaseWordList> = LazyLock::new(|| {
    LowercaseWordList::of(
        "ado airtable atlassian azure bitbucket bot ci devops docker gh github gitlab gl jira my \
         personal user",
    )
});

/// Endings of compound words, such as `dbpassword` and `authtoken`.
const JOINED: [(&str, SecretFieldKind); 39] = [
    ("password", SecretFieldKind::Password),
    ("passwd", SecretFieldKind::Password),
    ("passwort", SecretFieldKind::Password),
    ("kennwort", SecretFieldKind::Password),
    ("passphrase", SecretFieldKind::Password),
    ("passcode", SecretFieldKind::Password),
    ("userpass", SecretFieldKind::Password),
    ("dbpass", SecretFieldKind::Password),
    ("sshpass", SecretFieldKind::Password),
    ("storepass", SecretFieldKind::Password),
    ("keypass", SecretFieldKind::Password),
    ("rootpw", SecretFieldKind::Password),
    ("userpw", SecretFieldKind::Password),
    ("adminpw", SecretFieldKind::Password),
    ("bindpw", SecretFieldKind::Password),
    ("dbpw", SecretFieldKind::Password),
    ("mailpw", SecretFieldKind::Password),
    ("smtppw", SecretFieldKind::Password),
    ("ldappw", SecretFieldKind::Password),
    ("ftppw", SecretFieldKind::Password),
    ("sqlpw", SecretFieldKind::Password),
    ("pswd", SecretFieldKind::Password),
    ("secret", SecretFieldKind::Secret),
    ("token", SecretFieldKind::Token),
    ("apikey", SecretFieldKind::Key),
    ("appkey", SecretFieldKind::Key),
    ("accesskey", SecretFieldKind::Key),
    ("accountkey", SecretFieldKind::Key),
    ("authkey", SecretFieldKind::Key),
    ("secretkey", SecretFieldKind::Key),
    ("privatekey", SecretFieldKind::Key),
    ("privkey", SecretFieldKind::Key),
    ("sharedkey", SecretFieldKind::Key),
    ("signingkey", SecretFieldKind::Key),
    ("encryptionkey", SecretFieldKind::Key),
    ("masterkey", SecretFieldKind::Key),
    ("servicekey", SecretFieldKind::Key),
    ("seckey", SecretFieldKind::Key),
    ("presharedkey", SecretFieldKind::Key),
];

/// Judges a name, or returns `None` if it does not suggest a secret.
pub(super) fn judge(name: &[u8]) -> Option<SecretFieldName> {
    let mut lower = [0; LONGEST];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let mut words = [""; MOST_WORDS];
    let count = split(name, std::str::from_utf8(lower).ok()?, &mut words);
    let words = &words[..count];
    if words.iter().any(|word| PUBLIC.has(word)) {
        return None;
    }
    let style = if name.iter().any(u8::is_ascii_lowercase) {
        SecretFieldNameStyle::Other
    } else {
        SecretFieldNameStyle::Upper
    };
    let head = words.iter().rposition(|word| !NEUTRAL.has(word))?;
    if let Some((noun, weight)) = noun_at(words, head) {
        return Some(SecretFieldName {
            noun,
            weight,
            style,
        });
    }
    // The noun may stand further to the front, as in `TOKEN_FOR_RELEASES`.
    let (noun, _) = (0..head).rev().find_map(|index| noun_at(words, index))?;
    Some(SecretFieldName {
        noun,
        weight: SecretFieldCertainty::Maybe,
        style,
    })
}

fn noun_at(words: &[&str], head: usize) -> Option<(SecretFieldKind, SecretFieldCertainty)> {
    let word = words[head];
    let before = head.checked_sub(1).map_or("", |index| words[index]);
    let sure = |noun| Some((noun, SecretFieldCertainty::Sure));
    let maybe = |noun| Some((noun, SecretFieldCertainty::Maybe));
    match word {
        "pwd" | "pw" | "psw" | "psk" => sure(SecretFieldKind::Password),
        "pass" if PASS_OF.has(before) => sure(SecretFieldKind::Password),
        "pass" => Some((SecretFieldKind::Password, SecretFieldCertainty::IfMixed)),
        "passwords" => maybe(SecretFieldKind::Password),
        "credential" | "credentials" | "creds" | "cred" => sure(SecretFieldKind::Secret),
        "secrets" | "salt" => maybe(SecretFieldKind::Secret),
        "pat" if PAT_OF.has(before) => sure(SecretFieldKind::Token),
        "jwt" | "bearer" | "sessionid" | "sessid" | "phpsessid" | "jsessionid" => {
            sure(SecretFieldKind::Token)
        }
        "tokens" => maybe(SecretFieldKind::Token),
        "auth" | "authorization" => sure(SecretFieldKind::Auth),
        "ident" if before == "auth" => sure(SecretFieldKind::Auth),
        "sig" | "signature" => sure(SecretFieldKind::Signature),
        "mnemonic" => sure(SecretFieldKind::Phrase),
        "phrase" if matches!(before, "seed" | "recovery" | "secret" | "mnemonic") => {
            sure(SecretFieldKind::Phrase)
        }
        "key" | "keys" if KEY_OF.has(before) => sure(SecretFieldKind::Key),
        "key" => maybe(SecretFieldKind::Key),
        _ => {
            let joined = JOINED.iter().find(|(end, _)| ends_with(word, end));
            joined.map(|(_, noun)| (*noun, SecretFieldCertainty::Sure))
        }
    }
}

/// Compares the last byte first, because most words already differ there.
fn ends_with(word: &str, end: &str) -> bool {
    word.as_bytes().last() == end.as_bytes().last() && word.ends_with(end)
}

/// Splits a name at everything that is not a letter and at changes of case; numbers are
/// dropped. Returns the number of words.
fn split<'a>(name: &[u8], lower: &'a str, words: &mut [&'a str; MOST_WORDS]) -> usize {
    let (mut count, mut start) = (0, 0);
    for at in 0..=name.len() {
        let ends = at == name.len() || !name[at].is_ascii_alphabetic();
        if !ends && !begins_word(name, at) {
            continue;
        }
        if at > start {
            if count == MOST_WORDS {
                words.rotate_left(1);
                count -= 1;
            }
            words[count] = &lower[start..at];
            count += 1;
        }
        start = at + usize::from(ends);
    }
    count
}

/// Returns whether a capital begins a word: `apiKey` and `APIKey` are two words each.
fn begins_word(name: &[u8], at: usize) -> bool {
    if at == 0 || !name[at].is_ascii_uppercase() {
        return false;
    }
    let small_after = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    name[at - 1].is_ascii_lowercase() || small_after && name[at - 1].is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_by_its_words() {
        use SecretFieldKind::{Auth, Key, Password, Secret, Token};
        for (name, noun) in [
            ("password", Password),
            ("DB_PASS", Password),
            ("spring.datasource.password", Password),
            ("userPassword2", Password),
            ("PGPASSWORD", Password),
            ("client_secret", Secret),
            ("clientSecretValue", Secret),
            ("X-Auth-Token", Token),
            ("OAuth2AccessToken", Token),
            ("apiKey", Key),
            ("APIKey", Key),
            ("AWS_SECRET_ACCESS_KEY", Key),
            ("SECRET_KEY_BASE", Key),
            ("_auth", Auth),
        ] {
            let judged = judge(name.as_bytes()).map(|name| (name.noun, name.weight));
            assert_eq!(judged, Some((noun, SecretFieldCertainty::Sure)), "{name}");
        }
        for name in [
            "keyboard",
            "monkey",
            "author",
            "passwordless",
            "tokenizer",
            "compass",
        ] {
            assert_eq!(judge(name.as_bytes()), None, "{name}");
        }
        for name in [
            "max_tokens",
            "primary_key",
            "token_count",
            "password_file",
            "key",
        ] {
            let weight = judge(name.as_bytes()).map(|name| name.weight);
            assert_eq!(weight, Some(SecretFieldCertainty::Maybe), "{name}");
        }
        assert_eq!(judge(b"PublicKeyToken"), None);
    }
}
