//! A filter of system calls by number alone, built as a binary search.
//!
//! When a filter is set, the kernel runs it for every call it knows, so a chain of
//! comparisons costs each start a quarter of a millisecond. A search costs next to
//! nothing, both then and on every later call.

use seccompiler::{BpfProgram, sock_filter};

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

/// Start of the second numbering of calls that 64-bit Intel kernels may offer. Through it
/// every call would bypass a list of numbers, so all of it is refused as unknown.
const SECOND_NUMBERING: u32 = 0x4000_0000;

/// Builds a filter that answers each of these calls with its error and allows all others.
pub(super) fn program(answers: &[(u32, libc::c_int)]) -> BpfProgram {
    let mut answers = answers.to_vec();
    answers.sort_unstable();
    let mut program = vec![
        step(LOAD, 0, 0, 0),
        step(JUMP_IF_AT_LEAST, 0, 1, SECOND_NUMBERING),
        refuse(libc::ENOSYS),
    ];
    program.extend(search(&answers));
    program
}

fn search(answers: &[(u32, libc::c_int)]) -> Vec<sock_filter> {
    match answers {
        [] => vec![step(RETURN, 0, 0, ALLOW)],
        [(number, errno)] => vec![
            step(JUMP_IF_EQUAL, 0, 1, *number),
            refuse(*errno),
            step(RETURN, 0, 0, ALLOW),
        ],
        more => {
            let (lower, upper) = more.split_at(more.len() / 2);
            let below = search(lower);
            // Halves of fewer than 500 calls are far shorter than the reach of a jump.
            let over = u8::try_from(below.len()).unwrap_or(u8::MAX);
            let first = upper.first().map_or(0, |(number, _)| *number);
            let mut steps = vec![step(JUMP_IF_AT_LEAST, over, 0, first)];
            steps.extend(below);
            steps.extend(search(upper));
            steps
        }
    }
}

fn refuse(errno: libc::c_int) -> sock_filter {
    step(RETURN, 0, 0, ERRNO | errno.unsigned_abs())
}

fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a filter program as the kernel would, and counts its steps.
    fn answer(program: &[sock_filter], number: u32) -> (u32, usize) {
        let (mut at, mut steps) = (0, 0);
        loop {
            let now = &program[at];
            steps += 1;
            let jump = |taken| usize::from(if taken { now.jt } else { now.jf });
            match now.code {
                RETURN => return (now.k, steps),
                JUMP_IF_EQUAL => at += jump(number == now.k),
                JUMP_IF_AT_LEAST => at += jump(number >= now.k),
                _ => {}
            }
            at += 1;
        }
    }

    #[test]
    fn every_listed_call_gets_its_answer_and_others_pass() {
        for count in [0, 1, 2, 3, 7, 64, 120] {
            let listed: Vec<_> = (0..count)
                .map(|place| (place * 3 + 1, libc::EPERM))
                .collect();
            let program = program(&listed);
            for number in 0..500 {
                let is_listed = listed.iter().any(|(listed, _)| *listed == number);
                let expected = if is_listed { ERRNO | 1 } else { ALLOW };
                let (found, steps) = answer(&program, number);
                assert_eq!(found, expected, "{number} of {count}");
                assert!(steps <= 12, "{steps}");
            }
            let second = answer(&program, SECOND_NUMBERING + 39).0;
            assert_eq!(second, ERRNO | libc::ENOSYS.unsigned_abs());
        }
    }
}
