//! Names of providers and accounts: what may stand in a command, a file and a key store alike.

use crate::VaultError;

/// The account that is meant where none is named.
pub const DEFAULT_ACCOUNT: &str = "default";

const LONGEST: usize = 64;

/// Refuses a pair of names that cannot be stored.
pub(crate) fn check(provider: &str, account: &str) -> Result<(), VaultError> {
    for (which, name) in [("provider", provider), ("account", account)] {
        if !is_name(name) {
            return Err(VaultError::BadName { which });
        }
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        let longest = "a".repeat(LONGEST);
        for good in ["a", "openai-chat", "work_2", "me.example", &longest] {
            assert!(is_name(good), "{good}");
        }
        let too_long = "a".repeat(LONGEST + 1);
        for bad in [
            "", "Work", "a b", "a/b", "a\0", "é", "a\n", "a:b", &too_long,
        ] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
