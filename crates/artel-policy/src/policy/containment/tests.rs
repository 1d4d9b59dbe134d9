//! Decisions of the walls, together with the layers that come before them.

use super::*;
use crate::{
    DecidedBy, Grant, GrantScope, PolicyAction, PortalPermission, StepBound, StepWriteAccess,
};

const EVERYDAY: [&str; 16] = [
    "sed -i s/a/b/ calc/stats.py",
    "cat <<EOF > g.txt\n$HOME\nEOF",
    "python3 - <<'EOF'\nprint(1)\nEOF",
    "pytest -q; echo $?",
    "ls *.py",
    "FOO=1 python3 -m unittest",
    "echo hi > /tmp/x",
    "cd calc && python3 -c 'import stats'",
    "x=$(git rev-parse HEAD); echo $x",
    "node -e 'console.log(1)'",
    "for f in *.py; do wc -l $f; done",
    "if [ -f a ]; then cat a; fi",
    "export A=1",
    "echo $HOME",
    "python3 -c \"print(1)\"",
    "cat a.txt b.txt | sort > c.txt",
];

fn rule(text: &str) -> PolicyRule {
    PolicyRule::parse(text).unwrap()
}

fn rules(texts: &[&str]) -> Vec<PolicyRule> {
    texts.iter().map(|text| rule(text)).collect()
}

fn engineer() -> Policy {
    Policy {
        role: "engineer".to_owned(),
        ..Policy::default()
    }
}

fn bounded(name: &str, admits: BoundAdmission) -> Policy {
    Policy {
        bounds: vec![PolicyBound {
            name: name.to_owned(),
            admits,
        }],
        ..engineer()
    }
}

fn inside() -> PolicyContext {
    PolicyContext {
        is_walled: true,
        workspace: Some("/work/tree".into()),
        walls: Some(RunWalls::whole()),
        ..PolicyContext::default()
    }
}

fn outside() -> PolicyContext {
    PolicyContext {
        walls: None,
        ..inside()
    }
}

fn decide(policy: &Policy, command: &str, situation: &PolicyContext) -> PolicyRuling {
    policy.decide(
        "bash",
        &[PolicyAction::Shell(command.to_owned())],
        situation,
    )
}

fn is_contained(policy: &Policy, situation: &PolicyContext) -> bool {
    decide(policy, "echo $HOME", situation).decided_by == DecidedBy::Contained
}

#[test]
fn everyday_commands_run_inside_the_walls() {
    for command in EVERYDAY {
        let decision = decide(&engineer(), command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Allow,
            "{command}: {decision:?}"
        );
        let by_rule = decide(&engineer(), command, &outside());
        let decided_by = match by_rule.answer {
            PolicyAnswer::Allow => DecidedBy::Rule,
            _ => DecidedBy::Contained,
        };
        assert_eq!(decision.decided_by, decided_by, "{command}: {decision:?}");
    }
}

fn step(commands: &[&str], changes: StepWriteAccess) -> Policy {
    let bound = StepBound {
        commands: rules(commands),
        changes,
        ..StepBound::default()
    };
    bounded("step a", BoundAdmission::Step(bound))
}

fn listed(name: &str, texts: &[&str]) -> Policy {
    bounded(name, BoundAdmission::Rules(rules(texts)))
}

fn portal(operations: &[PortalPermission]) -> Policy {
    bounded("portal p", BoundAdmission::Operations(operations.to_vec()))
}

fn every_bound() -> Vec<(&'static str, Policy)> {
    use PortalPermission::{Git, Read, Write};
    let list = ["Bash(ls:*)", "Bash(echo:*)"];
    let git = BoundAdmission::GitOf("inspector".to_owned());
    let asks = Policy {
        ask: rules(&["Bash(ls:*)"]),
        ..engineer()
    };
    let denies = |text: &str| Policy {
        deny: rules(&[text]),
        ..engineer()
    };
    vec![
        ("no bound", engineer()),
        ("role with Bash", listed("role a", &["Read", "Bash"])),
        ("role without Bash", listed("role b", &["Read"])),
        ("skill with a list", listed("skill s", &list)),
        ("step without a list", step(&[], StepWriteAccess::Some)),
        ("step with a list", step(&list, StepWriteAccess::Some)),
        ("judge of a step", step(&[], StepWriteAccess::None)),
        ("portal, read only", portal(&[Read])),
        ("portal, all", portal(&[Read, Write, Git])),
        ("git of inspector", bounded("git of inspector", git)),
        ("person asks about ls", asks),
        ("person denies git commit", denies("Bash(git commit:*)")),
        ("person denies Bash", denies("Bash")),
    ]
}

/// Every bound with walls that decide and walls that do not, for commands that rules
/// allow, ask about and deny.
#[test]
fn bounds_come_before_walls() {
    let commands = [
        "ls -l",
        "ls *.py",
        "echo $x",
        "$x",
        "git commit -m x",
        "git push",
        "cat .env",
    ];
    let mut table = format!("{:<26}{:<11}", "", "");
    for command in commands {
        table.push_str(&format!("{command:<17}"));
    }
    for (name, policy) in &every_bound() {
        for (walls, situation) in [("walls", inside()), ("no walls", outside())] {
            table.push_str(&format!("\n{name:<26}{walls:<11}"));
            for command in commands {
                let decision = decide(policy, command, &situation);
                let word = match (decision.answer, decision.decided_by) {
                    (_, DecidedBy::Contained) => "contained",
                    (PolicyAnswer::Allow, DecidedBy::Rule) => "allow",
                    (PolicyAnswer::Ask, DecidedBy::Rule) => "ask",
                    (PolicyAnswer::Deny, DecidedBy::Rule) => "deny",
                };
                table.push_str(&format!("{word:<17}"));
            }
        }
    }
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn each_condition_ends_it() {
    assert!(is_contained(&engineer(), &inside()));
    let walls = |change: fn(&mut RunWalls)| {
        let mut walls = RunWalls::whole();
        change(&mut walls);
        PolicyContext {
            walls: Some(walls),
            ..inside()
        }
    };
    let situations = [
        (UncontainedReason::Never, outside()),
        (
            UncontainedReason::Level,
            walls(|it| it.sandbox = SandboxWalls::Lower),
        ),
        (
            UncontainedReason::Files,
            walls(|it| it.files = WorkFileOwner::Person),
        ),
        (
            UncontainedReason::Network,
            walls(|it| it.openings.extend([SandboxOpening::Network])),
        ),
        (
            UncontainedReason::Secret,
            walls(|it| it.openings.extend([SandboxOpening::Secret])),
        ),
        (
            UncontainedReason::Connection,
            walls(|it| it.connection = BackgroundConnection::Held),
        ),
        (
            UncontainedReason::Network,
            PolicyContext {
                has_network: true,
                ..inside()
            },
        ),
        (
            UncontainedReason::Secret,
            PolicyContext {
                has_secrets: true,
                ..inside()
            },
        ),
        (
            UncontainedReason::Secret,
            PolicyContext {
                held_secrets: vec!["github".to_owned()],
                ..inside()
            },
        ),
    ];
    for (why, situation) in situations {
        assert_eq!(engineer().uncontained(&situation), Some(why));
        assert!(!is_contained(&engineer(), &situation), "{why}");
    }
}

#[test]
fn settings_and_grants_end_it() {
    let grant = Grant {
        rule: rule("Fetch(docs.rs)"),
        scope: GrantScope::Run,
        reason: String::new(),
    };
    let policies = [
        (
            UncontainedReason::Setting,
            Policy {
                contained: ContainmentMode::Off,
                ..engineer()
            },
        ),
        (
            UncontainedReason::Questions,
            Policy {
                commands: CommandApproval::Ask,
                ..engineer()
            },
        ),
        (
            UncontainedReason::Network,
            Policy {
                grants: vec![grant.clone()],
                ..engineer()
            },
        ),
    ];
    for (why, policy) in policies {
        assert_eq!(policy.uncontained(&inside()), Some(why));
        assert!(!is_contained(&policy, &inside()), "{why}");
    }
    // A bound that admits no host cancels the grant.
    let step = Policy {
        grants: vec![grant],
        ..bounded("step a", BoundAdmission::Step(StepBound::default()))
    };
    assert!(is_contained(&step, &inside()));
}

/// A call that itself opens the walls is no longer contained.
#[test]
fn a_command_with_a_host_or_a_secret_is_judged_by_rules() {
    for opens in [
        PolicyAction::Network("docs.rs".to_owned()),
        PolicyAction::Secret("github".to_owned()),
    ] {
        let policy = Policy {
            grants: ["Fetch(docs.rs)", "Secret(github)"]
                .map(|text| Grant {
                    rule: rule(text),
                    scope: GrantScope::Once,
                    reason: String::new(),
                })
                .into(),
            ..engineer()
        };
        let actions = [PolicyAction::Shell("echo $HOME".to_owned()), opens];
        let decision = policy.decide("bash", &actions, &inside());
        assert_eq!(decision.answer, PolicyAnswer::Ask, "{decision:?}");
    }
}

const COMMITS: &[&str] = &[
    "git commit -m x",
    "/usr/bin/git commit -m x",
    "g\\it commit -m x",
    "'git' \"commit\" -m x",
    "env git commit -m x",
    "git -C . -c a=b commit -m x",
    "sh -c 'git commit -m x'",
    "$(echo git) commit -m x",
    "g=git; $g commit -m x",
    "eval \"git com\"mit",
    "echo commit | xargs git",
    "python3 -c \"import os; os.system('gi' + 't commit')\"",
    "bash <<< 'git commit'",
    "alias c='git commit'; c -m x",
    "for w in commit; do git $w; done",
    "printf '%s' 'git commit' | sh",
    "bash script.sh",
    "/usr/lib/git-core/git-commit -m x",
    "git-commit -m x",
    "ln -s /usr/bin/git g && ./g commit -m x",
    "cp /usr/bin/git g; ./g commit -m x",
    "eatmydata git commit -m x",
];

const MAKES: &[&str] = &[
    "make",
    "make -j4 all",
    "/usr/bin/make",
    "m'a'ke all",
    "env make",
    "timeout 5 make",
    "sh -c make",
    "$(echo make)",
    "m=make; $m",
    "eval make",
    "xargs make < list",
    "find . -name Makefile -exec make \\;",
    "python3 -c \"import os; os.system('ma' + 'ke')\"",
    "ma\"\"ke",
    "{ make; }",
    "gmake all",
    "gdb -batch -ex 'shell make all'",
    "perf stat make",
    "perf record -o out make",
    "rr record make",
    "sqlite3 :memory: \"select edit('x', 'make all')\"",
    "sqlite3 :memory: \"select edit ('x', 'make all')\"",
    "sqlite3 :memory: \"select load_extension('x')\"",
    "ln -s /usr/bin/make m && ./m all",
    "cp /usr/bin/make m; ./m all",
    "install -m 755 /usr/bin/make m; m all",
    "ccache make all",
    "gpg-agent --daemon make",
    "logsave log make",
    "chronic make",
    "bear -- make",
    "bear --output x -- make",
];

const READS: &[&str] = &[
    "cat private/key",
    "cat ./private/key",
    "cat src/../private/key",
    "cd private && cat key",
    "head -1 'private/key'",
    "sort private/key -o out",
    "cp private/key out",
    "cat /work/tree/private/key",
    "grep x private/key",
    "sh -c 'cat private/key'",
    "env cat private/key",
    "cat < private/key",
];

#[test]
fn what_the_person_wrote_is_not_talked_around() {
    let policy = Policy {
        deny: rules(&["Bash(git commit:*)", "Read(private/**)"]),
        ask: rules(&["Bash(make:*)"]),
        ..engineer()
    };
    for command in COMMITS.iter().chain(MAKES) {
        let answer = decide(&policy, command, &inside()).answer;
        assert_ne!(answer, PolicyAnswer::Allow, "{command}");
    }
    for command in READS {
        // Commands that name the file are refused; path walls stop the others, as `path_walls`
        // says.
        let decision = decide(&policy, command, &inside());
        let is_refused =
            decision.answer == PolicyAnswer::Deny || decision.answer == PolicyAnswer::Ask;
        assert!(is_refused, "{command}: {decision:?}");
    }
    assert_eq!(policy.path_walls().len(), 1);
    for command in ["git-push", "/usr/lib/git-core/git-push origin"] {
        let decision = decide(&engineer(), command, &inside());
        assert_eq!(decision.rule, "never.git-push", "{command}: {decision:?}");
    }
    // Commands that can be read and do not match a rule run as usual.
    for command in [
        "ls -l",
        "sed -i s/a/b/ x.py",
        "echo hi > /tmp/x",
        "git status",
        "cp a.txt b.txt && cat b.txt",
        "someone --with make=no x",
    ] {
        let decision = decide(&policy, command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Allow,
            "{command}: {decision:?}"
        );
    }
}

#[test]
fn a_ban_that_nobody_can_read_stops_everything() {
    let (set, bad) = PolicyRuleSet::parse(&[], &[], &["bash(rm:*)".to_owned()]);
    assert_eq!(bad.len(), 1);
    let policy = Policy {
        ask: set.ask,
        ..engineer()
    };
    for command in ["ls", "echo $HOME", "$x", "x=1"] {
        let decision = decide(&policy, command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Ask,
            "{command}: {decision:?}"
        );
    }
}

/// The question is about the file, not about the first thing that rules object to.
#[test]
fn a_file_that_may_hold_keys_is_asked_about_by_name() {
    for command in [
        "cat .env",
        "x=1; cat .env; echo $x",
        "cat < .env",
        "for i in 1; do cat .env; done",
        "cd sub && cat < .env",
        "sh -c 'cat < .env'",
        "cat <> .env",
    ] {
        let decision = decide(&engineer(), command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Ask,
            "{command}: {decision:?}"
        );
        assert!(
            decision.reason.contains("`.env` may hold secrets"),
            "{command}: {decision:?}"
        );
    }
}

/// Also where it is the folder that says so.
#[test]
fn a_file_in_a_folder_of_keys_is_asked_about_wherever_it_is_named_from() {
    for command in [
        "cat .config/gh/hosts.yml",
        "cat < .config/gh/hosts.yml",
        "cd .config && cat gh/hosts.yml",
        "cd .config && cat < gh/hosts.yml",
        "cd run; cat < secrets/key",
        "cd .vscode && cat < ../.config/gh/hosts.yml",
        "cd src && cat < ../.config/gh/hosts.yml",
        "sh -c 'cd .config && cat < gh/hosts.yml'",
    ] {
        let decision = decide(&engineer(), command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Ask,
            "{command}: {decision:?}"
        );
        assert!(
            decision.reason.contains("may hold secrets"),
            "{command}: {decision:?}"
        );
    }
    for command in [
        "cd src && cat < gh/hosts.yml",
        "cd .config && cd .. && cat < gh/hosts.yml",
    ] {
        let decision = decide(&engineer(), command, &inside());
        assert_eq!(
            decision.answer,
            PolicyAnswer::Allow,
            "{command}: {decision:?}"
        );
    }
}
