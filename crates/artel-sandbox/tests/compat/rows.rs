//! The list of what everyday programs do.

mod builds;
mod languages;
mod tools;

pub(crate) use builds::REPOSITORY;

use crate::both::{ROW, Row};

/// Returns every row of the list.
pub(crate) fn everyday() -> Vec<&'static Row> {
    let tables = [
        builds::ROWS,
        languages::PYTHON,
        languages::NODE,
        languages::JAVA,
        tools::ROWS,
    ];
    tables.into_iter().flatten().collect()
}

/// What a script of a skill is written in must start within its limits.
pub(crate) const SCRIPTS: &[Row] = &[
    Row {
        name: "python3 hello",
        needs: &["python3"],
        script: "python3 -c 'print(\"hello\")'",
        says: "^hello\n$",
        ..ROW
    },
    Row {
        name: "node hello",
        needs: &["node"],
        script: "node -e 'console.log(\"hello\")'",
        says: "^hello\n$",
        ..ROW
    },
    Row {
        name: "bash hello",
        needs: &["bash"],
        script: "bash -c 'echo hello | cat'",
        says: "^hello\n$",
        ..ROW
    },
];
