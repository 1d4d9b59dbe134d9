//! Files: what is not named is not there, what is named stays as it is.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use artel_sandbox::{CommandExit, FolderOverlay, Substitute};

use crate::fixture::{Place, run};

/// Scripts that reach for the outside. Each works outside, prints nothing of the secret inside,
/// and changes nothing.
const OUTWARD: &[(&str, &str)] = &[
    ("read", "cat \"$OUTSIDE/secret\""),
    (
        "read by the root of a process",
        "cat \"/proc/self/root$OUTSIDE/secret\"",
    ),
    (
        "read by the folder of a process",
        "cd / && cat \"/proc/self/cwd$OUTSIDE/secret\"",
    ),
    ("read by climbing", "cat ../outside/secret"),
    ("list", "ls \"$OUTSIDE\""),
    (
        "write",
        "echo changed > \"$OUTSIDE/secret\" && cat \"$OUTSIDE/secret\"",
    ),
    ("make", "touch \"$OUTSIDE/new\" && ls \"$OUTSIDE\""),
    ("remove", "rm \"$OUTSIDE/secret\" && echo secret"),
    ("link to it", "ln -s \"$OUTSIDE/secret\" link && cat link"),
    ("hard link to it", "ln \"$OUTSIDE/secret\" hard && cat hard"),
    ("move it in", "mv \"$OUTSIDE/secret\" moved && cat moved"),
    (
        "a link in the way",
        "ln -s \"$OUTSIDE\" way && echo x > way/new && ls way",
    ),
];

#[test]
fn what_lies_outside_cannot_be_read_or_changed() {
    for (name, script) in OUTWARD {
        let open = Place::new();
        let outside = open.outside(script);
        assert!(
            outside.stdout.contains("secret")
                || outside.stdout.contains("changed")
                || outside.stdout.contains("new"),
            "{name} does not even work outside: {outside:?}"
        );
        let shut = Place::new();
        let before = fs::read_to_string(shut.outside.join("secret")).unwrap();
        let inside = shut.inside(script);
        assert_ne!(inside.exit, CommandExit::Code(0), "{name}: {inside:?}");
        assert_eq!(inside.stdout, "", "{name}");
        let after = fs::read_to_string(shut.outside.join("secret")).unwrap();
        assert_eq!(before, after, "{name}");
        assert_eq!(fs::read_dir(&shut.outside).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn a_link_that_was_there_before_leads_nowhere() {
    let place = Place::new();
    symlink(&place.outside, place.inside.join("way")).unwrap();
    symlink(place.outside.join("secret"), place.inside.join("file")).unwrap();
    let before = place.snapshot();
    let inside = place.inside("cat file way/secret; echo x > file; echo x > way/new");
    assert_eq!(inside.stdout, "");
    assert_eq!(place.snapshot(), before);
}

#[test]
fn what_the_system_hides_stays_hidden() {
    let place = Place::new();
    let absent = [
        "/root/.ssh",
        "/home",
        "/run",
        "/var/run",
        "/var/lib",
        "/sys/fs",
        "/sys/kernel",
        "/boot",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/vda",
        "/dev/sda",
        "/dev/kvm",
        "/dev/fuse",
        "/dev/loop0",
        "/dev/net/tun",
        "/dev/vsock",
    ];
    let inside = place.inside(&format!("ls -d {} 2>/dev/null", absent.join(" ")));
    assert_eq!(inside.stdout, "");
    let unreadable = [
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/ssl/private",
        "/proc/kcore",
        "/proc/keys",
        "/proc/timer_list",
        "/proc/kallsyms",
        "/proc/slabinfo",
        "/.bait",
        "/proc/1/mem",
        "/proc/1/environ",
        "/proc/1/root/",
        "/proc/1/cwd/",
        "/proc/1/maps",
    ];
    for path in unreadable {
        let script = format!("cat {path} 2>/dev/null || ls {path}/ 2>/dev/null");
        assert_eq!(place.inside(&script).stdout, "", "{path}");
    }
}

#[test]
fn the_kernels_switches_cannot_be_written() {
    let place = Place::new();
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let switches = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/modprobe",
        "/proc/sysrq-trigger",
        "/proc/sys/vm/drop_caches",
        "/proc/self/oom_score_adj",
        "/proc/self/uid_map",
        "/sys/devices/system/cpu/cpu1/online",
        "/sys/fs/cgroup/release_agent",
        "/sys/fs/cgroup/memory/release_agent",
        "/sys/kernel/uevent_helper",
    ];
    for switch in switches {
        let script = format!("echo 0 > {switch} && echo written");
        assert_eq!(place.inside(&script).stdout, "", "{switch}");
    }
    assert_eq!(
        fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap(),
        pattern
    );
}

#[test]
fn a_reading_handle_cannot_become_a_writing_one() {
    let place = Place::new();
    let readable = place.outside.join("readable");
    fs::write(&readable, "as it was").unwrap();
    let script = format!("\"$PROBE\" write-descriptor {}", readable.display());
    assert_eq!(place.outside(&script).stdout, "open written\n");
    fs::write(&readable, "as it was").unwrap();
    let mut job = place.job(&["/bin/sh", "-c", &script]);
    job.view.read.push(readable.clone());
    let inside = run(&job);
    assert!(inside.stdout.starts_with("shut"), "{inside:?}");
    assert_eq!(fs::read_to_string(readable).unwrap(), "as it was");
}

#[test]
fn readable_things_are_read_only_and_hidden_ones_are_not_there() {
    let place = Place::new();
    let shown = place.outside.join("shown");
    fs::create_dir_all(shown.join("keys")).unwrap();
    fs::write(shown.join("file"), "text").unwrap();
    fs::write(shown.join("credentials"), "token").unwrap();
    fs::write(shown.join("keys/key"), "token").unwrap();
    let script = "cd \"$OUTSIDE/shown\"; cat file credentials keys/key; ls keys; \
                  echo x > file; touch new; rm file; chmod 777 file; mv file other; rm -r keys";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.view.read.push(shown.clone());
    job.view.hidden.push(shown.join("credentials"));
    job.view.hidden.push(shown.join("keys"));
    let before = place.snapshot();
    let inside = run(&job);
    assert_eq!(inside.stdout, "text");
    assert_eq!(place.snapshot(), before);
    let mode = fs::metadata(shown.join("file"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn a_file_is_shown_in_the_place_of_another() {
    let place = Place::new();
    let (shown, inside) = (place.outside.join("shown"), place.inside.join("config"));
    fs::create_dir_all(&shown).unwrap();
    fs::write(shown.join("config"), "token\n").unwrap();
    fs::write(&inside, "token\n").unwrap();
    let instead = place.outside.join("instead");
    fs::write(&instead, "plain\n").unwrap();
    let script =
        "cat \"$OUTSIDE/shown/config\" config; echo x > config; mv config other; rm config; ls";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.view.read.push(shown.clone());
    for hidden in [shown.join("config"), inside.clone(), shown.join("gone")] {
        let shown = instead.clone();
        job.view.substitutes.push(Substitute { hidden, shown });
    }
    let seen = run(&job);
    assert_eq!(seen.stdout, "plain\nplain\nconfig\n", "{seen:?}");
    for file in [shown.join("config"), inside] {
        assert_eq!(fs::read_to_string(file).unwrap(), "token\n");
    }
    job.view.substitutes[0].shown = place.outside.join("gone");
    assert_ne!(
        run(&job).exit,
        CommandExit::Code(0),
        "nothing runs without it"
    );
}

#[test]
fn the_private_folder_is_private_and_a_place_below_it_appears_over_it() {
    let place = Place::new();
    let name = format!("artel-private-{}", std::process::id());
    let script = format!("touch /tmp/{name} /dev/shm/{name} && ls -A /tmp && touch made-inside");
    let inside = place.inside(&script);
    assert_eq!(inside.exit, CommandExit::Code(0), "{inside:?}");
    let names: Vec<_> = inside.stdout.lines().collect();
    let top = place
        .inside
        .strip_prefix("/tmp")
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert!(names.contains(&name.as_str()) && names.contains(&top.to_str().unwrap()));
    let hosts = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let shown = place.inside("ls -A /tmp").stdout;
    let hosts = hosts.path().file_name().unwrap().to_str().unwrap();
    assert!(!shown.contains(hosts), "{shown}");
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    assert!(!std::path::Path::new("/dev/shm").join(&name).exists());
    assert!(place.inside.join("made-inside").exists());
    let again = place.inside("ls -A /tmp").stdout;
    assert!(
        !again.contains(&name),
        "one command sees another's: {again}"
    );
}

#[test]
fn an_overlay_is_changed_above_and_not_below() {
    let place = Place::new();
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| place.outside.join(name));
    for folder in [&lower, &upper, &work] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(lower.join("file"), "below").unwrap();
    let at = std::path::PathBuf::from("/work/tree");
    let script = "cd /work/tree && cat file && echo above > file && touch new && cat file";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.view.overlays.push(FolderOverlay {
        lower: lower.clone(),
        upper: upper.clone(),
        work,
        at,
    });
    let inside = run(&job);
    assert_eq!(inside.stdout, "belowabove\n", "{inside:?}");
    assert_eq!(fs::read_to_string(lower.join("file")).unwrap(), "below");
    assert_eq!(fs::read_to_string(upper.join("file")).unwrap(), "above\n");
    assert!(upper.join("new").exists() && !lower.join("new").exists());
}

#[test]
fn a_folder_that_nothing_can_be_laid_over_is_only_read() {
    let place = Place::new();
    let [lower, upper] = ["lower", "upper"].map(|name| place.outside.join(name));
    for folder in [&lower, &upper] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(lower.join("file"), "below").unwrap();
    let script = "cd /work/tree && cat file; echo above > file || touch new || echo kept";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.view.overlays.push(FolderOverlay {
        lower: lower.clone(),
        upper,
        work: place.outside.join("missing"),
        at: std::path::PathBuf::from("/work/tree"),
    });
    let inside = run(&job);
    assert_eq!(inside.stdout, "belowkept\n", "{inside:?}");
    assert_eq!(fs::read_to_string(lower.join("file")).unwrap(), "below");
}

#[test]
fn links_of_the_system_work_inside() {
    let place = Place::new();
    let outside = place.outside.join("real");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/file"), "found").unwrap();
    symlink(&outside, place.outside.join("link")).unwrap();
    let mut job = place.job(&[
        "/bin/sh",
        "-c",
        "cat \"$OUTSIDE/link/deep/file\"; ls $OUTSIDE/real",
    ]);
    job.view.read.push(place.outside.join("link/deep"));
    let inside = run(&job);
    assert_eq!(inside.stdout, "founddeep\n", "{inside:?}");
}

#[test]
fn the_home_folder_is_a_private_one() {
    let place = Place::new();
    let home = place.outside.join("home");
    std::fs::create_dir_all(home.join("tools")).unwrap();
    std::fs::write(home.join("tools/program"), "text").unwrap();
    std::fs::write(home.join("diary"), "secret").unwrap();
    let script =
        "mkdir -p ~/.cache/go-build && echo x > ~/.cache/go-build/x && cat ~/.cache/go-build/x
                  cat ~/tools/program; echo; cat ~/diary; echo y > ~/tools/program; ls -A ~";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.env.push(("HOME".into(), home.clone().into()));
    job.view.read.push(home.join("tools"));
    let before = place.snapshot();
    let inside = run(&job);
    assert_eq!(inside.stdout, "x\ntext\n.cache\ntools\n", "{inside:?}");
    assert_eq!(place.snapshot(), before);
    // A home folder that is shown is the one that is shown.
    job.view.read.push(home);
    job.argv[2] = "cat ~/diary; echo x > ~/new || echo refused".into();
    assert_eq!(run(&job).stdout, "secretrefused\n");
}
