//! Metrics for Prometheus.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use super::ApiError;
use super::refusal::ApiErrorReply;
use super::seat::{AuthorizedCaller, Developer};
use crate::telemetry::{MetricsGauges, page};

/// Returns metrics of runs, turns, recoveries, tokens, cost, calls, the queue, readers and
/// requests.
#[utoipa::path(get, path = "/metrics", tag = "server", operation_id = "metrics",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = String, content_type = "text/plain"), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn metrics(by: AuthorizedCaller<Developer>) -> Result<Response, ApiError> {
    let desk = std::sync::Arc::clone(&by.desk);
    let text = by.desk.look(move || {
        desk.glance(|board, drivers| {
            let mut waits = BTreeMap::new();
            for wait in board.waiting(drivers) {
                *waits.entry(wait.kind.as_str()).or_default() += 1;
            }
            let now = MetricsGauges {
                standings: board.standings(drivers),
                waits,
                queued: desk.load.waiting.load(Ordering::Relaxed),
                under_way: desk.load.under_way.load(Ordering::Relaxed),
                readers: desk
                    .most_streams
                    .saturating_sub(desk.streams.available_permits()),
                head: board.position(),
            };
            page(board.meter(), &now, &desk.traffic)
        })
    });
    let kind = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((kind, text.await?).into_response())
}
