//! What an agent can find of the secrets by which people and programs come in: nothing, wherever it
//! looks. Nor does anything that Artel keeps or shows hold one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::town::{Town, payload};
use crate::support::holding;

/// Looks wherever it can; `seen:` is what it found.
const SEARCH: &str = include_str!("tokens/search.py");

/// What the search has to find: a word in a file and on its own command line.
const PLANTED: &str = "heron-0f3b55";

/// A town in which an agent looks for what it should not have.
struct Searched {
    town: Town,
    listen: String,
    pid: String,
    /// Somebody who calls the server with the token on a command line and in the environment.
    caller: Child,
    secrets: Secrets,
}

struct Secrets {
    /// A program's token.
    token: String,
    /// The code of a link that nobody has followed yet.
    code: String,
    /// The code of a link that was followed.
    used: String,
    /// The key that it gave the page.
    key: String,
    /// What the browser got for it, and under which name.
    cookie: String,
    name: String,
}

impl Secrets {
    fn all(&self) -> [(&'static str, &str); 5] {
        [
            ("token", &self.token),
            ("code", &self.code),
            ("used", &self.used),
            ("cookie", &self.cookie),
            ("key", &self.key),
        ]
    }
}

impl Searched {
    fn new() -> Self {
        let since = SystemTime::now();
        let town = Town::saying(&script());
        fs::write(town.project.join("search.py"), SEARCH).unwrap();
        fs::write(town.project.join("planted.txt"), PLANTED).unwrap();
        let project = town.project.display().to_string();
        let add = ["portal", "add", &project, "--name", "calc"];
        town.artel(add).run().expect(0);
        let make = ["token", "create", "--role", "developer", "--json"];
        let token = word(&town.artel(make).run().expect(0).json()["token"]);
        // As whoever keeps the token in a variable and starts the daemon from the same shell.
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let start = town.artel(start).env("TOKEN", &token).run().expect(0);
        let (listen, pid) = (
            word(&start.json()["listen"]),
            start.json()["pid"].to_string(),
        );
        let caller = Command::new("sh")
            .args(["-c", "read -r end", "curl"])
            .arg(format!("Authorization: Bearer {token}"))
            .env("TOKEN", &token)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (console, used) = link(&town);
        let sent = format!("code={used}");
        let answer = ask_at(&console, &listen, "POST", "/login", "", &sent);
        let key = answer.split("\"artel-key\" content=\"").nth(1);
        let key = key.unwrap_or_else(|| panic!("{answer}"));
        let key = key.split('"').next().unwrap().to_owned();
        let head = answer
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let pair = head.unwrap_or_else(|| panic!("{answer}")).split(';').next();
        let (name, cookie) = pair.unwrap().split_once('=').unwrap();
        let (name, cookie) = (name.to_owned(), cookie.to_owned());
        let (_, code) = link(&town);
        let secrets = Secrets {
            token,
            code,
            used,
            key,
            cookie,
            name,
        };
        let searched = Self {
            town,
            listen,
            pid,
            caller,
            secrets,
        };
        searched.tell_needles(since);
        searched
    }

    /// Writes down what is looked for, backwards.
    fn tell_needles(&self, since: SystemTime) {
        let back = |word: &str| word.chars().rev().collect::<String>();
        let secrets = self.secrets.all().into_iter();
        let mut needles: Value = secrets.map(|(name, word)| (name, back(word))).collect();
        needles["planted"] = json!(back(PLANTED));
        needles["path"] = json!(back("PATH="));
        let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let port: u16 = self.listen.rsplit(':').next().unwrap().parse().unwrap();
        let told = json!({ "needles": needles, "since": since.as_secs(), "port": port });
        fs::write(self.town.project.join("needles.json"), told.to_string()).unwrap();
    }

    fn header(&self) -> String {
        format!("Authorization: Bearer {}", self.secrets.token)
    }
}

impl Drop for Searched {
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-9", &self.pid]).status());
        drop(self.caller.kill());
        drop(self.caller.wait());
    }
}

/// It searches, then asks the tools that read for Artel itself.
fn script() -> String {
    format!(
        r#"
lines:
  - call: {{ bash: {{ command: python3 search.py {PLANTED} }} }}
  - call:
      - read: {{ path: /proc/self/environ }}
      - read: {{ path: ../../../../../../../../proc/self/environ }}
      - read: {{ path: ../../../journal.db }}
      - read: {{ path: ../../../../logs/daemon.log }}
      - bash: {{ command: artel token list --json }}
  - call: {{ finish: {{ answer: I looked. }} }}
"#
    )
}

/// Makes a link, and returns the host and the code in it.
fn link(town: &Town) -> (String, String) {
    let open = ["open", "--role", "admin", "--json"];
    let link = town.artel(open).run().expect(0).json();
    let url = word(&link["url"]);
    let (host, code) = url.split_once("/login?code=").unwrap();
    let host = host.strip_prefix("http://").unwrap();
    (host.to_owned(), code.to_owned())
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn ask(listen: &str, method: &str, path: &str, header: &str, body: &str) -> String {
    ask_at(listen, listen, method, path, header, body)
}

/// The same by another name.
fn ask_at(host: &str, listen: &str, method: &str, path: &str, header: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(listen).unwrap();
    let length = body.len();
    let header = match header {
        "" => String::new(),
        header => format!("{header}\r\n"),
    };
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{header}Content-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn an_agent_finds_no_token_and_no_link_wherever_it_looks() {
    let searched = Searched::new();
    let (town, listen) = (&searched.town, &searched.listen);
    let order = json!({ "task": "Look around.", "portal": "calc" }).to_string();
    let began = ask(listen, "POST", "/api/v1/runs", &searched.header(), &order);
    assert!(began.starts_with("HTTP/1.1 201"), "{began}");
    let waiting = Instant::now();
    while town.count("run.finished") == 0 {
        assert!(
            waiting.elapsed() < Duration::from_secs(120),
            "{:#?}",
            town.events()
        );
        std::thread::sleep(Duration::from_millis(100));
    }

    finds_nothing(&searched);
    shows_nothing(&searched);
    town.artel(["daemon", "stop"]).run().expect(0);
    for (name, secret) in searched.secrets.all() {
        let kept = holding(&town.house.root(), secret.as_bytes());
        assert!(kept.is_empty(), "{name} is kept in {kept:?}");
    }
}

/// What the search found is what was put there to be found, and nobody answered it.
fn finds_nothing(searched: &Searched) {
    let events = searched.town.events();
    let ended = events.iter().filter(|it| it["kind"] == "tool.finished");
    let ended: Vec<Value> = ended.map(payload).collect();
    let told = ended[0]["observation"].as_str().unwrap();
    let seen = told
        .split_once("seen: ")
        .unwrap_or_else(|| panic!("{told}"))
        .1;
    let seen = seen.lines().next().unwrap();
    let seen: Vec<[String; 2]> = serde_json::from_str(seen).unwrap();
    let has = |name: &str, place: &str| seen.iter().any(|it| it[0] == name && it[1] == place);
    assert!(has("planted", "file"), "it looks into files: {seen:?}");
    assert!(has("planted", "cmdline"), "at words of commands: {seen:?}");
    assert!(has("path", "environ"), "into environments: {seen:?}");
    let others = seen
        .iter()
        .filter(|it| !["planted", "path"].contains(&it[0].as_str()));
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "{others:?}");
    // What reads for it in the daemon's own process leads nowhere else.
    for call in &ended[1..6] {
        assert_eq!(call["trouble"], "refused", "{call:#}");
    }
}

/// No page, no answer, no log and no event holds a secret, whoever looks.
fn shows_nothing(searched: &Searched) {
    let (town, listen) = (&searched.town, &searched.listen);
    let secrets = &searched.secrets;
    let cookie = format!("Cookie: {}={}", secrets.name, secrets.cookie);
    let (console, _) = link(town);
    let run = word(&town.artel(["runs", "--json"]).run().expect(0).json()[0]["run"]);
    let mut shown = Vec::new();
    for path in [
        "/",
        "/runs",
        &format!("/runs/{run}?view=full"),
        "/plans",
        "/journal",
        "/usage",
        "/settings",
        "/api/v1/tokens",
        "/api/v1/daemon",
        "/api/v1/events?view=full",
        &format!("/api/v1/runs/{run}/story?view=full"),
    ] {
        let answer = ask_at(&console, listen, "GET", path, &cookie, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        shown.push((path.to_owned(), answer));
    }
    for words in [["daemon", "logs"], ["journal", "export"], ["token", "list"]] {
        let seen = town.artel(words).run().expect(0);
        shown.push((words.join(" "), format!("{}{}", seen.out, seen.err)));
    }
    for (place, text) in shown {
        for (name, secret) in secrets.all() {
            assert!(!text.contains(secret), "{place} shows the {name}");
        }
    }
}
