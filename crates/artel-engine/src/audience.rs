//! The interface for watching a run live. Recorded events are read from the journal;
//! observers get what passes without being recorded.

/// Watches a run live.
pub trait RunObserver: Send + Sync {
    /// The model streams more text.
    fn words(&self, text: &str);
    /// The text streamed by the current attempt is void.
    fn begins(&self);
    /// A command printed output, with its secrets removed.
    fn output(&self, text: &str);
    /// The run waits for `what`.
    fn waits(&self, what: &str);
    /// Something that the person should know.
    fn notice(&self, text: &str);
    /// The run rests because a person paused it, until the returned value is dropped.
    fn rests(&self) -> Option<Spell> {
        None
    }
    /// At least one of several parts is working, until the returned value is dropped. A
    /// single part that rests is then no sign that the others do.
    fn works(&self) -> Option<Spell> {
        None
    }
}

/// A state that lasts until this value is dropped.
pub type Spell = Box<dyn Send>;

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullRunObserver;

impl RunObserver for NullRunObserver {
    fn words(&self, _: &str) {}
    fn begins(&self) {}
    fn output(&self, _: &str) {}
    fn waits(&self, _: &str) {}
    fn notice(&self, _: &str) {}
}
