//! Identity: which file wins, how includes are followed, and what is ignored.

use std::fs;

use tempfile::TempDir;

use super::*;

/// Makes a home folder with these files, sets `HOME` to it, and returns the e-mail address
/// found. In the values of the `extra` variables, `~` stands for the home folder.
fn email(files: &[(&str, &str)], extra: &[(&str, &str)]) -> Option<String> {
    let home = TempDir::new().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let at_home = |text: &str| text.replace('~', &home.path().display().to_string());
    let variables = extra.iter().map(|(name, text)| (*name, at_home(text)));
    let variables = variables.chain([("HOME", at_home("~"))]);
    global_email(&ProcessEnvironment::of(variables, home.path()))
}

const ADA: &str = "[user]\n\temail = ada@example.org\n";
const BEA: &str = "[user]\n\temail = bea@example.org\n";

#[track_caller]
fn check(files: &[(&str, &str)], extra: &[(&str, &str)], expected: Option<&str>) {
    assert_eq!(email(files, extra).as_deref(), expected);
}

#[test]
fn the_last_global_file_wins() {
    check(&[], &[], None);
    check(&[(".gitconfig", ADA)], &[], Some("ada@example.org"));
    check(&[(".config/git/config", BEA)], &[], Some("bea@example.org"));
    check(
        &[(".config/git/config", BEA), (".gitconfig", ADA)],
        &[],
        Some("ada@example.org"),
    );
    check(
        &[("x/git/config", BEA)],
        &[("XDG_CONFIG_HOME", "~/x")],
        Some("bea@example.org"),
    );
    check(
        &[(".gitconfig", &format!("{ADA}{BEA}"))],
        &[],
        Some("bea@example.org"),
    );
}

#[test]
fn git_config_global_stands_for_all() {
    let files = [(".gitconfig", ADA), ("other", BEA)];
    check(
        &files,
        &[("GIT_CONFIG_GLOBAL", "~/other")],
        Some("bea@example.org"),
    );
    for none in ["", "other", "/dev/null", "~/missing", "~"] {
        check(&files, &[("GIT_CONFIG_GLOBAL", none)], None);
    }
}

#[test]
fn a_repository_is_never_asked() {
    check(&[(".git/config", ADA)], &[], None);
    check(
        &[
            (".gitconfig", "[includeIf \"gitdir:/\"]\npath = more\n"),
            ("more", ADA),
        ],
        &[],
        None,
    );
    check(&[(".gitconfig", "[user \"work\"]\nemail = x\n")], &[], None);
}

#[test]
fn includes_stand_where_they_are_written() {
    let include = "[include]\n\tpath = more\n";
    check(
        &[(".gitconfig", include), ("more", BEA)],
        &[],
        Some("bea@example.org"),
    );
    check(
        &[(".gitconfig", &format!("{include}{ADA}")), ("more", BEA)],
        &[],
        Some("ada@example.org"),
    );
    check(
        &[(".gitconfig", &format!("{ADA}{include}")), ("more", BEA)],
        &[],
        Some("bea@example.org"),
    );
    let by_home = "[include]\npath = ~/a/more\n";
    let beside = "[include]\npath = last\n";
    check(
        &[
            (".config/git/config", by_home),
            ("a/more", beside),
            ("a/last", BEA),
        ],
        &[],
        Some("bea@example.org"),
    );
    check(
        &[(".gitconfig", "[include]\npath = ~bob/x\npath\npath =\n")],
        &[],
        None,
    );
}

#[test]
fn files_that_include_each_other_end() {
    let many = format!("{ADA}[include]\n{}", "path = .gitconfig\n".repeat(1000));
    check(&[(".gitconfig", &many)], &[], Some("ada@example.org"));
}

#[test]
fn unusable_names_are_left_aside() {
    let long = format!("[user]\nemail = {}\n", "x".repeat(300));
    let big = format!("{ADA}{}", "# filler\n".repeat(200_000));
    for text in [
        "[user]\nemail =\n",
        "[user]\nemail = \"a\\nb\"\n",
        &long,
        &big,
        "\0\0\0",
    ] {
        check(&[(".gitconfig", text)], &[], None);
    }
    check(
        &[(".gitconfig", "[user]\nname = \u{fffd}\nemail = x\n")],
        &[],
        Some("x"),
    );
}

#[test]
fn accounts_are_found_by_number() {
    let accounts =
        "root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:1000::/home/ada:/bin/sh\n:x:7:7:::\n";
    assert_eq!(account_name(accounts, 1000).as_deref(), Some("ada"));
    assert_eq!(account_name(accounts, 0).as_deref(), Some("root"));
    assert_eq!(account_name(accounts, 7), None);
    assert_eq!(account_name(accounts, 5), None);
}

#[test]
fn everybody_has_a_name() {
    let nobody = ProcessEnvironment::of([("GIT_CONFIG_GLOBAL", "")], "/");
    assert!(!person(&nobody).is_empty());
}
