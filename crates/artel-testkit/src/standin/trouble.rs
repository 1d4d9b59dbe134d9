//! Why a provider does not answer, before it is put into the provider's words.

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The plan specifies this status.
    Status(u16),
    TooLong,
    NoQuota,
    NoKey,
    WrongKey(String),
    NoModel(String),
    /// The provider does not serve this path.
    NoRoute(String),
    /// The request is not valid; the text says where.
    Unfit(String),
    /// The plan is used up.
    PlanSpent,
}

/// A refusal, with the details that a provider adds.
pub(super) struct Refusal<'a> {
    pub(super) trouble: Trouble,
    pub(super) retry_after: Option<&'a str>,
    pub(super) request_id: &'a str,
}

impl Trouble {
    /// Returns the status that most providers use for it.
    pub(super) fn usual_status(&self) -> u16 {
        match self {
            Self::Status(status) => *status,
            Self::TooLong | Self::Unfit(_) => 400,
            Self::NoQuota => 429,
            Self::NoKey | Self::WrongKey(_) => 401,
            Self::NoModel(_) | Self::NoRoute(_) => 404,
            Self::PlanSpent => 500,
        }
    }

    /// Returns the same for providers without status 529, which is Anthropic's own.
    pub(super) fn status_elsewhere(&self) -> u16 {
        match self.usual_status() {
            529 => 503,
            status => status,
        }
    }

    /// Returns text for people, where the provider's own wording does not matter.
    pub(super) fn plainly(&self) -> String {
        match self {
            Self::Status(status) => format!("the stand-in was told to answer {status}"),
            Self::TooLong => "the conversation is too long for the model".to_owned(),
            Self::NoQuota => "the quota of this account is used up".to_owned(),
            Self::NoKey => "there is no key".to_owned(),
            Self::WrongKey(key) => format!("the key `{key}` is wrong"),
            Self::NoModel(model) => format!("model: {model}"),
            Self::NoRoute(path) => format!("nothing is served at {path}"),
            Self::Unfit(why) => why.clone(),
            Self::PlanSpent => {
                "the stand-in has no answer left: its plan has fewer answers than it got requests"
                    .to_owned()
            }
        }
    }
}
