//! A request as a file in `Inbox/Requests`: frontmatter, then the words as they were said.
//!
//! It is written here. It is read by `artel_skills::read_request`, the one reader of frontmatter:
//! what the strict check takes and what the inbox takes cannot drift apart.

use artel_types::plan::{Urgency, Verify};
use artel_types::{Timestamp, TraceId};

use crate::front;

/// The heading before the words.
const HEADING: &str = "# Request";

/// How a request stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody has taken it up.
    #[default]
    Pending,
    /// It is being read.
    Processing,
    /// There is a plan to review.
    Planned,
    /// Its plan is being carried out.
    Active,
    /// It was a question.
    Answered,
    /// It is done.
    Done,
    /// It could not be done.
    Failed,
    /// A person turned its plan down.
    Rejected,
    /// A person called it off.
    Cancelled,
    /// It is put away.
    Archived,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A command.
    Cli,
    /// A file that somebody put into the folder.
    #[default]
    File,
    /// Questions that a person answered.
    Interactive,
    /// A program that speaks HTTP.
    Api,
    /// A page of the console.
    Console,
}

/// A request with everything that its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The piece of work.
    pub trace: TraceId,
    /// When it was made.
    pub created: Timestamp,
    /// How it stands.
    pub status: Status,
    /// How urgent it is.
    pub priority: Urgency,
    /// The role that is asked.
    pub agent: String,
    /// Where it came from.
    pub source: Origin,
    /// Who asked.
    pub created_by: String,
    /// What it is about.
    pub portal: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How its steps are to be verified.
    pub verify: Option<Verify>,
    /// The flow that it names; requests with one are not taken up yet.
    pub flow: Option<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The words, verbatim.
    pub words: String,
}

/// What was read from a file: where a field is missing, whoever takes the file up completes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFields {
    /// Whether there was frontmatter at all.
    pub has_front: bool,
    /// The piece of work.
    pub trace: Option<TraceId>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// How it stands.
    pub status: Option<Status>,
    /// How urgent it is.
    pub priority: Option<Urgency>,
    /// The role that is asked.
    pub agent: Option<String>,
    /// Where it came from.
    pub source: Option<Origin>,
    /// Who asked.
    pub created_by: Option<String>,
    /// What it is about.
    pub portal: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How its steps are to be verified.
    pub verify: Option<Verify>,
    /// The flow that it names; requests with one are not taken up yet.
    pub flow: Option<String>,
    /// The skill that it names by `skill`; requests with one are not taken up yet.
    pub skill: Option<String>,
    /// The skills that it names by `skills`; requests with one are not taken up yet.
    pub skills: Vec<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The words, verbatim.
    pub words: String,
}

impl Status {
    /// Every one there is.
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Processing,
        Self::Planned,
        Self::Active,
        Self::Answered,
        Self::Done,
        Self::Failed,
        Self::Rejected,
        Self::Cancelled,
        Self::Archived,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Planned => "planned",
            Self::Active => "active",
            Self::Answered => "answered",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Archived => "archived",
        }
    }

    /// Returns the status that a word stands for.
    pub fn of(word: &str) -> Option<Self> {
        // Other tools say `completed` for what is done.
        let word = if word == "completed" { "done" } else { word };
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl Origin {
    /// Every one there is.
    pub const ALL: [Self; 5] = [
        Self::Cli,
        Self::File,
        Self::Interactive,
        Self::Api,
        Self::Console,
    ];

    /// Those that whoever writes a file may name; of the others only Artel itself knows.
    pub const OF_FILES: [Self; 3] = [Self::Cli, Self::File, Self::Interactive];

    /// Returns the origin that a word stands for.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::File => "file",
            Self::Interactive => "interactive",
            Self::Api => "api",
            Self::Console => "console",
        }
    }
}

/// Writes a request.
pub fn render(request: &Request) -> String {
    let mut text = String::from("---\n");
    let mut key = |key: &str, value: String| text.push_str(&format!("{key}: {value}\n"));
    key("trace_id", front::always_quoted(&request.trace.to_string()));
    key("created", request.created.to_string());
    key("status", request.status.as_str().to_owned());
    key("priority", request.priority.to_string());
    key("agent", front::quoted(&request.agent));
    key("source", request.source.as_str().to_owned());
    key("created_by", front::quoted(&request.created_by));
    if let Some(portal) = &request.portal {
        key("portal", front::quoted(portal));
    }
    if !request.tags.is_empty() {
        key("tags", front::listed(&request.tags));
    }
    if let Some(verify) = request.verify {
        key("verify", verify.to_string());
    }
    if let Some(flow) = &request.flow {
        key("flow", front::quoted(flow));
    }
    for line in &request.other {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!("---\n\n{HEADING}\n\n{}\n", request.words));
    text
}

/// Returns the words without the heading that was put before them, and without the line ends
/// around them.
pub fn words_of(body: &str) -> String {
    let body = body.trim_start_matches(['\n', '\r']);
    let rest = body.strip_prefix(HEADING);
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    let words = rest.unwrap_or(body).trim_start_matches(['\n', '\r']);
    words.trim_end_matches(['\n', '\r']).to_owned()
}

#[cfg(test)]
mod tests;
