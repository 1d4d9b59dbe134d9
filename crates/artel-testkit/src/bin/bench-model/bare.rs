//! `reqwest` alone: it takes the bytes and does nothing with them.

use reqwest::{Client, header::CONTENT_TYPE, redirect};

use crate::meter;
use crate::question;
use crate::reader::Watch;
use crate::server::{BEFORE_TIME, DIGITS};

/// A client configured like the gateway's.
#[derive(Clone)]
pub(crate) struct Bare {
    client: Client,
    url: String,
    body: Vec<u8>,
}

impl Bare {
    pub(crate) fn new(base_url: &str) -> Self {
        rustls::crypto::ring::default_provider()
            .install_default()
            .unwrap();
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()
            .unwrap();
        let (path, body) = question::sent();
        Self {
            client,
            url: format!("{base_url}{path}"),
            body,
        }
    }

    /// Reads one reply to its end.
    pub(crate) async fn read(self, mut watch: Watch) -> Watch {
        let question = self.client.post(self.url).body(self.body);
        let question = question.header(CONTENT_TYPE, "application/json");
        let mut answer = question.send().await.unwrap();
        while let Some(bytes) = answer.chunk().await.unwrap() {
            let now = meter::now();
            times(&bytes).for_each(|sent| watch.saw(sent, now));
        }
        watch
    }
}

/// Returns the times in these bytes, which are more than one if the reader was late.
fn times(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let text = std::str::from_utf8(bytes).unwrap();
    let ends = text
        .match_indices(BEFORE_TIME)
        .map(|(at, before)| at + before.len());
    ends.filter_map(|at| text.get(at..at + DIGITS)?.parse().ok())
}
