//! Rules about paths mean the same to tools and to commands.

use super::*;

/// Returns whether a rule stops this use of a path, for tools and for commands.
fn is_kept(rule: &str, path_use: PathUse, path: &str) -> [bool; 2] {
    let policy = Policy {
        deny: vec![PolicyRule::parse(rule).unwrap()],
        role: "engineer".to_owned(),
        ..Policy::default()
    };
    let target = FileTarget {
        place: TargetTree::Worktree,
        path: path.to_owned(),
    };
    let situation = PolicyContext {
        is_walled: true,
        workspace: Some("/work/tree".into()),
        walls: Some(RunWalls::whole()),
        ..PolicyContext::default()
    };
    let (tools, action, keeps): (&[&str], _, _) = match path_use {
        PathUse::Reading => (
            &["read", "grep", "glob", "list", "of_the_project"],
            PolicyAction::Read(target),
            PathWallKind::Reading,
        ),
        PathUse::Writing => (
            &["write", "edit", "apply_patch", "of_the_project"],
            PolicyAction::Write(target),
            PathWallKind::Writing,
        ),
    };
    let mut tools = tools.iter().map(|tool| {
        let answer = policy.decide(tool, std::slice::from_ref(&action), &situation);
        answer.answer == PolicyAnswer::Deny
    });
    let by_tools = tools.next().unwrap();
    assert!(
        tools.all(|it| it == by_tools),
        "{rule} {path}: tools differ"
    );
    let mut walls = policy.path_walls().into_iter();
    let by_walls = walls.any(|wall| wall.keeps == keeps && wall.covers(path));
    let command = [PolicyAction::Shell("./w.sh".to_owned())];
    let command = policy.decide("bash", &command, &situation);
    let is_asked = path_use == PathUse::Reading && command.answer != PolicyAnswer::Allow;
    [by_tools, by_walls || is_asked]
}

#[test]
fn a_rule_about_paths_means_the_same_to_tools_and_to_commands() {
    use PathUse::{Reading, Writing};
    for (rule, path_use, path, expected) in [
        ("Read(private)", Reading, "private/x", true),
        ("Read(private)", Reading, "private", true),
        ("Read(private)", Reading, "private/a/b", true),
        ("Read(private)", Reading, "privately", false),
        ("Read(private/)", Reading, "private/x", true),
        ("Read(./private/**)", Reading, "private/x", true),
        ("Read(private/**)", Reading, "private", true),
        ("Read(private/*)", Reading, "private/a/b", true),
        ("Read(private/*)", Reading, "private", false),
        ("Read(*.d)", Reading, "conf.d/x", true),
        ("Read(**/x)", Reading, "private/x", true),
        ("Glob(private/**)", Reading, "private/x", true),
        ("Grep(private)", Reading, "private/x", true),
        ("List(private)", Reading, "private/x", true),
        ("Read", Reading, "private/x", true),
        ("Read(*)", Reading, "private/x", true),
        ("Read(**)", Reading, "private/x", true),
        ("Read(private)", Writing, "private/x", false),
        ("Edit(kept)", Writing, "kept/n2", true),
        ("Edit(kept/)", Writing, "kept/n2", true),
        ("Write(kept/**)", Writing, "kept", true),
        ("Write(kept)", Reading, "kept/k", false),
        ("multi_edit(kept)", Writing, "kept/k", true),
        ("Edit(*)", Writing, "kept/k", true),
        ("Edit", Writing, "top2", true),
        ("Write", Writing, "kept/k", true),
        ("Write(**)", Writing, "kept/k", true),
        ("Edit(*)", Reading, "kept/k", false),
    ] {
        let kept = is_kept(rule, path_use, path);
        assert_eq!(kept, [expected; 2], "{rule} {path_use:?} {path}");
    }
}

/// A ban on all reading leaves bans on commands as strict as before.
#[test]
fn a_ban_on_all_reading_allows_no_command() {
    let rules = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| PolicyRule::parse(text).unwrap())
            .collect()
    };
    let situation = PolicyContext {
        is_walled: true,
        workspace: Some("/work/tree".into()),
        walls: Some(RunWalls::whole()),
        ..PolicyContext::default()
    };
    for (deny, command, answer) in [
        (&["Read(*)"][..], "./w.sh", PolicyAnswer::Ask),
        (&["Read"], "echo $HOME", PolicyAnswer::Ask),
        (&["Read(**)"], "make", PolicyAnswer::Ask),
        (&["Read", "Bash"], "echo $HOME", PolicyAnswer::Deny),
        (&["Read", "Bash(rm:*)"], "rm x", PolicyAnswer::Deny),
        (&["Edit"], "make", PolicyAnswer::Allow),
    ] {
        let policy = Policy {
            deny: rules(deny),
            ..Policy::default()
        };
        let decision = policy.decide(
            "bash",
            &[PolicyAction::Shell(command.to_owned())],
            &situation,
        );
        assert_eq!(decision.answer, answer, "{deny:?} {command}: {decision:?}");
    }
}
