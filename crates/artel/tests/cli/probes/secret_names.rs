//! A secret in places that nobody thought of, and all three of a leak in one reply.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::omniforge::world::World;

const KEY: &str = "bank-0123456789abcdef0123456789";

fn with_secret() -> World {
    let world = World::new();
    let set = world.artel(["auth", "set", "--tool", "bank"]);
    set.given(KEY).run().expect(0);
    world
}

fn tool(world: &World, name: &str, command: &str) {
    let text = format!(
        "description = \"Works\"\nsecrets = [\"bank\"]\ncommand = [\"sh\", \"-c\", '{command}']\n"
    );
    let file = format!("Tools/{name}.toml");
    fs::write(world.house.workshop.join(file), text).unwrap();
    for rule in [name, "Secret(bank)"] {
        world.ok(["policy", "grant", rule, "--reason", "we do"]);
    }
}

#[test]
fn a_secret_that_is_the_name_of_a_file_is_nowhere_on_record() {
    let world = with_secret();
    tool(&world, "named", "touch key-$BANK_TOKEN.txt; echo made");
    let script = "lines:\n  - call: { named: {} }\n  - call:\n      - glob: { pattern: \"**\" }\n      \
                  - bash: { command: ls }\n  - call: { finish: { answer: done } }\n";
    let seen = world.rehearsed(script, ["--task", "begin"]).run().expect(0);
    let rows = world.ok(["runs", "--json"]).json();
    let run = rows[0]["run"].as_str().unwrap().to_owned();
    let tree = world.house.state("worktrees").join(&run).join("tree");
    assert!(
        tree.join(format!("key-{KEY}.txt")).exists(),
        "{} {:#?}",
        seen.err,
        world.calls()
    );
    let told = |seen: &crate::support::Seen| seen.out.contains(KEY) || seen.err.contains(KEY);
    assert!(!told(&seen), "{}", seen.err);
    for words in [&["journal", "export"][..], &["trace", &run], &["runs"]] {
        let seen = world.artel([]).words(words).run();
        assert!(!told(&seen), "{words:?}: {}{}", seen.out, seen.err);
    }
    // The person sees the files that they put in place by their names; the record does not have it.
    world.ok(["apply", &run, "--yes"]);
    assert_eq!(world.events("run.applied").len(), 1);
    for words in [&["journal", "export"][..], &["trace", &run]] {
        let seen = world.artel([]).words(words).run();
        assert!(!told(&seen), "{words:?}: {}{}", seen.out, seen.err);
    }
}

#[test]
fn a_secret_in_what_a_failing_command_says_is_nowhere_on_record() {
    let world = with_secret();
    tool(
        &world,
        "loud",
        "echo $BANK_TOKEN >&2; printf x%sy $BANK_TOKEN; exit 3",
    );
    let script = "lines:\n  - call: { loud: {} }\n  - call: { finish: { answer: done } }\n";
    let seen = world.rehearsed(script, ["--task", "begin"]).run().expect(0);
    let export = world.ok(["journal", "export"]);
    for text in [&seen.out, &seen.err, &export.out] {
        assert!(!text.contains(KEY), "{text}");
    }
    let calls = world.calls();
    let loud = calls.iter().find(|(tool, ..)| tool == "loud").unwrap();
    assert!(
        loud.2.contains('x') && loud.2.contains('y'),
        "it did not run: {loud:?}"
    );
}

/// Serves one page for as long as the tests run, and returns its port.
fn page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            drop(stream.read(&mut head));
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\
                          Connection: close\r\n\r\nhello";
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    port
}

#[test]
fn a_page_and_what_sends_a_secret_in_one_reply_are_asked_about() {
    let world = with_secret();
    let port = page();
    let send = format!(
        "description = \"Sends\"\nsecrets = [\"bank\"]\nnetwork = [\"127.0.0.1:{port}\"]\n\
         command = [\"sh\", \"-c\", \"printenv BANK_TOKEN | wc -c\"]\n"
    );
    fs::write(world.house.workshop.join("Tools/send.toml"), send).unwrap();
    let fetch = format!("Fetch(127.0.0.1:{port})");
    for rule in ["Secret(bank)", "send", &fetch] {
        world.ok(["policy", "grant", rule, "--reason", "we do"]);
    }
    let script = format!(
        "lines:\n  - call: {{ bash: {{ command: \"true\" }} }}\n  - call:\n      - fetch: {{ url: \
         \"http://127.0.0.1:{port}/page\" }}\n      - send: {{}}\n  - call: {{ finish: {{ answer: \
         done }} }}\n"
    );
    world.rehearsed(&script, ["--task", "begin"]).run();
    let asked = world.events("tool.requested");
    let send = asked.iter().map(|event| &event["payload"]);
    let send: Vec<_> = send.filter(|it| it["tool"] == "send").collect();
    assert_eq!(send.len(), 1, "{asked:#?}");
    assert_eq!(send[0]["rule"], "ask.untrusted-network-secret", "{send:#?}");
    let used = world.events("secret.used");
    let granted = used
        .iter()
        .filter(|it| it["payload"]["verdict"] == "granted");
    assert_eq!(granted.count(), 0, "{used:#?}");
}
