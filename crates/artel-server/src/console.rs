//! The web console. Its pages are rendered here and updated by the same live events that
//! programs get.
//!
//! A page is a plain struct that is filled from the workshop and rendered by a template of
//! the same name. Templates escape everything they are given, without exception, and the
//! rendered page is checked once more for deceptive characters: text of models, tools and
//! files is shown, never obeyed.

mod agents;
mod assets;
mod call;
mod changeset;
mod changesets;
mod coded;
mod evidence;
mod frame;
mod graph;
mod journal;
mod login;
mod now;
mod older;
mod plan;
mod plans;
mod policies;
mod prose;
mod questions;
mod reports;
mod run;
mod runs;
mod settings;
mod skills;
#[cfg(test)]
mod tests;
mod usage;
mod words;
mod wrong;

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;

use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

pub(crate) fn router() -> Router<Arc<ServerState>> {
    Router::new()
        .route(
            "/login",
            get(login::page)
                .head(|| async { StatusCode::METHOD_NOT_ALLOWED })
                .post(login::by_code),
        )
        .route("/assets/{name}", get(assets::asset))
        .route("/", get(now::page))
        .route("/plans", get(plans::page))
        .route("/plans/{id}", get(plan::page))
        .route("/plans/{id}/text", get(plan::text))
        .route("/runs", get(runs::page))
        .route("/runs/{id}", get(run::page))
        .route("/runs/{id}/calls/{event}", get(call::page))
        .route("/changesets", get(changesets::page))
        .route("/changesets/{id}", get(changeset::page))
        .route("/skills", get(skills::page))
        .route("/skills/{name}", get(skills::one))
        .route("/agents", get(agents::page))
        .route("/agents/{id}", get(agents::one))
        .route("/usage", get(usage::page))
        .route("/journal", get(journal::page))
        .route("/settings", get(settings::page))
        .route("/reports", get(reports::page))
        .route("/reports/{id}", get(reports::one))
}

/// Returns the page that tells an unauthenticated person how to sign in.
pub(crate) fn stranger() -> Html<&'static str> {
    Html(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>Artel: sign in</title><link rel=\"stylesheet\" href=\"/assets/console.css\">\
         <main class=\"door\"><p class=\"brand\">Artel</p><h1>Sign in</h1>\
         <p>Run <code>artel open</code> in a terminal and follow the link it \
         prints, just as it is: the console has a host name of its own. \
         The link holds for a minute and works once.</p></main></html>",
    )
}

/// Answers for a path that no route has: with JSON below `/api/`, else with a page.
pub(crate) async fn nothing_here(who: AuthenticatedCaller, uri: Uri) -> Response {
    if uri.path().starts_with("/api/") {
        return crate::api::nothing_here().await;
    }
    let failure = artel_types::Failure::new(
        artel_types::FailureCode::W005,
        "there is nothing at this address",
    )
    .advise("the menu leads to every page there is");
    frame::trouble(&who, failure).into_response()
}
