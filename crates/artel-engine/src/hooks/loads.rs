//! Finds out what a hook's command may load without naming it in a plain word.
//!
//! `make -s lint` runs what a `Makefile` says, `python3 -m check` a module, and nobody
//! knows which file `sh tools/c*` will mean next year. For such a command, the files at
//! the root of the folder that it runs in count as its scripts. For other programs, such
//! as formatters, only the settings there do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Commands that load nothing: shell keywords, and programs that only read their
/// arguments.
const HARMLESS: &[&str] = &[
    ":",
    "[",
    "[[",
    "awk",
    "basename",
    "break",
    "case",
    "cat",
    "cd",
    "continue",
    "curl",
    "cut",
    "date",
    "diff",
    "dirname",
    "done",
    "echo",
    "esac",
    "exit",
    "export",
    "false",
    "fd",
    "fdfind",
    "fi",
    "find",
    "for",
    "grep",
    "head",
    "jq",
    "kill",
    "local",
    "ls",
    "mkdir",
    "notify-send",
    "printf",
    "pwd",
    "read",
    "return",
    "rg",
    "sed",
    "set",
    "shift",
    "sleep",
    "sort",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "tree",
    "true",
    "trap",
    "uniq",
    "unset",
    "wait",
    "wc",
    "}",
];

/// Words that can precede the actual command.
const BEFORE: &[&str] = &[
    "!", "builtin", "command", "do", "elif", "else", "env", "exec", "if", "nohup", "then", "time",
    "until", "while", "{",
];

/// Programs that run a file given to them.
const INTERPRETERS: &[&str] = &[
    ".", "bash", "bun", "dash", "deno", "eval", "fish", "ksh", "lua", "node", "perl", "php",
    "pypy3", "python", "python2", "python3", "ruby", "sh", "source", "tsx", "zsh",
];

/// Programs that run what a build file says.
const BUILDERS: &[&str] = &[
    "ant", "bmake", "bundle", "bunx", "cargo", "cmake", "composer", "gmake", "gradle", "gradlew",
    "grunt", "gulp", "invoke", "just", "make", "meson", "mix", "mvn", "mvnw", "ninja", "nox",
    "npm", "npx", "pnpm", "rake", "sbt", "task", "tox", "yarn",
];

/// Programs that run the commands given to them, one by one or as a folder.
const RUNNERS: &[&str] = &["parallel", "run-parts", "xargs"];

/// Programs that run a command for each file that they find, after the words in
/// `EXECUTING`.
const FINDERS: &[&str] = &["fd", "fdfind", "find"];
const EXECUTING: &[&str] = &[
    "--exec",
    "--exec-batch",
    "-X",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-x",
];

/// Programs that list the contents of a folder. Their arguments count if another program
/// runs what they list.
const LISTERS: &[&str] = &[
    "cat", "echo", "fd", "fdfind", "find", "for", "git", "grep", "head", "ls", "printf", "rg",
    "sort", "tail", "tree",
];

/// Programs that examine or test the files of a folder, which is what a run is for:
/// formatters, linters, compilers and test runners. They load their settings.
const CHECKERS: &[&str] = &[
    "actionlint",
    "ava",
    "bandit",
    "bats",
    "biome",
    "black",
    "clang-format",
    "clang-tidy",
    "codespell",
    "cppcheck",
    "ctest",
    "detekt",
    "djlint",
    "dprint",
    "eslint",
    "flake8",
    "gofmt",
    "goimports",
    "golangci-lint",
    "hadolint",
    "isort",
    "jest",
    "ktlint",
    "markdownlint",
    "mocha",
    "mypy",
    "oxlint",
    "phpcs",
    "phpstan",
    "phpunit",
    "playwright",
    "prettier",
    "prove",
    "pylint",
    "pyright",
    "pytest",
    "rspec",
    "rubocop",
    "ruff",
    "rustfmt",
    "shellcheck",
    "shfmt",
    "sqlfluff",
    "staticcheck",
    "stylelint",
    "stylua",
    "swiftformat",
    "swiftlint",
    "taplo",
    "tsc",
    "vitest",
    "vulture",
    "yamllint",
    "yapf",
];

/// Build files that also count outside the root folder.
const BUILD_FILES: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "build.ninja",
    "build.rs",
    "build.sbt",
    "build.xml",
    "Cargo.toml",
    "CMakeLists.txt",
    "composer.json",
    "Gemfile",
    "GNUmakefile",
    "gulpfile.js",
    "gulpfile.mjs",
    "Gruntfile.js",
    "justfile",
    "Justfile",
    ".justfile",
    "makefile",
    "Makefile",
    "meson.build",
    "mix.exs",
    "noxfile.py",
    "package.json",
    ".npmrc",
    "pom.xml",
    "rakefile",
    "Rakefile",
    "settings.gradle",
    "tasks.py",
    "Taskfile.yaml",
    "Taskfile.yml",
    "tox.ini",
];

/// Most folders that a command may name and still be examined.
const MOST_FOLDERS: usize = 8;

/// Characters with which the shell expands a word.
const OPEN: [char; 8] = ['*', '?', '[', ']', '{', '}', '$', '~'];

/// The files and folders that a command may load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HookLoadablePaths {
    /// Files that count like scripts named by the command.
    pub(super) scripts: BTreeSet<PathBuf>,
    /// Folders that count with everything in them.
    pub(super) wholes: BTreeSet<PathBuf>,
    /// Folders whose direct files count.
    pub(super) tops: BTreeSet<PathBuf>,
    /// Folders of whose direct files only the settings count.
    pub(super) settings: BTreeSet<PathBuf>,
    /// Files that count by themselves.
    pub(super) files: BTreeSet<PathBuf>,
}

impl HookLoadablePaths {
    /// Finds what a command in a tree may load. The tree's path is free of links.
    pub(super) fn of(command: &str, tree: &Path) -> Self {
        let mut looking = HookLoadScan {
            tree,
            folders: vec![tree.to_owned()],
            entered: vec![tree.to_owned()],
            loads: Self::default(),
        };
        let segments = segments(command);
        for segment in &segments {
            looking.segment(segment);
        }
        if !looking.loads.tops.is_empty() {
            // `for it in tools/*; do sh $it; done`, `cat tools/c* | sh`,
            // `find tools | xargs sh`.
            for words in segments.iter().filter(|words| is_list(words)) {
                let is_lister = words.first().is_some_and(|word| is_of(LISTERS, word));
                for word in words.iter() {
                    if is_open(word) {
                        looking.open(word);
                    } else if is_lister {
                        looking.named_folder(word);
                    }
                }
            }
        }
        looking.loads
    }
}

struct HookLoadScan<'t> {
    tree: &'t Path,
    /// The folders that the command names, and the one in which it starts.
    folders: Vec<PathBuf>,
    /// The folders in which it works.
    entered: Vec<PathBuf>,
    loads: HookLoadablePaths,
}

impl HookLoadScan<'_> {
    fn segment(&mut self, words: &[String]) {
        let is_before = |word: &&String| BEFORE.contains(&word.as_str()) || is_assignment(word);
        let skipped = words.iter().take_while(is_before).count();
        let nothing = String::new();
        let after = words.get(skipped..).and_then(<[String]>::split_first);
        let (head, rest) = after.unwrap_or((&nothing, &[]));
        let assigned = words.iter().take(skipped);
        let assigned = assigned.filter_map(|word| Some(word.split_once('=')?.1.to_owned()));
        for word in assigned.chain(rest.iter().cloned()) {
            let folder = self.inside(&word).filter(|path| path.is_dir());
            let folder = folder.filter(|folder| !self.folders.contains(folder));
            self.folders
                .extend(folder.filter(|_| self.folders.len() < MOST_FOLDERS));
        }
        if head == "cd" {
            let folder = rest.first().and_then(|word| self.inside(word));
            self.entered
                .extend(folder.filter(|_| self.entered.len() < MOST_FOLDERS));
        }
        let all = words.get(skipped..).unwrap_or_default();
        let is_harmless = HARMLESS.contains(&head.as_str()) && !finds_and_runs(all);
        if is_harmless || head.chars().all(|it| it.is_ascii_digit()) {
            return;
        }
        // `timeout 5 sh tools/c*`: the program behind a wrapper counts.
        let start = all
            .iter()
            .position(|word| is_of(INTERPRETERS, word) || is_of(BUILDERS, word));
        let program = start.and_then(|at| all.get(at..)).unwrap_or(all);
        let code = code_words(program);
        // A checker does not run the files that it is given.
        let is_folder = |word: &str| self.inside(word).is_some_and(|path| path.is_dir());
        let mut named = all.iter();
        let is_checker = named.any(|word| is_of(CHECKERS, word) && !is_folder(word));
        let runs_any = code.iter().any(|word| is_open(word)) || runs_what_it_is_told(all);
        let any_open = runs_any && !is_checker;
        // A program that runs neither files nor build files, such as a formatter, loads
        // its settings. Counting more would disable it whenever a run edits the files that
        // it is meant to check.
        let entered = self.entered.iter().cloned();
        if any_open || (start.is_some() && !all.iter().any(|word| self.is_file(word))) {
            self.loads.tops.extend(entered);
        } else if start.is_none() && !self.is_file(head) {
            self.loads.settings.extend(entered);
        }
        for word in code.iter().filter(|word| is_open(word)) {
            self.open(word);
        }
        if !is_checker && !is_of(LISTERS, head) && !self.is_file(head) {
            let given = match start {
                Some(_) if program.first().is_some_and(|word| is_of(BUILDERS, word)) => &[],
                Some(_) => code,
                None => program,
            };
            given.iter().for_each(|word| self.named_folder(word));
        }
        if program.first().is_some_and(|word| is_of(BUILDERS, word)) {
            self.build_files();
        }
        let mut modules = program.windows(2).filter_map(|pair| match pair {
            [flag, name] if flag == "-m" => Some(name.clone()),
            _ => None,
        });
        if let Some(name) = modules.next() {
            self.module(&name);
        }
    }

    fn inside(&self, word: &str) -> Option<PathBuf> {
        if word.is_empty() || word.starts_with('-') || is_open(word) {
            return None;
        }
        let path = self.tree.join(word).canonicalize().ok()?;
        path.starts_with(self.tree).then_some(path)
    }

    fn is_file(&self, word: &str) -> bool {
        let is_plain = !word.is_empty() && !word.starts_with('-') && !is_open(word);
        let mut folders = self.folders.iter();
        is_plain && folders.any(|folder| folder.join(word).is_file())
    }

    /// Handles a word that the shell expands: counts the folder with which it surely
    /// begins, or the file or folder with which it ends, whatever comes before.
    fn open(&mut self, word: &str) {
        let sure = word.split(OPEN).next().unwrap_or_default();
        let folder = sure.rsplit_once('/').map(|(folder, _)| folder);
        if let Some(folder) = folder.and_then(|folder| self.inside(folder)) {
            self.whole(folder);
        }
        let mut rest = word;
        while let Some((_, after)) = rest.split_once('/') {
            rest = after;
            let plain = Some(rest).filter(|it| !it.is_empty() && !is_open(it));
            let files = self.folders.iter().filter_map(|folder| {
                let file = folder.join(plain?).canonicalize().ok()?;
                (file.starts_with(self.tree) && file.is_file()).then_some(file)
            });
            let files: Vec<_> = files.collect();
            if !files.is_empty() {
                self.loads.scripts.extend(files);
            } else if let Some((folder, _)) =
                rest.split(OPEN).next().and_then(|it| it.rsplit_once('/'))
                && let Some(folder) = self.inside(folder)
            {
                self.whole(folder);
            }
        }
    }

    /// Counts a folder that a program is given, also as the value of an option.
    fn named_folder(&mut self, word: &str) {
        let option = word.strip_prefix('-').and_then(|it| it.split_once('='));
        let name = option.map_or(word, |(_, value)| value);
        if let Some(folder) = self.inside(name).filter(|folder| folder.is_dir()) {
            self.whole(folder);
        }
    }

    fn whole(&mut self, folder: PathBuf) {
        if folder == self.tree {
            self.loads.tops.insert(folder)
        } else {
            folder.is_dir() && self.loads.wholes.insert(folder)
        };
    }

    fn build_files(&mut self) {
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let files = entries.filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                BUILD_FILES.contains(&&*name) || name.ends_with(".mk")
            });
            let files = files.filter_map(|entry| entry.path().canonicalize().ok());
            let files = files.filter(|path| path.starts_with(self.tree) && path.is_file());
            self.loads.files.extend(files);
        }
    }

    /// Counts a Python module: a file with everything beside it, or a folder.
    fn module(&mut self, name: &str) {
        let path = name.replace('.', "/");
        if let Some(file) = self.inside(&format!("{path}.py")) {
            self.loads.scripts.insert(file);
        }
        let top = path.split('/').next().unwrap_or_default();
        if let Some(folder) = self.inside(top).filter(|_| !top.is_empty()) {
            self.whole(folder);
        }
    }
}

/// Returns the words that determine what a program runs: the program itself, and the first
/// argument of an interpreter. After an option, any word could be that argument.
fn code_words(program: &[String]) -> &[String] {
    let is_interpreter = program.first().is_some_and(|it| is_of(INTERPRETERS, it));
    let has_options = program.get(1).is_some_and(|word| word.starts_with('-'));
    let most = match (is_interpreter, has_options) {
        (true, true) => program.len(),
        (true, false) => 2,
        (false, _) => 1,
    };
    program.get(..most.min(program.len())).unwrap_or_default()
}

fn is_executing(word: &str) -> bool {
    EXECUTING.contains(&word)
}

fn finds_and_runs(words: &[String]) -> bool {
    let is_finder = words.first().is_some_and(|head| is_of(FINDERS, head));
    is_finder && words.iter().any(|word| is_executing(word))
}

/// Returns whether a program runs what another program prints, or what it finds.
fn runs_what_it_is_told(words: &[String]) -> bool {
    let mut pairs = words.windows(2);
    if finds_and_runs(words)
        && pairs.any(|pair| matches!(pair, [one, next] if is_executing(one) && is_open(next)))
    {
        return true;
    }
    let Some(at) = words.iter().position(|word| is_of(RUNNERS, word)) else {
        return false;
    };
    let mut given = words.iter().skip(at + 1);
    let first = given.find(|word| !word.starts_with('-'));
    match words.get(at) {
        Some(runner) if is_of(&["parallel"], runner) && first.is_none() => true,
        _ => first.is_some_and(|word| is_open(word)),
    }
}

/// Returns whether a command lists things for others to run.
fn is_list(words: &[String]) -> bool {
    let head = words.first();
    head.is_some_and(|head| HARMLESS.contains(&head.as_str()) || is_of(LISTERS, head))
}

fn is_of(names: &[&str], word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_python = names.contains(&"python") && name.starts_with("python3.");
    is_python || names.contains(&name)
}

fn is_open(word: &str) -> bool {
    word.contains(OPEN)
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        let begins = letters
            .next()
            .is_some_and(|it| it.is_alphabetic() || it == '_');
        begins && letters.all(|it| it.is_alphanumeric() || it == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Splits a command roughly into the commands that it consists of. A command substitution
/// is such a command too, and leaves a `$` in the place of its output.
fn segments(command: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let (mut word, mut quote, mut last) = (String::new(), None, ' ');
    // The quotes around the open parentheses and backticks.
    let (mut around, mut ticked): (Vec<Option<char>>, Option<Option<char>>) = (Vec::new(), None);
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some('\''), letter) => word.push(letter),
            (None, '\'' | '"') => quote = Some(letter),
            (_, '`') => {
                word.push('$');
                next(&mut all, &mut word);
                (quote, ticked) = match ticked {
                    Some(outer) => (outer, None),
                    None => (None, Some(quote)),
                };
            }
            (_, '$') if letters.next_if_eq(&'(').is_some() => {
                word.push('$');
                next(&mut all, &mut word);
                around.push(quote.take());
            }
            (_, '\\') => word.extend(letters.next()),
            (None, '&') if last == '>' || letters.peek() == Some(&'>') => {}
            (None, '(') => {
                next(&mut all, &mut word);
                around.push(None);
            }
            (None, ')') => {
                next(&mut all, &mut word);
                quote = around.pop().flatten();
            }
            (None, ';' | '|' | '&' | '\n') => next(&mut all, &mut word),
            (None, '<' | '>') => end(&mut all, &mut word),
            (None, letter) if letter.is_whitespace() => end(&mut all, &mut word),
            (_, letter) => word.push(letter),
        }
        last = letter;
    }
    end(&mut all, &mut word);
    all.retain(|words| !words.is_empty());
    all
}

/// Ends the current word and its command.
fn next(all: &mut Vec<Vec<String>>, word: &mut String) {
    end(all, word);
    all.push(Vec::new());
}

fn end(all: &mut [Vec<String>], word: &mut String) {
    if let Some(words) = all.last_mut().filter(|_| !word.is_empty()) {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_loaded_without_a_plain_word_is_known_by_the_form_of_the_command() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().canonicalize().unwrap();
        for file in [
            "tools/dry.sh",
            "tools/e.py",
            "sub/Makefile",
            "Makefile",
            "prove/all.sh",
            "q",
        ] {
            fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
            fs::write(tree.join(file), "x").unwrap();
        }
        const ROOT: &str = "+.";
        const SETTINGS: &str = "settings of .";
        for (command, wanted) in [
            ("true", ""),
            ("echo '{\"decision\": \"block\"}' >&2; exit 2", ""),
            ("jq -r .tool_name | grep -q 'a;b' && exit 2", ""),
            ("sh tools/dry.sh \"$FILE\" src/*", ""),
            ("./q", ""),
            ("make -s f", "Makefile +."),
            ("make -f tools/dry.sh", "Makefile"),
            ("cd sub && make", "Makefile sub/Makefile +. +sub"),
            ("npm run j", "Makefile +."),
            ("prettier --check src/**/*.js", SETTINGS),
            ("ruff check sub/Makefile", SETTINGS),
            ("sh tools/d*", "tools/** +."),
            ("timeout 5 sh tools/d*", "tools/** +."),
            ("sh ${HERE}/tools/dry.sh", "tools/dry.sh +."),
            ("$TOOLS/dry.sh", ROOT),
            ("X=tools; sh $X/dry.sh", "tools/dry.sh +."),
            ("for it in tools/*; do sh \"$it\"; done", "tools/** +."),
            ("cat tools/d* | sh", "tools/** +."),
            // A program that runs the contents of a folder loads all of it.
            ("run-parts tools", "tools/** settings of ."),
            (
                "timeout 5 run-parts --verbose tools/",
                "tools/** settings of .",
            ),
            ("for it in tools; do run-parts $it; done", "tools/** +."),
            ("find tools -name '*.sh' | xargs sh", "tools/** +."),
            ("find tools -type f -exec {} \\;", "tools/** +."),
            ("find ./tools | parallel", "tools/** +."),
            ("ls tools | xargs -I{} {}", "tools/** +."),
            (
                "git ls-files tools | xargs -n1 sh",
                "tools/** +. settings of .",
            ),
            ("for it in $(ls tools); do sh $it; done", "tools/** +."),
            ("guard tools", "tools/** settings of ."),
            ("run-parts prove", "prove/** settings of ."),
            ("guard --rules=tools", "tools/** settings of ."),
            ("python3 tools", "tools/** +."),
            ("./q tools", ""),
            ("sh tools/dry.sh sub", ""),
            ("find . -name '*.sh' | xargs sh", ROOT),
            // A program that only examines the files of a folder does not load them.
            ("ruff check tools sub", SETTINGS),
            ("timeout 60 pytest -q tools", SETTINGS),
            ("python3 -m black tools", ROOT),
            ("find tools -name '*.py' | xargs black", SETTINGS),
            ("grep -rn TODO tools && exit 2", ""),
            ("test -d tools && make f", "Makefile +."),
            ("python3 -m tools.e", "tools/e.py tools/** +."),
            ("python3 -c 'import x'", ROOT),
            ("echo \"$(date)\"; make f", "Makefile +."),
            ("echo \"`date` (a)\"; make f", "Makefile +. settings of ."),
            ("echo \"$(make f)\"", "Makefile +."),
        ] {
            let found = HookLoadablePaths::of(command, &tree);
            let name = |path: &PathBuf| path.strip_prefix(&tree).unwrap().display().to_string();
            let files = found.scripts.iter().chain(&found.files).map(name);
            let wholes = found.wholes.iter().map(|it| format!("{}/**", name(it)));
            let tops = found.tops.iter().map(|it| match name(it) {
                root if root.is_empty() => ROOT.to_owned(),
                folder => format!("+{folder}"),
            });
            let settings = found.settings.iter().map(|_| SETTINGS.to_owned());
            let all: Vec<_> = files.chain(wholes).chain(tops).chain(settings).collect();
            assert_eq!(all.join(" "), wanted, "{command}");
        }
    }
}
