//! System calls that lead out: each reaches the kernel outside and is refused inside.

use crate::fixture::Place;

/// Name, number and arguments of a call that is harmless when it is let through: the arguments
/// make no sense, so the kernel complains about them instead of acting.
fn calls() -> Vec<(&'static str, i64, &'static str)> {
    vec![
        ("ptrace of nobody", libc::SYS_ptrace, "2 0 0 0"),
        (
            "process_vm_readv",
            libc::SYS_process_vm_readv,
            "0 0 0 0 0 1",
        ),
        (
            "process_vm_writev",
            libc::SYS_process_vm_writev,
            "0 0 0 0 0 1",
        ),
        ("process_madvise", libc::SYS_process_madvise, "-1 0 0 0 0"),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, "-1 0 0"),
        ("kcmp", libc::SYS_kcmp, "0 0 99 0 0"),
        ("mount", libc::SYS_mount, "0 0 0 0 0"),
        ("umount", libc::SYS_umount2, "0 0"),
        ("pivot_root", libc::SYS_pivot_root, "0 0"),
        ("chroot", libc::SYS_chroot, "0"),
        ("fsopen", libc::SYS_fsopen, "0 0"),
        ("open_tree", libc::SYS_open_tree, "-1 0 0"),
        ("move_mount", libc::SYS_move_mount, "-1 0 -1 0 0"),
        ("mount_setattr", libc::SYS_mount_setattr, "-1 0 0 0 0"),
        (
            "unshare of a user namespace",
            libc::SYS_unshare,
            "268435456",
        ),
        (
            "unshare of a network namespace",
            libc::SYS_unshare,
            "1073741824",
        ),
        ("unshare of a time namespace", libc::SYS_unshare, "128"),
        ("setns", libc::SYS_setns, "-1 0"),
        ("io_uring_setup", libc::SYS_io_uring_setup, "1 0"),
        ("io_uring_enter", libc::SYS_io_uring_enter, "-1 0 0 0 0 0"),
        ("io_uring_register", libc::SYS_io_uring_register, "-1 0 0 0"),
        ("kexec_load", libc::SYS_kexec_load, "0 99 0 0"),
        ("kexec_file_load", libc::SYS_kexec_file_load, "-1 -1 0 0 99"),
        ("init_module", libc::SYS_init_module, "0 0 0"),
        ("finit_module", libc::SYS_finit_module, "-1 0 0"),
        ("delete_module", libc::SYS_delete_module, "0 0"),
        ("bpf", libc::SYS_bpf, "9999 0 0"),
        ("perf_event_open", libc::SYS_perf_event_open, "0 0 0 0 0"),
        ("userfaultfd", libc::SYS_userfaultfd, "4096"),
        ("syslog", libc::SYS_syslog, "99 0 0"),
        ("reboot", libc::SYS_reboot, "0 0 0 0"),
        ("swapon", libc::SYS_swapon, "0 0"),
        ("quotactl", libc::SYS_quotactl, "0 0 0 0"),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, "-1 0 0"),
        ("fanotify_init", libc::SYS_fanotify_init, "-1 0"),
        ("add_key", libc::SYS_add_key, "0 0 0 0 0"),
        ("request_key", libc::SYS_request_key, "0 0 0 0"),
        ("keyctl", libc::SYS_keyctl, "9999 0 0 0 0"),
        ("an odd personality", libc::SYS_personality, "8"),
        ("typing into a terminal", libc::SYS_ioctl, "-1 21522 0"),
        ("a console's own request", libc::SYS_ioctl, "-1 21532 0"),
        ("a packet socket", libc::SYS_socket, "17 99 0"),
        ("a raw socket", libc::SYS_socket, "2 3 9999"),
        ("a vsock", libc::SYS_socket, "40 99 0"),
        (
            "a socket of the kernel's crypto",
            libc::SYS_socket,
            "38 99 0",
        ),
        ("netlink beyond routes", libc::SYS_socket, "16 99 9"),
    ]
}

#[test]
fn every_call_that_leads_out_is_refused_by_the_filter() {
    let place = Place::new();
    for (name, number, arguments) in calls() {
        let script = format!("\"$PROBE\" call {number} {arguments}");
        // Outside the kernel itself answers; what it says does not matter, but it is not our no.
        let outside = place.outside(&script).stdout;
        assert_ne!(outside, "shut 1\n", "{name} cannot be told apart outside");
        let inside = place.inside(&script);
        assert_eq!(inside.stdout, "shut 1\n", "{name}: {inside:?}");
    }
}

#[test]
fn making_namespaces_in_a_new_process_is_refused() {
    let place = Place::new();
    for flag in [
        0x0002_0000_u64,
        0x1000_0000,
        0x2000_0000,
        0x4000_0000,
        0x0200_0000,
    ] {
        let script = format!("\"$PROBE\" call {} {flag} 0 0 0 0", libc::SYS_clone);
        assert_eq!(place.inside(&script).stdout, "shut 1\n", "{flag:#x}");
    }
    let newer = format!("\"$PROBE\" call {} 0 0", libc::SYS_clone3);
    let expected = format!("shut {}\n", libc::ENOSYS);
    assert_eq!(place.inside(&newer).stdout, expected);
    assert_ne!(place.outside(&newer).stdout, expected);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_second_numbering_of_calls_is_refused() {
    let place = Place::new();
    let number = 0x4000_0000 + libc::SYS_getpid;
    let inside = place.inside(&format!("\"$PROBE\" call {number}"));
    assert_eq!(inside.stdout, format!("shut {}\n", libc::ENOSYS));
}

#[test]
fn privileges_are_gone_for_good() {
    let place = Place::new();
    let status = place.inside("cat /proc/self/status").stdout;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    assert_eq!(field("NoNewPrivs:"), "1");
    // A shell that cannot hear of its children's end waits for them for ever.
    assert_eq!(field("SigBlk:"), "0000000000000000");
    assert_eq!(field("Seccomp:"), "2");
    let setuid = place.inside("chown 1234 . ; mknod node b 1 1; echo done");
    assert_eq!(setuid.stdout, "done\n");
    assert!(!place.inside.join("node").exists());
}

#[test]
fn no_file_lends_the_rights_of_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let modes = |place: &Place| -> Vec<u32> {
        let entries = std::fs::read_dir(&place.inside).unwrap();
        let mode = |entry: std::fs::DirEntry| entry.metadata().unwrap().permissions().mode();
        entries.map(|entry| mode(entry.unwrap()) & 0o6000).collect()
    };
    let place = Place::new();
    let outside = place.outside("\"$PROBE\" lend .");
    assert!(!outside.stdout.contains("shut"), "{outside:?}");
    assert!(modes(&place).iter().any(|bits| *bits != 0));
    let place = Place::new();
    let inside = place.inside("\"$PROBE\" lend .; chmod u+s owner-chmod; chmod 0640 owner-chmod");
    assert!(!inside.stdout.contains("open"), "{inside:?}");
    assert_eq!(inside.stdout.lines().count(), 14, "{inside:?}");
    assert!(modes(&place).iter().all(|bits| *bits == 0), "{inside:?}");
    assert_eq!(
        inside.exit,
        artel_sandbox::CommandExit::Code(0),
        "other permissions can be given"
    );
}
