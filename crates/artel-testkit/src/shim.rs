//! Injected faults: a library that is loaded into a child process and sits between it and the
//! disk.
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
//! A sweep first runs the child with [`Fault::count_into`] alone, learns how many operations there
//! are, and then runs it once for each of them.
//!
//! The library is `faults/shim.c`. It sees everything that goes through the C library: the standard
//! library and SQLite do; rustix does only with its feature `use-libc`. It does not see memory
//! maps. Programs that the child starts in turn run without it. It reads these variables:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `ARTEL_FAULT_PATH` | part of the paths that count |
//! | `ARTEL_FAULT` | `<op>:<n>[+]:<action>[:<seed>]`, where `+` means this one and all later ones |
//! | `ARTEL_FAULT_THEN` | the operations it hits from there on, if not the counted ones |
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

/// A file operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Opens a file, including for reading.
    Open,
    /// Writes bytes.
    Write,
    /// Makes bytes or names durable.
    Sync,
    /// Sets a file's length.
    Truncate,
    /// Renames a file or folder.
    Rename,
    /// Removes a file or folder.
    Unlink,
    /// Makes a folder.
    Mkdir,
    /// Makes a hard or symbolic link.
    Link,
    /// Any of these operations.
    Any,
}

impl Op {
    /// Every single operation, without [`Op::Any`].
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

/// The effect on the chosen operation.
///
/// With [`Op::Any`], an error is returned only from operations that can really fail that
/// way: a full disk does not keep a file from being read or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The process is killed before the operation.
    KillBefore,
    /// The process is killed after the operation.
    KillAfter,
    /// The operation fails because the disk is full.
    NoSpace,
    /// The operation fails because the quota is used up.
    Quota,
    /// The operation fails because the disk is broken.
    Io,
    /// The operation fails because the disk is read-only.
    ReadOnly,
    /// Half of the bytes are written, then the process is killed. Any operation other than
    /// a write does not happen at all.
    Torn,
    /// Half of the bytes are written, and the caller is told so. Any operation other than a
    /// write happens in full.
    Short,
    /// The power fails: every write and truncation since its file's last sync survives
    /// completely, partially or not at all, and the process is killed. A chosen write is
    /// among them; any other chosen operation does not happen. Names are not lost:
    /// creations and renames survive.
    PowerCut {
        /// The seed that decides what survives.
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

/// A fault for one child process. Without a rule it only counts operations.
#[derive(Debug, Clone)]
pub struct Fault {
    path: String,
    rule: Option<String>,
    then: Option<String>,
    off: Option<PathBuf>,
    counts: Option<PathBuf>,
}

impl Fault {
    /// Watches files whose absolute path contains `part`.
    pub fn on(part: impl Into<String>) -> Self {
        Self {
            path: part.into(),
            rule: None,
            then: None,
            off: None,
            counts: None,
        }
    }

    /// Triggers the action at the `nth` operation, counted from 1.
    #[must_use]
    pub fn nth(mut self, op: Op, nth: u64, action: Action) -> Self {
        self.rule = Some(format!("{op}:{nth}:{action}"));
        self
    }

    /// Triggers the action at the `nth` operation and every later one.
    #[must_use]
    pub fn from_nth(mut self, op: Op, nth: u64, action: Action) -> Self {
        self.rule = Some(format!("{op}:{nth}+:{action}"));
        self
    }

    /// Triggers the action at every `hit` operation once there were `count` of `counted`.
    #[must_use]
    pub fn after_nth(mut self, counted: Op, count: u64, hit: Op, action: Action) -> Self {
        self.rule = Some(format!("{counted}:{count}+:{action}"));
        self.then = Some(hit.to_string());
        self
    }

    /// Ends the fault as soon as this file exists, as if the disk had space again.
    #[must_use]
    pub fn until_exists(mut self, file: impl Into<PathBuf>) -> Self {
        self.off = Some(file.into());
        self
    }

    /// Logs every operation as it happens, for [`Counts::read`].
    #[must_use]
    pub fn count_into(mut self, file: impl Into<PathBuf>) -> Self {
        self.counts = Some(file.into());
        self
    }

    /// Returns the environment variables for the child, and builds the library if
    /// necessary.
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

    /// Adds the fault to a command that is about to be started.
    pub fn arm(&self, command: &mut Command) {
        command.envs(self.env());
    }
}

/// Returns the path of the library, and compiles it if this version was not compiled
/// before.
///
/// Tests run in parallel, so each compiles to a name of its own and moves the result into
/// place.
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

/// Returns cargo's folder for temporary test files. Cargo marks its target folder with a
/// tag.
fn temporary_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(std::env::temp_dir, |target| target.join("tmp"))
}
