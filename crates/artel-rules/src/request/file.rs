//! A request as a file in `Inbox/Requests`: frontmatter, then the words as they were said.

use artel_types::plan::{Urgency, Verify};
use artel_types::{Timestamp, TraceId};

use crate::front::{self, Entry, Parts};

/// The heading before the words.
const HEADING: &str = "# Request";
/// How many characters a value may have.
const LONGEST_VALUE: usize = 500;

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
    /// The flow that it goes through.
    pub flow: Option<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The words, verbatim.
    pub words: String,
}

/// What was read from a file: where a field is missing, whoever takes the file up completes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
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
    /// The flow that it goes through.
    pub flow: Option<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
    /// The words, verbatim.
    pub words: String,
}

/// A field of a file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{field}` {what}; {remedy}")]
pub struct Wrong {
    /// The field.
    pub field: String,
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
    /// What to do.
    pub remedy: String,
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

    fn read(word: &str) -> Option<Self> {
        // Other tools say `completed` for what is done.
        let word = if word == "completed" { "done" } else { word };
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl Origin {
    /// Every one there is.
    pub const ALL: [Self; 3] = [Self::Cli, Self::File, Self::Interactive];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::File => "file",
            Self::Interactive => "interactive",
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

/// Reads a request. Plain Markdown without frontmatter is one too; a field that is there and
/// cannot be used is said with its line and what it may be.
pub fn parse(text: &str) -> Result<Read, Vec<Wrong>> {
    let broken = |broken: front::Broken| {
        vec![Wrong {
            field: "frontmatter".to_owned(),
            line: broken.line,
            what: broken.what,
            remedy: broken.remedy.to_owned(),
        }]
    };
    let (entries, body, body_line) = match front::split(text).map_err(broken)? {
        Some(Parts {
            entries,
            body,
            body_line,
        }) => (Some(entries), body, body_line),
        None => (None, text.strip_prefix('\u{feff}').unwrap_or(text), 1),
    };
    let mut wrong = Vec::new();
    let mut read = Read {
        has_front: entries.is_some(),
        words: words(body),
        ..Read::default()
    };
    for entry in entries.iter().flatten() {
        if let Err((what, remedy)) = take(&mut read, entry) {
            wrong.push(Wrong {
                field: entry.key.clone(),
                line: entry.line,
                what,
                remedy,
            });
        }
    }
    if read.words.trim().is_empty() {
        wrong.push(Wrong {
            field: "body".to_owned(),
            line: body_line,
            what: "says nothing".to_owned(),
            remedy: "write below the frontmatter what is wanted".to_owned(),
        });
    }
    if wrong.is_empty() {
        Ok(read)
    } else {
        Err(wrong)
    }
}

/// Returns the words without the heading that was put before them, and without the line ends
/// around them.
fn words(body: &str) -> String {
    let body = body.trim_start_matches(['\n', '\r']);
    let rest = body.strip_prefix(HEADING);
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    let words = rest.unwrap_or(body).trim_start_matches(['\n', '\r']);
    words.trim_end_matches(['\n', '\r']).to_owned()
}

fn take(read: &mut Read, entry: &Entry) -> Result<(), (String, String)> {
    match &*entry.key {
        "trace_id" => {
            let form = "a UUID of version 4 such as `3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d`";
            read.trace = value(entry, form, |text| text.parse().ok().filter(is_version_4))?;
        }
        "created" => {
            let form = "a moment such as `2026-11-15T08:30:00Z`";
            read.created = value(entry, form, |text| {
                text.parse().ok().filter(|_| text.len() > 10)
            })?;
        }
        "status" => {
            let words = Status::ALL.map(Status::as_str).join(", ");
            read.status = value(entry, &format!("one of {words}"), Status::read)?;
        }
        "priority" => {
            let form = one_of(Urgency::ALL.iter().map(|it| it.as_str()));
            read.priority = value(entry, &form, |text| text.parse().ok())?;
        }
        "source" => {
            let form = one_of(Origin::ALL.iter().map(|it| it.as_str()));
            let find = |text: &str| Origin::ALL.into_iter().find(|it| it.as_str() == text);
            read.source = value(entry, &form, find)?;
        }
        "verify" => {
            let form = one_of(Verify::ALL.iter().map(|it| it.as_str()));
            read.verify = value(entry, &form, |text| text.parse().ok())?;
        }
        "agent" => read.agent = value(entry, "the name of a role", name)?,
        "created_by" => read.created_by = value(entry, "a name", filled)?,
        "portal" => read.portal = value(entry, "the name of a portal", filled)?,
        "flow" => read.flow = value(entry, "the name of a flow", name)?,
        "tags" => {
            let list = "write a list such as `[a, b]`".to_owned();
            let tags = entry
                .texts()
                .map_err(|why| (format!("cannot be used: {why}"), list.clone()))?;
            if tags.iter().any(|tag| filled(tag).is_none()) {
                return Err(("holds an empty or too long tag".to_owned(), list));
            }
            read.tags = tags;
        }
        _ => read.other.extend(entry.raw.iter().cloned()),
    }
    Ok(())
}

/// Reads a value that may not be empty where its key stands.
fn value<T>(
    entry: &Entry,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, (String, String)> {
    let remedy = format!("write {expected}");
    let shown = crate::plan::shown;
    match entry.text() {
        Ok(None) => Err((
            "is empty".to_owned(),
            format!("{remedy}, or take the line out"),
        )),
        Ok(Some(text)) => match parse(&text) {
            Some(value) => Ok(Some(value)),
            None => Err((format!("cannot be `{}`", shown(&text)), remedy)),
        },
        Err(why) => Err((format!("cannot be used: {why}"), remedy)),
    }
}

fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    format!("one of {}", words.join(", "))
}

fn is_version_4(trace: &TraceId) -> bool {
    let text = trace.to_string();
    let is_variant = text
        .chars()
        .nth(19)
        .is_some_and(|c| matches!(c, '8' | '9' | 'a' | 'b'));
    text.chars().nth(14) == Some('4') && is_variant
}

fn filled(text: &str) -> Option<String> {
    let is_good = !text.trim().is_empty() && text.chars().count() <= LONGEST_VALUE;
    is_good.then(|| text.to_owned())
}

fn name(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_good = !text.is_empty() && text.len() <= 100 && text.chars().all(is_plain);
    is_good.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
