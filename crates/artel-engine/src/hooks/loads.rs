//! What a hook's command may load without naming it by a plain word.
//!
//! `make -s lint` runs what a `Makefile` says, `python3 -m check` a module, and nobody knows which
//! file `sh tools/c*` means next year. What lies at the root of the folder that such a command runs
//! in counts as its script; of other programs, such as formatters, only settings there do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Commands that load nothing: words of shells, and programs that only read what they are given.
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
    "fi",
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
    "true",
    "trap",
    "uniq",
    "unset",
    "wait",
    "wc",
    "}",
];

/// Words before the command itself.
const BEFORE: &[&str] = &[
    "!", "builtin", "command", "do", "elif", "else", "env", "exec", "if", "nohup", "then", "time",
    "until", "while", "{",
];

/// Programs that run a file which they are given.
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

/// Build files in other folders than the root.
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

/// No command that can be looked at names more folders.
const MOST_FOLDERS: usize = 8;

/// What the shell puts something in for.
const OPEN: [char; 8] = ['*', '?', '[', ']', '{', '}', '$', '~'];

/// What a command may load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Loads {
    /// Files that count as scripts which are named.
    pub(super) scripts: BTreeSet<PathBuf>,
    /// Folders that count with all that is in them.
    pub(super) wholes: BTreeSet<PathBuf>,
    /// Folders whose own files count.
    pub(super) tops: BTreeSet<PathBuf>,
    /// Folders of whose own files the settings count.
    pub(super) settings: BTreeSet<PathBuf>,
    /// Files that count by themselves.
    pub(super) files: BTreeSet<PathBuf>,
}

impl Loads {
    /// Looks at what a command in a tree may load. The tree's path is free of links.
    pub(super) fn of(command: &str, tree: &Path) -> Self {
        let mut looking = Looking {
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
            // `for it in tools/*; do sh $it; done`, `cat tools/c* | sh`.
            let lists = segments.iter().filter(|words| {
                let mut words = words.iter();
                words
                    .next()
                    .is_some_and(|word| HARMLESS.contains(&word.as_str()))
            });
            for word in lists.flatten().filter(|word| is_open(word)) {
                looking.open(word);
            }
        }
        looking.loads
    }
}

struct Looking<'t> {
    tree: &'t Path,
    /// The folders that the command names, and the one that it begins in.
    folders: Vec<PathBuf>,
    /// The folders that it works in.
    entered: Vec<PathBuf>,
    loads: Loads,
}

impl Looking<'_> {
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
        if HARMLESS.contains(&head.as_str()) || head.chars().all(|it| it.is_ascii_digit()) {
            return;
        }
        let all = words.get(skipped..).unwrap_or_default();
        // `timeout 5 sh tools/c*`: what comes after a program in front of another.
        let start = all
            .iter()
            .position(|word| is_of(INTERPRETERS, word) || is_of(BUILDERS, word));
        let program = start.and_then(|at| all.get(at..)).unwrap_or(all);
        let code = code_words(program);
        let any_open = code.iter().any(|word| is_open(word));
        // A program that runs neither files nor build files, such as a formatter, loads its settings.
        // More would switch it off whenever a run edits what it is there to look at.
        let entered = self.entered.iter().cloned();
        if any_open || (start.is_some() && !all.iter().any(|word| self.is_file(word))) {
            self.loads.tops.extend(entered);
        } else if start.is_none() && !self.is_file(head) {
            self.loads.settings.extend(entered);
        }
        for word in code.iter().filter(|word| is_open(word)) {
            self.open(word);
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

    /// A word that the shell puts something in: the folder that it surely begins with, or what it
    /// ends with, whatever comes before.
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

    fn whole(&mut self, folder: PathBuf) {
        match folder == self.tree {
            true => self.loads.tops.insert(folder),
            false => folder.is_dir() && self.loads.wholes.insert(folder),
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

    /// The module of a name: a file with what lies beside it, or a folder.
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

/// Returns the words that say what a program runs: the program itself, and what an interpreter is
/// given first. After an option nobody knows which word that is.
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

/// Takes a command apart into the commands that it consists of, roughly: what the shell runs to get
/// a word is one, too, and leaves a `$` where its words come to stand.
fn segments(command: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let (mut word, mut quote, mut last) = (String::new(), None, ' ');
    // The quotes around what is in brackets and in backticks.
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

/// Ends a word and the command that it belongs to.
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
            ("python3 -m tools.e", "tools/e.py tools/** +."),
            ("python3 -c 'import x'", ROOT),
            ("echo \"$(date)\"; make f", "Makefile +."),
            ("echo \"`date` (a)\"; make f", "Makefile +. settings of ."),
            ("echo \"$(make f)\"", "Makefile +."),
        ] {
            let found = Loads::of(command, &tree);
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
