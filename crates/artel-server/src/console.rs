//! The web console: pages rendered here, live by the same events as everything else.

mod login;

use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use crate::desk::Desk;

/// Returns the routes of the console.
pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new().route("/login", get(login::by_link))
}

/// Tells somebody who is not known how to come in.
pub(crate) fn stranger() -> Html<&'static str> {
    Html(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Artel: sign in</title>\
         <h1>Sign in</h1><p>Run <code>artel open</code> in a terminal and follow the link it \
         prints. It holds for a minute and works once.</p></html>",
    )
}
