//! Who may decide about what waits. Routes declare the access they require by their types;
//! this is the same rule for lists and pages, which must not offer a decision that the
//! route would refuse. A test compares the two.

use artel_types::{GrantReach, RunAsked};
use artel_workshop::{AttentionItem, AttentionKind, ViewerRole, answer_settles};

use crate::door::AuthenticatedCaller;

/// The access that a decision requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionRequirement {
    /// The least role.
    pub(crate) role: ViewerRole,
    /// Whether it takes a person and not a program.
    pub(crate) in_person: bool,
}

impl DecisionRequirement {
    const fn of(role: ViewerRole) -> Self {
        Self {
            role,
            in_person: false,
        }
    }

    const fn person(role: ViewerRole) -> Self {
        Self {
            role,
            in_person: true,
        }
    }

    fn is_met_by(self, who: &AuthenticatedCaller) -> bool {
        who.pass.role >= self.role && !(self.in_person && who.pass.is_program)
    }
}

/// Returns who may decide about a kind of waiting item, judged by the first thing to do
/// about it: a failed plan can also be cancelled by the person who asked for it, but it
/// waits for someone to try it again.
pub(crate) fn needed(sort: AttentionKind) -> DecisionRequirement {
    match sort {
        AttentionKind::Question | AttentionKind::Plan => {
            DecisionRequirement::person(ViewerRole::User)
        }
        AttentionKind::Failed => DecisionRequirement::of(ViewerRole::User),
        AttentionKind::Call | AttentionKind::Changeset | AttentionKind::Unfinished => {
            DecisionRequirement::person(ViewerRole::Developer)
        }
        AttentionKind::Left | AttentionKind::Paused => {
            DecisionRequirement::of(ViewerRole::Developer)
        }
    }
}

/// The role needed to grant a rule permanently, by an answer or directly.
pub(crate) const TO_GRANT: ViewerRole = ViewerRole::Admin;

/// Returns how far an approval by the caller may reach.
pub(crate) fn widest_grant(who: &AuthenticatedCaller) -> GrantReach {
    if DecisionRequirement::person(TO_GRANT).is_met_by(who) {
        GrantReach::Always
    } else {
        GrantReach::Run
    }
}

/// Returns the role that an answer requires. Only a developer may settle the fate of a
/// plan's step, as with the routes for it; anyone may answer an agent's question.
pub(crate) fn needed_to_answer(asked: &RunAsked, answer: &str) -> ViewerRole {
    if answer_settles(asked, answer) {
        ViewerRole::Developer
    } else {
        ViewerRole::User
    }
}

/// Returns the choices of a question that the caller may make.
pub(crate) fn choices_of(who: &AuthenticatedCaller, waits: &AttentionItem) -> Vec<String> {
    let may_settle = who.pass.role >= ViewerRole::Developer;
    let choices = waits.choices.iter();
    let choices = choices.filter(|choice| may_settle || !waits.settling.contains(choice));
    choices.cloned().collect()
}

/// Returns whether the caller may decide about a waiting item. A question whose every
/// answer is reserved for another role is not theirs to decide.
pub(crate) fn decides(who: &AuthenticatedCaller, waits: &AttentionItem) -> bool {
    let has_answer = waits.choices.is_empty() || !choices_of(who, waits).is_empty();
    needed(waits.kind).is_met_by(who) && has_answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the route that decides about each kind of waiting item.
    fn route(sort: AttentionKind) -> &'static str {
        match sort {
            AttentionKind::Call => "/api/v1/waiting/calls/{id}",
            AttentionKind::Question => "/api/v1/runs/{id}/answer",
            AttentionKind::Plan => "/api/v1/plans/{id}/approve",
            AttentionKind::Changeset => "/api/v1/changesets/{id}/approve",
            AttentionKind::Failed => "/api/v1/plans/{id}/revise",
            AttentionKind::Unfinished => "/api/v1/plans/{id}/retry",
            AttentionKind::Left | AttentionKind::Paused => "/api/v1/requests/{id}/resume",
        }
    }

    #[test]
    fn whoever_decides_is_whom_the_route_lets_in() {
        let description = crate::openapi();
        for sort in AttentionKind::ALL {
            let about = &description["paths"][route(sort)]["post"];
            let needed = needed(sort);
            assert_eq!(about["x-role"], needed.role.as_str(), "{sort:?}");
            assert_eq!(about["x-person"] == true, needed.in_person, "{sort:?}");
        }
    }

    #[test]
    fn what_becomes_of_a_step_is_a_developers_to_say() {
        let asked = |call: Option<&str>| RunAsked {
            question: "mend/3/0".to_owned(),
            text: "Step 1 did not pass".to_owned(),
            choices: ["more", "waive-tester", "skip", "cancel"]
                .map(str::to_owned)
                .to_vec(),
            call: call.map(str::to_owned),
            suggested: None,
        };
        let needed = |answer: &str| needed_to_answer(&asked(None), answer);
        assert_eq!(needed("more: look at the log"), ViewerRole::User);
        for answer in [
            "skip",
            "3",
            "skip: not now",
            "waive-tester: known",
            "2",
            "cancel",
        ] {
            assert_eq!(needed(answer), ViewerRole::Developer, "{answer}");
        }
        assert_eq!(
            needed_to_answer(&asked(Some("1.1")), "skip"),
            ViewerRole::User
        );
    }
}
