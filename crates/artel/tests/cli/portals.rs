//! `artel portal`: project folders opened to agents, and what holds there.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::House;

/// A project beside the workshop.
fn project(house: &House, name: &str) -> PathBuf {
    let folder = house.folder(name);
    fs::write(folder.join("Cargo.toml"), "[package]\n").unwrap();
    fs::create_dir_all(folder.join(".git")).unwrap();
    folder
}

fn add(house: &House, folder: &std::path::Path, more: &[&str]) -> crate::support::Seen {
    let path = folder.to_str().unwrap();
    house.artel(["portal", "add", path]).words(more).run()
}

#[test]
fn a_folder_is_opened_listed_shown_and_closed() {
    let house = House::new();
    let shop = project(&house, "My App");
    let path = shop.to_str().unwrap();
    add(&house, &shop, &[]).expect(0).says("open: My_App (");
    let list = house.ok(["portal", "list", "--json"]).json();
    assert_eq!(
        list,
        json!([{
            "name": "My_App", "path": path, "operations": ["read", "write", "git"],
            "agents": ["*"], "privacy": "any", "stack": ["Rust", "Git"], "checks": [],
        }])
    );
    house
        .ok(["portal", "list"])
        .says("My_App  read,write,git  *");
    house.ok(["portal", "show", "My_App"]).says("Rust, Git");
    let shown = house.ok(["portal", "show", "My_App", "--json"]).json();
    assert_eq!(shown, list[0]);
    assert!(house.kinds().contains(&"portal.opened".to_owned()));
    house
        .ok(["portal", "remove", "My_App"])
        .says("closed My_App");
    assert_eq!(house.ok(["portal", "list", "--json"]).json(), json!([]));
    assert_eq!(house.kinds().last().unwrap(), "portal.closed");
    assert!(!house.workshop.join("Knowledge/Portals/My_App.md").exists());
    assert!(shop.join("Cargo.toml").exists(), "the folder itself stays");
    for words in [["portal", "show", "My_App"], ["portal", "remove", "My_App"]] {
        house.artel(words).run().fails(4, "F001");
    }
}

#[test]
fn what_holds_is_changed_by_adding_again_and_only_what_is_said() {
    let house = House::new();
    let shop = project(&house, "site");
    add(&house, &shop, &[]).expect(0);
    let before = house.kinds().len();
    add(&house, &shop, &[]).expect(0).says("nothing changes");
    assert_eq!(house.kinds().len(), before);
    let flags = ["--operations", "read,write", "--agents", "engineer,tester"];
    add(&house, &shop, &flags).expect(0);
    let flags = [
        "--privacy",
        "local-only",
        "--check",
        "make",
        "--check",
        "make test",
    ];
    let seen = add(&house, &shop, &[&flags[..], &["--json"]].concat())
        .expect(0)
        .json();
    assert_eq!(seen["operations"], json!(["read", "write"]));
    assert_eq!(seen["agents"], json!(["engineer", "tester"]));
    assert_eq!(seen["privacy"], "local-only");
    assert_eq!(seen["checks"], json!(["make", "make test"]));
    assert_eq!(
        house
            .ok(["portal", "list", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn names_are_unique() {
    let house = House::new();
    for (folder, name) in [("a/app", "app"), ("b/app", "app-2"), ("c/App", "App-3")] {
        let folder = project(&house, folder);
        let seen = add(&house, &folder, &["--json"]).expect(0).json();
        assert_eq!(seen["name"], name);
    }
    let other = project(&house, "d");
    add(&house, &other, &["--name", "app"])
        .fails(2, "C004")
        .says("--name app-4");
    add(&house, &other, &["--name", "my site!"])
        .expect(0)
        .says("my_site_");
    add(&house, &other, &["--name", "else"])
        .fails(2, "C004")
        .says("portal remove my_site_");
}

#[test]
fn folders_that_hold_more_than_a_project_are_refused() {
    let house = House::new();
    let before = house.kinds();
    let home = house.home.to_str().unwrap().to_owned();
    let root = house.root().to_str().unwrap().to_owned();
    let state = house.state("blobs").to_str().unwrap().to_owned();
    let data = house.data().to_str().unwrap().to_owned();
    for path in ["/", &home, &root, &state, &data] {
        let seen = house.artel(["portal", "add", path]).run().fails(3, "F003");
        assert!(seen.err.contains("one project"), "{}", seen.err);
    }
    // A link counts as what it leads to.
    let link = house.root().join("link");
    std::os::unix::fs::symlink(&house.home, &link).unwrap();
    add(&house, &link, &[]).fails(3, "F003");
    house
        .artel(["portal", "add", "nowhere"])
        .run()
        .fails(4, "W010");
    let file = house.workshop.join("artel.toml");
    add(&house, &file, &[]).fails(2, "C004");
    assert_eq!(house.kinds(), before);
}

#[test]
fn wrong_values_are_refused_with_what_is_allowed() {
    let house = House::new();
    let shop = project(&house, "site");
    let table: [(&[&str], i32, &str, &str); 6] = [
        (&["--operations", "read,fly"], 2, "C004", "read, write, git"),
        (&["--operations", "write"], 2, "C004", "--operations read"),
        (&["--agents", "poet"], 4, "W010", "agent create poet"),
        (&["--agents", ""], 4, "W010", "role"),
        (&["--privacy", "secret"], 2, "C004", "local-only"),
        (&["--check", " "], 2, "C004", "one line"),
    ];
    for (flags, code, name, words) in table {
        add(&house, &shop, flags).fails(code, name).says(words);
    }
    assert_eq!(house.ok(["portal", "list", "--json"]).json(), json!([]));
}

#[test]
fn notes_in_a_card_stay_byte_for_byte() {
    let house = House::new();
    let shop = project(&house, "site");
    add(&house, &shop, &[]).expect(0);
    let card = house.workshop.join("Knowledge/Portals/site.md");
    let page = fs::read_to_string(&card).unwrap();
    assert!(
        page.contains("portal: \"site\"\n") && page.ends_with("\n## Notes\n"),
        "{page}"
    );
    let notes = b"## Notes\r\n\nMine \xff\n\n## Notes\n\n  tail  \n\n";
    let mut edited = page.replace("## Notes\n", "").into_bytes();
    edited.extend_from_slice(notes);
    fs::write(&card, &edited).unwrap();
    fs::write(shop.join("app.py"), "").unwrap();
    house
        .ok(["portal", "verify", "site"])
        .says("is now: Rust, Python, Git");
    house.ok(["portal", "refresh", "site"]);
    let now = fs::read(&card).unwrap();
    assert!(now.ends_with(notes));
    assert!(String::from_utf8_lossy(&now).contains("Tech stack: Rust, Python, Git"));
    let shown = house.ok(["portal", "show", "site", "--json"]).json();
    assert_eq!(shown["stack"], json!(["Rust", "Python", "Git"]));
    // Closing keeps what a person wrote; opening again takes it up.
    house
        .ok(["portal", "remove", "site"])
        .says("your notes stay");
    assert!(fs::read(&card).unwrap().ends_with(notes));
    add(&house, &shop, &[]).expect(0);
    assert!(fs::read(&card).unwrap().ends_with(notes));
    // A page without the heading could be theirs as a whole.
    fs::write(&card, "only mine\n").unwrap();
    house.ok(["portal", "refresh", "site"]);
    house.ok(["portal", "refresh", "site"]);
    let now = fs::read_to_string(&card).unwrap();
    assert!(now.ends_with("\n## Notes\n\nonly mine\n"), "{now}");
    assert_eq!(now.matches("only mine").count(), 1);
}

#[test]
fn verification_finds_what_is_gone_or_changed() {
    let house = House::new();
    house.ok(["portal", "verify"]);
    let (shop, plain) = (project(&house, "site"), house.folder("plain"));
    add(&house, &shop, &[]).expect(0);
    add(&house, &plain, &[]).expect(0);
    let seen = house.ok(["portal", "verify", "--json"]).json();
    assert_eq!(seen["ok"], true);
    house.ok(["portal", "verify", "plain"]).says("git init");
    fs::remove_dir_all(&shop).unwrap();
    let seen = house
        .artel(["portal", "verify", "--json"])
        .run()
        .expect(1)
        .json();
    assert_eq!(seen["ok"], false);
    let bad: Vec<_> = seen["checks"].as_array().unwrap().iter().collect();
    let bad: Vec<_> = bad.iter().filter(|it| it["health"] == "problem").collect();
    assert_eq!(bad.len(), 1);
    assert_eq!(
        (&bad[0]["portal"], &bad[0]["what"]),
        (&json!("site"), &json!("folder"))
    );
    house
        .artel(["portal", "verify", "site"])
        .run()
        .expect(1)
        .says("portal remove site");
    house
        .artel(["portal", "refresh", "site"])
        .run()
        .fails(4, "W010");
    house
        .artel(["portal", "verify", "nobody"])
        .run()
        .fails(4, "F001");
}

#[test]
fn the_first_portal_makes_the_workshop() {
    let house = House::empty();
    let shop = project(&house, "site");
    add(&house, &shop, &[]).expect(0).says("made a workshop at");
    assert!(house.home.join("Artel/Knowledge/Portals/site.md").exists());
    house.ok(["portal", "list"]).says("site");
}
