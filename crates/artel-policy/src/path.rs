//! Which names agents never write, and which files they do not read.
//!
//! Everything here is about names alone. The caller hands in a path that was resolved already:
//! relative to its root, free of links, found by handle. Names are protected whether or not the
//! file exists, because the first creation of a configuration file is the attack.

mod fold;
mod lexical;
mod protected;
mod sensitive;

pub use lexical::{Lexical, lexical};
pub use protected::{protected, protected_names};
pub use sensitive::sensitive;

#[cfg(test)]
mod tests;
