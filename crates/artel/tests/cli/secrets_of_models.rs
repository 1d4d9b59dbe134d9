//! After everything that can be done with a key, it is nowhere: not on disk, not on a screen.

use std::fs;
use std::path::PathBuf;

use artel_testkit::standin::{Answer, Format, StandIn};

use crate::support::{Artel, House, Seen, entry, holding};

const VARIABLE: &str = "sk-canary-variable-0b7e4d21";
const STORED: &str = "sk-canary-stored-5fa93c68";
const NAMED: &str = "sk-canary-named-d20c1e77";

/// The forms in which a key could be left behind.
fn forms(key: &str) -> Vec<Vec<u8>> {
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![key.into(), hex.to_uppercase().into(), hex.into()];
    // In base64 a text looks different by where it begins, and its ends depend on neighbours.
    for before in ["", "x", "xx"] {
        let text = base64(format!("{before}{key}").as_bytes());
        forms.push(text.as_bytes()[4..text.len() - 4].to_vec());
    }
    forms
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter =
        |group: u32, place: u32| letters[(group >> (18 - 6 * place) & 63) as usize] as char;
    let groups = bytes.chunks(3).flat_map(|chunk| {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        (0..4).map(move |place| letter(group, place))
    });
    groups.collect()
}

/// Runs commands and keeps all that they say.
struct Witness<'a> {
    house: &'a House,
    said: String,
}

impl Witness<'_> {
    fn run(&mut self, words: &[&str]) -> Seen {
        self.seen(|artel| artel.words(words))
    }

    fn seen(&mut self, change: impl FnOnce(Artel) -> Artel) -> Seen {
        let artel = self.house.artel([]).env("MY_KEY", VARIABLE);
        // Named by no rule, but by the settings.
        let artel = artel.env("WHATEVER", NAMED);
        let seen = change(artel).run();
        self.said += &seen.out;
        self.said += &seen.err;
        seen
    }
}

/// A provider that repeats the key wherever it can.
fn indiscreet(format: Format) -> StandIn {
    let repeat = |key: &str| {
        [
            Answer::status(401).body(format!("{{\"error\":{{\"message\":\"bad key {key}\"}}}}")),
            Answer::status(400).body(format!("no, {key}")),
            Answer::says(format!(
                "Your key is {key}, I think: {}.",
                base64(key.as_bytes())
            ))
            .thinking(format!("They sent {key}."))
            .calls("echo", serde_json::json!({ "text": key }))
            .one_char_deltas(),
            Answer::says("Hello.").calls_raw("echo", &format!("{{\"text\": \"{key}")),
            Answer::default().calls(key, serde_json::json!({ key: key })),
            Answer::says(format!("Half of it: {key}")).error_mid_stream(400),
        ]
    };
    let plan = [VARIABLE, STORED, NAMED].iter().flat_map(|key| repeat(key));
    StandIn::start(format, plan.chain([Answer::says("Enough.").repeating()]))
}

#[test]
fn a_key_is_nowhere_after_a_full_run() {
    let house = House::new();
    let stand_in = indiscreet(Format::Chat);
    let own = entry("default", Format::Chat, &stand_in);
    let stored = entry("stored", Format::Chat, &stand_in)
        .replace("api_key_env = \"MY_KEY\"", "account = \"work\"");
    let named = entry("named", Format::Chat, &stand_in).replace("MY_KEY", "WHATEVER");
    house.settings(&[own, stored, named].concat());
    let mut witness = Witness {
        house: &house,
        said: String::new(),
    };
    let set = ["auth", "set", "openai-chat", "--account", "work"];
    witness
        .seen(|artel| artel.words(set).given(STORED))
        .expect(0);
    let mut replied = 0;
    for alias in ["default", "stored", "named"] {
        for words in [&["--json"][..], &[]] {
            for _ in 0..3 {
                let words = [&["model", "test", alias], words].concat();
                replied += u32::from(witness.run(&words).code == 0);
            }
        }
    }
    assert!(replied > 0, "some answers are whole");
    assert!(stand_in.seen().len() >= 18);
    for words in [
        &["model", "list"][..],
        &["model", "show", "stored"],
        &["model", "show", "--json"],
        &["auth", "status"],
        &["auth", "status", "--json"],
        &["usage", "--json"],
        &["config", "show", "--json"],
        &["journal", "query", "--json", "--limit", "1000"],
        &["journal", "export", "--output", "events.jsonl"],
        &["journal", "backup"],
        &["doctor"],
    ] {
        witness.run(words);
    }
    let trace = house.ok(["journal", "query", "--kind", "model.replied", "--json"]);
    let trace = trace.json()[0]["trace"].as_str().unwrap().to_owned();
    let record = witness.run(&["model", "record", &trace]).expect(0);
    fs::write(house.workshop.join("take.jsonl"), record.out).unwrap();
    witness.seen(|artel| {
        let artel = artel.words(["model", "test"]);
        artel.env("ARTEL_MODEL", "rehearsal:take.jsonl")
    });
    witness.run(&["trace", &trace, "--full"]).expect(0);
    // What was looked through holds the answers, without what they gave away.
    assert!(witness.said.contains("Your key is [REDACTED]"));
    assert!(!holding(&house.root(), b"Your key is [REDACTED]").is_empty());
    for key in [VARIABLE, STORED, NAMED] {
        for form in forms(key) {
            let found = holding(&house.root(), &form);
            assert_eq!(found, Vec::<PathBuf>::new(), "{key}");
            let text = String::from_utf8(form).unwrap();
            assert!(!witness.said.contains(&text), "{text} in {}", witness.said);
        }
    }
    house.ok(["journal", "verify"]);
}

#[test]
fn what_a_model_says_is_kept_and_shown_without_keys_of_known_formats() {
    let key = concat!("AKIA", "Q3EGSM5KXV2TZW7P");
    let house = House::new();
    let script = house.folder("outside").join("script.yaml");
    let text = format!(
        "rules:\n  - expect: {{ says: Where is the key }}\n    say: \"it is {key}, let me look\"\n    \
         call: {{ grep: {{ pattern: \"{key}\" }} }}\n  - expect: {{ result_of: grep }}\n    \
         call: {{ finish: {{ answer: \"not here\" }} }}\n"
    );
    fs::write(&script, text).unwrap();
    let project = house.folder("project");
    let model = format!("rehearsal:{}", script.display());
    let ask = ["ask", "Where is the key?", "--yes"];
    let asked = house
        .artel(ask)
        .standing_in(&project)
        .env("ARTEL_MODEL", model)
        .env("ARTEL_WORKSHOP", &house.workshop);
    let seen = asked.run().expect(0);
    assert!(seen.err.contains("[REDACTED]"), "{seen:?}");
    assert!(
        !seen.out.contains(key) && !seen.err.contains(key),
        "{seen:?}"
    );
    let found = holding(&house.workshop, key.as_bytes());
    assert_eq!(found, Vec::<PathBuf>::new());
    let refused = house.ok(["journal", "query", "--kind", "tool.requested", "--json"]);
    assert!(
        refused.out.contains("never.secret-in-argument"),
        "{}",
        refused.out
    );
}
