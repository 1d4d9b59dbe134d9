//! The door: a job goes in, a running command behind walls comes out, or a refusal.

use std::ffi::OsString;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags};

use crate::cgroup::Groups;
use crate::control;
use crate::error::SandboxError;
use crate::job::{Host, Job, Network, Stdin};
use crate::level::{Demand, Engaged, Level};
use crate::process::{Greeting, Process};
use crate::spec::{Numbers, Spec, Task};

/// How the starter is reached: this program is started again with a first argument of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The executable of this program, which calls [`enter_if_asked`](crate::enter_if_asked)
    /// first of all.
    pub program: PathBuf,
    /// The argument that makes it the starter.
    pub first_argument: OsString,
}

/// Starts commands behind the walls that stand on this machine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    setup: Arc<Setup>,
    engaged: Arc<Engaged>,
    groups: Arc<Groups>,
    numbers: Numbers,
}

/// A command that was started.
#[derive(Debug)]
pub struct Started {
    /// Where its output is read.
    pub stdout: OwnedFd,
    /// Where its messages are read.
    pub stderr: OwnedFd,
    /// The command itself.
    pub process: Process,
    /// Listeners inside its network namespace, to be served from here by the filtering proxy;
    /// none without a grant. The first one is [`DoorKind::Proxy`], then comes one for each literal
    /// address that was granted, in the order of the grants.
    pub doors: Vec<Door>,
}

/// A listener that only the command can reach.
#[derive(Debug)]
pub struct Door {
    /// It listens inside and is accepted from here.
    pub listener: TcpListener,
    /// What it stands for.
    pub kind: DoorKind,
}

/// What a door stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoorKind {
    /// The proxy that `HTTP_PROXY` and the like name inside.
    Proxy,
    /// A granted literal address: whoever connects wants exactly this one.
    Address(SocketAddr),
}

impl Setup {
    /// Returns the setup for the running program with Artel's own first argument.
    pub fn of_this_program() -> Result<Self, SandboxError> {
        let program = std::env::current_exe()
            .map_err(SandboxError::system("find the path of this program"))?;
        Ok(Self {
            program,
            first_argument: crate::FIRST_ARGUMENT.into(),
        })
    }
}

impl Sandbox {
    /// Tries out which walls stand on this machine, from inside them.
    pub fn new(setup: Setup) -> Result<Self, SandboxError> {
        let mut sandbox = Self {
            setup: Arc::new(setup),
            engaged: Arc::new(Engaged {
                level: Level::None,
                layers: Vec::new(),
            }),
            groups: Arc::default(),
            numbers: Numbers::default(),
        };
        let climbed = crate::ladder::climb(&sandbox)?;
        sandbox.engaged = Arc::new(climbed.engaged);
        sandbox.groups = Arc::new(climbed.groups);
        sandbox.numbers = climbed.numbers;
        Ok(sandbox)
    }

    /// Returns what is really engaged.
    pub fn engaged(&self) -> &Engaged {
        &self.engaged
    }

    /// Starts a command at the level this machine reaches, or refuses if that is below the
    /// demand. A wall that cannot be built for this job, or a program that cannot be started, is
    /// told by [`Process::wait`].
    pub fn start(&self, job: &Job, demand: Demand) -> Result<Started, SandboxError> {
        self.refuse_below(job, demand)?;
        let doors = granted_addresses(&job.network);
        let spec = Spec {
            level: self.engaged.level,
            task: Task::Command,
            job: job.clone(),
            doors,
            groups: (*self.groups).clone(),
            numbers: self.numbers,
        };
        self.launch(&spec)
    }

    /// Starts the starter with its orders.
    pub(crate) fn launch(&self, spec: &Spec) -> Result<Started, SandboxError> {
        let (ours, theirs) = control::pair().map_err(SandboxError::system("make a socket"))?;
        let (stdout, stdout_inside) = pipe()?;
        let (stderr, stderr_inside) = pipe()?;
        let starter = self.spawn(theirs, stdout_inside, stderr_inside)?;
        let process = Process::new(starter, ours)?;
        let orders = orders(spec)?;
        let stdin = stdin(&spec.job.stdin)?;
        process
            .order(&[orders.as_fd(), stdin.as_fd()])
            .map_err(SandboxError::system("give the starter its orders"))?;
        let doors = if spec.doors.is_empty() {
            process.greet(Greeting::Hello)
        } else {
            process.greet(Greeting::Doors)
        };
        Ok(Started {
            stdout,
            stderr,
            process,
            doors: doors.into_iter().map(Door::from).collect(),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is the door to processes"
    )]
    fn spawn(
        &self,
        control: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> Result<std::process::Child, SandboxError> {
        // Only the three standard descriptors are handed over: then the standard library can use
        // `posix_spawn`, which copies no page tables of ours.
        Command::new(&self.setup.program)
            .arg(&self.setup.first_argument)
            .env_clear()
            .stdin(Stdio::from(control))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .spawn()
            .map_err(|cause| SandboxError::NoStarter {
                program: self.setup.program.clone(),
                cause,
            })
    }

    fn refuse_below(&self, job: &Job, demand: Demand) -> Result<(), SandboxError> {
        let reached = self.engaged.level;
        if reached < demand.0 {
            return Err(SandboxError::TooLow {
                demanded: demand.0,
                reached,
                missing: self.engaged.missing(),
            });
        }
        if reached < Level::Full && !granted_addresses(&job.network).is_empty() {
            return Err(SandboxError::NetworkNeedsFull { reached });
        }
        let why = if job.argv.is_empty() {
            "no program was named"
        } else if job.view.write.iter().any(|path| path.as_os_str() == "/") {
            "the whole machine cannot be a writable folder"
        } else {
            return Ok(());
        };
        Err(SandboxError::BadJob {
            why: why.to_owned(),
        })
    }
}

impl From<(Option<SocketAddr>, OwnedFd)> for Door {
    fn from((address, fd): (Option<SocketAddr>, OwnedFd)) -> Self {
        Self {
            listener: TcpListener::from(fd),
            kind: address.map_or(DoorKind::Proxy, DoorKind::Address),
        }
    }
}

/// Returns the doors a grant needs: the proxy's first, then one per literal address and port.
fn granted_addresses(network: &Network) -> Vec<Option<SocketAddr>> {
    let Network::Hosts(hosts) = network else {
        return Vec::new();
    };
    if hosts.is_empty() {
        return Vec::new();
    }
    let mut doors = vec![None];
    for host in hosts {
        for address in literal_addresses(host) {
            if !doors.contains(&Some(address)) {
                doors.push(Some(address));
            }
        }
    }
    doors
}

fn literal_addresses(host: &Host) -> Vec<SocketAddr> {
    let Ok(address) = host.name.parse() else {
        return Vec::new();
    };
    let ports = host.port.map_or(vec![80, 443], |port| vec![port]);
    ports
        .into_iter()
        .map(|port| SocketAddr::new(address, port))
        .collect()
}

/// Writes the orders to memory: they can be longer than any message, and no other process of
/// this user reads them from an argument list.
fn orders(spec: &Spec) -> Result<OwnedFd, SandboxError> {
    let bytes = serde_json::to_vec(spec)
        .map_err(std::io::Error::other)
        .map_err(SandboxError::system("write the starter's orders"))?;
    in_memory("artel-orders", &bytes)
}

fn stdin(stdin: &Stdin) -> Result<OwnedFd, SandboxError> {
    match stdin {
        Stdin::Empty => rustix::fs::open(
            "/dev/null",
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )
        .map_err(SandboxError::system("open /dev/null")),
        Stdin::Bytes(bytes) => in_memory("artel-input", bytes),
        Stdin::Inherit => std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map_err(SandboxError::system("hand over the standard input")),
    }
}

fn in_memory(name: &str, bytes: &[u8]) -> Result<OwnedFd, SandboxError> {
    use std::io::{Seek, Write};
    let failed = SandboxError::system::<std::io::Error>;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = rustix::fs::memfd_create(name, flags)
        .map_err(SandboxError::system("make a file in memory"))?;
    let mut file = std::fs::File::from(fd);
    file.write_all(bytes)
        .map_err(failed("write a file in memory"))?;
    file.rewind().map_err(failed("write a file in memory"))?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals)
        .map_err(SandboxError::system("seal a file in memory"))?;
    Ok(file.into())
}

fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(SandboxError::system("make a pipe"))
}
