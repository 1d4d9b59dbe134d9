//! Processes beside each other: leases of the living and the dead, copies taken at once.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a step that fails, fails the test; the neighbour is the test's own"
)]

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use artel_journal::{LeaseError, LeaseOwner};
use artel_testkit::{Scratch, block_on, note};
use artel_types::{Actor, ActorSurface};

/// Starts a process that does nothing until its input ends.
fn neighbour() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

/// Returns another process as the owner that it would name itself.
fn owner_of(process: &Child) -> LeaseOwner {
    let mut owner = serde_json::to_value(LeaseOwner::this_process("neighbour")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    let started: u64 = fields.split_whitespace().nth(19).unwrap().parse().unwrap();
    owner["pid"] = process.id().into();
    owner["started"] = started.into();
    serde_json::from_value(owner).unwrap()
}

#[test]
fn what_a_live_process_holds_is_refused_and_not_recovered() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let hour = Duration::from_secs(3600);
    let mut process = neighbour();
    let owner = owner_of(&process);
    assert!(!owner.is_dead());
    let theirs = block_on(journal.take_lease("session/1", owner.clone(), hour)).unwrap();
    drop(journal);

    // Also for whoever opens the journal later.
    let journal = scratch.open();
    let take = || block_on(journal.take_lease("session/1", LeaseOwner::this_process("me"), hour));
    let refused = take().unwrap_err();
    assert!(matches!(&refused, LeaseError::Held { seconds, .. } if *seconds > 3000));
    let text = refused.to_string();
    assert!(
        text.contains(&format!("process {}", process.id())),
        "{text}"
    );

    process.kill().unwrap();
    process.wait().unwrap();
    let mine = take().unwrap();
    assert_eq!(mine.taken_from, Some(owner));
    assert!(mine.fence.token() > theirs.fence.token());
    let late =
        artel_journal::EventBatch::from(artel_testkit::note("a", "late")).fenced(&theirs.fence);
    assert!(journal.append(late).wait().is_err());
}

#[test]
fn copies_taken_at_once_are_all_there_and_whole() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    for number in 0..20 {
        let remark = artel_testkit::note("a", &number.to_string());
        journal.append(remark).wait().unwrap();
    }
    let by = || Actor::human("ada@example.org", ActorSurface::Cli);
    let files: BTreeSet<_> = std::thread::scope(|scope| {
        let copies: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| journal.back_up(by()).unwrap().file))
            .collect();
        copies
            .into_iter()
            .map(|copy| copy.join().unwrap())
            .collect()
    });
    assert_eq!(files.len(), 8);
    drop(journal);
    let keys =
        artel_journal::JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
    for file in files {
        let found = artel_journal::verify_file(&file, &scratch.home, scratch.workshop, &keys);
        let found = found.unwrap();
        assert!(
            found.ok && found.events >= 20,
            "{}: {found:?}",
            file.display()
        );
    }
}

#[test]
fn a_look_tells_whether_anybody_wrote_since() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let first = journal.reader().sight().unwrap();
    assert_eq!(journal.reader().sight().unwrap(), first);

    journal.append(note("notes/1", "mine")).wait().unwrap();
    let second = journal.reader().sight().unwrap();
    assert_ne!(second, first);
    // Reading is no writing.
    journal.reader().head().unwrap();
    assert_eq!(journal.reader().sight().unwrap(), second);

    // Somebody else with the same journal open.
    let other = scratch.open();
    let before = journal.reader().sight().unwrap();
    other.append(note("notes/1", "theirs")).wait().unwrap();
    let third = journal.reader().sight().unwrap();
    assert_ne!(third, before);
    assert!(third.is_same_file_as(&first));

    // Another file in its place is another story.
    drop((journal, other));
    let reader = scratch.reader();
    let old = reader.sight().unwrap();
    let (file, copy) = (scratch.home.journal(), scratch.path().join("copy"));
    std::fs::copy(&file, &copy).unwrap();
    std::fs::rename(&copy, &file).unwrap();
    let new = reader.sight().unwrap();
    assert_ne!(new, old);
    assert!(!new.is_same_file_as(&old));
}
