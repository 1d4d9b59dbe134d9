//! `artel open`

use std::net::SocketAddr;

use artel_types::{Code, Failure};
use artel_workshop::{Caller, Problems, Viewer};
use serde_json::json;

use crate::Verdict;
use crate::screen::Screen;

/// Print a link that opens the web console; it holds for a minute and works once
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel open")]
pub(crate) struct Args {
    /// What you may see and do there: user, developer or admin
    #[arg(long, default_value = "admin", value_parser = super::token::role)]
    role: Viewer,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = caller.workshop()?;
    let Some(runs) = workshop.daemon_status()?.running else {
        return Err(Failure::new(Code::H003, "no daemon serves this workshop")
            .advise(
                "`artel daemon start` starts it in the background, `artel serve` in this terminal",
            )
            .into());
    };
    let offer = workshop.offer_login(args.role)?;
    let link = format!("http://{}/login?code={}", called(&runs.listen), offer.code);
    if screen.json {
        screen.value(&json!({ "url": link, "role": args.role.as_str(), "until": offer.until }))?;
    } else {
        screen.line(&link)?;
        screen.say("it holds for a minute and works once");
    }
    Ok(Verdict::Done)
}

/// Returns what a browser on this machine calls an address by: one that stands for all of them is
/// none.
fn called(listen: &str) -> String {
    match listen.parse::<SocketAddr>() {
        Ok(bound) if bound.ip().is_unspecified() => match bound {
            SocketAddr::V4(_) => format!("127.0.0.1:{}", bound.port()),
            SocketAddr::V6(_) => format!("[::1]:{}", bound.port()),
        },
        _ => listen.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn a_link_leads_to_this_machine() {
        for (listen, link) in [
            ("127.0.0.1:7717", "127.0.0.1:7717"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.168.0.7:80", "192.168.0.7:80"),
        ] {
            assert_eq!(called(listen), link);
        }
    }
}
