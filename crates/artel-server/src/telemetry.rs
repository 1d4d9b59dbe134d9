//! Telemetry for operators of many machines: metrics for Prometheus, and traces for
//! OpenTelemetry collectors.

mod collector;
mod page;
mod spans;
mod traffic;

pub(crate) use collector::send;
pub(crate) use page::{MetricsGauges, page};
pub(crate) use traffic::{HttpTrafficCounter, count};
