//! The unit file with which systemd starts the daemon.

use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};
use artel_workshop::{Workshop, WorkshopFailures};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::screen::CliOutput;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// For you only, in your own systemd
    #[arg(long)]
    user: bool,
    /// Print the unit and write nothing
    #[arg(long)]
    print: bool,
}

pub(super) fn run(
    args: &Args,
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if !args.user {
        return Err(
            Failure::new(FailureCode::C005, "the daemon is installed for one person")
                .because("it acts with your keys and in your files")
                .advise("`artel daemon install --user`")
                .into(),
        );
    }
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(FailureCode::X001, "this program's own place is not known")
            .because(error.to_string())
    })?;
    let text = unit(&program, workshop.root());
    if args.print {
        if screen.json {
            screen.value(&json!({ "text": text }))?
        } else {
            screen.raw(&text)?
        }
        return Ok(CliCommandOutcome::Done);
    }
    let place = place(workshop)?;
    refuse_another(&place, workshop.root())?;
    let written = place.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = written.and_then(|()| std::fs::write(&place, &text));
    written.map_err(|error| {
        Failure::new(
            FailureCode::W008,
            format!("cannot write `{}`", place.display()),
        )
        .because(error.to_string())
        .advise("`artel daemon install --user --print` prints the unit")
    })?;
    if screen.json {
        screen.value(&json!({ "unit": place.display().to_string() }))?;
    } else {
        screen.line(format!("wrote {}", place.display()))?;
        screen.say("`systemctl --user daemon-reload && systemctl --user enable --now artel`");
    }
    Ok(CliCommandOutcome::Done)
}

/// Refuses to replace a unit file that does not belong to this workshop.
fn refuse_another(place: &Path, root: &Path) -> Result<(), Failure> {
    let Ok(there) = std::fs::read_to_string(place) else {
        return Ok(());
    };
    if there.contains(&format!(" --workshop {} serve\n", quoted(root))) {
        return Ok(());
    }
    let what = format!("`{}` is there, and serves something else", place.display());
    Err(Failure::new(FailureCode::W008, what)
        .because("one unit serves one workshop")
        .advise(
            "`artel daemon install --user --print` prints this workshop's, for a file of another \
             name",
        ))
}

fn place(workshop: &Workshop) -> Result<PathBuf, Failure> {
    let environment = workshop.caller().environment();
    let config = environment.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = environment.get("HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute());
    let config = config.or_else(|| home.map(|home| home.join(".config")));
    let config = config.ok_or_else(|| {
        Failure::new(FailureCode::C005, "your home folder is not known").advise("set HOME")
    })?;
    Ok(config.join("systemd/user/artel.service"))
}

fn unit(program: &Path, root: &Path) -> String {
    format!(
        "[Unit]\nDescription=Artel daemon\n\n[Service]\nExecStart={} --workshop {} serve\n\
         ExecReload=/bin/kill -HUP $MAINPID\nKillMode=mixed\nTimeoutStopSec=15\n\
         Restart=on-failure\n\n[Install]\nWantedBy=default.target\n",
        quoted(program),
        quoted(root)
    )
}

/// Quotes a path as systemd expects it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let text = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%");
    format!("\"{}\"", text.replace('$', "$$"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn no_unit_takes_the_place_of_another_workshop_s() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("artel.service");
        let root = Path::new("/home/ada/Artel");
        let is_refused = |root: &Path| super::refuse_another(&place, root).is_err();
        assert!(!is_refused(root));
        std::fs::write(&place, super::unit(Path::new("/opt/artel"), root)).unwrap();
        assert!(!is_refused(root));
        assert!(is_refused(Path::new("/home/ada/Artel2")));
        assert!(is_refused(Path::new("/home/ada")));
    }

    /// `artel serve` writes its own log, so the unit must not redirect any of it.
    #[test]
    fn what_the_unit_runs_keeps_its_own_log() {
        let unit = super::unit(Path::new("/opt/artel"), Path::new("/home/ada/Artel"));
        let start = unit.lines().find(|it| it.starts_with("ExecStart="));
        assert!(start.is_some_and(|it| it.ends_with(" serve")), "{unit}");
        assert!(!unit.contains("StandardError="), "{unit}");
    }

    #[test]
    fn paths_are_written_as_systemd_reads_them() {
        let unit = super::unit(Path::new("/opt/a b/artel"), Path::new("/home/ada/100%$\"x"));
        assert!(
            unit.contains(
                "ExecStart=\"/opt/a b/artel\" --workshop \"/home/ada/100%%$$\\\"x\" serve\n"
            ),
            "{unit}"
        );
    }
}
