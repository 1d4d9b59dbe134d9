//! Tests of the wait and the shutdown, by tables and properties.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Simulates a command that prints `line` every half second for `life`. Returns when it is
/// ended, or `None` if it is not.
fn ended_at(limits: CommandTimeLimits, line: &[u8], life: Duration) -> Option<Duration> {
    let mut patience = CommandWatchdog::new(limits);
    let mut at = Duration::ZERO;
    while at < life {
        if let CommandWatchdogDecision::End { .. } = patience.verdict(at) {
            return Some(at);
        }
        if at.as_millis().is_multiple_of(500) {
            patience.heard(line, at);
        }
        at += ms(10);
    }
    None
}

#[test]
fn a_talking_command_lives_and_a_hanging_one_does_not() {
    let short = CommandTimeLimits {
        base: secs(2),
        extend: secs(1),
        longest: secs(30),
    };
    let capped = CommandTimeLimits {
        longest: secs(4),
        ..short
    };
    let cases: [(CommandTimeLimits, &[u8], Option<Duration>); 6] = [
        (short, b"line 7", None),
        (short, b"....", Some(secs(2))),
        (short, b"42%", Some(secs(2))),
        (short, b"", Some(secs(2))),
        (capped, b"line 7", Some(secs(4))),
        (capped, b"42%", Some(secs(2))),
    ];
    for (limits, line, expected) in cases {
        let name = String::from_utf8_lossy(line);
        assert_eq!(ended_at(limits, line, secs(6)), expected, "{name:?}");
    }
}

#[test]
fn the_base_is_given_in_any_case_and_the_cap_is_never_passed() {
    let limits = CommandTimeLimits::COMMAND;
    let mut patience = CommandWatchdog::new(limits);
    assert_eq!(
        patience.verdict(Duration::ZERO),
        CommandWatchdogDecision::Keep { until: secs(120) }
    );
    // An early line extends nothing: the base time is longer than what it adds.
    patience.heard(b"Compiling artel", secs(1));
    assert_eq!(
        patience.verdict(secs(119)),
        CommandWatchdogDecision::Keep { until: secs(120) }
    );
    patience.heard(b"Compiling more", secs(110));
    assert_eq!(
        patience.verdict(secs(120)),
        CommandWatchdogDecision::Keep { until: secs(140) }
    );
    assert_eq!(
        patience.verdict(secs(140)),
        CommandWatchdogDecision::End {
            why: CommandTimeout::Silent {
                base: secs(120),
                quiet: secs(30)
            }
        }
    );
    patience.heard(b"still here", secs(1799));
    assert_eq!(
        patience.verdict(secs(1799)),
        CommandWatchdogDecision::Keep { until: secs(1800) }
    );
    let why = CommandTimeout::Endless {
        longest: secs(1800),
    };
    assert_eq!(
        patience.verdict(secs(1800)),
        CommandWatchdogDecision::End { why }
    );
}

#[test]
fn news_that_is_told_late_does_not_take_time_away() {
    let mut patience = CommandWatchdog::new(CommandTimeLimits::of_base(secs(1)));
    patience.heard_news(secs(10));
    patience.heard_news(secs(3));
    assert_eq!(
        patience.verdict(secs(11)),
        CommandWatchdogDecision::Keep { until: secs(40) }
    );
}

#[test]
fn a_time_that_a_person_named_is_not_stretched() {
    let mut patience = CommandWatchdog::new(CommandTimeLimits::exactly(ms(500)));
    patience.heard(b"working", ms(499));
    assert_eq!(
        patience.verdict(ms(499)),
        CommandWatchdogDecision::Keep { until: ms(500) }
    );
    assert!(matches!(
        patience.verdict(ms(500)),
        CommandWatchdogDecision::End { .. }
    ));
}

#[test]
fn noise_is_known() {
    let noise: &[&[u8]] = &[
        b"",
        b"   ",
        b".",
        b".....",
        b" ... ",
        b"|",
        b"/",
        b"-\\|/",
        b"42%",
        b"100 %",
        b"99.5%",
        b"[=====>    ] 42%",
        b"[####....]",
        b"\x1b[2K",
        b"\x1b[32m\x1b[0m",
        b"\x1b[1G42%",
        b"\x1b]0;title: building\x07",
        b"\x1b]8;;http://x\x1b\\",
        "⠋".as_bytes(),
        "⠙ 10%".as_bytes(),
        "━━━━━ 50%".as_bytes(),
        "███░░ 60%".as_bytes(),
        "…".as_bytes(),
        b"\r",
        b"..\r...\r....",
        b"Downloading 10%\rDownloading 20%\r..",
        b"Downloading\r\x1b[2K",
        b"\t",
        b"\0\0",
    ];
    for line in noise {
        assert!(is_noise(line), "{:?}", String::from_utf8_lossy(line));
    }
    let news: &[&[u8]] = &[
        b"line 1",
        b"42",
        b"3 of 7",
        b"ok",
        b"42% done",
        b"%",
        b"\x1b[31merror\x1b[0m",
        b"a\r",
        b"...\rdone",
        "größe".as_bytes(),
        "✓".as_bytes(),
        "→".as_bytes(),
        b"\xff",
        b"}",
        b"1.",
        b"\x1b]0;title\x07said",
        b"\x1b(Bx",
    ];
    for line in news {
        assert!(!is_noise(line), "{:?}", String::from_utf8_lossy(line));
    }
}

#[test]
fn a_line_counts_when_it_ends() {
    let mut ear = ProgressDetector::default();
    assert!(!ear.hear(b"compil"));
    assert!(!ear.hear(b"ing"));
    assert!(ear.hear(b"\n"));
    assert!(!ear.hear(b"...."));
    assert!(!ear.hear(b"\n\n42%\r\n"));
    assert!(ear.hear(b"done\r\n.."));
    assert!(!ear.hear(b".\n"));
    // Overwritten text does not count, wherever the pieces are cut.
    assert!(!ear.hear(b"Fetching 1/9\r"));
    assert!(!ear.hear(b"Fetching 2/9"));
    assert!(!ear.hear(b"\r"));
    assert!(!ear.hear(b"...\n"));
}

#[test]
fn known_builds_and_tests_get_minutes() {
    let cases: &[(&[&str], u64)] = &[
        (&["cargo", "build"], 600),
        (&["cargo", "+nightly", "--quiet", "test", "name"], 600),
        (&["/usr/bin/cargo", "test"], 600),
        (&["cargo", "--version"], 120),
        (&["go", "test", "./..."], 300),
        (&["go", "build"], 600),
        (&["npm", "install"], 300),
        (&["npm", "ci"], 300),
        (&["npm", "run", "build"], 600),
        (&["npm", "run", "lint"], 120),
        (&["pytest", "-q"], 300),
        (&["python3", "-m", "pytest", "tests"], 300),
        (&["python3.12", "-m", "pip", "install", "x"], 300),
        (&["pip3", "install", "-r", "x"], 300),
        (&["python3", "tool.py"], 120),
        (&["make", "-j4"], 600),
        (&["./gradlew", "test"], 600),
        (&["gcc-13", "-O2", "x.c"], 300),
        (&["buck2", "build"], 600),
        (&["ls"], 120),
        (&["makeup"], 120),
        (&[], 120),
    ];
    for (words, expected) in cases {
        let limits = CommandTimeLimits::of_command(words);
        assert_eq!(
            limits,
            CommandTimeLimits::of_base(secs(*expected)),
            "{words:?}"
        );
    }
    let line: [&[&str]; 3] = [&["cd", "x"], &["npm", "install"], &["npm", "run", "build"]];
    assert_eq!(CommandTimeLimits::of_commands(line).base, secs(600));
    assert_eq!(
        CommandTimeLimits::of_commands::<&str>([]),
        CommandTimeLimits::COMMAND
    );
}

#[test]
fn the_sequence_is_interrupt_terminate_kill() {
    let mut ending = CommandShutdown::soft(CommandGracePeriods::USUAL, secs(7));
    let table = [
        (
            secs(7),
            CommandShutdownStep::Send(CommandStopSignal::Interrupt),
        ),
        (secs(7), CommandShutdownStep::Wait { until: secs(12) }),
        (ms(11_999), CommandShutdownStep::Wait { until: secs(12) }),
        (
            secs(12),
            CommandShutdownStep::Send(CommandStopSignal::Terminate),
        ),
        (secs(12), CommandShutdownStep::Wait { until: secs(15) }),
        (secs(15), CommandShutdownStep::Send(CommandStopSignal::Kill)),
        (secs(15), CommandShutdownStep::Spent),
        (secs(99), CommandShutdownStep::Spent),
    ];
    for (at, expected) in table {
        assert_eq!(ending.step(at), expected, "{at:?}");
    }
    let sent = SentStopSignals {
        interrupt: Some(secs(7)),
        terminate: Some(secs(12)),
        kill: Some(secs(15)),
    };
    assert_eq!(ending.sent(), sent);
    assert_eq!(sent.last().map(CommandStopSignal::name), Some("SIGKILL"));
}

#[test]
fn a_late_look_still_gives_each_signal_its_grace() {
    let mut ending = CommandShutdown::soft(CommandGracePeriods::USUAL, secs(0));
    assert_eq!(
        ending.step(secs(0)),
        CommandShutdownStep::Send(CommandStopSignal::Interrupt)
    );
    assert_eq!(
        ending.step(secs(60)),
        CommandShutdownStep::Send(CommandStopSignal::Terminate)
    );
    assert_eq!(
        ending.step(secs(60)),
        CommandShutdownStep::Wait { until: secs(63) }
    );
}

#[test]
fn a_hard_end_kills_at_once() {
    let mut ending = CommandShutdown::hard(secs(3));
    assert_eq!(
        ending.step(secs(3)),
        CommandShutdownStep::Send(CommandStopSignal::Kill)
    );
    assert_eq!(ending.step(secs(3)), CommandShutdownStep::Spent);
    assert_eq!(ending.sent().interrupt, None);

    let mut ending = CommandShutdown::soft(CommandGracePeriods::USUAL, secs(0));
    assert_eq!(
        ending.step(secs(0)),
        CommandShutdownStep::Send(CommandStopSignal::Interrupt)
    );
    ending.harden(secs(1));
    assert_eq!(
        ending.step(secs(1)),
        CommandShutdownStep::Send(CommandStopSignal::Kill)
    );
    let sent = ending.sent();
    assert_eq!((sent.terminate, sent.kill), (None, Some(secs(1))));
    ending.harden(secs(2));
    assert_eq!(
        ending.step(secs(2)),
        CommandShutdownStep::Spent,
        "it is not killed twice"
    );
}

proptest! {
    /// The result does not depend on where the pieces are cut.
    #[test]
    fn an_ear_does_not_care_about_cuts(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'.'), Just(0x1b), Just(b'['), Just(b'%'),
                        Just(b'4'), Just(0xe2), Just(0xa0), any::<u8>()], 0..80),
        cuts in proptest::collection::vec(0usize..80, 0..6),
    ) {
        let mut whole = ProgressDetector::default();
        let heard = whole.hear(&bytes);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut ear = ProgressDetector::default();
        let pieces = cuts.windows(2).map(|cut| ear.hear(&bytes[cut[0]..cut[1]]));
        let pieces = pieces.fold(false, |any, heard| any | heard);
        prop_assert_eq!(heard, pieces);
        prop_assert_eq!(whole, ear);
    }

    /// Whatever a command prints, it gets its base time and never more than the longest
    /// time.
    #[test]
    fn verdicts_stay_between_base_and_longest(
        base in 0u64..50, extend in 0u64..50, more in 0u64..50,
        talks in proptest::collection::vec(0u64..200, 0..20), at in 0u64..200,
    ) {
        let longest = secs(base + more);
        let mut patience = CommandWatchdog::new(CommandTimeLimits { base: secs(base), extend: secs(extend), longest });
        for talk in talks.into_iter().filter(|talk| *talk <= at) {
            patience.heard_news(secs(talk));
        }
        match patience.verdict(secs(at)) {
            CommandWatchdogDecision::Keep { until } => {
                prop_assert!(secs(at) < until && until >= secs(base) && until <= longest);
            }
            CommandWatchdogDecision::End { .. } => prop_assert!(at >= base),
        }
        let at_longest = patience.verdict(longest);
        prop_assert!(matches!(at_longest, CommandWatchdogDecision::End { .. }), "{:?}", at_longest);
    }
}
