//! The layers of the policy, checked by their answers.

use proptest::prelude::*;

use super::*;
use crate::{GitOperation, rules::PolicyRule};

fn rule(text: &str) -> PolicyRule {
    PolicyRule::parse(text).unwrap()
}

fn file(path: &str) -> FileTarget {
    FileTarget {
        place: TargetTree::Worktree,
        path: path.to_owned(),
    }
}

fn in_portal(name: &str, path: &str) -> FileTarget {
    FileTarget {
        place: TargetTree::Portal(name.to_owned()),
        path: path.to_owned(),
    }
}

fn walled() -> PolicyContext {
    PolicyContext {
        is_walled: true,
        workspace: Some("/work/tree".into()),
        ..PolicyContext::default()
    }
}

fn engineer() -> Policy {
    Policy {
        role: "engineer".to_owned(),
        portal: Some("shop".to_owned()),
        ..Policy::default()
    }
}

fn grant(text: &str) -> Grant {
    Grant {
        rule: rule(text),
        scope: GrantScope::Run,
        reason: String::new(),
    }
}

/// Asks about one action and returns the answer and the rule.
fn asked(
    policy: &Policy,
    tool: &str,
    action: PolicyAction,
    situation: &PolicyContext,
) -> (PolicyAnswer, String) {
    let decision = policy.decide(tool, &[action], situation);
    (decision.answer, decision.rule)
}

#[test]
fn shipped_grants_are_what_they_say() {
    use PolicyAnswer::{Allow, Ask, Deny};
    let policy = engineer();
    let shell = |text: &str| PolicyAction::Shell(text.to_owned());
    let cases: Vec<(&str, PolicyAction, PolicyAnswer)> = vec![
        ("read", PolicyAction::Read(file("src/main.rs")), Allow),
        (
            "read",
            PolicyAction::Read(in_portal("shop", "src/main.rs")),
            Allow,
        ),
        (
            "read",
            PolicyAction::Read(in_portal("other", "src/main.rs")),
            Ask,
        ),
        ("read", PolicyAction::Read(file(".env")), Ask),
        (
            "read",
            PolicyAction::Read(in_portal("shop", "deploy/.env")),
            Ask,
        ),
        ("write", PolicyAction::Write(file("src/new.rs")), Allow),
        ("edit", PolicyAction::Write(file("src/main.rs")), Allow),
        (
            "write",
            PolicyAction::Write(in_portal("shop", "src/main.rs")),
            Deny,
        ),
        (
            "write",
            PolicyAction::Write(file(".git/hooks/pre-commit")),
            Deny,
        ),
        ("write", PolicyAction::Write(file("sub/.GIT/config")), Deny),
        (
            "write",
            PolicyAction::Write(file(".artel/journal.db")),
            Deny,
        ),
        (
            "write",
            PolicyAction::Write(file("Policy/grants.toml")),
            Deny,
        ),
        ("write", PolicyAction::Write(file("artel.toml")), Deny),
        (
            "apply_patch",
            PolicyAction::Delete(file("src/old.rs")),
            Allow,
        ),
        ("bash", shell("cargo test --workspace"), Allow),
        ("bash", shell("ls -la && git status"), Allow),
        ("bash", shell("echo $(id)"), Ask),
        ("bash", shell("git push origin main"), Deny),
        ("bash", shell("true; git  push"), Deny),
        ("bash", shell("sh -c 'git merge x'"), Deny),
        ("bash", shell("git -C . reset --hard HEAD~1"), Deny),
        ("bash", shell("git reset --har"), Deny),
        ("bash", shell("git commit --amend -m x"), Deny),
        ("bash", shell("git rebase -i main"), Deny),
        ("bash", shell("artel policy grant 'Bash(*)'"), Deny),
        ("bash", shell("/usr/bin/artel workshop trust ."), Deny),
        ("fetch", PolicyAction::Network("docs.rs".to_owned()), Ask),
        ("create_pr", PolicyAction::Secret("github".to_owned()), Ask),
        ("todo", PolicyAction::Nothing, Allow),
    ];
    for (tool, action, expected) in cases {
        let shown = format!("{tool} {action:?}");
        let (answer, rule) = asked(&policy, tool, action, &walled());
        assert_eq!(answer, expected, "{shown}: {rule}");
    }
}

#[test]
fn commands_ask_without_walls_with_network_with_secrets_or_by_setting() {
    let command = || PolicyAction::Shell("cargo test".to_owned());
    let open = [
        PolicyContext {
            is_walled: false,
            ..walled()
        },
        PolicyContext {
            has_network: true,
            ..walled()
        },
        PolicyContext {
            has_secrets: true,
            ..walled()
        },
    ];
    for situation in open {
        let (answer, _) = asked(&engineer(), "bash", command(), &situation);
        assert_eq!(answer, PolicyAnswer::Ask, "{situation:?}");
    }
    let careful = Policy {
        commands: CommandApproval::Ask,
        ..engineer()
    };
    assert_eq!(
        asked(&careful, "bash", command(), &walled()).0,
        PolicyAnswer::Ask
    );
    let granted = Policy {
        grants: vec![grant("Bash(cargo test:*)")],
        ..careful
    };
    assert_eq!(
        asked(&granted, "bash", command(), &walled()),
        (PolicyAnswer::Allow, "Bash(cargo test:*)".to_owned())
    );
}

/// A command line with network access needs two grants: the host and the line itself.
#[test]
fn a_command_that_reaches_a_host_is_granted_with_it() {
    let actions = [
        PolicyAction::Shell("curl https://docs.rs/x".to_owned()),
        PolicyAction::Network("docs.rs".to_owned()),
    ];
    let answer = |grants: &[&str]| {
        let policy = Policy {
            grants: grants.iter().map(|rule| grant(rule)).collect(),
            ..engineer()
        };
        policy.decide("bash", &actions, &walled()).answer
    };
    assert_eq!(answer(&[]), PolicyAnswer::Ask);
    assert_eq!(answer(&["Fetch(docs.rs)"]), PolicyAnswer::Ask);
    assert_eq!(answer(&["Bash(curl:*)"]), PolicyAnswer::Ask);
    assert_eq!(
        answer(&["Bash(curl:*)", "Fetch(other.rs)"]),
        PolicyAnswer::Ask
    );
    assert_eq!(
        answer(&["Bash(curl:*)", "Fetch(docs.rs)"]),
        PolicyAnswer::Allow
    );
}

#[test]
fn deny_beats_ask_beats_grant_beats_shipped() {
    let action = || PolicyAction::Read(file("private/a.txt"));
    let base = engineer();
    let granted = Policy {
        grants: vec![grant("Read(private/**)")],
        ..base
    };
    assert_eq!(
        asked(&granted, "read", action(), &walled()).1,
        "Read(private/**)"
    );
    let asks = Policy {
        ask: vec![rule("Read(private/**)")],
        ..granted
    };
    assert_eq!(
        asked(&asks, "read", action(), &walled()).0,
        PolicyAnswer::Ask
    );
    let denies = Policy {
        deny: vec![rule("Read(private/*)")],
        ..asks
    };
    for tool in ["read", "grep", "glob", "list"] {
        assert_eq!(
            asked(&denies, tool, action(), &walled()).0,
            PolicyAnswer::Deny,
            "{tool}"
        );
    }
    let edits = Policy {
        deny: vec![rule("Edit(private/**)")],
        ..engineer()
    };
    for tool in ["write", "edit", "multi_edit", "apply_patch", "batch_write"] {
        let action = PolicyAction::Write(file("private/a.txt"));
        assert_eq!(
            asked(&edits, tool, action, &walled()).0,
            PolicyAnswer::Deny,
            "{tool}"
        );
    }
}

#[test]
fn a_grant_of_a_sensitive_file_is_by_name_only() {
    let action = || PolicyAction::Read(file(".env"));
    let bare = Policy {
        grants: vec![grant("Read")],
        ..engineer()
    };
    assert_eq!(
        asked(&bare, "read", action(), &walled()).0,
        PolicyAnswer::Ask
    );
    let named = Policy {
        grants: vec![grant("Read(.env)")],
        ..engineer()
    };
    assert_eq!(
        asked(&named, "read", action(), &walled()).0,
        PolicyAnswer::Allow
    );
}

#[test]
fn what_a_bound_does_not_admit_is_denied_whatever_is_granted() {
    let bound = |rules: &[&str]| PolicyBound {
        name: "skill csv-report".to_owned(),
        admits: BoundAdmission::Rules(rules.iter().map(|text| rule(text)).collect()),
    };
    let policy = Policy {
        bounds: vec![bound(&["Read", "Bash(wc:*)", "Edit(out/**)"])],
        grants: vec![grant("Bash(rm:*)"), grant("Fetch(docs.rs)")],
        ..engineer()
    };
    let shell = |text: &str| PolicyAction::Shell(text.to_owned());
    let cases = [
        (
            "read",
            PolicyAction::Read(file("a.csv")),
            PolicyAnswer::Allow,
        ),
        ("bash", shell("wc -l a.csv"), PolicyAnswer::Allow),
        ("bash", shell("rm a.csv"), PolicyAnswer::Deny),
        ("bash", shell("wc -l a.csv; rm a.csv"), PolicyAnswer::Deny),
        (
            "write",
            PolicyAction::Write(file("out/a.md")),
            PolicyAnswer::Allow,
        ),
        (
            "write",
            PolicyAction::Write(file("src/a.md")),
            PolicyAnswer::Deny,
        ),
        (
            "fetch",
            PolicyAction::Network("docs.rs".to_owned()),
            PolicyAnswer::Deny,
        ),
        ("finish", PolicyAction::Nothing, PolicyAnswer::Allow),
    ];
    for (tool, action, expected) in cases {
        let shown = format!("{action:?}");
        assert_eq!(
            asked(&policy, tool, action, &walled()).0,
            expected,
            "{shown}"
        );
    }
    let reads = Policy {
        bounds: vec![PolicyBound {
            name: "portal shop".to_owned(),
            admits: BoundAdmission::Operations(vec![PortalPermission::Read]),
        }],
        ..engineer()
    };
    assert_eq!(
        asked(&reads, "read", PolicyAction::Read(file("a")), &walled()).0,
        PolicyAnswer::Allow
    );
    assert_eq!(
        asked(&reads, "write", PolicyAction::Write(file("a")), &walled()).0,
        PolicyAnswer::Deny
    );
    assert_eq!(
        asked(&reads, "bash", shell("ls"), &walled()).0,
        PolicyAnswer::Deny
    );
    let commit = PolicyAction::Git(GitOperation::Commit);
    assert_eq!(
        asked(&reads, "git_commit", commit, &walled()).0,
        PolicyAnswer::Deny
    );
}

/// The matrix of roles and operations as the specification has it.
#[test]
fn the_git_matrix_is_exact() {
    use GitOperation::*;
    let roles = [
        "engineer",
        "designer",
        "inspector",
        "tester",
        "architect",
        "librarian",
    ];
    let table = [
        (Read, [true, true, true, true, true, true]),
        (Commit, [true, true, false, true, true, false]),
        (BranchCreate, [false, false, false, false, true, false]),
        (Checkout, [false, false, false, false, true, true]),
        (History, [false, false, false, false, true, false]),
        (Remote, [false, false, false, false, true, true]),
        (Clone, [false, false, false, false, false, true]),
        (Push, [false; 6]),
        (Merge, [false; 6]),
        (Rewrite, [false; 6]),
    ];
    for (operation, allowed) in table {
        for (role, expected) in roles.iter().zip(allowed) {
            let policy = Policy {
                role: (*role).to_owned(),
                ..Policy::default()
            };
            let (answer, _) = asked(&policy, "git_x", PolicyAction::Git(operation), &walled());
            assert_eq!(
                answer == PolicyAnswer::Allow,
                expected,
                "{role} {operation:?}"
            );
            assert_ne!(answer, PolicyAnswer::Ask, "{role} {operation:?}");
        }
    }
}

/// The same matrix holds for `git` in the shell, if the role is bound by it.
#[test]
fn the_git_matrix_holds_in_the_shell() {
    let may = |role: &str, text: &str| {
        let policy = Policy {
            role: role.to_owned(),
            bounds: vec![PolicyBound {
                name: "git".to_owned(),
                admits: BoundAdmission::GitOf(role.to_owned()),
            }],
            ..Policy::default()
        };
        let shell = PolicyAction::Shell(text.to_owned());
        let (answer, rule) = asked(&policy, "bash", shell, &walled());
        assert!(
            rule != "bound.git" || answer == PolicyAnswer::Deny,
            "{text}"
        );
        !(rule == "bound.git" || rule.starts_with("never."))
    };
    // Columns: engineer, inspector, architect, librarian.
    let table = [
        ("git status --short", [true; 4]),
        ("git -C sub log -3 --stat", [true; 4]),
        ("git branch -a", [true; 4]),
        ("git branch --list 'feat/*'", [true; 4]),
        ("git branch --merged main", [true; 4]),
        ("git tag", [true; 4]),
        ("git stash list", [true; 4]),
        ("git remote -v", [true; 4]),
        ("ls && git diff", [true; 4]),
        ("gitk", [true; 4]),
        ("git add a && git commit -m x", [true, false, true, false]),
        ("git stash push -- list", [true, false, true, false]),
        ("/usr/bin/git commit -m x", [true, false, true, false]),
        ("bash -c 'git commit -m x'", [true, false, true, false]),
        ("git branch topic", [false, false, true, false]),
        ("git branch -D topic", [false, false, true, false]),
        ("git checkout -b topic", [false, false, true, false]),
        ("git switch --create topic", [false, false, true, false]),
        ("git worktree add ../x", [false, false, true, false]),
        ("git tag v1", [false, false, true, false]),
        ("git checkout main", [false, false, true, true]),
        ("git switch main", [false, false, true, true]),
        ("git revert HEAD", [false, false, true, false]),
        ("git cherry-pick abc", [false, false, true, false]),
        ("git reset --soft HEAD~1", [false, false, true, false]),
        ("git fetch", [false, false, true, true]),
        ("git pull", [false, false, true, true]),
        (
            "git clone https://example.org/x",
            [false, false, false, true],
        ),
        ("git reset --hard", [false; 4]),
        ("git push", [false; 4]),
        ("git merge topic", [false; 4]),
        ("git frobnicate", [false; 4]),
    ];
    for (text, expected) in table {
        let roles = ["engineer", "inspector", "architect", "librarian"];
        for (role, expected) in roles.into_iter().zip(expected) {
            assert_eq!(may(role, text), expected, "{role}: {text}");
        }
    }
}

#[test]
fn secrets_are_for_some_roles_and_the_first_use_asks() {
    let secret = || PolicyAction::Secret("github".to_owned());
    let with = |role: &str, grants: Vec<Grant>| Policy {
        role: role.to_owned(),
        grants,
        ..Policy::default()
    };
    assert_eq!(
        asked(
            &with("tester", vec![grant("Secret(github)")]),
            "x",
            secret(),
            &walled()
        )
        .0,
        PolicyAnswer::Deny
    );
    assert_eq!(
        asked(&with("engineer", vec![]), "x", secret(), &walled()).0,
        PolicyAnswer::Ask
    );
    assert_eq!(
        asked(
            &with("engineer", vec![grant("Secret(github)")]),
            "x",
            secret(),
            &walled()
        )
        .0,
        PolicyAnswer::Allow
    );
    assert_eq!(
        asked(
            &with("engineer", vec![grant("Secret(aws)")]),
            "x",
            secret(),
            &walled()
        )
        .0,
        PolicyAnswer::Ask
    );
}

/// A custom role may use the secrets in its own file, and the denial says how to get more.
#[test]
fn the_file_of_a_role_says_which_secrets_it_may_use() {
    let policy = |role: &str, named: Option<&[&str]>| Policy {
        role: role.to_owned(),
        role_secrets: named.map(|names| names.iter().map(|it| (*it).to_owned()).collect()),
        grants: vec![grant("Secret(github)")],
        ..Policy::default()
    };
    let github = || PolicyAction::Secret("github".to_owned());
    for (role, named, expected) in [
        ("deployer", None, PolicyAnswer::Deny),
        ("deployer", Some(&["github"][..]), PolicyAnswer::Allow),
        ("deployer", Some(&["bank"]), PolicyAnswer::Deny),
        ("engineer", None, PolicyAnswer::Allow),
        ("engineer", Some(&["bank"]), PolicyAnswer::Deny),
        ("tester", Some(&["github"]), PolicyAnswer::Allow),
    ] {
        let decision = policy(role, named).decide("x", &[github()], &walled());
        assert_eq!(decision.answer, expected, "{role} {named:?}");
        if expected == PolicyAnswer::Deny {
            let way = format!("in `secrets:` of `Agents/{role}.md`");
            assert!(decision.reason.contains(&way), "{}", decision.reason);
        }
    }
}

/// A step lists its secrets and declared tools; a listed tool brings the hosts it
/// declares.
#[test]
fn a_step_uses_the_secrets_and_declared_tools_that_it_lists() {
    let words = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
    let step = |tools: &[&str], secrets: &[&str]| Policy {
        bounds: vec![PolicyBound {
            name: "step deploy".to_owned(),
            admits: BoundAdmission::Step(StepBound {
                tools: words(tools),
                declared: words(&["deploy", "lint"]),
                secrets: words(secrets),
                ..StepBound::default()
            }),
        }],
        grants: vec![
            grant("Secret(github)"),
            grant("deploy"),
            grant("Fetch(api.github.com)"),
        ],
        ..engineer()
    };
    let deploy = || {
        vec![
            PolicyAction::Words(words(&["deploy", "now"])),
            PolicyAction::Network("api.github.com".to_owned()),
            PolicyAction::Secret("github".to_owned()),
        ]
    };
    let secret = || vec![PolicyAction::Secret("github".to_owned())];
    let fetch = || vec![PolicyAction::Network("api.github.com".to_owned())];
    for (tools, secrets, tool, actions, expected) in [
        (&[][..], &[][..], "deploy", deploy(), PolicyAnswer::Deny),
        (&["deploy"], &[], "deploy", deploy(), PolicyAnswer::Deny),
        (&[], &["github"], "deploy", deploy(), PolicyAnswer::Deny),
        (
            &["lint"],
            &["github"],
            "deploy",
            deploy(),
            PolicyAnswer::Deny,
        ),
        (
            &["deploy"],
            &["bank"],
            "deploy",
            deploy(),
            PolicyAnswer::Deny,
        ),
        (
            &["deploy"],
            &["github"],
            "deploy",
            deploy(),
            PolicyAnswer::Allow,
        ),
        (&[], &[], "bash", secret(), PolicyAnswer::Deny),
        (&[], &["github"], "bash", secret(), PolicyAnswer::Allow),
        (
            &["deploy"],
            &["github"],
            "fetch",
            fetch(),
            PolicyAnswer::Deny,
        ),
    ] {
        let decision = step(tools, secrets).decide(tool, &actions, &walled());
        assert_eq!(decision.answer, expected, "{tools:?} {secrets:?} {tool}");
        if expected == PolicyAnswer::Deny {
            assert_eq!(decision.rule, "bound.step deploy");
        }
    }
}

#[test]
fn strangers_words_a_secret_and_a_way_out_ask_together() {
    let policy = Policy {
        grants: vec![grant("Secret(github)"), grant("Fetch(api.github.com)")],
        ..engineer()
    };
    let actions = [
        PolicyAction::Secret("github".to_owned()),
        PolicyAction::Network("api.github.com".to_owned()),
    ];
    assert_eq!(
        policy.decide("x", &actions, &walled()).answer,
        PolicyAnswer::Allow
    );
    let foreign = [
        ForeignSource::host("docs.rs"),
        ForeignSource::skill("helper"),
        ForeignSource::file("@Other/notes.md"),
    ];
    let stained = PolicyContext {
        foreign: foreign.to_vec(),
        ..walled()
    };
    let decision = policy.decide("x", &actions, &stained);
    assert_eq!(decision.rule, "ask.untrusted-network-secret");
    assert_eq!(
        decision.reason,
        "this run has read untrusted content (content from `docs.rs`, the skill `helper`, the file \
         `@Other/notes.md`), and this call could send the secret `github` to `api.github.com`"
    );
    for alone in [&actions[..1], &actions[1..]] {
        assert_eq!(
            policy.decide("x", alone, &stained).answer,
            PolicyAnswer::Allow
        );
    }
    let holding = PolicyContext {
        held_secrets: vec!["github".to_owned()],
        ..stained
    };
    let decision = policy.decide("x", &actions[1..], &holding);
    assert_eq!(decision.rule, "ask.untrusted-network-secret");
    assert!(
        decision
            .reason
            .contains("`github` (given to an earlier command)"),
        "{}",
        decision.reason
    );
    let unread = PolicyContext {
        foreign: Vec::new(),
        ..holding
    };
    assert_eq!(
        policy.decide("x", &actions, &unread).answer,
        PolicyAnswer::Allow
    );
}

#[test]
fn broad_rules_are_not_offered_for_good() {
    for broad in [
        "Bash",
        "Bash(*)",
        "Bash(git:*)",
        "Bash(python3:*)",
        "Bash(bash:*)",
        "Bash(npm run:*)",
        "Bash(sudo:*)",
        "Bash(env:*)",
        "Bash(/usr/bin/python3:*)",
        "Bash(rm:*)",
        "Bash(node -e:*)",
    ] {
        assert!(too_broad(&rule(broad)).is_some(), "{broad}");
    }
    for narrow in [
        "Bash(git status:*)",
        "Bash(npm run build)",
        "Bash(python3 -m pytest:*)",
        "Bash(cargo test:*)",
        "Edit(src/**)",
        "Read",
        "Bash(git push)",
    ] {
        assert!(too_broad(&rule(narrow)).is_none(), "{narrow}");
    }
}

#[test]
fn the_file_of_grants_reads_back_and_one_broken_rule_breaks_all() {
    let file = GrantFile {
        grants: vec![grants::GrantEntry {
            rule: "Bash(npm run build)".to_owned(),
            reason: "our \"own\" build\nin two lines \\ \u{7f}".to_owned(),
            by: "me".to_owned(),
            at: "2026-11-15T12:00:00Z".to_owned(),
        }],
    };
    let text = file.to_text();
    let (read, grants) = GrantFile::parse(&text).unwrap();
    assert_eq!((read, grants.len()), (file, 1));
    let broken =
        format!("{text}\n[[grant]]\nrule = \"Bash(\"\nreason = \"\"\nby = \"\"\nat = \"\"\n");
    assert!(GrantFile::parse(&broken).is_err());
    let unknown = format!("{text}\nwiden = true\n");
    let error = GrantFile::parse(&unknown).unwrap_err().to_string();
    assert!(error.contains("line"), "{error}");
}

proptest! {
    /// Every text gets an answer, and a grant never overturns a denial.
    #[test]
    fn a_grant_never_lifts_a_denial(text in "(git |push|merge|artel|;|&&|\\$\\(|\\)| |reset --hard|ls){0,8}") {
        let action = [PolicyAction::Shell(text)];
        let plain = engineer().decide("bash", &action, &walled());
        let wide = Policy {
            grants: vec![grant("Bash"), grant("Bash(git push:*)")],
            ..engineer()
        };
        let granted = wide.decide("bash", &action, &walled());
        if plain.answer == PolicyAnswer::Deny {
            prop_assert_eq!(granted.answer, PolicyAnswer::Deny);
        }
        prop_assert!(granted.answer <= plain.answer);
    }
}
