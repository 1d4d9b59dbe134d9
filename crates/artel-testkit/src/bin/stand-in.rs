//! Stands in for one model provider until it is killed.
//!
//! `stand-in FORMAT [--port N] [--plan FILE]`
//!
//! FORMAT is `anthropic`, `responses`, `chat`, `google` or `ollama`. The only line on
//! standard output is the base URL. FILE is a JSON array of answers
//! (`artel_testkit::standin::plan_from_json`); without it, an offered tool is called and
//! everything else gets a greeting.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the tests"
)]

use std::process::ExitCode;

use artel_testkit::standin::{Answer, Format, StandIn, plan_from_json, usual_plan};

fn main() -> ExitCode {
    match Wishes::of(std::env::args().skip(1)) {
        Ok(wishes) => {
            let stand_in = StandIn::start_on(wishes.port, wishes.format, wishes.plan);
            println!("{}", stand_in.url());
            loop {
                std::thread::park();
            }
        }
        Err(why) => {
            eprintln!("error: {why}\n\nusage: stand-in FORMAT [--port N] [--plan FILE]");
            ExitCode::from(2)
        }
    }
}

struct Wishes {
    format: Format,
    port: u16,
    plan: Vec<Answer>,
}

impl Wishes {
    fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let format = words.next().ok_or("which format?")?.parse()?;
        let (mut port, mut plan) = (0, usual_plan());
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("`{word}` needs a value"))?;
            match word.as_str() {
                "--port" => {
                    port = value
                        .parse()
                        .map_err(|error| format!("`{value}` is no port: {error}"))?;
                }
                "--plan" => {
                    let text = std::fs::read_to_string(&value)
                        .map_err(|error| format!("`{value}` cannot be read: {error}"))?;
                    plan = plan_from_json(&text)?;
                }
                _ => return Err(format!("there is no option `{word}`")),
            }
        }
        Ok(Self { format, port, plan })
    }
}
