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
            match at < rank {
                true => {
                    assert_eq!(answer.status, 403, "{role} {route:?}");
                    assert_eq!(answer.code(), "H004", "{role} {route:?}");
                }
                false => {
                    assert_ne!(answer.code(), "H004", "{role} {route:?}");
                    assert!(route.answers(answer.status), "{role} {route:?} {answer:?}");
                }
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
