//! The subcommands of `git` and every option that each of them is known to have. An
//! unlisted option is asked about, so an alias, a new option or a misspelling never
//! passes.

use super::git;
use super::git_options::{
    CHECKOUT, CHECKOUT_ENTRIES, CHECKOUT_VALUES, DIFF, DIFF_ENTRIES, DIFF_VALUES, LISTING,
    LISTING_VALUES, LOG, LOG_ENTRIES, LOG_VALUES, MERGE, MERGE_ENTRIES, MERGE_VALUES, REMOTE,
    REMOTE_VALUES, SIGN_ENTRIES, UPLOAD, asks_signature, other_strategy, taken,
};
use super::table::{
    DoubtReason, OperandMeaning, ProgramSpec, asks, asks_flag, checks, inside, reads, starts,
    writes,
};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::reads("git-log git-show git-whatchanged git-reflog git-shortlog git-rev-list")
        .strict()
        .flags(&[
            DIFF,
            LOG,
            "-e --email --numbered --summary -s --quiet --disk-usage \
            --no-object-names",
        ])
        .values(&[DIFF_VALUES, LOG_VALUES, "--group"])
        .entries(LOG_ENTRIES)
        .shared(DIFF_ENTRIES)
        .operands(OperandMeaning::Call(git::history)),
    ProgramSpec::reads(
        "git-diff git-diff-tree git-diff-index git-diff-files git-range-diff \
        git-cherry git-diff-pairs",
    )
    .strict()
    .flags(&[
        DIFF,
        LOG,
        "--root --always --no-dual-color --dual-color --stdin -v",
    ])
    .values(&[DIFF_VALUES, LOG_VALUES, "--creation-factor"])
    .entries(LOG_ENTRIES)
    .shared(DIFF_ENTRIES)
    .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-status")
        .strict()
        .flags(&[
            "-v --verbose -s --short -b --branch --show-stash --ahead-behind --porcelain \
                --long -z --null",
            "-u? --untracked-files --ignored --ignore-submodules --column --no-renames \
                --find-renames -M?",
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-blame git-annotate")
        .strict()
        .flags(&[
            "--incremental --root --show-stats --progress --score-debug -f --show-name -n \
                --show-number -p",
            "--porcelain --line-porcelain -c -t -l -s -e --show-email -w --color-lines \
                --color-by-age",
            "--minimal -C? -M? --abbrev -b --first-parent --reverse",
        ])
        .values(&["-L --ignore-rev --date --since"])
        .entries(&[taken("--contents -S --ignore-revs-file")])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-branch git-tag git-for-each-ref git-show-ref")
        .strict()
        .flags(&[
            LISTING,
            "-r --remotes -a --all -d --delete -m --move -M -c --copy -C --show-current -t --track \
                -s --sign --verify",
            "--no-track --unset-upstream -D --verbose --recurse-submodules --tags --heads \
                --branches",
            "--head --hash --dereference --annotate --shell --perl --python \
                --tcl",
            "--exists --stdin --include-root-refs",
        ])
        .values(&[
            LISTING_VALUES,
            "-u --local-user --set-upstream-to --message -m --cleanup --trailer",
        ])
        .entries(&[
            asks_flag("--edit-description -e --edit", DoubtReason::Interactive),
            asks_flag("-f --force", DoubtReason::Loses),
            taken("-F --file"),
            checks("--format", asks_signature),
        ])
        .operands(OperandMeaning::Call(git::references)),
    ProgramSpec::works("git-grep")
        .strict()
        .flags(&[
            "--cached --untracked --exclude-standard --recurse-submodules -v --invert-match -i -w",
            "--ignore-case --word-regexp -a --text -I -r --recursive -E --extended-regexp -G",
            "--basic-regexp -F --fixed-strings -P --perl-regexp -n --line-number --column -h \
                -H --full-name",
            "-l --files-with-matches --name-only -L --files-without-match -z --null -o \
                --only-matching -c",
            "--count --color --break --heading -p --show-function -W --function-context --and \
                --or --not",
            "-q --quiet --all-match --no-recursive",
        ])
        .values(&[
            "-e -A -B -C --context --before-context --after-context --threads \
            --max-depth -m --max-count",
        ])
        .entries(&[
            starts("-O --open-files-in-pager").glued(),
            asks_flag("--textconv --ext-grep", DoubtReason::Starts),
            asks_flag("--no-index", DoubtReason::Elsewhere),
            taken("-f"),
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works(
        "git-ls-files git-ls-tree git-check-ignore git-check-attr git-describe git-name-rev \
            git-merge-base git-count-objects git-var git-version git-check-ref-format \
            git-verify-pack git-patch-id git-stripspace git-show-branch git-fsck",
    )
    .strict()
    .flags(&[
        "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -k \
                --killed -t -v -f -u",
        "--directory --eol --empty-directory --unmerged --resolve-undo --exclude-standard \
                --full-name",
        "--recurse-submodules --error-unmatch --abbrev --debug --deduplicate --sparse -z \
                -l --long -r",
        "--name-only --name-status --object-only --full-tree -q --quiet --verbose --stdin -n",
        "--non-matching --no-index -a --all --contains --tags --first-parent --exact-match \
                --always",
        "--dirty --broken --octopus --independent --is-ancestor --fork-point \
                --annotate-stdin --undefined",
        "-H --human-readable --branch --normalize --allow-onelevel --unreachable \
                --dangling --root",
        "--full --connectivity-only --strict --progress --name-objects --list --remotes \
                --topics",
        "--current --more --date-order --topo-order --reflog --no-name --sha1-name \
                --merge-base --color",
    ])
    .values(&[
        "-x --exclude --exclude-per-directory --with-tree --format --candidates --match \
                --source --refs",
    ])
    .entries(&[taken("-X --exclude-from")])
    .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-rev-parse"),
    ProgramSpec::works("git-cat-file")
        .strict()
        .flags(&[
            "-e -p -t -s --allow-unknown-type --use-mailmap --batch --batch-check \
                --batch-all-objects",
            "--buffer --unordered --batch-command",
        ])
        .entries(&[
            asks_flag("--textconv --filters", DoubtReason::Starts),
            asks_flag("--follow-symlinks", DoubtReason::Elsewhere),
            reads("--path"),
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-symbolic-ref")
        .strict()
        .flags(&["-q --quiet --short --recurse"])
        .operands(OperandMeaning::Call(git::symbolic_ref)),
    ProgramSpec::works("git-help")
        .strict()
        .flags(&["-a --all -g --guides -c --config --verbose"])
        .entries(&[asks_flag(
            "-w --web -i --info -m --man",
            DoubtReason::Starts,
        )]),
    ProgramSpec::works("git-add git-stage")
        .strict()
        .flags(&[
            "-n --dry-run -v --verbose -i --interactive -p --patch -f --force -u --update \
                --renormalize -N",
            "--intent-to-add -A --all --ignore-removal --refresh --ignore-errors \
                --ignore-missing --sparse",
            "--pathspec-file-nul --warn-embedded-repo",
        ])
        .values(&["--chmod -U --unified --inter-hunk-context"])
        .entries(&[
            asks_flag("-e --edit", DoubtReason::Interactive),
            taken("--pathspec-from-file"),
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-commit")
        .strict()
        .flags(&[
            "-q --quiet -v --verbose --reset-author -s --signoff --no-edit --status \
                --no-gpg-sign",
            "-a --all -i --include --interactive -p --patch -o --only -n --no-verify --verify \
                --dry-run",
            "--short --branch --ahead-behind --porcelain --long -z --null --amend \
                --no-post-rewrite -u?",
            "--untracked-files --allow-empty --allow-empty-message --no-status --pathspec-file-nul",
        ])
        .values(&[
            "-m --message --author --date -C --reuse-message --fixup --squash",
            "--trailer --cleanup",
        ])
        .entries(&[
            taken("-F --file -t --template --pathspec-from-file"),
            asks_flag("-e --edit", DoubtReason::Interactive),
            asks("-c --reedit-message", DoubtReason::Interactive),
        ])
        .shared(SIGN_ENTRIES),
    ProgramSpec::works("git-checkout git-switch git-restore")
        .strict()
        .flags(&[CHECKOUT, "-S --staged -W --worktree --ignore-unmerged"])
        .values(&[CHECKOUT_VALUES])
        .shared(CHECKOUT_ENTRIES)
        .operands(OperandMeaning::Call(git::checkout)),
    ProgramSpec::works("git-reset")
        .strict()
        .flags(&[
            "-q --quiet --no-refresh --refresh --mixed --soft --keep --recurse-submodules -p \
                --patch -N",
            "--intent-to-add --pathspec-file-nul",
        ])
        .entries(&[
            asks_flag("--hard --merge", DoubtReason::Loses),
            taken("--pathspec-from-file"),
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-rm git-mv")
        .strict()
        .flags(&[
            "-n --dry-run -q --quiet --cached -r --ignore-unmatch --sparse -v --verbose \
            -k --pathspec-file-nul",
        ])
        .entries(&[
            asks_flag("-f --force", DoubtReason::Loses),
            taken("--pathspec-from-file"),
        ])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("git-stash")
        .strict()
        .flags(&[
            DIFF,
            "-k --keep-index --no-keep-index -u --include-untracked -a --all --index \
                --only-untracked -S",
            "--staged --pathspec-file-nul",
        ])
        .values(&[DIFF_VALUES, LOG_VALUES, "-m --message"])
        .entries(&[
            asks_flag("--ext-diff --textconv", DoubtReason::Starts),
            asks("--output", DoubtReason::Writes),
            taken("--pathspec-from-file"),
        ])
        .operands(OperandMeaning::Call(git::stash)),
    ProgramSpec::works("git-cherry-pick git-revert")
        .strict()
        .flags(&[
            MERGE,
            "-s --allow-empty --allow-empty-message --keep-redundant-commits -x -r \
            --reference",
        ])
        .values(&["-X --strategy-option --cleanup -m --mainline --empty"])
        .entries(&[
            checks("--strategy", other_strategy),
            asks_flag("-e --edit", DoubtReason::Interactive),
        ])
        .shared(SIGN_ENTRIES),
    ProgramSpec::works("git-merge")
        .strict()
        .flags(&[MERGE])
        .values(&[MERGE_VALUES])
        .shared(MERGE_ENTRIES)
        .entries(&[
            taken("-F --file"),
            asks_flag("-e --edit", DoubtReason::Interactive),
            asks_flag("-S --gpg-sign", DoubtReason::Starts).glued(),
            asks_flag("--verify-signatures", DoubtReason::Starts),
        ]),
    ProgramSpec::works("git-rebase")
        .strict()
        .flags(&[
            MERGE,
            "--keep-base --committer-date-is-author-date --reset-author-date --ignore-date -f",
            "--ignore-whitespace --force-rebase --show-current-patch --apply -m --merge \
                --keep-empty",
            "--autosquash --update-refs --allow-empty-message -r? --rebase-merges --fork-point \
                --root",
            "--reschedule-failed-exec --reapply-cherry-picks",
        ])
        .values(&[MERGE_VALUES, "--onto --whitespace -C --empty"])
        .shared(MERGE_ENTRIES)
        .entries(&[
            starts("-x --exec"),
            asks_flag("-S --gpg-sign", DoubtReason::Starts).glued(),
            asks_flag(
                "-i --interactive --edit-todo -p --preserve-merges",
                DoubtReason::Interactive,
            ),
        ])
        .operands(OperandMeaning::Ignored),
    ProgramSpec::works("git-fetch")
        .strict()
        .flags(&[REMOTE])
        .values(&[REMOTE_VALUES])
        .shared(UPLOAD)
        .operands(OperandMeaning::Call(git::remote)),
    ProgramSpec::works("git-pull")
        .strict()
        .flags(&[MERGE, REMOTE, "-r? --rebase --no-rebase"])
        .values(&[MERGE_VALUES, REMOTE_VALUES])
        .shared(UPLOAD)
        .entries(&[
            checks("-s --strategy", other_strategy),
            asks_flag("-e --edit", DoubtReason::Interactive),
            asks_flag("-S --gpg-sign", DoubtReason::Starts).glued(),
            asks_flag("--verify-signatures", DoubtReason::Starts),
        ])
        .operands(OperandMeaning::Call(git::remote)),
    ProgramSpec::works("git-ls-remote")
        .strict()
        .flags(&[
            "-q --quiet -t --tags -b --branches -h --heads --refs --get-url --exit-code \
            --symref",
        ])
        .values(&["--sort -o --server-option"])
        .entries(&[starts("--upload-pack --exec")])
        .operands(OperandMeaning::Call(git::remote)),
    ProgramSpec::works("git-push")
        .strict()
        .flags(&[
            "-v --verbose -q --quiet --all --branches --tags -n --dry-run --porcelain --thin \
                --progress -u",
            "--set-upstream --verify --no-verify --follow-tags --atomic -4 --ipv4 -6 \
                --ipv6",
            "--force-if-includes",
        ])
        .values(&["-o --push-option --recurse-submodules"])
        .entries(&[
            starts("--receive-pack --exec"),
            asks("--signed", DoubtReason::Starts).glued(),
            asks_flag(
                "-f --force --force-with-lease --mirror -d --delete --prune",
                DoubtReason::Loses,
            ),
            asks("--repo", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Call(git::push)),
    ProgramSpec::works("git-clone")
        .strict()
        .flags(&[
            "-v --verbose -q --quiet --progress --reject-shallow -n --no-checkout -l --local \
                --no-hardlinks",
            "--dissociate --single-branch --no-single-branch --no-tags --shallow-submodules \
                --sparse -4",
            "--ipv4 -6 --ipv6 --also-filter-submodules --recurse-submodules --recursive \
                --remote-submodules",
        ])
        .values(&[
            "-j --jobs -o --origin -b --branch --depth --shallow-since --shallow-exclude \
            --ref-format --server-option --filter",
        ])
        .entries(&[
            asks("-c --config --template", DoubtReason::Loads),
            starts("-u --upload-pack"),
            asks(
                "--reference --reference-if-able --separate-git-dir --bundle-uri",
                DoubtReason::Elsewhere,
            ),
            asks_flag("--bare --mirror -s --shared", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Call(git::clone)),
    ProgramSpec::works("git-init")
        .strict()
        .flags(&["-q --quiet --shared"])
        .values(&["-b --initial-branch --object-format --ref-format"])
        .entries(&[
            asks("--template", DoubtReason::Loads),
            asks("--separate-git-dir", DoubtReason::Elsewhere),
            asks_flag("--bare", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Call(git::made)),
    ProgramSpec::works("git-config")
        .strict()
        .flags(&[
            "--global --system --local --worktree --get --get-all --get-regexp --get-urlmatch \
                -l --list",
            "-z --null --name-only --show-origin --show-scope --bool --int --bool-or-int \
                --path --all",
            "--includes --no-includes --get-color --get-colorbool --regexp --fixed-value",
        ])
        .values(&["--type --default --value --url"])
        .entries(&[
            asks("-f --file --blob", DoubtReason::Elsewhere),
            asks_flag(
                "--add --replace-all --unset --unset-all --rename-section \
                --remove-section",
                DoubtReason::Loads,
            ),
            asks_flag("-e --edit", DoubtReason::Interactive),
        ])
        .operands(OperandMeaning::Call(git::config)),
    ProgramSpec::works("git-worktree")
        .strict()
        .flags(&[
            "-f -d --detach --checkout --no-checkout --guess-remote --track --lock -q \
            --quiet --porcelain -z -v --verbose -n --dry-run --orphan --relative-paths",
        ])
        .values(&["-b -B --reason --expire"])
        .entries(&[asks_flag("--force", DoubtReason::Loses)])
        .operands(OperandMeaning::Call(git::worktree)),
    ProgramSpec::works("git-submodule")
        .strict()
        .flags(&[
            "-q --quiet --cached --init --recursive --progress --no-fetch -N --checkout --merge \
                --rebase --single-branch --files --recommend-shallow --remote --force -f",
        ])
        .values(&["--depth -j --jobs --filter --branch -b --name -n --summary-limit"])
        .entries(&[asks("--reference", DoubtReason::Elsewhere)])
        .operands(OperandMeaning::Call(git::submodule)),
    ProgramSpec::works("git-remote")
        .strict()
        .flags(&["-v --verbose -n --dry-run --all --push -p --prune"])
        .operands(OperandMeaning::Call(git::remotes)),
    ProgramSpec::works("git-bisect")
        .strict()
        .flags(&["--no-checkout --first-parent"])
        .values(&["--term-new --term-bad --term-old --term-good"])
        .operands(OperandMeaning::Call(git::bisect)),
    ProgramSpec::works("git-notes")
        .strict()
        .flags(&["-f --force --allow-empty --stdin -q -v --no-stripspace"])
        .values(&["--ref -m --message -c -C --reuse-message --separator"])
        .entries(&[taken("-F --file")])
        .operands(OperandMeaning::Call(git::notes)),
    ProgramSpec::works("git-bundle")
        .strict()
        .flags(&["-q --quiet --progress --all --branches --tags"])
        .values(&["--since --version"])
        .operands(OperandMeaning::Call(git::bundle)),
    ProgramSpec::works("git-archive")
        .strict()
        .flags(&["-l --list -v --verbose --worktree-attributes"])
        .values(&["--format --prefix --mtime --add-virtual-file"])
        .entries(&[
            writes("-o --output"),
            asks("--remote", DoubtReason::Elsewhere),
            starts("--exec"),
            taken("--add-file"),
        ])
        .operands(OperandMeaning::Call(git::paths)),
    ProgramSpec::works("git-format-patch")
        .strict()
        .flags(&[
            DIFF,
            "-n --numbered -N --no-numbered --signoff --stdout --cover-letter --numbered-files \
                --rfc -k",
            "--keep-subject --zero-commit --ignore-if-in-upstream --from --attach --inline \
                --thread",
            "--progress --force-in-body-from --no-stat --no-binary --notes --root",
        ])
        .values(&[
            DIFF_VALUES,
            "--suffix --start-number -v --reroll-count --filename-max-length \
                --cover-from-description",
            "--subject-prefix --add-header --to --cc --in-reply-to --signature --base --interdiff",
            "--range-diff --creation-factor --max-count --since",
        ])
        .entries(&[
            writes("-o --output-directory --output"),
            asks_flag("--ext-diff --textconv", DoubtReason::Starts),
            taken("--signature-file --description-file"),
        ]),
    ProgramSpec::works("git-apply")
        .strict()
        .flags(&[
            "--stat --numstat --summary --check --index -N --intent-to-add --cached --apply -3 \
                --3way -R",
            "--reverse --reject -z -C -v --verbose -q --quiet --recount --allow-empty --binary \
                --no-add",
            "--ignore-whitespace --ignore-space-change --unidiff-zero --allow-overlap \
                --inaccurate-eof",
        ])
        .values(&["-p --whitespace --exclude --include"])
        .entries(&[
            inside("--directory", DoubtReason::Elsewhere),
            asks_flag("--unsafe-paths", DoubtReason::Elsewhere),
            writes("--build-fake-ancestor"),
        ])
        .operands(OperandMeaning::Call(git::apply)),
    ProgramSpec::works("git-clean")
        .strict()
        .flags(&["-n --dry-run -d -f --force -x -X -q --quiet -i --interactive"])
        .values(&["-e --exclude"])
        .operands(OperandMeaning::Call(git::clean)),
    ProgramSpec::works("git-gc")
        .strict()
        .flags(&["-q --quiet --auto --aggressive --cruft --detach --no-prune"])
        .entries(&[asks_flag("--prune --force", DoubtReason::Loses)]),
    ProgramSpec::doubtful(
        "git-difftool git-mergetool git-filter-branch git-filter-repo git-hook git-maintenance \
            git-daemon git-instaweb git-web--browse git-send-email git-svn git-p4 git-cvsserver \
            git-shell git-upload-pack git-receive-pack git-upload-archive git-for-each-repo \
            git-gui git-citool gitk",
        DoubtReason::Starts,
    ),
    ProgramSpec::doubtful(
        "git-credential git-credential-store git-credential-cache git-imap-send git-request-pull",
        DoubtReason::Service,
    ),
    ProgramSpec::doubtful(
        "git-am git-quiltimport git-fast-import git-update-ref git-prune git-replace \
            git-read-tree git-checkout-index git-unpack-objects git-update-index \
            git-sparse-checkout git-repack",
        DoubtReason::Loses,
    ),
];
