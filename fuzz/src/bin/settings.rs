//! Settings and git files as somebody else may have written them: an answer or a list of problems.
//!
//! The first line says which file the rest is: `git`, or anything else for `artel.toml`.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use artel_config::{ProcessEnvironment, Settings, UserFolders, person};
use libfuzzer_sys::fuzz_target;

/// A home folder of this process's own, in memory where there is such a place.
static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let home = base.join(format!("artel-fuzz-settings-{}", std::process::id()));
    std::fs::create_dir_all(home.join(".config/artel")).expect("a folder to write to");
    home
});

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (which, rest) = text.split_once('\n').unwrap_or(("", &text));
    let environment = ProcessEnvironment::of([("HOME", HOME.as_os_str())], "/");
    if which == "git" {
        std::fs::write(HOME.join(".gitconfig"), rest).expect("a file to write");
        assert!(!person(&environment).is_empty());
        return;
    }
    std::fs::write(HOME.join(".config/artel/artel.toml"), rest).expect("a file to write");
    let places = UserFolders::find(&environment).expect("a home folder");
    match Settings::load(&environment, &places, None, &[]) {
        Ok(settings) => assert_eq!(settings.checksum().len(), 64),
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal says why");
            for problem in problems {
                assert!(problem.to_string().len() < 4_000, "a message stays short");
            }
        }
    }
});
