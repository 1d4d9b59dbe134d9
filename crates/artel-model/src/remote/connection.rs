//! HTTP clients, shared by all calls that take the same way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_types::{Failure, FailureCode};
use reqwest::{Client, Proxy, redirect};

/// A way out of this machine, direct or through a proxy. Clones share connections.
#[derive(Debug, Clone)]
pub struct ProviderHttpClient(Client);

/// Makes one HTTP client per proxy, and keeps it.
#[derive(Clone)]
pub struct ProviderHttpClientPool {
    connect_timeout: Duration,
    made: Arc<Mutex<HashMap<Option<String>, ProviderHttpClient>>>,
}

impl ProviderHttpClient {
    pub(crate) fn client(&self) -> &Client {
        &self.0
    }
}

impl ProviderHttpClientPool {
    /// Sets the longest time for making a connection.
    pub fn new(connect_timeout: Duration) -> Self {
        Self {
            connect_timeout,
            made: Arc::default(),
        }
    }

    /// Returns the client that goes through `proxy`, or directly if that is `None`.
    pub fn through(&self, proxy: Option<&str>) -> Result<ProviderHttpClient, Failure> {
        let key = proxy.map(str::to_owned);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = made.get(&key) {
            return Ok(connection.clone());
        }
        let connection = ProviderHttpClient(self.client(proxy)?);
        made.insert(key, connection.clone());
        Ok(connection)
    }

    /// Makes a client. It follows no redirects: a key must not travel to a place that nobody
    /// configured.
    fn client(&self, proxy: Option<&str>) -> Result<Client, Failure> {
        // The first to install wins, and everybody installs the same provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(self.connect_timeout)
            .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
        if let Some(proxy) = proxy {
            let proxy = Proxy::all(proxy).map_err(|error| {
                // There may be a password before the `@`.
                let place = proxy.rsplit('@').next().unwrap_or_default();
                let what = format!("`{place}` cannot be used as a proxy");
                Failure::new(FailureCode::S005, what)
                    .because(super::trouble::chain(&error))
                    .advise("write it as `http://host:port`")
            })?;
            builder = builder.proxy(proxy);
        }
        builder.build().map_err(|error| {
            Failure::new(FailureCode::M009, "no connection can be made")
                .because(super::trouble::chain(&error))
        })
    }
}

/// Leaves out the proxy URLs, which may contain a password.
impl std::fmt::Debug for ProviderHttpClientPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderHttpClientPool")
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}
