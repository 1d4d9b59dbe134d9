//! Who watches a run while it happens. What is on record they read in the journal; this is what
//! passes without being recorded.

/// Watches a run.
pub trait Audience: Send + Sync {
    /// The model says more.
    fn words(&self, text: &str);
    /// What was said in the attempt under way is void.
    fn begins(&self);
    /// A command printed something, secrets taken out.
    fn output(&self, text: &str);
    /// The run waits, and for what.
    fn waits(&self, what: &str);
    /// Something a person should know.
    fn notice(&self, text: &str);
    /// Nothing is done, for a person paused it, until what is returned is dropped.
    fn rests(&self) -> Option<Spell> {
        None
    }
    /// Whoever has several at work says that not all of them rest, until what is returned is
    /// dropped: one of them that does is then no sign that the others do.
    fn works(&self) -> Option<Spell> {
        None
    }
}

/// Something that lasts until this is dropped.
pub type Spell = Box<dyn Send>;

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Audience for Nobody {
    fn words(&self, _: &str) {}
    fn begins(&self) {}
    fn output(&self, _: &str) {}
    fn waits(&self, _: &str) {}
    fn notice(&self, _: &str) {}
}
