//! The same job as a call of a container engine, for machines that have one.
//!
//! Only the call is assembled here, as a pure function; nobody starts it yet, and no engine was at
//! hand to try it with: what the tests show is the call, not what an engine makes of it. What a
//! container cannot promise as the walls of this crate do is refused and named, never left out.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::job::{Job, Limits, Network, Stdin, View};

/// A container engine and what it starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The absolute path of `docker`, or of `podman`, which takes the same words.
    pub program: PathBuf,
    /// The image, best by its digest. It is never pulled.
    pub image: String,
    /// The user and group inside, never the root of the machine.
    pub user: (u32, u32),
}

/// A call that can be started as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The engine and its arguments.
    pub argv: Vec<OsString>,
    /// What the engine's client hands on by name, so that no secret is an argument.
    pub env: Vec<(OsString, OsString)>,
}

/// What stands at a path, as far as a mount has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// Anything else.
    File,
}

/// A job that a container cannot run as it was promised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotContained {
    /// A host was granted, and the proxy's doors are in a network namespace of our own.
    #[error("a container has no way to the proxy; run it without `--net`, or without an engine")]
    Network,
    /// A folder with a layer of its own over it.
    #[error("`{}` has a layer over it, which an engine does not mount", at.display())]
    Overlay {
        /// Where it would appear.
        at: PathBuf,
    },
    /// A protected name that nothing stands under: an engine could hide it only by making it.
    #[error("`{}` is protected and does not exist; make it first, empty", path.display())]
    Unprotected {
        /// The path that would stay open.
        path: PathBuf,
    },
    /// A path that is relative or the root, or could be read in two ways.
    #[error("`{}` cannot be mounted; use an absolute path without `..` and control characters", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// A variable that would steer the engine's client.
    #[error("the variable `{name}` would steer the engine itself; leave it out")]
    Variable {
        /// Its name.
        name: String,
    },
    /// A user inside who is root.
    #[error("the root user is not taken inside; name another user and group")]
    Root,
    /// An image or a program that would be read as an option, or is none.
    #[error("`{word}` cannot be named to an engine")]
    Word {
        /// The word.
        word: String,
    },
}

/// Variables that the client reads too and that hold no secrets. They go as arguments: from the
/// client's own environment they would steer the client instead of the command.
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

/// Beginnings of names that mean something to the client and may hold secrets as well.
const NEVER_HANDED_ON: [&str; 7] = [
    "BUILDKIT_",
    "CONTAINERS_",
    "CONTAINER_",
    "DOCKER_",
    "GODEBUG",
    "LD_",
    "PODMAN_",
];

/// Assembles the call that runs a job in a container of its own.
///
/// `kind` says what stands at a path of the view, so that this function touches no disk. Names are
/// protected at the root of each writable folder; a repository deeper down is protected by naming
/// it as a writable folder too.
pub fn call(
    job: &Job,
    engine: &Engine,
    kind: impl Fn(&Path) -> Option<Kind>,
) -> Result<Call, NotContained> {
    refuse(job, engine)?;
    let mut argv = Words(vec![engine.program.clone().into()]);
    argv.add(&["run", "--rm", "--init", "--pull", "never"]);
    argv.add(&["--read-only", "--network", "none", "--ipc", "private"]);
    argv.add(&["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]);
    if job.stdin != Stdin::Empty {
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
    Ok(Call { argv: argv.0, env })
}

/// The words of a call.
struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn pair(&mut self, option: &str, value: OsString) {
        self.add(&[option]);
        self.0.push(value);
    }
}

fn refuse(job: &Job, engine: &Engine) -> Result<(), NotContained> {
    if matches!(&job.network, Network::Hosts(hosts) if !hosts.is_empty()) {
        return Err(NotContained::Network);
    }
    if let Some(overlay) = job.view.overlays.first() {
        let at = overlay.at.clone();
        return Err(NotContained::Overlay { at });
    }
    if engine.user.0 == 0 || engine.user.1 == 0 {
        return Err(NotContained::Root);
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

fn add_limits(argv: &mut Words, limits: &Limits) {
    let memory = format!("{}b", limits.memory);
    // As much with swap as without: none.
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

/// Returns the mounts of a view, those above before those below. An engine takes one for each
/// path, so the stricter word decides: what is hidden, then what is protected, then the rest.
fn mounts(
    view: &View,
    kind: impl Fn(&Path) -> Option<Kind>,
) -> Result<Vec<OsString>, NotContained> {
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
            return Err(NotContained::Unprotected { path });
        }
        mounts.insert(path.clone(), readonly(&path));
    }
    for path in &view.hidden {
        let mask = match kind(path) {
            None => continue,
            Some(Kind::File) => bind(Path::new("/dev/null"), path, &["readonly"]),
            Some(Kind::Folder) => empty(path),
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

/// Writes the fields as the engine reads them: as one line of comma-separated values.
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

fn check_path(path: &Path) -> Result<(), NotContained> {
    let plain = !path.as_os_str().as_bytes().iter().any(u8::is_ascii_control);
    let straight = path.components().all(|part| part != Component::ParentDir);
    if path.is_absolute() && path != Path::new("/") && plain && straight {
        return Ok(());
    }
    Err(NotContained::Path {
        path: path.to_owned(),
    })
}

/// A command may start at the root, which nothing is mounted at.
fn check_start(cwd: &Path) -> Result<(), NotContained> {
    if cwd == Path::new("/") {
        Ok(())
    } else {
        check_path(cwd)
    }
}

fn check_variable(name: &OsStr) -> Result<(), NotContained> {
    let upper = name.as_bytes().to_ascii_uppercase();
    let mut prefixes = NEVER_HANDED_ON.iter();
    let steers = prefixes.any(|prefix| upper.starts_with(prefix.as_bytes()));
    if upper.is_empty() || upper.contains(&b'=') || steers || upper.ends_with(b"_PROXY") {
        return Err(NotContained::Variable {
            name: name.to_string_lossy().into_owned(),
        });
    }
    Ok(())
}

fn bad_word(word: &str) -> NotContained {
    NotContained::Word {
        word: word.to_owned(),
    }
}
