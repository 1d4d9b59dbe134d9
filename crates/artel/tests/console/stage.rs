//! A town with a daemon, and scripts that sit at a browser before it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::House;
use crate::town::Town;

/// What to do where a test cannot begin.
const ADVICE: &str = "run `cargo xtask setup`, which `cargo xtask test` begins with";

/// A town whose daemon is gone when the test is.
pub(crate) struct Stage {
    pub(crate) town: Town,
    /// Where the daemon listens.
    pub(crate) listen: String,
}

impl Stage {
    /// Makes a town whose model says this, with its project as a portal, and starts the daemon.
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, "")
    }

    /// The same with settings for the workshop.
    pub(crate) fn with(script: &str, settings: &str) -> Self {
        let town = Town::saying(script);
        if !settings.is_empty() {
            let file = town.house.workshop.join("artel.toml");
            let old = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("{old}\n{settings}")).unwrap();
        }
        Self::of(town)
    }

    /// Starts the daemon of a town.
    pub(crate) fn of(town: Town) -> Self {
        let project = town.project.display().to_string();
        let add = ["portal", "add", &project, "--name", "calc"];
        town.artel(add).run().expect(0);
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let started = town.artel(start).run().expect(0).json();
        let listen = started["listen"].as_str().unwrap().to_owned();
        Self { town, listen }
    }

    /// The process of the daemon, as it is now.
    pub(crate) fn pid(&self) -> Option<String> {
        let pid = fs::read_to_string(self.town.house.state("daemon.pid")).ok()?;
        Some(pid.trim().to_owned())
    }

    /// Makes a token.
    pub(crate) fn token(&self, role: &str) -> String {
        let words = ["token", "create", "--role", role, "--name", role, "--json"];
        let made = self.town.artel(words).run().expect(0).json();
        made["token"].as_str().unwrap().to_owned()
    }

    /// Plays a scene: a script beside this file, which says what it does and may ask for commands
    /// to be run in the town.
    pub(crate) fn play(&self, scene: &str) {
        self.play_with(scene, &|word| panic!("nobody can `{word}` here"));
    }

    /// The same with a scene that has the test itself do something now and then.
    pub(crate) fn play_with(&self, scene: &str, does: &dyn Fn(&str) -> Value) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console");
        let home = tempfile::tempdir().unwrap();
        let mut node = Command::new("node")
            .arg(folder.join(scene))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home.path())
            .env("CONSOLE_NODE", modules())
            .env("CONSOLE_BROWSER", browser())
            .env("CONSOLE_SHOTS", shots())
            .env("CONSOLE_SCENE", scene.trim_end_matches(".mjs"))
            .env("CONSOLE_LISTEN", &self.listen)
            .env("CONSOLE_PROJECT", &self.town.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("`node` cannot be started: {error}: {ADVICE}"));
        let out = BufReader::new(node.stdout.take().unwrap());
        self.follow(&mut node, out, does);
        let end = node.wait().unwrap();
        assert!(end.success(), "{scene} ended with {end}; it is told above");
    }

    /// Shows what a script says, and does what it asks for.
    fn follow(&self, node: &mut Child, out: BufReader<ChildStdout>, does: &dyn Fn(&str) -> Value) {
        for line in out.lines() {
            let line = line.unwrap();
            let answer = if let Some(words) = line.strip_prefix("artel: ") {
                let words: Vec<String> = serde_json::from_str(words).unwrap();
                self.run(&words)
            } else if let Some(word) = line.strip_prefix("town: ") {
                does(word)
            } else {
                println!("{line}");
                continue;
            };
            let input = node.stdin.as_mut().unwrap();
            writeln!(input, "{answer}").unwrap();
        }
    }

    fn run(&self, words: &[String]) -> Value {
        let seen = self.town.artel([]).words(words).run();
        println!("  $ artel {} ({})", words.join(" "), seen.code);
        json!({ "code": seen.code, "out": seen.out, "err": seen.err })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            drop(Command::new("kill").args(["-9", &pid]).status());
        }
    }
}

/// A town with this many remarks in its journal and no work at all.
pub(crate) fn with_remarks(script: &str, count: u64) -> Town {
    let house = House::with_events(count);
    let path = house.root().join("script.yaml");
    fs::write(&path, script).unwrap();
    let model = format!("rehearsal:{}", path.display());
    Town::asking(house, model)
}

/// The folder of the build products.
pub(crate) fn build() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap().to_owned()
}

/// The browser, as Debian's package has it.
fn browser() -> PathBuf {
    let places = ["/usr/bin/chromium", "/usr/local/bin/chromium"].map(PathBuf::from);
    let found = places.into_iter().find(|place| place.exists());
    found.unwrap_or_else(|| panic!("there is no `chromium`: {ADVICE}"))
}

/// What drives the browser, in the versions that the lock file names.
fn modules() -> PathBuf {
    let folder = build().join("console-node");
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console/package-lock.json");
    let wanted = fs::read(lock).unwrap();
    let installed = fs::read(folder.join("installed.json"));
    assert!(
        installed.is_ok_and(|installed| installed == wanted),
        "what drives the browser is not in `{}`: {ADVICE}",
        folder.display()
    );
    folder
}

/// The folder of schemathesis, in the version that the list names.
pub(crate) fn schemathesis() -> PathBuf {
    let folder = build().join("schemathesis");
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console/requirements.txt");
    let wanted = fs::read_to_string(list).unwrap();
    let installed = fs::read_to_string(folder.join("installed.txt")).unwrap_or_default();
    assert!(
        installed.ends_with(&wanted),
        "schemathesis is not in `{}`: {ADVICE}",
        folder.display()
    );
    folder
}

/// Where screenshots are kept.
fn shots() -> PathBuf {
    let folder = build().join("console-shots");
    fs::create_dir_all(&folder).unwrap();
    folder
}
