//! Errors about keys. No error text ever holds a value or an unchecked name: a key pasted
//! in the wrong place must not travel on in an error.

use std::io;
use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

use crate::KeyStoreError;

/// Why a key could not be stored, found or removed.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// A name has characters or a length that names cannot have.
    #[error("that is not the name of {}", article(which))]
    BadName {
        /// Which name is wrong: `provider` or `account`.
        which: &'static str,
    },
    /// The value cannot be a key.
    #[error("that is not a key: {why}")]
    BadKey { why: &'static str },
    /// Another user can access a file of keys, or owns it.
    #[error("`{}` is not private: {what}", path.display())]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        what: &'static str,
        /// The command or action that repairs it.
        advice: String,
    },
    /// A file of keys is not as Artel wrote it, or was written on another machine or by
    /// another user.
    #[error("the keys in `{}` cannot be read", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    /// The file was written by a newer Artel.
    #[error("`{}` has format {found}; this build reads up to {newest}", path.display())]
    TooNew {
        path: PathBuf,
        /// The file's format.
        found: u8,
        /// The newest format that this build can read.
        newest: u8,
    },
    /// The file would exceed its largest size.
    #[error("there is no room for another key in `{}`", path.display())]
    Full { path: PathBuf },
    /// Another process did not release the keys in time.
    #[error("another process is busy with the keys")]
    Busy {
        /// The lock file that the other process holds.
        path: PathBuf,
    },
    /// The operating system refused an operation.
    #[error("could not {doing} `{}`: {cause}", path.display())]
    System {
        /// The file or folder.
        path: PathBuf,
        /// The operation that failed, as a verb for the message.
        doing: &'static str,
        #[source]
        cause: io::Error,
    },
    /// The system's key store has the key but does not return it.
    #[error(
        "could not reach the key of `{provider}`, account `{account}`, in the system key store"
    )]
    Store {
        provider: String,
        account: String,
        #[source]
        cause: KeyStoreError,
    },
    /// Nothing is stored under these names.
    #[error("there is no key of `{provider}`, account `{account}`")]
    Missing { provider: String, account: String },
    /// A variable that was named on purpose holds no key.
    #[error("the variable `{name}` that should hold the key is not set, or is empty")]
    NoVariable { name: String, provider: String },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes")]
    NoRandom,
}

impl VaultError {
    /// Returns a function that turns a system error into a vault error.
    pub(crate) fn system<E: Into<io::Error>>(
        path: &Path,
        doing: &'static str,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |cause| Self::System {
            path,
            doing,
            cause: cause.into(),
        }
    }

    pub(crate) fn damaged(path: &Path, what: &'static str) -> Self {
        let path = path.to_owned();
        Self::Damaged { path, what }
    }

    fn code(&self) -> FailureCode {
        match self {
            Self::BadName { .. } => FailureCode::C004,
            Self::BadKey { .. } => FailureCode::K004,
            Self::Missing { .. } => FailureCode::K003,
            Self::NoVariable { .. } => FailureCode::M003,
            _ => FailureCode::K001,
        }
    }

    fn why(&self) -> Option<String> {
        Some(match self {
            Self::Damaged { what, .. } => (*what).to_owned(),
            Self::Store { cause, .. } => cause.to_string(),
            Self::Busy { path } => format!("it holds `{}`", path.display()),
            Self::BadName { .. } => {
                "names have 1 to 64 letters, digits and `-`, `_`, `.`, `@`".to_owned()
            }
            _ => return None,
        })
    }

    fn advice(&self) -> Option<String> {
        Some(match self {
            Self::NotPrivate { advice, .. } => advice.clone(),
            Self::Damaged { path, .. } => format!(
                "move `{}` away or run `artel auth remove --all`, then store the keys again with \
                 `artel auth set PROVIDER`",
                path.display()
            ),
            Self::TooNew { .. } => "install the newer Artel".to_owned(),
            Self::Full { .. } => "remove keys that are not needed with `artel auth remove`".into(),
            Self::Busy { .. } => "wait for it to end, and run this again".to_owned(),
            Self::Store {
                provider,
                account,
                cause,
            } => {
                let command = store_again(provider, account);
                match cause {
                    KeyStoreError::Locked => {
                        format!("unlock it, or store the key again: `{command}`")
                    }
                    _ => format!("log in to your desktop, or store the key again: `{command}`"),
                }
            }
            Self::Missing { provider, account } => {
                let command = store_again(provider, account);
                format!("store it with `{command}`; `artel auth status` lists what is there")
            }
            Self::NoVariable { name, provider } => format!(
                "set `{name}`, or take `api_key_env` out of the settings and run `artel auth set \
                 {provider}`"
            ),
            _ => return None,
        })
    }
}

fn store_again(provider: &str, account: &str) -> String {
    if account == crate::DEFAULT_ACCOUNT {
        return format!("artel auth set {provider}");
    }
    format!("artel auth set {provider} --account {account}")
}

fn article(which: &str) -> String {
    let article = if which == "account" { "an" } else { "a" };
    format!("{article} {which}")
}

impl From<VaultError> for Failure {
    fn from(error: VaultError) -> Self {
        let mut failure = Self::new(error.code(), error.to_string());
        failure.why = error.why();
        failure.advice = error.advice();
        failure
    }
}
