//! The ladder: what is missing is named, nothing runs below the demand, and the lower level still
//! holds what it promises.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use artel_sandbox::{
    EngagedSandbox, GrantedHost, RequiredSandboxLevel, SandboxError, SandboxLevel, SandboxNetwork,
};

use crate::fixture::{PROBE, Place, sandbox};

fn ladder(without: &[&str]) -> EngagedSandbox {
    let output = Command::new(PROBE)
        .arg("ladder")
        .args(without)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// Tries to start a script at a level, on a machine without some walls.
fn start(place: &Place, level: &str, without: &[&str], script: &str) -> String {
    let mut child = Command::new(PROBE)
        .arg("start")
        .arg(level)
        .args(without)
        .current_dir(&place.inside)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = script.replace("$OUTSIDE", place.outside.to_str().unwrap());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_wall_stands_here() {
    let engaged = sandbox().engaged();
    let expected = [
        "user namespace",
        "mount namespace",
        "process namespace",
        "network namespace",
        "ipc namespace",
        "view",
        "own /proc",
        "Landlock",
        "seccomp",
        "no new privileges",
        "no network",
        "no capabilities",
        "memory limit",
        "process limit",
    ];
    for name in expected {
        let layer = engaged.layers.iter().find(|layer| layer.name == name);
        assert!(layer.is_some_and(|layer| layer.stands), "{name}: {layer:?}");
    }
    assert_eq!(engaged.missing(), "");
}

#[test]
fn a_missing_wall_lowers_the_level_and_is_named() {
    let cases: &[(&[&str], SandboxLevel, &str)] = &[
        (&["namespaces"], SandboxLevel::Partial, "user namespace"),
        (&["mounts"], SandboxLevel::Partial, "view"),
        (&["landlock"], SandboxLevel::None, "Landlock"),
        (
            &["namespaces", "landlock"],
            SandboxLevel::None,
            "user namespace",
        ),
        (&["filters"], SandboxLevel::None, "seccomp"),
    ];
    for (without, level, named) in cases {
        let engaged = ladder(without);
        assert_eq!(engaged.level, *level, "{without:?}: {engaged:?}");
        assert!(
            engaged.missing().contains(named),
            "{without:?}: {}",
            engaged.missing()
        );
    }
}

#[test]
fn nothing_runs_below_the_demand() {
    let cases: &[(&str, &[&str])] = &[
        ("full", &["namespaces"]),
        ("full", &["landlock"]),
        ("partial", &["landlock"]),
        ("partial", &["namespaces", "filters"]),
    ];
    for (level, without) in cases {
        let place = Place::new();
        let said = start(&place, level, without, "touch ran");
        assert!(
            said.starts_with("refused: the sandbox reaches level"),
            "{said}"
        );
        assert!(!place.inside.join("ran").exists());
    }
}

#[test]
fn a_network_grant_needs_level_full() {
    let place = Place::new();
    let mut job = place.job(&["true"]);
    job.network = SandboxNetwork::Hosts(vec![GrantedHost {
        name: "example.com".to_owned(),
        port: None,
    }]);
    assert!(
        sandbox()
            .start(&job, RequiredSandboxLevel(SandboxLevel::Full))
            .is_ok()
    );
    job.argv.clear();
    let refused = sandbox().start(&job, RequiredSandboxLevel(SandboxLevel::Full));
    assert!(matches!(refused, Err(SandboxError::BadJob { .. })));
}

#[test]
fn level_partial_keeps_files_sockets_and_calls() {
    let place = Place::new();
    fs::create_dir(place.inside.join("sub")).unwrap();
    fs::write(place.inside.join("old"), "old").unwrap();
    fs::create_dir(place.inside.join(".git")).unwrap();
    fs::write(place.inside.join(".git/config"), "kept").unwrap();
    let script = "cat $OUTSIDE/secret; echo x > $OUTSIDE/new; cat .git/config; echo x > .git/config; \
                  mkdir .artel; echo x > .bashrc; echo new > old; echo new > sub/new; cat sub/new; \
                  cat /etc/shadow; echo x > $TMPDIR/x && cat $TMPDIR/x; \"$PROBE\" pairs; \
                  \"$PROBE\" tcp 127.0.0.1:1; \"$PROBE\" unix /nowhere; \"$PROBE\" call 101 2 0 0 0";
    let said = start(&place, "partial", &["namespaces"], script);
    let out: Vec<_> = said.lines().filter(|line| !line.contains(": ")).collect();
    let expected = [
        "keptnew",
        "x",
        "open a pair",
        "shut 1",
        "shut 1",
        "shut 1",
        "Code(0)",
    ];
    assert_eq!(out, expected, "{said}");
    assert_eq!(
        fs::read_to_string(place.inside.join("old")).unwrap(),
        "new\n"
    );
    assert_eq!(
        fs::read_to_string(place.inside.join(".git/config")).unwrap(),
        "kept"
    );
    assert!(!place.inside.join(".artel").exists() && !place.inside.join(".bashrc").exists());
    assert_eq!(fs::read_dir(&place.outside).unwrap().count(), 1);
}

#[test]
fn at_level_partial_pointers_that_were_made_inside_open_nothing() {
    let place = Place::new();
    let other = place.outside.join("other/.git");
    fs::create_dir_all(other.join("objects")).unwrap();
    fs::write(other.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(other.join("private"), "PRIVATE-MARK").unwrap();
    for folder in ["work/sub", "work/fake"] {
        fs::create_dir_all(place.inside.join(folder)).unwrap();
    }
    let make = "cd work && echo x > fake/HEAD && echo ../sub/.git > fake/gitdir && \
                echo $OUTSIDE/other/.git > fake/commondir && echo 'gitdir: ../fake' > sub/.git";
    let said = start(&place, "partial", &["namespaces"], make);
    assert!(said.ends_with("Code(0)\n"), "{said}");
    let script = "cat $OUTSIDE/other/.git/private";
    let said = start(&place, "partial", &["namespaces"], script);
    assert!(!said.contains("PRIVATE-MARK"), "{said}");
}

#[test]
fn level_partial_leaves_no_orphan() {
    let place = Place::new();
    let mark = format!("artel-orphan-{}", std::process::id());
    let script = format!(
        "exec /bin/bash -c 'cd sub; mkfifo gate; (setsid bash -c \"trap : TERM; exec -a {mark} cat gate\" \
         >/dev/null 2>&1 &); (setsid bash -c \"exec -a {mark} cat gate\" >/dev/null 2>&1 &); \
         until test $(grep -lx {mark}.* /proc/[0-9]*/comm 2>/dev/null | wc -l) -ge 0; do :; done; exit 4'"
    );
    fs::create_dir(place.inside.join("sub")).unwrap();
    let said = start(&place, "partial", &["namespaces"], &script);
    assert!(said.ends_with("Code(4)\n"), "{said}");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    assert_eq!(
        lines
            .filter(|line| line.starts_with(mark.as_bytes()))
            .count(),
        0
    );
}

#[test]
fn level_none_runs_only_when_that_was_said() {
    let place = Place::new();
    let without = ["namespaces", "landlock"];
    let said = start(&place, "none", &without, "echo ran");
    assert_eq!(said, "ran\nCode(0)\n");
}

#[test]
fn a_user_without_rights_reaches_full_too() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this test changes the user and needs root"
    );
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let probe = folder.path().join("probe");
    fs::copy(PROBE, &probe).unwrap();
    let nobody = || {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(&probe);
        command
    };
    let output = nobody().arg("ladder").output().unwrap();
    let engaged: EngagedSandbox =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(engaged.level, SandboxLevel::Full, "{engaged:?}");
    let process_limit = engaged
        .layers
        .iter()
        .find(|layer| layer.name == "process limit");
    assert!(
        process_limit.is_some_and(|layer| layer.stands),
        "{engaged:?}"
    );
    let mut child = nobody()
        .args(["start", "full"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = "id -u; touch made && mkdir .git; ls -A / | tr '\\n' ' '; cat /etc/shadow";
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(script.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.starts_with("65534\n") && said.ends_with("Code(1)\n"),
        "{said}"
    );
    assert!(
        !said.contains(".bait") && !said.contains(".empty"),
        "{said}"
    );
    assert!(folder.path().join("made").exists() && !folder.path().join(".git").exists());
}
