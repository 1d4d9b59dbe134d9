//! `artel auth`

use std::io::{IsTerminal as _, Read as _, Write as _};

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode, FailureKind, Secret};
use artel_workshop::{CommandContext, KeyAccount, WorkshopFailures};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use crate::CliCommandOutcome;
use crate::render::{counted, harmless, table};
use crate::runtime::{block_on, interrupted};
use crate::screen::{CliOutput, YesFlag};
use crate::usage::is_name;

/// Maximum length of a key, which no real key exceeds. Text is searched for keys before it
/// is shown, and a very long key would make that slow.
const LONGEST_KEY: usize = 2 * 1024;

/// Number of bytes read in search of a key: room for a key and a lot of space around it.
const LONGEST_TEXT: usize = 16 * 1024;

const TOO_LONG: &str = "that is no key: it is too long";

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const CTRL_U: u8 = 0x15;
const CTRL_BACKSLASH: u8 = 0x1c;
const DELETE: u8 = 0x7f;

/// Store, list and remove keys of model providers, and secrets that tools name
///
/// A key is looked for in the environment, then in the system key store, then in an
/// encrypted file. An account that is named, here or with ARTEL_ACCOUNT, takes precedence
/// over the environment.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel auth set anthropic")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Store a key, after testing it with a call that costs nothing
    ///
    /// The key is read from a prompt or from standard input, never from the command line,
    /// where others could see it.
    #[command(
        after_help = "Example: artel auth set anthropic --account work < key.txt\n\
        Example: artel auth set --tool github < token.txt"
    )]
    Set {
        /// anthropic, openai, openai-chat or google
        #[arg(required_unless_present = "tool")]
        provider: Option<String>,
        /// The account to store it under
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Store a secret that declared tools name instead; it is not tested
        #[arg(long, value_name = "NAME", conflicts_with_all = ["provider", "account"])]
        tool: Option<String>,
    },
    /// List the stored keys, without showing them
    #[command(after_help = "Example: artel auth status --json")]
    Status,
    /// Remove a stored key
    #[command(after_help = "Example: artel auth remove openai --account work")]
    Remove {
        /// anthropic, openai, openai-chat or google
        #[arg(required_unless_present_any = ["all", "tool"])]
        provider: Option<String>,
        /// The account whose key to remove
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Remove a secret that tools name
        #[arg(long, value_name = "NAME", conflicts_with_all = ["provider", "account", "all"])]
        tool: Option<String>,
        /// Remove every stored key, even if the file can no longer be read
        #[arg(long, conflicts_with_all = ["provider", "account"])]
        all: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::Set {
            provider,
            account,
            tool,
        } => match tool {
            Some(name) => set_tool(name, caller, screen),
            None => set(
                provider.as_deref().unwrap_or_default(),
                account.clone(),
                caller,
                screen,
            ),
        },
        Command::Status => status(caller, screen),
        Command::Remove {
            provider,
            account,
            tool,
            yes,
            ..
        } => match (provider, tool) {
            (Some(provider), _) => remove(provider, account.clone(), caller, screen),
            (None, Some(name)) => remove_tool(name, caller, screen),
            (None, None) => remove_all(YesFlag::from(*yes), caller, screen),
        },
    }
}

fn set(
    provider: &str,
    account: Option<String>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let account = KeyAccount {
        provider: named(provider)?,
        name: account,
    };
    caller.prepare_key(&account)?;
    let key = read_key(account.provider.as_str())?;
    let stored = block_on(caller.store_key(&account, key))??;
    if screen.json {
        screen.value(&stored)?;
    } else {
        screen.line(format!(
            "{} accepted the key ({}); stored as account `{}` in {}",
            stored.provider,
            counted(stored.models as u64, "model"),
            stored.account,
            stored.place
        ))?;
        screen.notes(&stored.notes);
    }
    Ok(CliCommandOutcome::Done)
}

fn set_tool(
    name: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    caller.prepare_tool_secret(name)?;
    let secret = read_key(&format!("--tool {name}"))?;
    let stored = caller.store_tool_secret(name, &secret)?;
    if screen.json {
        screen.value(&stored)?;
    } else {
        screen.line(format!(
            "stored the secret `{}` in {}",
            stored.account, stored.place
        ))?;
        screen.notes(&stored.notes);
    }
    Ok(CliCommandOutcome::Done)
}

fn remove_tool(
    name: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    caller.remove_tool_secret(name)?;
    if screen.json {
        screen.value(&serde_json::json!({ "removed": "tool", "account": name }))?;
    } else {
        screen.line(format!("removed the secret `{name}`"))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn status(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let report = caller.key_status()?;
    if screen.json {
        screen.value(&report)?;
        return Ok(CliCommandOutcome::Done);
    }
    screen.notes(&report.notes);
    let keys = report.keys;
    if keys.is_empty() {
        screen.say("no keys yet; `artel auth set anthropic` stores one");
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = keys
        .iter()
        .map(|key| {
            let day = |at: &artel_types::Timestamp| at.to_string().chars().take(10).collect();
            vec![
                key.provider.clone(),
                harmless(key.account.as_deref().unwrap_or("-")),
                key.place.clone(),
                key.since.as_ref().map_or_else(|| "-".to_owned(), day),
                if key.is_used { "in use" } else { "" }.to_owned(),
            ]
        })
        .collect();
    let head = ["PROVIDER", "ACCOUNT", "PLACE", "SINCE", ""];
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

fn remove(
    provider: &str,
    account: Option<String>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let account = KeyAccount {
        provider: named(provider)?,
        name: account,
    };
    let name = caller.remove_key(&account)?;
    let provider = account.provider;
    if screen.json {
        screen.value(&serde_json::json!({ "removed": provider, "account": name }))?;
    } else {
        screen.line(format!(
            "removed the stored key of {provider}, account `{name}`"
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn remove_all(
    yes: YesFlag,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if !screen.confirm("remove all stored keys", yes)? {
        screen.say("nothing was changed");
        return Ok(CliCommandOutcome::Done);
    }
    let forgotten = caller.forget_keys()?;
    let (keys, left) = (forgotten.keys, forgotten.left);
    if screen.json {
        screen.value(&serde_json::json!({ "removed": keys, "left": left }))?;
    } else {
        screen.line(match keys {
            Some(count) => format!("removed {}", counted(count as u64, "key")),
            None => "removed the file with the keys, which could not be read".to_owned(),
        })?;
        for key in &left {
            let (provider, account) = (&key.provider, &key.account);
            let note = format!("the system key store still has {provider}, account `{account}`");
            screen.notes(&[note]);
        }
    }
    if left.is_empty() {
        return Ok(CliCommandOutcome::Done);
    }
    Ok(CliCommandOutcome::Bad(FailureKind::Failed))
}

/// Parses the provider's name. If a key was typed in its place, it is not repeated.
fn named(provider: &str) -> Result<Provider, Failure> {
    provider.parse().map_err(|_| {
        let known = Provider::ALL.iter().map(|known| known.as_str());
        let known: Vec<_> = known.map(|known| format!("`{known}`")).collect();
        let what = if is_name(provider) {
            format!("there is no provider `{provider}`")
        } else {
            "that is no provider".to_owned()
        };
        Failure::new(FailureCode::M001, what)
            .because(format!("known are {}", known.join(", ")))
            .advise("`artel auth status` lists the keys there are")
    })
}

/// Reads the key from a prompt that does not show it, or from standard input.
fn read_key(whose: &str) -> Result<Secret, Failure> {
    let stdin = std::io::stdin();
    let text = if stdin.is_terminal() {
        ask(whose)?
    } else {
        let mut text = String::new();
        let mut some = stdin.lock().take(LONGEST_TEXT as u64 + 1);
        some.read_to_string(&mut text).map_err(unreadable)?;
        text
    };
    // The original text is wiped like the key in it.
    let text = Secret::new(text);
    let key = Secret::new(text.expose().trim());
    let complaint = if text.expose().len() > LONGEST_TEXT {
        Some(TOO_LONG)
    } else {
        complaint(key.expose())
    };
    match complaint {
        None => Ok(key),
        Some(what) => Err(Failure::new(FailureCode::K004, what).advise(format!(
            "`artel auth set {whose}` in a terminal, or `artel auth set {whose} < FILE`"
        ))),
    }
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::new(FailureCode::K004, "the key could not be read").because(error.to_string())
}

/// Asks for the key at the terminal. The terminal is restored when this returns, whatever
/// ended it.
fn ask(whose: &str) -> Result<String, Failure> {
    let answer = block_on(async {
        // Typing is hidden before the question appears, so that even a quick answer is not
        // seen.
        let _hidden = TerminalEchoGuard::begin();
        let prompt = format!(
            "Key for {} (not shown): ",
            whose.trim_start_matches("--tool ")
        );
        drop(std::io::stderr().write_all(prompt.as_bytes()));
        // In a thread of its own, because a signal cannot end a read.
        let typed = tokio::task::spawn_blocking(|| typed(std::io::stdin().lock().bytes()));
        typed
            .await
            .unwrap_or_else(|error| Err(unreadable(error.into())))
    });
    drop(writeln!(std::io::stderr()));
    answer?
}

/// Assembles what a person types up to Enter, with every key press arriving separately.
fn typed(presses: impl Iterator<Item = std::io::Result<u8>>) -> Result<String, Failure> {
    // The buffer never moves while it grows, so no copy of a key is left behind.
    let mut text = Vec::with_capacity(LONGEST_TEXT + 1);
    for press in presses {
        match press.map_err(unreadable)? {
            b'\n' | b'\r' => break,
            CTRL_C | CTRL_BACKSLASH => return Err(interrupted()),
            CTRL_D if text.is_empty() => break,
            CTRL_U => text.clear(),
            // A text that is too long stays too long, because its end is not known.
            BACKSPACE | DELETE if text.len() <= LONGEST_TEXT => remove_last(&mut text),
            byte if !byte.is_ascii_control() && text.len() <= LONGEST_TEXT => text.push(byte),
            _ => {}
        }
    }
    String::from_utf8(text)
        .map_err(|_| unreadable(std::io::Error::other("it has unusual characters in it")))
}

/// Removes the last character, which may be several bytes.
fn remove_last(text: &mut Vec<u8>) {
    let is_middle = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    while text.pop().is_some_and(is_middle) {}
}

/// Returns why a text is not a key, without repeating the text.
fn complaint(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("no key was given");
    }
    if text.len() > LONGEST_KEY {
        return Some(TOO_LONG);
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_plain).then_some("that is no key: it has spaces or unusual characters in it")
}

/// Keeps the terminal from showing what is typed, until dropped. Meanwhile, Ctrl-C and
/// similar keys arrive as bytes: as signals, they would end or stop the process and leave
/// the terminal in this state.
struct TerminalEchoGuard(Option<rustix::termios::Termios>);

impl TerminalEchoGuard {
    fn begin() -> Self {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            let modes = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
            hidden.local_modes.remove(modes);
            // A read waits for one byte, however long that takes.
            hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
            hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
            // If the terminal cannot be changed, it shows what is typed, but the key is
            // still wanted.
            tcsetattr(&stdin, OptionalActions::Flush, &hidden).unwrap_or_default();
        }
        Self(before)
    }
}

impl Drop for TerminalEchoGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            tcsetattr(std::io::stdin(), OptionalActions::Now, before).unwrap_or_default();
        }
    }
}
