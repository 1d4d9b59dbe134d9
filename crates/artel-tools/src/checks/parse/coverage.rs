//! How much of the code the tests run, where the project has a tool for it set up: it prints a sum
//! with the results.

/// Returns what the sum says, such as `95%`. Where there are several, of several packages, none of
/// them is one of the whole.
pub(super) fn of(text: &str) -> Option<String> {
    let mut sums = text.lines().rev().filter_map(line);
    sums.next().filter(|_| sums.next().is_none())
}

/// Reads `TOTAL  100  5  95%` of coverage.py, `All files | 95.5 |` of istanbul, `coverage: 80.0% of
/// statements` of Go and `95.00% coverage` of tarpaulin.
fn line(line: &str) -> Option<String> {
    let line = line.trim();
    let percent = if let Some(rest) = line.strip_prefix("TOTAL ") {
        rest.split_whitespace().last()?.strip_suffix('%')?
    } else if let Some(rest) = line.strip_prefix("All files") {
        rest.trim_start()
            .strip_prefix('|')?
            .split('|')
            .next()?
            .trim()
    } else if let Some((_, rest)) = line.split_once("coverage: ") {
        rest.split_once("% of statements")?.0
    } else {
        let (percent, _) = line.split_once("% coverage")?;
        percent.rsplit(' ').next()?
    };
    let value: f64 = percent.parse().ok()?;
    (0.0..=100.0)
        .contains(&value)
        .then(|| format!("{percent}%"))
}
