//! Children that print without end or sense: memory stays bounded, counts are exact, text
//! stays clean.

use super::*;

/// Limit on the growth of the process, far below the amount printed.
const GROWTH: u64 = 16 << 20;

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    kilobytes.unwrap().trim().parse::<u64>().unwrap() << 10
}

#[test]
fn every_kind_of_flood_is_drained_in_little_memory() {
    // The output, and the number of bytes to stdout and to stderr.
    const MANY: u64 = 24 << 20;
    let cases: [(&str, String, u64, u64); 6] = [
        ("yes", format!("yes | head -c {MANY}"), MANY, 0),
        (
            "no newline",
            format!("head -c {MANY} /dev/zero | tr '\\0' x"),
            MANY,
            0,
        ),
        (
            "binary",
            "head -c 5000000 /dev/urandom".to_owned(),
            5_000_000,
            0,
        ),
        ("tiny lines", "seq 1 200000".to_owned(), 1_288_895, 0),
        (
            "ansi",
            format!("yes \"$(printf '\\033[31m\\033[0m\\033[2K')\" | head -c {MANY}"),
            MANY,
            0,
        ),
        (
            "interleaved",
            format!("yes out | head -c {MANY} & yes err | head -c {MANY} >&2; wait"),
            MANY,
            MANY,
        ),
    ];
    for (name, script, stdout, stderr) in cases {
        let before = resident();
        let mut peak = before;
        let mut shown = [0u64; 2];
        let trial = Trial::new();
        let finished = trial.run_live(&script, &mut |live| {
            if let LiveCommandEvent::Output(stream, bytes) = live {
                shown[usize::from(stream == OutputStreamKind::Stderr)] += bytes.len() as u64;
            }
            peak = peak.max(resident());
        });
        assert_eq!(finished.exit, Some(CommandExit::Code(0)), "{name}");
        assert_eq!(shown, [stdout, stderr], "{name}");
        for (output, bytes) in [(&finished.stdout, stdout), (&finished.stderr, stderr)] {
            assert_eq!(
                (output.spooled.bytes, output.excerpt.bytes),
                (bytes, bytes),
                "{name}"
            );
            let size = std::fs::metadata(&output.spooled.path).unwrap().len();
            assert!(size <= (10 << 20) + 100, "{name}: {size} on disk");
            let is_garbling = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!output.excerpt.text.contains(is_garbling), "{name}");
        }
        let rendered = finished.render("Read it.");
        assert!(
            rendered.contains(&format!("{stdout} bytes")),
            "{name}: {rendered}"
        );
        assert!(
            peak - before < GROWTH,
            "{name}: grew by {} KiB",
            (peak - before) >> 10
        );
    }
}

#[test]
fn an_endless_flood_meets_its_time() {
    let (_trial, finished) = Trial::with_time(300).run_timed("yes");
    let killed = finished.killed.unwrap();
    assert!(
        matches!(killed.by, CommandTerminationCause::Timeout(_)),
        "{killed:?}"
    );
    assert!(finished.stdout.excerpt.text.starts_with("y\ny\n"));
    assert_eq!(finished.stdout.excerpt.bytes, finished.stdout.spooled.bytes);
}
