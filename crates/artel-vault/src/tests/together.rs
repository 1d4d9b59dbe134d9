//! Several writers at once.

use std::sync::Barrier;
use std::thread;

use artel_types::Secret;

use super::{House, at};
use crate::KeyRemovalOutcome;

const WRITERS: usize = 8;
const EACH: usize = 6;

#[test]
fn nobody_loses_a_key_to_another_writer() {
    let house = House::new();
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (house, start) = (&house, &start);
            scope.spawn(move || {
                start.wait();
                for number in 0..EACH {
                    // A new vault each time, as in another process.
                    let vault = house.vault();
                    let account = format!("{writer}-{number}");
                    let key = Secret::new(format!("key-of-{account}"));
                    vault.set("openai", &account, &key, at(1)).unwrap();
                    assert_eq!(vault.get("openai", &account).unwrap(), Some(key));
                    if number % 2 == 1 {
                        let removed = vault.remove("openai", &account).unwrap();
                        assert!(matches!(removed, KeyRemovalOutcome::From(_)));
                    }
                }
            });
        }
    });
    let kept: Vec<String> = house
        .vault()
        .list()
        .unwrap()
        .into_iter()
        .map(|stored| stored.account)
        .collect();
    let mut wanted: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..EACH).step_by(2).map(move |n| format!("{writer}-{n}")))
        .collect();
    wanted.sort();
    assert_eq!(kept, wanted);
}
