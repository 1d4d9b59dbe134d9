//! Requirements on every system key store. Stores in other crates are tested against them
//! too.

use artel_types::Secret;

use super::SystemKeyStore;

/// Tests everything that the seam promises on an empty, unlocked store.
pub(crate) fn run(store: &dyn SystemKeyStore) {
    let get = |provider: &str, account: &str| store.get(provider, account).unwrap();
    let set = |provider: &str, account: &str, key: &str| {
        store.set(provider, account, &Secret::new(key)).unwrap();
    };
    assert!(!store.name().is_empty());

    assert_eq!(get("anthropic", "default"), None);
    store.remove("anthropic", "default").unwrap();

    set("anthropic", "default", "first-key");
    assert_eq!(get("anthropic", "default"), Some(Secret::new("first-key")));
    set("anthropic", "default", "second-key");
    assert_eq!(get("anthropic", "default"), Some(Secret::new("second-key")));

    assert_eq!(get("anthropic", "work"), None, "an account of its own");
    assert_eq!(get("openai", "default"), None, "a provider of its own");
    set("anthropic", "work", "work-key");
    set("openai", "default", "openai-key");
    store.remove("anthropic", "default").unwrap();
    assert_eq!(get("anthropic", "default"), None);
    assert_eq!(get("anthropic", "work"), Some(Secret::new("work-key")));
    assert_eq!(get("openai", "default"), Some(Secret::new("openai-key")));

    let longest_name = "n".repeat(64);
    for key in ["x", "ä \"quoted\" \\ \n\t line", &"k".repeat(64 * 1024)] {
        set("a.b-c_0", &longest_name, key);
        let found = get("a.b-c_0", &longest_name);
        assert!(found == Some(Secret::new(key)), "{} bytes", key.len());
    }
    for (provider, account) in [
        ("anthropic", "work"),
        ("openai", "default"),
        ("a.b-c_0", &longest_name),
    ] {
        store.remove(provider, account).unwrap();
        assert_eq!(get(provider, account), None);
    }
}
