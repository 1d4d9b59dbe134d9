//! HTTP connections, shared by all calls that go the same way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_types::{Code, Failure};
use reqwest::{Client, Proxy, redirect};

/// A way out of this machine. Clones share connections.
#[derive(Debug, Clone)]
pub struct Connection(Client);

/// Makes connections, one per proxy, and keeps them.
#[derive(Clone)]
pub struct Connections {
    connect_timeout: Duration,
    made: Arc<Mutex<HashMap<Option<String>, Connection>>>,
}

impl Connection {
    pub(crate) fn client(&self) -> &Client {
        &self.0
    }
}

impl Connections {
    /// Names how long a connection may take to be made.
    pub fn new(connect_timeout: Duration) -> Self {
        Self {
            connect_timeout,
            made: Arc::default(),
        }
    }

    /// Returns the connection that goes through `proxy`, or straight if nothing.
    pub fn through(&self, proxy: Option<&str>) -> Result<Connection, Failure> {
        let key = proxy.map(str::to_owned);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = made.get(&key) {
            return Ok(connection.clone());
        }
        let connection = Connection(self.client(proxy)?);
        made.insert(key, connection.clone());
        Ok(connection)
    }

    /// Redirects are not followed: a key must not travel to a place nobody configured.
    fn client(&self, proxy: Option<&str>) -> Result<Client, Failure> {
        // Whoever installs first wins, and everybody installs the same.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(self.connect_timeout)
            .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
        if let Some(proxy) = proxy {
            let proxy = Proxy::all(proxy).map_err(|error| {
                // A password stands before the `@`.
                let place = proxy.rsplit('@').next().unwrap_or_default();
                let what = format!("`{place}` cannot be used as a proxy");
                Failure::new(Code::S005, what)
                    .because(super::trouble::chain(&error))
                    .advise("write it as `http://host:port`")
            })?;
            builder = builder.proxy(proxy);
        }
        builder.build().map_err(|error| {
            Failure::new(Code::M009, "no connection can be made")
                .because(super::trouble::chain(&error))
        })
    }
}

/// The way to a proxy may have a password in it.
impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections")
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}
