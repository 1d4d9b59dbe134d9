//! A disk that is full: it is said, whoever looks is answered, and nothing is begun that could not
//! be put on record.

use artel_types::{DiskShortage, DiskShortageReason};
use serde_json::json;

use crate::house::House;

#[test]
fn while_there_is_no_room_it_is_said_and_reading_goes_on() {
    let house = House::new();
    house.call("GET", "/readyz").send().expect(200);
    let at = house.workshop.root().join(".artel/journal.db");
    let (why, need) = (DiskShortageReason::Full, Some(4096));
    let waiting = house
        .workshop
        .caller()
        .room()
        .wait(DiskShortage { why, need, at });
    assert!(waiting.is_some());

    let ready = house.call("GET", "/readyz").send().expect(503);
    assert_eq!(ready.text, "disk full", "anybody may ask, so not where");
    house.call("GET", "/healthz").send().expect(200);
    for path in ["/api/v1/waiting", "/api/v1/plans", "/api/v1/runs"] {
        house.get("user", path).expect(200);
    }
    let daemon = house.get("developer", "/api/v1/daemon").expect(200).json();
    let lacks = daemon["lacks"].as_str().unwrap();
    assert!(
        lacks.starts_with("disk full: need 4096 bytes at /"),
        "{lacks}"
    );
    let asked = json!({ "words": "Mend it", "folder": house.folder.path() });
    let refused = house.post("developer", "/api/v1/requests", &asked);
    let refused = refused.expect(503).json();
    assert_eq!(refused["error"]["code"], "J006");

    drop(waiting);
    house.call("GET", "/readyz").send().expect(200);
    let daemon = house.get("developer", "/api/v1/daemon").expect(200).json();
    assert!(daemon["lacks"].is_null());
    house.get("user", "/api/v1/requests").expect(200);
}

#[test]
fn a_work_that_waits_for_its_own_folder_keeps_nobody_else_waiting() {
    let house = House::new();
    let at = house.folder.path().to_owned();
    let (why, need) = (DiskShortageReason::Full, None);
    let room = house.workshop.caller().room();
    let waiting = room.wait_apart(DiskShortage { why, need, at });
    assert!(waiting.is_some());
    house.call("GET", "/readyz").send().expect(200);
    let daemon = house.get("developer", "/api/v1/daemon").expect(200).json();
    assert!(daemon["lacks"].is_null());
    let asked = json!({ "words": "Mend it", "folder": house.folder.path() });
    let asked = house.post("developer", "/api/v1/requests", &asked);
    assert_ne!(asked.status, 503, "{}", asked.text);
}
