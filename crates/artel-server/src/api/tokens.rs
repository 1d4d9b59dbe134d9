//! Access: tokens, and signing out of the console.

use artel_types::{Failure, FailureCode};
use artel_workshop::{TokenHolder, ViewerRole};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::refusal::ApiErrorReply;
use super::requests::none_of;
use super::runs::steer::EmptyBody;
use super::seat::{
    Admin, AdminJustSignedIn, ApiCreatedResult, ApiPathParams, ApiResult, AuthorizedCaller, User,
    made, shaped,
};
use super::{ApiError, ApiJsonBody};

/// A token in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TokenListReplyRow {
    /// The token's id.
    id: String,
    /// Its name.
    name: String,
    /// Its role.
    role: String,
    /// When it was created, as RFC 3339.
    created: String,
    /// The person who created it.
    by: String,
    /// Whether a program holds it; such a token cannot approve anything.
    program: bool,
}

/// The valid tokens.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TokenListReply {
    /// The tokens, oldest first.
    rows: Vec<TokenListReplyRow>,
}

/// A token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateTokenBody {
    /// `user`, `developer` or `admin`.
    role: String,
    /// The name of the person or program that will act with it; yours if omitted.
    name: Option<String>,
    /// Whether a program holds it: it may do what its role may, but cannot approve
    /// anything.
    #[serde(default)]
    program: bool,
}

/// A new token. The secret is shown only this once.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CreateTokenReply {
    /// The token's id.
    id: String,
    /// Its role.
    role: String,
    /// The secret.
    token: String,
}

/// Lists the valid tokens.
#[utoipa::path(get, path = "/api/v1/tokens", tag = "tokens", operation_id = "listTokens",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = TokenListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(by: AuthorizedCaller<Admin>) -> ApiResult<TokenListReply> {
    let done = by.does(|workshop| {
        let rows: Result<Vec<TokenListReplyRow>, _> =
            workshop.tokens()?.into_iter().map(shaped).collect();
        Ok(TokenListReply { rows: rows? })
    });
    done.await.map(Json)
}

/// Creates a token, whose secret is shown once.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "tokens", operation_id = "createToken",
    request_body = CreateTokenBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = CreateTokenReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiJsonBody(new): ApiJsonBody<CreateTokenBody>,
) -> ApiCreatedResult<CreateTokenReply> {
    let words = ["user", "developer", "admin"];
    let role: Result<ViewerRole, ()> = new.role.parse();
    let role = role.map_err(|()| none_of("role", &words))?;
    let holder = if new.program {
        TokenHolder::Program
    } else {
        TokenHolder::Person
    };
    let done =
        by.does(move |workshop| Ok(workshop.create_token(new.name.as_deref(), role, holder)?));
    let token = by.told(done.await?);
    Ok(made(shaped(token)?))
}

/// Revokes a token; it is refused from then on.
#[utoipa::path(post, path = "/api/v1/tokens/{id}/revoke", tag = "tokens",
    operation_id = "revokeToken", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = TokenListReplyRow), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn revoke(
    by: AuthorizedCaller<Admin>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<TokenListReplyRow> {
    let done = by.does(move |workshop| Ok(workshop.revoke_token(&id)?));
    let row = by.told(done.await?);
    Ok(Json(shaped(row)?))
}

/// Signs out of the console.
#[utoipa::path(post, path = "/api/v1/logout", tag = "tokens", operation_id = "logout",
    request_body = EmptyBody, extensions(("x-role" = json!("user"))),
    responses((status = 204), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn logout(
    by: AuthorizedCaller<User>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> Result<Response, ApiError> {
    if by.who.sign_in.is_none() {
        return Err(Failure::new(FailureCode::C004, "a token does not sign out")
            .advise("`artel token revoke ID` takes it back")
            .into());
    }
    let id = by.who.pass.id.clone();
    by.does(move |workshop| Ok(workshop.end_login(&id)?))
        .await?;
    let cookie = &by.desk.cookie;
    let gone = format!("{cookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    let answer = (
        axum::http::StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, gone)],
    );
    Ok(answer.into_response())
}
