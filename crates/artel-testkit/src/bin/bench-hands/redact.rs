//! Removes secrets from ordinary text, with a bare copy as the lower bound.

use std::fmt::Write as _;

use crate::{figure, median};

const SIZE: usize = 16 << 20;

pub(crate) fn measure() {
    let redactor =
        artel_policy::redact::redactor(&[artel_types::Secret::new("a-known-value-of-ours")]);
    for (name, text) in [("source code", source()), ("log lines", log())] {
        let copy = median(5, || {
            std::hint::black_box(text.as_bytes().to_vec());
        });
        let whole = median(5, || {
            std::hint::black_box(redactor.redact(&text).len());
        });
        let stream = median(5, || {
            let mut stream = redactor.stream();
            for piece in text.as_bytes().chunks(64 << 10) {
                std::hint::black_box(stream.push_bytes(piece).len());
            }
            std::hint::black_box(stream.finish_bytes().len());
        });
        let speed = |time: std::time::Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
        let ratio = format!("{:.3} of a copy", speed(whole) / speed(copy));
        figure(
            &format!("redaction, {name}"),
            speed(whole),
            "MB/s",
            &ratio,
            ">= 200",
        );
        figure(
            &format!("redaction in pieces, {name}"),
            speed(stream),
            "MB/s",
            "-",
            ">= 200",
        );
    }
}

fn source() -> String {
    let mut text = String::new();
    let mut number = 0_u64;
    while text.len() < SIZE {
        number += 1;
        let _ = writeln!(
            text,
            "    let value_{number} = compute(&input[{number}], \"some text\").map_err(|error| Failure::new(error))?;\n    \
             // The key of the map is the name, and the token counts are summed per author.\n    \
             assert_eq!(total_{number}.len(), {number}, \"{{name}} has {{count}} entries\");"
        );
    }
    text
}

fn log() -> String {
    let mut text = String::new();
    let mut number = 0_u64;
    while text.len() < SIZE {
        number += 1;
        let _ = writeln!(
            text,
            "2026-11-15T08:30:{:02}.{number:06}Z INFO request id={:016x} path=/api/v1/items/{number} status=200 bytes={} ms=3",
            number % 60,
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            number * 7 % 9000,
        );
    }
    text
}
