//! Counts requests by route, method and status, and measures how long they take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use artel_workshop::DurationHistogram;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use crate::desk::ServerState;

/// Label for requests that match no route.
const NOWHERE: &str = "none";

/// Counts of the requests since the server started.
#[derive(Debug, Default)]
pub(crate) struct HttpTrafficCounter(Mutex<HttpTrafficCounts>);

/// Counts and durations of requests.
#[derive(Debug, Clone, Default)]
pub(super) struct HttpTrafficCounts {
    /// Number of requests by route, method and status.
    pub(super) requests: BTreeMap<(String, &'static str, u16), u64>,
    /// Time until the response began, by route.
    pub(super) times: BTreeMap<String, DurationHistogram>,
}

impl HttpTrafficCounter {
    fn add(&self, route: String, method: &'static str, status: u16, millis: u64) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.times.entry(route.clone()).or_default().add(millis);
        let key = (route, method, status);
        *counted.requests.entry(key).or_default() += 1;
    }

    pub(super) fn counted(&self) -> HttpTrafficCounts {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.clone()
    }
}

/// Counts a request by the pattern of its route and not by its path, so that clients cannot
/// create an unlimited number of labels.
pub(crate) async fn count(
    State(desk): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or(NOWHERE, |it| it.as_str()).to_owned();
    let method = match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    };
    let began = Instant::now();
    let response = next.run(request).await;
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    desk.traffic
        .add(route, method, response.status().as_u16(), millis);
    response
}
