//! The meaning of a setting's name for its value.

use std::sync::LazyLock;

use super::words::Words;

/// The kind of value that a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
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
pub(super) enum Weight {
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
pub(super) enum Style {
    /// `LIKE_THIS`, as environment variables are written.
    Upper,
    Other,
}

/// A name that may stand before a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) noun: Noun,
    pub(super) weight: Weight,
    pub(super) style: Style,
}

/// Number of words kept of a name. The longest names have about this many; of longer ones
/// the last words count.
const MOST_WORDS: usize = 12;

/// Longest name that is judged, in bytes.
const LONGEST: usize = 256;

/// Words after the noun that do not change its meaning.
static NEUTRAL: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "a b b64 backup base base64 ci confirmation content contents current data default dev \
         development encoded env live new next old pem plain plaintext prev previous primary prod \
         production raw sandbox secondary stage staging str string test testing text v val value",
    )
});

/// Words that make the value public.
static PUBLIC: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "allow cert certificate checksum commit digest etag fingerprint hash integrity pattern \
         placeholder pub public publishable regex regexp revision schema sha thumbprint",
    )
});

/// Words before `key` that make it a secret key.
static KEY_OF: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "access account admin aes algolia anthropic api app application auth authentication aws \
         azure cipher client cloudflare cohere consumer crypto datadog decryption deploy encrypt \
         encryption fastly functions gcp gemini google heroku hmac ingest ingestion instrumentation integration \
         jwt licence license mailgun master mistral openai private recovery rest root rsa secret \
         sendgrid service session shared sign signature signing ssh storage stripe subscription \
         twilio vault webhook write",
    )
});

/// Words before `pass` that make it a password.
static PASS_OF: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "account admin api app auth client database db email ftp host http ldap login mail mongo \
         mqtt my mysql pg postgres proxy rabbitmq redis registry root rpc server smtp ssh sudo user \
         vnc wifi",
    )
});

/// Words before `pat` that make it a personal access token.
static PAT_OF: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "ado airtable atlassian azure bitbucket bot ci devops docker gh github gitlab gl jira my \
         personal user",
    )
});

/// Endings of compound words, such as `dbpassword` and `authtoken`.
const JOINED: [(&str, Noun); 39] = [
    ("password", Noun::Password),
    ("passwd", Noun::Password),
    ("passwort", Noun::Password),
    ("kennwort", Noun::Password),
    ("passphrase", Noun::Password),
    ("passcode", Noun::Password),
    ("userpass", Noun::Password),
    ("dbpass", Noun::Password),
    ("sshpass", Noun::Password),
    ("storepass", Noun::Password),
    ("keypass", Noun::Password),
    ("rootpw", Noun::Password),
    ("userpw", Noun::Password),
    ("adminpw", Noun::Password),
    ("bindpw", Noun::Password),
    ("dbpw", Noun::Password),
    ("mailpw", Noun::Password),
    ("smtppw", Noun::Password),
    ("ldappw", Noun::Password),
    ("ftppw", Noun::Password),
    ("sqlpw", Noun::Password),
    ("pswd", Noun::Password),
    ("secret", Noun::Secret),
    ("token", Noun::Token),
    ("apikey", Noun::Key),
    ("appkey", Noun::Key),
    ("accesskey", Noun::Key),
    ("accountkey", Noun::Key),
    ("authkey", Noun::Key),
    ("secretkey", Noun::Key),
    ("privatekey", Noun::Key),
    ("privkey", Noun::Key),
    ("sharedkey", Noun::Key),
    ("signingkey", Noun::Key),
    ("encryptionkey", Noun::Key),
    ("masterkey", Noun::Key),
    ("servicekey", Noun::Key),
    ("seckey", Noun::Key),
    ("presharedkey", Noun::Key),
];

/// Judges a name, or returns `None` if it does not suggest a secret.
pub(super) fn judge(name: &[u8]) -> Option<Name> {
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
        Style::Other
    } else {
        Style::Upper
    };
    let head = words.iter().rposition(|word| !NEUTRAL.has(word))?;
    if let Some((noun, weight)) = noun_at(words, head) {
        return Some(Name {
            noun,
            weight,
            style,
        });
    }
    // The noun may stand further to the front, as in `TOKEN_FOR_RELEASES`.
    let (noun, _) = (0..head).rev().find_map(|index| noun_at(words, index))?;
    Some(Name {
        noun,
        weight: Weight::Maybe,
        style,
    })
}

fn noun_at(words: &[&str], head: usize) -> Option<(Noun, Weight)> {
    let word = words[head];
    let before = head.checked_sub(1).map_or("", |index| words[index]);
    let sure = |noun| Some((noun, Weight::Sure));
    let maybe = |noun| Some((noun, Weight::Maybe));
    match word {
        "pwd" | "pw" | "psw" | "psk" => sure(Noun::Password),
        "pass" if PASS_OF.has(before) => sure(Noun::Password),
        "pass" => Some((Noun::Password, Weight::IfMixed)),
        "passwords" => maybe(Noun::Password),
        "credential" | "credentials" | "creds" | "cred" => sure(Noun::Secret),
        "secrets" | "salt" => maybe(Noun::Secret),
        "pat" if PAT_OF.has(before) => sure(Noun::Token),
        "jwt" | "bearer" | "sessionid" | "sessid" | "phpsessid" | "jsessionid" => sure(Noun::Token),
        "tokens" => maybe(Noun::Token),
        "auth" | "authorization" => sure(Noun::Auth),
        "ident" if before == "auth" => sure(Noun::Auth),
        "sig" | "signature" => sure(Noun::Signature),
        "mnemonic" => sure(Noun::Phrase),
        "phrase" if matches!(before, "seed" | "recovery" | "secret" | "mnemonic") => {
            sure(Noun::Phrase)
        }
        "key" | "keys" if KEY_OF.has(before) => sure(Noun::Key),
        "key" => maybe(Noun::Key),
        _ => {
            let joined = JOINED.iter().find(|(end, _)| ends_with(word, end));
            joined.map(|(_, noun)| (*noun, Weight::Sure))
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
        use Noun::{Auth, Key, Password, Secret, Token};
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
            assert_eq!(judged, Some((noun, Weight::Sure)), "{name}");
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
            assert_eq!(weight, Some(Weight::Maybe), "{name}");
        }
        assert_eq!(judge(b"PublicKeyToken"), None);
    }
}
