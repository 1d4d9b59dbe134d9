//! The stand-ins themselves, where the providers' SDKs do not reach: plans, manners, and what is
//! refused.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod asking;
mod manner;
mod planned;
mod refused;
