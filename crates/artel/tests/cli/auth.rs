//! `artel auth`: keys are tried, stored where nobody can read them, and never shown.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use artel_testkit::standin::{Answer, Format, StandIn};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use crate::support::{Artel, House, KEY, Seen, Tree, holding, obliging, provider};
use crate::terminal::terminal;

/// A house whose model is a stand-in, with keys as they are usually found.
pub(crate) fn with_provider(format: Format, stand_in: &StandIn) -> House {
    let house = House::new();
    house.settings(&format!(
        "[models.default]\nprovider = \"{}\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n",
        provider(format),
        stand_in.url()
    ));
    house
}

#[track_caller]
fn keeps_nothing(house: &House, key: &str) {
    assert_eq!(
        holding(&house.root(), key.as_bytes()),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn a_key_is_tried_and_stored_where_nobody_finds_it() {
    for format in [
        Format::Anthropic,
        Format::Responses,
        Format::Chat,
        Format::Google,
    ] {
        let stand_in = obliging(format);
        let house = with_provider(format, &stand_in);
        let name = provider(format);
        let seen = house
            .artel(["auth", "set", name])
            .given(&format!("{KEY}\n"));
        let seen = seen.run().expect(0);
        assert!(
            seen.out.starts_with(&format!("{name} accepted the key (")),
            "{}",
            seen.out
        );
        assert!(
            seen.out
                .contains("stored as account `default` in the encrypted file")
        );
        assert_eq!(seen.err, "");
        let tried = stand_in.seen();
        assert_eq!(tried.len(), 1);
        assert_eq!(tried[0].method, "GET", "it costs nothing");
        for file in ["keys.enc", "keys.key"] {
            let mode = fs::metadata(house.data().join(file)).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600, "{file}");
        }
        keeps_nothing(&house, KEY);
        house.ok(["model", "test"]);
        keeps_nothing(&house, KEY);
        let asked = &stand_in.seen()[1];
        assert!(asked.headers.values().any(|value| value.contains(KEY)));
    }
}

#[test]
fn a_key_that_is_not_accepted_is_not_stored_and_not_repeated() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    let set = |words: &[&str]| {
        let set = house.artel(["auth", "set", "openai-chat"]).words(words);
        set.given("wrong-key\n").run()
    };
    let before = Tree::of(&house.root());
    let seen = set(&[]).fails(2, "K002");
    assert!(seen.err.contains("nothing was stored"), "{}", seen.err);
    assert!(!seen.err.contains("wrong-key"), "{}", seen.err);
    let seen = set(&["--json"]).expect(2);
    assert!(!seen.err.contains("wrong-key"), "{}", seen.err);
    before.unchanged(&house.root());
}

#[test]
fn a_key_that_cannot_be_tried_is_not_stored() {
    let stand_in = StandIn::start(Format::Anthropic, []);
    let house = with_provider(Format::Anthropic, &stand_in);
    drop(stand_in);
    let before = Tree::of(&house.root());
    let set = house.artel(["auth", "set", "anthropic"]).given(KEY);
    let seen = set.run().fails(1, "M009");
    for words in [
        "the key could not be tried at `http://127.0.0.1:",
        "nobody answers",
    ] {
        assert!(seen.err.contains(words), "{}", seen.err);
    }
    before.unchanged(&house.root());
    // Somebody else may listen there.
    let other = StandIn::start(Format::Ollama, [Answer::says("Hello.").repeating()]);
    let house = with_provider(Format::Anthropic, &other);
    let set = house.artel(["auth", "set", "anthropic"]).given(KEY);
    set.run().fails(1, "M009").says("mend `base_url`");
    assert!(!house.data().join("keys.enc").exists());
}

#[test]
fn what_is_no_key_is_refused_before_anybody_is_asked() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    for text in [
        "",
        "\n",
        " \n\n",
        "two words\n",
        "sk-12345\u{e9}",
        "a\0b",
        "line\nline\n",
    ] {
        let set = house.artel(["auth", "set", "openai-chat"]).given(text);
        set.run().fails(2, "K004");
    }
    for length in [2_049, 20_000, 100_000] {
        let long = "k".repeat(length);
        let set = house.artel(["auth", "set", "openai-chat"]).given(&long);
        set.run().fails(2, "K004").says("too long");
    }
    let far = format!("{}{KEY}", " ".repeat(16 * 1024));
    let set = house.artel(["auth", "set", "openai-chat"]).given(&far);
    set.run().fails(2, "K004").says("too long");
    let name = house.artel(["auth", "set", "openai-chat", "--account", "My Work"]);
    name.given(KEY).run().fails(2, "C004");
    for none in ["ollama", "rehearsal"] {
        house
            .artel(["auth", "set", none])
            .given(KEY)
            .run()
            .fails(2, "C004");
    }
    assert_eq!(stand_in.seen(), []);
}

#[test]
fn a_key_on_the_command_line_is_refused_and_not_repeated() {
    let house = House::new();
    let with_equals = format!("--key={KEY}");
    let lines: [&[&str]; 8] = [
        &["auth", "set", "anthropic", KEY],
        &["auth", "set", KEY],
        &["auth", "set", KEY, "anthropic"],
        &["auth", "set", "anthropic", "--key", KEY],
        &["auth", "set", "anthropic", &with_equals],
        &["auth", KEY],
        &["auth", "remove", KEY],
        &["--json", "auth", "set", "anthropic", KEY],
    ];
    let mut all = String::new();
    for words in lines {
        let seen = house.artel([]).words(words).run().expect(2);
        assert!(!seen.err.contains("canary"), "{words:?}: {}", seen.err);
        assert_eq!(seen.out, "");
        all += &seen.text();
    }
    insta::assert_snapshot!(all, @r#"
        exit 2
        error[K004]: a key is not given on the command line
          why: others on this machine could see it there, and shells keep what was typed
          try: `artel auth set PROVIDER` asks for it; `artel auth set PROVIDER < FILE` reads it
        exit 2
        error[M001]: that is no provider
          why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
          try: `artel auth status` lists the keys there are
        exit 2
        error[K004]: a key is not given on the command line
          why: others on this machine could see it there, and shells keep what was typed
          try: `artel auth set PROVIDER` asks for it; `artel auth set PROVIDER < FILE` reads it
        exit 2
        error[K004]: a key is not given on the command line
          why: others on this machine could see it there, and shells keep what was typed
          try: `artel auth set PROVIDER` asks for it; `artel auth set PROVIDER < FILE` reads it
        exit 2
        error[K004]: a key is not given on the command line
          why: others on this machine could see it there, and shells keep what was typed
          try: `artel auth set PROVIDER` asks for it; `artel auth set PROVIDER < FILE` reads it
        exit 2
        error[C003]: `artel auth` has no such command
          try: `artel auth --help`
        exit 2
        error[M001]: that is no provider
          why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
          try: `artel auth status` lists the keys there are
        exit 2
        {"error":{"advice":"`artel auth set PROVIDER` asks for it; `artel auth set PROVIDER < FILE` reads it","code":"K004","what":"a key is not given on the command line","why":"others on this machine could see it there, and shells keep what was typed"}}
        "#);
    // A slip of the fingers is still helped with.
    let slip = house.artel(["auth", "set", "anthropic", "--acount", "work"]);
    slip.run().fails(2, "C002").says("--account");
}

/// Runs a command in a terminal of its own, and does something when it asks. The terminal shows
/// what is typed again afterwards.
fn asked(artel: Artel, answer: impl FnOnce(&mut File, Pid)) -> (String, i32) {
    let (person, program) = terminal();
    let modes = |person: &File| tcgetattr(person).unwrap().local_modes;
    let mut command = artel.command();
    command.stdin(program.try_clone().unwrap());
    command.stdout(program.try_clone().unwrap()).stderr(program);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut person = File::from(person);
    let mut screen = Vec::new();
    let mut byte = [0];
    while !screen.ends_with(b"(not shown): ") && person.read(&mut byte).is_ok() {
        screen.push(byte[0]);
    }
    let switched = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    assert!(!modes(&person).intersects(switched));
    answer(&mut person, Pid::from_child(&child));
    // A terminal whose last program is gone answers with an error instead of an end.
    drop(person.read_to_end(&mut screen));
    let code = child.wait().unwrap().code().unwrap();
    assert!(modes(&person).contains(switched));
    (String::from_utf8(screen).unwrap().replace('\r', ""), code)
}

/// The same with an answer that is typed.
fn answered(artel: Artel, typed: &str) -> (String, i32) {
    asked(artel, |person, _| {
        person.write_all(typed.as_bytes()).unwrap();
    })
}

#[test]
fn a_key_typed_at_the_prompt_is_not_shown() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    let set = || {
        house
            .artel(["auth", "set", "openai-chat"])
            .env("NO_COLOR", "1")
    };
    let (screen, code) = answered(set(), &format!("{KEY}\n"));
    assert_eq!(code, 0, "{screen}");
    let place = house.data().join("keys.enc").display().to_string();
    let expected = "Key for openai-chat (not shown): \n\
                    openai-chat accepted the key (2 models); \
                    stored as account `default` in the encrypted file PLACE\n";
    assert_eq!(screen.replace(&place, "PLACE"), expected);
    assert_eq!(
        stand_in.seen()[0].headers["authorization"],
        format!("Bearer {KEY}")
    );
    for none in ["\u{4}", "\n", "k\u{7f}\u{4}", "k\u{15}\r"] {
        let (screen, code) = answered(set(), none);
        assert!(
            code == 2 && screen.contains("\nerror[K004]: no key was given"),
            "{none:?}: {screen}"
        );
    }
}

#[test]
fn a_key_can_be_mended_while_it_is_typed() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    let (start, end) = KEY.split_at(9);
    for typed in [
        format!("{start}xy\u{7f}\u{8}{end}\n"),
        format!("{start}\u{e9}\u{7f}{end}\n"),
        format!("nonsense\u{15}{KEY}\r"),
        format!("\u{7f}{start}\u{4}\u{1a}\u{1}\u{1b}{end}\n"),
    ] {
        let set = house.artel(["auth", "set", "openai-chat"]);
        let (screen, code) = answered(set, &typed);
        assert_eq!(code, 0, "{typed:?}: {screen}");
        assert_eq!(
            stand_in.seen().last().unwrap().headers["authorization"],
            format!("Bearer {KEY}")
        );
    }
}

#[test]
fn who_calls_off_the_prompt_has_the_terminal_as_it_was() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    let before = Tree::of(&house.root());
    let set = || {
        house
            .artel(["auth", "set", "openai-chat"])
            .env("NO_COLOR", "1")
    };
    let called_off = |(screen, code): (String, i32)| {
        assert_eq!(code, 130, "{screen}");
        let end = screen.strip_prefix("Key for openai-chat (not shown): \n");
        assert!(end.unwrap().starts_with("error[X002]: interrupted\n"));
    };
    for typed in ["\u{3}", "\u{1c}", "sk-half\u{3}"] {
        called_off(answered(set(), typed));
    }
    for signal in [Signal::INT, Signal::TERM] {
        called_off(asked(set(), |_, program| {
            kill_process(program, signal).unwrap();
        }));
    }
    before.unchanged(&house.root());
    assert_eq!(stand_in.seen(), []);
}

#[test]
fn the_first_key_of_all_needs_no_workshop() {
    let stand_in = obliging(Format::Google);
    let house = House::empty();
    let folder = house.home.join(".config/artel");
    fs::create_dir_all(&folder).unwrap();
    let settings = format!(
        "[models.default]\nprovider = \"google\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n",
        stand_in.url()
    );
    fs::write(folder.join("artel.toml"), settings).unwrap();
    let set = || house.artel(["auth", "set", "google", "--json"]).given(KEY);
    let stored: Seen = set().run().expect(0);
    assert_eq!(stored.json()["account"], "default");
    assert!(!house.home.join("Artel").exists());
    // Who names an account for all commands means it here, too.
    let stored = set().env("ARTEL_ACCOUNT", "work").run().expect(0);
    assert_eq!(stored.json()["account"], "work");
}
