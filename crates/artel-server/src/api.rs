//! The HTTP interface under `/api/v1`, with its OpenAPI description generated from the
//! code.

mod agents;
mod changesets;
mod checks;
pub(crate) mod commands;
mod daemon;
mod events;
mod health;
mod hooks;
mod journal;
mod keys;
mod metrics;
mod model_name;
mod models;
mod page;
mod plans;
mod policy;
mod portals;
mod refusal;
mod reports;
mod requests;
mod runs;
mod seat;
mod skills;
mod tokens;
mod told;
mod tools;
mod traces;
mod upkeep;
mod usage;
mod visibility;
mod waiting;

pub(crate) use journal::moment;
pub(crate) use model_name::ModelName;
pub(crate) use refusal::ApiError;
pub(crate) use requests::RequestRowCache;
pub(crate) use requests::standing_in;
pub(crate) use told::ApiJsonBody;

use std::sync::Arc;

use artel_types::{Failure, FailureCode};
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::desk::ServerState;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Artel",
        description = "A workshop for AI agents: ask, review, approve, watch, merge. Whatever \
            changes something is sent by POST as JSON; `x-role` says which role a token needs, \
            `x-person` that it may not be one for a program, `x-fresh-sign-in` that whoever comes \
            from the console signed in within the last five minutes, `x-commands` which commands \
            do the same in a terminal."
    ),
    security(("token" = [])),
    modifiers(&BearerTokenScheme)
)]
struct ApiDescription;

/// Adds the bearer token scheme, by which programs authenticate.
struct BearerTokenScheme;

impl Modify for BearerTokenScheme {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("What `artel token create` prints."))
            .build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(token));
    }
}

pub(crate) fn router() -> Router<Arc<ServerState>> {
    described().split_for_parts().0
}

/// Returns the OpenAPI description of the interface.
pub(crate) fn description() -> serde_json::Value {
    let described = described().split_for_parts().1;
    // Serializing the description to JSON cannot fail: it consists of our own types.
    let mut described = serde_json::to_value(described).unwrap_or_default();
    commands::note(&mut described);
    described
}

fn described() -> OpenApiRouter<Arc<ServerState>> {
    OpenApiRouter::with_openapi(ApiDescription::openapi())
        .merge(server())
        .merge(work())
        .merge(run())
        .merge(parts())
        .merge(house())
}

/// Routes about the server itself and the journal.
fn server() -> OpenApiRouter<Arc<ServerState>> {
    OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::openapi))
        .routes(routes!(metrics::metrics))
        .routes(routes!(events::list, events::note))
        .routes(routes!(journal::verify))
        .routes(routes!(journal::export))
        .routes(routes!(upkeep::back_up))
        .routes(routes!(upkeep::prune))
        .routes(routes!(upkeep::rubbish, upkeep::clean))
        .routes(routes!(upkeep::workshop))
        .routes(routes!(upkeep::logs))
        .routes(routes!(checks::health))
        .routes(routes!(checks::codes))
        .routes(routes!(checks::explain))
        .routes(routes!(daemon::show))
        .routes(routes!(daemon::pause))
        .routes(routes!(daemon::resume))
        .routes(routes!(daemon::reload))
        .routes(routes!(daemon::scan))
}

/// Routes about requests, plans, changesets and reports.
fn work() -> OpenApiRouter<Arc<ServerState>> {
    use plans::{decide, steps};
    OpenApiRouter::new()
        .routes(routes!(requests::list, requests::create))
        .routes(routes!(requests::preview))
        .routes(routes!(requests::show))
        .routes(routes!(requests::resume))
        .routes(routes!(plans::list, plans::create))
        .routes(routes!(plans::show))
        .routes(routes!(plans::markdown))
        .routes(routes!(plans::diff))
        .routes(routes!(decide::approve))
        .routes(routes!(decide::revise))
        .routes(routes!(decide::reject))
        .routes(routes!(decide::cancel))
        .routes(routes!(decide::edit))
        .routes(routes!(decide::retry))
        .routes(routes!(decide::skip))
        .routes(routes!(decide::waive))
        .routes(routes!(steps::pause))
        .routes(routes!(steps::resume))
        .routes(routes!(steps::cancel))
        .routes(routes!(changesets::list, changesets::decide))
        .routes(routes!(changesets::show))
        .routes(routes!(changesets::diff))
        .routes(routes!(changesets::approve))
        .routes(routes!(changesets::reject))
        .routes(routes!(changesets::undo))
        .routes(routes!(changesets::redo))
        .routes(routes!(waiting::list))
        .routes(routes!(waiting::answer))
        .routes(routes!(reports::list))
        .routes(routes!(reports::show))
        .routes(routes!(reports::rebuild))
        .routes(routes!(traces::show))
        .routes(routes!(traces::record))
}

/// Routes about runs.
fn run() -> OpenApiRouter<Arc<ServerState>> {
    use runs::{again, steer};
    OpenApiRouter::new()
        .routes(routes!(runs::list, runs::create))
        .routes(routes!(runs::show))
        .routes(routes!(runs::story::story))
        .routes(routes!(runs::diff))
        .routes(routes!(steer::pause))
        .routes(routes!(steer::resume))
        .routes(routes!(steer::cancel))
        .routes(routes!(steer::hint))
        .routes(routes!(steer::answer))
        .routes(routes!(steer::fork))
        .routes(routes!(steer::apply))
        .routes(routes!(again::replay))
        .routes(routes!(again::promote))
}

/// Routes about skills, roles, portals, models, tools and hooks.
fn parts() -> OpenApiRouter<Arc<ServerState>> {
    OpenApiRouter::new()
        .routes(routes!(skills::list, skills::create))
        .routes(routes!(skills::show))
        .routes(routes!(skills::teach))
        .routes(routes!(skills::reword))
        .routes(routes!(skills::forget))
        .routes(routes!(skills::trust))
        .routes(routes!(checks::validate_skill))
        .routes(routes!(checks::validate_skills))
        .routes(routes!(checks::test_skill))
        .routes(routes!(checks::test_skills))
        .routes(routes!(skills::feedback))
        .routes(routes!(agents::list, agents::create))
        .routes(routes!(agents::show))
        .routes(routes!(agents::text))
        .routes(routes!(agents::edit))
        .routes(routes!(agents::remove))
        .routes(routes!(checks::validate_agent))
        .routes(routes!(checks::validate_agents))
        .routes(routes!(portals::list, portals::create))
        .routes(routes!(portals::show))
        .routes(routes!(portals::remove))
        .routes(routes!(portals::refresh))
        .routes(routes!(portals::verify))
        .routes(routes!(models::list))
        .routes(routes!(models::show))
        .routes(routes!(models::test))
        .routes(routes!(models::reset))
        .routes(routes!(tools::list))
        .routes(routes!(tools::show))
        .routes(routes!(tools::run))
        .routes(routes!(hooks::list))
        .routes(routes!(hooks::trust))
}

/// Routes about usage, settings, visibility, policy, keys and tokens.
fn house() -> OpenApiRouter<Arc<ServerState>> {
    OpenApiRouter::new()
        .routes(routes!(usage::usage))
        .routes(routes!(usage::skills))
        .routes(routes!(usage::stats))
        .routes(routes!(policy::settings))
        .routes(routes!(visibility::show, visibility::change))
        .routes(routes!(policy::grants, policy::grant))
        .routes(routes!(policy::revoke))
        .routes(routes!(policy::check))
        .routes(routes!(policy::redact))
        .routes(routes!(keys::list))
        .routes(routes!(keys::remove))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .routes(routes!(tokens::logout))
}

/// Answers for a path that no route has.
pub(crate) async fn nothing_here() -> Response {
    let failure = Failure::new(FailureCode::W005, "there is nothing at this address")
        .advise("`/api/v1/openapi.json` describes what there is");
    ApiError(failure).into_response()
}

/// Answers for a method that the route does not take.
pub(crate) async fn not_that_way() -> Response {
    let failure = Failure::new(FailureCode::C004, "this address does not take that method")
        .advise("`/api/v1/openapi.json` describes what there is");
    (StatusCode::METHOD_NOT_ALLOWED, ApiError(failure).body()).into_response()
}
