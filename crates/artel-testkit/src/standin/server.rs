//! The server itself: reads a request, checks it, and carries out what the plan says.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use futures_util::stream;
use serde_json::Value;

use super::Seen;
use super::act::{Act, Hold, acts};
use super::answer::{Answer, Call, Kind, Said};
use super::dialect::{Ask, Key, Route, Wait};
use super::state::{State, Ticket};
use super::trouble::{Refusal, Trouble};

/// A key that every stand-in rejects.
const WRONG_KEY: &str = "wrong-key";

/// A model that no stand-in has.
const NO_SUCH_MODEL: &str = "no-such-model";

const JSON: &str = "application/json";

/// More than any provider accepts. It bounds the damage that a broken client can do to a
/// test.
const LARGEST_REQUEST: usize = 256 << 20;

/// Serves until the runtime ends.
pub(super) async fn serve(listener: std::net::TcpListener, state: Arc<State>) {
    listener.set_nonblocking(true).expect("a socket to wait on");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a socket to wait on");
    // Every piece should arrive as a piece, and without delay.
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    let router = Router::new().fallback(answer).with_state(state);
    axum::serve(listener, router)
        .await
        .expect("a server that runs");
}

/// The response, once it is known.
struct Reply {
    status: u16,
    content_type: &'static str,
    headers: Vec<(String, String)>,
    acts: VecDeque<Act>,
    /// The length of the body, if the provider announces it.
    length: Option<usize>,
}

async fn answer(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let seen = read(request).await;
    let ticket = state.arrive(seen.clone());
    let reply = match look(&state, &seen) {
        Ok(Wish::Models) => {
            let models = (state.dialect().models)();
            Reply::json(200, &models)
        }
        Ok(Wish::Answer(route)) => match state.next_answer(&seen.body) {
            Some(answer) => perform(&state, ticket.number, &seen, route, answer).await,
            None => refusal(
                &state,
                ticket.number,
                Trouble::PlanSpent,
                &Answer::default(),
            ),
        },
        Err(trouble) => refusal(&state, ticket.number, trouble, &Answer::default()),
    };
    respond(state, ticket, reply)
}

async fn read(request: Request) -> Seen {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, LARGEST_REQUEST)
        .await
        .unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), value.into_owned())
    });
    Seen {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    }
}

/// A valid request.
enum Wish {
    Models,
    Answer(Route),
}

/// Checks a request the way the provider would.
fn look(state: &State, seen: &Seen) -> Result<Wish, Trouble> {
    let dialect = state.dialect();
    let route = (dialect.route)(seen);
    if route == Route::Nothing {
        return Err(Trouble::NoRoute(seen.path.clone()));
    }
    match (dialect.key)(seen) {
        Key::Missing => return Err(Trouble::NoKey),
        Key::Given(key) if key == WRONG_KEY => return Err(Trouble::WrongKey(key.to_owned())),
        Key::Given(_) | Key::NotNeeded => {}
    }
    if route == Route::Models {
        return Ok(Wish::Models);
    }
    if !seen.body.is_object() {
        return Err(Trouble::Unfit(
            "the body of the request is no JSON object".to_owned(),
        ));
    }
    (dialect.check)(seen).map_err(Trouble::Unfit)?;
    let model = (dialect.model)(seen);
    if model == NO_SUCH_MODEL {
        return Err(Trouble::NoModel(model));
    }
    Ok(Wish::Answer(route))
}

/// Waits if the answer says so, and puts it into the provider's words.
async fn perform(state: &State, number: usize, seen: &Seen, route: Route, answer: Answer) -> Reply {
    if !answer.manner.before.is_zero() {
        tokio::time::sleep(answer.manner.before).await;
    }
    if answer.manner.hold == Some(Hold::BeforeHead) {
        state.hold().await;
    }
    match answer.kind {
        // The task of the connection ends, and with it the connection; no panic is
        // reported.
        Kind::HangUp => std::panic::resume_unwind(Box::new("hung up")),
        Kind::TooLong => refusal(state, number, Trouble::TooLong, &answer),
        Kind::NoQuota => refusal(state, number, Trouble::NoQuota, &answer),
        Kind::Status(status) => match &answer.body {
            Some(body) => own_body(state, seen, status, body, &answer),
            None => refusal(state, number, Trouble::Status(status), &answer),
        },
        Kind::Speech | Kind::Obliging => {
            let ask = Ask {
                number,
                model: (state.dialect().model)(seen),
                seen,
            };
            speech(state, &ask, route, &answer)
        }
    }
}

fn speech(state: &State, ask: &Ask<'_>, route: Route, answer: &Answer) -> Reply {
    let dialect = state.dialect();
    let said = obliged(state, ask.seen, answer);
    let mut reply = match route {
        Route::Stream => {
            let events = (dialect.events)(ask, &said);
            Reply {
                status: 200,
                content_type: (dialect.stream_type)(ask.seen),
                headers: Vec::new(),
                acts: acts(events, &answer.manner),
                length: None,
            }
        }
        _ => {
            let body = (dialect.whole)(ask, &said).to_string();
            Reply::of_bytes(200, JSON, body.into(), answer)
        }
    };
    let limits = dialect.limits.iter();
    reply.headers = limits
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .chain(answer.headers.iter().cloned())
        .collect();
    reply
}

/// Returns what the model says, with a call of the offered tool if the answer is an
/// obliging one.
fn obliged(state: &State, seen: &Seen, answer: &Answer) -> Said {
    let mut said = answer.said.clone();
    if answer.kind == Kind::Obliging
        && let Some(offer) = (state.dialect().offer)(&seen.body)
    {
        said.text.clear();
        said.calls.push(Call {
            arguments: offer.arguments().to_string(),
            name: offer.name,
        });
    }
    said
}

/// Returns the plan's own body: the whole stream for status 200, otherwise that of an
/// error.
fn own_body(state: &State, seen: &Seen, status: u16, body: &[u8], answer: &Answer) -> Reply {
    let content_type = match status {
        200 => (state.dialect().stream_type)(seen),
        _ => JSON,
    };
    let mut reply = Reply::of_bytes(status, content_type, Bytes::copy_from_slice(body), answer);
    if status == 200 {
        reply.length = None;
    }
    let wait = answer.retry_after.iter();
    reply.headers = wait
        .map(|wait| ("retry-after".to_owned(), wait.clone()))
        .chain(answer.headers.iter().cloned())
        .collect();
    reply
}

fn refusal(state: &State, number: usize, trouble: Trouble, answer: &Answer) -> Reply {
    let dialect = state.dialect();
    let (status, body) = (dialect.refuse)(&Refusal {
        trouble,
        retry_after: answer.retry_after.as_deref(),
        request_id: &request_id(state, number),
    });
    let mut reply = Reply::of_bytes(status, JSON, body.to_string().into(), answer);
    let wait = answer.retry_after.iter();
    reply.headers = wait
        .filter(|wait| !(dialect.wait == Wait::InBody && wait.parse::<f64>().is_ok()))
        .map(|wait| ("retry-after".to_owned(), wait.clone()))
        .chain(answer.headers.iter().cloned())
        .collect();
    reply
}

fn request_id(state: &State, number: usize) -> String {
    format!("req_{}_{number:04}", state.format().as_str())
}

impl Reply {
    fn json(status: u16, body: &Value) -> Self {
        Self::of_bytes(status, JSON, body.to_string().into(), &Answer::default())
    }

    fn of_bytes(status: u16, content_type: &'static str, body: Bytes, answer: &Answer) -> Self {
        Self {
            status,
            content_type,
            headers: Vec::new(),
            length: Some(body.len()),
            acts: acts(vec![body], &answer.manner),
        }
    }
}

fn respond(state: Arc<State>, ticket: Ticket, reply: Reply) -> Response {
    let id = request_id(&state, ticket.number);
    let usual = (state.dialect().headers)(&id);
    let mut response = Response::new(body(state, ticket, reply.acts));
    *response.status_mut() = StatusCode::from_u16(reply.status).expect("a status");
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(reply.content_type),
    );
    if let Some(length) = reply.length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    let usual = usual
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    for (name, value) in usual.chain(reply.headers) {
        let name: HeaderName = name.parse().expect("a header's name");
        headers.insert(name, value.parse().expect("a header's value"));
    }
    response
}

/// Performs the acts one after the other, as the client reads.
fn body(state: Arc<State>, ticket: Ticket, acts: VecDeque<Act>) -> Body {
    Body::from_stream(stream::unfold(
        (state, ticket, acts),
        |(state, ticket, mut acts)| async move {
            // Yielding once makes the server send what it has, so that a piece leaves as a
            // piece.
            tokio::task::yield_now().await;
            loop {
                match acts.pop_front()? {
                    Act::Send(bytes) => return Some((Ok(bytes), (state, ticket, acts))),
                    Act::Pause(pause) => tokio::time::sleep(pause).await,
                    Act::Hold => state.hold().await,
                    Act::Silence => std::future::pending().await,
                    Act::Cut => {
                        let cut = io::Error::other("cut, as the plan says");
                        return Some((Err(cut), (state, ticket, acts)));
                    }
                }
            }
        },
    ))
}
