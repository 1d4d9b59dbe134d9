//! One row of the list, and both sides of the wall to run it on.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

use artel_sandbox::{
    CommandExit, DefaultViewSources, FIRST_ARGUMENT, RequiredSandboxLevel, Sandbox,
    SandboxCommandSpec, SandboxLevel, SandboxLimits, SandboxNetwork, SandboxStarterProgram,
    SandboxStdin, SandboxView, StartedCommand,
};
use regex::Regex;
use tempfile::TempDir;

/// Names that stay read-only, of every kind that the product protects.
const PROTECTED: &[&str] = &[
    ".git",
    ".gitmodules",
    ".gitconfig",
    ".husky",
    ".artel",
    "artel.toml",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".inputrc",
    ".envrc",
    ".vscode",
    ".idea",
    ".claude",
    ".codex",
    ".cursor",
    ".mcp.json",
    ".devcontainer",
    ".vimrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pypirc",
    ".netrc",
    ".curlrc",
    ".wgetrc",
    ".gdbinit",
    ".ripgreprc",
    ".sqliterc",
    ".pythonrc.py",
    ".ssh",
    ".gnupg",
    ".git-credentials",
];

/// Variables that a command inside gets from the person's environment.
const PASSED: &[&str] = &[
    "CARGO_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "NVM_DIR",
    "PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "TZ",
    "USER",
    "VOLTA_HOME",
];

/// One thing that a program does every day.
pub(crate) struct Row {
    /// What the report calls it.
    pub(crate) name: &'static str,
    /// Programs on the path without which the row says nothing; `a|b` is one of them.
    pub(crate) needs: &'static [&'static str],
    /// Files of the fresh folder.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Runs outside on both sides before the row does, as a person would have prepared the folder.
    pub(crate) before: &'static str,
    /// What `bash` runs; a step that fails ends it.
    pub(crate) script: &'static str,
    /// How it ends.
    pub(crate) code: i32,
    /// What its output matches.
    pub(crate) says: &'static str,
}

/// A row that needs nothing, does nothing and ends well.
pub(crate) const ROW: Row = Row {
    name: "",
    needs: &[],
    files: &[],
    before: "",
    script: "",
    code: 0,
    says: "",
};

/// What came of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) exit: CommandExit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A fresh folder that a command may write.
pub(crate) struct Folder {
    _kept: TempDir,
    pub(crate) path: PathBuf,
}

impl Folder {
    /// Makes the folder of a row, with its files and what was done before.
    pub(crate) fn of(row: &Row) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(kept.path()).unwrap();
        for (name, text) in row.files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let folder = Self { _kept: kept, path };
        let prepared = folder.outside(row.before);
        assert_eq!(
            prepared.exit,
            CommandExit::Code(0),
            "{}: {prepared:?}",
            row.name
        );
        folder
    }

    /// Runs a script with nothing around it.
    pub(crate) fn outside(&self, script: &str) -> Outcome {
        let argv = argv(script);
        let output = Command::new(&argv[0])
            .args(&argv[1..])
            .env_clear()
            .envs(environment())
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Outcome {
            exit: CommandExit::Code(output.status.code().unwrap()),
            stdout: self.plain(&String::from_utf8_lossy(&output.stdout)),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a script behind every wall.
    pub(crate) fn inside(&self, script: &str, limits: SandboxLimits) -> Outcome {
        let job = SandboxCommandSpec {
            argv: argv(script),
            cwd: self.path.clone(),
            env: environment(),
            view: SandboxView {
                write: vec![self.path.clone()],
                ..view().clone()
            },
            network: SandboxNetwork::None,
            limits,
            stdin: SandboxStdin::Empty,
        };
        let StartedCommand {
            stdout,
            stderr,
            process,
            doors: _,
        } = sandbox()
            .start(&job, RequiredSandboxLevel(SandboxLevel::Full))
            .unwrap();
        let stderr = std::thread::spawn(|| read_all(stderr));
        let stdout = read_all(stdout);
        Outcome {
            exit: process.wait(),
            stdout: self.plain(&stdout),
            stderr: stderr.join().unwrap(),
        }
    }

    /// Takes out what differs from one run to the next wherever it runs.
    fn plain(&self, text: &str) -> String {
        static SECONDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+\.\d+s\b").unwrap());
        let text = text.replace(&*self.path.to_string_lossy(), "<folder>");
        SECONDS.replace_all(&text, "<time>").into_owned()
    }
}

/// Runs a row on both sides and says what is wrong, if anything.
pub(crate) fn compare(row: &Row, limits: SandboxLimits) -> Result<(), String> {
    let wrong = |what: &str, outcome: &Outcome| {
        let Outcome {
            exit,
            stdout,
            stderr,
        } = outcome;
        format!("{}: {what}\n{exit:?}\n{stdout}\n{stderr}", row.name)
    };
    let outside = Folder::of(row).outside(row.script);
    if outside.exit != CommandExit::Code(row.code) {
        return Err(wrong("ended otherwise outside", &outside));
    }
    if !Regex::new(row.says).unwrap().is_match(&outside.stdout) {
        return Err(wrong("said something else outside", &outside));
    }
    let inside = Folder::of(row).inside(row.script, limits);
    if inside.exit != outside.exit || inside.stdout != outside.stdout {
        let what = format!("differs inside; outside it said\n{}", outside.stdout);
        return Err(wrong(&what, &inside));
    }
    Ok(())
}

/// Tells whether a program is on the path, or one of several parted by `|`.
pub(crate) fn is_installed(need: &str) -> bool {
    let on_path = |program: &str| path().iter().any(|folder| folder.join(program).is_file());
    need.split('|').any(on_path)
}

/// A script that hangs on either side fails its own row and not the whole list.
fn argv(script: &str) -> Vec<OsString> {
    [
        "timeout", "-k1", "90", "bash", "-euo", "pipefail", "-c", script,
    ]
    .map(OsString::from)
    .into()
}

fn environment() -> Vec<(OsString, OsString)> {
    let value = |name: &&str| Some((OsString::from(name), std::env::var_os(name)?));
    PASSED.iter().filter_map(value).collect()
}

fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .collect()
}

fn view() -> &'static SandboxView {
    static VIEW: OnceLock<SandboxView> = OnceLock::new();
    VIEW.get_or_init(|| SandboxView {
        protected: PROTECTED.iter().map(|name| (*name).to_owned()).collect(),
        ..SandboxView::standard(&DefaultViewSources {
            home: std::env::var_os("HOME").map(PathBuf::from),
            path: path(),
            ..DefaultViewSources::default()
        })
    })
}

fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let sandbox = Sandbox::new(SandboxStarterProgram {
            program: env!("CARGO_BIN_EXE_sandbox-probe").into(),
            first_argument: FIRST_ARGUMENT.into(),
        });
        let sandbox = sandbox.unwrap();
        let engaged = sandbox.engaged();
        assert_eq!(engaged.level, SandboxLevel::Full, "{}", engaged.missing());
        sandbox
    })
}

fn read_all(fd: OwnedFd) -> String {
    let mut bytes = Vec::new();
    fs::File::from(fd).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns every file below a folder with its content.
pub(crate) fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path.clone());
                found.push((path, Vec::new()));
            } else {
                let content = fs::read(&path).unwrap();
                found.push((path, content));
            }
        }
    }
    found.sort();
    found
}
