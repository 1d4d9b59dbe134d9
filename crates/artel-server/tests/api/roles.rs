//! Nobody gets what is not theirs, on any route that the description names.

use crate::house::{House, ROLES, Route};

fn send(house: &House, route: &Route, token: Option<&str>) -> crate::house::Answer {
    let call = house.call(&route.method, &route.at("00000000"));
    let call = match token {
        Some(token) => call.by(token),
        None => call,
    };
    match route.method.as_str() {
        "GET" => call.send(),
        _ => call.json("{}").send(),
    }
}

#[test]
fn without_a_token_nothing_is_answered() {
    let house = House::new();
    for route in house.routes() {
        let answer = send(&house, &route, None);
        let wanted = if route.role.is_none() { 200 } else { 401 };
        assert_eq!(answer.status, wanted, "{route:?}");
        if route.role.is_none() {
            assert_eq!(answer.text, "ok", "{route:?}");
        }
    }
    // Such routes are few, and known.
    let open = house.routes().into_iter().filter(|it| it.role.is_none());
    let open: Vec<String> = open.map(|it| it.path).collect();
    assert_eq!(open, ["/healthz", "/readyz"]);
}

#[test]
fn a_wrong_token_is_as_good_as_none() {
    let house = House::new();
    for route in house.routes().iter().filter(|it| it.role.is_some()) {
        let answer = send(&house, route, Some("artel_0000"));
        assert_eq!(answer.status, 401, "{route:?}");
        assert!(!answer.text.contains("artel_0000"));
    }
    house.get("user", "/api/v1/waiting").expect(200);
}

#[test]
fn a_token_that_holds_no_more_or_elsewhere_is_as_good_as_none() {
    let (house, other) = (House::new(), House::new());
    let body = serde_json::json!({ "role": "admin" });
    let made = house.post("admin", "/api/v1/tokens", &body).expect(201);
    let (id, revoked) = (made.json()["id"].clone(), made.json()["token"].clone());
    let (id, revoked) = (id.as_str().unwrap(), revoked.as_str().unwrap());
    let path = format!("/api/v1/tokens/{id}/revoke");
    house
        .post("admin", &path, &serde_json::json!({}))
        .expect(200);
    let admin = house.token("admin");
    for route in house.routes().iter().filter(|it| it.role.is_some()) {
        for token in [revoked, other.token("admin")] {
            let answer = send(&house, route, Some(token));
            assert_eq!(answer.status, 401, "{route:?}");
            assert!(!answer.text.contains(token), "{route:?}");
        }
        // What stands in an address ends in logs and histories: it lets nobody in.
        for name in ["token", "access_token", "authorization"] {
            let path = format!("{}?{name}={admin}", route.at("00000000"));
            let call = house.call(&route.method, &path);
            let answer = match route.method.as_str() {
                "GET" => call.send(),
                _ => call.json("{}").send(),
            };
            assert_eq!(answer.status, 401, "{route:?}");
            assert!(!answer.text.contains(admin), "{route:?}");
        }
    }
    house.get("admin", "/api/v1/tokens").expect(200);
}

#[test]
fn a_program_approves_nothing_whatever_its_role() {
    let house = House::new();
    let body = serde_json::json!({ "role": "admin", "name": "ci", "program": true });
    let made = house.post("admin", "/api/v1/tokens", &body).expect(201);
    let program = made.json()["token"].as_str().unwrap().to_owned();
    let listed = house.get("admin", "/api/v1/tokens").expect(200).json();
    let rows = listed["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|it| it["program"] == true).count(), 1);
    let mut needs_person = Vec::new();
    for route in house.routes().iter().filter(|it| it.role.is_some()) {
        let is_for_people = route.about["x-person"] == true;
        if is_for_people {
            needs_person.push(route.path.clone());
            let answer = send(&house, route, Some(&program));
            assert_eq!(answer.status, 403, "{route:?}");
            assert_eq!(answer.code(), "H004", "{route:?}");
            assert!(answer.text.contains("needs a person"), "{answer:?}");
        } else if !route.path.contains("/daemon/") && !route.path.ends_with("/logout") {
            let answer = send(&house, route, Some(&program));
            assert_ne!(answer.code(), "H004", "{route:?}");
        }
    }
    for wanted in [
        "/api/v1/plans/{id}/approve",
        "/api/v1/changesets/{id}/approve",
        "/api/v1/waiting/calls/{id}",
        "/api/v1/runs/{id}/answer",
        "/api/v1/tokens",
    ] {
        assert!(needs_person.iter().any(|it| it == wanted), "{wanted}");
    }
    // What it does do is on record as a program's, and people are shown that.
    house.portal("calc");
    let body =
        serde_json::json!({ "words": "Make it faster", "planning": "always", "portal": "calc" });
    let call = house.call("POST", "/api/v1/requests").by(&program);
    let made = call.json(&body.to_string()).send().expect(201).json();
    assert_eq!(made["created_by"], "program ci");
    let id = made["trace_id"].as_str().unwrap();
    let path = format!("/api/v1/events?trace={id}&kind=request.created");
    let events = house.get("admin", &path).expect(200).json();
    let actor = serde_json::json!({ "kind": "program", "id": "ci", "via": "api" });
    assert_eq!(events["events"][0]["actor"], actor);
    let found = house.get("admin", "/api/v1/events?actor=program&kind=request.created");
    assert_eq!(
        found.expect(200).json()["events"].as_array().unwrap().len(),
        1
    );
    let page = house
        .get("admin", "/journal?kind=request.created")
        .expect(200);
    assert!(page.text.contains("program:ci"), "{}", page.text);
    // What would be done at once for a person waits for one.
    for (words, planning) in [("Rewrite it all", "never"), ("Fix the typo", "auto")] {
        let body = serde_json::json!({ "words": words, "planning": planning, "portal": "calc" });
        let call = house.call("POST", "/api/v1/requests").by(&program);
        let made = call.json(&body.to_string()).send().expect(201).json();
        assert_eq!(made["size"], "work", "{made}");
    }
    // A person with the same role is asked for no more than before.
    let path = "/api/v1/plans/00000000/approve";
    let body = serde_json::json!({ "hash": "0".repeat(64) });
    house.post("user", path, &body).expect(404);
}

#[test]
fn every_role_may_do_its_own_and_no_more() {
    let house = House::new();
    let names = ROLES.map(|role| role.as_str());
    for route in house.routes() {
        let Some(needed) = route.role.as_deref() else {
            continue;
        };
        let rank = names.iter().position(|it| *it == needed).unwrap();
        for (at, role) in names.iter().enumerate() {
            // This one would take the tokens of the others away, or stop what they do.
            if at >= rank && route.path.contains("/daemon/") {
                continue;
            }
            let answer = send(&house, &route, Some(house.token(role)));
            if at < rank {
                assert_eq!(answer.status, 403, "{role} {route:?}");
                assert_eq!(answer.code(), "H004", "{role} {route:?}");
            } else {
                assert_ne!(answer.code(), "H004", "{role} {route:?}");
                assert!(route.answers(answer.status), "{role} {route:?} {answer:?}");
            }
        }
    }
}

#[test]
fn a_token_holds_at_once_and_is_refused_at_once() {
    let house = House::new();
    let body = serde_json::json!({ "role": "user", "name": "board" });
    let made = house
        .post("admin", "/api/v1/tokens", &body)
        .expect(201)
        .json();
    let (id, token) = (
        made["id"].as_str().unwrap(),
        made["token"].as_str().unwrap(),
    );
    let get = || house.call("GET", "/api/v1/requests").by(token).send();
    get().expect(200);
    let listed = house.get("admin", "/api/v1/tokens").expect(200);
    assert!(!listed.text.contains(token));
    house
        .post(
            "admin",
            &format!("/api/v1/tokens/{id}/revoke"),
            &serde_json::json!({}),
        )
        .expect(200);
    get().expect(401);
}
