//! What these tests are made of: a house to run the binary in, and what was seen of it.

mod house;
mod lowered;
mod mask;
mod named;
mod record;
mod run;
mod standin;
mod tree;

pub(crate) use house::{ADA, House};
pub(crate) use lowered::lowered;
pub(crate) use mask::masked;
pub(crate) use named::tests_that_are_there;
pub(crate) use record::{days_ago, notes, old_run};
pub(crate) use run::{Artel, Seen};
pub(crate) use standin::{KEY, entry, obliging, provider};
pub(crate) use tree::{Tree, holding};
