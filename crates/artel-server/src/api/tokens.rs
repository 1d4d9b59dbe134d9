//! Access: tokens, and signing out of the console.

use artel_types::{Failure, FailureCode};
use artel_workshop::{TokenHolder, ViewerRole};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::refusal::Troubled;
use super::requests::none_of;
use super::runs::steer::Nothing;
use super::seat::{Admin, AdminJustSignedIn, Answer, As, At, Made, User, made, shaped};
use super::{Refusal, Told};

/// A token in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TokenListed {
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
pub(super) struct TokenList {
    /// The tokens, oldest first.
    rows: Vec<TokenListed>,
}

/// A token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenWanted {
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
pub(super) struct TokenMade {
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
    responses((status = 200, body = TokenList), (status = "4XX", body = Troubled)))]
pub(super) async fn list(by: As<Admin>) -> Answer<TokenList> {
    let done = by.does(|workshop| {
        let rows: Result<Vec<TokenListed>, _> =
            workshop.tokens()?.into_iter().map(shaped).collect();
        Ok(TokenList { rows: rows? })
    });
    done.await.map(Json)
}

/// Creates a token, whose secret is shown once.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "tokens", operation_id = "createToken",
    request_body = TokenWanted, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = TokenMade), (status = "4XX", body = Troubled)))]
pub(super) async fn create(
    by: As<AdminJustSignedIn>,
    Told(new): Told<TokenWanted>,
) -> Made<TokenMade> {
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
    operation_id = "revokeToken", request_body = Nothing,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = TokenListed), (status = "4XX", body = Troubled)))]
pub(super) async fn revoke(
    by: As<Admin>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<TokenListed> {
    let done = by.does(move |workshop| Ok(workshop.revoke_token(&id)?));
    let row = by.told(done.await?);
    Ok(Json(shaped(row)?))
}

/// Signs out of the console.
#[utoipa::path(post, path = "/api/v1/logout", tag = "tokens", operation_id = "logout",
    request_body = Nothing, extensions(("x-role" = json!("user"))),
    responses((status = 204), (status = "4XX", body = Troubled)))]
pub(super) async fn logout(
    by: As<User>,
    Told(Nothing {}): Told<Nothing>,
) -> Result<Response, Refusal> {
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
