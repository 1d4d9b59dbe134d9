//! Wire-level stand-ins for the model providers: real HTTP servers that answer from a plan.
//!
//! Each speaks one provider's format. It is written from the provider's documentation and
//! independently of the codecs it is used to test, so that two readings of a format meet. It checks
//! a request as the provider would, gives the next answer of the plan in the manner that the plan
//! specifies, and remembers the requests.
//!
//! ```
//! use artel_testkit::standin::{Answer, Format, StandIn};
//!
//! let stand_in = StandIn::start(
//!     Format::Anthropic,
//!     [
//!         Answer::status(429).retry_after("7"),
//!         Answer::says("Hello, world.").thinking("A greeting.").repeating(),
//!     ],
//! );
//! let base_url = stand_in.url();
//! # assert!(base_url.starts_with("http://127.0.0.1:"));
//! ```

mod act;
mod answer;
mod anthropic;
pub mod cases;
mod chat;
mod dialect;
mod google;
mod ollama;
mod openai;
mod plan;
mod responses;
mod script;
mod server;
mod state;
mod trouble;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

pub use answer::{Answer, Usage};
pub use plan::{plan_from_json, usual_plan};
use state::{Counts, State};

/// Time that a test waits for a stand-in before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The provider's format that a stand-in speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions, and everything compatible with it.
    Chat,
    /// Google Gemini, `generateContent`.
    Google,
    /// Ollama, `/api/chat`.
    Ollama,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Google,
        Self::Ollama,
    ];

    /// Returns the name of the format, which is also the first argument of the program
    /// `stand-in`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Google => "google",
            Self::Ollama => "ollama",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str);
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == word)
            .ok_or_else(|| {
                format!(
                    "there is no format `{word}`; there are {}",
                    known.join(", ")
                )
            })
    }
}

/// A received request.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The method, such as `POST`.
    pub method: String,
    /// The path, including its query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, or null if it is not JSON.
    pub body: Value,
}

/// A running server. When dropped, it stops and breaks off its current answers.
pub struct StandIn {
    state: Arc<State>,
    address: SocketAddr,
    runtime: tokio::runtime::Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// The answers are given in order. When they are used up, the last one is repeated if
    /// it is [`Answer::repeating`]; otherwise further requests get a 500 with a text that
    /// says so.
    pub fn start(format: Format, plan: impl IntoIterator<Item = Answer>) -> Self {
        Self::start_on(0, format, plan)
    }

    /// Starts a server on a free port of 127.0.0.1 that answers each request based on its
    /// body alone.
    pub fn minded(format: Format, mind: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(0, State::new(format, []).minded(Box::new(mind)))
    }

    /// Starts a server on a port of 127.0.0.1; 0 means any free port.
    pub fn start_on(port: u16, format: Format, plan: impl IntoIterator<Item = Answer>) -> Self {
        Self::serve(port, State::new(format, plan))
    }

    fn serve(port: u16, state: State) -> Self {
        let state = Arc::new(state);
        let format = state.format();
        let listener =
            std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("a port to listen on");
        let address = listener.local_addr().expect("the address listened on");
        // A single thread serves a thousand streams, and takes at most one core from the
        // code under test.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name(format!("stand-in {}", format.as_str()))
            .spawn(move || {
                runtime.block_on(async {
                    tokio::spawn(server::serve(listener, served));
                    // The sender is dropped together with the stand-in, which is the signal
                    // to stop.
                    drop(stopped.await);
                });
            })
            .expect("a thread");
        Self {
            state,
            address,
            runtime: handle,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the `base_url` for `artel.toml`.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.state.dialect().base)
    }

    /// Returns all requests so far in order of arrival, including refused ones.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen()
    }

    /// Adds an answer to the end of the plan.
    pub fn push(&self, answer: Answer) {
        self.state.push(answer);
    }

    /// Returns the number of requests being answered now. A request whose client has gone
    /// does not count.
    pub fn open(&self) -> usize {
        self.state.counts().open
    }

    /// Returns the highest number of requests that were answered at once.
    pub fn peak(&self) -> usize {
        self.state.counts().peak
    }

    /// Returns the number of answers held now.
    pub fn held(&self) -> usize {
        self.state.counts().held
    }

    /// Releases every held answer.
    pub fn release(&self) {
        while self.release_one() {}
    }

    /// Releases the answer that was held longest, and returns whether there was one.
    pub fn release_one(&self) -> bool {
        self.state.release_one()
    }

    /// Waits until exactly this many requests are being answered.
    pub async fn until_open(&self, count: usize) {
        self.until(format!("{count} open requests"), move |now| {
            now.open == count
        })
        .await;
    }

    /// Waits until exactly this many answers are held.
    pub async fn until_held(&self, count: usize) {
        self.until(format!("{count} held answers"), move |now| {
            now.held == count
        })
        .await;
    }

    /// Waits until at least this many requests have arrived.
    pub async fn until_seen(&self, count: usize) {
        self.until(format!("{count} requests"), move |now| now.seen >= count)
            .await;
    }

    /// Waits in the server's own runtime, so that the time limit applies in any test.
    async fn until(&self, wish: String, holds: impl Fn(&Counts) -> bool + Send + Sync + 'static) {
        let mut counts = self.state.watch();
        let waited = self.runtime.spawn(async move {
            let came = tokio::time::timeout(PATIENCE, counts.wait_for(|now| holds(now)))
                .await
                .is_ok();
            (came, *counts.borrow())
        });
        let (came, now) = waited.await.expect("a stand-in that runs");
        assert!(came, "waited {PATIENCE:?} for {wish}; there is {now:?}");
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
