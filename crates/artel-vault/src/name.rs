//! Names of providers and accounts, valid in a command, a file and a key store alike.

use artel_types::model::is_account;

use crate::VaultError;

/// The account that is used if none is named.
pub const DEFAULT_ACCOUNT: &str = "default";

/// Refuses a pair of names that cannot be stored. Providers follow the same rule as
/// accounts. It is the rule of the settings: a name accepted there is accepted here.
pub(crate) fn check(provider: &str, account: &str) -> Result<(), VaultError> {
    for (which, name) in [("provider", provider), ("account", account)] {
        if !is_account(name) {
            return Err(VaultError::BadName { which });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_checked_and_none_is_repeated() {
        for (provider, account) in [("openai-chat", "Ada@example.com"), ("a", "WORK_2.x")] {
            assert!(check(provider, account).is_ok(), "{provider} {account}");
        }
        for (provider, account, which) in [
            ("sk secret", "default", "provider"),
            ("anthropic", "sk/secret", "account"),
        ] {
            let error = check(provider, account).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(
                shown.contains(which) && !shown.contains("secret"),
                "{shown}"
            );
        }
    }
}
