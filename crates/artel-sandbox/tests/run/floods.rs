//! Output and input of any size, in little memory.

use std::time::Duration;

use artel_sandbox::run::{LiveCommandEvent, OutputStreamKind};
use artel_sandbox::{CommandExit, SandboxStdin};
use rustix::time::{ClockId, clock_gettime};

use crate::support::{Trial, figure, is_long};

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    kilobytes.unwrap().trim().parse::<u64>().unwrap() << 10
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap()
}

#[test]
fn proof_floods_stay_small() {
    let size: u64 = if is_long() { 10 << 30 } else { 24 << 20 };
    let growth: u64 = if is_long() { 64 << 20 } else { 16 << 20 };
    let lines = if is_long() { 1_000_000 } else { 100_000 };
    let binary = size / 4;
    let kinds = [
        ("yes", format!("yes | head -c {size}"), [size, 0]),
        (
            "no newline",
            format!("head -c {size} /dev/zero | tr '\\0' x"),
            [size, 0],
        ),
        (
            "binary",
            format!("head -c {binary} /dev/urandom"),
            [binary, 0],
        ),
        (
            "tiny lines",
            format!("yes '' | head -n {lines}"),
            [lines, 0],
        ),
        (
            "ansi",
            format!("yes \"$(printf '\\033[31m\\033[2K')\" | head -c {size}"),
            [size, 0],
        ),
        (
            "interleaved",
            format!("yes out | head -c {binary} & yes err | head -c {binary} >&2; wait"),
            [binary, binary],
        ),
        (
            "log",
            format!("yes '2026-01-01 12:34:56 INFO handled request in 3ms' | head -c {size}"),
            [size, 0],
        ),
    ];
    for (name, script, bytes) in kinds {
        // An endless line never ends, so it is never news: only the base keeps it alive.
        let trial = Trial::with_time(3_600_000);
        let before = resident();
        let (mut peak, mut pieces, mut shown) = (before, 0, [0u64; 2]);
        let began = now();
        let finished = trial.run_live(&script, &mut |live| {
            if let LiveCommandEvent::Output(stream, bytes) = live {
                shown[usize::from(stream == OutputStreamKind::Stderr)] += bytes.len() as u64;
            }
            pieces += 1;
            if pieces % 64 == 0 {
                peak = peak.max(resident());
            }
        });
        let took = now() - began;
        assert_eq!(
            finished.exit,
            Some(CommandExit::Code(0)),
            "{name}: {}",
            finished.render("")
        );
        assert_eq!(shown, bytes, "{name}");
        for (output, bytes) in [&finished.stdout, &finished.stderr].into_iter().zip(bytes) {
            assert_eq!(
                (output.spooled.bytes, output.excerpt.bytes),
                (bytes, bytes),
                "{name}"
            );
            let size = std::fs::metadata(&output.spooled.path).unwrap().len();
            assert!(size <= (10 << 20) + 100, "{name}: {size} on disk");
        }
        assert!(
            peak - before < growth,
            "{name}: grew by {} KiB",
            (peak - before) >> 10
        );
        let rate = bytes.iter().sum::<u64>() as f64 / 1e6 / took.as_secs_f64();
        let grew = (peak - before) >> 10;
        figure(&format!(
            "{name} | {} bytes | {rate:.0} MB/s | grew {grew} KiB",
            bytes[0]
        ));
    }
}

#[test]
fn input_of_any_size_neither_blocks_nor_is_cut() {
    let bytes: Vec<u8> = (0..1u32 << 20).map(|at| (at % 251) as u8).collect();
    let trial = Trial {
        stdin: SandboxStdin::Bytes(bytes.clone()),
        ..Trial::new()
    };
    let finished = trial.run("cat; echo read >&2");
    assert_eq!(std::fs::read(&finished.stdout.spooled.path).unwrap(), bytes);
    assert_eq!(finished.stderr.excerpt.text, "read\n");
    // A command that does not read its input is not held up by it.
    let trial = Trial {
        stdin: SandboxStdin::Bytes(bytes),
        ..Trial::new()
    };
    assert_eq!(trial.run("exit 4").exit, Some(CommandExit::Code(4)));
}
