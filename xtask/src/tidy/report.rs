//! What `cargo xtask tidy` says: the table of figures, and the places behind a failure.

use super::git::AddedLines;
use super::measure::{AllowanceVerdict, CodePlace, TidyMeasure};
use super::settings::{PATH, TidySettings};
use crate::table::TextTable;

/// So many places of one measure are printed with a failure.
const MOST_PLACES: usize = 30;

/// Returns the table of all measures.
pub(super) fn table(measures: &[TidyMeasure], settings: &TidySettings) -> String {
    let mut table = TextTable::new(["measure", "now", "allowed", "verdict"]);
    for measure in measures {
        let verdict = match measure.verdict(settings) {
            AllowanceVerdict::Met => "",
            AllowanceVerdict::Exceeded => "too many",
            AllowanceVerdict::Undercut => "lower the allowance",
        };
        table.row([
            measure.name.clone(),
            measure.figure.to_string(),
            settings.allowance(&measure.name).to_string(),
            verdict.to_owned(),
        ]);
    }
    table.render()
}

/// Returns what is wrong, one text per fault; empty if every allowance is met.
pub(super) fn faults(
    measures: &[TidyMeasure],
    settings: &TidySettings,
    changed: Option<&AddedLines>,
) -> Vec<String> {
    let verdicts = measures.iter().map(|it| (it, it.verdict(settings)));
    let of_measures = verdicts.filter_map(|(measure, verdict)| match verdict {
        AllowanceVerdict::Met => None,
        AllowanceVerdict::Exceeded => Some(excess(measure, settings, changed)),
        AllowanceVerdict::Undercut => Some(format!(
            "{}: lower the allowance in {PATH} to {} (`cargo xtask tidy --write` does)",
            measure.name, measure.figure
        )),
    });
    let keys = settings.allowed.keys();
    let unknown = keys.filter(|key| !measures.iter().any(|it| it.name == **key));
    let of_keys =
        unknown.map(|key| format!("{key}: {PATH} allows it, but no measure is called so"));
    of_measures.chain(of_keys).collect()
}

fn excess(measure: &TidyMeasure, settings: &TidySettings, changed: Option<&AddedLines>) -> String {
    let allowed = settings.allowance(&measure.name);
    let (name, figure) = (&measure.name, measure.figure);
    let is_new = |place: &&CodePlace| changed.is_some_and(|it| it.touch(place));
    let mut places: Vec<&CodePlace> = measure.places.iter().filter(is_new).collect();
    let mut heading = "in lines changed since the allowances were set";
    if places.is_empty() {
        places = measure.places.iter().collect();
        heading = "all places";
    }
    let mut text = format!("{name}: {figure}, allowed {allowed}; {}\n", measure.advice);
    text += &format!("  {heading}:");
    for place in places.iter().take(MOST_PLACES) {
        text += &format!("\n    {place}");
    }
    if places.len() > MOST_PLACES {
        let more = places.len() - MOST_PLACES;
        text += &format!("\n    and {more} more: `cargo xtask tidy --list {name}`");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(figure: usize) -> TidyMeasure {
        let places = (1..=figure).map(|line| CodePlace::new("src/a.rs", line, "fn a"));
        TidyMeasure::of_places("tuple-parameters", "use a struct", places.collect())
    }

    fn settings(allowed: &str) -> Result<TidySettings, toml::de::Error> {
        TidySettings::parse(&format!("[allowed]\n{allowed}\n"))
    }

    #[test]
    fn a_met_allowance_is_silent() -> Result<(), toml::de::Error> {
        let settings = settings("tuple-parameters = 2")?;
        assert!(faults(&[measure(2)], &settings, None).is_empty());
        Ok(())
    }

    #[test]
    fn more_names_the_places_and_less_names_the_figure() -> Result<(), toml::de::Error> {
        let settings = settings("tuple-parameters = 2")?;
        let more = faults(&[measure(3)], &settings, None);
        let expected = "tuple-parameters: 3, allowed 2; use a struct\n  all places:\n    \
                        src/a.rs:1  fn a\n    src/a.rs:2  fn a\n    src/a.rs:3  fn a";
        assert_eq!(more, [expected]);
        let less = faults(&[measure(1)], &settings, None);
        assert!(less[0].contains("lower the allowance in xtask/tidy.toml to 1"));
        Ok(())
    }

    #[test]
    fn an_allowance_for_nothing_is_a_fault() -> Result<(), toml::de::Error> {
        let settings = settings("tuple-parameter = 2")?;
        assert_eq!(faults(&[measure(0)], &settings, None).len(), 1);
        Ok(())
    }
}
