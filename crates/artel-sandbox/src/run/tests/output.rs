//! Output ends up on disk whole or as its two ends, redacted, and excerpted.

use artel_types::Secret;

use super::*;

#[test]
fn the_file_has_everything_that_fits() {
    let trial = Trial {
        head: 10,
        tail: 6,
        ..Trial::new()
    };
    let finished = trial.run("printf 0123456789abcdef");
    assert_eq!(text(&finished.stdout), "0123456789abcdef");
    let spooled = &finished.stdout.spooled;
    assert_eq!((spooled.bytes, spooled.kept), (16, 16));

    let trial = Trial {
        head: 10,
        tail: 6,
        ..Trial::new()
    };
    let finished = trial.run("printf 0123456789; printf -- -----; printf abcdef");
    assert_eq!(
        text(&finished.stdout),
        "0123456789\n[… 5 bytes left out …]\nabcdef"
    );
    let spooled = &finished.stdout.spooled;
    assert_eq!(
        (spooled.bytes, spooled.kept, &spooled.lost),
        (21, 16, &None)
    );
}

#[test]
fn files_are_the_users_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let trial = Trial::new();
    let finished = trial.run("echo x");
    for output in [&finished.stdout, &finished.stderr] {
        let mode = std::fs::metadata(&output.spooled.path)
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn secrets_are_gone_everywhere_also_where_they_are_cut() {
    let secret = Secret::new("correct-horse-battery".to_owned());
    let trial = Trial {
        redactor: SecretRedactor::of_known_values([&secret]),
        ..Trial::new()
    };
    let path = trial.fifo("go");
    let mut go = std::fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut live_text = Vec::new();
    // The second half is written only after the first was read.
    let script = "printf 'a: start correct-ho'; read x <go; printf 'rse-battery \\377\\n'; \
                  printf 'b: correct-horse-battery'";
    std::io::Write::write_all(&mut go, b"go\n").unwrap();
    let finished = trial.run_live(script, &mut |live| {
        if let LiveCommandEvent::Output(OutputStreamKind::Stdout, bytes) = live {
            live_text.extend_from_slice(bytes);
        }
    });
    let kept = std::fs::read(&finished.stdout.spooled.path).unwrap();
    let expected = b"a: start [REDACTED] \xff\nb: [REDACTED]";
    assert_eq!(
        String::from_utf8_lossy(&kept),
        String::from_utf8_lossy(expected)
    );
    assert_eq!(kept, live_text);
    assert!(!finished.render("").contains("horse"));
}

#[test]
fn the_middle_of_a_long_output_is_seen_where_it_matters() {
    let trial = Trial::new();
    let mut lines_seen_live = 0;
    let script = "seq 1 100000; for i in 1 2 3; do echo \"error: number $i\"; done; seq 1 99997";
    let finished = trial.run_live(script, &mut |live| {
        if let LiveCommandEvent::Output(OutputStreamKind::Stdout, bytes) = live {
            lines_seen_live += bytes.iter().filter(|byte| **byte == b'\n').count();
        }
    });
    let excerpt = &finished.stdout.excerpt;
    assert_eq!(
        (excerpt.lines, excerpt.errors, lines_seen_live),
        (200_000, 3, 200_000)
    );
    assert_eq!(excerpt.text.lines().nth(49), Some("50"));
    assert_eq!(excerpt.text.lines().last(), Some("99997"));
    for number in 1..=3 {
        assert!(
            excerpt
                .text
                .contains(&format!(": error: number {number}\n"))
        );
    }
    let rendered = finished.render("Read all of it with `read`.");
    assert!(rendered.starts_with("3 errors, 0 warnings in 200000 lines\n"));
    assert!(
        rendered.ends_with("Read all of it with `read`.]\n"),
        "{rendered}"
    );
    let full = text(&finished.stdout);
    assert_eq!(full.lines().count(), 200_000);
    assert_eq!(full.len() as u64, excerpt.bytes);
}
