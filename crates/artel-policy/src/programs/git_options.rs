//! Options that several subcommands of `git` share.

use super::table::{
    DoubtReason, ProgramOptionEntry, asks, asks_flag, calls, checks, lists, starts, writes,
};
use super::view::CommandInspector;

/// Options of every subcommand that shows differences.
pub(super) const DIFF: &str = "-U? --unified -X? -p -u --patch -s --no-patch --raw \
    --patch-with-raw --patch-with-stat --numstat --shortstat --dirstat --cumulative \
    --dirstat-by-file --check --summary --name-only --name-status --stat --compact-summary \
    --binary --full-index --color --abbrev --no-prefix --default-prefix -B? -M? -C? -D \
    --break-rewrites --find-renames --irreversible-delete --find-copies --find-copies-harder \
    --no-renames --rename-empty --follow --minimal -w -b --ignore-all-space \
    --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines \
    --indent-heuristic --patience --histogram --word-diff --color-words --color-moved --relative \
    -a --text --exit-code -q --quiet -R -z -W --function-context --ignore-submodules --submodule \
    --ita-invisible-in-index --pickaxe-all --pickaxe-regex -c --cc -m -r -t --cached --staged \
    --merge-base --ours --theirs --base -0 -1 -2 -3 --combined-all-paths --no-ext-diff \
    --no-textconv";
pub(super) const DIFF_VALUES: &str = "-l -S -G -I --stat-width --stat-name-width \
    --stat-graph-width --stat-count --ws-error-highlight --src-prefix --dst-prefix --line-prefix \
    --inter-hunk-context --output-indicator-new --output-indicator-old \
    --output-indicator-context --ignore-matching-lines --diff-algorithm --anchored \
    --word-diff-regex --color-moved-ws --rotate-to --skip-to --find-object --diff-filter";
pub(super) const DIFF_ENTRIES: &[ProgramOptionEntry] = &[
    writes("--output"),
    asks_flag("--ext-diff --textconv", DoubtReason::Starts),
    asks_flag("--no-index", DoubtReason::Elsewhere),
    taken("-O"),
];

/// Options of every subcommand that walks through history or makes and checks signatures.
pub(super) const LOG_ENTRIES: &[ProgramOptionEntry] = &[
    asks_flag("--show-signature", DoubtReason::Starts),
    checks("--pretty --format", asks_signature).glued(),
];

/// Options that make or check signatures with a program that a setting names.
pub(super) const SIGN_ENTRIES: &[ProgramOptionEntry] = &[
    asks_flag("-S --gpg-sign", DoubtReason::Starts).glued(),
    asks_flag("--verify-signatures", DoubtReason::Starts),
];

/// Creates the entry for options whose value is a file that git reads; it must lie in the
/// project.
pub(super) const fn taken(options: &'static str) -> ProgramOptionEntry {
    calls(options, take_file)
}

fn take_file(view: &mut CommandInspector<'_>, path: &str) {
    if view.strays(path) {
        view.doubt_word(DoubtReason::Sends, path);
    }
    view.read(path);
}

/// Doubts formats such as `%G?` and `%(signature)`, which check a signature.
pub(super) fn asks_signature(format: &str) -> Option<DoubtReason> {
    let is_asked = format.contains("%G") || format.contains("%(signature");
    is_asked.then_some(DoubtReason::Starts)
}

/// Options of every subcommand that walks through history.
pub(super) const LOG: &str = "--oneline --graph --decorate --no-decorate --all \
    --branches --tags --remotes --merges --no-merges --first-parent --reverse --date-order \
    --author-date-order --topo-order --source --use-mailmap --mailmap --clear-decorations \
    --full-diff --log-size -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P \
    --perl-regexp --basic-regexp --all-match --invert-grep --boundary --left-right --left-only \
    --right-only --cherry-mark --cherry-pick --cherry --walk-reflogs -g --merge \
    --simplify-merges --simplify-by-decoration --full-history --dense --sparse --ancestry-path \
    --show-pulls --abbrev-commit --no-abbrev-commit --relative-date --parents --children \
    --notes --no-notes --show-notes --expand-tabs --no-expand-tabs \
    --remove-empty --single-worktree --reflog --stdin --ignore-missing --objects --count \
    --timestamp --no-walk --do-walk --bisect --show-linear-break --no-min-parents \
    --no-max-parents --header";
pub(super) const LOG_VALUES: &str = "-n --max-count --skip --since --after --until --before \
    --author --committer --grep --grep-reflog --date --encoding -L --decorate-refs \
    --decorate-refs-exclude --min-parents --max-parents --glob --exclude --since-as-filter \
    --exclude-hidden --diff-merges";

pub(super) const REMOTE: &str = "-v --verbose -q --quiet --all -a --append --atomic -f --force \
    -m --multiple -t --tags -n --no-tags --prefetch -p --prune -P --prune-tags --dry-run \
    --porcelain --write-fetch-head -k --keep -u --update-head-ok --progress --unshallow \
    --refetch --update-shallow -4 --ipv4 -6 --ipv6 --negotiate-only --auto-maintenance --auto-gc \
    --show-forced-updates --write-commit-graph --set-upstream --recurse-submodules -j --jobs";
pub(super) const REMOTE_VALUES: &str = "--depth --shallow-since --shallow-exclude --deepen \
    --refmap -o --server-option --negotiation-tip --filter";
pub(super) const UPLOAD: &[ProgramOptionEntry] = &[starts("--upload-pack")];

pub(super) const MERGE: &str = "--stat -n --summary --log --squash --commit --ff \
    --ff-only --rerere-autoupdate -v --verbose -q --quiet --abort --quit \
    --continue --skip --allow-unrelated-histories --progress --autostash --no-gpg-sign --no-verify-signatures \
    --overwrite-ignore --signoff --no-verify --verify --no-commit --no-edit --no-ff --no-stat";
pub(super) const MERGE_VALUES: &str = "-X --strategy-option --cleanup -m --message --into-name";
pub(super) const MERGE_ENTRIES: &[ProgramOptionEntry] = &[checks("-s --strategy", other_strategy)];

pub(super) const CHECKOUT: &str = "-q --quiet --progress -m --merge -d --detach -t --track \
    --guess --overlay --recurse-submodules --overwrite-ignore --ignore-other-worktrees --ours \
    --theirs -2 -3 -p --patch --ignore-skip-worktree-bits --pathspec-file-nul -l --no-track \
    --no-guess --no-overlay";
pub(super) const CHECKOUT_VALUES: &str = "-b -B -c -C --create --conflict --orphan -s --source \
    -U --unified --inter-hunk-context";
pub(super) const CHECKOUT_ENTRIES: &[ProgramOptionEntry] = &[
    asks_flag("-f --force --discard-changes", DoubtReason::Loses),
    asks("--force-create", DoubtReason::Loses),
    taken("--pathspec-from-file"),
];

pub(super) const LISTING: &str = "-n? -l --list -i --ignore-case --omit-empty --color --column \
    --no-column --create-reflog --contains --no-contains --with --without --merged --no-merged \
    --abbrev --no-abbrev -v -q --quiet";
pub(super) const LISTING_VALUES: &str = "--sort --points-at --format --count --exclude";

/// Doubts strategies that git does not know: they are separate programs.
pub(super) fn other_strategy(name: &str) -> Option<DoubtReason> {
    (!lists("ort recursive resolve octopus ours subtree", name)).then_some(DoubtReason::Starts)
}
