//! The reasons for doubt: their rule names and phrases.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DoubtReason {
    Starts,
    Loads,
    Writes,
    Elsewhere,
    Sends,
    Socket,
    LinksOut,
    Privilege,
    Interactive,
    Inline,
    ChangesShell,
    Evaluates,
    Service,
    Installs,
    Process,
    OwnCli,
    Device,
    Remote,
    Unknown,
    Loses,
    OpenWords,
    TooDeep,
}

impl DoubtReason {
    /// Returns the built-in name of the rule.
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::Starts => "program.starts-another",
            Self::Loads => "program.loads-code",
            Self::Writes => "program.writes-file",
            Self::Elsewhere => "program.works-elsewhere",
            Self::Sends => "program.sends-file",
            Self::Socket => "program.uses-socket",
            Self::LinksOut => "program.links-outside",
            Self::Privilege => "program.changes-privilege",
            Self::Interactive => "program.interactive",
            Self::Inline => "program.inline-code",
            Self::ChangesShell => "program.changes-shell",
            Self::Evaluates => "program.evaluates-text",
            Self::Service => "program.reaches-service",
            Self::Installs => "program.installs",
            Self::Process => "program.touches-processes",
            Self::OwnCli => "program.own-command",
            Self::Device => "program.device-file",
            Self::Remote => "program.runs-remotely",
            Self::Unknown => "program.unknown-option",
            Self::Loses => "program.loses-work",
            Self::OpenWords => "program.unknown-words",
            Self::TooDeep => "program.nested-too-deep",
        }
    }

    /// Returns whether the doubt disappears if a program is only asked for its version or
    /// help.
    pub(super) const fn is_about_deeds(self) -> bool {
        !matches!(
            self,
            Self::OwnCli | Self::ChangesShell | Self::Evaluates | Self::Loads
        )
    }

    /// Returns the explanation as a phrase that follows the quoted command.
    pub(super) const fn phrase(self) -> &'static str {
        match self {
            Self::Starts => "starts another program",
            Self::Loads => "loads code or configuration that the grant does not name",
            Self::Writes => "writes or deletes a file, and the program is granted for reading",
            Self::Elsewhere => "works in another directory, repository or place",
            Self::Sends => "reads a local file to send it, or takes what it sends from one",
            Self::Socket => "uses a local socket or opens a port",
            Self::LinksOut => "makes a link whose target lies outside the project",
            Self::Privilege => "runs with other privileges or in another view of the system",
            Self::Interactive => "opens a prompt, an editor or a pager from which anything runs",
            Self::Inline => "runs code that stands in the command or comes from standard input",
            Self::ChangesShell => "changes what later words of the shell mean",
            Self::Evaluates => "evaluates its text once more",
            Self::Service => "changes or uses a service outside the sandbox",
            Self::Installs => "installs or publishes something beyond the project",
            Self::Process => "acts on other processes",
            Self::OwnCli => "is Artel itself, which only a person may command",
            Self::Device => "names a device or another process's files",
            Self::Remote => "runs a command on another machine",
            Self::Unknown => "is not known to be harmless",
            Self::Loses => "loses or rewrites work that is nowhere else",
            Self::OpenWords => "gets words that are not known yet, and they could be harmful here",
            Self::TooDeep => "is wrapped too deep to be judged",
        }
    }
}

/// Returns whether a doubt of this name leaves no question about which programs start: it
/// is about the files and resources they touch.
pub(crate) fn is_about_effects(rule: &str) -> bool {
    // A link that leads out is not listed: it may be another name for a program.
    const EFFECTS: [DoubtReason; 7] = [
        DoubtReason::Writes,
        DoubtReason::Elsewhere,
        DoubtReason::Sends,
        DoubtReason::Socket,
        DoubtReason::Process,
        DoubtReason::Device,
        DoubtReason::Loses,
    ];
    EFFECTS.iter().any(|why| why.rule() == rule)
}
