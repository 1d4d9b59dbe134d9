//! Writes a request as a file in `Inbox/Requests`: frontmatter, then the verbatim text.
//!
//! The file is read by `artel_skills::read_request`, the only reader of frontmatter, so
//! that the strict check and the inbox cannot drift apart.

use artel_types::plan::{StepVerification, Urgency};
use artel_types::{Timestamp, TraceId};

use crate::front;

/// The heading before the text.
const HEADING: &str = "# Request";

/// The state of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RequestStatus {
    /// Nobody has taken it up.
    #[default]
    Pending,
    /// It is being read.
    Processing,
    /// There is a plan to review.
    Planned,
    /// Its plan is being carried out.
    Active,
    /// It was a question and was answered.
    Answered,
    /// It was carried out.
    Done,
    /// It could not be carried out.
    Failed,
    /// A person rejected its plan.
    Rejected,
    /// A person cancelled it.
    Cancelled,
    /// It was put away.
    Archived,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RequestOrigin {
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

/// A request with everything in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The trace of the work.
    pub trace: TraceId,
    /// When the request was made.
    pub created: Timestamp,
    pub status: RequestStatus,
    pub priority: Urgency,
    /// The role that is asked.
    pub agent: String,
    pub source: RequestOrigin,
    /// The person who asked.
    pub created_by: String,
    /// The portal that the request is about.
    pub portal: Option<String>,
    /// Words for finding the request.
    pub tags: Vec<String>,
    /// The way in which the steps are verified.
    pub verify: Option<StepVerification>,
    /// The flow that the request names; requests with a flow are not taken up yet.
    pub flow: Option<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The text of the request, verbatim.
    pub words: String,
}

/// The fields read from a file. Missing fields are completed when the file is taken up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedRequestFile {
    /// Whether the file has any frontmatter.
    pub has_front: bool,
    /// The trace of the work.
    pub trace: Option<TraceId>,
    /// When the request was made.
    pub created: Option<Timestamp>,
    pub status: Option<RequestStatus>,
    pub priority: Option<Urgency>,
    /// The role that is asked.
    pub agent: Option<String>,
    pub source: Option<RequestOrigin>,
    /// The person who asked.
    pub created_by: Option<String>,
    /// The portal that the request is about.
    pub portal: Option<String>,
    /// Words for finding the request.
    pub tags: Vec<String>,
    /// The way in which the steps are verified.
    pub verify: Option<StepVerification>,
    /// The flow that the request names; requests with a flow are not taken up yet.
    pub flow: Option<String>,
    /// The skill named by `skill`; requests with one are not taken up yet.
    pub skill: Option<String>,
    /// The skills named by `skills`; requests with any are not taken up yet.
    pub skills: Vec<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The text of the request, verbatim.
    pub words: String,
}

impl RequestStatus {
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

    /// Returns the word used in files.
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

    /// Returns the status with this word.
    pub fn of(word: &str) -> Option<Self> {
        // Other tools write `completed` for `done`.
        let word = if word == "completed" { "done" } else { word };
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl RequestOrigin {
    pub const ALL: [Self; 5] = [
        Self::Cli,
        Self::File,
        Self::Interactive,
        Self::Api,
        Self::Console,
    ];

    /// Those that whoever writes a file may name; of the others only Artel itself knows.
    pub const OF_FILES: [Self; 3] = [Self::Cli, Self::File, Self::Interactive];

    /// Returns the origin with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Returns the word used in files.
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

/// Writes the file of a request.
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

/// Returns the text without the heading before it and without the line ends around it.
pub fn words_of(body: &str) -> String {
    let body = body.trim_start_matches(['\n', '\r']);
    let rest = body.strip_prefix(HEADING);
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    let words = rest.unwrap_or(body).trim_start_matches(['\n', '\r']);
    words.trim_end_matches(['\n', '\r']).to_owned()
}

#[cfg(test)]
mod tests;
