//! Forms of text: the values that each accepts, and how they are stored.

use artel_types::model::is_account;

use crate::problem::is_harmless;
use crate::url::HttpUrl;

/// Longest text of one line, in characters.
const LONGEST: usize = 1000;

/// The form of text that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingTextForm {
    /// One line that is not blank.
    Line,
    /// URL of a provider.
    BaseUrl,
    /// URL of a proxy, or the word `none`.
    Proxy,
    /// Name of a variable.
    Variable,
    /// Name of a stored account.
    Account,
    /// Value of a header.
    Header,
}

impl SettingTextForm {
    /// Checks text and returns it as it is stored: URLs lose slashes at their end.
    pub(crate) fn read(self, text: &str) -> Option<String> {
        let is_right = match self {
            Self::Line => is_line(text),
            Self::BaseUrl => return base_url(text),
            Self::Proxy if text == "none" => true,
            Self::Proxy => return base_url(text).filter(|url| has_no_path(url)),
            Self::Variable => is_variable(text),
            Self::Account => is_account(text),
            Self::Header => is_header(text),
        };
        is_right.then(|| text.to_owned())
    }

    /// Describes the accepted text.
    pub(crate) fn allowed(self) -> &'static str {
        match self {
            Self::Line => "text in quotes: one line of at most 1000 characters",
            Self::BaseUrl => {
                "an address that begins with http:// or https://, without user, `?` and `#`, such \
                 as \"http://127.0.0.1:8080/v1\""
            }
            Self::Proxy => {
                "an address such as \"http://proxy.example:3128\", without user and path, or \
                 \"none\"; a proxy that wants a password goes into the variable HTTPS_PROXY"
            }
            Self::Variable => {
                "the name of the variable that holds the key, such as \"MY_KEY\"; not the key itself"
            }
            Self::Account => "1 to 64 letters, digits and `-`, `_`, `.`, `@`, such as \"work\"",
            Self::Header => "text in quotes: at most 1000 visible ASCII characters and spaces",
        }
    }

    /// Returns whether a wrong value of this form may be a key, so that messages must not
    /// repeat it.
    pub(crate) fn may_hold_key(self, source: &str) -> bool {
        match self {
            Self::Line => false,
            Self::BaseUrl | Self::Proxy => source.contains(['@', '?', '#']),
            Self::Variable | Self::Account | Self::Header => true,
        }
    }
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= LONGEST && is_harmless(text)
}

fn base_url(text: &str) -> Option<String> {
    let plain = text.trim_end_matches('/');
    let is_right = text.len() <= LONGEST && HttpUrl::read(plain).is_some();
    is_right.then(|| plain.to_owned())
}

fn has_no_path(url: &str) -> bool {
    HttpUrl::read(url).is_some_and(|url| url.path.is_empty())
}

/// Returns whether a text is the name of a variable. Mixed case is refused: variables are
/// not written that way, and keys often are.
fn is_variable(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_one_case = text == text.to_ascii_uppercase() || text == text.to_ascii_lowercase();
    let begins_right = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    begins_right && is_one_case && text.len() <= 128 && text.bytes().all(is_plain)
}

fn is_header(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    text.len() <= LONGEST && text.bytes().all(is_plain) && text.trim() == text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: SettingTextForm, text: &str, expected: Option<&str>) {
        assert_eq!(form.read(text).as_deref(), expected, "{form:?} {text:?}");
    }

    #[test]
    fn each_form_takes_its_own() {
        let same = |form, text: &str| check(form, text, Some(text));
        same(SettingTextForm::Line, "claude-opus 5");
        same(SettingTextForm::Line, "scripts/sales report.yaml");
        same(SettingTextForm::Line, &"é".repeat(LONGEST));
        same(SettingTextForm::Proxy, "none");
        same(SettingTextForm::Proxy, "http://proxy.example:3128");
        same(SettingTextForm::Variable, "MY_KEY_2");
        same(SettingTextForm::Variable, "my_key");
        same(SettingTextForm::Variable, "_");
        same(SettingTextForm::Account, "Ada@example.com");
        same(SettingTextForm::Header, "a, b=1; c");
        same(SettingTextForm::Header, "");
        check(
            SettingTextForm::BaseUrl,
            "http://h:1/v1/",
            Some("http://h:1/v1"),
        );
        check(SettingTextForm::BaseUrl, "https://h//", Some("https://h"));
        check(SettingTextForm::Proxy, "http://h/", Some("http://h"));
    }

    #[test]
    fn nothing_else_is_taken() {
        let none = |form, text: &str| check(form, text, None);
        for text in ["", " ", "a\nb", "\u{1b}[31m", "a\u{202e}b", "\u{feff}"] {
            none(SettingTextForm::Line, text);
        }
        none(SettingTextForm::Line, &"é".repeat(LONGEST + 1));
        for text in ["", "/", "h:80", "http://u:p@h", "http://h?key=1", "http://"] {
            none(SettingTextForm::BaseUrl, text);
        }
        for text in ["", "None", "http://h/path", "socks5://h", "http://u@h"] {
            none(SettingTextForm::Proxy, text);
        }
        for text in [
            "",
            "1KEY",
            "sk-ant-api03",
            "AIzaSyAbC1",
            "A B",
            "A=B",
            "$KEY",
        ] {
            none(SettingTextForm::Variable, text);
        }
        for text in ["", "a b", "a/b", "..\n", &"a".repeat(65)] {
            none(SettingTextForm::Account, text);
        }
        for text in ["a\r\nb", "é", "\0", " a", "a "] {
            none(SettingTextForm::Header, text);
        }
    }

    #[test]
    fn what_may_be_a_key_is_not_repeated() {
        assert!(SettingTextForm::Variable.may_hold_key("sk-ant-api03"));
        assert!(SettingTextForm::Header.may_hold_key("x"));
        assert!(SettingTextForm::BaseUrl.may_hold_key("http://h?key=1"));
        assert!(!SettingTextForm::BaseUrl.may_hold_key("htp://h"));
    }
}
