use proptest::prelude::*;

use super::{ContextLoadStrategy, *};

fn file(path: &str, tokens: u64, minute: i64, priority: u32) -> ContextFileCandidate {
    ContextFileCandidate {
        path: path.to_owned(),
        tokens,
        modified: Timestamp::from_micros(minute * 60_000_000),
        priority,
    }
}

fn names(choice: &ContextLoadOutcome) -> Vec<&str> {
    choice.included.iter().map(|it| it.path.as_str()).collect()
}

/// Ten files of fifty thousand tokens for eighty percent of a hundred thousand.
#[test]
fn too_much_is_left_out_visibly() {
    let files: Vec<ContextFileCandidate> = (0..10)
        .map(|at| file(&format!("f{at}"), 50_000, at, 0))
        .collect();
    let budget = budget(100_000, 80);
    assert_eq!(budget, 80_000);
    let chosen = ContextLoadStrategy::ALL.map(|strategy| choose(&files, budget, strategy, None));
    for choice in &chosen {
        let block = choice.warning_block.as_ref().unwrap();
        for words in [
            "[System Warning: Context Truncated]",
            "Token Budget: 80000",
            "Skipped ",
        ] {
            assert!(block.contains(words), "{block}");
        }
        assert!(choice.total + (block.len() as u64).div_ceil(BYTES_PER_TOKEN) <= 80_000);
        assert!(!choice.warnings.is_empty());
    }
    let [smallest, largest, oldest, each] = &chosen;
    assert_eq!((names(smallest), smallest.skipped.len()), (vec!["f0"], 9));
    assert_eq!((names(largest), largest.skipped.len()), (vec!["f9"], 9));
    assert_eq!((names(oldest), oldest.skipped.len()), (vec!["f9"], 9));
    assert_eq!(
        (
            each.included.len(),
            each.truncated.len(),
            each.skipped.len()
        ),
        (10, 10, 0)
    );
    assert!(each.included.iter().all(|it| it.tokens == 7_950));
}

#[test]
fn every_strategy_keeps_its_own_rule() {
    let files = [
        file("old-small", 100, 1, 0),
        file("new-large", 700, 9, 0),
        file("mid", 500, 5, 0),
        file("dear", 600, 3, 7),
        file("tiny", 50, 4, 0),
    ];
    let table = [
        (
            ContextLoadStrategy::SmallestFirst,
            vec!["dear", "tiny", "old-small"],
        ),
        (
            ContextLoadStrategy::DropLargest,
            vec!["old-small", "mid", "tiny"],
        ),
        (ContextLoadStrategy::DropOldest, vec!["dear"]),
        (
            ContextLoadStrategy::TruncateEach,
            vec!["old-small", "new-large", "mid", "dear", "tiny"],
        ),
    ];
    for (strategy, expected) in &table {
        let choice = choose(&files, 1_000, *strategy, None);
        assert_eq!(&names(&choice), expected, "{strategy}");
        assert_eq!(strategy.as_str().parse(), Ok(*strategy));
    }
    let each = choose(&files, 1_000, ContextLoadStrategy::TruncateEach, None);
    let kept: Vec<u64> = each.included.iter().map(|it| it.tokens).collect();
    assert_eq!((kept, each.total), (vec![100, 217, 216, 217, 50], 800));
    assert_eq!(
        each.warnings[0],
        "Truncated new-large (217 of 700 tokens kept)"
    );
}

#[test]
fn a_cap_comes_first_and_is_said() {
    let files = [file("a", 900, 0, 0), file("b", 10, 0, 0)];
    let whole = choose(&files, 1_000, ContextLoadStrategy::SmallestFirst, None);
    assert_eq!((whole.total, whole.warning_block), (910, None));
    let capped = choose(&files, 1_000, ContextLoadStrategy::SmallestFirst, Some(100));
    assert_eq!((capped.total, names(&capped)), (110, vec!["b", "a"]));
    assert_eq!(
        capped.truncated,
        [LoadedContextFile {
            path: "a".to_owned(),
            tokens: 100
        }]
    );
    assert!(capped.warning_block.unwrap().contains("truncated 1"));
}

#[test]
fn nothing_fits_into_nothing() {
    for strategy in ContextLoadStrategy::ALL {
        let choice = choose(&[file("a", 5, 0, 0)], 0, strategy, None);
        assert_eq!((choice.included.len(), choice.total), (0, 0), "{strategy}");
        assert_eq!(
            choose(&[], 0, strategy, None),
            ContextLoadOutcome::default()
        );
    }
}

proptest! {
    #[test]
    fn no_choice_passes_the_budget_or_loses_a_file(
        sizes in proptest::collection::vec((0u64..9_000, 0i64..50, 0u32..3), 0..60),
        budget in 1_000u64..50_000,
        cap in proptest::option::of(1u64..5_000),
    ) {
        let files: Vec<ContextFileCandidate> = sizes
            .iter()
            .enumerate()
            .map(|(at, (tokens, minute, priority))| file(&format!("f{at}"), *tokens, *minute, *priority))
            .collect();
        for strategy in ContextLoadStrategy::ALL {
            let choice = choose(&files, budget, strategy, cap);
            let block = choice.warning_block.as_deref().unwrap_or("").len() as u64;
            prop_assert!(choice.total + block.div_ceil(BYTES_PER_TOKEN) <= budget);
            prop_assert_eq!(choice.included.len() + choice.skipped.len(), files.len());
            let total: u64 = choice.included.iter().map(|it| it.tokens).sum();
            prop_assert_eq!(total, choice.total);
            let said = !choice.skipped.is_empty() || !choice.truncated.is_empty();
            prop_assert_eq!(choice.warning_block.is_some(), said);
            for it in &choice.included {
                let whole = files.iter().find(|file| file.path == it.path).unwrap().tokens;
                prop_assert!(it.tokens <= whole && cap.is_none_or(|cap| it.tokens <= cap));
                prop_assert_eq!(it.tokens < whole, choice.truncated.contains(it));
            }
        }
    }
}
