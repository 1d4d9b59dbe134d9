//! The same command as a call of a container engine, for machines that have one.
//!
//! This is a pure function that only assembles the call. Nothing starts it yet, and no
//! engine was available to try it with: the tests show the call, not what an engine does
//! with it. If a container cannot keep a promise that the walls of this crate keep, the
//! call is refused with the reason; the promise is never silently dropped.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::job::{SandboxCommandSpec, SandboxLimits, SandboxNetwork, SandboxStdin, SandboxView};

/// A container engine and the image it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerEngine {
    /// The absolute path of `docker`, or of `podman`, which accepts the same arguments.
    pub program: PathBuf,
    /// The image, preferably by digest. It is never pulled.
    pub image: String,
    /// The user and group inside, never root.
    pub user: (u32, u32),
}

/// A call that can be started as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerInvocation {
    /// The engine and its arguments.
    pub argv: Vec<OsString>,
    /// The environment of the engine's client. It passes these variables on by name, so that
    /// no secret is an argument.
    pub env: Vec<(OsString, OsString)>,
}

/// The kind of entry at a path, as far as a mount depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountSourceKind {
    /// A folder.
    Folder,
    /// Anything else.
    File,
}

/// Why a container cannot run a command as promised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContainerJobError {
    /// A host was granted, but the proxy's doors are in a network namespace of our own.
    #[error("a container has no way to the proxy; run it without `--net`, or without an engine")]
    Network,
    /// A folder has its own writable layer over it.
    #[error("`{}` has a layer over it, which an engine does not mount", at.display())]
    Overlay {
        /// The path at which it would appear.
        at: PathBuf,
    },
    /// A protected name does not exist yet: an engine could hide it only by creating it.
    #[error("`{}` is protected and does not exist; make it first, empty", path.display())]
    Unprotected {
        /// The path that would stay unprotected.
        path: PathBuf,
    },
    /// A path is relative, is the root, or is ambiguous.
    #[error("`{}` cannot be mounted; use an absolute path without `..` and control characters", path.display())]
    Path {
        /// The path that was refused.
        path: PathBuf,
    },
    /// A variable would control the engine's client.
    #[error("the variable `{name}` would steer the engine itself; leave it out")]
    Variable {
        /// The name of the variable.
        name: String,
    },
    /// The user or group inside would be root.
    #[error("the root user is not taken inside; name another user and group")]
    Root,
    /// An image or a program is empty or would be read as an option.
    #[error("`{word}` cannot be named to an engine")]
    Word {
        /// The refused image or program.
        word: String,
    },
}

/// Variables that the client reads too and that hold no secrets. They are passed as
/// arguments: in the client's own environment they would control the client instead of the
/// command.
const WRITTEN_OUT: [&str; 8] = [
    "HOME",
    "NO_COLOR",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// Prefixes of variables that the client interprets and that may also hold secrets.
const NEVER_HANDED_ON: [&str; 7] = [
    "BUILDKIT_",
    "CONTAINERS_",
    "CONTAINER_",
    "DOCKER_",
    "GODEBUG",
    "LD_",
    "PODMAN_",
];

/// Assembles the call that runs a command in its own container.
///
/// `kind` reports the kind of entry at a path of the view, so that this function does not
/// touch the disk. Names are protected at the root of each writable folder; to protect a
/// repository deeper down, name it as a writable folder too.
pub fn call(
    job: &SandboxCommandSpec,
    engine: &ContainerEngine,
    kind: impl Fn(&Path) -> Option<MountSourceKind>,
) -> Result<ContainerInvocation, ContainerJobError> {
    refuse(job, engine)?;
    let mut argv = ContainerArguments(vec![engine.program.clone().into()]);
    argv.add(&["run", "--rm", "--init", "--pull", "never"]);
    argv.add(&["--read-only", "--network", "none", "--ipc", "private"]);
    argv.add(&["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]);
    if job.stdin != SandboxStdin::Empty {
        argv.add(&["--interactive"]);
    }
    let (user, group) = engine.user;
    argv.add(&["--user", &format!("{user}:{group}")]);
    add_limits(&mut argv, &job.limits);
    argv.add(&["--tmpfs", "/tmp:rw,nosuid,nodev,exec,mode=1777"]);
    for mount in mounts(&job.view, kind)? {
        argv.pair("--mount", mount);
    }
    argv.pair("--workdir", job.cwd.clone().into());
    let mut env = Vec::new();
    for (name, value) in &job.env {
        check_variable(name)?;
        let mut word = name.clone();
        if WRITTEN_OUT.iter().any(|written| name == written) {
            word.push("=");
            word.push(value);
        } else {
            env.push((name.clone(), value.clone()));
        }
        argv.pair("--env", word);
    }
    let (program, arguments) = job.argv.split_first().ok_or_else(|| bad_word(""))?;
    argv.pair("--entrypoint", program.clone());
    argv.add(&[&engine.image]);
    argv.0.extend(arguments.iter().cloned());
    Ok(ContainerInvocation { argv: argv.0, env })
}

struct ContainerArguments(Vec<OsString>);

impl ContainerArguments {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn pair(&mut self, option: &str, value: OsString) {
        self.add(&[option]);
        self.0.push(value);
    }
}

fn refuse(job: &SandboxCommandSpec, engine: &ContainerEngine) -> Result<(), ContainerJobError> {
    if matches!(&job.network, SandboxNetwork::Hosts(hosts) if !hosts.is_empty()) {
        return Err(ContainerJobError::Network);
    }
    if let Some(overlay) = job.view.overlays.first() {
        let at = overlay.at.clone();
        return Err(ContainerJobError::Overlay { at });
    }
    if engine.user.0 == 0 || engine.user.1 == 0 {
        return Err(ContainerJobError::Root);
    }
    if engine.image.is_empty() || engine.image.starts_with('-') {
        return Err(bad_word(&engine.image));
    }
    let program = job.argv.first().map(OsString::as_os_str);
    match program {
        Some(program) if !program.is_empty() => check_start(&job.cwd),
        _ => Err(bad_word("")),
    }
}

fn add_limits(argv: &mut ContainerArguments, limits: &SandboxLimits) {
    let memory = format!("{}b", limits.memory);
    // The limits with and without swap are equal, so there is no swap.
    argv.add(&["--memory", &memory, "--memory-swap", &memory]);
    argv.add(&["--pids-limit", &limits.processes.to_string()]);
    if let Some(percent) = limits.cpu_percent {
        argv.add(&["--cpus", &format!("{}.{:02}", percent / 100, percent % 100)]);
    }
    let mut ulimit = |name: &str, value: u64| {
        argv.add(&["--ulimit", &format!("{name}={value}:{value}")]);
    };
    ulimit("nofile", limits.open_files);
    ulimit("fsize", limits.file_size);
    ulimit("core", 0);
    if let Some(seconds) = limits.cpu_seconds {
        ulimit("cpu", seconds);
    }
}

/// Returns the mounts of a view, parents before children. An engine accepts one mount per
/// path, so the stricter one wins: hidden, then protected, then all others.
fn mounts(
    view: &SandboxView,
    kind: impl Fn(&Path) -> Option<MountSourceKind>,
) -> Result<Vec<OsString>, ContainerJobError> {
    let mut mounts: BTreeMap<PathBuf, Vec<OsString>> = BTreeMap::new();
    let readonly = |path: &Path| bind(path, path, &["readonly"]);
    for path in view.read.iter().filter(|path| kind(path).is_some()) {
        mounts.insert(path.clone(), readonly(path));
    }
    for path in &view.write {
        mounts.insert(path.clone(), bind(path, path, &[]));
    }
    for (root, name) in pairs(&view.write, &view.protected) {
        let path = root.join(name);
        if kind(&path).is_none() {
            return Err(ContainerJobError::Unprotected { path });
        }
        mounts.insert(path.clone(), readonly(&path));
    }
    for path in &view.hidden {
        let mask = match kind(path) {
            None => continue,
            Some(MountSourceKind::File) => bind(Path::new("/dev/null"), path, &["readonly"]),
            Some(MountSourceKind::Folder) => empty(path),
        };
        mounts.insert(path.clone(), mask);
    }
    // A path sorts before everything below it.
    let mounts = mounts.into_iter();
    mounts
        .map(|(path, fields)| check_path(&path).map(|()| join(&fields)))
        .collect()
}

fn pairs<'a>(
    roots: &'a [PathBuf],
    names: &'a [String],
) -> impl Iterator<Item = (&'a PathBuf, &'a String)> {
    roots
        .iter()
        .flat_map(|root| names.iter().map(move |name| (root, name)))
}

fn bind(source: &Path, target: &Path, more: &[&str]) -> Vec<OsString> {
    let mut fields = vec!["type=bind".into(), field("source", source)];
    fields.push(field("target", target));
    fields.extend(more.iter().map(OsString::from));
    fields
}

fn empty(target: &Path) -> Vec<OsString> {
    let size = "tmpfs-size=4096".into();
    vec![
        "type=tmpfs".into(),
        field("target", target),
        size,
        "readonly".into(),
    ]
}

fn field(name: &str, path: &Path) -> OsString {
    let mut field = OsString::from(name);
    field.push("=");
    field.push(path);
    field
}

/// Joins the fields as one line of comma-separated values, the form that the engine reads.
fn join(fields: &[OsString]) -> OsString {
    let quoted = fields.iter().map(|field| {
        let bytes = field.as_bytes();
        if !bytes.iter().any(|byte| b",\"".contains(byte)) {
            return bytes.to_owned();
        }
        let inside: Vec<_> = bytes.split(|byte| *byte == b'"').collect();
        [b"\"".as_slice(), &inside.join(b"\"\"".as_slice()), b"\""].concat()
    });
    let line = quoted.collect::<Vec<_>>().join(b",".as_slice());
    OsStr::from_bytes(&line).to_owned()
}

fn check_path(path: &Path) -> Result<(), ContainerJobError> {
    let plain = !path.as_os_str().as_bytes().iter().any(u8::is_ascii_control);
    let straight = path.components().all(|part| part != Component::ParentDir);
    if path.is_absolute() && path != Path::new("/") && plain && straight {
        return Ok(());
    }
    Err(ContainerJobError::Path {
        path: path.to_owned(),
    })
}

/// Checks the working directory. It may be the root, although nothing can be mounted
/// there.
fn check_start(cwd: &Path) -> Result<(), ContainerJobError> {
    if cwd == Path::new("/") {
        Ok(())
    } else {
        check_path(cwd)
    }
}

fn check_variable(name: &OsStr) -> Result<(), ContainerJobError> {
    let upper = name.as_bytes().to_ascii_uppercase();
    let mut prefixes = NEVER_HANDED_ON.iter();
    let steers = prefixes.any(|prefix| upper.starts_with(prefix.as_bytes()));
    if upper.is_empty() || upper.contains(&b'=') || steers || upper.ends_with(b"_PROXY") {
        return Err(ContainerJobError::Variable {
            name: name.to_string_lossy().into_owned(),
        });
    }
    Ok(())
}

fn bad_word(word: &str) -> ContainerJobError {
    ContainerJobError::Word {
        word: word.to_owned(),
    }
}
