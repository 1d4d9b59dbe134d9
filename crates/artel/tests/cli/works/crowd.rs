//! Many changesets of one file, decided at once: each is merged whole or refused with the file that
//! stands in the way, and no change is lost.

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;

use artel_testkit::{Random, figure, is_long};

use super::bench::Bench;

/// How many changesets there are; two and two change the same line.
const MANY: u8 = 10;

/// How many lines lie between those that are changed, so that only the same line is a conflict.
const APART: u8 = 8;

fn table(changed: &BTreeSet<u8>) -> String {
    let line = |number: u8| {
        let by = changed.iter().find(|by| (*by / 2) * APART == number);
        match by {
            Some(by) => format!("line {number} by {by}\n"),
            None => format!("line {number}\n"),
        }
    };
    (0..MANY / 2 * APART).map(line).collect()
}

/// One round: all are decided, some at once, in any order.
fn round(random: &mut Random) -> (usize, usize) {
    let first = Bench::new();
    first.write("table.txt", &table(&BTreeSet::new()));
    first.commit("a table");
    let make = |by: u8| {
        first.beside(by, |tree| {
            fs::write(tree.join("table.txt"), table(&BTreeSet::from([by]))).unwrap();
        })
    };
    let mut open: Vec<(u8, Bench)> = (0..MANY).map(|by| (by, make(by))).collect();
    first.write("mine.txt", "mine, and not committed\n");
    let before: u64 = merges(&first);

    let mut merged = BTreeSet::new();
    let mut refused = BTreeSet::new();
    while !open.is_empty() {
        let at_once = (1 + random.below(5) as usize).min(open.len());
        let mut going: Vec<(u8, Child)> = Vec::new();
        for _ in 0..at_once {
            let (by, bench) = open.swap_remove(random.below(open.len() as u64) as usize);
            let id = bench.id();
            let mut command = bench.artel(&["changeset", "approve", &id]).command();
            going.push((by, command.spawn().unwrap()));
        }
        for (by, child) in going {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => drop(merged.insert(by)),
                Some(3) => {
                    assert!(said.contains("table.txt"), "it names the file: {said}");
                    refused.insert(by);
                }
                other => panic!("{by} came out with {other:?}: {said}"),
            }
        }
    }
    for pair in 0..MANY / 2 {
        let of_pair = [2 * pair, 2 * pair + 1].map(|by| merged.contains(&by));
        assert_ne!(of_pair[0], of_pair[1], "one of two is merged: {merged:?}");
    }
    assert_eq!(first.read("table.txt"), table(&merged));
    assert_eq!(
        first.git(&["show", "main:table.txt"]).trim(),
        table(&merged).trim()
    );
    assert_eq!(first.read("mine.txt"), "mine, and not committed\n");
    assert_eq!(first.git(&["status", "--porcelain"]), " M mine.txt");
    assert_eq!(merges(&first) - before, merged.len() as u64);
    first.house.ok(["journal", "verify"]);
    (merged.len(), refused.len())
}

fn merges(bench: &Bench) -> u64 {
    let count = bench.git(&["rev-list", "--count", "--merges", "main"]);
    count.parse().unwrap()
}

#[test]
fn proof_crowd_of_changesets_of_one_file_loses_no_change() {
    let rounds = if is_long() { 200 } else { 2 };
    let mut random = Random::for_test("crowd");
    let (mut merged, mut refused) = (0, 0);
    for _ in 0..rounds {
        let (more, fewer) = round(&mut random);
        merged += more;
        refused += fewer;
    }
    figure(&format!(
        "changesets of one file | {rounds} rounds of {MANY} | {merged} merged, {refused} refused, 0 lost"
    ));
}
