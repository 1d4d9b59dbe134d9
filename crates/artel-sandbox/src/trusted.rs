//! Programs of our own choice, run outside the walls, such as git.
//!
//! They are named by absolute path and get an empty environment plus the variables passed
//! in, so neither `PATH` nor a variable of the person's decides what runs. Output and time
//! are bounded, and whatever is left of the process group at the end is killed. Nothing
//! chosen by a model may run this way.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A call of a trusted program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedProgramCall {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The whole environment of the program.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The bytes for its standard input.
    pub stdin: Vec<u8>,
    /// Time limit for the whole call.
    pub timeout: Duration,
    /// Limit on the bytes of each output stream; exceeding it ends the call.
    pub most_output: usize,
}

/// The result of a trusted program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedProgramOutput {
    /// The exit code, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum TrustedProgramError {
    /// The program has no absolute path. A bare name would be looked up in a `PATH` that
    /// others control.
    #[error("`{program}` is not an absolute path")]
    NotAbsolute {
        /// The given name.
        program: PathBuf,
    },
    /// The program could not be started.
    #[error("could not start `{program}`")]
    NotStarted {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// It took too long and was killed.
    #[error("`{program}` was killed after {} ms", timeout.as_millis())]
    TimedOut {
        /// The path of the program.
        program: PathBuf,
        /// The time limit.
        timeout: Duration,
    },
    /// It printed more than the limit and was killed.
    #[error("`{program}` was killed after more than {most} bytes of output")]
    TooMuch {
        /// The path of the program.
        program: PathBuf,
        /// The limit in bytes.
        most: usize,
    },
    /// A system call failed between start and end.
    #[error("could not follow `{program}`")]
    Lost {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

impl TrustedProgramCall {
    /// Returns a call without arguments or environment, in `/`, with 30 seconds and 16 MiB.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            stdin: Vec::new(),
            timeout: Duration::from_secs(30),
            most_output: 16 << 20,
        }
    }
}

/// Runs a trusted program to its end.
pub fn run(call: &TrustedProgramCall) -> Result<TrustedProgramOutput, TrustedProgramError> {
    if !call.program.is_absolute() {
        return Err(TrustedProgramError::NotAbsolute {
            program: call.program.clone(),
        });
    }
    let mut running = RunningTrustedProgram::start(call)?;
    let streams = running.follow(call);
    let status = running.end();
    let (stdout, stderr) = streams?;
    let status = status.map_err(lost(call))?;
    Ok(TrustedProgramOutput {
        code: status.code(),
        signal: status.signal(),
        stdout,
        stderr,
    })
}

/// Runs a program that a person asked for at their own terminal, such as their editor.
/// Returns its exit code, or `None` if a signal ended it. It gets the terminal and
/// unlimited time: the call's input, time and output limits do not apply.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the door to processes"
)]
pub fn attend(call: &TrustedProgramCall) -> Result<Option<i32>, TrustedProgramError> {
    if !call.program.is_absolute() {
        return Err(TrustedProgramError::NotAbsolute {
            program: call.program.clone(),
        });
    }
    let ended = Command::new(&call.program)
        .args(&call.args)
        .env_clear()
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&call.cwd)
        .status();
    let ended = ended.map_err(|cause| TrustedProgramError::NotStarted {
        program: call.program.clone(),
        cause,
    })?;
    Ok(ended.code())
}

/// Starts a program that keeps running when this process ends, and returns its process id.
/// It has no input and no terminal; its output goes to the log.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the door to processes"
)]
pub fn leave(call: &TrustedProgramCall, log: &File) -> Result<u32, TrustedProgramError> {
    if !call.program.is_absolute() {
        return Err(TrustedProgramError::NotAbsolute {
            program: call.program.clone(),
        });
    }
    let not_started = |cause| TrustedProgramError::NotStarted {
        program: call.program.clone(),
        cause,
    };
    let started = Command::new(&call.program)
        .args(&call.args)
        .env_clear()
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&call.cwd)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(not_started)?)
        .stderr(log.try_clone().map_err(not_started)?)
        .process_group(0)
        .spawn();
    Ok(started.map_err(not_started)?.id())
}

/// A started program, whose process group ends with it.
struct RunningTrustedProgram {
    child: Child,
    pidfd: OwnedFd,
    /// The pipes of input, output and messages, each until it ends.
    stdin: Option<OwnedFd>,
    streams: [Option<OwnedFd>; 2],
    timer: OwnedFd,
}

impl RunningTrustedProgram {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is the door to processes"
    )]
    fn start(call: &TrustedProgramCall) -> Result<Self, TrustedProgramError> {
        let mut child = Command::new(&call.program)
            .args(&call.args)
            .env_clear()
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&call.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|cause| TrustedProgramError::NotStarted {
                program: call.program.clone(),
                cause,
            })?;
        let stdin = child.stdin.take().map(OwnedFd::from);
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        let made = || -> rustix::io::Result<(OwnedFd, OwnedFd)> {
            for fd in [&stdin, &stdout, &stderr].into_iter().flatten() {
                rustix::io::ioctl_fionbio(fd, true)?;
            }
            let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
            Ok((pidfd, timer(call.timeout)?))
        };
        match made() {
            Ok((pidfd, timer)) => Ok(Self {
                child,
                pidfd,
                stdin: stdin.filter(|_| !call.stdin.is_empty()),
                streams: [stdout, stderr],
                timer,
            }),
            Err(cause) => {
                drop(child.kill());
                drop(child.wait());
                Err(lost(call)(cause.into()))
            }
        }
    }

    /// Writes the input and reads both streams until the program has ended and all its output
    /// is read.
    fn follow(
        &mut self,
        call: &TrustedProgramCall,
    ) -> Result<(Vec<u8>, Vec<u8>), TrustedProgramError> {
        let mut heard = [Vec::new(), Vec::new()];
        let mut unsaid = call.stdin.as_slice();
        loop {
            let ready = self.ready().map_err(lost(call))?;
            if ready.late && !ready.ended {
                return Err(TrustedProgramError::TimedOut {
                    program: call.program.clone(),
                    timeout: call.timeout,
                });
            }
            if let Some(stdin) = &self.stdin
                && !write_some(stdin, &mut unsaid)
            {
                self.stdin = None;
            }
            for (stream, text) in self.streams.iter_mut().zip(&mut heard) {
                if let Some(fd) = stream
                    && read_some(fd, text, call.most_output) == TrustedStreamState::Ended
                {
                    *stream = None;
                }
                if text.len() > call.most_output {
                    return Err(TrustedProgramError::TooMuch {
                        program: call.program.clone(),
                        most: call.most_output,
                    });
                }
            }
            // A child of the program may keep the streams open; the program's own output has
            // been read. If the streams end first, the program keeps the rest of its time.
            if ready.ended {
                let [stdout, stderr] = heard;
                return Ok((stdout, stderr));
            }
        }
    }

    fn ready(&self) -> io::Result<TrustedProgramReadiness> {
        let mut fds = vec![
            PollFd::new(&self.timer, PollFlags::IN),
            PollFd::new(&self.pidfd, PollFlags::IN),
        ];
        fds.extend(self.stdin.iter().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        let streams = self.streams.iter().flatten();
        fds.extend(streams.map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        Ok(TrustedProgramReadiness {
            late: !fds[0].revents().is_empty(),
            ended: !fds[1].revents().is_empty(),
        })
    }

    /// Kills what is left of the group, and returns how the program ended.
    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        // The program is not reaped yet, so its group id still belongs to it.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.child.wait()
    }
}

struct TrustedProgramReadiness {
    late: bool,
    ended: bool,
}

#[derive(PartialEq, Eq)]
enum TrustedStreamState {
    More,
    Ended,
}

/// Reads the available bytes, slightly more than `most` at the most.
fn read_some(fd: &OwnedFd, text: &mut Vec<u8>, most: usize) -> TrustedStreamState {
    let mut piece = [0; 64 * 1024];
    while text.len() <= most {
        match rustix::io::read(fd, &mut piece) {
            Ok(0) => return TrustedStreamState::Ended,
            Ok(count) => text.extend_from_slice(&piece[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return TrustedStreamState::More,
            Err(_) => return TrustedStreamState::Ended,
        }
    }
    TrustedStreamState::More
}

/// Writes what fits. Returns whether more is to be written. It is fine if the program
/// stopped reading.
fn write_some(fd: &OwnedFd, unsaid: &mut &[u8]) -> bool {
    while !unsaid.is_empty() {
        match rustix::io::write(fd.as_fd(), unsaid) {
            Ok(count) => *unsaid = &unsaid[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
    false
}

/// Creates a timer. Nothing here needs to know the current time, so there is no clock.
fn timer(timeout: Duration) -> rustix::io::Result<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let timeout = timeout.max(Duration::from_millis(1));
    let spec = Itimerspec {
        it_interval: Timespec::default(),
        it_value: Timespec::try_from(timeout).map_err(|_| rustix::io::Errno::INVAL)?,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &spec)?;
    Ok(timer)
}

fn lost(call: &TrustedProgramCall) -> impl Fn(io::Error) -> TrustedProgramError + '_ {
    |cause| TrustedProgramError::Lost {
        program: call.program.clone(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> TrustedProgramCall {
        TrustedProgramCall {
            args: vec!["-c".into(), script.into()],
            ..TrustedProgramCall::new("/bin/sh")
        }
    }

    #[test]
    fn a_call_has_its_input_its_output_and_no_environment() {
        let call = TrustedProgramCall {
            stdin: vec![b'x'; 1 << 20],
            ..shell("wc -c; echo to-messages >&2; echo \"${HOME:-none}\"; exit 7")
        };
        let call = TrustedProgramCall {
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            ..call
        };
        let output = run(&call).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576\nnone\n");
        assert_eq!(output.stderr, b"to-messages\n");
        assert_eq!((output.code, output.signal), (Some(7), None));
    }

    #[test]
    fn a_call_that_takes_too_long_is_killed_with_its_group() {
        let call = TrustedProgramCall {
            timeout: Duration::from_millis(100),
            ..shell("(while :; do :; done) & while :; do :; done")
        };
        assert!(matches!(
            run(&call),
            Err(TrustedProgramError::TimedOut { .. })
        ));
    }

    #[test]
    fn a_call_that_says_nothing_more_still_has_its_time_and_no_more() {
        let silent = "exec <&- >&- 2>&-";
        let call = TrustedProgramCall {
            timeout: Duration::from_millis(100),
            ..shell(&format!("{silent}; while :; do :; done"))
        };
        assert!(matches!(
            run(&call),
            Err(TrustedProgramError::TimedOut { .. })
        ));
        let output = run(&shell(&format!("echo done; {silent}; exit 3"))).unwrap();
        assert_eq!((output.stdout, output.code), (b"done\n".to_vec(), Some(3)));
        // A program may still read its input after it closes its output.
        let call = TrustedProgramCall {
            stdin: vec![b'x'; 1 << 20],
            ..shell("exec >&- 2>&-; [ \"$(/usr/bin/wc -c)\" -eq 1048576 ]")
        };
        assert_eq!(run(&call).unwrap().code, Some(0));
    }

    #[test]
    fn a_call_that_says_too_much_is_killed() {
        let call = TrustedProgramCall {
            most_output: 1000,
            ..shell("while :; do echo yes; done")
        };
        assert!(matches!(
            run(&call),
            Err(TrustedProgramError::TooMuch { .. })
        ));
    }

    #[test]
    fn a_bare_name_is_refused_and_a_missing_program_is_told() {
        let bare = run(&TrustedProgramCall::new("git"));
        assert!(matches!(bare, Err(TrustedProgramError::NotAbsolute { .. })));
        let missing = run(&TrustedProgramCall::new("/nonexistent/git"));
        assert!(matches!(
            missing,
            Err(TrustedProgramError::NotStarted { .. })
        ));
    }
}
