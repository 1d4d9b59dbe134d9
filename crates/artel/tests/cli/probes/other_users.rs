//! Other users of the machine: what they own or can change in a workshop is nobody's word, and they
//! read and write nothing of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::omniforge::world::World;
use crate::support::Artel;

/// Who that is.
const NOBODY: u32 = 65_534;

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

/// Files of the configuration, each with something that it may say.
const CONFIGURATION: [(&str, &str); 4] = [
    ("Policy/rules.toml", "deny = [\"Read(private/**)\"]\n"),
    (
        "Tools/x.toml",
        "description = \"x\"\ncommand = [\"true\"]\n",
    ),
    (
        "Agents/helper.md",
        "---\nname: helper\ndescription: x\n---\nx\n",
    ),
    ("artel.toml", "[policy]\ncontained = true\n"),
];

/// Only the system's administrator can give a file away; for others there is nothing to see.
fn belongs_to_nobody(path: &Path) -> bool {
    chown(path, Some(NOBODY), Some(NOBODY)).is_ok()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Sees that no run begins, that both the refusal and `doctor` name the file, and that it is as
/// before once that was mended.
#[track_caller]
fn is_refused(world: &World, file: &str, why: &str, mend: impl Fn()) {
    let begins = || world.rehearsed(DONE, ["--task", "x", "--yes"]).run();
    begins().fails_last(3, "W007").says(why).says(file);
    let doctor = world.artel(["doctor"]).run();
    assert!(doctor.out.contains(why), "{file}: {}", doctor.out);
    assert!(world.events("run.started").is_empty(), "{file}");
    mend();
    begins().expect(0);
}

#[test]
fn configuration_of_another_user_is_not_in_force() {
    for (file, text) in CONFIGURATION {
        let world = World::new();
        let place = world.house.workshop.join(file);
        fs::write(&place, text).unwrap();
        if !belongs_to_nobody(&place) {
            return;
        }
        is_refused(&world, file, "belongs to user 65534", || {
            chown(&place, Some(0), Some(0)).unwrap();
        });
    }
}

#[test]
fn configuration_that_others_can_write_is_not_in_force() {
    for (file, text) in CONFIGURATION {
        let world = World::new();
        let place = world.house.workshop.join(file);
        fs::write(&place, text).unwrap();
        mode(&place, 0o666);
        is_refused(&world, file, "others can write", || mode(&place, 0o644));
    }
}

/// Whoever can write a folder takes bans out of it.
#[test]
fn a_folder_of_the_configuration_that_others_can_write_is_refused() {
    for folder in ["", "Policy", "Agents", "Tools", "Skills"] {
        let world = World::new();
        let place = match folder {
            "" => world.house.workshop.clone(),
            folder => world.house.workshop.join(folder),
        };
        mode(&place, 0o777);
        is_refused(&world, folder, "others can write", || mode(&place, 0o755));
    }
}

/// On many systems each user has a group of their own, and files are writable by it.
#[test]
fn a_group_that_has_its_user_alone_for_a_member_is_no_other_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    for (file, text) in CONFIGURATION {
        let place = world.house.workshop.join(file);
        fs::write(&place, text).unwrap();
        mode(&place, 0o664);
    }
    mode(&world.house.workshop, 0o775);
    let begins = || world.rehearsed(DONE, ["--task", "x"]).run();
    begins().expect(0);
    let rules = world.house.workshop.join("Policy/rules.toml");
    chown(&rules, None, Some(NOBODY)).unwrap();
    begins().fails_last(3, "W007").says("others can write");
}

/// Runs a command whose new files are the group's to write, too, and returns what it said.
fn with_a_groups_umask(artel: Artel) -> String {
    let command = artel.command();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 002; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    text(done)
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// In many places all users have one group, whose files are writable by it.
#[test]
fn init_shuts_a_folder_that_a_shared_group_can_write_and_runs_begin() {
    let world = World::new();
    let shop = world.house.workshop.clone();
    let agents = shop.join("Agents");
    fs::remove_dir_all(&shop).unwrap();
    fs::create_dir_all(&agents).unwrap();
    for folder in [&shop, &agents] {
        if chown(folder, None, Some(NOBODY)).is_err() {
            return;
        }
        // What is made in it has the same group.
        mode(folder, 0o2775);
    }
    let said = with_a_groups_umask(world.house.artel(["init"]));
    let note = "others could write the workshop's folder, `Agents` and no longer can";
    assert!(said.contains(note), "{said}");
    assert_eq!((mode_of(&shop), mode_of(&agents)), (0o2755, 0o2755));
    with_a_groups_umask(world.rehearsed(DONE, ["--task", "x"]));
    assert_eq!(world.events("run.started").len(), 1);
}

#[test]
fn an_older_workshop_that_others_can_write_is_shut_and_not_refused() {
    let world = World::new();
    let agents = world.house.workshop.join("Agents");
    let helper = agents.join("helper.md");
    fs::write(&helper, CONFIGURATION[2].1).unwrap();
    let open = || {
        mode(&agents, 0o777);
        mode(&helper, 0o666);
    };
    open();
    let marker = world.house.state("workshop.json");
    let mut older: Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
    older.as_object_mut().unwrap().remove("upgrades").unwrap();
    fs::write(&marker, older.to_string()).unwrap();
    let doctor = world.artel(["doctor"]).run();
    let ends = "which ends when the workshop is upgraded";
    assert!(doctor.out.contains(ends), "{}", doctor.out);
    let begins = || world.rehearsed(DONE, ["--task", "x"]).run();
    let said = begins().expect(0).err;
    let note = "they could write `Agents`, `Agents/helper.md`: see that all there is yours";
    assert!(said.contains(note), "{said}");
    assert_eq!((mode_of(&agents), mode_of(&helper)), (0o755, 0o644));
    // After that it is nobody else's, or refused.
    open();
    begins().fails_last(3, "W007").says("others can write");
}

/// In a container the administrator works on a folder of somebody outside.
#[test]
fn for_the_administrator_files_of_the_folders_owner_are_no_other_users() {
    let world = World::new();
    let shop = world.house.workshop.clone();
    let helper = shop.join("Agents/helper.md");
    fs::write(&helper, CONFIGURATION[2].1).unwrap();
    world.skill("greet", "", "Greet.");
    let skill = shop.join("Skills/greet");
    for place in [&shop, &shop.join("Agents"), &helper, &skill] {
        if chown(place, Some(NOBODY), Some(NOBODY)).is_err() {
            return;
        }
    }
    world.rehearsed(DONE, ["--task", "x"]).run().expect(0);
    world.rehearsed(DONE, ["greet"]).run().expect(0);
    chown(&helper, Some(NOBODY - 1), None).unwrap();
    let refused = world.rehearsed(DONE, ["--task", "x"]).run();
    refused
        .fails_last(3, "W007")
        .says("belongs to user 65533")
        .says("run Artel as that user");
}

#[test]
fn one_command_is_advised_for_all_that_others_can_write() {
    let world = World::new();
    let shop = &world.house.workshop;
    for number in 0..8 {
        let tool = shop.join(format!("Tools/x{number}.toml"));
        fs::write(&tool, CONFIGURATION[1].1).unwrap();
        mode(&tool, 0o666);
    }
    mode(shop, 0o777);
    let begins = || world.rehearsed(DONE, ["--task", "x"]).run();
    let refused = begins().fails_last(3, "W007").says("and 4 more");
    let advice = &refused.err[refused.err.find("`chmod").unwrap() + 1..];
    let advice = &advice[..advice.find('`').unwrap()];
    assert!(advice.contains("chmod -R go-w"), "{advice}");
    let shell = Command::new("sh").args(["-c", advice]).status().unwrap();
    assert!(shell.success());
    begins().expect(0);
}

#[test]
fn a_skill_of_another_user_is_asked_about() {
    for part in ["", "SKILL.md", "scripts", "scripts/go.sh"] {
        let world = World::new();
        let skill = world.skill("greet", "", "!`touch greeted.txt`\nGreet.");
        world.script("greet", "go.sh", "#!/bin/sh\n");
        if !belongs_to_nobody(&skill.join(part)) {
            return;
        }
        let begins = || world.rehearsed(DONE, ["greet"]).run();
        begins().fails_last(3, "R003").says("user 65534");
        assert!(world.events("run.started").is_empty(), "{part}");
        let doctor = world.artel(["doctor"]).run();
        assert!(doctor.out.contains("user 65534"), "{}", doctor.out);
        // Trust is given to what it is now.
        world.ok(["skill", "trust", "greet", "--yes"]);
        begins().expect(0);
        let text = fs::read_to_string(skill.join("SKILL.md")).unwrap();
        fs::write(skill.join("SKILL.md"), format!("{text}!`id`\n")).unwrap();
        begins().fails_last(3, "R003");
    }
}

fn as_nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    command.arg(program);
    command
}

fn text(output: Output) -> String {
    let bytes = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn another_user_reads_nothing_private_and_writes_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    let shop = world.house.workshop.clone();
    fs::write(shop.join("Inbox/Requests/mine.md"), "Add a heading.\n").unwrap();
    world.artel(["inbox", "scan", "--no-plan"]).run();
    world.ok(["token", "create", "--role", "admin"]);
    world.ok(["journal", "backup"]);
    world.rehearsed(DONE, ["--task", "x"]).run().expect(0);
    // The folders around it are as open as people have them.
    let root = world.house.root();
    for folder in [&root, &world.house.home, &shop] {
        mode(folder, 0o755);
    }
    let found = |test: &str| {
        let mut find = as_nobody("find");
        let find = find.arg(&root);
        let find = find.args(["(", "-type", "f", "-o", "-type", "d", ")", test]);
        String::from_utf8(find.output().unwrap().stdout).unwrap()
    };
    assert_eq!(found("-writable"), "");
    let readable = found("-readable");
    assert!(readable.contains("sales.csv"), "it looked at nothing");
    let private = [
        "/.artel",
        "/Inbox",
        "/Knowledge",
        "/Policy",
        "/.local/share/artel",
    ];
    for private in private {
        let shown: Vec<_> = readable.lines().filter(|it| it.contains(private)).collect();
        assert!(shown.is_empty(), "{shown:#?}");
    }
    for drop in [
        "Inbox/Requests/theirs.md",
        "Inbox/Active/theirs.md",
        ".artel/run/turn.lock",
        ".artel/grants.lock",
        ".artel/upgrade.lock",
        "Skills/evil",
        "Policy/rules.toml",
    ] {
        let place = shop.join(drop);
        let before = fs::read(&place).ok();
        let told = as_nobody("tee").arg(&place).output().unwrap();
        assert!(!told.status.success(), "{drop}");
        assert_eq!(fs::read(&place).ok(), before, "{drop}");
    }
}

#[test]
fn the_binary_in_the_hands_of_another_user_opens_nothing_of_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.ok(["journal", "backup"]);
    let root = world.house.root();
    for folder in [&root, &world.house.home, &world.house.workshop] {
        mode(folder, 0o755);
    }
    let binary = root.join("artel");
    fs::copy(env!("CARGO_BIN_EXE_artel"), &binary).unwrap();
    mode(&binary, 0o755);
    let home = world.house.folder("theirs");
    assert!(belongs_to_nobody(&home));
    for words in [
        &["journal", "tail"][..],
        &["journal", "append", "--text", "hello"],
        &["inbox", "list"],
        &["runs"],
        &["token", "create", "--role", "admin"],
        &["open"],
        &["policy", "grant", "Bash(make:*)", "--reason", "x"],
        &["workshop", "trust", "."],
        &["init"],
    ] {
        let mut command = as_nobody(binary.to_str().unwrap());
        let command = command.args(words).env_clear();
        let command = command
            .env("HOME", &home)
            .env("PATH", "/usr/bin:/bin")
            .env("ARTEL_WORKSHOP", &world.house.workshop);
        let output = command.current_dir(&world.house.workshop).output().unwrap();
        let code = output.status.code();
        let told = text(output);
        assert!(
            code.is_some_and(|it| it != 0 && it != 70),
            "{words:?}: {told}"
        );
        assert!(!told.contains("workshop.created"), "{words:?}: {told}");
    }
    world.ok(["journal", "verify"]);
}
