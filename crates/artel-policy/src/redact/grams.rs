//! Finds where any of many short words begins, at the speed of one table lookup per byte.
//!
//! Each word belongs to one of 64 groups. Four tables say for each byte which groups have
//! it as their first, second, third and fourth byte. Only where all four agree are words
//! compared.

/// A word that is rare enough in ordinary text to trigger a rule.
pub(super) struct RedactionTrigger<R> {
    /// The word, in lower case if case does not matter.
    pub(super) word: Vec<u8>,
    pub(super) case: RedactionTriggerLetterCase,
    pub(super) rule: R,
}

/// Case sensitivity of a trigger word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedactionTriggerLetterCase {
    Exact,
    Any,
}

/// The tables, and the trigger words of each group.
pub(super) struct RedactionTriggerIndex<R> {
    tables: Box<[[u64; 256]; 4]>,
    groups: Vec<Vec<RedactionTrigger<R>>>,
}

/// A place where words of some groups may begin.
pub(super) struct RedactionTriggerHit {
    pub(super) at: usize,
    groups: u64,
}

impl<R> RedactionTriggerIndex<R> {
    pub(super) fn new(mut anchors: Vec<RedactionTrigger<R>>) -> Self {
        anchors.sort_by(|one, other| one.word.cmp(&other.word));
        let mut grams = Self {
            tables: Box::new([[0; 256]; 4]),
            groups: (0..64).map(|_| Vec::new()).collect(),
        };
        let count = anchors.len().max(1);
        for (index, anchor) in anchors.into_iter().enumerate() {
            let group = index * 64 / count;
            grams.register(&anchor, 1 << group);
            grams.groups[group].push(anchor);
        }
        grams
    }

    /// Returns the next such place at or after `from`.
    #[inline]
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<RedactionTriggerHit> {
        let [first, second, third, fourth] = &*self.tables;
        let rest = text.get(from..)?;
        let found = rest.windows(4).position(|four| {
            let both = first[usize::from(four[0])] & second[usize::from(four[1])];
            both & third[usize::from(four[2])] & fourth[usize::from(four[3])] != 0
        })?;
        let mut groups = u64::MAX;
        for (table, byte) in self.tables.iter().zip(&rest[found..]) {
            groups &= table[usize::from(*byte)];
        }
        Some(RedactionTriggerHit {
            at: from + found,
            groups,
        })
    }

    /// Returns the trigger words that may begin at a place.
    pub(super) fn anchors(
        &self,
        hit: &RedactionTriggerHit,
    ) -> impl Iterator<Item = &RedactionTrigger<R>> {
        let mut groups = hit.groups;
        std::iter::from_fn(move || {
            let group = groups.trailing_zeros();
            groups &= groups.wrapping_sub(1);
            self.groups.get(usize::try_from(group).ok()?)
        })
        .flatten()
    }

    fn register(&mut self, anchor: &RedactionTrigger<R>, group: u64) {
        for (index, table) in self.tables.iter_mut().enumerate() {
            let Some(byte) = anchor.word.get(index) else {
                table.iter_mut().for_each(|groups| *groups |= group);
                continue;
            };
            table[usize::from(*byte)] |= group;
            if anchor.case == RedactionTriggerLetterCase::Any {
                table[usize::from(byte.to_ascii_uppercase())] |= group;
            }
        }
    }
}
