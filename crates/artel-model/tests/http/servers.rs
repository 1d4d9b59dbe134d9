//! Servers that no provider runs: one that never stops talking, one that nobody should trust, one
//! that stands in between.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server that says the same for ever.
pub(crate) struct Endless {
    address: SocketAddr,
    sent: Arc<AtomicU64>,
}

impl Endless {
    /// Begins every answer with `first` and goes on with `more`, again and again.
    pub(crate) async fn start(first: &str, more: &str) -> Self {
        let (listener, address) = listen().await;
        let sent = Arc::<AtomicU64>::default();
        let (count, more) = (sent.clone(), more.as_bytes().to_vec());
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{first}");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                drop(read_head(&mut stream).await);
                let mut result = stream.write_all(head.as_bytes()).await;
                while result.is_ok() {
                    count.fetch_add(more.len() as u64, Ordering::SeqCst);
                    result = stream.write_all(&more).await;
                }
            }
        });
        Self { address, sent }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns how many bytes it got rid of, or tried to.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

/// A proxy that remembers the head of every request, and passes on those in the clear. Tunnels are
/// refused.
pub(crate) struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(crate) async fn start() -> Self {
        let (listener, address) = listen().await;
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = heads.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass_on(stream, seen.clone()));
            }
        });
        Self { address, heads }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// Passes one connection on. The target stands in the request's first line, and is taken out of it
/// there.
async fn pass_on(mut stream: TcpStream, seen: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let (head, rest) = read_head(&mut stream).await?;
    seen.lock().unwrap().push(head.clone());
    let url = head.split(' ').nth(1)?.to_owned();
    let Some(target) = url.strip_prefix("http://") else {
        let refused = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
        return stream.write_all(refused).await.ok();
    };
    let host = target.split('/').next()?;
    let head = head.replacen(&format!("http://{host}"), "", 1);
    let mut server = TcpStream::connect(host).await.ok()?;
    server.write_all(head.as_bytes()).await.ok()?;
    server.write_all(&rest).await.ok()?;
    tokio::io::copy_bidirectional(&mut stream, &mut server)
        .await
        .ok()
        .map(|_| ())
}

/// Passes connections on to a server, and counts them.
pub(crate) struct Relay {
    address: SocketAddr,
    count: Arc<AtomicU64>,
}

impl Relay {
    /// Stands before a server with this address.
    pub(crate) async fn before(server: String) -> Self {
        let (listener, address) = listen().await;
        let count = Arc::<AtomicU64>::default();
        let counted = count.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(async move {
                    drop(tokio::io::copy_bidirectional(&mut stream, &mut server).await);
                });
            }
        });
        Self { address, count }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}

/// Answers one connection over TLS with a certificate that nobody signed, and returns what the
/// client said in confidence.
pub(crate) fn untrusted() -> (SocketAddr, std::thread::JoinHandle<Vec<u8>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from(&include_bytes!("untrusted.crt.der")[..]);
    let key = PrivateKeyDer::try_from(&include_bytes!("untrusted.key.der")[..]).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut said = Vec::new();
        let mut tls = rustls::Stream::new(&mut session, &mut stream);
        // The client hangs up as soon as it has seen the certificate.
        drop(std::io::Read::read_to_end(&mut tls, &mut said));
        said
    });
    (address, thread)
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Reads the head of a request, and what came with it.
async fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
        let end = read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        if let Some(end) = end {
            let rest = read.split_off(end + 4);
            return Some((String::from_utf8(read).ok()?, rest));
        }
    }
}
