//! What is measured, for those who watch over many machines: numbers for Prometheus, and traces for
//! a collector of OpenTelemetry.

mod collector;
mod page;
mod spans;
mod traffic;

pub(crate) use collector::send;
pub(crate) use page::{Now, page};
pub(crate) use traffic::{Traffic, count};
