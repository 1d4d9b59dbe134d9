//! The lines of the result table, and the median of many readings.

use std::time::Duration;

/// The target of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    Below(f64),
    /// No target: the figure is only shown for comparison.
    None,
}

/// The number that a goal applies to: the value or the ratio.
#[derive(Clone, Copy)]
pub(crate) enum Measure {
    Value,
    Ratio,
}

/// One line of the result table.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The value as a multiple of the same measurement without a journal.
    pub(crate) ratio: Option<f64>,
    pub(crate) goal: (Measure, Goal),
}

impl Figure {
    /// Creates a line without a ratio.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str, goal: Goal) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            ratio: None,
            goal: (Measure::Value, goal),
        }
    }

    /// Adds the ratio to the bare measurement, for which a goal may also be set.
    pub(crate) fn against(mut self, bare: f64) -> Self {
        self.ratio = Some(self.value / bare);
        self
    }

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

/// Formats large numbers as integers and small ones with two decimal places.
fn short(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Returns the median of the readings.
pub(crate) fn median(readings: impl IntoIterator<Item = f64>) -> f64 {
    percentile(readings, 50)
}

/// Returns the reading that `percent` of all readings do not exceed.
pub(crate) fn percentile(readings: impl IntoIterator<Item = f64>, percent: usize) -> f64 {
    let mut readings: Vec<f64> = readings.into_iter().collect();
    readings.sort_by(f64::total_cmp);
    let at = (readings.len() * percent).div_ceil(100).max(1) - 1;
    readings[at]
}

pub(crate) fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}
