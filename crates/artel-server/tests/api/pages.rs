//! What the console's pages and the dashboard show of what happens.

use artel_workshop::Viewer;
use serde_json::{Value, json};

use crate::house::House;

/// Returns a page of the console as somebody of this role sees it.
fn page(house: &House, role: Viewer, path: &str) -> String {
    let cookie = house.cookie(role);
    let call = house.call("GET", path).header("Cookie", &cookie);
    call.send().expect(200).text
}

/// The dashboard is written a moment after something happened that it shows.
#[test]
fn the_dashboard_counts_and_names_calls_that_need_a_yes() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    let waiting = house.until("/api/v1/waiting", |it| !it["calls"][0].is_null());
    let id = waiting["calls"][0]["id"].as_str().unwrap().to_owned();
    let file = house.workshop.root().join("Knowledge/Dashboard.md");
    let shows = |wanted: &[&str]| {
        let text = std::fs::read_to_string(&file).unwrap();
        wanted.iter().all(|it| text.contains(it))
    };
    let command = format!("; `artel answer {id} yes|no`");
    let named = [
        "\n| 1 |",
        "- call: Look outside, wants to run bash: ",
        &command,
    ];
    house.until("/api/v1/daemon", |_| shows(&named));
    let no = json!({ "hash": waiting["calls"][0]["hash"], "answer": "no" });
    let path = format!("/api/v1/waiting/calls/{id}");
    house.post("developer", &path, &no).expect(200);
    house.until("/api/v1/daemon", |_| {
        shows(&["\n| 0 |", "## Needs You\n\nNothing."])
    });
}

#[test]
fn settings_that_are_not_in_force_and_faults_are_shown_to_whoever_can_mend_them() {
    let house = House::new();
    let refused = "are not in force";
    let fault = "by a fault of its own";
    for path in ["/", "/settings"] {
        let seen = page(&house, Viewer::Developer, path);
        assert!(!seen.contains(refused) && !seen.contains(fault), "{seen}");
    }
    let file = house.workshop.root().join("artel.toml");
    std::fs::write(&file, "[server]\nworks_at_once = \"many\"\n").unwrap();
    let seen = house.until("/api/v1/daemon", |it| it["refused"] != json!([]));
    let why = seen["refused"][0].as_str().unwrap();
    assert!(why.contains("works_at_once"), "{why}");
    let journal = house.workshop.open().unwrap().journal;
    let broken = "index 6 is out of bounds";
    house
        .workshop
        .daemon_faltered(&journal, None, broken)
        .unwrap();
    for path in ["/", "/settings"] {
        let seen = page(&house, Viewer::Developer, path);
        assert!(
            seen.contains(refused) && seen.contains("works_at_once"),
            "{seen}"
        );
        assert!(seen.contains(fault) && seen.contains(broken), "{seen}");
    }
    let seen = page(&house, Viewer::User, "/");
    assert!(!seen.contains(refused) && !seen.contains(broken), "{seen}");
    std::fs::write(&file, "").unwrap();
    house.until("/api/v1/daemon", |it| it["refused"] == json!([]));
    let seen = page(&house, Viewer::Admin, "/settings");
    assert!(!seen.contains(refused), "{seen}");
    let none: Vec<Value> = Vec::new();
    assert_eq!(
        house.get("admin", "/api/v1/daemon").json()["refused"],
        json!(none)
    );
}
