//! Reads the log that the shim wrote.

use std::fs;
use std::path::{Path, PathBuf};

use super::Op;

/// One operation of the child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// The fault that hit it, as `ARTEL_FAULT` spells it.
    pub fault: Option<String>,
    /// The file, or the new name for a rename.
    pub path: PathBuf,
}

/// The fate of the changes that were not yet durable when the power failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// Number of changes that survived.
    pub kept: u64,
    /// Number of changes that were lost.
    pub dropped: u64,
    /// Number of changes of which only the beginning survived.
    pub torn: u64,
}

/// Every operation of a child on the watched paths, in order. The list is complete even if
/// the child was killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The operations, first one first.
    pub steps: Vec<Step>,
    /// The effect of the power cut, if there was one.
    pub cut: Option<Cut>,
}

impl Counts {
    /// Reads the file that was passed to [`super::Fault::count_into`].
    pub fn read(file: impl AsRef<Path>) -> Self {
        let text = fs::read(file).expect("the counts: was the shim loaded?");
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// Returns the number of operations of this kind.
    pub fn of(&self, op: Op) -> u64 {
        self.count(|step| op == Op::Any || step.op == op)
    }

    /// Returns how many times the fault occurred.
    pub fn fired(&self) -> u64 {
        self.count(|step| step.fault.is_some())
    }

    fn count(&self, wanted: impl Fn(&Step) -> bool) -> u64 {
        self.steps.iter().filter(|step| wanted(step)).count() as u64
    }

    fn parse(text: &str) -> Self {
        let mut counts = Self::default();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let [Some(op), Some(fault), Some(rest)] = [(); 3].map(|()| words.next()) else {
                panic!("`{line}` is no line of the shim");
            };
            match Op::ALL.into_iter().find(|known| known.to_string() == op) {
                Some(op) => counts.steps.push(Step {
                    op,
                    fault: (fault != "-").then(|| fault.to_owned()),
                    path: rest.into(),
                }),
                None => counts.cut = Some(Cut::parse(rest)),
            }
        }
        counts
    }
}

impl Cut {
    fn parse(text: &str) -> Self {
        let mut numbers = text
            .split(' ')
            .map(|word| word.parse().expect("a number of changes"));
        let mut next = || numbers.next().expect("three numbers");
        Self {
            kept: next(),
            dropped: next(),
            torn: next(),
        }
    }
}
