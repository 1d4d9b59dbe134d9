//! Test coverage, if the project has a tool for it set up: the tool prints a total with
//! the results.

/// Returns the total, such as `95%`. Several totals belong to several packages, and none
/// of them covers the whole, so the result is `None`.
pub(super) fn of(text: &str) -> Option<String> {
    let mut sums = text.lines().rev().filter_map(line);
    sums.next().filter(|_| sums.next().is_none())
}

/// Parses `TOTAL  100  5  95%` of coverage.py, `All files | 95.5 |` of istanbul,
/// `coverage: 80.0% of statements` of Go and `95.00% coverage` of tarpaulin.
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
