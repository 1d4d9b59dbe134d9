//! Package managers and the runners that come with them. A grant covers the project's own
//! scripts and its dependencies. It does not cover packages from elsewhere, global
//! installs, publishing, or options that change which shell, directory or registry is
//! used.

use super::inline;
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramSpec,
    ProgramSubcommands, asks, asks_flag, calls, inside, lists, starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("npm pnpm yarn")
        .values(&[
            "-w --workspace --filter --loglevel --omit --include --tag --otp --depth \
            --reporter",
        ])
        .flags(&[
            "--production --prod --silent --ignore-scripts --save --save-dev --save-exact",
            "-D -E -S --frozen-lockfile --workspaces --if-present --offline --prefer-offline \
                --no-save",
        ])
        .entries(NPM)
        .operands(OperandMeaning::Call(npm)),
    ProgramSpec::works("npx bunx pnpx")
        .style(ProgramOptionStyle::Posix)
        .flags(&["-y --yes --no --no-install -q --quiet --ignore-existing --bun"])
        .values(&["-w --workspace"])
        .entries(&[
            asks("-p --package", DoubtReason::Installs),
            starts("-c --call"),
            starts("--shell --script-shell --node-arg"),
            asks(
                "--prefix --userconfig --registry --cache",
                DoubtReason::Elsewhere,
            ),
        ])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::works("bun")
        .values(&["--filter --timeout --rerun-each --bail"])
        .flags(&[
            "--version --revision --silent --if-present --hot --watch --coverage \
            --production",
        ])
        .entries(&[
            calls("-e --eval -p --print", inline::code),
            asks(
                "-r --preload --require --import -c --config --env-file --define",
                DoubtReason::Loads,
            ),
            asks("--cwd", DoubtReason::Elsewhere),
            asks_flag("-g --global", DoubtReason::Installs),
            asks(
                "--inspect --inspect-brk --inspect-wait",
                DoubtReason::Socket,
            )
            .glued(),
            writes("--outdir --outfile"),
        ])
        .operands(OperandMeaning::Call(bun)),
    ProgramSpec::works("corepack nvm fnm volta n pyenv rbenv sdk")
        .operands(OperandMeaning::Doubt(DoubtReason::Installs)),
    ProgramSpec::works("pip pip3 pipx")
        .values(&[
            "-c --constraint --timeout --retries --format --proxy --exclude \
            --python-version",
        ])
        .flags(&["--upgrade -U --user-agent --no-deps --quiet --progress-bar --pre --dry-run"])
        .entries(PIP)
        .operands(OperandMeaning::Call(pip)),
    ProgramSpec::works("uv")
        .values(&["--extra --group --python -p --with --package --color --resolution"])
        .flags(&["--all-extras --frozen --locked --no-sync --dev --quiet --upgrade -m --module"])
        .style(ProgramOptionStyle::Posix)
        .entries(&[
            asks(
                "--directory --project --config-file --env-file",
                DoubtReason::Elsewhere,
            ),
            asks(
                "--index-url --index --extra-index-url --default-index -i",
                DoubtReason::Elsewhere,
            ),
        ])
        .operands(OperandMeaning::Call(uv)),
    ProgramSpec::works("poetry pipenv pdm rye hatch conda mamba micromamba")
        .style(ProgramOptionStyle::Posix)
        .entries(&[asks(
            "-C --directory --project -p --prefix -n",
            DoubtReason::Elsewhere,
        )])
        .operands(OperandMeaning::Subs(&POETRY)),
    ProgramSpec::works("bundle bundler")
        .style(ProgramOptionStyle::Posix)
        .entries(&[asks("--gemfile --path", DoubtReason::Elsewhere)])
        .operands(OperandMeaning::Subs(&BUNDLE)),
    ProgramSpec::works("gem").operands(OperandMeaning::Subs(&GEM)),
    ProgramSpec::works("composer")
        .entries(&[asks("-d --working-dir", DoubtReason::Elsewhere)])
        .operands(OperandMeaning::Subs(&COMPOSER)),
    ProgramSpec::works("twine easy_install").operands(OperandMeaning::Doubt(DoubtReason::Installs)),
    ProgramSpec::doubtful(
        "apt apt-get aptitude dpkg yum dnf rpm pacman zypper apk brew port snap emerge \
            xbps-install pkg opkg",
        DoubtReason::Installs,
    ),
];

const NPM: &[ProgramOptionEntry] = &[
    inside("--prefix -C --dir --cwd", DoubtReason::Elsewhere),
    starts("--script-shell --shell"),
    starts("--editor --viewer --browser --init-module"),
    asks_flag("-g --global", DoubtReason::Installs),
    asks("--location", DoubtReason::Installs),
    asks(
        "--node-options --userconfig --globalconfig --onload-script --use-yarnrc",
        DoubtReason::Loads,
    ),
    asks(
        "--registry --proxy --https-proxy --cache --store-dir --modules-folder",
        DoubtReason::Elsewhere,
    ),
    asks("-c --call", DoubtReason::Starts).of("exec x"),
    writes("--pack-destination"),
];

const NPM_PLAIN: &str = "run run-script rum urn test t tst start stop restart ci clean-install \
    list ls ll la outdated view info show audit why explain root bin help ping doctor fund \
    search pack rebuild dedupe prune uninstall remove rm un update up upgrade version versions \
    licenses store check build lint format dev workspace workspaces import recursive \
    approve-builds fetch patch";

const NPM_INSTALLS: &str = "install i in add isntall install-test it";

const NPM_DOUBTFUL: &str = "publish unpublish config c set set-script token login logout adduser \
    add-user init create link ln innit edit explore hook org owner team access deprecate \
    dist-tag dist-tags profile star stars unstar pkg shrinkwrap setup self-update global env \
    server deploy cache completion trust sbom repo bugs docs home plugin policies unplug";

const PIP: &[ProgramOptionEntry] = &[
    asks(
        "-i --index-url --extra-index-url -f --find-links --trusted-host",
        DoubtReason::Elsewhere,
    ),
    asks(
        "-t --target --prefix --root --src --build -b --user",
        DoubtReason::Installs,
    ),
    asks(
        "--python --config-settings --global-option --install-option --cert --client-cert",
        DoubtReason::Loads,
    ),
    asks_flag("--break-system-packages", DoubtReason::Installs),
    calls("-r --requirement", requirements),
    inside("-e --editable", DoubtReason::Installs),
    writes("--log --report -d --dest --download-dir -w --wheel-dir --cache-dir"),
];

const POETRY: ProgramSubcommands = ProgramSubcommands {
    plain: "install add remove update lock show check build version env about sync list info \
        search graph verify test fmt",
    doubtful: &[
        (
            "publish config self source cache plugin init new create activate",
            DoubtReason::Installs,
        ),
        ("shell", DoubtReason::Interactive),
    ],
    starting: "run",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const BUNDLE: ProgramSubcommands = ProgramSubcommands {
    plain: "install check list show outdated info update add remove lock version help doctor clean",
    doubtful: &[
        ("config plugin init gem inject", DoubtReason::Loads),
        ("console open viz", DoubtReason::Interactive),
    ],
    starting: "exec",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const GEM: ProgramSubcommands = ProgramSubcommands {
    plain: "list search query info contents environment env outdated which dependency help \
        specification",
    doubtful: &[
        (
            "install i update uninstall push yank owner signin signout build fetch unpack",
            DoubtReason::Installs,
        ),
        ("exec server open cert", DoubtReason::Starts),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const COMPOSER: ProgramSubcommands = ProgramSubcommands {
    plain: "install update require remove show validate outdated audit dump-autoload run-script \
        run test check-platform-reqs why why-not licenses status about diagnose",
    doubtful: &[
        (
            "global config create-project self-update selfupdate init archive browse home",
            DoubtReason::Installs,
        ),
        ("exec", DoubtReason::Starts),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

fn npm(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "exec" | "x" | "dlx" | "node" => view.start_words(&started(sub, rest)),
        _ if lists(NPM_INSTALLS, sub) => packages(view, rest),
        _ if lists(NPM_DOUBTFUL, sub) => view.doubt_word(DoubtReason::Installs, sub),
        // Among the remaining subcommands, pnpm and yarn run scripts of the project by their
        // names.
        _ if lists(NPM_PLAIN, sub) || view.name != "npm" => {}
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

/// Returns the words that are started; `yarn node x` starts node itself.
fn started<'w>(sub: &'w str, rest: &[&'w str]) -> Vec<&'w str> {
    let program = Some(sub).filter(|sub| *sub == "node");
    program.into_iter().chain(rest.iter().copied()).collect()
}

fn bun(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "x" => view.start_words(rest),
        "exec" => rest.iter().for_each(|text| view.start_script(text)),
        "install" | "i" | "add" | "a" => packages(view, rest),
        "publish" | "link" | "init" | "create" | "c" | "upgrade" | "repl" => {
            view.doubt_word(DoubtReason::Installs, sub);
        }
        "run" => run_file(view, rest),
        _ => run_file(view, &parsed.operands),
    }
}

fn run_file(view: &mut CommandInspector<'_>, words: &[&str]) {
    if let Some(file) = words.first()
        && (*file == "-" || view.strays(file))
    {
        view.doubt_word(DoubtReason::Loads, file);
    }
}

/// Asks about packages that do not come from the registry by name.
fn packages(view: &mut CommandInspector<'_>, specifications: &[&str]) {
    for specification in specifications {
        if !is_registry_name(specification) {
            view.doubt_word(DoubtReason::Installs, specification);
        }
    }
}

fn is_registry_name(specification: &str) -> bool {
    let scoped = specification.strip_prefix('@');
    let name = match scoped.and_then(|name| name.split_once('/')) {
        Some((_, name)) => name,
        None if scoped.is_some() => return false,
        None => specification,
    };
    !name.contains(['/', ':', '\\']) && !name.starts_with('.') && !name.is_empty()
}

/// Asks about a requirements file from outside the project.
fn requirements(view: &mut CommandInspector<'_>, path: &str) {
    if view.strays(path) || path.contains("://") {
        view.doubt_word(DoubtReason::Installs, path);
    }
    view.read(path);
}

fn pip(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "install" | "wheel" | "download" => {
            if view.name == "pipx" {
                return view.doubt_word(DoubtReason::Installs, sub);
            }
            for specification in rest {
                let is_here = !specification.contains("://") && !view.strays(specification);
                if !is_here || specification.contains("git+") || specification.contains(" @ ") {
                    view.doubt_word(DoubtReason::Installs, specification);
                }
            }
        }
        "run" => {
            view.doubt_word(DoubtReason::Installs, sub);
            view.start_words(rest);
        }
        "list" | "show" | "freeze" | "check" | "index" | "search" | "help" | "inspect" | "hash"
        | "debug" | "environment" => {}
        "uninstall" => view.doubt_word(DoubtReason::Installs, sub),
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

fn uv(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    match *sub {
        "run" => {
            let words = run_words(view, rest);
            view.start_words(words);
        }
        "pip" => {
            let words = std::iter::once("pip").chain(rest.iter().copied());
            let words: Vec<String> = words.map(str::to_owned).collect();
            view.also(&words);
        }
        "sync" | "lock" | "tree" | "version" | "help" | "add" | "remove" | "build" | "export" => {
            option_doubts(view, rest);
        }
        "venv" => rest
            .iter()
            .filter(|word| !word.starts_with('-'))
            .for_each(|path| view.write(path)),
        "tool" | "publish" | "self" | "cache" | "python" | "init" => {
            view.doubt_word(DoubtReason::Installs, sub);
            view.start_words(rest.get(1..).unwrap_or_default());
        }
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

/// Skips the options of `uv run`; few of them have a value.
fn run_words<'r, 'w>(view: &mut CommandInspector<'_>, words: &'r [&'w str]) -> &'r [&'w str] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += match *word {
            "--" => return &words[at + 1..],
            "--extra" | "--group" | "--package" | "-p" | "--python" | "--only-group" => 2,
            "--with"
            | "--with-requirements"
            | "--with-editable"
            | "--env-file"
            | "--directory"
            | "--project"
            | "--index"
            | "--index-url" => {
                view.doubt_word(DoubtReason::Installs, word);
                2
            }
            "-m" | "--module" | "--script" | "-s" | "--gui-script" => {
                view.doubt_word(DoubtReason::Inline, word);
                1
            }
            _ => {
                option_doubts(view, &[word]);
                1
            }
        };
    }
    words.get(at..).unwrap_or_default()
}

fn option_doubts(view: &mut CommandInspector<'_>, words: &[&str]) {
    for word in words {
        let name = word.split('=').next().unwrap_or_default();
        let harmful = "--with --env-file --directory --project --index --index-url --config-file \
            --default-index --extra-index-url --editable --git";
        if lists(harmful, name) {
            view.doubt_word(DoubtReason::Elsewhere, word);
        }
    }
}
