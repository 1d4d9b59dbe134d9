//! Tables of names and the rules they match.

use std::path::Path;

use proptest::prelude::*;

use super::*;

#[test]
fn names_that_agents_never_write() {
    let table = [
        ("never.git-metadata", ".git"),
        ("never.git-metadata", ".git/"),
        ("never.git-metadata", ".git/config"),
        ("never.git-metadata", ".git/hooks/pre-commit"),
        ("never.git-metadata", "vendor/lib/.git/config"),
        ("never.git-metadata", "sub/.git"),
        ("never.git-metadata", ".GIT/config"),
        ("never.git-metadata", ".Git"),
        ("never.git-metadata", ".g\u{200c}it/config"),
        ("never.git-metadata", ".git\u{feff}/config"),
        ("never.git-metadata", ".git./config"),
        ("never.git-metadata", ".git /config"),
        ("never.git-metadata", ".git . ./config"),
        ("never.git-metadata", "git~1/config"),
        ("never.git-metadata", "GIT~2"),
        ("never.git-metadata", "GITMOD~1"),
        ("never.git-metadata", "gi7eba~1"),
        ("never.git-metadata", "．ｇｉｔ/config"),
        ("never.git-metadata", ".git::$INDEX_ALLOCATION/config"),
        ("never.git-metadata", ".git\\config"),
        ("never.git-metadata", "a\\.GIT\\hooks\\x"),
        ("never.git-metadata", ".gitmodules"),
        ("never.git-metadata", ".gitconﬁg"),
        ("never.git-metadata", "server.git/hooks/post-receive"),
        ("never.git-metadata", "deep/down/x.git/HEAD"),
        ("never.git-metadata", ".husky/pre-commit"),
        ("never.git-metadata", ".config/git/config"),
        ("never.artel", ".artel"),
        ("never.artel", ".artel/journal.db"),
        ("never.artel", "x/.ARTEL/run"),
        ("never.artel", "artel.toml"),
        ("never.artel", "sub/Artel.TOML"),
        ("never.policy", "Policy"),
        ("never.policy", "Policy/grants.toml"),
        ("never.policy", "Policy/notes"),
        ("never.policy", "policy/grants.toml"),
        ("never.policy", "./Policy/grants.toml"),
        ("never.policy", "Tools/deploy.toml"),
        ("never.policy", "Agents/coder.md"),
        ("never.shell-start-up", ".bashrc"),
        ("never.shell-start-up", "dotfiles/.zshrc"),
        ("never.shell-start-up", ".envrc"),
        ("never.shell-start-up", "BASHRC~1"),
        ("never.shell-start-up", ".config/fish/config.fish"),
        ("never.tool-configuration", ".vscode/tasks.json"),
        ("never.tool-configuration", ".vſcode/settings.json"),
        (
            "never.tool-configuration",
            "packages/app/.vscode/settings.json",
        ),
        ("never.tool-configuration", ".claude/settings.json"),
        ("never.tool-configuration", ".CLAUDE/settings.local.json"),
        ("never.tool-configuration", ".codex/config.toml"),
        ("never.tool-configuration", ".cursor/mcp.json"),
        ("never.tool-configuration", ".mcp.json"),
        ("never.tool-configuration", "MCP~1.JSO"),
        ("never.tool-configuration", ".npmrc"),
        ("never.tool-configuration", ".cargo/config.toml"),
        ("never.tool-configuration", ".ssh/authorized_keys"),
        ("never.tool-configuration", ".idea"),
    ];
    for (rule, path) in table {
        assert_eq!(protected(path), Some(rule), "{path:?}");
    }
}

#[test]
fn the_work_itself_stays_writable() {
    let paths = [
        "",
        ".",
        "src/main.rs",
        ".gitignore",
        ".gitattributes",
        ".gitkeep",
        ".github/workflows/ci.yml",
        "package.json",
        "Makefile",
        "Cargo.toml",
        "CLAUDE.md",
        "AGENTS.md",
        "docs/.gitignore",
        "git",
        "git/config",
        "src/git/mod.rs",
        "legit",
        "a.gitignore",
        "digit~1x",
        "policy/mod.go",
        "src/Policy/Rule.cs",
        "tools/build.sh",
        "tools/config.toml",
        "agents/list.md",
        "src/artel.rs",
        "profile",
        "bashrc.md",
        ".env",
        ".dockerignore",
        ".docker/Dockerfile",
        ".cargo/notes.md",
        ".eslintrc.json",
        ".prettierrc",
        "vscode/x",
        "name\nwith newline",
        "back\\slash",
        "x.git.md",
        "notes.git",
        "Tools/readme.md",
        "..git",
        ".gitlab-ci.yml",
        "~x",
        "config~1",
    ];
    for path in paths {
        assert_eq!(protected(path), None, "{path:?}");
    }
}

#[test]
fn files_that_agents_do_not_read() {
    let table = [
        ("sensitive.environment-file", ".env"),
        ("sensitive.environment-file", "app/.env"),
        ("sensitive.environment-file", ".env.local"),
        ("sensitive.environment-file", ".ENV.production"),
        ("sensitive.environment-file", "prod.env"),
        ("sensitive.environment-file", ".env.bak"),
        ("sensitive.environment-file", "..env.swp"),
        ("sensitive.environment-file", ".env~"),
        ("sensitive.environment-file", ".env."),
        ("sensitive.private-key", "server.pem"),
        ("sensitive.private-key", "tls/site.key"),
        ("sensitive.private-key", "cert.P12"),
        ("sensitive.private-key", "a.pfx"),
        ("sensitive.private-key", "release.keystore"),
        ("sensitive.private-key", "x.jks"),
        ("sensitive.private-key", "id_rsa"),
        ("sensitive.private-key", "keys/id_ed25519"),
        ("sensitive.private-key", "id_ed25519_work"),
        ("sensitive.private-key", "id_rsa.bak"),
        ("sensitive.private-key", "~/.ssh/config"),
        ("sensitive.private-key", "/home/u/.ssh/id_ecdsa"),
        ("sensitive.private-key", ".ssh/"),
        ("sensitive.private-key", ".gnupg/private-keys-v1.d/x"),
        ("sensitive.private-key", "/etc/ssh/ssh_host_rsa_key"),
        ("sensitive.cloud-credentials", "/root/.aws/credentials"),
        (
            "sensitive.cloud-credentials",
            ".config/gcloud/credentials.db",
        ),
        ("sensitive.cloud-credentials", ".azure/accessTokens.json"),
        ("sensitive.cloud-credentials", "~/.kube/config"),
        ("sensitive.cloud-credentials", "terraform.tfstate"),
        ("sensitive.credentials", ".docker/config.json"),
        ("sensitive.credentials", ".netrc"),
        ("sensitive.credentials", "web/.npmrc"),
        ("sensitive.credentials", ".pypirc"),
        ("sensitive.credentials", ".git-credentials"),
        ("sensitive.credentials", "secrets.yaml"),
        ("sensitive.credentials", "config/secrets.prod.yml"),
        ("sensitive.credentials", "secrets.json"),
        ("sensitive.credentials", "secrets.toml"),
        ("sensitive.credentials", "credentials"),
        ("sensitive.credentials", "credentials.json"),
        ("sensitive.credentials", "client_secret_42.json"),
        ("sensitive.credentials", ".vault-token"),
        ("sensitive.credentials", "/run/secrets/db"),
        ("sensitive.credentials", ".cargo/credentials.toml"),
        ("sensitive.system", "/etc/shadow"),
        ("sensitive.system", "/proc/self/environ"),
        ("sensitive.system", "/proc/1234/environ"),
        ("sensitive.system", "/proc/1/task/1/environ"),
        ("sensitive.system", "/proc/self/root/etc/passwd"),
        (
            "sensitive.browser-store",
            ".mozilla/firefox/x/cookies.sqlite",
        ),
        (
            "sensitive.browser-store",
            "/home/u/.config/google-chrome/Default/Cookies",
        ),
        ("sensitive.browser-store", "Login Data"),
        ("sensitive.history", "~/.bash_history"),
    ];
    for (ground, path) in table {
        // A private key in a sensitive folder may match either rule.
        assert_eq!(sensitive(path), Some(ground), "{path:?}");
    }
}

#[test]
fn source_and_samples_stay_readable() {
    let paths = [
        "",
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.dist",
        "example.env",
        ".envrc",
        "env",
        "environment.ts",
        "credentials.rs",
        "secrets_test.py",
        "src/secrets.go",
        "secrets.md",
        "lib/credentials/mod.rs",
        "src/credentials/",
        "secret_santa.json",
        "id_rsa.pub",
        "id_ed25519.pub",
        "id_rsa_test.go",
        "keys.rs",
        "keyboard.json",
        "monkey.md",
        "pem.rs",
        ".dockerignore",
        ".docker/Dockerfile",
        "kube/config.yaml",
        "src/proc/fd/mod.rs",
        "locales/en/auth.json",
        "cookies/index.ts",
        "src/cookies/",
        "secrets.example.yaml",
        "credentials.json.example",
        "docs/shadow.md",
        "etc/hosts",
        ".gitignore",
        ".git/config",
    ];
    for path in paths {
        assert_eq!(sensitive(path), None, "{path:?}");
    }
}

#[test]
fn where_a_path_leads_by_its_letters() {
    let inside = |path: &str| LexicalLocation::Inside(path.to_owned());
    let table = [
        ("src/main.rs", inside("src/main.rs")),
        ("./src//a/./b/", inside("src/a/b")),
        (".", inside(".")),
        ("a/..", inside(".")),
        ("a/../b", inside("b")),
        ("..", LexicalLocation::Outside),
        ("a/../../b", LexicalLocation::Outside),
        ("../proj/x", LexicalLocation::Outside),
        ("/work/proj", inside(".")),
        ("/work/proj/x", inside("x")),
        ("//work/./proj//x", inside("x")),
        ("/work/other/../proj/x", inside("x")),
        ("/work/proj/../x", LexicalLocation::Outside),
        ("/work/proj-evil/x", LexicalLocation::Outside),
        ("/work/Proj/x", LexicalLocation::Outside),
        ("/", LexicalLocation::Outside),
        ("/proc/self/root/work/proj/x", LexicalLocation::Outside),
        ("/../../work/proj/x", inside("x")),
        ("~", LexicalLocation::Outside),
        ("~/x", LexicalLocation::Outside),
        ("~root/x", LexicalLocation::Outside),
        ("~+/x", LexicalLocation::Unclear),
        ("a/~", inside("a/~")),
        ("", LexicalLocation::Unclear),
        ("a\0b", LexicalLocation::Unclear),
        ("a\nb", inside("a\nb")),
        ("a\\..\\b", inside("a\\..\\b")),
    ];
    for (path, expected) in table {
        assert_eq!(
            lexical(path, Some(Path::new("/work/proj"))),
            expected,
            "{path:?}"
        );
    }
    assert_eq!(lexical("/work/proj/x", None), LexicalLocation::Outside);
    assert_eq!(lexical("x", None), inside("x"));
}

proptest! {
    #[test]
    fn what_stands_in_front_unlocks_nothing(path in any::<String>()) {
        let (git, ssh) = (format!("{path}/.git/config"), format!("{path}/.ssh/config"));
        prop_assert!(protected(&git).is_some() && sensitive(&ssh).is_some());
    }

    #[test]
    fn case_and_invisible_letters_do_not_matter(
        upper in proptest::collection::vec(any::<bool>(), 7),
        at in 0_usize..7,
        invisible in prop_oneof![Just("\u{200b}"), Just("\u{2060}"), Just("\u{fe0f}"), Just("")],
    ) {
        let name = ".claude".chars().zip(&upper);
        let mut name: String =
            name.map(|(c, up)| if *up { c.to_ascii_uppercase() } else { c }).collect();
        name.insert_str(at, invisible);
        prop_assert_eq!(protected(&format!("a/{name}/b")), Some("never.tool-configuration"));
    }

    #[test]
    fn what_is_inside_has_no_way_up(path in "[a./~]{0,12}") {
        if let LexicalLocation::Inside(path) = lexical(&path, None) {
            prop_assert!(path == "." || path.split('/').all(|name| !matches!(name, "" | "." | "..")));
        }
    }
}
