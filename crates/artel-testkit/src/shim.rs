//! Faults on command: a library that is loaded into a child and stands between it and the disk.
//!
//! ```no_run
//! use artel_testkit::shim::{Action, Counts, Fault, Op};
//! # let (mut command, counts) = (std::process::Command::new("child"), "counts");
//! let fault = Fault::on(".artel/").nth(Op::Write, 7, Action::Torn).count_into(counts);
//! fault.arm(&mut command);
//! # command.status().unwrap();
//! let seen = Counts::read(counts);
//! assert_eq!(seen.fired(), 1, "the child made only {} writes", seen.of(Op::Write));
//! ```
//!
//! A sweep first runs the child with nothing but [`Fault::count_into`], learns how many operations
//! there are, and then runs it once for each of them.
//!
//! The library is `faults/shim.c`. It sees what goes through the C library: the standard library
//! and SQLite do; rustix does only with its feature `use-libc`. It does not see memory maps.
//! Programs that the child starts in turn run without it. It reads these variables:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `ARTEL_FAULT_PATH` | part of the paths that count |
//! | `ARTEL_FAULT` | `<op>:<n>[+]:<action>[:<seed>]`, where `+` means this one and all later ones |
//! | `ARTEL_FAULT_THEN` | what it happens to from there on, where that is not what is counted |
//! | `ARTEL_FAULT_OFF` | a file that ends the fault as soon as it exists |
//! | `ARTEL_FAULT_COUNT` | a file that gets a line for each operation, as it happens |

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

mod counts;

pub use counts::{Counts, Cut, Step};

const SOURCE: &str = include_str!("../faults/shim.c");
const FLAGS: [&str; 6] = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-std=gnu11"];
const LIBRARIES: [&str; 2] = ["-ldl", "-lpthread"];

/// What a program does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Opens a file, also for reading.
    Open,
    /// Writes bytes.
    Write,
    /// Asks for bytes or names to be made durable.
    Sync,
    /// Sets a file's length.
    Truncate,
    /// Renames.
    Rename,
    /// Removes a file or folder.
    Unlink,
    /// Makes a folder.
    Mkdir,
    /// Makes a hard or symbolic link.
    Link,
    /// Any of these.
    Any,
}

impl Op {
    /// Every single one; [`Op::Any`] is not among them.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Write,
        Self::Sync,
        Self::Truncate,
        Self::Rename,
        Self::Unlink,
        Self::Mkdir,
        Self::Link,
    ];
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Truncate => "truncate",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Link => "link",
            Self::Any => "any",
        })
    }
}

/// What happens to the chosen operation.
///
/// With [`Op::Any`], an error is given only to operations that can really fail that way: a full
/// disk does not keep a file from being read or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The process is killed before it.
    KillBefore,
    /// The process is killed after it.
    KillAfter,
    /// It fails because the disk is full.
    NoSpace,
    /// It fails because the quota is used up.
    Quota,
    /// It fails because the disk is broken.
    Io,
    /// It fails because the disk is read-only.
    ReadOnly,
    /// Half of the bytes are written, then the process is killed. Anything but a write does not
    /// happen at all.
    Torn,
    /// Half of the bytes are written, and the caller is told so. Anything but a write is done.
    Short,
    /// The power goes: every write and truncation since its file's last sync survives in whole, in
    /// part or not at all, and the process is killed. A chosen write is among them; any other
    /// chosen operation does not happen. Names are not lost: creations and renames stay.
    PowerCut {
        /// Decides what survives.
        seed: u64,
    },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillBefore => "kill-before",
            Self::KillAfter => "kill-after",
            Self::NoSpace => "enospc",
            Self::Quota => "edquot",
            Self::Io => "eio",
            Self::ReadOnly => "erofs",
            Self::Torn => "torn",
            Self::Short => "short",
            Self::PowerCut { seed } => return write!(f, "power-cut:{seed}"),
        })
    }
}

/// A fault for one child; without a rule it only counts.
#[derive(Debug, Clone)]
pub struct Fault {
    path: String,
    rule: Option<String>,
    then: Option<String>,
    off: Option<PathBuf>,
    counts: Option<PathBuf>,
}

impl Fault {
    /// Watches the files whose absolute path contains `part`.
    pub fn on(part: impl Into<String>) -> Self {
        Self {
            path: part.into(),
            rule: None,
            then: None,
            off: None,
            counts: None,
        }
    }

    /// Lets it happen at the `nth` operation, counted from 1.
    #[must_use]
    pub fn nth(mut self, op: Op, nth: u64, action: Action) -> Self {
        self.rule = Some(format!("{op}:{nth}:{action}"));
        self
    }

    /// Lets it happen at the `nth` operation and at every later one.
    #[must_use]
    pub fn from_nth(mut self, op: Op, nth: u64, action: Action) -> Self {
        self.rule = Some(format!("{op}:{nth}+:{action}"));
        self
    }

    /// Lets it happen to every operation of one sort once there were `count` of another.
    #[must_use]
    pub fn after_nth(mut self, counted: Op, count: u64, hit: Op, action: Action) -> Self {
        self.rule = Some(format!("{counted}:{count}+:{action}"));
        self.then = Some(hit.to_string());
        self
    }

    /// Ends the fault as soon as this file exists: the disk has room again.
    #[must_use]
    pub fn until_exists(mut self, file: impl Into<PathBuf>) -> Self {
        self.off = Some(file.into());
        self
    }

    /// Writes down every operation as it happens, for [`Counts::read`].
    #[must_use]
    pub fn count_into(mut self, file: impl Into<PathBuf>) -> Self {
        self.counts = Some(file.into());
        self
    }

    /// Returns the variables that the child needs, building the library if there is none yet.
    pub fn env(&self) -> Vec<(&'static str, OsString)> {
        let optional = [
            ("ARTEL_FAULT", self.rule.clone().map(OsString::from)),
            ("ARTEL_FAULT_THEN", self.then.clone().map(OsString::from)),
            ("ARTEL_FAULT_OFF", self.off.clone().map(OsString::from)),
            ("ARTEL_FAULT_COUNT", self.counts.clone().map(OsString::from)),
        ];
        [
            ("LD_PRELOAD", build().into()),
            ("ARTEL_FAULT_PATH", self.path.clone().into()),
        ]
        .into_iter()
        .chain(
            optional
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .collect()
    }

    /// Puts the fault upon a command that is about to be started.
    pub fn arm(&self, command: &mut Command) {
        command.envs(self.env());
    }
}

/// Returns the library, compiling it if this version of it was not compiled before.
///
/// Tests run in parallel, so each compiles under a name of its own and moves the result into place.
pub fn build() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (SOURCE, FLAGS, LIBRARIES).hash(&mut hasher);
    let folder = temporary_folder();
    let library = folder.join(format!("fault-shim-{:016x}.so", hasher.finish()));
    if library.exists() {
        return library;
    }
    static BUILDS: AtomicU64 = AtomicU64::new(0);
    let number = BUILDS.fetch_add(1, Ordering::Relaxed);
    let unfinished = library.with_extension(format!("{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the shim");
    compile(&unfinished);
    fs::rename(&unfinished, &library).expect("the shim moves into place");
    library
}

fn compile(library: &Path) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the compiler is the test's own child"
    )]
    let mut compiler = Command::new("cc")
        .args(FLAGS)
        .args(["-x", "c", "-", "-o"])
        .arg(library)
        .args(LIBRARIES)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a C compiler named `cc`");
    let mut source = compiler.stdin.take().expect("a pipe to the compiler");
    source
        .write_all(SOURCE.as_bytes())
        .expect("a compiler that reads");
    drop(source);
    assert!(
        compiler.wait().expect("a compiler that ends").success(),
        "the shim does not compile"
    );
}

/// Returns cargo's folder for what tests leave behind; cargo marks its target folder with a tag.
fn temporary_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(std::env::temp_dir, |target| target.join("tmp"))
}
