//! The console over HTTP: every page with a real workshop behind it, for those who see all of it
//! and for those who see what came of it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use super::town::{SCRIPT, Town};
use crate::support::House;

/// What only an agent thought; it stands in no file and in no summary.
const THOUGHT: &str = "the minus looks wrong to me";

/// A town with finished work, a daemon, and whoever looks at its pages.
struct Served {
    town: Town,
    listen: String,
    /// The name at which browsers reach the console, with its port.
    console: String,
    pid: String,
    id: String,
}

impl Served {
    fn new() -> Self {
        let call = "    call:\n      - edit: { path: calc.py";
        let script = SCRIPT.replace(call, &format!("    think: {THOUGHT}\n{call}"));
        assert!(script.contains(THOUGHT));
        let town = Town::saying(&script);
        let id = town.asked();
        town.artel(["plan", "approve", &id, "--json"])
            .run()
            .expect(0);
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let started = town.artel(start).run().expect(0).json();
        let link = town.artel(["open", "--json"]).run().expect(0).json();
        let url = link["url"].as_str().unwrap();
        let console = url.split('/').nth(2).unwrap().to_owned();
        Self {
            listen: started["listen"].as_str().unwrap().to_owned(),
            console,
            pid: started["pid"].to_string(),
            id: id.chars().take(8).collect(),
            town,
        }
    }

    fn send(&self, path: &str, header: &str) -> (u16, String, String) {
        self.send_to(&self.console, path, header)
    }

    fn send_to(&self, host: &str, path: &str, header: &str) -> (u16, String, String) {
        self.exchange(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\nConnection: close\r\n\r\n"
        ))
    }

    /// Sends the code of a link, as the page does that the link leads to.
    fn follow(&self, link: &str) -> (u16, String, String) {
        let (_, body) = link.split_once("/login?").unwrap();
        self.exchange(&format!(
            "POST /login HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.console,
            body.len()
        ))
    }

    fn exchange(&self, text: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.listen).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    /// Signs in by a link, and returns the header that shows it.
    fn login(&self, role: &str) -> String {
        let words = ["open", "--role", role, "--json"];
        let link = self.town.artel(words).run().expect(0).json();
        let url = link["url"].as_str().unwrap();
        let (status, head, _) = self.follow(url);
        assert_eq!(status, 200, "{head}");
        let cookie = head.split("set-cookie: ").nth(1).unwrap();
        format!("Cookie: {}", cookie.split(';').next().unwrap())
    }

    fn pages(&self) -> Vec<String> {
        let id = &self.id;
        let of_work = ["plans", "runs", "changesets", "reports"];
        let mut pages: Vec<String> = of_work.iter().map(|it| format!("/{it}/{id}")).collect();
        pages.extend(of_work.iter().map(|it| format!("/{it}")));
        pages
            .extend(["/", "/agents", "/journal", "/runs?state=complete&text=mend"].map(Into::into));
        pages
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-9", &self.pid]).status());
    }
}

#[test]
fn every_page_is_there_and_shows_as_much_as_the_role_sees() {
    let served = Served::new();
    let (admin, user) = (served.login("admin"), served.login("user"));
    let id = &served.id;
    let more = [
        format!("/runs/{id}?view=full"),
        format!("/changesets/{id}?side=split"),
        format!("/plans/{id}?v=1"),
        format!("/plans/{id}?v=1&from=1"),
        format!("/plans/{id}/text"),
        "/skills".to_owned(),
        "/agents/engineer".to_owned(),
        "/usage?days=7".to_owned(),
        "/settings".to_owned(),
        "/journal?kind=plan.&since=1h".to_owned(),
        "/assets/console.css".to_owned(),
        "/assets/console.js".to_owned(),
    ];
    for path in served.pages().iter().chain(&more) {
        let (status, head, body) = served.send(path, &admin);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(head.contains("content-security-policy: default-src 'none'"));
        assert!(!body.contains(" style="), "{path}");
    }
    let full = served.send(&format!("/runs/{id}?view=full"), &admin).2;
    assert!(full.contains(THOUGHT), "{full}");
    assert!(full.contains("run_tests"), "{full}");
    assert!(
        served
            .send(&format!("/changesets/{id}"), &admin)
            .2
            .contains("added")
    );

    // Whoever sees what came of it sees no thought, no call, no line of code.
    for path in served.pages().iter().chain(&more[..2]) {
        let (status, _, body) = served.send(path, &user);
        assert_eq!(status, 200, "{path}: {body}");
        for hidden in [
            THOUGHT,
            "run_tests {",
            "def add",
            "tool.requested",
            "model.replied",
        ] {
            assert!(!body.contains(hidden), "{hidden} in {path}: {body}");
        }
    }
    let output = "<summary>output</summary>";
    let run = format!("/runs/{id}");
    assert!(served.send(&run, &admin).2.contains(output));
    assert!(!served.send(&run, &user).2.contains(output));
    for path in ["/settings", "/usage", "/skills"] {
        let (status, _, body) = served.send(path, &user);
        assert_eq!(status, 403, "{path}");
        assert!(body.contains("this needs the role"), "{body}");
    }
}

/// The contents of files are part of the full view, over HTTP and in the console.
#[test]
fn what_differs_is_for_those_who_see_runs_in_full() {
    let served = Served::new();
    let token = |role: &str| {
        let words = ["token", "create", "--role", role, "--name", role, "--json"];
        let made = served.town.artel(words).run().expect(0).json();
        format!("Authorization: Bearer {}", made["token"].as_str().unwrap())
    };
    let (admin, developer) = (token("admin"), token("developer"));
    let cookie = served.login("developer");
    let (id, listen) = (&served.id, &served.listen);
    let ask = |path: &str| served.send_to(listen, path, &developer);
    let shown = format!("/api/v1/changesets/{id}");
    let seen: serde_json::Value = serde_json::from_str(&ask(&shown).2).unwrap();
    let run = format!("/api/v1/runs/{}/diff", seen["run"].as_str().unwrap());
    for sees_lines in [true, false] {
        if !sees_lines {
            let body = "{\"developer\":\"summary\"}";
            let (status, _, body) = served.exchange(&format!(
                "POST /api/v1/visibility HTTP/1.1\r\nHost: {listen}\r\n{admin}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{body}",
                body.len()
            ));
            assert_eq!(status, 200, "{body}");
        }
        let (status, _, body) = ask(&format!("{shown}/diff"));
        assert_eq!(status, if sees_lines { 200 } else { 403 }, "{body}");
        assert_eq!(body.contains("def add"), sees_lines, "{body}");
        let (status, _, body) = ask(&run);
        assert_eq!(status != 403, sees_lines, "{body}");
        let (status, _, body) = served.send(&format!("/changesets/{id}"), &cookie);
        assert_eq!(status, 200, "{body}");
        assert_eq!(body.contains("id=\"file-1\""), sees_lines, "{body}");
        assert_eq!(body.contains("side by side"), sees_lines, "{body}");
        // They may still merge.
        assert!(body.contains("data-said=\"Merged\""), "{body}");
    }
}

#[test]
fn what_is_not_there_says_so_on_a_page() {
    let served = Served::new();
    let admin = served.login("admin");
    for path in [
        "/runs/ffffffff",
        "/plans/ffffffff",
        "/plans/..%2f..%2fetc",
        "/changesets/ffffffff",
        "/reports/ffffffff",
        "/skills/nothing-of-that-name",
        "/agents/nobody",
        "/assets/..%2fconsole.css",
        "/nowhere",
    ] {
        let (status, head, body) = served.send(path, &admin);
        assert_eq!(status, 404, "{path}: {body}");
        assert!(head.contains("content-type: text/html"), "{head}");
        assert!(body.contains("<h1>"), "{body}");
    }
    for path in ["/", "/assets/console.js", "/assets/mark.svg", "/runs"] {
        let (status, _, body) = served.send(path, "Cookie: artel=0000");
        assert_eq!(status, 401, "{path}");
        assert!(body.contains("artel open"), "{body}");
        assert!(body.contains("href=\"/assets/console.css\""), "{body}");
    }
    // How that page looks is for everybody.
    let (status, head, _) = served.send("/assets/console.css", "Cookie: artel=0000");
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/css"), "{head}");
}

#[test]
fn addresses_that_do_not_fit_are_answered_in_our_words() {
    let served = Served::new();
    let admin = served.login("admin");
    let id = &served.id;
    for path in [
        "/runs?before=x".to_owned(),
        "/plans?before=-1".to_owned(),
        "/journal?before=x".to_owned(),
        "/usage?days=many".to_owned(),
        format!("/plans/{id}?v=two"),
        format!("/plans/{id}?from=-1"),
        format!("/plans/{id}/text?v=x"),
        format!("/runs/{id}?before=x"),
        "/runs/%ff".to_owned(),
        "/plans/%ff".to_owned(),
    ] {
        let (status, head, body) = served.send(&path, &admin);
        assert_eq!(status, 400, "{path}: {body}");
        assert!(head.contains("content-type: text/html"), "{path}: {head}");
        assert!(body.contains("<h1>"), "{path}: {body}");
        assert!(body.contains("C004"), "{path}: {body}");
    }
}

#[test]
fn files_that_a_browser_has_are_not_sent_again() {
    let served = Served::new();
    let admin = served.login("admin");
    let (_, head, _) = served.send("/assets/console.js", &admin);
    let tag = head.split("etag: ").nth(1).unwrap();
    let tag = tag.lines().next().unwrap();
    let header = format!("{admin}\r\nIf-None-Match: {tag}");
    let (status, _, body) = served.send("/assets/console.js", &header);
    assert_eq!((status, body.as_str()), (304, ""));
}

/// With `--public` and the proxy's name in the settings, browsers come by that name and programs by the
/// address.
#[test]
fn a_public_server_is_opened_at_the_name_of_its_proxy() {
    let house = House::new();
    house.settings("[server]\nhosts = [\"artel.example\"]\n");
    let town = Town::asking(house, "rehearsal:/nowhere".to_owned());
    let create = [
        "token", "create", "--role", "user", "--name", "ci", "--json",
    ];
    let token = town.artel(create).run().expect(0).json();
    let token = format!("Authorization: Bearer {}", token["token"].as_str().unwrap());
    let start = [
        "daemon",
        "start",
        "--public",
        "--listen",
        "0.0.0.0:0",
        "--json",
    ];
    let started = town.artel(start).run().expect(0).json();
    let (_, port) = started["listen"]
        .as_str()
        .unwrap()
        .rsplit_once(':')
        .unwrap();
    let link = town.artel(["open", "--json"]).run().expect(0).json();
    let url = link["url"].as_str().unwrap();
    let served = Served {
        listen: format!("127.0.0.1:{port}"),
        console: "artel.example".to_owned(),
        pid: started["pid"].to_string(),
        id: String::new(),
        town,
    };
    assert!(url.starts_with("https://artel.example/"), "{url}");
    let (status, head, _) = served.follow(url);
    assert_eq!(status, 200, "{head}");
    let cookie = head.split("set-cookie: ").nth(1).unwrap();
    let (cookie, rest) = cookie.split_once(';').unwrap();
    assert!(rest.lines().next().unwrap().contains("secure"), "{rest}");
    let cookie = format!("Cookie: {cookie}");
    assert_eq!(served.send("/runs", &cookie).0, 200);
    // At the address the cookie is worth nothing, and a token is.
    let at_address = |header: &str| served.send_to(&served.listen, "/api/v1/runs", header);
    assert_eq!(at_address(&cookie).0, 401);
    let (status, _, body) = at_address(&token);
    assert_eq!(status, 200, "{body}");
}
