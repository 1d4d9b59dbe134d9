//! Runs git commands in one repository.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_sandbox::trusted::{self, TrustedProgramCall, TrustedProgramError, TrustedProgramOutput};

use crate::danger::{self, GitConfigDangers};
use crate::includes;

/// Settings that override the repository's own.
const FIXED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.editor=true",
    "sequence.editor=true",
    "core.askPass=",
    "core.sshCommand=ssh -F /dev/null -oBatchMode=yes -oProxyCommand=none",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "credential.helper=",
    "credential.interactive=false",
    "diff.external=",
    "interactive.diffFilter=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "push.recurseSubmodules=no",
    "pull.rebase=false",
    "diff.ignoreSubmodules=all",
    "diff.submodule=short",
    "status.submoduleSummary=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "safe.bareRepository=explicit",
    "advice.detachedHead=false",
    "color.ui=false",
];

/// `PATH` in which git finds other programs. It has nothing of the person's `PATH`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `PATH` for subcommands that need no other program.
const NOWHERE: &str = "/nonexistent";

/// Subcommands that need other programs: a way to another machine, more of git, a filter
/// that the person trusts. Every other subcommand is kept from starting another git. It
/// would start one to look at a repository within the tree, and anybody may have written
/// that repository's settings. The first six look into no such repository, because of the
/// settings here and the arguments they are called with; the last never runs if the tree
/// has one.
const NEEDING_PROGRAMS: &[&str] = &[
    "fetch", "pull", "status", "diff", "blame", "ls-files", STASH,
];

/// Looks into every repository that the index names, whatever the settings say.
const STASH: &str = "stash";

/// The way git lists an index entry that is a separate repository.
const GITLINK: &[u8] = b"160000 ";

/// Runs git commands in one working tree.
#[derive(Debug, Clone)]
pub struct GitRunner {
    program: PathBuf,
    tree: PathBuf,
    identity: GitIdentity,
    timeout: Duration,
    most_output: usize,
    /// Extra settings for one kind of call. They come after all others.
    settings: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

/// Name and e-mail address of a committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitIdentity {
    /// Name of the committer.
    pub name: String,
    /// E-mail address of the committer.
    pub email: String,
}

/// A yes-or-no answer, given as git's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitExitAnswer {
    Yes,
    No,
}

/// An error of running git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The tree is in no repository.
    #[error("`{0}` is not in a git repository")]
    NoRepository(PathBuf),
    /// Git refused the command.
    #[error("git {command}: {said}")]
    Refused {
        /// The git subcommand.
        command: String,
        /// Message from git.
        said: String,
    },
    /// The settings include something that is not a file. Git would wait for it if it is a
    /// pipe, or read it without end if it is a device.
    #[error(
        "`{}` is not a file, and the settings in `{}` include it: remove the `path` that names it \
         from there",
        named.display(), config.display()
    )]
    OddInclude {
        /// The file with the settings.
        config: PathBuf,
        /// The path that they include.
        named: PathBuf,
    },
    /// Git could not be run.
    #[error("git could not be run")]
    NotRun(#[from] TrustedProgramError),
}

impl GitIdentity {
    /// Returns the identity used where no other committer is known.
    pub fn artel() -> Self {
        Self {
            name: "Artel".to_owned(),
            email: "artel@localhost".to_owned(),
        }
    }
}

impl GitRunner {
    /// Creates a runner for a tree, with the git at this path. Calls may take 30 seconds and
    /// print 16 MiB.
    pub fn new(
        program: impl Into<PathBuf>,
        tree: impl Into<PathBuf>,
        identity: GitIdentity,
    ) -> Self {
        Self {
            program: program.into(),
            tree: tree.into(),
            identity,
            timeout: Duration::from_secs(30),
            most_output: 16 << 20,
            settings: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Sets the longest time of a call, and the most bytes it may print.
    pub(crate) fn patiently(mut self, timeout: Duration, most_output: usize) -> Self {
        (self.timeout, self.most_output) = (timeout, most_output);
        self
    }

    /// Adds a setting that overrides the repository's.
    pub(crate) fn set(mut self, setting: &str) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Lets every subcommand start other git programs, which tests need.
    #[cfg(test)]
    pub(crate) fn with_programs(self) -> Self {
        self.variable("PATH", PATH).variable("GIT_EXEC_PATH", "")
    }

    /// Adds an environment variable. It overrides an earlier one of the same name.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Returns the working tree.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Runs a subcommand and returns what it printed.
    pub fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run_with(arguments, Vec::new())
    }

    /// Runs a subcommand with input.
    pub fn run_with(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.run_on(arguments, stdin)
    }

    /// Runs a subcommand like [`GitRunner::run_with`], with arguments that may be file names.
    pub(crate) fn run_on(
        &self,
        arguments: &[impl AsRef<OsStr>],
        stdin: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        if arguments
            .first()
            .is_some_and(|first| first.as_ref() == STASH)
        {
            self.looks_into_nothing(STASH)?;
        }
        let output = self.start(arguments, stdin)?;
        if output.code == Some(0) {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let is_nowhere = [
            "not a git repository",
            "only be used inside a git repository",
        ]
        .iter()
        .any(|text| said.contains(text));
        if is_nowhere {
            return Err(GitError::NoRepository(self.tree.clone()));
        }
        // Some commands explain on stdout why they did nothing.
        let said = if said.is_empty() {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        } else {
            said
        };
        let command = arguments.first().map_or(OsStr::new(""), AsRef::as_ref);
        Err(GitError::Refused {
            command: command.to_string_lossy().into_owned(),
            said: explained(said),
        })
    }

    /// Runs a subcommand whose exit code is an answer: 0 is yes, 1 is no, anything else is a
    /// refusal.
    pub(crate) fn answer(
        &self,
        arguments: &[impl AsRef<OsStr>],
        stdin: Vec<u8>,
    ) -> Result<(GitExitAnswer, Vec<u8>), GitError> {
        let output = self.start(arguments, stdin)?;
        let answer = match output.code {
            Some(0) => GitExitAnswer::Yes,
            Some(1) => GitExitAnswer::No,
            _ => {
                let command = arguments.first().map_or(OsStr::new(""), AsRef::as_ref);
                return Err(GitError::Refused {
                    command: command.to_string_lossy().into_owned(),
                    said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                });
            }
        };
        Ok((answer, output.stdout))
    }

    /// Returns what the repository's configuration would make git start and cannot be switched
    /// off here.
    pub fn dangers(&self) -> Result<GitConfigDangers, GitError> {
        let listed = self.run(&["config", "--list", "--local", "--no-includes", "-z"])?;
        Ok(danger::find(&listed))
    }

    /// Refuses a subcommand if the index or the last commit names a repository in the tree. It
    /// does not matter whether one is there now: it can be made at any moment.
    fn looks_into_nothing(&self, command: &str) -> Result<(), GitError> {
        let staged = self.run(&["ls-files", "--stage", "-z"])?;
        let committed = match self.run(&["ls-tree", "-r", "-z", "HEAD"]) {
            Ok(listed) => listed,
            // There is no commit yet.
            Err(GitError::Refused { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let entries = staged
            .split(|byte| *byte == 0)
            .chain(committed.split(|byte| *byte == 0));
        let mut inner = entries.filter(|entry| entry.starts_with(GITLINK));
        match inner.next() {
            None => Ok(()),
            Some(entry) => {
                let name = entry.rsplit(|byte| *byte == b'\t').next().unwrap_or(entry);
                let inner = String::from_utf8_lossy(name);
                Err(GitError::Refused {
                    command: command.to_owned(),
                    said: format!(
                        "`{inner}` is a separate repository, and git would look into it; commit \
                         your changes instead"
                    ),
                })
            }
        }
    }

    /// Returns the root of the repository that the tree is in.
    pub fn root(&self) -> Result<PathBuf, GitError> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut said = self.run(&["rev-parse", "--show-toplevel"])?;
        if said.last() == Some(&b'\n') {
            said.pop();
        }
        Ok(PathBuf::from(OsString::from_vec(said)))
    }

    fn start(
        &self,
        arguments: &[impl AsRef<OsStr>],
        stdin: Vec<u8>,
    ) -> Result<TrustedProgramOutput, GitError> {
        let call = self.call(arguments, stdin);
        let named = self.variables.iter().rfind(|(name, _)| name == "GIT_DIR");
        let git_dir = match named {
            Some((_, git_dir)) => self.tree.join(git_dir),
            None => includes::git_dir_of(&self.tree),
        };
        includes::refuse_odd(&call, &git_dir)?;
        Ok(trusted::run(&call)?)
    }

    fn call(&self, arguments: &[impl AsRef<OsStr>], stdin: Vec<u8>) -> TrustedProgramCall {
        let mut args: Vec<OsString> = vec!["--no-pager".into(), "--literal-pathspecs".into()];
        let safe = [
            format!("safe.directory={}", self.tree.display()),
            format!("user.name={}", self.identity.name),
            format!("user.email={}", self.identity.email),
        ];
        let settings = FIXED.iter().map(|&setting| setting.to_owned()).chain(safe);
        for setting in settings {
            args.extend(["-c".into(), setting.into()]);
        }
        for setting in &self.settings {
            args.extend(["-c".into(), setting.clone()]);
        }
        args.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        TrustedProgramCall {
            args,
            env: self.environment(arguments.first().map(AsRef::as_ref)),
            cwd: self.tree.clone(),
            stdin,
            timeout: self.timeout,
            most_output: self.most_output,
            ..TrustedProgramCall::new(&self.program)
        }
    }

    fn environment(&self, subcommand: Option<&OsStr>) -> Vec<(OsString, OsString)> {
        let ceiling = self.tree.parent().unwrap_or(Path::new("/"));
        let needs_programs =
            subcommand.is_some_and(|it| NEEDING_PROGRAMS.iter().any(|name| it == *name));
        // Git finds its own programs where it was installed, or nowhere.
        let (path, own) = if needs_programs {
            (PATH, "")
        } else {
            (NOWHERE, NOWHERE)
        };
        [
            ("PATH", path),
            ("GIT_EXEC_PATH", own),
            ("LC_ALL", "C.UTF-8"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_EDITOR", "true"),
            ("GIT_PAGER", "cat"),
            ("GIT_ASKPASS", ""),
            ("SSH_ASKPASS", ""),
            ("GIT_NO_LAZY_FETCH", "1"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .chain([("GIT_CEILING_DIRECTORIES".into(), ceiling.into())])
        .chain(self.variables.iter().cloned())
        .collect()
    }
}

/// Explains the error that git gives when it could not start another git in a repository
/// within the tree.
fn explained(said: String) -> String {
    if !said.contains("in submodule ") {
        return said;
    }
    "git would look into a repository inside this one, which Artel does not allow; add files by \
     name, then commit"
        .to_owned()
}
