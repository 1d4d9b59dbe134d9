//! A proxy with a small world around it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use artel_sandbox::proxy::{
    FilteringProxy, ProxyAccess, ProxyDialer, ProxyLimits, ProxyOptions, ProxyResolver,
};
use artel_sandbox::{GrantedHost, ProxyDoor, ProxyDoorKind};

/// The public address of most names here.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// Fails a test that would otherwise hang; nothing waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is granted, which names there are, and where addresses lead.
#[derive(Default)]
pub(crate) struct World {
    grants: Vec<GrantedHost>,
    names: BTreeMap<String, Vec<IpAddr>>,
    routes: BTreeMap<SocketAddr, SocketAddr>,
    otherwise: Option<SocketAddr>,
    doors: Vec<ProxyDoor>,
    pub(crate) limits: ProxyLimits,
    pub(crate) resolver: Option<ProxyResolver>,
}

/// A running proxy with its records.
pub(crate) struct Running {
    pub(crate) proxy: Option<FilteringProxy>,
    pub(crate) at: SocketAddr,
    passages: Arc<Mutex<Vec<ProxyAccess>>>,
    asked: Arc<Mutex<Vec<String>>>,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

impl World {
    pub(crate) fn granting(hosts: &[&str]) -> Self {
        Self {
            grants: hosts
                .iter()
                .map(|host| GrantedHost::parse(host).unwrap())
                .collect(),
            ..Self::default()
        }
    }

    pub(crate) fn grant(mut self, host: &str) -> Self {
        self.grants.push(GrantedHost::parse(host).unwrap());
        self
    }

    pub(crate) fn name(mut self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|text| text.parse().unwrap());
        self.names.insert(name.to_owned(), addresses.collect());
        self
    }

    pub(crate) fn route(mut self, from: &str, to: SocketAddr) -> Self {
        self.routes.insert(from.parse().unwrap(), to);
        self
    }

    /// Every address without a route leads here.
    pub(crate) fn everywhere(mut self, to: SocketAddr) -> Self {
        self.otherwise = Some(to);
        self
    }

    pub(crate) fn door(mut self, listener: TcpListener, kind: ProxyDoorKind) -> Self {
        self.doors.push(ProxyDoor { listener, kind });
        self
    }

    /// Starts the proxy behind a door of its own. An address without a route is dialled to a
    /// closed port.
    pub(crate) fn start(mut self) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        self.doors.push(ProxyDoor {
            listener,
            kind: ProxyDoorKind::Proxy,
        });
        let (asked, dialled) = (Record::default(), Record::default());
        let passages = Record::default();
        let (seen, questions, dials) = (
            Arc::clone(&passages),
            Arc::clone(&asked),
            Arc::clone(&dialled),
        );
        let (routes, nowhere) = (self.routes, self.otherwise.unwrap_or_else(closed_port));
        let names = ProxyResolver::fixed(self.names);
        let inner = self.resolver.unwrap_or(names);
        let reach = ProxyOptions {
            resolver: ProxyResolver::new(move |name| {
                questions.lock().unwrap().push(name.to_owned());
                inner.look_up(name)
            }),
            dialer: ProxyDialer::new(move |address| {
                dials.lock().unwrap().push(address);
                *routes.get(&address).unwrap_or(&nowhere)
            }),
            limits: self.limits,
        };
        let observer = Arc::new(move |passage| seen.lock().unwrap().push(passage));
        let proxy = FilteringProxy::serve(self.doors, self.grants, reach, observer).unwrap();
        Running {
            proxy: Some(proxy),
            at,
            passages,
            asked,
            dialled,
        }
    }
}

type Record<T> = Arc<Mutex<Vec<T>>>;

impl Running {
    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.at)
    }

    /// Sends this and returns everything that comes back until the end.
    pub(crate) fn say(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = self.connect();
        // The proxy may refuse before it has read everything.
        stream.write_all(bytes.as_ref()).ok();
        rest(&mut stream)
    }

    /// The same, with the end of what is said told to the proxy.
    pub(crate) fn say_half(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes.as_ref()).ok();
        stream.shutdown(Shutdown::Write).ok();
        String::from_utf8_lossy(&rest(&mut stream)).into_owned()
    }

    pub(crate) fn say_text(&self, bytes: impl AsRef<[u8]>) -> String {
        String::from_utf8_lossy(&self.say(bytes)).into_owned()
    }

    /// Ends the proxy, which reports everything first.
    pub(crate) fn passages(&mut self) -> Vec<ProxyAccess> {
        drop(self.proxy.take());
        self.passages.lock().unwrap().clone()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn dialled(&self) -> Vec<SocketAddr> {
        self.dialled.lock().unwrap().clone()
    }
}

pub(crate) fn connect(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads to the end. A connection that is reset has ended too; one that hangs fails the test.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(cause) => assert_eq!(cause.kind(), std::io::ErrorKind::ConnectionReset),
    }
    all
}

/// Reads up to the end of a head.
pub(crate) fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A server that serves each connection by a function, and lasts as long as the test.
pub(crate) fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    server_at("127.0.0.1:0", serve)
}

pub(crate) fn server_at(at: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(at).unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (serve, stream) = (Arc::clone(&serve), stream.unwrap());
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// A server that answers every request with this, and keeps what it was sent up to the answer.
pub(crate) fn web_server(answer: &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let heads = Record::default();
    let kept = Arc::clone(&heads);
    let address = server(move |mut stream| {
        let head = read_head(&mut stream);
        kept.lock().unwrap().push(head);
        stream.write_all(answer.as_bytes()).unwrap();
    });
    (address, heads)
}

/// A server that sends everything back until its client has ended.
pub(crate) fn echo_server() -> SocketAddr {
    server(echo)
}

pub(crate) fn echo(mut stream: TcpStream) {
    let mut reader = stream.try_clone().unwrap();
    std::io::copy(&mut reader, &mut stream).ok();
}

/// A port below those that the system hands out, where nobody listens.
fn closed_port() -> SocketAddr {
    ([127, 0, 0, 1], 1).into()
}
