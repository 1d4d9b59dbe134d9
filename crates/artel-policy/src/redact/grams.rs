//! Finds where any of many short words begins, at the speed of a table look-up a byte.
//!
//! Each word belongs to one of 64 groups. Four tables say for each byte which groups have it as
//! their first, second, third and fourth; only where all four agree is a word worth comparing.

/// A word that is rare enough in ordinary text to begin a rule with.
pub(super) struct Anchor<R> {
    /// In lower case where case does not matter.
    pub(super) word: Vec<u8>,
    pub(super) case: Case,
    pub(super) rule: R,
}

/// Whether capitals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Any,
}

/// The tables, and the anchors of each group.
pub(super) struct Grams<R> {
    tables: Box<[[u64; 256]; 4]>,
    groups: Vec<Vec<Anchor<R>>>,
}

/// A place where some of the groups may begin.
pub(super) struct Hit {
    pub(super) at: usize,
    groups: u64,
}

impl<R> Grams<R> {
    pub(super) fn new(mut anchors: Vec<Anchor<R>>) -> Self {
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

    /// Returns the next place from `from` on.
    #[inline]
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<Hit> {
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
        Some(Hit {
            at: from + found,
            groups,
        })
    }

    /// Returns the anchors that may begin at a place.
    pub(super) fn anchors(&self, hit: &Hit) -> impl Iterator<Item = &Anchor<R>> {
        let mut groups = hit.groups;
        std::iter::from_fn(move || {
            let group = groups.trailing_zeros();
            groups &= groups.wrapping_sub(1);
            self.groups.get(usize::try_from(group).ok()?)
        })
        .flatten()
    }

    fn register(&mut self, anchor: &Anchor<R>, group: u64) {
        for (index, table) in self.tables.iter_mut().enumerate() {
            let Some(byte) = anchor.word.get(index) else {
                table.iter_mut().for_each(|groups| *groups |= group);
                continue;
            };
            table[usize::from(*byte)] |= group;
            if anchor.case == Case::Any {
                table[usize::from(byte.to_ascii_uppercase())] |= group;
            }
        }
    }
}
