//! The tool calls of one reply: their numbers, their ids, and how many there may be.

use std::collections::HashSet;

use artel_types::model::{ModelFault, ModelFaultKind, ReplyChunk};

/// Most tool calls in one reply; more are a fault, not a wish.
const MOST: u32 = 1_000;

/// Longest id or name that is kept, in characters. Names are validated later, where the
/// tools are known.
const LONGEST_NAME: usize = 200;

/// Numbers calls in the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct ToolCallNumbering {
    ids: HashSet<String>,
    begun: u32,
}

impl ToolCallNumbering {
    pub(crate) fn is_empty(&self) -> bool {
        self.begun == 0
    }

    /// Begins a call and returns its number. An empty or repeated id is replaced, because
    /// a result finds its call by the id.
    pub(crate) fn begin(
        &mut self,
        id: &str,
        name: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<u32, ModelFault> {
        let index = self.begun;
        if index >= MOST {
            return Err(ModelFault::new(
                ModelFaultKind::Garbled,
                format!("the answer has more than {MOST} calls"),
            ));
        }
        self.begun += 1;
        let id = self.unique(index, id);
        let name = shortened(name);
        out.push(ReplyChunk::ToolStart { index, id, name });
        Ok(index)
    }

    fn unique(&mut self, index: u32, id: &str) -> String {
        let wanted = if id.is_empty() {
            format!("call_{index}")
        } else {
            shortened(id)
        };
        let others = (index..).map(|number| format!("{wanted}_{number}"));
        let id = std::iter::once(wanted.clone())
            .chain(others)
            .find(|id| !self.ids.contains(id))
            .unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(calls: &[(&str, &str)]) -> Vec<(u32, String, String)> {
        let mut known = ToolCallNumbering::default();
        let mut out = Vec::new();
        for (id, name) in calls {
            known.begin(id, name, &mut out).unwrap();
        }
        let begun = out.into_iter().map(|chunk| match chunk {
            ReplyChunk::ToolStart { index, id, name } => (index, id, name),
            other => panic!("{other:?}"),
        });
        begun.collect()
    }

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let ids = |wanted: &[&str]| -> Vec<String> {
            let calls: Vec<_> = wanted.iter().map(|id| (*id, "read")).collect();
            begun(&calls).into_iter().map(|(_, id, _)| id).collect()
        };
        assert_eq!(ids(&["a", "b"]), ["a", "b"]);
        assert_eq!(ids(&["", ""]), ["call_0", "call_1"]);
        assert_eq!(ids(&["a", "a", "a"]), ["a", "a_1", "a_2"]);
        assert_eq!(ids(&["call_1", ""]), ["call_1", "call_1_1"]);
        assert_eq!(ids(&["a", "a_2", "a"]), ["a", "a_2", "a_3"]);
    }

    #[test]
    fn names_are_kept_as_they_are_but_not_without_end() {
        let long = "é".repeat(10_000);
        let begun = begun(&[("1", "rm\u{1b}[2J\0"), (&long, &long)]);
        assert_eq!(begun[0].2, "rm\u{1b}[2J\0");
        assert_eq!(begun[1].1.chars().count(), LONGEST_NAME);
        assert_eq!(begun[1].2.chars().count(), LONGEST_NAME);
    }

    #[test]
    fn a_thousand_calls_are_enough() {
        let mut calls = ToolCallNumbering::default();
        let mut out = Vec::new();
        assert!(calls.is_empty());
        for _ in 0..MOST {
            calls.begin("same", "read", &mut out).unwrap();
        }
        let fault = calls.begin("same", "read", &mut out).unwrap_err();
        assert_eq!(fault.kind, ModelFaultKind::Garbled);
        assert_eq!(out.len(), MOST as usize);
    }
}
