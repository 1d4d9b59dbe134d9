//! Keys: listing and removing them. Keys are never shown, and never accepted over HTTP.

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode};
use artel_workshop::KeyAccount;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::requests::none_of;
use super::seat::{Admin, AdminInPerson, ApiResult, AuthorizedCaller, shaped};

/// A stored key, without the key itself.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct KeyListReplyRow {
    /// The provider, or `tool` for a secret that tools name.
    provider: String,
    /// The account; `null` for an environment variable.
    account: Option<String>,
    /// Where the key is stored.
    place: String,
    /// When it was stored, as RFC 3339.
    since: Option<String>,
    /// Whether a call would use it, with the present settings.
    is_used: bool,
}

/// The known keys.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct KeyListReply {
    /// The keys.
    keys: Vec<KeyListReplyRow>,
    /// Keys that are named but missing.
    notes: Vec<String>,
}

/// Names a stored key: a provider's, or a secret that tools name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveKeyBody {
    /// The provider.
    provider: Option<String>,
    /// The account that the key belongs to; the default account if omitted.
    account: Option<String>,
    /// The name of a secret that tools name, instead of a provider.
    tool: Option<String>,
}

/// A key that was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RemoveKeyReply {
    /// The provider, or `tool`.
    removed: String,
    /// The account, or the name of the secret.
    account: String,
}

/// Lists the known keys, without showing them.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys", operation_id = "listKeys",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = KeyListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(by: AuthorizedCaller<Admin>) -> ApiResult<KeyListReply> {
    let done = by.does(|workshop| Ok(shaped(workshop.caller().key_status()?)?));
    done.await.map(Json)
}

/// Removes a stored key.
#[utoipa::path(post, path = "/api/v1/keys/remove", tag = "keys", operation_id = "removeKey",
    request_body = RemoveKeyBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = RemoveKeyReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn remove(
    by: AuthorizedCaller<AdminInPerson>,
    ApiJsonBody(told): ApiJsonBody<RemoveKeyBody>,
) -> ApiResult<RemoveKeyReply> {
    let done = by.does(move |workshop| match (told.provider, told.tool) {
        (Some(provider), None) => {
            let account = KeyAccount {
                provider: named(&provider)?,
                name: told.account,
            };
            let account = workshop.caller().remove_key(&account)?;
            Ok(RemoveKeyReply {
                removed: provider,
                account,
            })
        }
        (None, Some(tool)) if told.account.is_none() => {
            workshop.caller().remove_tool_secret(&tool)?;
            Ok(RemoveKeyReply {
                removed: "tool".to_owned(),
                account: tool,
            })
        }
        _ => Err(Failure::new(FailureCode::C005, "it is not said which key")
            .advise("name a `provider`, maybe with an `account`, or a `tool`")
            .into()),
    });
    done.await.map(Json)
}

fn named(word: &str) -> Result<Provider, Failure> {
    let words: Vec<_> = Provider::ALL.iter().map(|it| it.as_str()).collect();
    word.parse().map_err(|_| none_of("provider", &words))
}
