//! Starting: codes come through, and what cannot be started is told precisely.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use artel_sandbox::CommandExit;

use crate::fixture::{Place, run};

#[test]
fn codes_and_signals_come_through() {
    let place = Place::new();
    for (script, expected) in [
        ("exit 0", CommandExit::Code(0)),
        ("exit 42", CommandExit::Code(42)),
        ("kill -9 $$", CommandExit::Signal(9)),
        ("kill -11 $$", CommandExit::Signal(11)),
    ] {
        assert_eq!(place.inside(script).exit, expected, "{script}");
    }
}

#[test]
fn what_cannot_be_started_is_told() {
    let place = Place::new();
    let file = |name: &str, text: &str, mode| {
        fs::write(place.inside.join(name), text).unwrap();
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.inside.join(name), permissions).unwrap();
    };
    file("plain", "echo", 0o644);
    file("no-shebang", "echo", 0o755);
    file("bad-interpreter", "#!/nowhere/python\n", 0o755);
    fs::create_dir(place.inside.join("folder")).unwrap();
    for (program, expected) in [
        ("no-such-program", "was not found inside (PATH is"),
        ("/no/such/program", "was not found inside"),
        ("./plain", "is not executable"),
        (
            "./no-shebang",
            "neither a program for this machine nor a script",
        ),
        (
            "./bad-interpreter",
            "needs the interpreter `/nowhere/python`",
        ),
        ("./folder", "is a folder"),
        ("", "name is empty"),
    ] {
        let outcome = run(&place.job(&[program]));
        let CommandExit::NotStarted { step, why } = &outcome.exit else {
            panic!("{program}: {outcome:?}");
        };
        assert_eq!(step, "program");
        assert!(why.contains(expected), "{program}: {why}");
    }
}

#[test]
fn a_folder_that_cannot_be_seen_becomes_the_root() {
    let place = Place::new();
    let mut job = place.job(&["/bin/pwd"]);
    assert_eq!(run(&job).stdout.trim(), place.inside.to_str().unwrap());
    job.cwd = "/home/nobody/there".into();
    assert_eq!(run(&job).stdout, "/\n");
}

#[test]
fn a_writable_folder_that_is_not_there_stops_the_start() {
    let place = Place::new();
    let mut job = place.job(&["true"]);
    job.view.write.push(place.outside.join("missing"));
    let outcome = run(&job);
    let CommandExit::NotStarted { step, why } = outcome.exit else {
        panic!("it started");
    };
    assert_eq!(step, "view");
    assert!(why.contains("missing"), "{why}");
}

#[test]
fn long_arguments_arrive_and_too_long_ones_are_told() {
    let place = Place::new();
    let long = "x".repeat(100_000);
    let argv = ["/bin/sh", "-c", "echo ${#1}", "sh", &long];
    assert_eq!(run(&place.job(&argv)).stdout, "100000\n");
    let too_long = "x".repeat(3 << 20);
    let outcome = run(&place.job(&["/bin/echo", &too_long]));
    assert!(
        matches!(outcome.exit, CommandExit::NotStarted { .. }),
        "{:?}",
        outcome.exit
    );
}

#[test]
fn many_starts_at_once_leak_nothing() {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let place = Place::new();
    assert_eq!(place.inside("true").exit, CommandExit::Code(0));
    let before = open();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(place.inside("true").exit, CommandExit::Code(0));
                }
            });
        }
    });
    assert_eq!(open(), before);
    assert_eq!(fs::read_dir(&place.inside).unwrap().count(), 0);
}
