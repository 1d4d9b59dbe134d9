//! What other sites' pages send is turned away on every route, before anything else is looked at.

use serde_json::json;

use crate::house::House;

#[test]
fn foreign_hosts_origins_and_sites_are_turned_away_everywhere() {
    let house = House::new();
    let address = house.address.to_string();
    let port = house.address.port();
    let own = format!("http://localhost:{port}");
    for route in house.routes() {
        let path = route.at("00000000");
        let call = || house.call(&route.method, &path).by(house.token("admin"));
        let foreign = [
            call().host("attacker.example"),
            call().host(&format!("attacker.example:{port}")),
            call().host("127.0.0.1:1"),
            call().header("Origin", "http://attacker.example"),
            call().header("Origin", "null"),
            call().header("Origin", &format!("http://attacker.example:{port}")),
            call().header("Sec-Fetch-Site", "cross-site"),
            call().header("Sec-Fetch-Site", "same-site"),
            call().header("Host", &address),
        ];
        for (at, call) in foreign.into_iter().enumerate() {
            let answer = call.send();
            assert_eq!(answer.status, 403, "{at} {route:?} {answer:?}");
            assert!(!answer.text.contains("error"), "{at} {route:?} {answer:?}");
        }
    }
    let ours = house.call("GET", "/api/v1/waiting").by(house.token("user"));
    let ours = ours
        .header("Origin", &own)
        .header("Sec-Fetch-Site", "same-origin");
    ours.send().expect(200);
}

#[test]
fn no_answer_invites_other_sites() {
    let house = House::new();
    for path in ["/healthz", "/api/v1/waiting", "/api/v1/nowhere", "/nowhere"] {
        let call = house.call("GET", path).by(house.token("user"));
        let answer = call
            .header("Origin", &format!("http://{}", house.address))
            .send();
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let content = answer.header("content-security-policy").unwrap();
        assert!(content.contains("default-src 'none'"), "{content}");
        assert!(!content.contains("unsafe"), "{content}");
    }
}

#[test]
fn what_changes_something_is_json() {
    let house = House::new();
    for route in house.routes().iter().filter(|it| it.method == "POST") {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "",
        ] {
            let call = house
                .call("POST", &route.at("00000000"))
                .by(house.token("admin"));
            let answer = call.header("Content-Type", kind).body("{}").send();
            assert_eq!(answer.status, 415, "{kind} {route:?}");
        }
    }
}

#[test]
fn whoever_changes_things_too_fast_waits() {
    let house = House::with("[server]\nacts_per_second = 1\n");
    let post = |role| house.post(role, "/api/v1/events", &json!({ "text": "again" }));
    let answers: Vec<_> = (0..12).map(|_| post("developer")).collect();
    let late = answers.iter().find(|it| it.status == 429).unwrap();
    assert!(late.json().to_string().contains("acts_per_second"));
    assert!(late.header("retry-after").is_some());
    // Reading is not counted, and others are not kept waiting.
    house.get("developer", "/api/v1/events").expect(200);
    post("admin").expect(201);
}
