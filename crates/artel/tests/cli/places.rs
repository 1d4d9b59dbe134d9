//! Where files go: the workshop and the four XDG folders, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Artel, House, Tree, old_run};

/// Uses a workshop in every way that leaves something behind.
fn live(artel: &dyn Fn(&[&str]) -> Artel) {
    for words in [
        &["init"][..],
        &["doctor"],
        &["journal", "backup"],
        &["journal", "verify"],
        &["journal", "stats"],
        &["journal", "tail"],
        &["config", "show"],
        &["workshop", "trust", "."],
        &["journal", "prune", "--before", "1d", "--yes"],
        &["clean", "--yes"],
    ] {
        artel(words).run().expect(0);
    }
}

/// Returns the files below `root` that lie in none of these folders.
fn astray(root: &Path, allowed: &[PathBuf]) -> Vec<PathBuf> {
    let tree = Tree::of(root);
    let files = tree.files().into_iter().map(Path::to_owned);
    files
        .filter(|file| !allowed.iter().any(|folder| file.starts_with(folder)))
        .collect()
}

const VARIABLES: [&str; 4] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

#[test]
fn with_all_four_variables_set_every_file_lies_under_them_or_in_the_workshop() {
    let house = House::empty();
    let places = VARIABLES.map(|name| house.root().join(name.to_lowercase()));
    let temporary = house.folder("tmp");
    let artel = |words: &[&str]| {
        let mut artel = house.artel([]).words(words).env("TMPDIR", &temporary);
        for (name, place) in VARIABLES.iter().zip(&places) {
            artel = artel.env(name, place);
        }
        artel
    };
    live(&artel);
    let mut allowed: Vec<PathBuf> = places.iter().map(|place| place.join("artel")).collect();
    allowed.push(house.workshop.clone());
    allowed.push(house.home.join(".gitconfig"));
    assert_eq!(astray(&house.root(), &allowed), Vec::<PathBuf>::new());
    assert!(places[1].join("artel/signing.key").is_file());
    assert!(
        fs::read_dir(&house.home).unwrap().count() == 1,
        "only .gitconfig"
    );
}

#[test]
fn without_them_the_defaults_hold() {
    let house = House::empty();
    live(&|words| house.artel([]).words(words));
    let allowed = [
        house.workshop.clone(),
        house.home.join(".gitconfig"),
        house.home.join(".config/artel"),
        house.home.join(".local/share/artel"),
        house.home.join(".local/state/artel"),
        house.home.join(".cache/artel"),
    ];
    assert_eq!(astray(&house.root(), &allowed), Vec::<PathBuf>::new());
    for name in ["signing.key", "workshops.json", "heads"] {
        assert!(house.data().join(name).exists(), "{name}");
    }
}

#[test]
fn relative_variables_are_left_aside() {
    let house = House::empty();
    let artel = house.artel(["init"]).env("XDG_DATA_HOME", "data");
    artel.env("XDG_CONFIG_HOME", "").run().expect(0);
    assert!(house.data().join("signing.key").is_file());
    assert!(!house.workshop.join("data").exists());
}

#[test]
fn the_user_s_settings_are_read_from_the_config_folder() {
    let house = House::new();
    let config = house.folder("config/artel");
    fs::write(config.join("artel.toml"), "output.color = \"never\"\n").unwrap();
    let show = house.artel(["config", "show", "--origin"]);
    let show = show.env("XDG_CONFIG_HOME", house.root().join("config"));
    show.run()
        .expect(0)
        .says("user ")
        .says("config/artel/artel.toml:1");
}

#[test]
fn nothing_is_lost_with_the_cache() {
    let house = House::with_events(120);
    old_run(&house, 100, 3, 5);
    house.ok(["journal", "prune", "--before", "90d", "--yes"]);
    let before = house.ok(["journal", "export"]).out;
    let stats = house.ok(["journal", "stats", "--json"]).out;
    for cache in [house.home.join(".cache"), house.home.join(".local/state")] {
        if cache.exists() {
            fs::remove_dir_all(cache).unwrap();
        }
    }
    assert_eq!(house.ok(["journal", "export"]).out, before);
    assert_eq!(house.ok(["journal", "stats", "--json"]).out, stats);
    house.ok(["journal", "verify"]);
    house.ok(["journal", "backup"]);
}

#[test]
fn what_is_private_can_be_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::with_events(10);
    house.ok(["journal", "backup"]);
    let mode = |path: PathBuf| fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(house.data()), 0o700);
    assert_eq!(mode(house.data().join("signing.key")), 0o600);
    assert_eq!(mode(house.data().join("workshops.json")), 0o600);
    assert_eq!(mode(house.workshop.join(".artel")), 0o700);
    assert_eq!(mode(house.state("backups")), 0o700);
}
