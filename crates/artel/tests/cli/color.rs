//! Colours: only where somebody looks, or where they are asked for.

use crate::support::House;

const ESCAPE: char = '\u{1b}';

#[test]
fn a_pipe_gets_no_colours() {
    let house = House::new();
    for words in [
        &["doctor"][..],
        &["journal", "verify"],
        &["journal", "bogus"],
        &["init"],
        &["--help"],
        &["journal", "tail", "--help"],
    ] {
        for no_color in ["", "1"] {
            let artel = house.artel([]).words(words).env("NO_COLOR", no_color);
            let seen = artel
                .env("TERM", "xterm-256color")
                .env("CLICOLOR_FORCE", "1")
                .run();
            let all = format!("{}{}", seen.out, seen.err);
            assert!(!all.contains(ESCAPE), "{words:?}: {all:?}");
        }
    }
}

#[test]
fn always_means_always_and_programs_get_none() {
    let house = House::new();
    let always = ["--set", "output.color=always"];
    let verify = house.artel(["journal", "verify"]).words(always).run();
    assert_eq!(
        verify.expect(0).out,
        "\u{1b}[32mok\u{1b}[0m: 2 events, chain and stored values whole, 1 signature\n"
    );
    let doctor = house
        .artel(["doctor"])
        .env("ARTEL_OUTPUT_COLOR", "always")
        .run();
    assert!(doctor.out.contains("\u{1b}[32mok"), "{}", doctor.out);
    let failed = house
        .artel(["trace", "ffffffffffffffff"])
        .words(always)
        .run();
    assert!(
        failed.err.starts_with("\u{1b}[31;1merror[W005]\u{1b}[0m: "),
        "{}",
        failed.err
    );
    for words in [
        &["doctor"][..],
        &["journal", "verify"],
        &["trace", "ffffffffffffffff"],
    ] {
        let json = house.artel(["--json"]).words(words).words(always).run();
        let all = format!("{}{}", json.out, json.err);
        assert!(!all.contains(ESCAPE), "{words:?}: {all:?}");
    }
}

#[test]
fn never_is_kept_to() {
    let house = House::new();
    let never = ["--set", "output.color=never"];
    let seen = house.artel(["doctor"]).words(never).run();
    assert!(!seen.out.contains(ESCAPE), "{}", seen.out);
}
