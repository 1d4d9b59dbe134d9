//! Tests the store against a bus that replays a recorded one, and against buses that
//! misbehave.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use artel_types::Secret;
use artel_vault::{KeyStoreError, SystemKeyStore};
use proptest::prelude::*;
use tempfile::TempDir;

use super::Keyring;

const KEY: &str = "sk-recorded-key";

/// Long enough for a busy machine. A test waits this long only if no answer comes at all.
const PATIENT: Duration = Duration::from_secs(60);
const HASTY: Duration = Duration::from_millis(50);

/// A bus that serves one connection.
struct Bus {
    folder: TempDir,
    served: JoinHandle<()>,
}

impl Bus {
    fn start(serve: impl FnOnce(UnixStream) + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("bus")).unwrap();
        let served = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            serve(stream);
        });
        Self { folder, served }
    }

    /// Starts a bus that completes the greeting first.
    fn greeting(serve: impl FnOnce(UnixStream) + Send + 'static) -> Self {
        Self::start(|mut stream| {
            let user = rustix::process::geteuid().as_raw().to_string();
            let hex: String = user.bytes().map(|digit| format!("{digit:02x}")).collect();
            expect(&mut stream, format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes());
            stream.write_all(b"OK 0123456789abcdef\r\n").unwrap();
            expect(&mut stream, b"BEGIN\r\n");
            serve(stream);
        })
    }

    /// Replays a conversation that was recorded between this crate and GNOME's key store. The
    /// caller must send the recorded bytes exactly.
    fn playing(recorded: &'static str) -> Self {
        Self::greeting(move |mut stream| {
            for line in recorded.lines() {
                let (direction, hex) = line.split_once(' ').unwrap();
                let bytes = bytes_of(hex);
                match direction {
                    ">" => expect(&mut stream, &bytes),
                    _ => stream.write_all(&bytes).unwrap(),
                }
            }
            let mut more = Vec::new();
            stream.read_to_end(&mut more).unwrap();
            assert_eq!(more.len(), 0, "nothing more was said then");
        })
    }

    fn keyring(&self, limit: Duration) -> Keyring {
        let address = format!("unix:path={}", self.folder.path().join("bus").display());
        let mut keyring = Keyring::at(Some(&address)).unwrap();
        keyring.limit = limit;
        keyring
    }

    fn end(self) {
        self.served.join().unwrap();
    }
}

fn expect(stream: &mut UnixStream, wanted: &[u8]) {
    let mut said = vec![0; wanted.len()];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&said),
        String::from_utf8_lossy(wanted)
    );
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn a_machine_without_a_bus_has_no_store() {
    for address in [None, Some(""), Some("autolaunch:"), Some("disabled:")] {
        assert!(Keyring::at(address).is_none(), "{address:?}");
    }
}

#[test]
fn the_store_is_spoken_to_as_it_was_when_it_understood() {
    type Answer = Result<Option<Secret>, KeyStoreError>;
    type Ask = fn(&Keyring) -> Answer;
    let get: Ask = |keyring| keyring.get("anthropic", "work");
    let set: Ask = |keyring| {
        let set = keyring.set("anthropic", "work", &Secret::new(KEY));
        set.map(|()| None)
    };
    let remove: Ask = |keyring| keyring.remove("anthropic", "work").map(|()| None);
    let conversations: [(&str, Ask, Answer); 7] = [
        (include_str!("../tests/recorded/set.txt"), set, Ok(None)),
        (
            include_str!("../tests/recorded/get.txt"),
            get,
            Ok(Some(Secret::new(KEY))),
        ),
        (
            include_str!("../tests/recorded/remove.txt"),
            remove,
            Ok(None),
        ),
        (
            include_str!("../tests/recorded/get-absent.txt"),
            get,
            Ok(None),
        ),
        (
            include_str!("../tests/recorded/get-locked.txt"),
            get,
            Err(KeyStoreError::Locked),
        ),
        (
            include_str!("../tests/recorded/set-locked.txt"),
            set,
            Err(KeyStoreError::Locked),
        ),
        (
            include_str!("../tests/recorded/remove-locked.txt"),
            remove,
            Err(KeyStoreError::Locked),
        ),
    ];
    for (recorded, ask, wanted) in conversations {
        let bus = Bus::playing(recorded);
        assert_eq!(ask(&bus.keyring(PATIENT)), wanted);
        bus.end();
    }
}

/// Cuts every answer of a good conversation short: the result is an error, never a wrong
/// value.
#[test]
fn an_answer_that_breaks_off_is_an_error() {
    let recorded = include_str!("../tests/recorded/get.txt");
    let last = recorded.lines().last().unwrap();
    let whole = bytes_of(last.trim_start_matches("< "));
    for kept in (0..whole.len()).step_by(7) {
        let shorter = whole[..kept].to_vec();
        let bus = Bus::greeting(move |mut stream| {
            let lines: Vec<_> = recorded.lines().collect();
            for line in &lines[..lines.len() - 1] {
                let bytes = bytes_of(&line[2..]);
                if line.starts_with('>') {
                    expect(&mut stream, &bytes)
                } else {
                    stream.write_all(&bytes).unwrap()
                }
            }
            stream.write_all(&shorter).unwrap();
        });
        let asked = bus.keyring(PATIENT).get("anthropic", "work");
        assert!(
            matches!(asked, Err(KeyStoreError::Unavailable(_))),
            "{kept}: {asked:?}"
        );
    }
}

#[test]
fn a_bus_that_is_not_there_or_says_no_is_unavailable() {
    let gone = Keyring::at(Some("unix:path=/nonexistent/bus")).unwrap();
    let stranger = Bus::start(|mut stream| {
        stream.write_all(b"REJECTED EXTERNAL\r\n").unwrap();
    });
    let closing = Bus::greeting(drop);
    for keyring in [gone, stranger.keyring(PATIENT), closing.keyring(PATIENT)] {
        let asked = keyring.get("anthropic", "work");
        assert!(
            matches!(asked, Err(KeyStoreError::Unavailable(_))),
            "{asked:?}"
        );
    }
}

#[test]
fn silence_is_not_waited_for_longer_than_the_limit() {
    // The bus ends when its caller disconnects.
    let silent = |mut stream: UnixStream| drop(stream.read_to_end(&mut Vec::new()));
    for bus in [Bus::start(silent), Bus::greeting(silent)] {
        let asked = bus.keyring(HASTY).get("anthropic", "work");
        assert_eq!(asked, Err(KeyStoreError::TimedOut));
    }
}

#[test]
fn a_caller_is_not_kept_by_endless_talk() {
    let endless_line = Bus::start(|mut stream| while stream.write_all(&[b'x'; 512]).is_ok() {});
    // The bus sends a signal again and again instead of the reply.
    let signal: &[u8] = b"l\x04\x01\x01\0\0\0\0\x02\0\0\0\0\0\0\0";
    let endless_signals = Bus::greeting(|mut stream| while stream.write_all(signal).is_ok() {});
    for bus in [endless_line, endless_signals] {
        let asked = bus.keyring(PATIENT).get("anthropic", "work");
        assert!(
            matches!(asked, Err(KeyStoreError::Unavailable(_))),
            "{asked:?}"
        );
        bus.end();
    }
}

#[test]
fn a_message_that_claims_to_be_huge_is_not_made_room_for() {
    for claim in [
        b"l\x02\x01\x01\xff\xff\xff\xff\x01\0\0\0\0\0\0\0",
        b"l\x02\x01\x01\0\0\0\0\x01\0\0\0\xff\xff\xff\xff",
        b"l\x02\x01\x01\xff\xff\xff\x7f\x01\0\0\0\xff\xff\xff\x7f",
    ] {
        let bus = Bus::greeting(|mut stream| {
            stream.write_all(claim).unwrap();
            drop(stream.read_to_end(&mut Vec::new()));
        });
        let asked = bus.keyring(PATIENT).get("anthropic", "work");
        assert!(
            matches!(asked, Err(KeyStoreError::Unavailable(_))),
            "{asked:?}"
        );
    }
}

/// Generates something like a message: a plausible beginning, then arbitrary bytes.
fn nearly_a_message() -> impl Strategy<Value = Vec<u8>> {
    let rest = proptest::collection::vec(prop_oneof![0_u8..10, any::<u8>()], 0..80);
    (1_u8..5, 0_u8..64, 0_u8..64, rest).prop_map(|(kind, body, fields, rest)| {
        let fixed = [b'l', kind, 0, 1, body, 0, 0, 0, 1, 0, 0, 0, fields, 0, 0, 0];
        [&fixed[..], &rest].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_is_too_odd(
        messages in proptest::collection::vec(nearly_a_message(), 0..4),
        noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let said = [messages.concat(), noise].concat();
        let bus = Bus::greeting(move |mut stream| drop(stream.write_all(&said)));
        prop_assert!(bus.keyring(PATIENT).get("anthropic", "work").is_err());
    }
}
