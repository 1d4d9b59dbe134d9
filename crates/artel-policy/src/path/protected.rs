//! Names that agents never write, in any tree.
//!
//! The line is drawn like this: a file that some program loads by itself, and that can
//! then start another program, change what is trusted or hold a key, is protected. Files
//! that only say what to build (`package.json`, `Makefile`, `.github/workflows`,
//! `.gitignore`, `.gitattributes`) are the work itself and stay writable. So do
//! `AGENTS.md` and `CLAUDE.md`: a person reads their text in the changeset, and no program
//! runs it.

use super::fold::{components, is_short_name_of};

const GIT: &str = "never.git-metadata";
const ARTEL: &str = "never.artel";
const POLICY: &str = "never.policy";
const TOOL: &str = "never.tool-configuration";
const SHELL: &str = "never.shell-start-up";

/// Files and folders protected at every depth: tools look for them in the folder they work
/// in and in its parents, and a tree may hold other trees.
const ANYWHERE: &[(&str, &[&str])] = &[
    (
        GIT,
        &[".git", ".gitmodules", ".gitconfig", ".husky", ".githooks"],
    ),
    (ARTEL, &[".artel", "artel.toml"]),
    (
        SHELL,
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".inputrc",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".envrc",
            ".autoenv",
            ".pam_environment",
        ],
    ),
    (
        TOOL,
        &[
            // Editors and agents load settings, tasks, hooks or servers from these folders.
            ".vscode",
            ".vscode-server",
            ".idea",
            ".fleet",
            ".zed",
            ".claude",
            ".claude.json",
            ".codex",
            ".cursor",
            ".cursorrules",
            ".gemini",
            ".windsurf",
            ".windsurfrules",
            ".clinerules",
            ".continue",
            ".aider.conf.yml",
            ".roo",
            ".roomodes",
            ".kiro",
            ".opencode",
            ".mcp.json",
            ".devcontainer",
            ".devcontainer.json",
            ".vimrc",
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".lvimrc",
            ".dir-locals.el",
            ".emacs",
            ".emacs.d",
            // Package managers and tools run what these files name, whatever they are asked to
            // do.
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            ".pypirc",
            ".netrc",
            ".curlrc",
            ".wgetrc",
            ".gdbinit",
            ".lldbinit",
            ".ripgreprc",
            ".hgrc",
            ".psqlrc",
            ".sqliterc",
            ".pythonrc.py",
            ".irbrc",
            ".pryrc",
            ".rprofile",
            ".screenrc",
            ".tmux.conf",
            // Keys, and files that decide who may log in.
            ".ssh",
            ".gnupg",
            ".git-credentials",
            ".vault-token",
        ],
    ),
];

/// Files protected inside a folder of a certain name, at every depth.
const WITHIN: &[(&str, &str, &[&str])] = &[
    (
        TOOL,
        ".cargo",
        &[
            "config",
            "config.toml",
            "credentials",
            "credentials.toml",
            "env",
            "bin",
        ],
    ),
    (TOOL, ".aws", &["credentials", "config"]),
    (TOOL, ".docker", &["config.json", "cli-plugins"]),
    (TOOL, ".kube", &["config"]),
    (
        TOOL,
        ".config",
        &[
            "autostart",
            "systemd",
            "environment.d",
            "gcloud",
            "gh",
            "pip",
            "nvim",
            "code",
            "zed",
            "direnv",
            "mise",
            "artel",
        ],
    ),
    (GIT, ".config", &["git"]),
    (SHELL, ".config", &["fish"]),
];

/// Entries that mark a folder called `something.git` as a bare repository.
const BARE: &[&str] = &[
    "head",
    "config",
    "config.worktree",
    "hooks",
    "objects",
    "refs",
    "info",
    "packed-refs",
    "description",
    "index",
    "commondir",
    "gitdir",
    "worktrees",
    "modules",
    "logs",
];

/// Returns the names that are protected wherever they stand, for walls that only know
/// names.
pub fn protected_names() -> impl Iterator<Item = &'static str> {
    ANYWHERE.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Returns the built-in rule that forbids agents to write or remove a path, or `None`.
///
/// The path is relative to the root and resolved. Names are compared as the most forgiving
/// file system would: ignoring case, invisible characters and trailing dots, and matching
/// short names too.
pub fn protected(path: &str) -> Option<&'static str> {
    let names = components(path);
    of_the_workshop(path).or_else(|| {
        (0..names.len()).find_map(|at| by_name(&names[at]).or_else(|| by_folder(&names[at..])))
    })
}

/// Returns the rule for the workshop's own folders. They lie at its root and are ordinary
/// words elsewhere, so they count only there; in another letter case only the files that
/// are read as policy count.
fn of_the_workshop(path: &str) -> Option<&'static str> {
    let path = path.trim_start_matches("./");
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let names = components(path);
    let is_toml = names.last().is_some_and(|name| name.ends_with(".toml"));
    match (names.first().map(String::as_str)?, rest.is_empty()) {
        ("policy", _) if first == "Policy" || is_toml => Some(POLICY),
        ("tools", false) if is_toml && first == "Tools" => Some(POLICY),
        ("agents", false) if first == "Agents" && names.len() == 2 => Some(POLICY),
        _ => None,
    }
}

fn by_name(name: &str) -> Option<&'static str> {
    // Git's own second short name for `.gitmodules`, used when the first short names are
    // taken.
    if name.starts_with("gi7eba~") {
        return Some(GIT);
    }
    ANYWHERE.iter().find_map(|(rule, listed)| {
        let is_listed = |listed: &str| name == listed || is_short_name_of(name, listed);
        listed
            .iter()
            .any(|listed| is_listed(listed))
            .then_some(*rule)
    })
}

fn by_folder(names: &[String]) -> Option<&'static str> {
    let [folder, name, ..] = names else {
        return None;
    };
    if folder.ends_with(".git") && BARE.contains(&name.as_str()) {
        return Some(GIT);
    }
    let within = WITHIN.iter().find(|(_, within, listed)| {
        (folder == within || is_short_name_of(folder, within)) && listed.contains(&name.as_str())
    });
    within.map(|(rule, ..)| *rule)
}
