//! Limits: whoever takes too much is stopped, and the limit is named.

use artel_sandbox::{CommandExit, ExceededCommandLimit, SandboxCommandSpec, SandboxLimits};

use crate::fixture::{Outcome, PROBE, Place, run};

fn limited(argv: &[&str], change: impl FnOnce(&mut SandboxLimits)) -> Outcome {
    let place = Place::new();
    let mut job: SandboxCommandSpec = place.job(argv);
    change(&mut job.limits);
    run(&job)
}

#[test]
fn a_process_bomb_meets_its_limit_and_is_gone() {
    let bomb = limited(&[PROBE, "processes"], |limits| limits.processes = 64);
    assert_eq!(bomb.stdout, format!("shut {}\n", libc::EAGAIN), "{bomb:?}");
    assert_eq!(bomb.usage.limited, Some(ExceededCommandLimit::Processes));
    let shell = limited(
        &["/bin/bash", "-c", "f() { f | f & }; f; f; wait"],
        |limits| {
            limits.processes = 64;
            limits.cpu_seconds = Some(2);
        },
    );
    assert_eq!(
        shell.usage.limited,
        Some(ExceededCommandLimit::Processes),
        "{:?}",
        shell.exit
    );
}

#[test]
fn a_thread_bomb_meets_its_limit() {
    let bomb = limited(&[PROBE, "threads"], |limits| limits.processes = 64);
    assert_eq!(bomb.stdout, format!("shut {}\n", libc::EAGAIN), "{bomb:?}");
    assert_eq!(bomb.usage.limited, Some(ExceededCommandLimit::Processes));
}

#[test]
fn a_memory_bomb_is_ended_and_the_limit_named() {
    let bomb = limited(&[PROBE, "memory", "4096"], |limits| {
        limits.memory = 128 << 20
    });
    assert_eq!(bomb.exit, CommandExit::Signal(libc::SIGKILL), "{bomb:?}");
    assert_eq!(bomb.usage.limited, Some(ExceededCommandLimit::Memory));
    assert!(bomb.usage.peak_memory <= 136 << 20, "{:?}", bomb.usage);
    let modest = limited(&[PROBE, "memory", "64"], |limits| limits.memory = 128 << 20);
    assert_eq!(modest.stdout, "open 64 MiB\n", "{modest:?}");
    assert_eq!(modest.usage.limited, None);
    assert!(modest.usage.peak_memory >= 64 << 20, "{:?}", modest.usage);
}

#[test]
fn files_in_memory_count_as_memory() {
    for folder in ["/tmp", "/dev/shm"] {
        let script = format!("head -c 512M /dev/zero > {folder}/fill; echo code $?");
        let filler = limited(&["/bin/sh", "-c", &script], |limits| {
            limits.memory = 64 << 20
        });
        assert!(!filler.stdout.contains("code 0"), "{filler:?}");
    }
}

#[test]
fn a_file_cannot_grow_beyond_its_limit() {
    let writer = limited(&["/usr/bin/head", "-c", "64M", "/dev/zero"], |_| {});
    assert_eq!(writer.exit, CommandExit::Code(0));
    let place = Place::new();
    let mut job = place.job(&["/bin/dd", "if=/dev/zero", "of=fill", "bs=1M", "count=64"]);
    job.limits.file_size = 8 << 20;
    let writer = run(&job);
    assert_eq!(
        writer.exit,
        CommandExit::Signal(libc::SIGXFSZ),
        "{writer:?}"
    );
    assert_eq!(writer.usage.limited, Some(ExceededCommandLimit::FileSize));
    assert!(place.inside.join("fill").metadata().unwrap().len() <= 8 << 20);
    let sparse = place.inside("truncate -s 1T sparse && echo made");
    assert_eq!(sparse.stdout, "");
}

#[test]
fn processor_time_ends() {
    let busy = limited(&["/bin/sh", "-c", "while :; do :; done"], |limits| {
        limits.cpu_seconds = Some(1);
    });
    assert_eq!(busy.exit, CommandExit::Signal(libc::SIGXCPU), "{busy:?}");
    assert_eq!(busy.usage.limited, Some(ExceededCommandLimit::CpuTime));
    assert!(busy.usage.cpu.as_millis() >= 100, "{:?}", busy.usage);
}

#[test]
fn open_files_are_limited_and_no_core_is_written() {
    let limits = limited(&["/bin/sh", "-c", "ulimit -n; ulimit -c"], |limits| {
        limits.open_files = 100;
    });
    assert_eq!(limits.stdout, "100\n0\n");
}

#[test]
fn all_that_is_written_has_a_bound() {
    // A folder that is certainly on a disk: what is written to memory is bounded otherwise.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = Place::new();
    let script =
        "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); head -c 1M /dev/zero > $i; done; echo all";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.view.write = vec![folder.path().to_owned()];
    job.cwd = folder.path().to_owned();
    job.limits.written = 16 << 20;
    let writer = run(&job);
    assert_eq!(
        writer.exit,
        CommandExit::Signal(libc::SIGKILL),
        "{writer:?}"
    );
    assert_eq!(writer.usage.limited, Some(ExceededCommandLimit::FileSize));
    assert_eq!(writer.stdout, "");
}

#[test]
fn who_makes_too_many_files_is_ended_and_the_limit_named() {
    let endless = "i=0; while :; do : > f$i; mkdir d$i; : > d$i/f; i=$((i+1)); done";
    let maker = limited(&["/bin/sh", "-c", endless], |limits| limits.files = 2000);
    assert_eq!(maker.exit, CommandExit::Signal(libc::SIGKILL), "{maker:?}");
    assert_eq!(maker.usage.limited, Some(ExceededCommandLimit::Files));
    // Faster than anybody looks: it is told all the same.
    let quick = "i=0; while test $i -lt 600; do : > f$i; i=$((i+1)); done";
    let maker = limited(&["/bin/sh", "-c", quick], |limits| limits.files = 500);
    assert_eq!(
        maker.usage.limited,
        Some(ExceededCommandLimit::Files),
        "{maker:?}"
    );
    let maker = limited(&["/bin/sh", "-c", quick], |limits| limits.files = 700);
    assert_eq!(
        (maker.exit, maker.usage.limited),
        (CommandExit::Code(0), None)
    );
    // Deeper than anybody counts.
    let deep = "for i in $(seq 210); do mkdir d && cd d; done; \
                i=0; while :; do : > f$i; i=$((i+1)); done";
    let maker = limited(&["/bin/sh", "-c", deep], |limits| limits.files = 2000);
    assert_eq!(
        maker.usage.limited,
        Some(ExceededCommandLimit::Files),
        "{maker:?}"
    );
    for folder in ["/tmp", "/dev/shm"] {
        let fill = format!("cd {folder} && i=0; while true > f$i; do i=$((i+1)); done; echo $i");
        let maker = limited(&["/bin/sh", "-c", &fill], |limits| limits.files = 3000);
        let made: u64 = maker.stdout.trim().parse().unwrap_or(u64::MAX);
        assert!(made <= 3000, "{folder}: {maker:?}");
    }
}
