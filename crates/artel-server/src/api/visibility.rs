//! The rules that say how much of runs each role may see, and changing them.

use artel_types::{Failure, FailureCode};
use artel_workshop::{VisibilityChange, VisibilityLevel};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::requests::none_of;
use super::seat::{AdminInPerson, ApiResult, AuthorizedCaller, Developer, shaped};
use crate::reload;

/// The rule for one role.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct VisibilityReplyRole {
    /// `user`, `developer` or `admin`.
    role: String,
    /// `summary`: the result of each step. `full`: everything.
    sees: String,
    /// Where the rule comes from.
    origin: String,
}

/// The visibility rules of runs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct VisibilityReply {
    /// The rule for each role.
    roles: Vec<VisibilityReplyRole>,
    /// Tools, or patterns for tools, of which everyone sees only that they ran.
    hidden_tools: Vec<String>,
}

/// A change of the rules. Omitted fields stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeVisibilityBody {
    /// The view that users may have: `summary` or `full`.
    user: Option<String>,
    /// The view that developers may have.
    developer: Option<String>,
    /// The view that admins may have.
    admin: Option<String>,
    /// Tools, or patterns for tools such as `git_*`, of which everyone sees only that they
    /// ran.
    hidden_tools: Option<Vec<String>>,
}

/// Shows how much of runs each role may see.
#[utoipa::path(get, path = "/api/v1/visibility", tag = "settings",
    operation_id = "showVisibility", extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = VisibilityReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(by: AuthorizedCaller<Developer>) -> ApiResult<VisibilityReply> {
    Ok(Json(shaped(by.desk.workshop().who_sees())?))
}

/// Changes how much of runs each role may see.
///
/// The change is written to the workshop's settings file and takes effect at once, also for
/// readers of live events.
#[utoipa::path(post, path = "/api/v1/visibility", tag = "settings",
    operation_id = "changeVisibility", request_body = ChangeVisibilityBody,
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = VisibilityReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn change(
    by: AuthorizedCaller<AdminInPerson>,
    ApiJsonBody(told): ApiJsonBody<ChangeVisibilityBody>,
) -> ApiResult<VisibilityReply> {
    let change = VisibilityChange {
        user: shown("user", told.user)?,
        developer: shown("developer", told.developer)?,
        admin: shown("admin", told.admin)?,
        hidden_tools: told.hidden_tools,
    };
    let done = by.does(move |workshop| Ok(workshop.see_otherwise(&change)?));
    let rules = by.told(done.await?);
    let problems = reload::reload(&by.desk, vec!["artel.toml".to_owned()]).await?;
    if !problems.is_empty() {
        let what = "the rules are written down, and not in force yet";
        return Err(Failure::new(FailureCode::S005, what)
            .because(problems.join("; "))
            .advise("mend that; they are in force from then on")
            .into());
    }
    Ok(Json(shaped(rules)?))
}

fn shown(field: &str, word: Option<String>) -> Result<Option<VisibilityLevel>, Failure> {
    let read = word.map(|word| word.parse::<VisibilityLevel>()).transpose();
    read.map_err(|()| none_of(field, &["summary", "full"]))
}
