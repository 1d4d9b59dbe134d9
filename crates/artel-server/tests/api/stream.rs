//! Live events: nothing missing, nothing twice, nothing that is not theirs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::json;

use crate::house::House;

/// Somebody who follows.
struct Reader {
    lines: BufReader<TcpStream>,
}

impl Reader {
    fn of(house: &House, role: &str, question: &str, last: Option<u64>) -> Self {
        let path = format!("/api/v1/events?{question}");
        let call = house.call("GET", &path).by(house.token(role));
        let mut call = call.header("Accept", "text/event-stream");
        if let Some(last) = last {
            call = call.header("Last-Event-ID", &last.to_string());
        }
        let (status, headers, lines): (u16, BTreeMap<_, _>, _) = call.open();
        assert_eq!(status, 200);
        assert_eq!(headers["content-type"], "text/event-stream");
        Self { lines }
    }

    /// Reads to the end, and returns the numbers of the events before it.
    fn rest(self) -> Vec<u64> {
        let lines = self.lines.lines().map(Result::unwrap);
        let ids = lines.filter_map(|line| line.strip_prefix("id: ").map(str::to_owned));
        ids.map(|id| id.parse().unwrap()).collect()
    }

    /// Returns the next event: its number and its data.
    fn next(&mut self) -> (u64, serde_json::Value) {
        let (mut id, mut data) = (None, None);
        loop {
            let mut line = String::new();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "the stream ended"
            );
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.parse().unwrap());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).unwrap());
            }
            if let (Some(id), true) = (id, data.is_some()) {
                return (id, data.unwrap());
            }
        }
    }
}

fn note(house: &House, text: &str) -> u64 {
    let kept = house.post("developer", "/api/v1/events", &json!({ "text": text }));
    kept.expect(201).json()["seq"].as_u64().unwrap()
}

#[test]
fn what_came_before_and_what_comes_is_read_once_each() {
    let house = House::new();
    let mut kept: Vec<u64> = (0..30)
        .map(|at| note(&house, &format!("before {at}")))
        .collect();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            (0..30)
                .map(|at| note(&house, &format!("meanwhile {at}")))
                .collect::<Vec<u64>>()
        });
        let mut seen = Vec::new();
        let mut last = 0;
        // Readers that are cut off come again from where they were.
        for share in [7, 23, 1, 29] {
            let mut reader = Reader::of(&house, "developer", "kind=note.added", Some(last));
            for _ in 0..share {
                let (id, data) = reader.next();
                assert_eq!(data["seq"], id);
                seen.push(id);
                last = id;
            }
        }
        kept.extend(writing.join().unwrap());
        assert_eq!(seen, kept);
    });
}

#[test]
fn all_of_many_readers_get_each_event_once_in_order() {
    let house = House::new();
    let before = note(&house, "before");
    // More than one row of them; some want everything, some only notes, some come in the middle.
    let mut everything: Vec<Reader> = (0..30)
        .map(|_| Reader::of(&house, "developer", "", Some(before)))
        .collect();
    let mut notes: Vec<Reader> = (0..30)
        .map(|_| Reader::of(&house, "developer", "kind=note.added", Some(before)))
        .collect();
    let kept: Vec<u64> = (0..40)
        .map(|at| {
            if at % 4 == 0 {
                let body = json!({ "role": "user", "name": format!("token {at}") });
                house.post("admin", "/api/v1/tokens", &body).expect(201);
            }
            note(&house, &format!("note {at}"))
        })
        .collect();
    let (first, last) = (kept[0], kept[39]);
    let mut late = Reader::of(&house, "developer", "kind=note.added", Some(first));
    for reader in &mut notes {
        let got: Vec<u64> = kept.iter().map(|_| reader.next().0).collect();
        assert_eq!(got, kept);
    }
    let got: Vec<u64> = kept[1..].iter().map(|_| late.next().0).collect();
    assert_eq!(got, kept[1..]);
    let path = format!("/api/v1/events?after={before}&limit=1000");
    let page = house.get("developer", &path).json();
    let records = page["events"].as_array().unwrap().iter();
    let seqs = records.map(|record| record["seq"].as_u64().unwrap());
    let wanted: Vec<u64> = seqs.take_while(|seq| *seq <= last).collect();
    for reader in &mut everything {
        let got: Vec<u64> = wanted.iter().map(|_| reader.next().0).collect();
        assert_eq!(got, wanted);
    }
}

#[test]
fn whoever_is_sent_away_is_sent_nothing_more() {
    let house = House::new();
    let head = note(&house, "one");
    let body = json!({ "role": "developer", "name": "another" });
    let made = house.post("admin", "/api/v1/tokens", &body).expect(201);
    let made = made.json();
    let call = house.call("GET", &format!("/api/v1/events?after={head}"));
    let call = call.by(made["token"].as_str().unwrap());
    let (status, _, lines) = call.header("Accept", "text/event-stream").open();
    assert_eq!(status, 200);
    let mut sent_away = Reader { lines };
    let mut stays = Reader::of(&house, "developer", "kind=note.added", Some(head));
    let two = note(&house, "two");
    while sent_away.next().0 < two {}
    let path = format!("/api/v1/tokens/{}/revoke", made["id"].as_str().unwrap());
    house.post("admin", &path, &json!({})).expect(200);
    let three = note(&house, "three");
    assert!(sent_away.rest().iter().all(|id| *id < three));
    assert_eq!([stays.next().0, stays.next().0], [two, three]);
}

#[test]
fn users_see_summaries_and_no_access() {
    let house = House::new();
    let head = note(&house, "one");
    let mut user = Reader::of(&house, "user", "", Some(head));
    let mut admin = Reader::of(&house, "admin", "kind=token.", Some(head));
    let body = json!({ "role": "user", "name": "another" });
    house.post("admin", "/api/v1/tokens", &body).expect(201);
    let last = note(&house, "two");
    let (_, seen) = admin.next();
    assert_eq!(seen["kind"], "token.created");
    loop {
        let (id, seen) = user.next();
        assert_ne!(seen["kind"], "token.created");
        if id == last {
            break;
        }
    }
    let full = house
        .call("GET", "/api/v1/events?view=full")
        .by(house.token("user"));
    full.header("Accept", "text/event-stream")
        .send()
        .expect(403);
    let wrong = house.call("GET", "/api/v1/events").by(house.token("user"));
    let wrong = wrong.header("Accept", "text/event-stream");
    wrong
        .header("Last-Event-ID", "yesterday")
        .send()
        .expect(400);
}

#[test]
fn there_is_an_end_to_readers() {
    let house = House::with("[server]\nevent_streams = 2\n");
    let readers = [(); 2].map(|()| Reader::of(&house, "user", "", None));
    let more = || {
        let call = house.call("GET", "/api/v1/events").by(house.token("user"));
        call.header("Accept", "text/event-stream").send()
    };
    more().expect(429);
    house.get("user", "/api/v1/events").expect(200);
    drop(readers);
}

/// What a terminal can look for, anybody can who calls.
#[test]
fn events_are_found_by_all_that_is_known_of_them() {
    let house = House::new();
    house.portal("shop");
    let find = |asked: &str| house.get("admin", &format!("/api/v1/events?{asked}"));
    let count = |asked: &str| {
        let found = find(asked).expect(200).json();
        found["events"].as_array().unwrap().len()
    };
    let opened = find("kind=portal.opened").expect(200).json();
    let stream = opened["events"][0]["stream"].as_str().unwrap().to_owned();
    let same = format!("kind=portal.opened&stream={stream}");
    assert_eq!(
        (count(&same), count("kind=portal.opened&stream=nowhere")),
        (1, 0)
    );
    assert_eq!(count("kind=portal.opened&since=1h"), 1);
    assert_eq!(count("kind=portal.opened&until=1h"), 0);
    assert_eq!(count("kind=portal.opened&session=0000"), 0);
    assert_eq!(count("kind=portal.opened&outcome=failed"), 0);
    assert_eq!(count("kind=portal.opened&target=nothing-*"), 0);
    find("since=yesterday-ish").expect(400);
    for asked in ["target=x*", "since=1h", "until=1h"] {
        let call = house.call("GET", &format!("/api/v1/events?{asked}"));
        let call = call.by(house.token("admin"));
        call.header("Accept", "text/event-stream")
            .send()
            .expect(400);
    }
}
