//! New files that a runner loads in place of a test, or of a file that a test loads.
//!
//! A package `test_shop/` takes precedence over `test_shop.py`, a compiled module over its
//! source, and `helper.js` over `helper/index.js`. Such a file leaves every test unchanged
//! and still decides the result of all.

/// Endings of files that take precedence over a Python source of the same name.
const BEFORE_PYTHON: [&str; 2] = ["so", "pyd"];

/// Endings that Node programs may omit when they load a file.
const SCRIPTS: [&str; 10] = [
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node",
];

/// Returns the file that is not loaded any more once there is a new one at `path`.
pub(super) fn displaced(path: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let beside = |name: String| match folder {
        "" => name,
        folder => format!("{folder}/{name}"),
    };
    let (stem, ending) = name.rsplit_once('.')?;
    let candidates: Vec<String> = if stem == "__init__" && !folder.is_empty() {
        vec![format!("{folder}.py")]
    } else if BEFORE_PYTHON.contains(&ending) {
        // `test_shop.cpython-311-x86_64-linux-gnu.so` is the module `test_shop`.
        let module = stem.split('.').next().unwrap_or(stem);
        vec![beside(format!("{module}.py"))]
    } else if SCRIPTS.contains(&ending) {
        let files = SCRIPTS.iter().filter(|other| **other != ending);
        let files = files.map(|other| beside(format!("{stem}.{other}")));
        let folders = SCRIPTS.map(|other| beside(format!("{stem}/index.{other}")));
        files.chain(folders).collect()
    } else {
        Vec::new()
    };
    candidates.into_iter().find(|file| is_there(file))
}

/// Returns whether the first file of a package contains code. Such code runs before all
/// tests of its folder.
pub(super) fn runs_code(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(new: &str, there: &[&str], expected: Option<&str>) {
        let found = displaced(new, |file| there.contains(&file));
        assert_eq!(found.as_deref(), expected, "{new} beside {there:?}");
    }

    #[test]
    fn packages_compiled_modules_and_scripts_go_before_what_is_there() {
        let test = ["tests/test_e.py"];
        check("tests/test_e/__init__.py", &test, Some(test[0]));
        check("tests/test_e.so", &test, Some(test[0]));
        check(
            "tests/test_e.cpython-311-x86_64-linux-gnu.so",
            &test,
            Some(test[0]),
        );
        check("test_e/__init__.py", &["test_e.py"], Some("test_e.py"));
        let helper = ["tests/helper/index.js"];
        check("tests/helper.js", &helper, Some(helper[0]));
        check(
            "tests/helper.json",
            &["tests/helper.ts"],
            Some("tests/helper.ts"),
        );
    }

    #[test]
    fn what_stands_in_nobodys_way_displaces_nothing() {
        check("tests/test_new.py", &["tests/test_e.py"], None);
        check("tests/sub/__init__.py", &["tests/test_e.py"], None);
        check("tests/shop.test.js", &["tests/shop.js"], None);
        check("__init__.py", &[".py"], None);
        check("tests/data.csv", &["tests/data.py"], None);
    }

    #[test]
    fn an_empty_package_file_runs_nothing() {
        assert!(!runs_code("") && !runs_code("# tests\n\n"));
        assert!(runs_code("import unittest\n"));
    }
}
