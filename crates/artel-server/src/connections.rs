//! Connections: their maximum number, their time limits, and which one is closed if there
//! are too many.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_workshop::ShutdownLevel;
use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use axum::middleware::{from_fn, from_fn_with_state};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::desk::ServerState;
use crate::impatient::WriteTimeoutStream;
use crate::keeper::told_to_stop;
use crate::listen::ServerListeners;
use crate::{api, console, door, telemetry};

/// Maximum number of connections, not counting readers of live events.
const MOST: usize = 200;

/// Time limit for receiving the headers of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Maximum size of the headers, in bytes.
pub(crate) const HEAD_SIZE: usize = 32 * 1024;

/// Maximum size of a body, in bytes.
pub(crate) const BODY_SIZE: usize = 8 * 1024 * 1024;

/// Idle time after which a connection may be closed to make room.
const SILENCE: Duration = Duration::from_millis(250);

/// Poll interval while waiting for room.
const NO_ROOM: Duration = Duration::from_millis(10);

/// Time limit for responses in progress once the server is asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Lets a request mark its own connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionHandle(Arc<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    /// Number of requests in progress.
    busy: AtomicUsize,
    /// Set once the connection is a reader of live events; those have a limit of their own.
    is_reader: AtomicBool,
    /// Since when the connection is idle.
    silent: Mutex<Instant>,
}

impl ConnectionState {
    fn new() -> Self {
        Self {
            busy: AtomicUsize::new(0),
            is_reader: AtomicBool::new(false),
            silent: Mutex::new(Instant::now()),
        }
    }

    fn begins(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    fn ends(&self) {
        *self.silent.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    fn counts(&self) -> bool {
        !self.is_reader.load(Ordering::Relaxed)
    }

    fn is_silent(&self) -> bool {
        let since = *self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        self.busy.load(Ordering::Relaxed) == 0 && since.elapsed() >= SILENCE
    }
}

impl ConnectionHandle {
    /// Counts the connection as a reader of live events from now on.
    pub(crate) fn becomes_reader(&self) {
        self.0.is_reader.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct ConnectionTable(Mutex<VecDeque<(Arc<ConnectionState>, AbortHandle)>>);

impl ConnectionTable {
    /// Returns whether there is room for another connection. If there are too many, closes
    /// the oldest idle one.
    fn make_room(&self) -> bool {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|(_, task)| !task.is_finished());
        let count = places.iter().filter(|(place, _)| place.counts()).count();
        if count < MOST {
            return true;
        }
        let can_go =
            |(place, _): &(Arc<ConnectionState>, AbortHandle)| place.counts() && place.is_silent();
        let Some(at) = places.iter().position(can_go) else {
            return false;
        };
        if let Some((_, task)) = places.remove(at) {
            task.abort();
        }
        true
    }

    fn add(&self, place: Arc<ConnectionState>, task: AbortHandle) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.push_back((place, task));
    }
}

/// Serves requests until the server is asked to stop.
pub(crate) async fn serve(
    listeners: ServerListeners,
    desk: Arc<ServerState>,
    mut stop: watch::Receiver<ShutdownLevel>,
) {
    let router = router(&desk);
    let places = ConnectionTable::default();
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = told_to_stop(&mut stop) => break,
            Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
            accepted = listeners.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            // Mostly file descriptors ran out; connections that end free some.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // A new connection waits until there is room: soon another one has its response, or
        // has been idle long enough.
        while !places.make_room() && *stop.borrow() == ShutdownLevel::No {
            tokio::time::sleep(NO_ROOM).await;
        }
        let place = Arc::new(ConnectionState::new());
        let task = answer(stream, peer, router.clone(), Arc::clone(&place));
        places.add(place, tasks.spawn(task));
    }
    desk.hub.close();
    // Responses that take longer are dropped.
    drop(
        tokio::time::timeout(LAST_ANSWERS, async {
            while tasks.join_next().await.is_some() {}
        })
        .await,
    );
}

/// Serves the requests of one connection.
async fn answer(stream: TcpStream, peer: SocketAddr, router: Router, place: Arc<ConnectionState>) {
    // Send small responses at once instead of waiting for more data.
    drop(stream.set_nodelay(true));
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        let (router, place) = (TowerToHyperService::new(router.clone()), Arc::clone(&place));
        request.extensions_mut().insert(ConnectInfo(peer));
        request
            .extensions_mut()
            .insert(ConnectionHandle(Arc::clone(&place)));
        async move {
            place.begins();
            let answered = router.call(request).await;
            place.ends();
            answered
        }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(WriteTimeoutStream::new(stream)), service)
        .await;
    // An error means that the client hung up or did not speak HTTP, so there is nobody to
    // tell.
    drop(served);
}

/// Returns all routes, wrapped in the checks that every request passes.
pub(crate) fn router(desk: &Arc<ServerState>) -> Router {
    let inner = api::router()
        .merge(console::router())
        .fallback(console::nothing_here)
        .method_not_allowed_fallback(api::not_that_way)
        .with_state(Arc::clone(desk));
    inner
        .layer(DefaultBodyLimit::max(BODY_SIZE))
        .layer(from_fn_with_state(Arc::clone(desk), door::admit))
        .layer(from_fn_with_state(Arc::clone(desk), door::guard))
        .layer(from_fn(door::headers))
        .layer(from_fn_with_state(Arc::clone(desk), telemetry::count))
}
