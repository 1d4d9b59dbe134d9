//! Names that agents never write, and files that they do not read.
//!
//! Everything here looks at names only. The caller passes a path that is already resolved:
//! relative to its root, free of links, found by handle. Names are protected whether or
//! not the file exists, because creating a configuration file for the first time is the
//! attack.

mod fold;
mod lexical;
mod protected;
mod sensitive;

pub use lexical::{LexicalLocation, lexical};
pub use protected::{protected, protected_names};
pub use sensitive::sensitive;

#[cfg(test)]
mod tests;
