//! Commands behind the walls, watched to their end: what they print, how they are ended, what is
//! left of them, and how many run at once.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod ends;
mod floods;
mod many;
mod support;
