//! The similarity of two names, by the number of letters that would have to change.

/// Rates the similarity of two names from 0 to 1. For paths, the last component counts as
/// well.
pub(super) fn alike(one: &str, other: &str) -> f64 {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    rate(one, other).max(rate(&last(one), &last(other)) * 0.95)
}

fn rate(one: &str, other: &str) -> f64 {
    let one: Vec<char> = one.to_lowercase().chars().take(200).collect();
    let other: Vec<char> = other.to_lowercase().chars().take(200).collect();
    let longest = one.len().max(other.len());
    if longest == 0 {
        return 0.0;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    let distance = u32::try_from(row[other.len()]).unwrap_or(u32::MAX);
    1.0 - f64::from(distance) / f64::from(u32::try_from(longest).unwrap_or(u32::MAX))
}
