//! Attacks of our own on the door: clocks that were set, programs that look at links before people
//! do, other users of the machine, and requests inside of requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use artel_workshop::ViewerRole;
use serde_json::json;

use crate::house::House;

const HOUR: Duration = Duration::from_secs(3_600);

/// A link holds for a minute from when it was offered; setting the clock back gives it no more.
#[test]
fn a_link_of_before_the_clock_was_set_back_is_none() {
    let house = House::new();
    house.moves_clock(HOUR);
    let offer = house.workshop.offer_login(ViewerRole::Admin).unwrap();
    house.moves_clock(Duration::ZERO);
    let call = house.follows(&offer.code).host(&house.console());
    call.send().expect(401);
    // One that is offered now is as good as ever.
    house.sign_in(ViewerRole::Admin);
}

#[test]
fn a_sign_in_of_before_the_clock_was_set_back_is_none() {
    let house = House::new();
    house.moves_clock(HOUR);
    let ada = house.sign_in(ViewerRole::Admin);
    let looks = || house.with_cookie("GET", "/api/v1/waiting", &ada.cookie);
    looks().send().expect(200);
    house.moves_clock(Duration::ZERO);
    looks().send().expect(401);
    let said = json!({ "text": "with the key" });
    assert_eq!(house.act(&ada, "/api/v1/events", &said).status, 401);
    // A clock that is only set right signs nobody out.
    let again = house.sign_in(ViewerRole::Admin);
    house.moves_clock(Duration::from_secs(30));
    let moved = house.sign_in(ViewerRole::Admin);
    house.moves_clock(Duration::ZERO);
    for it in [again, moved] {
        let call = house.with_cookie("GET", "/api/v1/waiting", &it.cookie);
        call.send().expect(200);
    }
}

/// Programs that look at links before people do: by the head alone, ahead of time, or to show what is
/// there.
#[test]
fn whoever_looks_at_a_link_ahead_of_its_person_does_not_use_it_up() {
    let house = House::new();
    let offer = house.workshop.offer_login(ViewerRole::User).unwrap();
    let path = format!("/login?code={}", offer.code);
    let console = house.console();
    let call = |method: &str| house.call(method, &path).host(&console);
    let looks = [
        call("HEAD"),
        call("OPTIONS"),
        call("GET").header("Sec-Purpose", "prefetch"),
        call("GET").header("Sec-Purpose", "prefetch;prerender"),
        call("GET").header("Purpose", "prefetch"),
        call("GET").header("X-Moz", "prefetch"),
    ];
    for look in looks {
        let looked = look.send();
        assert_eq!(looked.header("set-cookie"), None, "{looked:?}");
        assert_ne!(looked.status, 200, "{looked:?}");
    }
    let previews = [
        call("GET").header("User-Agent", "Slackbot-LinkExpanding 1.0"),
        call("GET").header("Sec-Fetch-Dest", "image"),
        call("GET"),
    ];
    for preview in previews {
        let seen = preview.send().expect(200);
        assert_eq!(seen.header("set-cookie"), None, "{seen:?}");
        assert!(!seen.text.contains("artel-key"), "{seen:?}");
    }
    let follow = || house.follows(&offer.code).host(&console).send();
    follow().expect(200);
    follow().expect(401);
}

/// What was asked stays what was asked when the clock jumps and comes back, and is answered once.
#[test]
fn a_question_outlives_every_jump_of_the_clock_and_is_answered_once() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    let waiting = house.until("/api/v1/waiting", |answer| !answer["calls"][0].is_null());
    let call = waiting["calls"][0].clone();
    for ahead in [HOUR * 24 * 400, Duration::ZERO] {
        house.moves_clock(ahead);
        house.get("admin", "/api/v1/waiting").expect(200);
    }
    let now = house.until("/api/v1/waiting", |answer| !answer["calls"][0].is_null());
    assert_eq!(now["calls"][0]["hash"], call["hash"]);
    assert_eq!(now["calls"][0]["id"], call["id"]);
    let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
    let wrong = json!({ "hash": "00", "answer": "yes", "reason": "x" });
    assert!(house.post("developer", &path, &wrong).status >= 400);
    let answer = json!({ "hash": call["hash"], "answer": "yes", "reason": "we do" });
    let answered = house.post("developer", &path, &answer);
    assert!(answered.status < 300, "{answered:?}");
    house.moves_clock(Duration::ZERO);
    let again = house.post("developer", &path, &answer);
    assert!(again.status >= 400, "{again:?}");
}

fn raw(house: &House, request: &str) -> String {
    let mut stream = TcpStream::connect(house.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut told = Vec::new();
    drop(stream.read_to_end(&mut told));
    String::from_utf8_lossy(&told).into_owned()
}

/// Where two readers of a request see different ends of it, the second one would be let in as
/// whoever sent the first.
#[test]
fn a_request_inside_of_another_is_none() {
    let house = House::new();
    let token = house.token("admin").to_owned();
    let host = house.address;
    let made = |name: &str| json!({ "role": "admin", "name": name, "program": false }).to_string();
    let hidden = format!(
        "POST /api/v1/tokens HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        made("smuggled").len(),
        made("smuggled")
    );
    let head = format!(
        "POST /api/v1/events HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\n",
        house.token("user")
    );
    let inner = hidden.len() + 5;
    let requests = [
        format!(
            "{head}Content-Length: {inner}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
        ),
        format!("{head}Content-Length: 5\r\nContent-Length: {inner}\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{head}Content-Length: +{inner}\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{head}Content-Length: {inner}\r\n\r\n0\r\n\r\n{hidden}"),
    ];
    // Whoever can send the inner one could send it alone: it must not be answered as the first.
    let foreign = hidden.replace(&format!("Bearer {token}"), "Bearer none");
    for request in requests {
        let told = raw(&house, &request.replace(&hidden, &foreign));
        assert!(!told.contains("artel_"), "{told}");
    }
    let tokens = house.get("admin", "/api/v1/tokens").expect(200).text;
    assert!(!tokens.contains("smuggled"), "{tokens}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the child is the test's own")]
fn another_user_of_the_machine_is_let_in_nowhere_without_a_token() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let house = House::new();
    let (port, console) = (house.address.port(), house.console());
    for host in [format!("127.0.0.1:{port}"), console] {
        for path in [
            "/api/v1/waiting",
            "/api/v1/tokens",
            "/api/v1/events",
            "/",
            "/settings",
        ] {
            let script = format!(
                "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET {path} HTTP/1.1\\r\\nHost: \
                 {host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -1 <&3"
            );
            let output = std::process::Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .args(["--", "bash", "-c", &script])
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(told.starts_with("HTTP/1.1 401"), "{path} at {host}: {told}");
        }
    }
}
