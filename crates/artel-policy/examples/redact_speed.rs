//! Prints how fast text is redacted, in MB/s, with the floor of the same run beside it.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the clock of the machine and prints what it measured"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use artel_policy::redact::redactor;
use artel_types::{Secret, SecretRedactor};

/// Small enough that a run is over before another program gets the core.
const SIZE: usize = 512 << 10;

/// What ordinary code looks like, names of secrets included.
const SOURCE: &str = r#"
/// Reads the settings and returns the session that they describe.
pub fn open(settings: &Settings, token: &Token) -> Result<Session, OpenError> {
    let path = settings.root.join("journal").join(format!("{}.db", settings.name));
    for (key, value) in settings.entries.iter().filter(|(key, _)| !key.is_empty()) {
        if value.len() > LIMIT || key.starts_with('_') {
            return Err(OpenError::Invalid { key: key.clone(), length: value.len() });
        }
        entries.insert(key.to_owned(), parse(value, token)?);
    }
    let author = commit.author().name().unwrap_or("unknown");
    assert_eq!(session.password, None, "no password is kept for {author}");
    Ok(Session { path, entries, opened: clock.now(), state: State::Open })
}
"#;

/// What programs print while they work.
const LOG: &str = r#"2030-01-01T10:00:00.123456Z  INFO server::http: request method=GET path=/v1/items?page=2&sort=name status=200 bytes=5123 took=1.8ms
2030-01-01T10:00:00.223456Z DEBUG server::db: query rows=17 took=0.4ms sql="SELECT id, name FROM items WHERE owner = $1 ORDER BY name"
2030-01-01T10:00:00.323456Z  WARN server::auth: session 7c9e6679-7425-40de-944b-e07fc1f90ae7 is about to expire, 42 tokens left
   Compiling serde_json v1.0.140 (/home/me/project/crates/serde_json)
test scheduler::tests::a_run_that_waits_says_for_what ... ok
"#;

fn main() {
    let known: Vec<Secret> = (0..3)
        .map(|index| Secret::new(format!("example-known-value-{index}-0123456789")))
        .collect();
    let everything = redactor(&known);
    let formats = redactor([]);
    for (name, unit) in [("source", SOURCE), ("log", LOG)] {
        let text = unit.repeat(SIZE / unit.len());
        let bytes = text.as_bytes();
        let copy = speed(bytes.len(), || black_box(bytes.to_vec()).len());
        let count = speed(bytes.len(), || {
            bytes.iter().filter(|byte| **byte == b'\n').count()
        });
        let whole = speed(bytes.len(), || formats.redact(&text).len());
        let both = speed(bytes.len(), || everything.redact(&text).len());
        let stream = speed(bytes.len(), || streamed(&formats, bytes, 64 << 10));
        let small = speed(bytes.len(), || streamed(&formats, bytes, 64));
        println!(
            "{{\"text\":\"{name}\",\"kb\":{},\"copy\":{copy},\"count\":{count},\"formats\":{whole},\
             \"formats_and_known\":{both},\"stream_64k\":{stream},\"stream_64\":{small}}}",
            bytes.len() >> 10
        );
    }
}

fn streamed(redactor: &SecretRedactor, bytes: &[u8], piece: usize) -> usize {
    let mut stream = redactor.stream();
    let shown: usize = bytes
        .chunks(piece)
        .map(|piece| stream.push_bytes(piece).len())
        .sum();
    shown + stream.finish_bytes().len()
}

/// Returns the best of several runs in MB/s: other work on the machine only ever slows.
fn speed(bytes: usize, mut work: impl FnMut() -> usize) -> u64 {
    let mut best = Duration::MAX;
    for _ in 0..300 {
        let begun = Instant::now();
        black_box(work());
        best = best.min(begun.elapsed());
    }
    (bytes as f64 / best.as_secs_f64() / 1e6) as u64
}
