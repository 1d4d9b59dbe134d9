//! A file of format 1 can be opened for ever.

use artel_types::Secret;

use super::at;
use crate::contents::VaultEntry;
use crate::seal::{self, KeyFileBinding};

/// Written by the first build that had format 1. If this fails, the format changed: it
/// needs the next number, and this one stays readable.
const FORMAT_1: &str = "\
    415254454c4b455901070707070707070707070707105a4b7e9f1cc625067ac55b77788fab4b81583113f2a290\
    3a65b52fce7d18d4bc552362b2cb1c73be2529ce66fbafb727e90a83da2341b8cff06a604c05cf01698d4231d6\
    21e0bdaf7687e12701f04006e570725cda585625";

fn entries() -> Vec<VaultEntry> {
    let entry = |provider: &str, account: &str, value: Option<&str>| VaultEntry {
        provider: provider.to_owned(),
        account: account.to_owned(),
        since: at(1_794_732_600),
        value: value.map(Secret::new),
    };
    vec![
        entry("anthropic", "default", Some("sk-golden")),
        entry("openai", "work", None),
    ]
}

#[test]
fn format_1_is_what_it_was() {
    let binding = KeyFileBinding {
        machine: "0123456789abcdef0123456789abcdef".to_owned(),
        user: 1000,
    };
    let sealed = seal::seal(&entries(), [7; _], &[9; _], &binding).unwrap();
    let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, FORMAT_1);
    assert_eq!(seal::open(&sealed, &[9; _], &binding), Ok(entries()));
}
