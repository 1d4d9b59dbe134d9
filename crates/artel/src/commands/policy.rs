//! `artel policy`

use std::ffi::OsString;
use std::path::PathBuf;

use artel_policy::record::visible;
use artel_policy::rules::PolicyRule;
use artel_policy::{DecidedBy, PolicyAnswer, PolicyRuling, command, redact};
use artel_tools::pathcheck;
use artel_types::{Failure, FailureCode, FailureKind};
use artel_workshop::{CommandContext, CommandPolicyAnswer, CommandPolicyQuery, WorkshopFailures};

use super::lines;
use crate::CliCommandOutcome;
use crate::render::harmless_lines;
use crate::screen::{CliOutput, StatusColour};

/// Check what agents may do, and grant permissions for good
///
/// Deny beats ask, ask beats allow, and a person is asked about everything that was not
/// granted. The built-in never rules cannot be overridden by a grant.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel policy check -- git status")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show whether an agent may run a command, by which rule, and why
    ///
    /// Nothing is run. Exit code 0 if it is allowed, 3 if it is denied or a person would be
    /// asked.
    #[command(
        after_help = "Example: artel policy check --allow 'Bash(npm run:*)' -- npm run build\n\
        Example: artel policy check 'git log | head'\n\
        Example: artel policy check --contained 'ls *.py'\n\
        Example: artel policy check --batch < cases.jsonl"
    )]
    Check(PolicyCheckArgs),
    /// Read, write or remove a file like the file tools, with the same refusals
    #[command(
        after_help = "Example: artel policy path --root . --op read src/main.rs\n\
        Example: artel policy path --batch < cases.jsonl"
    )]
    Path(PolicyPathArgs),
    /// Remove secrets from text, from standard input to standard output
    #[command(after_help = "Example: artel policy redact < app.log\n\
        Example: artel policy redact --batch < cases.jsonl")]
    Redact {
        /// Read JSON lines, each with text and optionally known values and places to cut
        #[arg(long)]
        batch: bool,
    },
    /// List what was granted for good in this workshop
    #[command(after_help = "Example: artel policy list --json")]
    List,
    /// Allow something for good in this workshop
    ///
    /// Agents can never do this. Shells, interpreters, wrappers and bare git are too broad
    /// to be granted.
    #[command(
        after_help = "Example: artel policy grant 'Bash(npm run build)' --reason 'our own build'"
    )]
    Grant {
        /// The rule, such as Bash(cargo test:*)
        rule: String,
        /// Why you grant it
        #[arg(long)]
        reason: String,
    },
    /// Revoke a grant
    ///
    /// A number is a position in the list, and positions change when another grant is
    /// revoked.
    #[command(after_help = "Example: artel policy revoke 'Bash(npm run build)'\n\
        Example: artel policy revoke 1 --rule 'Bash(npm run build)'")]
    Revoke {
        /// Its number in the list, or its rule
        grant: String,
        /// The rule that the number stood for: nothing is revoked if the number means
        /// another rule by now
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct PolicyCheckArgs {
    /// A rule to allow in addition to the rules in effect here
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// The role that wants to run it
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Show both what the rules say and what happens in a run, where the sandbox may
    /// contain the command
    ///
    /// The exit code is the one for the run.
    #[arg(long)]
    contained: bool,
    /// Read JSON lines, each with its own complete policy and a command
    #[arg(long, conflicts_with_all = ["allow", "role", "contained", "command"])]
    batch: bool,
    /// The command: a single word is shell text, several words are a command and its
    /// arguments
    #[arg(trailing_var_arg = true)]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct PolicyPathArgs {
    /// The folder that the tools may not leave
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The operation
    #[arg(long, value_parser = ["read", "write", "delete"])]
    op: Option<String>,
    /// The text to write
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// Read JSON lines, each with root, path and op
    #[arg(long, conflicts_with_all = ["root", "op", "path"])]
    batch: bool,
    /// The file
    path: Option<OsString>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::Check(check) if check.batch => lines::each(screen, command::judge_line),
        Command::Check(check) => one_command(check, caller, screen),
        Command::Path(path) if path.batch => lines::each(screen, pathcheck::check_line),
        Command::Path(path) => one_path(path, caller, screen),
        Command::Redact { batch: true } => lines::each(screen, redact::redact_line),
        Command::Redact { batch: false } => lines::redact(screen, caller),
        Command::List => list(caller, screen),
        Command::Grant { rule, reason } => {
            let granted = caller.workshop()?.grant(rule, reason)?;
            screen.notes(&granted.notes);
            say(screen, &format!("granted for good: {}", visible(rule)))
        }
        Command::Revoke { grant, rule } => {
            let revoked = caller.workshop()?.revoke(grant, rule.as_deref())?;
            say(
                screen,
                &format!("no longer granted: {}", visible(&revoked.rule)),
            )
        }
    }
}

fn one_command(
    check: &PolicyCheckArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let judged = caller.check_command(&CommandPolicyQuery {
        command: shell_text(&check.command)?,
        allow: check.allow.clone(),
        role: check.role.clone(),
    })?;
    if check.contained {
        show_both(&judged, screen)
    } else {
        show(&judged.by_rule, screen)
    }
}

fn show(
    decision: &PolicyRuling,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(decision)?;
    } else {
        say_decision(decision, screen)?;
    }
    Ok(verdict(decision))
}

/// Shows what the rules say, and what that means in a run.
fn show_both(
    judged: &CommandPolicyAnswer,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let CommandPolicyAnswer {
        by_rule,
        in_a_run,
        uncontained,
    } = judged;
    if screen.json {
        screen.value(&serde_json::json!({
            "by_rule": by_rule,
            "in_a_run": in_a_run,
            "uncontained": uncontained.map(|why| why.to_string()),
        }))?;
    } else {
        screen.line("by the rules:")?;
        say_decision(by_rule, screen)?;
        match uncontained {
            Some(why) => screen.line(format!("in a run (rules judge, because {why}):"))?,
            None => screen.line("in a run, whose walls may judge:")?,
        }
        say_decision(in_a_run, screen)?;
    }
    Ok(verdict(in_a_run))
}

fn say_decision(decision: &PolicyRuling, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let (word, paint) = match decision.answer {
        PolicyAnswer::Allow => ("allow", StatusColour::Good),
        PolicyAnswer::Ask => ("ask", StatusColour::Doubtful),
        PolicyAnswer::Deny => ("deny", StatusColour::Bad),
    };
    let word = screen.paint(word, paint);
    screen.line(format!("{word}  {}", visible(&decision.reason)))?;
    let by = match decision.decided_by {
        DecidedBy::Rule => format!("by rule: {}", visible(&decision.rule)),
        DecidedBy::Contained => DecidedBy::Contained.phrase().to_owned(),
    };
    screen.line(by)?;
    Ok(())
}

fn verdict(decision: &PolicyRuling) -> CliCommandOutcome {
    match decision.answer {
        PolicyAnswer::Allow => CliCommandOutcome::Done,
        PolicyAnswer::Ask | PolicyAnswer::Deny => CliCommandOutcome::Bad(FailureKind::Refused),
    }
}

/// Treats one word as shell text. Several words are quoted so that a shell reads the same
/// words.
fn shell_text(words: &[OsString]) -> Result<String, Failure> {
    let missing = || {
        Failure::new(FailureCode::C005, "no command was given")
            .advise("`artel policy check -- git status`")
    };
    let not_text = |_| {
        Failure::new(FailureCode::C004, "the command is not text (UTF-8)")
            .advise("agents write text only; write the bytes as `$'\\xff'`")
    };
    let words: Vec<_> = words
        .iter()
        .map(|word| word.clone().into_string().map_err(not_text))
        .collect::<Result<_, _>>()?;
    match words.as_slice() {
        [] => Err(missing()),
        [text] => Ok(text.clone()),
        words => Ok(words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" ")),
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn one_path(
    args: &PolicyPathArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let missing = |what: &str| {
        Failure::new(FailureCode::C005, format!("`{what}` is missing"))
            .advise("`artel policy path --root . --op read src/main.rs`")
    };
    let root = args.root.as_ref().ok_or_else(|| missing("--root"))?;
    let op = args.op.as_ref().ok_or_else(|| missing("--op"))?;
    let path = args.path.as_ref().ok_or_else(|| missing("PATH"))?;
    let root = caller.path(root);
    let not_text = || {
        Failure::new(FailureCode::C004, "the path is not text (UTF-8)")
            .advise("rename the file, or look at it with another program")
    };
    let mut line = serde_json::json!({
        "root": root.to_str().ok_or_else(not_text)?,
        "path": path.to_str().ok_or_else(not_text)?,
        "op": op,
    });
    if let Some(content) = &args.content {
        line["content"] = content.as_str().into();
    }
    let answer = pathcheck::check_line(&line.to_string());
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap_or_default();
    let is_allowed = answer["decision"] == "allow";
    if screen.json {
        screen.value(&answer)?;
    } else {
        let word = if is_allowed {
            ("allow", StatusColour::Good)
        } else {
            ("deny", StatusColour::Bad)
        };
        let word = screen.paint(word.0, word.1);
        let reason = answer["reason"].as_str().unwrap_or_default();
        screen.line(format!("{word}  {}", visible(reason)))?;
        if let Some(text) = answer["text"].as_str() {
            screen.line(harmless_lines(text))?;
        }
        for entry in answer["entries"].as_array().into_iter().flatten() {
            screen.line(visible(entry.as_str().unwrap_or_default()))?;
        }
    }
    Ok(if is_allowed {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Refused)
    })
}

fn list(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let grants = caller.workshop()?.grants()?;
    if screen.json {
        screen.value(&grants)?;
        return Ok(CliCommandOutcome::Done);
    }
    if grants.is_empty() {
        screen.line("nothing was granted for good in this workshop")?;
        screen.say("`artel policy grant RULE --reason WHY` grants something");
        return Ok(CliCommandOutcome::Done);
    }
    for (number, grant) in grants.iter().enumerate() {
        screen.line(format!(
            "{:>3}  {}\n     {} ({}, {})",
            number + 1,
            visible(&grant.rule),
            visible(&grant.reason),
            visible(&grant.by),
            visible(grant.at.get(..10).unwrap_or(&grant.at)),
        ))?;
        if let Err(bad) = PolicyRule::parse(&grant.rule) {
            screen.line(format!("     {bad}"))?;
        }
    }
    Ok(CliCommandOutcome::Done)
}

fn say(screen: &mut CliOutput, text: &str) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "done": text }))?;
    } else {
        screen.line(text)?;
    }
    Ok(CliCommandOutcome::Done)
}
