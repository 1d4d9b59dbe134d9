//! A workshop that is served, and somebody who calls it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use artel_config::ProcessEnvironment;
use artel_server::{DaemonOptions, ListenAddress, ListenAddressSource, ListenReach};
use artel_types::{ActorSurface, Clock, DiskSpaceMonitor, Failure, Timestamp};
use artel_workshop::{
    CommandContext, GlobalFlags, ShutdownLevel, TokenHolder, ViewerRole, Workshop, WorkshopInitMode,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// No answer takes longer than this, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long it is until the next look at something that is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// Whatever is waited for is there after so many looks.
const MOST_LOOKS: usize = 20_000;

/// What the model says to anything.
const SCRIPT: &str = "\
rules:
  - expect: { says: Look outside }
    call: { bash: { command: \"ls\" } }
  - expect: { says: Lose the key }
    fault: key
otherwise:
  say: \"done\"
  usage: { input: 900, output: 100 }
";

/// The roles, from the lowest on.
pub(crate) const ROLES: [ViewerRole; 3] =
    [ViewerRole::User, ViewerRole::Developer, ViewerRole::Admin];

/// A workshop that is served until this is dropped.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) workshop: Workshop,
    pub(crate) address: SocketAddr,
    /// By how many microseconds its clock goes before the machine's.
    ahead: Arc<AtomicI64>,
    tokens: BTreeMap<&'static str, String>,
    stop: watch::Sender<ShutdownLevel>,
    _reload: watch::Sender<u64>,
    serving: Option<JoinHandle<Result<(), Failure>>>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// A house with these settings.
    pub(crate) fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ahead = Arc::new(AtomicI64::new(0));
        let workshop = workshop(&folder, settings, &ahead);
        let token = |role: ViewerRole| {
            let made = workshop.create_token(Some(role.as_str()), role, TokenHolder::Person);
            let made = made.unwrap();
            (role.as_str(), made.done.token)
        };
        let tokens = ROLES.into_iter().map(token).collect();
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        let (reload, reloads) = watch::channel(0);
        let (says, said) = mpsc::channel();
        let served = Arc::new(workshop.reloaded().unwrap());
        let serving = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
            let options = DaemonOptions {
                address: ListenAddress::parse("127.0.0.1:0", ListenReach::Loopback).unwrap(),
                said: ListenAddressSource::AtStart,
                says: Arc::new(move |text| drop(says.send(text.to_owned()))),
            };
            runtime.block_on(artel_server::serve(served, options, stops, reloads))
        });
        let mut lines = std::iter::from_fn(|| said.recv_timeout(PATIENCE).ok());
        let address =
            lines.find_map(|line| line.strip_prefix("listening on http://")?.parse().ok());
        Self {
            folder,
            workshop,
            address: address.unwrap(),
            ahead,
            tokens,
            stop,
            _reload: reload,
            serving: Some(serving),
        }
    }

    /// Sets its clock so far before the machine's.
    pub(crate) fn moves_clock(&self, ahead: Duration) {
        let ahead = i64::try_from(ahead.as_micros()).unwrap();
        self.ahead.store(ahead, Ordering::Relaxed);
    }

    /// Opens a project folder to agents, and returns where it is.
    pub(crate) fn portal(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        let body = serde_json::json!({ "path": path, "name": name });
        self.post("admin", "/api/v1/portals", &body).expect(201);
        path
    }

    pub(crate) fn token(&self, role: &str) -> &str {
        &self.tokens[role]
    }

    /// Asks for something.
    pub(crate) fn get(&self, role: &str, path: &str) -> Answer {
        self.call("GET", path).by(self.token(role)).send()
    }

    /// Sends something.
    pub(crate) fn post(&self, role: &str, path: &str, body: &Value) -> Answer {
        let call = self.call("POST", path).by(self.token(role));
        call.json(&body.to_string()).send()
    }

    /// Asks as an admin again and again until the answer is as wanted.
    pub(crate) fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut answer = Value::Null;
        for _ in 0..MOST_LOOKS {
            answer = self.get("admin", path).expect(200).json();
            if is_so(&answer) {
                return answer;
            }
            // What is waited for needs the processor too.
            std::thread::park_timeout(LOOK);
        }
        panic!("never: {path}: {answer}");
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call {
            address: self.address,
            method: method.to_owned(),
            path: path.to_owned(),
            host: self.address.to_string(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Returns the `Host` of the console.
    pub(crate) fn console(&self) -> String {
        let name = self.workshop.console_name().unwrap().unwrap();
        format!("{name}:{}", self.address.port())
    }

    /// Signs somebody in at the console.
    pub(crate) fn sign_in(&self, role: ViewerRole) -> SignedIn {
        let offer = self.workshop.offer_login(role).unwrap();
        let call = self.follows(&offer.code).host(&self.console());
        let answer = call.send().expect(200);
        let cookie = answer.header("set-cookie").unwrap();
        let of = |name: &str| {
            let meta = format!("<meta name=\"{name}\" content=\"");
            let value = answer.text.split(&meta).nth(1).unwrap();
            value.split('"').next().unwrap().to_owned()
        };
        SignedIn {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            key: of("artel-key"),
            login: of("artel-login"),
        }
    }

    /// Sends the code of a link, as the page does that the link leads to.
    pub(crate) fn follows(&self, code: &str) -> Call {
        let call = self.call("POST", "/login");
        let call = call.header("Content-Type", "application/x-www-form-urlencoded");
        call.body(&format!("code={code}"))
    }

    /// Calls the console with a cookie, as a browser does that loads a page.
    pub(crate) fn with_cookie(&self, method: &str, path: &str, cookie: &str) -> Call {
        let call = self.call(method, path).host(&self.console());
        call.header("Cookie", cookie)
    }

    /// Sends something as a page of somebody does who is signed in.
    pub(crate) fn act(&self, by: &SignedIn, path: &str, body: &Value) -> Answer {
        let call = self.with_cookie("POST", path, &by.cookie);
        let call = call.header("X-Artel-Proof", &by.key);
        call.json(&body.to_string()).send()
    }

    /// Returns every route that the description names, with the role it needs.
    pub(crate) fn routes(&self) -> Vec<Route> {
        let mut routes = Vec::new();
        for (path, item) in artel_server::openapi()["paths"].as_object().unwrap() {
            for (method, about) in item.as_object().unwrap() {
                routes.push(Route {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    role: about["x-role"].as_str().map(str::to_owned),
                    about: about.clone(),
                });
            }
        }
        assert!(routes.len() > 80, "{}", routes.len());
        routes
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.send_replace(ShutdownLevel::Now);
        if let Some(serving) = self.serving.take() {
            drop(serving.join());
        }
    }
}

fn workshop(folder: &TempDir, settings: &str, ahead: &Arc<AtomicI64>) -> Workshop {
    let home = folder.path();
    let script = home.join("script.yaml");
    std::fs::write(&script, SCRIPT).unwrap();
    let variables = [
        ("HOME", home.display().to_string()),
        ("ARTEL_MODEL", format!("rehearsal:{}", script.display())),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("ARTEL_WORKSHOP", home.join("Artel").display().to_string()),
    ];
    let environment = ProcessEnvironment::of(variables, home);
    let (system, ahead) = (artel_config::system_clock(), Arc::clone(ahead));
    let uptime = system.clone();
    let wall = move || {
        let now = system.now().as_micros();
        Timestamp::from_micros(now + ahead.load(Ordering::Relaxed))
    };
    let clock = Clock::new(wall, move || uptime.uptime());
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    let caller = caller.with_room(DiskSpaceMonitor::awaited(|_| None));
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    std::fs::write(root.join("artel.toml"), settings).unwrap();
    caller.workshop().unwrap()
}

/// What a browser has of a sign-in.
pub(crate) struct SignedIn {
    pub(crate) cookie: String,
    pub(crate) key: String,
    pub(crate) login: String,
}

/// A route, as the description has it.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The role it needs; nothing where anybody is answered.
    pub(crate) role: Option<String>,
    pub(crate) about: Value,
}

impl Route {
    /// Returns its path with something in each of its places.
    pub(crate) fn at(&self, id: &str) -> String {
        let mut path = self.path.clone();
        while let (Some(from), Some(to)) = (path.find('{'), path.find('}')) {
            path.replace_range(from..=to, id);
        }
        path
    }

    /// Tells whether the description names an answer with this status.
    pub(crate) fn answers(&self, status: u16) -> bool {
        let said = self.about["responses"].as_object().unwrap();
        said.contains_key(&status.to_string())
            || (400..500).contains(&status) && said.contains_key("4XX")
    }
}

/// Something to be sent.
pub(crate) struct Call {
    address: SocketAddr,
    method: String,
    path: String,
    host: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

impl Call {
    pub(crate) fn by(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Has it go to another address than the first one.
    pub(crate) fn to(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self
    }

    pub(crate) fn json(self, body: &str) -> Self {
        self.header("Content-Type", "application/json").body(body)
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    /// Sends it, and returns what comes back, head first.
    pub(crate) fn open(&self) -> (u16, BTreeMap<String, String>, BufReader<TcpStream>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\n",
            self.method, self.path, self.host
        );
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = self.body.as_deref().unwrap_or_default();
        head += &format!(
            "Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        // A server that has heard enough hangs up before everything is sent.
        let sent = stream.write_all(head.as_bytes());
        drop(sent.and_then(|()| stream.write_all(body.as_bytes())));
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line
            .split(' ')
            .nth(1)
            .unwrap_or_else(|| panic!("{}: {line:?}", self.path));
        let status = status.parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        (status, headers, reader)
    }

    pub(crate) fn send(self) -> Answer {
        let (status, headers, mut reader) = self.open();
        let mut body = Vec::new();
        drop(reader.read_to_end(&mut body));
        let mut text = String::from_utf8_lossy(&body).into_owned();
        if headers
            .get("transfer-encoding")
            .is_some_and(|it| it == "chunked")
        {
            text = joined(&text);
        }
        let what = format!(
            "{} {}",
            self.method,
            self.path.get(..200).unwrap_or(&self.path)
        );
        Answer {
            what,
            status,
            headers,
            text,
        }
    }
}

/// Joins the chunks of a body.
fn joined(text: &str) -> String {
    let (mut rest, mut whole) = (text, String::new());
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = more.get(..size).filter(|_| size > 0) else {
            break;
        };
        whole += chunk;
        rest = more.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    what: String,
    pub(crate) status: u16,
    headers: BTreeMap<String, String>,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.what, self.text);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let read = serde_json::from_str(&self.text);
        read.unwrap_or_else(|error| panic!("{}: {error}: {}", self.what, self.text))
    }

    /// Returns the code of what failed; empty where nothing did.
    pub(crate) fn code(&self) -> String {
        let read: Value = serde_json::from_str(&self.text).unwrap_or_default();
        read["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}
