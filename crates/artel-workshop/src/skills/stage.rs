//! A temporary workshop for one rehearsed run. The tests of a skill do not see the
//! person's settings, keys and journal, so they come out the same everywhere and do not
//! count in any statistics.

use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use artel_config::ProcessEnvironment;
use artel_files::{create_new, make_dirs};
use artel_skills::Skill;
use artel_types::{Failure, FailureCode};

use crate::caller::{CommandContext, GlobalFlags};
use crate::hands::PrivateScratchFolder;
use crate::init::WorkshopInitMode;
use crate::trouble::{WorkshopFailures, file_failure};
use crate::workshop::Workshop;

/// Environment variables that a test run keeps: where programs are, and who works.
const KEPT: [&str; 4] = ["PATH", "USER", "LANG", "TZ"];

/// A temporary workshop and a work folder. Both are removed on drop.
pub(super) struct RehearsalWorkshop {
    scratch: PrivateScratchFolder,
    pub(super) workshop: Arc<Workshop>,
    /// The folder that the run works on.
    pub(super) work: PathBuf,
}

impl RehearsalWorkshop {
    /// Makes the workshop, with these skills as its own.
    pub(super) fn set(
        caller: &CommandContext,
        skills: &[&Skill],
    ) -> Result<Self, WorkshopFailures> {
        let scratch = PrivateScratchFolder::new(caller, "skill-test")?;
        let place = |name: &str| scratch.path().join(name);
        let (home, shop, work) = (place("home"), place("shop"), place("work"));
        for folder in [&home, &shop, &work] {
            make_dirs(folder, 0o700).map_err(|error| file_failure(FailureCode::W008, &error))?;
        }
        let kept = KEPT.iter().filter_map(|name| {
            let value = caller.environment.get(name)?;
            Some((name.to_string().into(), value.to_owned()))
        });
        let variables: Vec<(std::ffi::OsString, std::ffi::OsString)> =
            kept.chain([("HOME".into(), home.into())]).collect();
        let mut set = vec![("journal.durability".to_owned(), "normal".to_owned())];
        set.extend(caller.flags.set.iter().cloned());
        let flags = GlobalFlags {
            workshop: Some(shop.clone()),
            set,
        };
        let environment = ProcessEnvironment::of(variables, &work);
        let inside = CommandContext::new(environment, caller.clock.clone(), flags, caller.via)?;
        inside.init(Some(&shop), WorkshopInitMode::Complete)?;
        for (index, skill) in skills.iter().enumerate() {
            let link = shop.join("Skills").join(format!("{index:04}"));
            symlink(&skill.folder, &link).map_err(|error| {
                Failure::new(
                    FailureCode::W008,
                    format!("`{}` could not be made", link.display()),
                )
                .because(error.to_string())
            })?;
        }
        let workshop = Arc::new(inside.workshop()?);
        Ok(Self {
            scratch,
            workshop,
            work,
        })
    }

    /// Puts a file into the work folder.
    pub(super) fn put(&self, path: &str, text: &str) -> Result<(), Failure> {
        let inside = Path::new(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if path.is_empty() || !inside.components().all(is_plain) {
            let what = format!("`{path}` is not the path of a file in the workspace");
            return Err(Failure::new(FailureCode::C004, what)
                .advise("write it without a leading slash and without `..`"));
        }
        self.write(&self.work.join(inside), text)
    }

    /// Writes the model's script to a place that the run cannot see and returns its path.
    pub(super) fn script(&self, text: &str) -> Result<PathBuf, Failure> {
        let file = self.scratch.path().join("script.yaml");
        self.write(&file, text)?;
        Ok(file)
    }

    fn write(&self, file: &Path, text: &str) -> Result<(), Failure> {
        let failed = |error| file_failure(FailureCode::W008, &error);
        if let Some(folder) = file.parent() {
            make_dirs(folder, 0o755).map_err(failed)?;
        }
        create_new(file, text.as_bytes(), 0o644).map_err(failed)
    }
}
