//! `artel explain`

use artel_types::{Failure, FailureCode};
use artel_workshop::WorkshopFailures;

use crate::CliCommandOutcome;
use crate::screen::CliOutput;

/// Explain what an error code means and what to do
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel explain J003")]
pub(crate) struct Args {
    /// The code, such as J003; all codes if not given
    code: Option<String>,
}

pub(crate) fn run(
    args: &Args,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let codes: Vec<FailureCode> = match &args.code {
        None => FailureCode::ALL.to_vec(),
        Some(text) => vec![find(text)?],
    };
    if screen.json {
        let pages: Vec<_> = codes.iter().map(page).collect();
        let is_one = args.code.is_some();
        screen.value(&if is_one {
            pages[0].clone()
        } else {
            pages.into()
        })?;
    } else if args.code.is_none() {
        for code in codes {
            screen.line(format!("{code}  {}", code.page().title))?;
        }
    } else {
        let (code, page) = (codes[0], codes[0].page());
        screen.line(format!(
            "{code}: {}\n\n{}\n",
            page.title,
            wrapped(page.text)
        ))?;
        screen.line(format!(
            "Exit code {} ({})",
            page.kind.exit_code().0,
            page.kind.meaning()
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn find(text: &str) -> Result<FailureCode, Failure> {
    let trimmed = text.trim_start_matches("error[").trim_end_matches(']');
    trimmed.parse().map_err(|()| {
        let shown: String = text.chars().take(40).collect();
        Failure::new(
            FailureCode::C007,
            format!("there is no error code `{shown}`"),
        )
        .advise("`artel explain` lists them all")
    })
}

fn page(code: &FailureCode) -> serde_json::Value {
    let page = code.page();
    serde_json::json!({
        "code": code,
        "title": page.title,
        "text": page.text,
        "kind": page.kind,
        "exit_code": page.kind.exit_code().0,
    })
}

/// Wraps text into lines that fit any terminal.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > 78 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
