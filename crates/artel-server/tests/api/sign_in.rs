//! Signing in at the console: what a cookie opens, what takes the key, what takes a fresh sign-in,
//! and at which names any of it counts.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::time::Duration;

use artel_journal::EventBatch;
use artel_types::{
    Actor, EventDraft, Fact, LoginOffered, LoginUsed, StreamName, Timestamp, TraceId,
};
use artel_workshop::ViewerRole;
use serde_json::{Value, json};

use crate::house::{House, Route, SignedIn};

/// A token to be made: what R4 of the hostile trial was after.
fn token() -> Value {
    json!({ "role": "admin", "name": "x", "program": false })
}

fn posts(house: &House) -> Vec<Route> {
    let mut routes = house.routes();
    routes.retain(|it| it.method == "POST");
    assert!(routes.len() > 40, "{}", routes.len());
    routes
}

#[test]
fn a_cookie_alone_changes_nothing() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::Admin);
    let other = house.sign_in(ViewerRole::Admin);
    let read = house.with_cookie("GET", "/api/v1/tokens", &ada.cookie);
    read.send().expect(200);
    // None of it is a key: none at all, another sign-in's, or anything that a page or the cookie says.
    let (_, shown) = ada.cookie.split_once('=').unwrap();
    let derived = blake3::derive_key("artel console proof 1", shown.as_bytes());
    let derived = blake3::Hash::from(derived).to_hex().to_string();
    let wrong = ["00", &other.key, &ada.login, shown, &derived];
    for route in posts(&house) {
        let path = route.at("00000000");
        let call = || house.with_cookie("POST", &path, &ada.cookie);
        let plain = call().json("{}").send();
        assert_eq!(
            (plain.status, plain.code().as_str()),
            (403, "H007"),
            "{route:?}"
        );
        for key in wrong {
            let call = call().header("X-Artel-Proof", key);
            let answer = call.json("{}").send();
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (403, "H007"),
                "{key} {route:?}"
            );
        }
    }
    house
        .act(&ada, "/api/v1/events", &json!({ "text": "with the key" }))
        .expect(201);
}

/// Whoever gets at the cookie reads pages, and finds the key in none of them.
#[test]
fn no_page_and_no_answer_has_the_key() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::Admin);
    let pages = [
        "/",
        "/settings",
        "/journal",
        "/runs",
        "/usage",
        "/nowhere",
        "/assets/console.js",
    ];
    let more = [
        "/api/v1/tokens",
        "/api/v1/events",
        "/api/v1/events?view=full",
    ];
    for path in pages.iter().chain(&more) {
        let answer = house.with_cookie("GET", path, &ada.cookie).send();
        assert!(!answer.text.contains(&ada.key), "{path}");
        assert!(!answer.text.contains("artel-proof"), "{path}");
    }
}

#[test]
fn a_cookie_counts_at_the_consoles_own_name_alone() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::Admin);
    let port = house.address.port();
    let console = house.console();
    let (name, _) = console.rsplit_once(':').unwrap();
    for (host, status) in [
        (console.clone(), 200),
        (console.to_uppercase(), 200),
        // As a browser sends it through `ssh -L 9000:127.0.0.1:7717`.
        (format!("{name}:9000"), 200),
        (name.to_owned(), 200),
        (format!("127.0.0.1:{port}"), 401),
        (format!("localhost:{port}"), 401),
        (format!("LOCALHOST:{port}"), 401),
        (format!("[::1]:{port}"), 401),
        (format!("localhost.:{port}"), 403),
        (format!("{name}.:{port}"), 403),
        (format!("x.{name}:{port}"), 403),
        (format!("{name}.attacker.example:{port}"), 403),
        (format!("{name}:{port}@attacker.example"), 403),
    ] {
        for path in ["/", "/api/v1/waiting", "/settings"] {
            let call = house.call("GET", path).host(&host);
            let answer = call.header("Cookie", &ada.cookie).send();
            assert_eq!(answer.status, status, "{path} at {host}");
        }
        let call = house.call("POST", "/api/v1/tokens").host(&host);
        let call = call
            .header("Cookie", &ada.cookie)
            .header("X-Artel-Proof", &ada.key);
        let made = call.json(&token().to_string()).send();
        let wanted = if status == 200 { 201 } else { status };
        assert_eq!(made.status, wanted, "{host}: {made:?}");
        // A program calls it by its address, and may by the name.
        if status != 403 {
            let call = house.call("GET", "/api/v1/waiting").host(&host);
            call.by(house.token("user")).send().expect(200);
        }
    }
}

#[test]
fn a_page_of_another_port_of_the_name_sends_nothing() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::Admin);
    let console = house.console();
    let (name, _) = console.rsplit_once(':').unwrap();
    let from = |origin: &str, site: &str| {
        let call = house.with_cookie("POST", "/api/v1/tokens", &ada.cookie);
        let call = call.header("X-Artel-Proof", &ada.key);
        let call = call.header("Origin", origin).header("Sec-Fetch-Site", site);
        call.json(&token().to_string()).send().status
    };
    assert_eq!(from(&format!("http://{console}"), "same-origin"), 201);
    assert_eq!(from(&format!("http://{name}:3000"), "same-site"), 403);
    // Nor where a browser does not say which site it is.
    assert_eq!(from(&format!("http://{name}:3000"), "none"), 403);
    assert_eq!(from(&format!("http://{name}"), "none"), 403);
    assert_eq!(from(&format!("http://{}", house.address), "none"), 403);
    // Nor where the target says another name than `Host`.
    let target = format!("http://{}/api/v1/waiting", house.address);
    let call = house.with_cookie("GET", &target, &ada.cookie);
    call.send().expect(403);
}

#[test]
fn a_link_works_once_and_at_the_consoles_name_alone() {
    let house = House::new();
    let offer = house.workshop.offer_login(ViewerRole::User).unwrap();
    let path = format!("/login?code={}", offer.code);
    let at = |host: &str, path: &str| house.call("GET", path).host(host).send();
    let follow = |host: &str| house.follows(&offer.code).host(host).send();
    let console = house.console();
    // At an address that others share nobody is signed in, and the link holds on.
    let address = house.address.to_string();
    for shared in [at(&address, &path), follow(&address)] {
        let shared = shared.expect(401);
        assert_eq!(shared.header("set-cookie"), None);
        assert!(!shared.text.contains(".localhost"), "the name is not told");
    }
    let foreign = house.follows(&offer.code).host(&console);
    let foreign = foreign.header("Origin", "http://attacker.example");
    foreign.send().expect(403);
    let signed_in = follow(&console).expect(200);
    assert_eq!(signed_in.header("cache-control"), Some("no-store"));
    let cookie = signed_in.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    for part in ["Domain", "Secure"] {
        assert!(!cookie.contains(part), "{cookie}");
    }
    follow(&console).expect(401);
    for path in ["/login", "/login?code=", "/login?code=%3Cb%3E"] {
        at(&console, path).expect(401);
    }
    for body in ["", "code=", "code=0", "other=0"] {
        let call = house.call("POST", "/login").host(&console);
        call.body(body).send().expect(401);
    }
}

/// Puts on record that somebody signed in, as it was then.
fn on_record(house: &House, key: Option<&str>) -> SignedIn {
    let since = house.workshop.caller().clock().now();
    let hash = |secret: &str| blake3::hash(secret.as_bytes()).to_hex().to_string();
    let id = "0a1b2c3d".to_owned();
    let offered = LoginOffered {
        id: id.clone(),
        name: "ada".to_owned(),
        role: "admin".to_owned(),
        hash: hash("the code"),
        until: since,
    };
    let until = Timestamp::from_micros(since.as_micros() + 7 * 24 * 3_600 * 1_000_000);
    let used = LoginUsed {
        id: id.clone(),
        hash: hash("the cookie"),
        until,
        key: key.map(hash),
    };
    let draft = |fact: Fact| {
        let trace = TraceId::from_random([9; 16]);
        EventDraft::new(StreamName::access(), trace, Actor::system("test"), fact)
    };
    let journal = house.workshop.open().unwrap().journal;
    let batch = EventBatch::of([draft(offered.into()), draft(used.into())]);
    journal.append(batch).wait().unwrap();
    SignedIn {
        cookie: format!("artel-{}=the cookie", house.workshop.id().short()),
        key: key.unwrap_or_default().to_owned(),
        login: id,
    }
}

/// A browser that signed in with the program as it was before there were keys.
#[test]
fn an_old_cookie_asks_for_a_fresh_sign_in() {
    let house = House::new();
    let ada = on_record(&house, None);
    for host in [house.address.to_string(), house.console()] {
        for path in ["/", "/settings", "/runs"] {
            let call = house.call("GET", path).host(&host);
            let answer = call.header("Cookie", &ada.cookie).send().expect(401);
            assert!(answer.text.contains("Sign in"), "{}", answer.text);
            assert!(answer.text.contains("artel open"), "{}", answer.text);
        }
        let derived = blake3::derive_key("artel console proof 1", b"the cookie");
        let derived = blake3::Hash::from(derived).to_hex().to_string();
        let call = house.call("POST", "/api/v1/tokens").host(&host);
        let call = call
            .header("Cookie", &ada.cookie)
            .header("X-Artel-Proof", &derived);
        call.json(&token().to_string()).send().expect(401);
    }
    // It is the key that is missing: with one on record the same cookie is let in.
    let known = House::new();
    let bo = on_record(&known, Some("the key"));
    known.with_cookie("GET", "/", &bo.cookie).send().expect(200);
    // They sign in again, and all is as it was.
    let ada = house.sign_in(ViewerRole::Admin);
    house
        .act(&ada, "/api/v1/events", &json!({ "text": "again" }))
        .expect(201);
}

/// Tokens, grants and trust: a portal trusts a folder, and what bounds it ends when it is closed. The
/// file of a role names its secrets and what it may not use.
const FOR_GOOD: [&str; 9] = [
    "/api/v1/agents",
    "/api/v1/agents/{id}/edit",
    "/api/v1/agents/{id}/remove",
    "/api/v1/hooks/trust",
    "/api/v1/policy/grants",
    "/api/v1/portals",
    "/api/v1/portals/{name}/remove",
    "/api/v1/skills/{name}/trust",
    "/api/v1/tokens",
];

#[test]
fn what_opens_a_door_for_good_takes_a_fresh_sign_in() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::Admin);
    let is_stale =
        |route: &Route| house.act(&ada, &route.at("00000000"), &json!({})).code() == "H010";
    let mut routes = posts(&house);
    // That would be the end of it.
    routes.retain(|it| it.path != "/api/v1/logout");
    house.moves_clock(Duration::from_secs(299));
    let stale: Vec<_> = routes.iter().filter(|it| is_stale(it)).collect();
    assert!(stale.is_empty(), "{stale:?}");
    house.moves_clock(Duration::from_secs(300));
    let mut stale: Vec<&str> = Vec::new();
    for route in &routes {
        let is_marked = route.about["x-fresh-sign-in"] == true;
        assert_eq!(is_stale(route), is_marked, "{route:?}");
        stale.extend(is_marked.then_some(route.path.as_str()));
    }
    stale.sort_unstable();
    assert_eq!(stale, FOR_GOOD);
    let refused = house.act(&ada, "/api/v1/tokens", &token()).expect(403);
    assert!(refused.text.contains("artel open"), "{}", refused.text);

    // Everything else goes on, a token needs no sign-in, and a fresh one is all it takes.
    house
        .act(&ada, "/api/v1/events", &json!({ "text": "on" }))
        .expect(201);
    house.post("admin", "/api/v1/tokens", &token()).expect(201);
    let again = house.sign_in(ViewerRole::Admin);
    house.act(&again, "/api/v1/tokens", &token()).expect(201);
    house.act(&ada, "/api/v1/tokens", &token()).expect(403);
}

/// Begins a run that asks, and returns the path and the body of an answer to its call.
fn asking(house: &House) -> (String, impl Fn(&str) -> Value) {
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    let waiting = house.until("/api/v1/waiting", |answer| !answer["calls"][0].is_null());
    let call = &waiting["calls"][0];
    let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
    let hash = call["hash"].clone();
    let answer = move |word: &str| json!({ "hash": hash, "answer": word, "reason": "we do" });
    (path, answer)
}

#[test]
fn only_an_admin_who_just_signed_in_answers_always() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let granted = || {
        let events = house.get("admin", "/api/v1/events?kind=policy.granted");
        events.expect(200).json()["events"]
            .as_array()
            .unwrap()
            .len()
    };
    let ada = house.sign_in(ViewerRole::Admin);
    house.moves_clock(Duration::from_secs(300));
    let (path, answer) = asking(&house);
    let refused = house.act(&ada, &path, &answer("always")).expect(403);
    assert_eq!(refused.code(), "H010");
    house
        .post("developer", &path, &answer("always"))
        .expect(403);
    assert_eq!(granted(), 0);
    house.act(&ada, &path, &answer("run")).expect(200);
    assert_eq!(granted(), 0);
    let ada = house.sign_in(ViewerRole::Admin);
    let (path, answer) = asking(&house);
    house.act(&ada, &path, &answer("always")).expect(200);
    assert_eq!(granted(), 1);
}

/// Setting the clock back makes no old sign-in a fresh one.
#[test]
fn a_sign_in_from_the_future_is_not_fresh() {
    let house = House::new();
    house.moves_clock(Duration::from_secs(30));
    let ada = house.sign_in(ViewerRole::Admin);
    house.act(&ada, "/api/v1/tokens", &token()).expect(201);
    house.moves_clock(Duration::ZERO);
    house
        .act(&ada, "/api/v1/events", &json!({ "text": "on" }))
        .expect(201);
    let refused = house.act(&ada, "/api/v1/tokens", &token()).expect(403);
    assert_eq!(refused.code(), "H010");
}

/// A key that fits no more is refused and said so; whoever signs out has none.
#[test]
fn a_key_ends_with_its_sign_in() {
    let house = House::new();
    let (ada, ben) = (
        house.sign_in(ViewerRole::Admin),
        house.sign_in(ViewerRole::Admin),
    );
    let mixed = SignedIn {
        cookie: ben.cookie.clone(),
        key: ada.key.clone(),
        login: ada.login.clone(),
    };
    let note = json!({ "text": "mixed" });
    let refused = house.act(&mixed, "/api/v1/events", &note).expect(403);
    assert_eq!(refused.code(), "H007");
    assert!(refused.text.contains("artel open"), "{}", refused.text);
    house.act(&ada, "/api/v1/logout", &json!({})).expect(204);
    house.act(&ada, "/api/v1/events", &note).expect(401);
    house.act(&ben, "/api/v1/events", &note).expect(201);
}

/// Whoever else had the port of the other loopback address would be taken for the console.
#[test]
fn it_listens_wherever_its_name_leads() {
    let house = House::new();
    let port = house.address.port();
    assert!(house.address.is_ipv4());
    for address in [("127.0.0.1", port), ("::1", port)] {
        let taken = TcpListener::bind(address).unwrap_err();
        assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse, "{address:?}");
    }
    let call = house
        .call("GET", "/healthz")
        .to(SocketAddr::from((Ipv6Addr::LOCALHOST, port)));
    call.host(&house.console()).send().expect(200);
}

/// The name that the settings give the proxy is the console's too; one that other ports share is not.
#[test]
fn behind_a_proxy_the_console_has_the_proxys_name() {
    let house = House::with("[server]\nhosts = [\"artel.example\", \"localhost:9000\"]\n");
    let follow = |host: &str| {
        let offer = house.workshop.offer_login(ViewerRole::Admin).unwrap();
        house.follows(&offer.code).host(host).send()
    };
    follow("localhost:9000").expect(401);
    let answer = follow("artel.example").expect(200);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next();
    let key = answer
        .text
        .split("\"artel-key\" content=\"")
        .nth(1)
        .unwrap();
    let key = key.split('"').next().unwrap();
    let act = |host: &str, origin: &str| {
        let call = house.call("POST", "/api/v1/tokens").host(host);
        let call = call.header("Cookie", cookie.unwrap());
        let call = call.header("X-Artel-Proof", key).header("Origin", origin);
        let call = call.header("Sec-Fetch-Site", "same-origin");
        call.json(&token().to_string()).send().status
    };
    assert_eq!(act("artel.example", "https://artel.example"), 201);
    assert_eq!(act("artel.example", "https://artel.example:8443"), 403);
    assert_eq!(act("artel.example:80", "http://artel.example:80"), 403);
    assert_eq!(act("localhost:9000", "http://localhost:9000"), 401);
    assert_eq!(
        act(&house.address.to_string(), "https://artel.example"),
        401
    );
}
