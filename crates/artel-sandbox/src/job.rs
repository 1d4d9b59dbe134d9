//! What is to run, what it can see, and how much it may use.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One command with its walls. It is complete: nothing is taken from the process that starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The program and its arguments; the program is an absolute path, or is looked up in the
    /// `PATH` of `env`, inside.
    pub argv: Vec<OsString>,
    /// Where it starts; `/` is used where this cannot be seen from inside.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// What it can see of the files.
    pub view: View,
    /// What it can reach.
    pub network: Network,
    /// What it may use.
    pub limits: Limits,
    /// What it reads as its input.
    pub stdin: Stdin,
}

/// The files a command can see. Whatever is not named here is absent, every socket with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Folders and files that can be read; missing ones are left out.
    pub read: Vec<PathBuf>,
    /// Folders that can be written. They come from the person, never from a model.
    pub write: Vec<PathBuf>,
    /// Folders and files below the others that stay absent, such as credential files.
    pub hidden: Vec<PathBuf>,
    /// Files and folders below the writable ones that stay as they are; one that does not exist
    /// cannot be made. A path outside of every writable folder has no effect.
    #[serde(default)]
    pub read_only: Vec<PathBuf>,
    /// Names that stay read-only at the root of each writable folder and in each repository
    /// found there, also where they do not exist yet: `.git`, `.artel`, shell start-up files.
    pub protected: Vec<String>,
    /// Folders shown with a writable layer of the run's own over them.
    pub overlays: Vec<Overlay>,
    /// Files that are shown, read-only, in the place of others. Where nothing can be put in the place
    /// of a file, the file is absent.
    #[serde(default)]
    pub substitutes: Vec<Substitute>,
}

/// A file that is shown in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitute {
    /// The file that is not shown.
    pub hidden: PathBuf,
    /// What is read under its name.
    pub shown: PathBuf,
}

/// A folder that can be changed inside while the original stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// The person's folder, never written.
    pub lower: PathBuf,
    /// Where changes go.
    pub upper: PathBuf,
    /// An empty folder on the same file system as `upper`.
    pub work: PathBuf,
    /// Where it appears inside.
    pub at: PathBuf,
}

/// What a command can reach. An empty list is none, not all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// These hosts, through the filtering proxy.
    Hosts(Vec<Host>),
}

/// A host that was granted: a name or a literal address, and a port where one was named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Host {
    /// The name in lower case, or the address in its canonical form.
    pub name: String,
    /// The only port; without one 80 and 443.
    pub port: Option<u16>,
}

/// Limits of one command with everything it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files per process.
    pub open_files: u64,
    /// Bytes of the largest file.
    pub file_size: u64,
    /// Bytes on disk written by all of it together, less what it took away again. It is looked at
    /// several times a second, so somewhat more may be written.
    pub written: u64,
    /// Files and folders that the writable folders hold together. They are counted while many are
    /// made, so somewhat more may be.
    pub files: u64,
    /// Seconds of processor time per process; none means no limit besides the wall clock.
    pub cpu_seconds: Option<u64>,
    /// Share of the processors in percent of one, where a cgroup can hold it.
    pub cpu_percent: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 2 << 30,
            processes: 1024,
            open_files: 4096,
            file_size: 4 << 30,
            written: 32 << 30,
            files: 1_000_000,
            cpu_seconds: None,
            cpu_percent: None,
        }
    }
}

impl Limits {
    /// Returns the limits of a skill's own script.
    pub fn of_a_script() -> Self {
        Self {
            memory: 512 << 20,
            processes: 256,
            cpu_percent: Some(50),
            ..Self::default()
        }
    }
}

/// What a command reads as its input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    /// Nothing: the end at once.
    #[default]
    Empty,
    /// These bytes, of any size.
    Bytes(Vec<u8>),
    /// What the starting process reads itself: a person typed the command.
    Inherit,
}
