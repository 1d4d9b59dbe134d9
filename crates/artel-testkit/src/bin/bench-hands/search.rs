//! Searches a large tree: the `grep` and `glob` tools against `rg` and `fd`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::TargetTree;
use artel_tools::{PlaceGuardProvider, ToolContext, file_tools};
use serde_json::json;

use crate::{figure, median, program};

const TIMES: usize = 7;

/// An approver that lets everything pass, because only the search is measured.
struct Open;

impl PlaceGuardProvider for Open {
    fn in_place(&self, _: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(
            |_: &std::path::Path, _: FileAccessKind| -> Result<(), FileAccessRefusal> { Ok(()) },
        )
    }
}

pub(crate) fn measure() {
    // Sources of our own dependencies: tens of thousands of files that exist on every
    // machine that has built this.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let Some(tree) = home
        .map(|home| home.join("registry/src"))
        .filter(|tree| tree.is_dir())
    else {
        println!("no sources of dependencies to search; not measured");
        return;
    };
    let bench = ToolContext::new(RootFolder::open(&tree).unwrap(), Arc::new(Open), "engineer");
    let run = |name: &str, input: serde_json::Value| {
        let tools = file_tools();
        let tool = tools
            .iter()
            .find(|tool| tool.card().name == name)
            .unwrap()
            .clone();
        median(TIMES, || {
            std::hint::black_box(tool.run(&input, &bench).unwrap());
        })
    };
    let grep = run("grep", json!({"pattern": "unsafe impl", "output": "files"}));
    let glob = run("glob", json!({"pattern": "**/*.toml"}));
    compare(
        "grep",
        "rg",
        &["--no-require-git", "-l", "unsafe impl"],
        grep,
        &tree,
    );
    compare(
        "glob",
        "fd",
        &["--no-require-git", "-e", "toml"],
        glob,
        &tree,
    );
}

fn compare(
    name: &str,
    other: &str,
    words: &[&str],
    ours: std::time::Duration,
    tree: &std::path::Path,
) {
    let millis = ours.as_secs_f64() * 1000.0;
    let Some(program) = program(other) else {
        println!("{other} is not installed; no comparison");
        return figure(name, millis, "ms", "-", "<= 1.2");
    };
    let theirs = median(TIMES, || {
        let mut command = Command::new(&program);
        let status = command
            .args(words)
            .current_dir(tree)
            .stdout(Stdio::null())
            .status();
        assert!(status.is_ok());
    });
    let ratio = format!(
        "{:.2} of {other}",
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
    figure(name, millis, "ms", &ratio, "<= 1.2");
}
