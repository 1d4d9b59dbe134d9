//! What the console's pages and the dashboard show of what happens.

use serde_json::json;

use crate::house::House;

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
