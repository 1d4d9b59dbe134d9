//! Everything a command needs from outside: environment, clock, flags and identity.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use artel_config::{ProcessEnvironment, Settings, UserFolders, person, system_clock};
use artel_keyring::Keyring;
use artel_types::{
    Actor, ActorSurface, Clock, DiskSpaceMonitor, Failure, FailureCode, RunId, Secret,
    SecretDetector, SecretRedactor, TraceId, WorkshopId,
};
use artel_vault::{SystemKeyStore, Vault};

use crate::in_force::LastValidFiles;
use crate::models::text_of;
use crate::registry;
use crate::trouble::{WorkshopFailures, shell_word};

#[derive(Debug, Clone, Default)]
pub struct GlobalFlags {
    /// `--workshop DIR`.
    pub workshop: Option<PathBuf>,
    /// `--set KEY=VALUE`, can be repeated.
    pub set: Vec<(String, String)>,
}

/// The context a command runs in. The binary builds it from the process; tests build their
/// own.
#[derive(Debug, Clone)]
pub struct CommandContext {
    pub(crate) environment: ProcessEnvironment,
    pub(crate) places: UserFolders,
    pub(crate) clock: Clock,
    /// Where writers report that the disk is full.
    pub(crate) room: DiskSpaceMonitor,
    pub(crate) flags: GlobalFlags,
    pub(crate) via: ActorSurface,
    /// The actor, if it is not the person who owns this process.
    acts_as: Option<Actor>,
    /// The stored keys, read once because asking the system's key store takes time.
    stored: Arc<OnceLock<Vec<Secret>>>,
    /// The last valid files, which stay in force while their current content is invalid.
    pub(crate) in_force: LastValidFiles,
}

impl CommandContext {
    /// Builds the context from this process.
    pub fn from_process(flags: GlobalFlags, via: ActorSurface) -> Result<Self, Failure> {
        let caller = Self::new(
            ProcessEnvironment::from_process(),
            system_clock(),
            flags,
            via,
        )?;
        Ok(caller.with_room(DiskSpaceMonitor::awaited(artel_files::shortage_by_writing)))
    }

    /// Sets where writers wait for disk space.
    #[must_use]
    pub fn with_room(self, room: DiskSpaceMonitor) -> Self {
        Self { room, ..self }
    }

    pub fn new(
        environment: ProcessEnvironment,
        clock: Clock,
        flags: GlobalFlags,
        via: ActorSurface,
    ) -> Result<Self, Failure> {
        let places = UserFolders::find(&environment)?;
        Ok(Self {
            environment,
            places,
            clock,
            room: DiskSpaceMonitor::unwaited(),
            flags,
            via,
            acts_as: None,
            stored: Arc::default(),
            in_force: LastValidFiles::default(),
        })
    }

    /// Returns the person, or the person's program, on whose behalf the command runs.
    pub fn actor(&self) -> Actor {
        match &self.acts_as {
            Some(actor) => actor.clone(),
            None => Actor::human(person(&self.environment), self.via),
        }
    }

    /// Tells whether somebody acts from elsewhere: a program, or a person in a browser.
    pub(crate) fn is_over_http(&self) -> bool {
        matches!(self.via, ActorSurface::Api | ActorSurface::Web)
    }

    /// Returns the context for an actor who uses a surface of this process.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self {
            via: actor.via.unwrap_or(self.via),
            acts_as: Some(actor),
            ..self.clone()
        }
    }

    /// Returns the context as if the process ran in `folder`, but still in the given workshop.
    #[must_use]
    pub(crate) fn standing_in(&self, folder: &std::path::Path, workshop: &std::path::Path) -> Self {
        Self {
            environment: self.environment.standing_in(folder),
            flags: GlobalFlags {
                workshop: Some(workshop.to_owned()),
                ..self.flags.clone()
            },
            ..self.clone()
        }
    }

    /// Returns the context without the stored keys, so that they are read again.
    #[must_use]
    pub(crate) fn afresh(&self) -> Self {
        Self {
            stored: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns a context that keeps the last valid files in force.
    #[must_use]
    pub(crate) fn remembering(&self) -> Self {
        Self {
            in_force: self.in_force.remembering(),
            ..self.clone()
        }
    }

    /// Returns a command as the person has to type it, including `--workshop` if they gave it.
    pub fn spelled(&self, command: &str) -> String {
        match (&self.flags.workshop, command.strip_prefix("artel ")) {
            (Some(root), Some(rest)) => format!("artel --workshop {} {rest}", shell_word(root)),
            _ => command.to_owned(),
        }
    }

    /// Returns the settings file of the person.
    pub fn user_file(&self) -> PathBuf {
        self.places.user_file()
    }

    /// Returns the file that changes whenever this person's keys change.
    pub fn keys_file(&self) -> PathBuf {
        Vault::open(self.places.data(), None).list_file()
    }

    pub fn room(&self) -> &DiskSpaceMonitor {
        &self.room
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn environment(&self) -> &ProcessEnvironment {
        &self.environment
    }

    /// Returns a redactor that removes the secrets of the environment and the stored keys from
    /// whatever is stored or shown.
    pub fn redactor(&self) -> SecretRedactor {
        SecretRedactor::of_known_values(&self.secrets()).with_formats(self.formats())
    }

    /// Returns the detector of text that looks like a secret, with the fields that the
    /// settings add.
    pub(crate) fn formats(&self) -> Arc<dyn SecretDetector> {
        let fields = self
            .settings_here()
            .map(|settings| settings.hands.secret_fields.value);
        artel_policy::redact::formats_with_fields(fields.unwrap_or_default())
    }

    /// Finds a program on the person's `PATH`. Relative entries of `PATH` are ignored.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH")?;
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|program| is_program(program))
    }

    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let mut secrets = self.environment.secrets();
        secrets.extend_from_slice(self.stored_secrets());
        secrets
    }

    pub(crate) fn stored_secrets(&self) -> &[Secret] {
        self.stored.get_or_init(|| self.vault().secrets())
    }

    /// Returns the store for keys: the system's key store if there is one.
    pub(crate) fn vault(&self) -> Vault {
        let bus = text_of(&self.environment, "DBUS_SESSION_BUS_ADDRESS");
        let system = Keyring::at(bus.as_deref());
        let system = system.map(|keyring| Arc::new(keyring) as Arc<dyn SystemKeyStore>);
        Vault::open(self.places.data(), system)
    }

    /// Loads the settings that apply outside of any workshop.
    pub fn settings(&self) -> Result<Settings, WorkshopFailures> {
        Settings::load(&self.environment, &self.places, None, &self.flags.set)
            .map_err(WorkshopFailures)
    }

    /// Loads the settings that apply here: those of the workshop, if there is one.
    pub(crate) fn settings_here(&self) -> Result<Settings, WorkshopFailures> {
        match self.place() {
            Ok(place) => {
                self.refuse_untrusted(place.marker.id, &place.root)?;
                let read = self.settings_in(&place.root);
                self.in_force.keep(|it| &it.settings, &place.root, read)
            }
            Err(failure) if failure.code == FailureCode::W001 => self.settings(),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Refuses a workshop that this user neither made nor trusted.
    pub(crate) fn refuse_untrusted(
        &self,
        id: WorkshopId,
        root: &std::path::Path,
    ) -> Result<(), Failure> {
        if registry::knows(self.places.data(), id, root)? {
            return Ok(());
        }
        let what = format!("`{}` is not a workshop you made or trusted", root.display());
        Err(Failure::new(FailureCode::W009, what)
            .because("its settings could send your keys and your work elsewhere")
            .advise(format!(
                "look at its `artel.toml`, then `artel workshop trust {}`",
                shell_word(root)
            )))
    }

    /// Loads the settings that apply in the workshop at `root`.
    pub(crate) fn settings_in(&self, root: &std::path::Path) -> Result<Settings, WorkshopFailures> {
        let Self {
            environment,
            places,
            flags,
            ..
        } = self;
        Settings::load(environment, places, Some(root), &flags.set).map_err(WorkshopFailures)
    }

    /// Makes a path absolute, relative to the caller's current folder.
    pub fn path(&self, path: &std::path::Path) -> PathBuf {
        self.absolute(path)
    }

    pub(crate) fn absolute(&self, path: &std::path::Path) -> PathBuf {
        match self.environment.current_dir() {
            Some(here) => here.join(path),
            None => path.to_owned(),
        }
    }
}

fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

pub(crate) fn fresh_trace() -> Result<TraceId, Failure> {
    random().map(TraceId::from_random)
}

pub(crate) fn random_run() -> Result<RunId, Failure> {
    random().map(RunId::from_random)
}

pub(crate) fn fresh_workshop() -> Result<WorkshopId, Failure> {
    random().map(WorkshopId::from_random)
}

fn random() -> Result<[u8; 16], Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::new(FailureCode::X001, "the system gave no random bytes")
            .because(error.to_string())
    })?;
    Ok(bytes)
}
