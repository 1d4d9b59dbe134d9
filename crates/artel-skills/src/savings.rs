//! Computes what loading on demand saves, from the real files.

use std::collections::BTreeMap;

use crate::Skill;

/// Bytes per token, as the gateway estimates before a provider has counted: slightly too
/// many tokens.
const BYTES_PER_TOKEN: u64 = 3;

/// Estimated number of tokens of a skill's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillTokenSizes {
    /// Tokens of `SKILL.md`, which every turn carries.
    pub skill: u64,
    /// Tokens of each supporting text file, by its path.
    pub files: BTreeMap<String, u64>,
}

impl SkillTokenSizes {
    /// Estimates a skill's files.
    pub fn of(skill: &Skill) -> Self {
        let texts = skill.files.iter().filter(|file| file.lines.is_some());
        Self {
            skill: tokens(skill.bytes),
            files: texts
                .map(|file| (file.path.clone(), tokens(file.bytes)))
                .collect(),
        }
    }

    /// Returns the number of tokens per turn if everything were loaded at once.
    pub fn all(&self) -> u64 {
        self.skill + self.files.values().sum::<u64>()
    }
}

/// Returns the percentage that a usual run of a skill saves: eight turns, the first two
/// with `SKILL.md` alone, the others with its largest file too. Returns `None` if the
/// skill has no text file to load on demand.
pub fn usual(sizes: &SkillTokenSizes) -> Option<f64> {
    let largest = sizes.files.values().copied().max()?;
    let mut turns = vec![sizes.skill; 2];
    turns.resize(8, sizes.skill + largest);
    Some(saved(&turns, sizes.all()))
}

/// Estimates the number of tokens of a text from its length in bytes.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the percentage of the skill's tokens that were saved, compared with a run of
/// the same number of turns that each carry all files. `per_turn_loaded` holds what each
/// turn really carried.
pub fn saved(per_turn_loaded: &[u64], all: u64) -> f64 {
    let everything = all.saturating_mul(per_turn_loaded.len() as u64);
    if everything == 0 {
        return 0.0;
    }
    let carried: u64 = per_turn_loaded.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a percentage needs no more")]
    let share = carried as f64 / everything as f64;
    100.0 * (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_over_all_turns() {
        // Three turns with the skill alone, three with one file, nine with both.
        let turns = [[9_000; 3].as_slice(), &[33_000; 3], &[49_000; 9]].concat();
        assert!((saved(&turns, 55_000) - 31.27).abs() < 0.01);
        assert!(saved(&[100, 100], 100).abs() < f64::EPSILON);
        assert!(saved(&[], 100).abs() < f64::EPSILON);
        assert!(saved(&[0], 0).abs() < f64::EPSILON);
        assert_eq!(tokens(10), 4);
        let mut sizes = SkillTokenSizes {
            skill: 100,
            files: BTreeMap::new(),
        };
        assert_eq!(usual(&sizes), None);
        sizes.files = [("a".into(), 100), ("b".into(), 200)].into();
        // Two turns of 100 and six of 300, compared with eight of 400.
        assert!((usual(&sizes).unwrap() - 37.5).abs() < 0.01);
    }
}
