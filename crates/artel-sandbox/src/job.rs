//! The specification of a command: what to run, what it can see, and how much it may use.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One command with its walls. It is complete: nothing is inherited from the starting
/// process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxCommandSpec {
    /// The program and its arguments. The program is an absolute path, or is looked up inside
    /// in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The working directory. If it is not visible inside, `/` is used.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The files it can see.
    pub view: SandboxView,
    /// The network it can reach.
    pub network: SandboxNetwork,
    /// The resources it may use.
    pub limits: SandboxLimits,
    /// Its standard input.
    pub stdin: SandboxStdin,
}

/// The files a command can see. Everything not named here is absent, including every
/// socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxView {
    /// Readable folders and files; missing ones are left out.
    pub read: Vec<PathBuf>,
    /// Writable folders. They come from the person, never from a model.
    pub write: Vec<PathBuf>,
    /// Folders and files below the others that stay absent, such as credential files.
    pub hidden: Vec<PathBuf>,
    /// Files and folders below the writable ones that stay unchanged; a missing one cannot be
    /// created. Paths outside every writable folder have no effect.
    #[serde(default)]
    pub read_only: Vec<PathBuf>,
    /// Names that stay read-only at the root of each writable folder and in each repository
    /// found there, even if they do not exist yet: `.git`, `.artel`, shell start-up files.
    pub protected: Vec<String>,
    /// Folders with the run's own writable layer over them.
    pub overlays: Vec<FolderOverlay>,
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
pub struct FolderOverlay {
    /// The person's folder, never written.
    pub lower: PathBuf,
    /// The folder that receives the changes.
    pub upper: PathBuf,
    /// An empty folder on the same file system as `upper`.
    pub work: PathBuf,
    /// The path at which it appears inside.
    pub at: PathBuf,
}

/// The network that a command can reach. An empty list means none, not all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxNetwork {
    /// No network.
    #[default]
    None,
    /// These hosts, through the filtering proxy.
    Hosts(Vec<GrantedHost>),
}

/// A granted host: a name or a literal address, with a port if one was named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GrantedHost {
    /// The name in lower case, or the address in canonical form.
    pub name: String,
    /// The only port allowed; without one, 80 and 443.
    pub port: Option<u16>,
}

/// Limits of one command together with everything it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// Memory in bytes.
    pub memory: u64,
    /// Number of processes and threads.
    pub processes: u64,
    /// Number of open files per process.
    pub open_files: u64,
    /// Size of the largest file, in bytes.
    pub file_size: u64,
    /// Bytes that the whole tree writes to disk, minus those it removed again. Checked several
    /// times a second, so somewhat more may be written.
    pub written: u64,
    /// Number of files and folders in all writable folders together. They are counted while
    /// many are created, so there may be somewhat more.
    pub files: u64,
    /// Processor seconds per process. `None` means that only wall-clock time is limited.
    pub cpu_seconds: Option<u64>,
    /// Share of the processors, in percent of one, if a cgroup can enforce it.
    pub cpu_percent: Option<u32>,
}

impl Default for SandboxLimits {
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

impl SandboxLimits {
    /// Returns the limits for a skill's own script.
    pub fn of_a_script() -> Self {
        Self {
            memory: 512 << 20,
            processes: 256,
            cpu_percent: Some(50),
            ..Self::default()
        }
    }
}

/// The standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxStdin {
    /// Empty: ends at once.
    #[default]
    Empty,
    /// These bytes, of any size.
    Bytes(Vec<u8>),
    /// The starting process's own standard input, for a command that a person typed.
    Inherit,
}
