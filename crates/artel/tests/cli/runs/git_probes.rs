//! Repositories inside of the project: what is in their settings starts nothing outside of the walls,
//! and what they point to is not opened. And paths that the person banned: tools of git and lower
//! walls are no way to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::world::World;
use crate::support::lowered;

/// Makes a repository in `sub` that has git start a program whenever it looks at the files there.
const MAKES_REPOSITORY: &str = r#"import os, subprocess
def git(*words):
    subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b.c', *words], cwd='sub', check=True)
os.makedirs('sub', exist_ok=True)
git('init', '-q')
open('sub/x', 'w').write('x\n')
open('sub/.gitattributes', 'w').write('* filter=x\n')
git('add', '-A')
git('commit', '-qm', 'x')
open('sub/.git/config', 'a').write('[filter "x"]\n\tclean = "touch MARK; cat"\n')
open('sub/x', 'w').write('longer\n')
os.utime('sub/x', (1577836800, 1577836800))
"#;

/// What an agent asks of git afterwards. Two of it are refused: a third one would end the run.
fn looks() -> Vec<Value> {
    vec![
        json!({ "git_status": {} }),
        json!({ "git_diff": {} }),
        json!({ "git_add": { "all": true } }),
        json!({ "git_stash": {} }),
        json!({ "git_ls_files": { "modified": true } }),
    ]
}

fn script(calls: &[Value]) -> String {
    let end = json!({ "finish": { "answer": "done" } });
    let lines = calls.iter().chain([&end]);
    let lines: Vec<Value> = lines.map(|call| json!({ "call": call })).collect();
    json!({ "lines": lines }).to_string()
}

fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
        .args(["-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A world, and where a program that got out would leave its mark.
fn world() -> (World, PathBuf) {
    let world = World::new("");
    let mark = world.house.root().join("it-ran-outside");
    (world, mark)
}

fn plays(world: &World, calls: &[Value]) {
    fs::write(world.house.root().join("script.yaml"), script(calls)).unwrap();
    world.task([]).run();
}

/// Returns what the calls of tools whose names begin so came to.
fn finished(world: &World, tools: &str) -> Vec<Value> {
    let mut finished = world.events("tool.finished");
    finished.retain(|it| {
        let tool = it["payload"]["tool"].as_str();
        tool.is_some_and(|tool| tool.starts_with(tools))
    });
    finished
}

/// Fails if the mark is there, or if not so much was tried.
#[track_caller]
fn nothing_ran(world: &World, mark: &Path, tried: usize) {
    let finished = finished(world, "git_");
    assert!(finished.len() >= tried, "{finished:#?}");
    assert!(!mark.exists(), "a program ran outside: {finished:#?}");
}

fn makes_repository(mark: &Path) -> Vec<Value> {
    let text = MAKES_REPOSITORY.replace("MARK", &mark.display().to_string());
    vec![
        json!({ "write": { "path": "make.py", "content": text } }),
        json!({ "bash": { "command": "python3 make.py" } }),
    ]
}

#[test]
fn a_repository_that_a_command_made_starts_nothing_outside() {
    let (world, mark) = world();
    world.git();
    let mut calls = makes_repository(&mark);
    calls.push(json!({ "git_add": { "paths": ["sub"] } }));
    calls.extend(looks());
    plays(&world, &calls);
    nothing_ran(&world, &mark, 6);
    let made = world.tree(&world.run(), "sub/.git/config");
    assert!(made.exists(), "it shows nothing: {}", brought(&world));
    // A person who looks there themselves sees that it would have run.
    git(&made.ancestors().nth(2).unwrap().join(""), &["status"]);
    assert!(mark.exists(), "the trap is none");
}

/// Returns a project with a submodule in `sub`.
fn with_submodule(world: &World) {
    let library = world.house.folder("library");
    git(&library, &["init", "-q", "-b", "main"]);
    fs::write(library.join("x"), "x\n").unwrap();
    fs::write(library.join(".gitattributes"), "* filter=x\n").unwrap();
    git(&library, &["add", "-A"]);
    git(&library, &["commit", "-qm", "x"]);
    world.git();
    let from = library.to_str().unwrap();
    git(
        &world.project,
        &["submodule", "--quiet", "add", from, "sub"],
    );
    let says_so = [
        "config",
        "-f",
        ".gitmodules",
        "submodule.sub.ignore",
        "none",
    ];
    git(&world.project, &says_so);
    git(&world.project, &["commit", "-qam", "with a part"]);
}

#[test]
fn the_folder_of_a_submodule_starts_nothing_outside_whatever_a_command_makes_of_it() {
    let (world, mark) = world();
    with_submodule(&world);
    let mut calls = makes_repository(&mark);
    calls.extend(looks());
    plays(&world, &calls);
    nothing_ran(&world, &mark, 5);
    let made = world.tree(&world.run(), "sub/.git/config");
    assert!(made.exists(), "it shows nothing: {}", brought(&world));
    let apply = world.artel(["apply", &world.run(), "--yes"]).run();
    assert!(!mark.exists(), "{apply:?}");
}

/// The first calls of a run look at the person's own folder, with all that came in it.
#[test]
fn a_submodule_that_came_with_a_project_starts_nothing() {
    for call in [json!({ "git_status": {} }), json!({ "git_diff": {} })] {
        let (world, mark) = world();
        with_submodule(&world);
        let config = world.project.join(".git/modules/sub/config");
        let mut text = fs::read_to_string(&config).unwrap();
        let trap = format!(
            "[filter \"x\"]\n\tclean = \"touch {}; cat\"\n",
            mark.display()
        );
        text.push_str(&trap);
        fs::write(&config, text).unwrap();
        fs::write(world.project.join("sub/x"), "longer\n").unwrap();
        let calls = [
            call.clone(),
            json!({ "bash": { "command": "ls" } }),
            call.clone(),
        ];
        plays(&world, &calls);
        nothing_ran(&world, &mark, 2);
        // Nor where somebody tries the tool by hand.
        let (name, _) = call.as_object().unwrap().iter().next().unwrap();
        let root = world.project.to_str().unwrap();
        world
            .artel(["tool", "run", name, "{}", "--root", root])
            .run();
        assert!(!mark.exists(), "{name}");
    }
}

/// Makes pointers by which `sub` looks like a working tree of somebody else's repository.
const MAKES_POINTERS: &str = r"import os
os.mkdir('sub'); os.mkdir('fake')
open('fake/HEAD', 'w').write('ref: refs/heads/main\n')
open('fake/gitdir', 'w').write('../sub/.git\n')
open('fake/commondir', 'w').write('OTHER/.git\n')
open('sub/.git', 'w').write('gitdir: ../fake\n')
";

#[test]
fn pointers_that_a_command_made_open_no_other_repository_of_the_person() {
    let (world, _) = world();
    let other = world.house.folder("elsewhere/other");
    git(&other, &["init", "-q", "-b", "main"]);
    fs::write(other.join(".git/private.txt"), "PRIVATE-MARK\n").unwrap();
    let other = other.display().to_string();
    let reads = format!("print(open('{other}/.git/private.txt').read())");
    let make = MAKES_POINTERS.replace("OTHER", &other);
    plays(
        &world,
        &[
            json!({ "write": { "path": "make.py", "content": make } }),
            json!({ "bash": { "command": "python3 make.py && echo made" } }),
            json!({ "bash": { "command": format!("python3 -c \"{reads}\" > got.txt 2>&1; true") } }),
        ],
    );
    let at = |name: &str| world.tree(&world.run(), name);
    assert!(at("fake/commondir").exists(), "the pointers were not made");
    let got = fs::read_to_string(at("got.txt")).unwrap();
    assert!(!got.contains("PRIVATE-MARK"), "{got}");
}

#[test]
fn what_a_tool_of_git_undid_in_banned_files_is_not_put_in_place() {
    let calls = [
        json!({ "write": { "path": "new.txt", "content": "new\n" } }),
        json!({ "git_stash": {} }),
    ];
    let world = World::new(&script(&calls));
    fs::create_dir(world.project.join("kept")).unwrap();
    let plan = world.project.join("kept/plan.txt");
    fs::write(&plan, "as committed\n").unwrap();
    world.git();
    // What the person works on, and has not committed.
    fs::write(&plan, "the person's own words\n").unwrap();
    let rules = "deny = [\"Edit(kept/**)\"]\n";
    fs::write(world.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    let seen = world.task(["--apply"]).run();
    let stashed = finished(&world, "git_stash");
    assert_eq!(stashed.len(), 1, "{stashed:#?}");
    assert_eq!(
        fs::read_to_string(&plan).unwrap(),
        "the person's own words\n"
    );
    assert!(world.project.join("new.txt").exists(), "{}", seen.err);
    assert!(seen.err.contains("kept/plan.txt"), "{}", seen.err);
}

#[track_caller]
fn at_level_partial(world: &World) {
    let ended = lowered(world.task(["--set", "sandbox.accept=partial"])).output();
    let engaged = world.events("sandbox.engaged");
    assert_eq!(engaged[0]["payload"]["level"], "partial", "{ended:?}");
}

/// Returns all that calls brought.
fn brought(world: &World) -> String {
    let finished = world.events("tool.finished");
    assert!(!finished.is_empty());
    finished.iter().map(Value::to_string).collect()
}

#[test]
fn at_level_partial_banned_paths_are_absent_too() {
    let calls = [
        "python3 look.py",
        "grep -rh value .",
        "git show HEAD:private/key",
        "cat look.py",
    ];
    let calls = calls.map(|command| json!({ "bash": { "command": command } }));
    let world = World::new(&script(&calls));
    fs::create_dir(world.project.join("private")).unwrap();
    fs::write(world.project.join("private/key"), "the value 4711-plum\n").unwrap();
    let look = "import glob\nfor name in glob.glob('pri*/k*'):\n    print(open(name).read())\n";
    fs::write(world.project.join("look.py"), look).unwrap();
    world.git();
    let rules = "deny = [\"Read(private/**)\"]\n";
    fs::write(world.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    at_level_partial(&world);
    let brought = brought(&world);
    assert!(!brought.contains("4711-plum"), "{brought}");
    assert!(
        brought.contains("glob.glob"),
        "nothing ran at all: {brought}"
    );
}

/// Dependencies of the project are there for commands at every level, and stay as they are.
#[test]
fn commands_see_the_dependencies_of_a_project_at_every_level() {
    // At level partial nothing can be made at the root of the tree.
    let command = "ls > out/seen.txt; cat node_modules/x.js >> out/seen.txt; \
                   echo y > node_modules/x.js; cd out";
    for at_level in [at_level_full, at_level_partial] {
        let world = World::new(&script(&[json!({ "bash": { "command": command } })]));
        fs::write(world.project.join(".gitignore"), "node_modules/\n").unwrap();
        for (file, text) in [
            ("node_modules/x.js", "dependency\n"),
            ("out/old.txt", "old\n"),
        ] {
            let path = world.project.join(file);
            fs::create_dir(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        world.git();
        at_level(&world);
        let seen = world.tree(&world.run(), "out/seen.txt");
        let seen = fs::read_to_string(seen).unwrap_or_else(|_| panic!("{}", brought(&world)));
        assert!(seen.contains("sales.csv"), "{seen}");
        assert!(seen.contains("dependency"), "{seen}");
        let brought = brought(&world);
        assert!(brought.contains("(now in out)"), "{brought}");
        assert!(!brought.contains("Permission denied"), "{brought}");
        let kept = fs::read_to_string(world.project.join("node_modules/x.js"));
        assert_eq!(kept.unwrap(), "dependency\n");
        let changed = &world.events("run.finished")[0]["payload"]["changed"];
        assert_eq!(changed.as_array().unwrap().len(), 1, "{changed}");
    }
}

#[test]
fn at_level_partial_what_is_too_large_to_be_copied_is_named() {
    let command = "cat node_modules/x.js; ls target; cd out";
    let world = World::new(&script(&[json!({ "bash": { "command": command } })]));
    fs::write(world.project.join(".gitignore"), "node_modules/\ntarget/\n").unwrap();
    for file in ["node_modules/x.js", "target/large", "out/old.txt"] {
        let path = world.project.join(file);
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(path, "dependency\n").unwrap();
    }
    let large = fs::File::options()
        .write(true)
        .open(world.project.join("target/large"));
    large.unwrap().set_len(600 << 20).unwrap();
    world.git();
    at_level_partial(&world);
    let engaged = world.events("sandbox.engaged")[0]["payload"]["layers"].to_string();
    assert!(
        engaged.contains("missing: shared folder: `target`"),
        "{engaged}"
    );
    assert!(!engaged.contains("`node_modules`"), "{engaged}");
    let brought = brought(&world);
    assert!(brought.contains("dependency"), "{brought}");
    assert!(!world.tree(&world.run(), "target").exists());
}

/// Says what is in all files of a folder, without a name in the command.
const LOOKS_THROUGH: &str = "import os
for folder, _, names in os.walk('.venv'):
    for name in names:
        print(open(os.path.join(folder, name)).read())
";

/// What a rule hides is found in the tree. A shared folder is none of it, so it is not shown at all
/// where it holds such a thing.
#[test]
fn what_may_not_be_read_is_not_shown_by_a_shared_folder_either() {
    for (rule, is_shown) in [
        ("Read(**/*.key)", false),
        ("Read(.venv/keys/**)", false),
        ("Read(private/**)", true),
        ("Read(**/.env)", true),
        ("Read(*.key)", true),
    ] {
        let command = "python3 look.py > seen.txt";
        let world = World::new(&script(&[json!({ "bash": { "command": command } })]));
        fs::write(world.project.join(".gitignore"), ".venv/\n").unwrap();
        fs::create_dir_all(world.project.join(".venv/keys")).unwrap();
        fs::write(
            world.project.join(".venv/keys/one.key"),
            "value 4711-plum\n",
        )
        .unwrap();
        fs::write(world.project.join(".venv/plain.txt"), "plain words\n").unwrap();
        fs::write(world.project.join("look.py"), LOOKS_THROUGH).unwrap();
        world.git();
        let rules = format!("deny = [\"{rule}\"]\n");
        fs::write(world.house.workshop.join("Policy/rules.toml"), rules).unwrap();
        at_level_full(&world);
        let seen = world.tree(&world.run(), "seen.txt");
        let seen = fs::read_to_string(seen).unwrap_or_else(|_| panic!("{}", brought(&world)));
        assert_eq!(seen.contains("plain words"), is_shown, "{rule}: {seen}");
        assert_eq!(seen.contains("4711-plum"), is_shown, "{rule}: {seen}");
        let engaged = &world.events("sandbox.engaged")[0]["payload"]["layers"];
        let is_named = engaged
            .to_string()
            .contains("missing: shared folder: `.venv`");
        assert_eq!(is_named, !is_shown, "{engaged}");
    }
}

#[track_caller]
fn at_level_full(world: &World) {
    let ended = world.task([]).run();
    let engaged = world.events("sandbox.engaged");
    assert_eq!(engaged[0]["payload"]["level"], "full", "{ended:?}");
}
