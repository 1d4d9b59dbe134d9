//! The entry point: takes a command, and returns it running behind walls, or a refusal.

use std::ffi::OsString;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags};

use crate::cgroup::CgroupParents;
use crate::control;
use crate::error::SandboxError;
use crate::job::{GrantedHost, SandboxCommandSpec, SandboxNetwork, SandboxStdin};
use crate::level::{EngagedSandbox, RequiredSandboxLevel, SandboxLevel};
use crate::process::{SandboxStarterMilestone, SandboxedProcess};
use crate::spec::{PidLimitScope, SandboxStarterSpec, SandboxStarterTask};

/// How to start the starter: this program again, with a special first argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxStarterProgram {
    /// The executable of this program, which calls [`enter_if_asked`](crate::enter_if_asked)
    /// first.
    pub program: PathBuf,
    /// The argument that turns it into the starter.
    pub first_argument: OsString,
}

/// Starts commands behind the walls that work on this machine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    setup: Arc<SandboxStarterProgram>,
    engaged: Arc<EngagedSandbox>,
    groups: Arc<CgroupParents>,
    numbers: PidLimitScope,
}

/// A command that was started.
#[derive(Debug)]
pub struct StartedCommand {
    /// The read end of its standard output.
    pub stdout: OwnedFd,
    /// The read end of its standard error.
    pub stderr: OwnedFd,
    /// The running command.
    pub process: SandboxedProcess,
    /// Listeners inside its network namespace, to be served from here by the filtering proxy;
    /// empty without a grant. The first is [`ProxyDoorKind::Proxy`], followed by one for each
    /// granted literal address, in the order of the grants.
    pub doors: Vec<ProxyDoor>,
}

/// A listener that only the command can reach.
#[derive(Debug)]
pub struct ProxyDoor {
    /// The listener: bound inside, accepted from here.
    pub listener: TcpListener,
    /// The meaning of the door.
    pub kind: ProxyDoorKind,
}

/// The meaning of a door: the proxy, or one granted address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyDoorKind {
    /// The proxy that `HTTP_PROXY` and similar variables name inside.
    Proxy,
    /// A granted literal address: connections go to exactly this one.
    Address(SocketAddr),
}

impl SandboxStarterProgram {
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
    /// Tests which walls work on this machine, from inside them.
    pub fn new(setup: SandboxStarterProgram) -> Result<Self, SandboxError> {
        let mut sandbox = Self {
            setup: Arc::new(setup),
            engaged: Arc::new(EngagedSandbox {
                level: SandboxLevel::None,
                layers: Vec::new(),
            }),
            groups: Arc::default(),
            numbers: PidLimitScope::default(),
        };
        let climbed = crate::ladder::climb(&sandbox)?;
        sandbox.engaged = Arc::new(climbed.engaged);
        sandbox.groups = Arc::new(climbed.groups);
        sandbox.numbers = climbed.numbers;
        Ok(sandbox)
    }

    /// Returns the level and walls really in force.
    pub fn engaged(&self) -> &EngagedSandbox {
        &self.engaged
    }

    /// Starts a command at the level this machine reaches, or refuses if that is below the
    /// required one. If a wall cannot be built for this command or the program cannot be
    /// started, [`SandboxedProcess::wait`] reports it.
    pub fn start(
        &self,
        job: &SandboxCommandSpec,
        demand: RequiredSandboxLevel,
    ) -> Result<StartedCommand, SandboxError> {
        self.refuse_below(job, demand)?;
        let doors = granted_addresses(&job.network);
        let spec = SandboxStarterSpec {
            level: self.engaged.level,
            task: SandboxStarterTask::Command,
            job: job.clone(),
            doors,
            groups: (*self.groups).clone(),
            numbers: self.numbers,
        };
        self.launch(&spec)
    }

    /// Starts the starter and sends it its orders.
    pub(crate) fn launch(&self, spec: &SandboxStarterSpec) -> Result<StartedCommand, SandboxError> {
        let (ours, theirs) = control::pair().map_err(SandboxError::system("make a socket"))?;
        let (stdout, stdout_inside) = pipe()?;
        let (stderr, stderr_inside) = pipe()?;
        let starter = self.spawn(theirs, stdout_inside, stderr_inside)?;
        let process = SandboxedProcess::new(starter, ours)?;
        let orders = orders(spec)?;
        let stdin = stdin(&spec.job.stdin)?;
        process
            .order(&[orders.as_fd(), stdin.as_fd()])
            .map_err(SandboxError::system("give the starter its orders"))?;
        let doors = if spec.doors.is_empty() {
            process.greet(SandboxStarterMilestone::Hello)
        } else {
            process.greet(SandboxStarterMilestone::Doors)
        };
        Ok(StartedCommand {
            stdout,
            stderr,
            process,
            doors: doors.into_iter().map(ProxyDoor::from).collect(),
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
        // Only the three standard descriptors are passed, so the standard library can use
        // `posix_spawn`, which does not copy our page tables.
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

    fn refuse_below(
        &self,
        job: &SandboxCommandSpec,
        demand: RequiredSandboxLevel,
    ) -> Result<(), SandboxError> {
        let reached = self.engaged.level;
        if reached < demand.0 {
            return Err(SandboxError::TooLow {
                demanded: demand.0,
                reached,
                missing: self.engaged.missing(),
            });
        }
        if reached < SandboxLevel::Full && !granted_addresses(&job.network).is_empty() {
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

impl From<(Option<SocketAddr>, OwnedFd)> for ProxyDoor {
    fn from((address, fd): (Option<SocketAddr>, OwnedFd)) -> Self {
        Self {
            listener: TcpListener::from(fd),
            kind: address.map_or(ProxyDoorKind::Proxy, ProxyDoorKind::Address),
        }
    }
}

/// Returns the doors that a grant needs: the proxy's first, then one per literal address
/// and port.
fn granted_addresses(network: &SandboxNetwork) -> Vec<Option<SocketAddr>> {
    let SandboxNetwork::Hosts(hosts) = network else {
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

fn literal_addresses(host: &GrantedHost) -> Vec<SocketAddr> {
    let Ok(address) = host.name.parse() else {
        return Vec::new();
    };
    let ports = host.port.map_or(vec![80, 443], |port| vec![port]);
    ports
        .into_iter()
        .map(|port| SocketAddr::new(address, port))
        .collect()
}

/// Writes the orders to a file in memory. They can be longer than any message, and unlike
/// an argument list no other process of this user can read them.
fn orders(spec: &SandboxStarterSpec) -> Result<OwnedFd, SandboxError> {
    let bytes = serde_json::to_vec(spec)
        .map_err(std::io::Error::other)
        .map_err(SandboxError::system("write the starter's orders"))?;
    in_memory("artel-orders", &bytes)
}

fn stdin(stdin: &SandboxStdin) -> Result<OwnedFd, SandboxError> {
    match stdin {
        SandboxStdin::Empty => rustix::fs::open(
            "/dev/null",
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )
        .map_err(SandboxError::system("open /dev/null")),
        SandboxStdin::Bytes(bytes) => in_memory("artel-input", bytes),
        SandboxStdin::Inherit => std::io::stdin()
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
