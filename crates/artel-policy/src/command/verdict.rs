//! The decision about a parsed text: bans first, then questions, then grants.

use std::path::Path;

use super::CommandOrigin;
use super::course::{PathDoubt, ShellWorkingDirectory};
use super::own::own_command;
use super::reading::{CommandLaunch, ShellAnalysis, ShellRedirection, Step, is_assignable};
use super::soften::PLAIN_WRITE;
use crate::programs::CommandDoubt;
use crate::rules::{PathUse, PolicyRule, PolicyRuleSet};
use crate::{PolicyAnswer, PolicyRuling};

/// Programs that only print, whatever operands they get.
const HARMLESS: &[&str] = &[
    "basename",
    "cat",
    "cksum",
    "cmp",
    "dirname",
    "du",
    "echo",
    "egrep",
    "fgrep",
    "file",
    "grep",
    "head",
    "ls",
    "md5sum",
    "readlink",
    "realpath",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "stat",
    "sum",
    "tail",
    "test",
    "wc",
];

/// Programs whose first operand is code that they run; a pattern must not expand to that.
const READS_PROGRAM: &[&str] = &[
    "awk", "gawk", "mawk", "nawk", "sed", "gsed", "jq", "yq", "perl", "ruby", "node", "lua", "php",
    "python", "python2", "python3", "sh", "bash", "dash", "zsh", "ksh", "expr", "xargs", "env",
    "timeout", "nice", "nohup", "make", "just", "npm", "yarn", "pnpm", "ssh", "docker",
];

/// Decides about a parsed text.
///
/// `workspace` is the root that may be written to: absolute paths below it count as
/// inside. Without it every absolute path is outside.
pub fn judge(
    reading: &ShellAnalysis,
    rules: &PolicyRuleSet,
    setting: CommandOrigin,
    workspace: Option<&Path>,
) -> PolicyRuling {
    if let Some(denied) = denied(reading, rules, workspace) {
        return denied;
    }
    if let Some(question) = question(reading, rules, setting, workspace) {
        return question;
    }
    let bench = LaunchJudge { rules, setting };
    let mut course = ShellWorkingDirectory::new(workspace);
    let mut granted: Option<&PolicyRule> = None;
    for launch in &reading.launches {
        match bench.try_launch(launch, &mut course) {
            // The widest rule that was needed is the one reported.
            Ok(Some(rule)) if !granted.is_some_and(PolicyRule::is_blanket) => granted = Some(rule),
            Ok(_) => {}
            Err(question) => return question,
        }
    }
    match granted {
        Some(rule) => PolicyRuling::new(
            PolicyAnswer::Allow,
            rule.text(),
            "every command of it is granted",
        ),
        None => ask("shell.empty", "there is no command in it"),
    }
}

/// Returns whether the rules cover every command of a text, as a bound requires.
pub fn is_covered(reading: &ShellAnalysis, rules: &[PolicyRule]) -> bool {
    let mut launches = reading.launches.iter();
    let mut parts = reading.parts.iter();
    reading.refusal.is_none()
        && !reading.launches.is_empty()
        && parts.all(|part| part.words.first().is_none_or(|word| !word.is_computed))
        && launches.all(|launch| {
            launch.finding.is_wrapper || rules.iter().any(|rule| admits(rule, launch))
        })
}

fn admits(rule: &PolicyRule, launch: &CommandLaunch) -> bool {
    if launch.is_open {
        rule.admits_open_command(&launch.words)
    } else {
        let is_named = launch.outer.as_ref().is_some_and(|(words, begins)| {
            rule.prefix().len() > *begins && rule.admits_command(words)
        });
        is_named || rule.admits_command(&launch.words)
    }
}

/// Finds a rule about a file that a command of the text touches: `Read(private/**)` also
/// covers `cat private/key`. A bare `Read` covers only the tool of that name.
fn path_rule<'a>(
    reading: &ShellAnalysis,
    rules: &'a [PolicyRule],
    workspace: Option<&Path>,
) -> Option<&'a PolicyRule> {
    let rules = || rules.iter().filter(|rule| rule.names_something());
    rules().next()?;
    let mut course = ShellWorkingDirectory::new(workspace);
    for step in reading.steps() {
        let uses = match step {
            Step::Open(one) => opened(one, &course),
            Step::CommandLaunch(launch) => named(launch, &course),
        };
        let touches = |rule: &&PolicyRule| {
            let mut uses = uses.iter();
            uses.any(|(path_use, place)| rule.catches_path(*path_use, place))
        };
        if let Some(rule) = rules().find(touches) {
            return Some(rule);
        }
        follow(&mut course, step);
    }
    None
}

/// Returns the places that a redirection opens, each with its use.
fn opened(
    redirection: &ShellRedirection,
    course: &ShellWorkingDirectory<'_>,
) -> Vec<(PathUse, String)> {
    let reads = redirection.is_read().then_some(PathUse::Reading);
    let writes = redirection.is_write().then_some(PathUse::Writing);
    let uses = reads.into_iter().chain(writes);
    let places = |path_use| {
        let places = course.places(&redirection.target.text);
        places.into_iter().map(move |place| (path_use, place))
    };
    uses.flat_map(places).collect()
}

/// Returns the places that the words of a command name, each with its use.
fn named(launch: &CommandLaunch, course: &ShellWorkingDirectory<'_>) -> Vec<(PathUse, String)> {
    let of = |path_use, paths: &[String]| {
        let places = paths.iter().flat_map(|path| course.places(path));
        places.map(|place| (path_use, place)).collect::<Vec<_>>()
    };
    let mut uses = of(PathUse::Reading, &launch.finding.reads);
    uses.extend(of(PathUse::Writing, &launch.finding.writes));
    uses
}

/// Follows a change of directory, even if the change itself needs a question.
pub(super) fn follow(course: &mut ShellWorkingDirectory<'_>, step: Step<'_>) {
    if let Step::CommandLaunch(launch) = step
        && is_change(launch)
    {
        let _question = course.change(&launch.words);
    }
}

fn denied(
    reading: &ShellAnalysis,
    rules: &PolicyRuleSet,
    workspace: Option<&Path>,
) -> Option<PolicyRuling> {
    if let Some(refusal) = &reading.refusal {
        return Some(PolicyRuling::new(
            PolicyAnswer::Deny,
            refusal.rule,
            &refusal.reason,
        ));
    }
    for words in reading.likely_words() {
        if let Some(rule) = rules.deny.iter().find(|rule| rule.catches_command(words)) {
            let reason = format!("`{}` is denied", shown(words));
            return Some(PolicyRuling::new(PolicyAnswer::Deny, rule.text(), reason));
        }
    }
    for words in reading.words() {
        if own_command(words) == Some(PolicyAnswer::Deny) {
            let reason = "an agent cannot change what it may do";
            return Some(PolicyRuling::new(
                PolicyAnswer::Deny,
                "never.self-grant",
                reason,
            ));
        }
    }
    path_rule(reading, &rules.deny, workspace).map(|rule| {
        let reason = "it touches a file that is denied";
        PolicyRuling::new(PolicyAnswer::Deny, rule.text(), reason)
    })
}

/// Returns the question if one of the person's own rules says to ask.
pub(super) fn asking_rule(
    reading: &ShellAnalysis,
    rules: &PolicyRuleSet,
    workspace: Option<&Path>,
) -> Option<PolicyRuling> {
    for words in reading.likely_words() {
        if let Some(rule) = rules.ask.iter().find(|rule| rule.catches_command(words)) {
            let reason = rule.reason().unwrap_or("a rule says to ask");
            return Some(ask(rule.text(), reason));
        }
    }
    let rule = path_rule(reading, &rules.ask, workspace)?;
    Some(ask(rule.text(), "it touches a file that a rule asks about"))
}

/// Returns the question that the text as a whole raises, whatever is granted.
fn question(
    reading: &ShellAnalysis,
    rules: &PolicyRuleSet,
    setting: CommandOrigin,
    workspace: Option<&Path>,
) -> Option<PolicyRuling> {
    if let Some(decision) = asking_rule(reading, rules, workspace) {
        return Some(decision);
    }
    if reading.words().any(|words| own_command(words).is_some()) {
        let reason = "it uses Artel's own command line or interface";
        return Some(ask("ask.own-command", reason));
    }
    let mut course = ShellWorkingDirectory::new(workspace);
    for step in reading.steps() {
        if let Step::Open(one) = step
            && one.is_write()
            && !one.is_harmless()
            && let Some(ground) = course.write(&one.target.text)
        {
            return Some(ask_for(&ground));
        }
        follow(&mut course, step);
    }
    let is_judged =
        reading.writes_plainly && workspace.is_some() && setting == CommandOrigin::Person;
    let mut doubts = reading.doubts.iter();
    let doubt = doubts.find(|doubt| !is_judged || doubt.rule != PLAIN_WRITE);
    if let Some(CommandDoubt { rule, reason }) = doubt {
        return Some(ask(*rule, reason.as_str()));
    }
    if setting != CommandOrigin::Person && reading.has_operators {
        return Some(ask("skill.operators", "a line of a skill is one command"));
    }
    None
}

/// Decides about single commands.
struct LaunchJudge<'a> {
    rules: &'a PolicyRuleSet,
    setting: CommandOrigin,
}

impl<'a> LaunchJudge<'a> {
    /// Returns the rule that grants a command, or `None` if it needs no grant of its own.
    fn try_launch(
        &self,
        launch: &CommandLaunch,
        course: &mut ShellWorkingDirectory<'_>,
    ) -> Result<Option<&'a PolicyRule>, PolicyRuling> {
        if let Some(question) = odd_words(launch) {
            return Err(question);
        }
        if let Some(CommandDoubt { rule, reason }) = launch.finding.doubts.first() {
            return Err(ask(*rule, reason.as_str()));
        }
        if let Some(ground) = paths(launch, course) {
            return Err(ask_for(&ground));
        }
        if launch.finding.is_wrapper {
            return Ok(None);
        }
        if is_open_ended(launch) {
            let reason = format!("nobody knows what `{}` would work on", shown(&launch.words));
            return Err(ask("program.open", reason));
        }
        let mut allow = self.rules.allow.iter();
        let granted = allow.find(|rule| self.counts(rule) && admits(rule, launch));
        granted.map(Some).ok_or_else(|| {
            let reason = format!("no rule grants `{}`", shown(&launch.words));
            ask("default.ask", reason)
        })
    }

    fn counts(&self, rule: &PolicyRule) -> bool {
        self.setting != CommandOrigin::SkillUntrusted || !rule.is_blanket()
    }
}

/// Returns whether a program that could do harm gets words that are not known yet.
pub(super) fn is_open_ended(launch: &CommandLaunch) -> bool {
    let program = launch.words.first().map(String::as_str);
    launch.is_open && !program.is_some_and(|program| HARMLESS.contains(&program))
}

/// Returns a question about words that are not what they seem.
pub(super) fn odd_words(launch: &CommandLaunch) -> Option<PolicyRuling> {
    let program = launch.words.first()?;
    if !program.is_ascii() || program.is_empty() || program.contains(char::is_whitespace) {
        return Some(ask(
            "text.program",
            "the name of the program is not plain text",
        ));
    }
    if program == "wait" && launch.words.iter().any(|word| word.starts_with("-p")) {
        let reason = "`wait -p` computes the name of the variable it sets";
        return Some(ask("shell.variable", reason));
    }
    let name = program.split_once('=').map(|(name, _)| name);
    if name.is_some_and(is_assignable) {
        return Some(ask(
            "shell.assignment",
            "an assignment is never part of a grant",
        ));
    }
    let base = program.rsplit('/').next().unwrap_or(program);
    let is_taken = launch.has_pattern && READS_PROGRAM.contains(&base);
    is_taken.then(|| {
        let reason = format!("a pattern may become the text that `{base}` runs");
        ask("shell.glob", reason)
    })
}

fn paths(launch: &CommandLaunch, course: &mut ShellWorkingDirectory<'_>) -> Option<PathDoubt> {
    if is_change(launch) {
        return course.change(&launch.words);
    }
    if course.has_moved() && launch.words[0].rsplit('/').next() == Some("git") {
        return Some(PathDoubt {
            rule: "program.works-elsewhere",
            reason: "git would work in the directory it changed to, which may be a repository \
                     of its own"
                .to_owned(),
        });
    }
    let writes = launch.finding.writes.iter();
    let reads = launch.finding.reads.iter();
    let written = writes.filter_map(|path| course.write(path)).next();
    written.or_else(|| reads.filter_map(|path| course.read(path)).next())
}

fn is_change(launch: &CommandLaunch) -> bool {
    matches!(launch.words[0].as_str(), "cd" | "pushd")
}

fn ask(rule: impl Into<String>, reason: impl Into<String>) -> PolicyRuling {
    PolicyRuling::new(PolicyAnswer::Ask, rule, reason)
}

fn ask_for(ground: &PathDoubt) -> PolicyRuling {
    ask(ground.rule, ground.reason.as_str())
}

/// Returns the first words of a command, for a sentence.
fn shown(words: &[String]) -> String {
    const MOST: usize = 60;
    let mut text = String::new();
    for word in words.iter().take(4) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    let is_short = text.chars().nth(MOST).is_none() && words.len() <= 4;
    let mut shown: String = text
        .chars()
        .take(MOST)
        .filter(|c| !c.is_control())
        .collect();
    if !is_short {
        shown.push('…');
    }
    shown
}
