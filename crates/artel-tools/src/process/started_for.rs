//! Why a process is started, and so which of the places for processes it may take.
//!
//! The last places are kept for what a person started and waits for. What agents start, however
//! many they are, never takes those.

use artel_sandbox::slots::Who;

/// Why a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartedFor {
    /// A person typed it: `artel tool run`.
    TypedCommand,
    /// A hook in the person's own settings goes off.
    OwnHook,
    /// The checks of a project are run before a plan begins, and the person waits at a terminal.
    AttendedBaseline,
    /// The same, and nobody waits.
    UnattendedBaseline,
    /// A hook of a workshop, a role or a project goes off.
    OtherHook,
    /// An agent called a tool, or a skill's text has a command in it.
    Agent,
    /// The runtime checks what an agent left.
    Proof,
}

impl StartedFor {
    /// All reasons there are.
    pub const ALL: [Self; 7] = [
        Self::TypedCommand,
        Self::OwnHook,
        Self::AttendedBaseline,
        Self::UnattendedBaseline,
        Self::OtherHook,
        Self::Agent,
        Self::Proof,
    ];

    /// Returns on whose behalf the process waits for a place. This is the only place that decides
    /// it.
    pub fn on_behalf(self) -> Who {
        match self {
            Self::TypedCommand | Self::OwnHook | Self::AttendedBaseline => Who::Person,
            Self::UnattendedBaseline | Self::OtherHook | Self::Agent | Self::Proof => Who::Agent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_started_may_take_the_places_kept_for_people() {
        let people: Vec<_> = StartedFor::ALL
            .into_iter()
            .filter(|it| it.on_behalf() == Who::Person)
            .collect();
        assert_eq!(
            people,
            [
                StartedFor::TypedCommand,
                StartedFor::OwnHook,
                StartedFor::AttendedBaseline
            ]
        );
    }
}
