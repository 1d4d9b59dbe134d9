//! Whatever is sent, the server answers that it cannot be taken, and goes on.

use serde_json::{Value, json};

use crate::house::{House, Route};

/// What people and programs put where an id belongs.
/// None is how an id of this house could begin: those are made by chance.
const IDS: &[&str] = &[
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "%00",
    "%ff%fe",
    "-1",
    "99999999999999999999999999",
    "00000000",
    "a%20b",
    "%0d%0aSet-Cookie:%20x",
    "'%20OR%201=1--",
    "%F0%9F%92%A9",
    "*",
];

/// Values of a wrong sort, or of the right one and no use.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{7}\u{1b}[31m"),
        json!("../../etc/passwd"),
        json!("x".repeat(100_000)),
        json!([]),
        json!({}),
        json!(["", null, 3]),
    ]
}

#[track_caller]
fn is_refused_or_described(route: &Route, answer: &crate::house::Answer) {
    assert!(answer.status < 500, "{route:?} {answer:?}");
    assert!(route.answers(answer.status), "{route:?} {answer:?}");
    assert!(!answer.text.contains("root:x:"), "{route:?} {answer:?}");
}

#[test]
fn strange_ids_are_refused_or_not_found() {
    let house = House::new();
    for route in house.routes().iter().filter(|it| it.path.contains('{')) {
        for id in IDS {
            let call = house
                .call(&route.method, &route.at(id))
                .by(house.token("admin"));
            let answer = match route.method.as_str() {
                "GET" => call.send(),
                _ => call.json("{}").send(),
            };
            is_refused_or_described(route, &answer);
            assert!(answer.status >= 400, "{id} {route:?} {answer:?}");
        }
        let long = "a".repeat(20_000);
        let call = house
            .call(&route.method, &route.at(&long))
            .by(house.token("admin"));
        let answer = call.json("{}").send();
        assert!((400..500).contains(&answer.status), "{route:?} {answer:?}");
    }
}

#[test]
fn bodies_of_the_wrong_form_are_refused() {
    let house = House::new();
    let wrong = [
        "[]",
        "null",
        "3",
        "\"x\"",
        "{",
        "{\"a\":",
        "\u{0}",
        "{\"unknown\":1}",
        "nonsense",
        "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}",
    ];
    for route in house.routes().iter().filter(|it| it.method == "POST") {
        for body in wrong {
            let call = house
                .call("POST", &route.at("00000000"))
                .by(house.token("admin"));
            let answer = call.json(body).send();
            assert_eq!(answer.status, 400, "{body} {route:?} {answer:?}");
            assert!(!answer.code().is_empty(), "{body} {route:?} {answer:?}");
        }
        let deep = "[".repeat(100_000);
        let call = house
            .call("POST", &route.at("00000000"))
            .by(house.token("admin"));
        call.json(&deep).send().expect(400);
    }
}

#[test]
fn fields_of_every_sort_break_nothing() {
    let house = House::new();
    let described = artel_server::openapi();
    for route in house.routes().iter().filter(|it| it.method == "POST") {
        let name = &route.about["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let name = name.as_str().unwrap().rsplit('/').next().unwrap();
        let schema = &described["components"]["schemas"][name];
        let fields: Vec<String> = match schema["properties"].as_object() {
            Some(fields) => fields.keys().cloned().collect(),
            None => continue,
        };
        for value in values() {
            let body: serde_json::Map<String, Value> = fields
                .iter()
                .map(|field| (field.clone(), value.clone()))
                .collect();
            let answer = house.post("admin", &route.at("00000000"), &Value::Object(body));
            is_refused_or_described(route, &answer);
        }
    }
    house.get("user", "/api/v1/waiting").expect(200);
}

#[test]
fn strange_questions_are_refused() {
    let house = House::new();
    let asked = [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=x",
        "limit=99999999999999999999",
        "before=nowhere",
        "unknown=1",
        "state=asleep",
        "status=asleep",
        "view=inside-out",
        "period=aeon",
        "version=-1",
        "from=99999999999",
        "after=-3",
        "order=sideways",
    ];
    for route in house
        .routes()
        .iter()
        .filter(|it| it.method == "GET" && it.role.is_some())
    {
        for question in asked {
            let path = format!("{}?{question}", route.at("00000000"));
            let answer = house.get("admin", &path);
            is_refused_or_described(route, &answer);
        }
    }
    for path in [
        "requests?limit=0",
        "requests?limit=201",
        "plans?state=asleep",
        "runs?state=asleep",
        "events?order=sideways",
    ] {
        house.get("admin", &format!("/api/v1/{path}")).expect(400);
    }
    let many: String = (0..100_000).map(|at| format!("a{at}=1&")).collect();
    let answer = house.get("admin", &format!("/api/v1/requests?{many}"));
    assert!((400..500).contains(&answer.status), "{}", answer.status);
}

#[test]
fn what_is_too_large_is_refused() {
    let house = House::new();
    let large = format!("{{\"words\":\"{}\"}}", "x".repeat(9 << 20));
    let call = house
        .call("POST", "/api/v1/requests")
        .by(house.token("user"));
    call.json(&large).send().expect(413);
    house.get("user", "/api/v1/waiting").expect(200);
}

#[test]
fn other_methods_and_places_are_refused() {
    let house = House::new();
    for method in ["PUT", "DELETE", "PATCH"] {
        let call = house
            .call(method, "/api/v1/requests")
            .by(house.token("admin"));
        call.json("{}").send().expect(405);
    }
    house.get("admin", "/api/v1/nowhere").expect(404);
    house.get("admin", "/api/v1/../../etc/passwd").expect(404);
}
