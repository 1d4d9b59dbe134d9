//! House style that neither the compiler nor clippy sees: words, names, shape, decisions by text.
//!
//! Every gate is a function of the files' texts. It returns figures, and `xtask/tidy.toml` says what
//! each figure may be. A figure must equal its allowance: more fails because something was added,
//! less fails so that the allowance follows and the gain stays.

mod debug_text;
mod fact_matches;
mod facts;
mod git;
mod lexer;
mod match_bool;
mod measure;
mod repeated_names;
mod report;
mod settings;
mod shape;
mod source;
mod test_items;
mod text_decisions;
mod tokens;
mod tree;
mod tuple_parameters;
mod type_names;
mod words;

use std::fs;

use crate::args::Args;
use crate::process;
use crate::stop::XtaskError;
use facts::FactTable;
use git::AddedLines;
use measure::TidyMeasure;
use settings::TidySettings;
use tree::SourceTree;

/// Compares all figures with their allowances, lowers the allowances with `--write`, or prints the
/// places behind one figure with `--list MEASURE`.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let wanted: Option<String> = args.value("--list")?;
    let writes = args.flag("--write");
    args.finish()?;
    let tree = SourceTree::new(git::texts()?);
    let text = read_settings()?;
    let settings = parse(&text)?;
    let measures = measures(&tree, &settings);
    if let Some(name) = wanted {
        return list(&measures, &name);
    }
    if writes {
        let lowered = settings::lowered(&text, &measures);
        let path = process::root().join(settings::PATH);
        fs::write(path, &lowered).map_err(|cause| XtaskError::because(settings::PATH, cause))?;
        return judge(&measures, &parse(&lowered)?);
    }
    judge(&measures, &settings)
}

/// Fails unless every figure equals its allowance.
pub(crate) fn check() -> Result<(), XtaskError> {
    let tree = SourceTree::new(git::texts()?);
    let settings = parse(&read_settings()?)?;
    judge(&measures(&tree, &settings), &settings)
}

fn measures(tree: &SourceTree, settings: &TidySettings) -> Vec<TidyMeasure> {
    let mut measures = words::measures(tree, settings);
    measures.extend(type_names::measures(tree, settings));
    measures.push(tuple_parameters::measure(tree));
    measures.push(match_bool::measure(tree));
    let table = FactTable::read(tree);
    measures.extend(debug_text::measures(tree, &table));
    measures.extend(text_decisions::measures(tree, &table, settings));
    measures.push(fact_matches::measure(tree, settings));
    measures.extend(shape::measures(tree));
    measures.push(repeated_names::measure(tree));
    measures
}

fn judge(measures: &[TidyMeasure], settings: &TidySettings) -> Result<(), XtaskError> {
    println!("{}", report::table(measures, settings));
    let mut faults = report::faults(measures, settings, None);
    if !faults.is_empty() {
        let changed = AddedLines::since_allowances();
        faults = report::faults(measures, settings, changed.as_ref());
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(XtaskError::Failed(format!(
        "the tree is not tidy\n\n{}",
        faults.join("\n\n")
    )))
}

fn list(measures: &[TidyMeasure], name: &str) -> Result<(), XtaskError> {
    let Some(measure) = measures.iter().find(|measure| measure.name == name) else {
        let names: Vec<&str> = measures.iter().map(|measure| &*measure.name).collect();
        let names = names.join(", ");
        return Err(XtaskError::Usage(format!(
            "`{name}` is not one of: {names}"
        )));
    };
    for place in &measure.places {
        println!("{place}");
    }
    println!("\n{}: {}; {}", measure.name, measure.figure, measure.advice);
    Ok(())
}

fn read_settings() -> Result<String, XtaskError> {
    let path = process::root().join(settings::PATH);
    fs::read_to_string(path).map_err(|cause| XtaskError::because(settings::PATH, cause))
}

fn parse(text: &str) -> Result<TidySettings, XtaskError> {
    TidySettings::parse(text).map_err(|cause| XtaskError::because(settings::PATH, cause))
}
