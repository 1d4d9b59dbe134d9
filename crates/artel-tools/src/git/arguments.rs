//! Turns a tool's input into git's words. Values never become options: each comes after
//! `--`, or is checked to be a name.

use serde::Deserialize;
use serde_json::Value;

use crate::{ToolError, ToolErrorKind, parse};

/// The command to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GitToolCommand {
    pub(super) words: Vec<String>,
    pub(super) stdin: Vec<u8>,
    /// Text to show if git prints nothing.
    pub(super) nothing: &'static str,
    /// The files and folders that the call names, in the tree or in a commit.
    pub(super) reads: Vec<String>,
    pub(super) shows: GitShownContent,
}

/// The file contents that a call shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum GitShownContent {
    /// None, or only those of files that the call names.
    #[default]
    Named,
    /// Those of all changed files; the command words end with paths.
    Changes,
    /// One file as it is in a commit.
    FileOfCommit,
}

/// Keeps git from running inside a repository within the tree, where that repository's own
/// settings would apply.
const LOOKS_INTO_NONE: &str = "--ignore-submodules=all";

/// Makes git name a repository within the tree that differs between commits. Git does not
/// look into the repository for that.
const NAMES_ALL: &str = "--ignore-submodules=none";

/// All fields of all git tools; each tool's schema lists its own.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GitToolInput {
    path: Option<String>,
    paths: Vec<String>,
    staged: bool,
    stat: bool,
    name_only: bool,
    limit: Option<u32>,
    author: Option<String>,
    since: Option<String>,
    grep: Option<String>,
    commit: Option<String>,
    commits: Vec<String>,
    from: Option<String>,
    to: Option<String>,
    lines: Option<String>,
    pattern: Option<String>,
    modified: bool,
    all: bool,
    message: Option<String>,
    body: Option<String>,
    include_untracked: bool,
    index: Option<u32>,
    name: Option<String>,
    start: Option<String>,
    target: Option<String>,
    create: bool,
    no_commit: bool,
    remote: Option<String>,
    branch: Option<String>,
    tree: Option<String>,
    recursive: bool,
}

/// Builds the command of a tool's call.
pub(super) fn of(tool: &str, input: &Value) -> Result<GitToolCommand, ToolError> {
    let fields: GitToolInput = if input.is_null() {
        GitToolInput::default()
    } else {
        parse(input)?
    };
    let mut call = GitCommandBuilder::default();
    let nothing = match tool {
        "git_status" => {
            call.put(&["status", "--short", "--branch", "--untracked-files=all"]);
            call.put(&[LOOKS_INTO_NONE]);
            "nothing to report"
        }
        "git_diff" => call.diff(&fields)?,
        "git_diff_between" => call.diff_between(&fields)?,
        "git_log" => call.log(&fields)?,
        "git_show" => call.show(&fields)?,
        "git_blame" => call.blame(&fields)?,
        "git_ls_files" => call.ls_files(&fields),
        "git_ls_tree" => call.ls_tree(&fields)?,
        "git_branch_list" => call.list(
            &["branch", "--list", "--all", "--verbose"],
            &fields,
            "no branches",
        ),
        "git_tag_list" => call.list(&["tag", "--list"], &fields, "no tags"),
        "git_remote_list" => {
            call.put(&["remote", "--verbose"]);
            "no remotes"
        }
        "git_add" => call.add(&fields)?,
        "git_commit" => call.commit(&fields)?,
        "git_stash" => call.stash(&fields),
        "git_stash_pop" => {
            let place = format!("stash@{{{}}}", fields.index.unwrap_or(0));
            call.put(&["stash", "pop", "--quiet", &place]);
            "taken back"
        }
        "git_branch_create" => {
            let name = name("name", fields.name.as_deref())?;
            let start = revision("start", fields.start.as_deref().unwrap_or("HEAD"))?;
            call.put(&["branch", name, start]);
            "branch created"
        }
        "git_checkout" | "git_switch" => call.switch(&fields)?,
        "git_revert" => {
            let commit = revision("commit", fields.commit.as_deref().unwrap_or("HEAD"))?;
            call.put(&["revert", "--no-edit"]);
            call.when(fields.no_commit, "--no-commit");
            call.put(&[commit]);
            "reverted"
        }
        "git_cherry_pick" => call.pick(&fields)?,
        "git_reset_soft" => {
            let commit = revision("commit", fields.commit.as_deref().unwrap_or("HEAD~1"))?;
            call.put(&["reset", "--soft", commit]);
            "the branch is moved; files and index stay"
        }
        "git_fetch" => call.fetch(&fields)?,
        "git_pull" => call.pull(&fields)?,
        _ => return Err(bad(format!("unknown tool: {tool}"))),
    };
    Ok(GitToolCommand {
        words: call.words,
        stdin: call.stdin,
        nothing,
        reads: call.reads,
        shows: call.shows,
    })
}

#[derive(Default)]
struct GitCommandBuilder {
    words: Vec<String>,
    stdin: Vec<u8>,
    reads: Vec<String>,
    shows: GitShownContent,
}

impl GitCommandBuilder {
    fn put(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
    }

    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "the word is there or not; two calls would say less"
    )]
    fn when(&mut self, is_wanted: bool, word: &str) {
        if is_wanted {
            self.put(&[word]);
        }
    }

    fn forms(&mut self, fields: &GitToolInput) {
        self.put(&["--no-ext-diff", "--no-textconv", NAMES_ALL]);
        self.when(fields.stat, "--stat");
        self.when(fields.name_only, "--name-only");
    }

    fn path(&mut self, fields: &GitToolInput) {
        self.put(&["--"]);
        if let Some(path) = &fields.path {
            self.put(&[path]);
            self.reads.push(path.clone());
        }
    }

    /// Adds a revision that must be a commit, so no other object that git can name fits.
    fn put_commit(&mut self, revision: &str) {
        self.put(&[&format!("{revision}^{{commit}}")]);
    }

    fn diff(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        self.put(&["diff"]);
        self.shows = GitShownContent::Changes;
        self.forms(fields);
        if fields.staged {
            self.put(&["--cached"])
        } else {
            self.put(&[LOOKS_INTO_NONE])
        }
        self.path(fields);
        Ok("no differences")
    }

    fn diff_between(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let from = revision("from", fields.from.as_deref().unwrap_or_default())?;
        let to = revision("to", fields.to.as_deref().unwrap_or("HEAD"))?;
        self.put(&["diff"]);
        self.shows = GitShownContent::Changes;
        self.forms(fields);
        self.put_commit(from);
        self.put_commit(to);
        self.path(fields);
        Ok("no differences")
    }

    fn log(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let limit = fields.limit.unwrap_or(10).clamp(1, 500);
        self.put(&["log", "--no-show-signature", "--date=short"]);
        self.put(&["--format=%h %ad %an: %s", &format!("--max-count={limit}")]);
        self.forms(fields);
        for (option, value) in [
            ("author", &fields.author),
            ("since", &fields.since),
            ("grep", &fields.grep),
        ] {
            if let Some(value) = value {
                self.put(&[&format!("--{option}={value}")]);
            }
        }
        if let Some(commit) = &fields.commit {
            self.put(&[revision("commit", commit)?]);
        }
        self.path(fields);
        Ok("no commits")
    }

    fn show(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let commit = revision("commit", fields.commit.as_deref().unwrap_or("HEAD"))?;
        self.put(&["show", "--no-show-signature"]);
        self.forms(fields);
        match commit.split_once(':') {
            // `HEAD:src/lib.rs`, `:0:src/lib.rs`
            Some((_, path)) => {
                self.put(&[commit]);
                self.shows = GitShownContent::FileOfCommit;
                let file = path.rsplit(':').next().unwrap_or(path);
                self.reads.push(file.trim_start_matches('/').to_owned());
            }
            None => {
                self.put_commit(commit);
                self.shows = GitShownContent::Changes;
            }
        }
        self.path(fields);
        Ok("nothing to show")
    }

    fn blame(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let Some(path) = &fields.path else {
            return Err(bad("`path` is missing"));
        };
        self.put(&["blame", "--date=short", "--no-textconv"]);
        if let Some(lines) = &fields.lines {
            let is_range = |letter: char| letter.is_ascii_digit() || letter == ',';
            if !lines.chars().all(is_range) {
                return Err(bad("`lines` is a range such as 10,20"));
            }
            self.put(&["-L", lines]);
        }
        self.put(&["--", path]);
        self.reads.push(path.clone());
        Ok("the file is empty")
    }

    fn ls_files(&mut self, fields: &GitToolInput) -> &'static str {
        self.put(&["ls-files"]);
        self.when(fields.modified, "--modified");
        self.put(&["--"]);
        if let Some(pattern) = &fields.pattern {
            self.put(&[pattern]);
        }
        "no files"
    }

    fn ls_tree(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let tree = revision("tree", fields.tree.as_deref().unwrap_or("HEAD"))?;
        self.put(&["ls-tree", "--long"]);
        self.when(fields.recursive, "-r");
        self.put(&[tree, "--"]);
        if let Some(path) = &fields.path {
            self.put(&[path]);
        }
        Ok("empty")
    }

    fn list(
        &mut self,
        words: &[&str],
        fields: &GitToolInput,
        nothing: &'static str,
    ) -> &'static str {
        self.put(words);
        if let Some(pattern) = &fields.pattern {
            self.put(&["--", pattern]);
        }
        nothing
    }

    fn add(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        if fields.all == fields.paths.is_empty() && fields.all {
            self.put(&["add", "--update"]);
            return Ok("added");
        }
        if fields.paths.is_empty() || fields.all {
            return Err(bad(
                "give either `paths`, or `all` for every tracked file that changed",
            ));
        }
        self.put(&["add", "--pathspec-from-file=-", "--pathspec-file-nul"]);
        self.stdin = fields.paths.join("\0").into_bytes();
        Ok("added")
    }

    fn commit(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let message = fields.message.as_deref().unwrap_or_default().trim();
        if message.chars().count() < 10 {
            return Err(bad("`message` has fewer than 10 characters")
                .hint("say what changed and why: `fix: round half up in totals`")
                .hint(format!(
                    "write `message` as `chore: {message} (see the changed files)`"
                )));
        }
        self.put(&[
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--cleanup=whitespace",
        ]);
        self.put(&["--file=-"]);
        let body = fields
            .body
            .as_deref()
            .map_or(String::new(), |body| format!("\n\n{body}"));
        self.stdin = format!("{message}{body}\n").into_bytes();
        Ok("committed")
    }

    fn stash(&mut self, fields: &GitToolInput) -> &'static str {
        self.put(&["stash", "push", "--quiet"]);
        self.when(fields.include_untracked, "--include-untracked");
        if let Some(message) = &fields.message {
            self.put(&[&format!("--message={message}")]);
        }
        "put aside; `git_stash_pop` brings it back"
    }

    fn switch(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let target = fields.target.as_deref().or(fields.branch.as_deref());
        let target = revision("target", target.unwrap_or_default())?;
        self.put(&["switch", "--quiet", "--no-recurse-submodules"]);
        self.put(&[if fields.create {
            "--create"
        } else {
            "--detach"
        }]);
        if !fields.create && fields.branch.is_some() {
            self.words.pop();
        }
        self.put(&[target]);
        Ok("switched")
    }

    fn fetch(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let remote = name("remote", Some(fields.remote.as_deref().unwrap_or("origin")))?;
        self.put(&[
            "fetch",
            "--no-recurse-submodules",
            "--no-tags",
            "--",
            remote,
        ]);
        Ok("fetched")
    }

    fn pull(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        let remote = name("remote", Some(fields.remote.as_deref().unwrap_or("origin")))?;
        self.put(&["pull", "--ff-only", "--no-recurse-submodules", "--", remote]);
        if let Some(branch) = &fields.branch {
            self.put(&[name("branch", Some(branch))?]);
        }
        Ok("up to date")
    }

    fn pick(&mut self, fields: &GitToolInput) -> Result<&'static str, ToolError> {
        if fields.commits.is_empty() {
            return Err(bad("`commits` is empty"));
        }
        self.put(&["cherry-pick"]);
        self.when(fields.no_commit, "--no-commit");
        for commit in &fields.commits {
            self.put(&[revision("commits", commit)?]);
        }
        Ok("picked")
    }
}

/// Checks that a revision is one word that cannot be read as an option.
fn revision<'r>(field: &str, text: &'r str) -> Result<&'r str, ToolError> {
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if text.is_empty() || text.starts_with('-') || text.contains(is_odd) {
        return Err(bad(format!("`{field}` is not a commit, branch or tag")));
    }
    Ok(text)
}

/// Checks the name of a branch or remote. Git's own rules are stricter.
fn name<'n>(field: &str, text: Option<&'n str>) -> Result<&'n str, ToolError> {
    let text = revision(field, text.unwrap_or_default())?;
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./+#".contains(letter);
    if text.chars().all(is_plain) {
        Ok(text)
    } else {
        Err(bad(format!("`{field}` is not a plain name")))
    }
}

fn bad(what: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::BadInput, what)
}
