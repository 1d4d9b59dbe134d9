//! Tools: listing them, and trying one in a scratch copy.

use std::sync::Arc;

use artel_types::{Failure, FailureCode};
use artel_workshop::{ToolTrial, ToolTrialOutcome};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::requests::about;
use super::seat::{ApiPathParams, ApiResult, AuthorizedCaller, Developer, shaped};

/// A tool.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ToolDetailsReply {
    /// The tool's name.
    name: String,
    /// A one-line summary.
    line: String,
    /// The description that models get.
    description: String,
    /// The JSON schema of its input.
    input: Value,
    /// Its effects: what it touches.
    effects: Vec<Value>,
    /// The action that Artel takes if it is not known whether a call took effect.
    unknown: Value,
    /// The bundle of tools with which it is found.
    bundle: String,
    /// Whether its schema is part of every request to a model.
    always: bool,
}

/// The tools, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ToolListReply {
    /// Built-in tools, and those declared in the workshop.
    tools: Vec<ToolDetailsReply>,
}

/// A trial call of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TryToolBody {
    /// The input, as the tool's schema requires.
    #[schema(value_type = Object)]
    input: Value,
    /// The portal whose folder is copied; may be omitted if there is only one.
    portal: Option<String>,
    /// A folder in a portal, instead of the portal's name.
    folder: Option<String>,
    /// The role that uses the tool; `default` if omitted.
    role: Option<String>,
}

/// The result of a trial call.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TryToolReply {
    /// The decision of policy.
    decision: Value,
    /// The text that a model would see.
    text: String,
    /// The result as data, for programs.
    data: Value,
    /// The kind of error; `null` if the call succeeded.
    trouble: Option<Value>,
    /// The files that it changed in the copy.
    changed: Vec<String>,
    /// The changes, as `git diff` prints them.
    diff: String,
}

/// Lists tools.
#[utoipa::path(get, path = "/api/v1/tools", tag = "tools", operation_id = "listTools",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ToolListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(by: AuthorizedCaller<Developer>) -> ApiResult<ToolListReply> {
    let done = by.does(|workshop| {
        let tools = workshop.caller().tools()?.into_iter().map(shaped);
        let tools: Result<Vec<ToolDetailsReply>, Failure> = tools.collect();
        Ok(ToolListReply { tools: tools? })
    });
    done.await.map(Json)
}

/// Shows a tool with the schema of its input.
#[utoipa::path(get, path = "/api/v1/tools/{name}", tag = "tools", operation_id = "showTool",
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ToolDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
) -> ApiResult<ToolDetailsReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.caller().tool(&name)?)?));
    done.await.map(Json)
}

/// Tries a tool in a scratch copy of a project, and returns what it would change.
///
/// Policy, sandbox and journal are those of a run. A call about which a person would be
/// asked is refused.
#[utoipa::path(post, path = "/api/v1/tools/{name}/run", tag = "tools", operation_id = "runTool",
    request_body = TryToolBody, params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = TryToolReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn run(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<TryToolBody>,
) -> ApiResult<TryToolReply> {
    if !told.input.is_object() {
        return Err(
            Failure::new(FailureCode::T002, "the input is no JSON object")
                .advise(format!("`GET /api/v1/tools/{name}` shows its schema"))
                .into(),
        );
    }
    let says = Arc::clone(&by.desk.says);
    let done = by.does(move |workshop| {
        // Refuse an unknown tool before anything is copied.
        workshop.caller().tool(&name)?;
        let folder = told.folder.clone().map(Into::into);
        let portal = about(workshop, told.portal.as_deref(), told.folder)?;
        let run = ToolTrial {
            name,
            input: told.input.to_string(),
            root: Some(folder.unwrap_or(portal.path)),
            role: told.role,
        };
        let told = Arc::new(move |text: &str| says(text));
        Ok(tried(workshop.caller().run_tool(&run, None, told)?))
    });
    done.await.map(Json)
}

fn tried(done: ToolTrialOutcome) -> TryToolReply {
    let decision = json!(done.decision);
    let (text, data, trouble) = match done.result {
        Ok(seen) => (seen.text, seen.data, None),
        Err(trouble) => (trouble.to_string(), Value::Null, Some(json!(trouble.kind))),
    };
    TryToolReply {
        decision,
        text,
        data,
        trouble,
        changed: done.changed,
        diff: done.difference,
    }
}
