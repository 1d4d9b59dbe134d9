//! The reason why a process is started, which decides the slots that it may take.
//!
//! The last slots are reserved for processes that a person started and waits for. Agents
//! never get those, however many processes they start.

use artel_sandbox::slots::CommandInitiator;

/// The reason why a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessStartReason {
    /// A person typed it: `artel tool run`.
    TypedCommand,
    /// A hook in the person's own settings runs.
    OwnHook,
    /// A project's checks run before a plan begins, and the person waits at a terminal.
    AttendedBaseline,
    /// A project's checks run before a plan begins, and nobody waits.
    UnattendedBaseline,
    /// A hook of a workshop, a role or a project runs.
    OtherHook,
    /// An agent called a tool, or a skill's text contains a command.
    Agent,
    /// The runtime checks the result of an agent.
    Proof,
}

impl ProcessStartReason {
    /// All reasons.
    pub const ALL: [Self; 7] = [
        Self::TypedCommand,
        Self::OwnHook,
        Self::AttendedBaseline,
        Self::UnattendedBaseline,
        Self::OtherHook,
        Self::Agent,
        Self::Proof,
    ];

    /// Returns on whose behalf the process waits for a slot. Only this function decides it.
    pub fn on_behalf(self) -> CommandInitiator {
        match self {
            Self::TypedCommand | Self::OwnHook | Self::AttendedBaseline => CommandInitiator::Person,
            Self::UnattendedBaseline | Self::OtherHook | Self::Agent | Self::Proof => {
                CommandInitiator::Agent
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_started_may_take_the_places_kept_for_people() {
        let people: Vec<_> = ProcessStartReason::ALL
            .into_iter()
            .filter(|it| it.on_behalf() == CommandInitiator::Person)
            .collect();
        assert_eq!(
            people,
            [
                ProcessStartReason::TypedCommand,
                ProcessStartReason::OwnHook,
                ProcessStartReason::AttendedBaseline
            ]
        );
    }
}
