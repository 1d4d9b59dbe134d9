//! `artel init` in a workshop: it completes what is missing and leaves the rest alone.

use std::fs;

use crate::support::{House, Tree};

#[test]
fn the_second_time_nothing_changes() {
    let house = House::new();
    fs::write(house.workshop.join("Knowledge/Dashboard.md"), "# Mine\n").unwrap();
    let before = Tree::of(&house.root());
    insta::assert_snapshot!(house.ok(["init"]).text(), @r"
        exit 0
        HERE is a workshop already; nothing to do
        ");
    before.unchanged(&house.root());
    // Settings that changed are for the next command that writes.
    fs::write(
        house.workshop.join("artel.toml"),
        "output.color = \"never\"",
    )
    .unwrap();
    let before = Tree::of(&house.root());
    house.ok(["init"]);
    before.unchanged(&house.root());
}

#[test]
fn what_is_missing_is_completed() {
    let house = House::new();
    fs::remove_dir(house.workshop.join("Tools")).unwrap();
    fs::remove_file(house.workshop.join("artel.toml")).unwrap();
    let seen = house.ok(["init"]);
    insta::assert_snapshot!(seen.text(), @r"
        exit 0
        completed HERE: Tools/, artel.toml
        ");
    assert!(house.workshop.join("Tools").is_dir());
    let made = house.ok(["init", "--json"]).json();
    assert_eq!(made["is_new"], false);
    assert_eq!(made["made"], serde_json::json!([]));
}

/// Makes a template look like one that an earlier version wrote and nobody touched.
fn age_template(house: &House, name: &str, text: &str) {
    fs::write(house.workshop.join(name), text).unwrap();
    let path = house.state("workshop.json");
    let mut marker: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    marker["templates"][name] = blake3::hash(text.as_bytes()).to_hex().to_string().into();
    fs::write(path, marker.to_string()).unwrap();
}

#[test]
fn force_writes_untouched_templates_anew_and_never_an_edit() {
    let house = House::new();
    let dashboard = house.workshop.join("Knowledge/Dashboard.md");
    let settings = house.workshop.join("artel.toml");
    let current = fs::read_to_string(&settings).unwrap();
    age_template(&house, "artel.toml", "# an older template\n");
    fs::write(&dashboard, "# Mine\n").unwrap();

    house.ok(["init"]);
    assert_eq!(
        fs::read_to_string(&settings).unwrap(),
        "# an older template\n"
    );
    insta::assert_snapshot!(house.ok(["init", "--force"]).text(), @r"
        exit 0
        completed HERE: artel.toml
        kept Knowledge/Dashboard.md: it was edited
        ");
    assert_eq!(fs::read_to_string(&settings).unwrap(), current);
    assert_eq!(fs::read_to_string(&dashboard).unwrap(), "# Mine\n");

    let again = house.ok(["init", "--force", "--json"]).json();
    assert_eq!(again["made"], serde_json::json!([]));
    assert_eq!(again["kept"], serde_json::json!(["Knowledge/Dashboard.md"]));
}

#[test]
fn force_follows_no_link_in_a_template_s_place() {
    let house = House::new();
    let settings = house.workshop.join("artel.toml");
    let elsewhere = house.root().join("mine.toml");
    fs::write(&elsewhere, "output.color = \"never\"\n").unwrap();
    fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &settings).unwrap();
    house.artel(["init"]).run().expect(0);
    house.artel(["init", "--force"]).run().fails(1, "W004");
    assert_eq!(
        fs::read_to_string(&elsewhere).unwrap(),
        "output.color = \"never\"\n"
    );
}

/// Leaves what a kill in the middle of `init` leaves.
fn interrupt(house: &House, keep: &[&str]) {
    let state = house.workshop.join(".artel");
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_file() && !keep.contains(&name) {
            fs::remove_file(path).unwrap();
        }
    }
    fs::remove_dir_all(house.data()).unwrap();
}

#[test]
fn an_interrupted_init_is_completed() {
    let after_the_marker: fn(&House) = |house| interrupt(house, &["workshop.json"]);
    let with_an_empty_journal: fn(&House) = |house| {
        interrupt(house, &["workshop.json"]);
        fs::write(house.journal_file(), "").unwrap();
    };
    let before_the_first_event: fn(&House) = |house| {
        interrupt(house, &["workshop.json"]);
        let options = artel_journal::JournalOptions::new(
            artel_testkit::system_clock(),
            artel_types::TraceId::from_random([1; 16]),
        );
        artel_journal::Journal::create(&house.journal_home(), house.id(), options).unwrap();
    };
    for (number, leave) in [
        after_the_marker,
        with_an_empty_journal,
        before_the_first_event,
    ]
    .into_iter()
    .enumerate()
    {
        let house = House::new();
        let id = house.id();
        leave(&house);
        register(&house);
        assert_eq!(house.ok(["init"]).code, 0, "case {number}");
        assert_eq!(house.id(), id, "case {number}");
        assert_eq!(house.kinds(), ["workshop.created", "config.loaded"]);
        house.ok(["journal", "verify"]);
    }
}

/// `init` notes the workshop before it writes the marker, so a kill leaves one with the other.
fn register(house: &House) {
    fs::create_dir_all(house.data()).unwrap();
    let path = house.workshop.to_str().unwrap();
    let place = blake3::hash(path.as_bytes()).to_hex().to_string();
    let entry = serde_json::json!([{ "id": house.id(), "path": path, "place": place }]);
    fs::write(house.data().join("workshops.json"), entry.to_string()).unwrap();
}

#[test]
fn a_journal_without_its_marker_gets_no_new_identity() {
    let house = House::new();
    fs::remove_file(house.state("workshop.json")).unwrap();
    let before = Tree::of(&house.root());
    insta::assert_snapshot!(house.artel(["init"]).run().text(), @r"
        exit 1
        error[W008]: `HERE/.artel/workshop.json` is gone
          why: there is a journal beside it, so this is a workshop
          try: put it back from a copy; it holds the id that the journal names
        ");
    house.artel(["journal", "tail"]).run().fails(1, "W008");
    before.unchanged(&house.root());
}
