//! Everything that waits for a person, as cards with the possible actions.

use artel_types::{GrantOffer, GrantReach};
use artel_workshop::{AttentionItem, AttentionKind, CallApprovalView};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{InlineCodeText, coded};
use super::words::{self, TimeLabel};

/// A card for something that is decided on a page of its own.
#[derive(Debug, Clone)]
pub(super) struct PendingDecisionRow {
    /// The id to refer to it by.
    pub(super) id: String,
    pub(super) sort: &'static str,
    pub(super) href: String,
    pub(super) title: String,
    pub(super) text: InlineCodeText,
    pub(super) since: TimeLabel,
}

/// A question that is answered in place.
#[derive(Debug, Clone)]
pub(super) struct QuestionForm {
    /// The id of the input field, which its label refers to.
    pub(super) field: String,
    pub(super) run: String,
    /// The question's id, if the run asks several.
    pub(super) question: Option<String>,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) choices: Vec<QuestionFormChoice>,
    /// The answers that only another role may give.
    pub(super) elsewhere: Vec<String>,
    /// The text that is filled in as the answer.
    pub(super) suggested: String,
    pub(super) since: TimeLabel,
}

/// One of the answers that a question offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QuestionFormChoice {
    pub(super) value: String,
    /// Whether a reason can be added, which is recorded and read by someone.
    pub(super) takes_reason: bool,
    /// Whether the answer is invalid without a reason.
    pub(super) needs_reason: bool,
    /// The consequence to confirm, if the answer cannot be taken back.
    pub(super) sure: Option<&'static str>,
}

/// A call that waits for approval.
#[derive(Debug, Clone)]
pub(super) struct CallApprovalForm {
    pub(super) id: String,
    pub(super) trace: String,
    pub(super) tool: String,
    /// `None` if the viewer may not see what the call would do.
    pub(super) shown: Option<CallApprovalDetails>,
}

/// The details of what a call would do.
#[derive(Debug, Clone)]
pub(super) struct CallApprovalDetails {
    pub(super) why: String,
    pub(super) what: String,
    /// The beginning of `what`, repeated in the dialogue that confirms an approval.
    pub(super) brief: String,
    pub(super) hash: String,
    /// The rules that an approval for the run grants; `None` if none is offered.
    pub(super) for_run: Option<String>,
    /// The rules that a permanent approval grants; `None` if none is offered or the viewer
    /// may not give it.
    pub(super) always: Option<String>,
}

/// Number of characters of a call that the confirmation repeats; the card has all of it.
const BRIEF: usize = 400;

/// A request for which no plan was made.
#[derive(Debug, Clone)]
pub(super) struct UnplannedRequestRow {
    /// The id of the input field, which its label refers to.
    pub(super) field: String,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) why: InlineCodeText,
    pub(super) since: TimeLabel,
}

/// Questions and calls that are answered in place.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "needs.html")]
pub(super) struct AnswerFormsPanel {
    pub(super) calls: Vec<CallApprovalForm>,
    pub(super) queries: Vec<QuestionForm>,
}

/// The requests for which no plan was made.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "unplanned.html")]
pub(super) struct UnplannedRequestsPanel {
    pub(super) unplanned: Vec<UnplannedRequestRow>,
}

// The templates escape their values themselves.
impl HtmlSafe for AnswerFormsPanel {}
impl HtmlSafe for UnplannedRequestsPanel {}

impl UnplannedRequestsPanel {
    /// Collects the requests from the wait list.
    pub(super) fn of<'a>(waits: impl Iterator<Item = &'a AttentionItem>) -> Self {
        let failed = waits.filter(|it| it.kind == AttentionKind::Failed);
        Self {
            unplanned: failed.map(unplanned).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unplanned.is_empty()
    }
}

impl QuestionForm {
    fn has_reasons(&self) -> bool {
        self.choices.iter().any(|it| it.takes_reason)
    }

    fn needs_reason(&self) -> bool {
        self.choices.iter().any(|it| it.needs_reason)
    }
}

impl AnswerFormsPanel {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.queries.is_empty()
    }
}

/// Returns the card of something that is decided on a page of its own.
pub(super) fn card(waits: &AttentionItem) -> PendingDecisionRow {
    let href = match waits.kind {
        AttentionKind::Plan | AttentionKind::Unfinished => format!("/plans/{}", waits.id),
        AttentionKind::Changeset => format!("/changesets/{}", waits.id),
        _ => {
            format!("/runs/{}", waits.trace.short())
        }
    };
    PendingDecisionRow {
        id: waits.id.clone(),
        sort: waits.kind.as_str(),
        href,
        title: waits.title.clone(),
        text: coded(&waits.text),
        since: words::when(waits.since),
    }
}

/// Returns the form of a question with the answers that the viewer may give: `mine` of its
/// choices.
pub(super) fn query(waits: &AttentionItem, mine: &[String]) -> QuestionForm {
    let (run, question) = match waits.id.split_once('/') {
        Some((run, question)) => (run, Some(question.to_owned())),
        None => (waits.id.as_str(), None),
    };
    QuestionForm {
        field: format!("answer-{}", waits.id.replace('/', "-")),
        run: run.to_owned(),
        question,
        title: waits.title.clone(),
        text: waits.text.clone(),
        choices: choices(&waits.choices)
            .into_iter()
            .filter(|it| mine.contains(&it.value))
            .collect(),
        elsewhere: waits
            .choices
            .iter()
            .filter(|it| !mine.contains(it))
            .cloned()
            .collect(),
        suggested: waits.suggested.clone().unwrap_or_default(),
        since: words::when(waits.since),
    }
}

/// Returns the offered answers, with what each requires of a person.
///
/// Questions about a step or a change of a plan are recognized by their choices. Agents
/// word their own questions, and only the agent knows what the answers mean.
fn choices(values: &[String]) -> Vec<QuestionFormChoice> {
    let has = |word: &str| values.iter().any(|it| it == word);
    let is_step = has("more") && has("take-over") && has("give-up");
    let is_change = values.len() == 2 && has("accept") && has("reject");
    let choice = |value: &String| {
        let needs_reason = is_step && value.starts_with("waive-");
        let takes_reason = match value.as_str() {
            "more" | "skip" | "take-over" => is_step,
            "reject" => is_change,
            _ => needs_reason,
        };
        let sure = match value.as_str() {
            _ if needs_reason => {
                Some("The step may pass without this check. Your name and reason stay on record.")
            }
            "skip" if is_step => Some("The step is left out, and with it whatever needs it."),
            "give-up" if is_step => {
                Some("The step counts as failed, and what needs it is not done.")
            }
            "cancel" if is_step => Some("The whole plan is called off."),
            _ => None,
        };
        QuestionFormChoice {
            value: value.clone(),
            takes_reason,
            needs_reason,
            sure,
        }
    };
    values.iter().map(choice).collect()
}

/// Returns a request for which no plan was made, with the reason.
fn unplanned(waits: &AttentionItem) -> UnplannedRequestRow {
    UnplannedRequestRow {
        field: format!("again-{}", waits.id),
        id: waits.id.clone(),
        title: waits.title.clone(),
        why: coded(&waits.text),
        since: words::when(waits.since),
    }
}

/// Returns the form of a call, with everything it would do if the viewer may see that.
/// `widest` is how far an approval by the viewer may reach.
pub(super) fn call(seen: CallApprovalView, widest: GrantReach) -> CallApprovalForm {
    CallApprovalForm {
        id: seen.id,
        trace: seen.trace.short(),
        tool: seen.tool,
        shown: seen.shown.map(|it| CallApprovalDetails {
            for_run: beyond(it.offer.as_ref(), GrantReach::Run),
            always: beyond(it.offer.as_ref(), GrantReach::Always)
                .filter(|_| widest == GrantReach::Always),
            why: it.why,
            brief: words::short(&it.what, BRIEF),
            what: it.what,
            hash: it.hash,
        }),
    }
}

/// Returns what an approval of this reach allows, or `None` if it is not offered.
fn beyond(offer: Option<&GrantOffer>, reach: GrantReach) -> Option<String> {
    let granted = offer?.taken(reach)?;
    Some(if granted.rules.is_empty() {
        "exactly this call".to_owned()
    } else {
        granted.rules.join(", ")
    })
}

#[cfg(test)]
mod tests {
    use super::choices;

    /// Returns the choices that need a reason, those that take one, and those that must be
    /// confirmed.
    fn sorted(values: &[&str]) -> [Vec<String>; 3] {
        let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
        let all = choices(&values);
        let those = |is: fn(&super::QuestionFormChoice) -> bool| -> Vec<String> {
            let some = all.iter().filter(|it| is(it));
            some.map(|it| it.value.clone()).collect()
        };
        [
            those(|it| it.needs_reason),
            those(|it| it.takes_reason),
            those(|it| it.sure.is_some()),
        ]
    }

    #[test]
    fn what_a_step_asks_wants_reasons_and_what_agents_ask_does_not() {
        let step = [
            "more",
            "waive-tester",
            "take-over",
            "skip",
            "give-up",
            "cancel",
        ];
        let [needs, takes, sure] = sorted(&step);
        assert_eq!(needs, ["waive-tester"]);
        assert_eq!(takes, ["more", "waive-tester", "take-over", "skip"]);
        assert_eq!(sure, ["waive-tester", "skip", "give-up", "cancel"]);
        let [needs, takes, sure] = sorted(&["accept", "reject"]);
        assert_eq!(
            (needs.len(), takes, sure.len()),
            (0, vec!["reject".to_owned()], 0)
        );
        for asked in [&["skip", "cancel"][..], &["waive-all", "more"], &[]] {
            assert_eq!(sorted(asked), [vec![], vec![], Vec::<String>::new()]);
        }
    }
}
