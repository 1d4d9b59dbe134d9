//! Telemetry for operators of many machines: metrics for Prometheus, and traces for
//! OpenTelemetry collectors.

mod collector;
mod page;
mod spans;
mod traffic;

pub(crate) use collector::send;
pub(crate) use page::{Now, page};
pub(crate) use traffic::{Traffic, count};
