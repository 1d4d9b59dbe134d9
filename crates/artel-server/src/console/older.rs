//! Pagination of lists that have no filters.

use serde::Deserialize;

/// Number of rows on a page.
const MOST: usize = 100;

/// Query parameters of a list: the position.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ConsoleListQuery {
    /// Only rows older than this row of an earlier page.
    #[serde(default)]
    before: String,
}

/// A page of a list.
#[derive(Debug)]
pub(super) struct ConsoleListPage<T> {
    pub(super) rows: Vec<T>,
    /// Number of rows on all pages.
    pub(super) total: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

/// Returns a page of a list that is sorted newest first. If the row that `wanted` names no
/// longer exists, returns the first page.
pub(super) fn part<T>(
    all: Vec<T>,
    wanted: &ConsoleListQuery,
    id: impl Fn(&T) -> String,
) -> ConsoleListPage<T> {
    let total = all.len();
    let at = all.iter().position(|row| id(row) == wanted.before);
    let from = at.map_or(0, |at| at + 1);
    let rows: Vec<T> = all.into_iter().skip(from).take(MOST).collect();
    let is_more = from + rows.len() < total;
    ConsoleListPage {
        next: rows.last().filter(|_| is_more).map(id),
        rows,
        total,
    }
}

#[cfg(test)]
mod tests {
    use super::{ConsoleListQuery, MOST, part};

    #[test]
    fn parts_join_to_the_whole_list() {
        for length in [0, 1, MOST - 1, MOST, MOST + 1, 2 * MOST, 2 * MOST + 7] {
            let all: Vec<usize> = (0..length).collect();
            let (mut seen, mut wanted) = (Vec::new(), ConsoleListQuery::default());
            loop {
                let part = part(all.clone(), &wanted, usize::to_string);
                assert_eq!(part.total, length);
                assert!(part.rows.len() <= MOST);
                seen.extend(part.rows);
                let Some(before) = part.next else { break };
                wanted = ConsoleListQuery { before };
            }
            assert_eq!(seen, all);
        }
        let gone = ConsoleListQuery {
            before: "gone".to_owned(),
        };
        assert_eq!(part(vec![1, 2], &gone, usize::to_string).rows, [1, 2]);
    }
}
