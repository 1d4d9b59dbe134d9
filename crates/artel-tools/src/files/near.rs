//! Finds lines that resemble missing text, and shows them with line numbers and the
//! difference, so that the next try fits.

use std::cell::Cell;
use std::collections::HashMap;

/// Largest number of lines of the file shown.
const SHOWN_LINES: usize = 14;
/// Longest part of a line shown, in characters.
const SHOWN_CHARS: usize = 200;
/// Largest number of lines compared character by character.
const COMPARED_LINES: usize = 4000;
/// Largest number of line comparisons in a search.
const MOST_STEPS: usize = 4_000_000;

/// A way to treat two lines as equal, with the difference that it ignores.
type Loosening = (&'static str, fn(&str) -> String);

const LOOSENINGS: [Loosening; 5] = [
    ("spaces at the ends of lines", |line| {
        line.trim_end().to_owned()
    }),
    ("the indentation", |line| line.trim().to_owned()),
    ("spaces", |line| squeeze(line)),
    ("quotes, dashes or other look-alike characters", |line| {
        squeeze(&line.chars().map(plain).collect::<String>())
    }),
    ("upper and lower case", |line| {
        squeeze(&line.chars().map(plain).collect::<String>()).to_lowercase()
    }),
];

/// Returns hints about the parts of `text` that resemble `wanted`, which is not in it.
pub(crate) fn hints(text: &str, wanted: &str) -> Vec<String> {
    if let Some(bare) = without_line_numbers(wanted)
        && text.contains(&bare)
    {
        return vec![format!(
            "`old` has the line numbers of `read` in it; the file has:\n{}",
            show_at(text, &bare)
        )];
    }
    let unescaped = wanted
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\"", "\"");
    if unescaped != wanted && text.contains(&unescaped) {
        return vec![format!(
            "`old` is escaped once too often (`\\n`, `\\t` or `\\\"` as two characters); the file \
             has:\n{}",
            show_at(text, &unescaped)
        )];
    }
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted.trim_matches('\n').lines().collect();
    if lines.is_empty() || wanted.iter().all(|line| line.trim().is_empty()) {
        return Vec::new();
    }
    if let Some((what, at)) = loosely(&lines, &wanted) {
        let count = wanted.len();
        let differ = if count == 1 { "differs" } else { "differ" };
        return vec![format!(
            "{} {differ} from `old` only in {what}; the file has:\n{}",
            range(at, count),
            show(&lines, at, count)
        )];
    }
    closest(&lines, &wanted)
        .map(|at| closest_hint(&lines, &wanted, at))
        .into_iter()
        .collect()
}

/// Finds the first place that is equal if some difference is ignored.
fn loosely(lines: &[&str], wanted: &[&str]) -> Option<(&'static str, usize)> {
    let steps = Cell::new(0);
    LOOSENINGS.iter().find_map(|(what, loosen)| {
        let lines: Vec<_> = lines.iter().map(|line| loosen(line)).collect();
        let wanted: Vec<_> = wanted.iter().map(|line| loosen(line)).collect();
        let fits = |at: &usize| {
            let window = &lines[*at..at + wanted.len()];
            let equal = window
                .iter()
                .zip(&wanted)
                .enumerate()
                .take_while(|(n, pair)| {
                    steps.set(steps.get() + 1);
                    is_part(*n, wanted.len(), pair.0, pair.1)
                });
            steps.get() < MOST_STEPS && equal.count() == wanted.len()
        };
        let last = (lines.len() + 1).checked_sub(wanted.len())?;
        (0..last).find(|at| fits(at)).map(|at| (*what, at))
    })
}

/// Compares a line with one of `count` wanted lines. The first wanted line may begin
/// within its line, and the last may end within it.
fn is_part(number: usize, count: usize, line: &str, wanted: &str) -> bool {
    match (number, count) {
        (0, 1) => line.contains(wanted) && !wanted.is_empty(),
        (0, _) => line.ends_with(wanted),
        (n, count) if n + 1 == count => line.starts_with(wanted),
        _ => line == wanted,
    }
}

/// Finds the place where most lines are equal, or else the line most similar to the
/// longest wanted one.
fn closest(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, line) in wanted.iter().enumerate().take(COMPARED_LINES) {
        let line = line.trim();
        if line.len() > 3 {
            places.entry(line).or_default().push(number);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        for number in places.get(line.trim()).into_iter().flatten().take(8) {
            if let Some(start) = at.checked_sub(*number) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|(at, votes)| (*votes, usize::MAX - at));
    best.map(|(at, _)| at).or_else(|| most_alike(lines, wanted))
}

fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (number, line) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let line = cut(line.trim());
    let alike = |other: &&str| strsim::normalized_levenshtein(&line, &cut(other.trim()));
    let rated = lines.iter().take(COMPARED_LINES).map(alike).enumerate();
    let (at, likeness) = rated.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (likeness > 0.6).then(|| at.saturating_sub(number))
}

fn closest_hint(lines: &[&str], wanted: &[&str], at: usize) -> String {
    let pairs = wanted.iter().zip(&lines[at..]).enumerate();
    let differs = pairs
        .filter(|(_, (wanted, line))| wanted.trim_end() != line.trim_end())
        .map(|(number, (wanted, line))| {
            let line_number = at + number + 1;
            let (wanted, line) = (cut(wanted), cut(line));
            format!("line {line_number} is `{line}` where `old` has `{wanted}`; ")
        })
        .next()
        .unwrap_or_default();
    format!(
        "the closest text is at {}: {differs}the file has:\n{}",
        range(at, wanted.len().min(lines.len() - at)),
        show(lines, at, wanted.len())
    )
}

/// Returns the lines as they are in the file, after their numbers.
fn show(lines: &[&str], at: usize, count: usize) -> String {
    let shown = count.min(SHOWN_LINES).min(lines.len() - at);
    let shown = lines[at..at + shown].iter().enumerate();
    let shown: Vec<_> = shown
        .map(|(number, line)| format!("{:>6}\t{}", at + number + 1, cut(line)))
        .collect();
    shown.join("\n")
}

/// Returns the lines that contain a part of the text.
fn show_at(text: &str, part: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let before = text.find(part).map_or("", |start| &text[..start]);
    let at = before.matches('\n').count();
    show(&lines, at, part.lines().count().max(1))
}

fn range(at: usize, count: usize) -> String {
    match count {
        0 | 1 => format!("line {}", at + 1),
        _ => format!("lines {}-{}", at + 1, at + count),
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces a character by its plain look-alike.
fn plain(char: char) -> char {
    match char {
        '\u{2018}'..='\u{201b}' | '`' | '\u{b4}' | '"' | '\u{201c}'..='\u{201f}' | '«' | '»' => {
            '\''
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' => ' ',
        '…' => '.',
        other => other,
    }
}

fn without_line_numbers(text: &str) -> Option<String> {
    let bare: Option<Vec<_>> = text.split('\n').map(without_line_number).collect();
    bare.map(|lines| lines.join("\n"))
}

fn without_line_number(line: &str) -> Option<&str> {
    if line.is_empty() {
        return Some(line);
    }
    let (number, rest) = line.split_once('\t')?;
    let number = number.trim_start();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "fn main() {\n    let name = \"x\";\n    print(name);\n}\n\nfn other() {}\n";

    #[test]
    fn the_difference_is_named() {
        let table = [
            (
                "\tlet name = \"x\";",
                "line 2 differs from `old` only in the indentation",
            ),
            (
                "let name = \"x\";\nprint(name);",
                "lines 2-3 differ from `old` only in the indentation",
            ),
            (
                "fn main() {  \n    let name",
                "lines 1-2 differ from `old` only in spaces at the ends",
            ),
            ("let  name=\"x\"", "line 2 is"),
            (
                "let name = “x”;",
                "line 2 differs from `old` only in quotes",
            ),
            (
                "FN OTHER",
                "line 6 differs from `old` only in upper and lower case",
            ),
            (
                "     2\t    let name = \"x\";",
                "`old` has the line numbers",
            ),
            ("{\\n    let name", "escaped once too often"),
            (
                "    let name = \"y\";\n    print(name);",
                "the closest text is at lines 2-3: line 2 is",
            ),
            ("let nome = \"x\";", "the closest text is at line 2"),
        ];
        for (wanted, expected) in table {
            let said = hints(FILE, wanted).join("\n");
            assert!(said.contains(expected), "{wanted:?}: {said}");
        }
    }

    #[test]
    fn what_is_like_nothing_has_no_hint() {
        assert!(hints(FILE, "zzzzqqqqq").is_empty());
        assert!(hints(FILE, "\n\n\n\n").is_empty());
        assert!(hints("", "a").is_empty());
    }
}
