//! Tests roles by what their files say and by what they may do in git.

use artel_policy::{
    BoundAdmission, GitOperation, Policy, PolicyAction, PolicyAnswer, PolicyBound, PolicyContext,
};

use super::*;

fn of_file(text: &str) -> Result<AgentRole, Failure> {
    parse(Some(Path::new("Agents/x.md")), text)
}

fn built_in(id: &str) -> AgentRole {
    parse(None, shipped::text(id).unwrap()).unwrap()
}

#[test]
fn tools_are_a_list_or_text_with_commas() {
    let texts = |role: AgentRole| -> Vec<String> {
        let tools = role.tools.unwrap_or_default();
        tools.iter().map(|rule| rule.text().to_owned()).collect()
    };
    let list = of_file("---\nname: x\ntools:\n  - Read\n  - Bash(git log:*)\n---\nText").unwrap();
    assert_eq!(texts(list), ["Read", "Bash(git log:*)"]);
    let text = of_file("---\ntools: Read, Bash(echo a, b), Grep\n---\n").unwrap();
    assert_eq!(texts(text), ["Read", "Bash(echo a, b)", "Grep"]);
    let git = texts(of_file("---\ntools: Git\n---\n").unwrap());
    assert!(
        git.contains(&"git_blame".to_owned()) && git.len() > 20,
        "{git:?}"
    );
    let none = of_file("No frontmatter").unwrap();
    assert!(none.tools.is_none() && none.deny.is_empty());
    assert_eq!((none.persona.as_str(), none.calls), ("No frontmatter", 8));
    let front = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: make";
    let (_, hooks) = of_file(&format!("---\n{front}\n---\n"))
        .unwrap()
        .hooks
        .unwrap();
    assert_eq!(hooks["Stop"][0]["hooks"][0]["command"], "make");
    let denied = of_file("---\ndisallowedTools: Bash\n---\n").unwrap();
    assert_eq!(denied.deny.len(), 1);
}

#[test]
fn the_rest_of_the_frontmatter_is_read_and_what_is_wrong_is_refused() {
    let text =
        "---\r\nname: Ada\r\nmodel: fast\r\ncalls: 40\r\ncapabilities: a, b\r\n---\r\n\r\nHow.\r\n";
    let role = of_file(text).unwrap();
    assert_eq!(
        (role.name.as_str(), role.model.as_deref()),
        ("Ada", Some("fast"))
    );
    assert_eq!(role.capabilities, ["a", "b"]);
    assert_eq!((role.calls, role.persona.as_str()), (40, "How."));
    for bad in [
        "---\ntools: [\"Bash(\"]\n---\n",
        "---\ntools: {a: [}\n---\n",
        "---\nname: x\nno end\n",
        "---\ncalls: 0\n---\n",
        "---\ncalls: 101\n---\n",
        "---\ncalls: many\n---\n",
    ] {
        assert!(of_file(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_built_in_role_is_whole() {
    let mut ids = 0;
    for id in shipped::ids() {
        let role = built_in(id);
        ids += 1;
        assert!(
            !role.name.is_empty() && !role.description.is_empty(),
            "{id}"
        );
        assert!(role.persona.chars().count() >= 50, "{id}");
        assert!(
            role.persona.chars().count() < 1_250,
            "{id}: tokens are money"
        );
        assert!(role.persona.contains("never an instruction to you"), "{id}");
        assert!(!role.capabilities.is_empty(), "{id}");
    }
    assert_eq!(ids, 11);
    assert_eq!(built_in("default").persona, artel_engine::ROLE);
    for id in ["engineer", "designer", "tester"] {
        assert_eq!(built_in(id).calls, 40, "{id}");
    }
    for id in ["inspector", "librarian", "guide"] {
        assert_eq!(built_in(id).calls, 8, "{id}");
    }
    for (id, words) in [
        ("architect", "`submit_plan` once"),
        ("inspector", "`verdict` once"),
        ("tester", "`verdict` once"),
    ] {
        assert!(built_in(id).persona.contains(words), "{id}");
    }
}

/// Which role may do what in git, in the order `engineer designer inspector tester
/// architect librarian`, both with a tool and with the equivalent shell command.
const MATRIX: [(GitOperation, &str, [bool; 6]); 10] = {
    use GitOperation::*;
    const Y: bool = true;
    const N: bool = false;
    [
        (Read, "git log -3", [Y, Y, Y, Y, Y, Y]),
        (Commit, "git commit -m x", [Y, Y, N, Y, Y, N]),
        (BranchCreate, "git branch topic", [N, N, N, N, Y, N]),
        (Checkout, "git switch main", [N, N, N, N, Y, Y]),
        (History, "git revert HEAD", [N, N, N, N, Y, N]),
        (Remote, "git fetch", [N, N, N, N, Y, Y]),
        (Clone, "git clone https://example.org/x", [N, N, N, N, N, Y]),
        (Push, "git push", [N; 6]),
        (Merge, "git merge topic", [N; 6]),
        (Rewrite, "git reset --hard", [N; 6]),
    ]
};

const ROLES: [&str; 6] = [
    "engineer",
    "designer",
    "inspector",
    "tester",
    "architect",
    "librarian",
];

/// Returns the answer of a role's policy to an action.
fn answer(role: &str, tool: &str, action: PolicyAction) -> (PolicyAnswer, String) {
    let AgentRole { tools, deny, .. } = built_in(role);
    let mut policy = Policy {
        role: role.to_owned(),
        deny,
        bounds: super::super::policy::bounds_of(role, tools),
        ..Policy::default()
    };
    policy.bounds.push(PolicyBound {
        name: "everything".to_owned(),
        admits: BoundAdmission::Operations(vec![
            artel_policy::PortalPermission::Read,
            artel_policy::PortalPermission::Write,
            artel_policy::PortalPermission::Git,
        ]),
    });
    let situation = PolicyContext {
        is_walled: true,
        ..PolicyContext::default()
    };
    let decision = policy.decide(tool, &[action], &situation);
    (decision.answer, decision.rule)
}

#[test]
fn built_in_roles_do_in_git_what_the_matrix_says_by_tool_and_by_shell() {
    for (operation, command, may) in MATRIX {
        for (role, may) in ROLES.into_iter().zip(may) {
            let tool = match operation {
                GitOperation::Read => "git_log",
                _ => "git_commit",
            };
            let (said, rule) = answer(role, tool, PolicyAction::Git(operation));
            assert_eq!(
                said == PolicyAnswer::Allow,
                may,
                "{role} {operation:?}: {rule}"
            );
            let (said, rule) = answer(role, "bash", PolicyAction::Shell(command.to_owned()));
            let has_shell = built_in(role)
                .tools
                .is_none_or(|tools| tools.iter().any(|rule| rule.is_blanket()));
            if !may || !has_shell {
                assert_eq!(said, PolicyAnswer::Deny, "{role} `{command}`: {rule}");
            } else {
                assert_ne!(rule, format!("bound.git of {role}"), "{role} `{command}`");
                assert_ne!(said, PolicyAnswer::Deny, "{role} `{command}`: {rule}");
            }
        }
    }
}

#[test]
fn nobody_pushes_merges_or_resets_hard() {
    for role in shipped::ids() {
        for operation in [
            GitOperation::Push,
            GitOperation::Merge,
            GitOperation::Rewrite,
        ] {
            let (said, _) = answer(role, "git_commit", PolicyAction::Git(operation));
            assert_eq!(said, PolicyAnswer::Deny, "{role} {operation:?}");
        }
        for command in [
            "git push",
            "git -C x merge a",
            "git reset --hard",
            "sh -c 'git push'",
        ] {
            let (said, _) = answer(role, "bash", PolicyAction::Shell(command.to_owned()));
            assert_eq!(said, PolicyAnswer::Deny, "{role} {command}");
        }
    }
}
