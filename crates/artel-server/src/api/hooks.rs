//! Hooks: listing the declared ones, and trusting one as it was seen.

use artel_types::{Failure, FailureCode};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::requests::standing_in;
use super::seat::{
    AdminJustSignedIn, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, shaped, unnamed,
};

/// A hook.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct HookListReplyRow {
    /// The event that runs it.
    event: String,
    /// The tools, sources or reasons it is limited to; all if empty.
    matcher: String,
    /// The command that is run.
    command: String,
    /// The file that declares it.
    file: String,
    /// Whether it is the person's own hook, which needs no trust.
    own: bool,
    /// Whether it may run in its present form.
    trusted: bool,
    /// The hash that trust is bound to, in hex; `null` if no trust is needed.
    hash: Option<String>,
    /// Its priority; lower runs first.
    priority: u8,
    /// Time limit in milliseconds.
    timeout_ms: u64,
    /// Effect of a failure: `warn` or `block`.
    on_failure: String,
    /// Hosts it may reach.
    network: Vec<String>,
    /// Paths it may read, in addition to the run's files.
    read: Vec<String>,
    /// Paths it may change.
    write: Vec<String>,
}

/// The hooks of runs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct HookListReply {
    /// The hooks, in the order in which they run.
    hooks: Vec<HookListReplyRow>,
    /// Hooks that are declared but do not run, with the reason.
    notes: Vec<String>,
}

/// Query parameters for listing hooks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct HookListQuery {
    /// Includes the hooks of this role.
    role: Option<String>,
    /// Includes the hooks of this portal's project; by default, those of the daemon's own
    /// folder.
    portal: Option<String>,
}

/// Trusts a hook as it was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustHookBody {
    /// The hook's hash, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
    /// The role whose hook it is.
    role: Option<String>,
    /// The portal whose project the hook comes from.
    portal: Option<String>,
}

/// The hooks that are trusted from now on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TrustHookReply {
    /// The full hash of each hook.
    trusted: Vec<String>,
}

/// Lists the hooks of runs: what runs, when, from where, and whether it is trusted.
#[utoipa::path(get, path = "/api/v1/hooks", tag = "hooks", operation_id = "listHooks",
    params(HookListQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = HookListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<HookListQuery>,
) -> ApiResult<HookListReply> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, wanted.portal.as_deref())?;
        Ok(shaped(workshop.hooks(wanted.role.as_deref())?)?)
    });
    done.await.map(Json)
}

/// Trusts a hook that came with the work, as it was seen.
///
/// If the hook or a file that it names changes, it needs to be trusted again.
#[utoipa::path(post, path = "/api/v1/hooks/trust", tag = "hooks", operation_id = "trustHook",
    request_body = TrustHookBody,
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = TrustHookReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn trust(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiJsonBody(told): ApiJsonBody<TrustHookBody>,
) -> ApiResult<TrustHookReply> {
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of the hook").into());
        }
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        let mut strangers = workshop.strange_hooks(told.role.as_deref())?;
        strangers.retain(|it| it.fact.hash.starts_with(&told.hash));
        if strangers.is_empty() {
            return Err(
                Failure::new(FailureCode::W005, "no hook that needs trust has this hash")
                    .advise("`GET /api/v1/hooks` lists them as they are now")
                    .into(),
            );
        }
        let mut trusted = Vec::new();
        for stranger in strangers {
            workshop.trust_hook(&stranger.fact)?;
            trusted.push(stranger.fact.hash);
        }
        Ok(TrustHookReply { trusted })
    });
    done.await.map(Json)
}
