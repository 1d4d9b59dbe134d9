//! Reads the result of a run from libFuzzer's log.

use std::path::Path;
use std::process::ExitStatus;

use crate::stop::XtaskError;
use crate::table::TextTable;

/// The result of fuzzing one target.
#[derive(Debug)]
pub(super) struct FuzzTargetOutcome {
    target: String,
    seed: u32,
    executions: u64,
    edges: u64,
    features: u64,
    inputs: u64,
    artifact: Option<String>,
    trouble: Option<String>,
}

impl FuzzTargetOutcome {
    pub(super) fn new(target: &str, seed: u32) -> Self {
        Self {
            target: target.to_owned(),
            seed,
            executions: 0,
            edges: 0,
            features: 0,
            inputs: 0,
            artifact: None,
            trouble: None,
        }
    }

    /// Updates the figures from a line of libFuzzer's log.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(count) = number_after(line, "stat::number_of_executed_units:") {
            self.executions = count;
        }
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.artifact = Some(path.trim().to_owned());
        }
        if line.starts_with('#') {
            self.edges = number_after(line, " cov:").unwrap_or(self.edges);
            self.features = number_after(line, " ft:").unwrap_or(self.features);
            self.inputs = number_after(line, " corp:").unwrap_or(self.inputs);
        }
    }

    /// Records how the run ended. A run that saw no coverage proves nothing and counts as a
    /// failure: a compiler that stops instrumenting must not go unnoticed.
    pub(super) fn end(&mut self, status: ExitStatus, program: &Path) {
        self.trouble = match (&self.artifact, status.success()) {
            (Some(artifact), _) => Some(format!("again with `{} {artifact}`", program.display())),
            (None, false) => Some(format!("libFuzzer ended with {status}")),
            (None, true) if self.edges == 0 => Some("no coverage was seen".to_owned()),
            (None, true) => None,
        };
    }

    fn cells(&self) -> Vec<String> {
        let word = if self.trouble.is_some() {
            "FAILED"
        } else {
            "ok"
        };
        let numbers = [
            u64::from(self.seed),
            self.executions,
            self.edges,
            self.features,
            self.inputs,
        ];
        std::iter::once(self.target.clone())
            .chain(numbers.map(|number| number.to_string()))
            .chain([word.to_owned()])
            .collect()
    }
}

/// The results of fuzzing several targets.
#[derive(Debug, Default)]
pub(crate) struct FuzzOutcomes(Vec<FuzzTargetOutcome>);

impl FuzzOutcomes {
    pub(super) fn add(&mut self, outcome: FuzzTargetOutcome) {
        self.0.push(outcome);
    }

    pub(crate) fn render(&self) -> String {
        let headings = [
            "target",
            "seed",
            "executions",
            "edges",
            "features",
            "inputs",
            "result",
        ];
        let mut table = TextTable::new(headings);
        self.0.iter().for_each(|outcome| table.row(outcome.cells()));
        table.render()
    }

    /// Returns one row of figures per target.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Vec<String>> {
        self.0.iter().map(|outcome| {
            vec![
                outcome.target.clone(),
                format!("{} executions", outcome.executions),
                format!("{} edges", outcome.edges),
                format!("{} findings", u8::from(outcome.trouble.is_some())),
                format!("seed {}", outcome.seed),
            ]
        })
    }

    /// Fails if any target has a finding.
    pub(crate) fn judge(&self) -> Result<(), XtaskError> {
        let lines: Vec<String> = self
            .0
            .iter()
            .filter_map(|outcome| Some((&outcome.target, outcome.trouble.as_ref()?)))
            .map(|(target, trouble)| format!("\n  {target}: {trouble}"))
            .collect();
        if lines.is_empty() {
            return Ok(());
        }
        Err(XtaskError::Failed(format!(
            "fuzzing failed:{}",
            lines.concat()
        )))
    }
}

/// Returns whether a line of the log should be hidden: libFuzzer prints one for every new
/// input.
pub(super) fn is_noise(line: &str) -> bool {
    let told = ["INITED", "pulse", "DONE"];
    let untold = [
        " # Uses: ",
        "ecommended dictionary",
        "WARNING: Failed to find function",
    ];
    (line.starts_with('#') && !told.iter().any(|word| line.contains(word)))
        || untold.iter().any(|word| line.contains(word))
}

fn number_after(line: &str, label: &str) -> Option<u64> {
    let (_, rest) = line.split_once(label)?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const DONE: &str = "#51588\tDONE   cov: 1934 ft: 5999 corp: 1011/85Kb lim: 131 exec/s: 566";

    fn after(lines: &[&str], status: i32) -> FuzzOutcomes {
        let mut outcome = FuzzTargetOutcome::new("redact", 7);
        lines.iter().for_each(|line| outcome.read(line));
        outcome.end(ExitStatus::from_raw(status), Path::new("redact"));
        FuzzOutcomes(vec![outcome])
    }

    #[test]
    fn a_clean_run_is_counted() {
        let found = after(&[DONE, "stat::number_of_executed_units: 51588"], 0);
        let row = found.0[0].cells().join(" ");
        assert_eq!(row, "redact 7 51588 1934 5999 1011 ok");
        assert_eq!(found.judge(), Ok(()));
    }

    #[test]
    fn a_finding_an_ill_end_and_missing_coverage_all_fail() {
        let crash = "artifact_prefix='a/'; Test unit written to a/crash-1";
        assert!(after(&[DONE, crash], 77 << 8).judge().is_err());
        assert!(after(&[DONE], 1 << 8).judge().is_err());
        assert!(after(&["#1 DONE corp: 1/1b"], 0).judge().is_err());
    }

    #[test]
    fn only_telling_lines_are_shown() {
        assert!(is_noise("#12\tNEW    cov: 1 ft: 1") && is_noise("\"le\" # Uses: 3"));
        assert!(!is_noise(DONE) && !is_noise("thread '<unnamed>' panicked at src"));
    }
}
