//! Asks for trust in skills from elsewhere, once for each state of a skill.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_engine::NullRunObserver;
use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_skills::{Skill, SkillOrigin, prepare};
use artel_types::{Fact, Failure, FailureCode, SkillTrusted};
use serde::Serialize;

use super::house::RunEnvironment;
use crate::placed::PlacedFiles;
use crate::portals::PortalQuestion;
use crate::strangers;
use crate::workshop::Workshop;

/// A question about trusting a skill, with everything that the skill may run. Asked before
/// its first use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustQuestion {
    pub skill: String,
    pub folder: String,
    /// Commands that run when the skill starts.
    pub commands: Vec<String>,
    /// Scripts that the skill contains.
    pub scripts: Vec<String>,
    /// The tools that it wants, or `None` if it does not say.
    pub tools: Option<Vec<String>>,
    /// Addresses in its text.
    pub urls: Vec<String>,
    /// BLAKE3 hash of its files, in hex.
    pub hash: String,
}

/// Asks a person for trust.
pub trait TrustApprover: Send + Sync {
    /// Asks whether to trust a skill; `None` if nobody can answer.
    fn ask(&self, question: &TrustQuestion) -> Option<bool>;

    /// Asks whether to trust a hook, which these lines describe; `None` if nobody can answer.
    fn ask_hook(&self, _lines: &[String]) -> Option<bool> {
        None
    }

    /// Asks about a folder at its first use; `None` if nobody can answer.
    fn ask_portal(&self, _question: &PortalQuestion) -> Option<bool> {
        None
    }
}

impl TrustApprover for NullRunObserver {
    fn ask(&self, _question: &TrustQuestion) -> Option<bool> {
        None
    }
}

impl TrustQuestion {
    /// Describes what a skill may run.
    pub fn about(skill: &Skill) -> Self {
        let commands = prepare::commands(&skill.body);
        let scripts = skill.scripts.iter().map(|script| script.path.clone());
        Self {
            skill: skill.name.clone(),
            folder: skill.folder.display().to_string(),
            commands: commands.into_iter().map(str::to_owned).collect(),
            scripts: scripts.collect(),
            tools: skill.front.allowed_tools.clone(),
            urls: urls(&skill.body),
            hash: skill.hash.clone(),
        }
    }
}

/// Returns the distinct addresses in a text.
fn urls(text: &str) -> Vec<String> {
    let ends = |letter: char| letter.is_whitespace() || "<>()[]{}\"'`".contains(letter);
    let words = text.split(ends);
    let is_url = |word: &&str| word.starts_with("https://") || word.starts_with("http://");
    let found: BTreeSet<_> = words.filter(is_url).map(str::to_owned).collect();
    found.into_iter().take(20).collect()
}

/// The recorded facts about trust in skills.
#[derive(Debug, Default)]
pub(crate) struct SkillTrust {
    root: PathBuf,
    placed: PlacedFiles,
    /// The skills that existed before the workshop.
    found: Vec<PathBuf>,
    said: Vec<SkillTrustEntry>,
}

#[derive(Debug)]
struct SkillTrustEntry {
    seq: u64,
    word: SkillTrustBasis,
    folder: String,
    hash: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SkillTrustBasis {
    /// A person reviewed it.
    Trusted,
    /// It was in use before Artel began to ask.
    Known,
}

impl SkillTrust {
    /// Returns whether a skill may be used as it is. A workshop skill that a run put there, or
    /// that existed before the workshop, has to be known or trusted since; after that, it is
    /// the person's to change. A workshop skill that other users can change has to be known or
    /// trusted in its present form.
    pub(crate) fn trusts(&self, skill: &Skill) -> bool {
        let folder = skill.folder.display().to_string();
        let mut about = self.said.iter().filter(|it| it.folder == folder);
        match skill.scope {
            SkillOrigin::Workshop if strangers::in_skill(&self.root, &skill.folder).is_some() => {
                about.any(|it| it.hash == skill.hash)
            }
            SkillOrigin::Workshop => match self.not_by_a_person(&skill.folder) {
                Some(placed) => about.any(|it| it.hash == skill.hash || it.seq > placed),
                None => true,
            },
            SkillOrigin::Portal | SkillOrigin::User => {
                about.any(|it| it.word == SkillTrustBasis::Trusted && it.hash == skill.hash)
            }
        }
    }

    /// Returns the event after which a person's decision counts, if no person put the skill
    /// there.
    fn not_by_a_person(&self, folder: &Path) -> Option<u64> {
        let was_there = self.found.iter().any(|it| it == folder);
        let before_all = was_there.then_some(0);
        self.placed.newest_in(folder).or(before_all)
    }
}

impl Workshop {
    /// Returns whether a skill may be used as it is: because it is the workshop's own and no
    /// run put it there, or because it is trusted.
    pub fn trusts(&self, reader: &JournalReader, skill: &Skill) -> Result<bool, Failure> {
        Ok(self.skill_trust(reader)?.trusts(skill))
    }

    pub(crate) fn skill_trust(&self, reader: &JournalReader) -> Result<SkillTrust, Failure> {
        let mut trust = SkillTrust {
            root: self.root.clone(),
            placed: self.placed_files(reader)?,
            found: self.marker.found_skills(&self.root),
            said: Vec::new(),
        };
        for kind in ["skill.trusted", "skill.known"] {
            let filter = EventFilter {
                kind: Some(kind.to_owned()),
                ..EventFilter::default()
            };
            for record in reader.records(&EventQuery::of(filter).few())? {
                let seq = record.seq;
                let (word, folder, hash) = match record.event()?.fact {
                    Fact::SkillTrusted(it) => (SkillTrustBasis::Trusted, it.folder, it.hash),
                    Fact::SkillKnown(it) => (SkillTrustBasis::Known, it.folder, it.hash),
                    _ => continue,
                };
                trust.said.push(SkillTrustEntry {
                    seq,
                    word,
                    folder,
                    hash,
                });
            }
        }
        Ok(trust)
    }

    /// Returns the failure for a skill that is not trusted.
    pub(crate) fn untrusted_skill(&self, skill: &Skill, why: &str) -> Failure {
        let (name, folder) = (&skill.name, skill.folder.display());
        Failure::new(
            FailureCode::R003,
            format!("the skill `{name}` in `{folder}` is not trusted"),
        )
        .because(match skill.scope {
            SkillOrigin::Workshop => match strangers::in_skill(&self.root, &skill.folder) {
                Some(open) => format!("{}, and {why}", open.said()),
                None => {
                    format!("a run put it there or it was there before the workshop, and {why}")
                }
            },
            SkillOrigin::Portal | SkillOrigin::User => format!("it is not the workshop's own, and {why}"),
        })
        .advise(format!(
            "`artel skill show {name}` shows what it may run, `artel skill trust {name}` trusts it; \
             `--yes` does for scripts"
        ))
    }

    /// Returns the fact that a person trusts a skill as it is.
    pub(crate) fn trusted(&self, skill: &Skill) -> SkillTrusted {
        SkillTrusted {
            skill: skill.name.clone(),
            folder: skill.folder.display().to_string(),
            hash: skill.hash.clone(),
        }
    }
}

impl RunEnvironment {
    /// Makes sure that a skill is trusted, and asks the person if that is undecided.
    pub(crate) async fn ensure_trust(&self, skill: &Skill) -> Result<(), Failure> {
        if self.workshop.trusts(self.journal.reader(), skill)? {
            return Ok(());
        }
        let question = TrustQuestion::about(skill);
        let trust = std::sync::Arc::clone(&self.company.trust);
        let answer = tokio::task::spawn_blocking(move || trust.ask(&question)).await;
        match answer.ok().flatten() {
            Some(true) => {
                let draft = self.workshop.draft(self.workshop.trusted(skill));
                self.journal.append(draft).await?;
                Ok(())
            }
            Some(false) => Err(self.workshop.untrusted_skill(skill, "you said no")),
            None => Err(self
                .workshop
                .untrusted_skill(skill, "nobody could be asked")),
        }
    }
}
