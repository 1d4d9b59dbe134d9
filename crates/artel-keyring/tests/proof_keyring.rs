//! The store against a real desktop's: a session bus and GNOME's key store of their own, in a
//! folder of their own. Needs the Debian packages `dbus`, `gnome-keyring` and `libsecret-tools`,
//! which an ordinary test run must not; `cargo xtask prove keyring` runs it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../../artel-vault/src/tests/conformance.rs"]
mod conformance;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use artel_keyring::Keyring;
use artel_testkit::{figure, is_long};
use artel_types::{Secret, Timestamp};
use artel_vault::{
    KeyLocation, KeyStorageOutcome, KeyStoreError, SystemKeyStore, Vault, VaultError,
};
use tempfile::TempDir;

const KEY: &str = "sk-canary-0123456789abcdef";

/// A session bus in a folder of its own; it ends, and the store with it, when dropped.
struct Desktop {
    home: Arc<TempDir>,
    bus: Child,
    address: String,
}

impl Desktop {
    fn new() -> Self {
        Self::in_home(Arc::new(tempfile::tempdir().unwrap()))
    }

    /// Starts a bus that knows of no service but those that are started by hand.
    fn in_home(home: Arc<TempDir>) -> Self {
        let config = home.path().join("bus.conf");
        let socket = home.path().join("bus");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
             <allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
            socket.display()
        );
        fs::write(&config, text).unwrap();
        let run = home.path().join("run");
        fs::create_dir_all(&run).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
        let mut bus = command("dbus-daemon", &home, "")
            .arg("--nofork")
            .arg("--print-address")
            .arg(format!("--config-file={}", config.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut said = BufReader::new(bus.stdout.take().unwrap());
        said.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        Self { home, bus, address }
    }

    /// Starts the store; with the password it is unlocked, and made the first time.
    fn start_store(&self, password: Option<&str>) {
        let mut start = self.command("gnome-keyring-daemon");
        start.arg("--components=secrets");
        if password.is_some() {
            start.arg("--unlock");
        }
        let mut start = start
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let password = password.unwrap_or_default();
        let mut input = start.stdin.take().unwrap();
        input.write_all(password.as_bytes()).unwrap();
        drop(input);
        assert!(start.wait().unwrap().success());
        self.wait_for_store();
    }

    /// The store takes its name on the bus some time after it was started.
    fn wait_for_store(&self) {
        let is_there = || {
            let asked = self.keyring().get("anthropic", "nobody");
            !matches!(asked, Err(KeyStoreError::Unavailable(_)))
        };
        let tries = (0..400).find(|_| {
            thread::park_timeout(Duration::from_millis(25));
            is_there()
        });
        assert!(tries.is_some(), "the store was not on the bus in 10 s");
    }

    fn keyring(&self) -> Keyring {
        Keyring::at(Some(&self.address)).unwrap()
    }

    fn vault(&self) -> Vault {
        let system: Arc<dyn SystemKeyStore> = Arc::new(self.keyring());
        Vault::open(&self.data(), Some(system))
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("artel")
    }

    fn command(&self, program: &str) -> Command {
        command(program, &self.home, &self.address)
    }

    /// Ends the bus and the store, and starts a new bus over the same folder.
    fn log_out_and_in(mut self) -> Self {
        let home = Arc::clone(&self.home);
        self.end();
        Self::in_home(home)
    }

    fn end(&mut self) {
        drop(self.bus.kill());
        drop(self.bus.wait());
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        self.end();
    }
}

#[expect(clippy::disallowed_methods, reason = "the programs are the test's own")]
fn command(program: &str, home: &TempDir, address: &str) -> Command {
    let home = home.path();
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .env("DBUS_SESSION_BUS_ADDRESS", address);
    command
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

#[test]
fn proof_keyring_does_what_a_store_must() {
    if !is_long() {
        return;
    }
    let desktop = Desktop::new();
    desktop.start_store(Some("password"));
    conformance::run(&desktop.keyring());
    figure("what a store must do | done");
}

#[test]
fn proof_keyring_and_file_together_lose_no_key() {
    if !is_long() {
        return;
    }
    let desktop = Desktop::new();
    desktop.start_store(Some("password"));
    thread::scope(|scope| {
        for writer in 0..4 {
            let desktop = &desktop;
            scope.spawn(move || {
                for number in 0..25 {
                    let account = format!("{writer}-{number}");
                    let key = Secret::new(format!("key-{account}"));
                    let vault = desktop.vault();
                    vault.set("openai", &account, &key, at(1)).unwrap();
                }
            });
        }
    });
    let vault = desktop.vault();
    let listed = vault.list().unwrap();
    assert_eq!(listed.len(), 100);
    for stored in &listed {
        let found = vault.get("openai", &stored.account).unwrap();
        let key = Secret::new(format!("key-{}", stored.account));
        assert_eq!(found, Some(key));
    }
    // A busy disk can keep the store from answering in time; then the file has the key.
    let in_store = listed.iter().filter(|key| key.place == KeyLocation::System);
    let in_store = in_store.count();
    assert!(in_store > 0, "the store took none");
    figure(&format!(
        "100 keys of 4 writers | {in_store} in the store | 0 lost"
    ));
}

#[test]
fn proof_keyring_is_read_and_written_by_others_the_same_way() {
    if !is_long() {
        return;
    }
    let desktop = Desktop::new();
    desktop.start_store(Some("password"));
    let keyring = desktop.keyring();
    keyring.set("anthropic", "work", &Secret::new(KEY)).unwrap();
    let names = [
        "application",
        "artel",
        "provider",
        "anthropic",
        "account",
        "work",
    ];
    let looked_up = desktop
        .command("secret-tool")
        .arg("lookup")
        .args(names)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(looked_up.stdout).unwrap(), KEY);

    let cleared = desktop
        .command("secret-tool")
        .arg("clear")
        .args(names)
        .status()
        .unwrap();
    assert!(cleared.success());
    assert_eq!(keyring.get("anthropic", "work").unwrap(), None);

    let mut store = desktop
        .command("secret-tool")
        .args(["store", "--label=by hand"])
        .args(names)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    store
        .stdin
        .take()
        .unwrap()
        .write_all(b"by hand: \xc3\xa4")
        .unwrap();
    assert!(store.wait().unwrap().success());
    let found = keyring.get("anthropic", "work").unwrap();
    assert_eq!(found, Some(Secret::new("by hand: ä")));
    figure("keys exchanged with another program | both ways");
}

#[test]
fn proof_keyring_locked_store_gives_way_to_the_file() {
    if !is_long() {
        return;
    }
    let desktop = Desktop::new();
    desktop.start_store(Some("password"));
    let key = Secret::new(KEY);
    let kept = desktop.vault().set("anthropic", "default", &key, at(1));
    assert!(matches!(kept.unwrap(), KeyStorageOutcome::System { .. }));

    let desktop = desktop.log_out_and_in();
    desktop.start_store(None);
    let vault = desktop.vault();
    match vault.get("anthropic", "default") {
        Err(VaultError::Store { cause, .. }) => assert_eq!(cause, KeyStoreError::Locked),
        other => panic!("{other:?}"),
    }
    let kept = vault.set("openai", "default", &key, at(2)).unwrap();
    let path = desktop.data().join("keys.enc");
    let instead = Some(KeyStoreError::Locked);
    assert_eq!(kept, KeyStorageOutcome::File { path, instead });

    let desktop = desktop.log_out_and_in();
    desktop.start_store(Some("password"));
    let vault = desktop.vault();
    let found = vault.get("anthropic", "default").unwrap();
    assert_eq!(found, Some(key), "it outlives the session");
    let places: Vec<KeyLocation> = vault.list().unwrap().iter().map(|key| key.place).collect();
    assert_eq!(places, [KeyLocation::System, KeyLocation::File]);
    assert_eq!(vault.forget_all().unwrap().keys, Some(2));
    let left = desktop.keyring().get("anthropic", "default").unwrap();
    assert_eq!(left, None);
    figure("a locked store | not asked for, not waited for");
}

#[test]
fn proof_keyring_bus_without_a_store_gives_way_to_the_file() {
    if !is_long() {
        return;
    }
    let desktop = Desktop::new();
    let refused = desktop.keyring().get("anthropic", "default");
    assert!(matches!(refused, Err(KeyStoreError::Unavailable(_))));
    let key = Secret::new(KEY);
    let kept = desktop.vault().set("anthropic", "default", &key, at(1));
    assert!(matches!(
        kept.unwrap(),
        KeyStorageOutcome::File {
            instead: Some(KeyStoreError::Unavailable(_)),
            ..
        }
    ));
    assert_eq!(desktop.vault().secrets(), [key]);
}
