//! The lines of the table, and the middle of many readings.

use std::time::Duration;

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    Below(f64),
    /// Shown only to compare others with.
    None,
}

/// What a goal is set for.
#[derive(Clone, Copy)]
pub(crate) enum Measure {
    Value,
    Ratio,
}

/// One line.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The value as a multiple of the same thing without a journal.
    pub(crate) ratio: Option<f64>,
    pub(crate) goal: (Measure, Goal),
}

impl Figure {
    /// Makes a line without a ratio.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str, goal: Goal) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            ratio: None,
            goal: (Measure::Value, goal),
        }
    }

    /// Adds how it compares, for which a goal may be set too.
    pub(crate) fn against(mut self, bare: f64) -> Self {
        self.ratio = Some(self.value / bare);
        self
    }

    /// Prints the line.
    pub(crate) fn print(&self) {
        let ratio = self
            .ratio
            .map_or(String::new(), |ratio| format!("{ratio:.2}"));
        println!(
            "bench: {} | {} | {} | {ratio} | {}",
            self.name,
            short(self.value),
            self.unit,
            self.judged()
        );
    }

    fn judged(&self) -> String {
        let (measure, goal) = self.goal;
        let (found, whose) = match measure {
            Measure::Value => (self.value, ""),
            Measure::Ratio => (self.ratio.unwrap_or(f64::NAN), "ratio "),
        };
        let (sign, limit, is_met) = match goal {
            Goal::None => return String::new(),
            Goal::AtLeast(limit) => (">=", limit, found >= limit),
            Goal::Below(limit) => ("<", limit, found < limit),
        };
        let word = if is_met { "met" } else { "missed" };
        format!("{whose}{sign} {}: {word}", short(limit))
    }
}

/// Writes large numbers whole and small ones with two places.
fn short(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Returns the middle reading.
pub(crate) fn median(readings: impl IntoIterator<Item = f64>) -> f64 {
    percentile(readings, 50)
}

/// Returns the reading that `percent` of all do not exceed.
pub(crate) fn percentile(readings: impl IntoIterator<Item = f64>, percent: usize) -> f64 {
    let mut readings: Vec<f64> = readings.into_iter().collect();
    readings.sort_by(f64::total_cmp);
    let at = (readings.len() * percent).div_ceil(100).max(1) - 1;
    readings[at]
}

/// Returns a span in milliseconds.
pub(crate) fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}
