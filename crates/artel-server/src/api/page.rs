//! Pagination of lists.

use artel_types::{Failure, FailureCode};
use artel_workshop::PagedRows;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Default number of rows in a page.
const USUAL: usize = 50;

/// Largest number of rows in a page.
const MOST: usize = 200;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ApiPageReply<T> {
    /// The rows.
    rows: Vec<T>,
    /// To continue, pass this as `before`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl<T> From<PagedRows<T>> for ApiPageReply<T> {
    fn from(page: PagedRows<T>) -> Self {
        Self {
            rows: page.rows,
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// Maximum number of rows in a page, from 1 to 200.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApiPageLimit(pub(super) usize);

impl Default for ApiPageLimit {
    fn default() -> Self {
        Self(USUAL)
    }
}

impl<'de> Deserialize<'de> for ApiPageLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("`limit` is a number from 1 to 200");
        let number: usize = text.parse().map_err(|_| wrong())?;
        match number {
            1..=MOST => Ok(Self(number)),
            _ => Err(wrong()),
        }
    }
}

/// Query parameters of a list that has no filters.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiPageQuery {
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    pub(super) limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    pub(super) before: Option<String>,
}

/// Returns the page of `all` that begins after the row whose id is `before`.
pub(super) fn page<T>(
    all: Vec<T>,
    (limit, before): (ApiPageLimit, Option<&str>),
    id: impl Fn(&T) -> String,
) -> Result<ApiPageReply<T>, Failure> {
    let from = match before {
        None => 0,
        Some(before) => {
            let at = all.iter().position(|row| id(row) == before);
            let Some(at) = at else {
                let shown: String = before.chars().take(80).collect();
                return Err(Failure::new(
                    FailureCode::C004,
                    format!("the list has no row `{shown}`"),
                )
                .advise("`before` is the `next` of the page that came last"));
            };
            at + 1
        }
    };
    let is_more = all.len().saturating_sub(from) > limit.0;
    let rows: Vec<T> = all.into_iter().skip(from).take(limit.0).collect();
    let next = rows.last().filter(|_| is_more).map(id);
    Ok(ApiPageReply { rows, next })
}

impl<T> ApiPageReply<T> {
    /// Converts the rows of the page.
    pub(super) fn each<U>(
        self,
        make: impl FnMut(T) -> Result<U, Failure>,
    ) -> Result<ApiPageReply<U>, Failure> {
        let rows: Result<Vec<U>, Failure> = self.rows.into_iter().map(make).collect();
        Ok(ApiPageReply {
            rows: rows?,
            next: self.next,
        })
    }
}

/// Returns whether any of the texts contains `wanted`, ignoring case; true if `wanted` is
/// `None`.
pub(super) fn holds(wanted: Option<&str>, texts: &[&str]) -> bool {
    let Some(wanted) = wanted.map(str::to_lowercase) else {
        return true;
    };
    texts
        .iter()
        .any(|text| text.to_lowercase().contains(&wanted))
}

#[cfg(test)]
mod tests {
    use super::{ApiPageLimit, page};

    #[test]
    fn pages_join_to_the_whole_list() {
        for size in 1..=7 {
            let mut seen = Vec::new();
            let mut before: Option<String> = None;
            loop {
                let cut = (ApiPageLimit(size), before.as_deref());
                let found = page((0..10).collect(), cut, |it: &i32| it.to_string()).unwrap();
                seen.extend(found.rows);
                before = found.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(seen, (0..10).collect::<Vec<_>>(), "{size}");
        }
    }

    #[test]
    fn limits_are_bounded() {
        for (text, is_fine) in [
            ("1", true),
            ("200", true),
            ("0", false),
            ("201", false),
            ("-1", false),
            ("x", false),
            ("99999999999999999999", false),
        ] {
            let read = serde_json::from_value::<ApiPageLimit>(serde_json::json!(text));
            assert_eq!(read.is_ok(), is_fine, "{text}");
        }
    }
}
