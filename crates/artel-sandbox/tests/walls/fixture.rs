//! A folder to work in, a folder outside, and a way to run something between the walls.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use artel_sandbox::{
    CommandExit, CommandResourceUsage, DefaultViewSources, RequiredSandboxLevel, Sandbox,
    SandboxCommandSpec, SandboxLevel, SandboxLimits, SandboxNetwork, SandboxStarterProgram,
    SandboxStdin, SandboxView, StartedCommand,
};

/// The test program, which is also the starter.
pub(crate) const PROBE: &str = env!("CARGO_BIN_EXE_sandbox-probe");

/// Returns the sandbox of this machine, which must have every wall.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let sandbox = Sandbox::new(SandboxStarterProgram {
            program: PROBE.into(),
            first_argument: artel_sandbox::FIRST_ARGUMENT.into(),
        });
        let sandbox = sandbox.unwrap();
        let engaged = sandbox.engaged();
        assert_eq!(engaged.level, SandboxLevel::Full, "{}", engaged.missing());
        sandbox
    })
}

/// A place with an inside that can be written and an outside that cannot be seen.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) inside: PathBuf,
    pub(crate) outside: PathBuf,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) exit: CommandExit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) usage: CommandResourceUsage,
    pub(crate) set_aside: Vec<PathBuf>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        Self {
            _folder: folder,
            inside,
            outside,
        }
    }

    /// Returns a job with the default view, the inside writable, and nothing else.
    pub(crate) fn job(&self, argv: &[&str]) -> SandboxCommandSpec {
        let mut view = SandboxView::standard(&DefaultViewSources::default());
        view.read.push(PROBE.into());
        view.write.push(self.inside.clone());
        view.protected = [".git", ".artel", ".bashrc", ".envrc"]
            .map(str::to_owned)
            .into();
        SandboxCommandSpec {
            argv: argv.iter().map(Into::into).collect(),
            cwd: self.inside.clone(),
            env: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("PROBE".into(), PROBE.into()),
                ("OUTSIDE".into(), self.outside.clone().into()),
            ],
            view,
            network: SandboxNetwork::None,
            limits: SandboxLimits::default(),
            stdin: SandboxStdin::Empty,
        }
    }

    /// Runs a shell script inside.
    pub(crate) fn inside(&self, script: &str) -> Outcome {
        run(&self.job(&["/bin/sh", "-c", script]))
    }

    /// Runs the same shell script outside, in the same folder.
    pub(crate) fn outside(&self, script: &str) -> Outcome {
        let output = Command::new("/bin/sh")
            .args(["-c", script])
            .current_dir(&self.inside)
            .env("PROBE", PROBE)
            .env("OUTSIDE", &self.outside)
            .output()
            .unwrap();
        Outcome {
            exit: CommandExit::Code(output.status.code().unwrap()),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            usage: CommandResourceUsage::default(),
            set_aside: Vec::new(),
        }
    }

    /// Returns every path below both folders with its content, to see that nothing changed.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for root in [&self.inside, &self.outside] {
            collect(root, &mut found);
        }
        found.sort();
        found
    }
}

/// Runs a job to its end.
pub(crate) fn run(job: &SandboxCommandSpec) -> Outcome {
    finish(start(job))
}

/// Starts a job behind every wall.
pub(crate) fn start(job: &SandboxCommandSpec) -> StartedCommand {
    sandbox()
        .start(job, RequiredSandboxLevel(SandboxLevel::Full))
        .unwrap()
}

/// Reads what a started job says and waits for its end.
pub(crate) fn finish(started: StartedCommand) -> Outcome {
    let StartedCommand {
        stdout,
        stderr,
        process,
        doors: _,
    } = started;
    let stderr = std::thread::spawn(|| read_all(stderr));
    let stdout = read_all(stdout);
    let exit = process.wait();
    Outcome {
        exit,
        stdout,
        stderr: stderr.join().unwrap(),
        usage: process.usage(),
        set_aside: process.set_aside(),
    }
}

fn read_all(fd: std::os::fd::OwnedFd) -> String {
    let mut bytes = Vec::new();
    fs::File::from(fd).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            found.push((path, format!("-> {}", target.display())));
        } else if path.is_dir() {
            found.push((path.clone(), "folder".to_owned()));
            collect(&path, found);
        } else {
            let content = fs::read(&path).unwrap_or_default();
            found.push((path, String::from_utf8_lossy(&content).into_owned()));
        }
    }
}
