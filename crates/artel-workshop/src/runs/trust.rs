//! Trust in skills that came from elsewhere: asked once for what they are now.

use std::collections::BTreeSet;

use artel_engine::Nobody;
use artel_journal::{Filter, Query, Reader};
use artel_skills::{Scope, Skill, prepare};
use artel_types::{Code, Fact, Failure, SkillTrusted};
use serde::Serialize;

use super::house::House;
use crate::portals::PortalQuestion;
use crate::workshop::Workshop;

/// What a skill may run, shown before its first use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustQuestion {
    /// Its name.
    pub skill: String,
    /// Where it is.
    pub folder: String,
    /// Commands that are run when it begins.
    pub commands: Vec<String>,
    /// Scripts it brings.
    pub scripts: Vec<String>,
    /// The tools it wants; nothing where it does not say.
    pub tools: Option<Vec<String>>,
    /// Addresses in its text.
    pub urls: Vec<String>,
    /// BLAKE3 of its files, in hex.
    pub hash: String,
}

/// Says whether a skill is trusted.
pub trait Trust: Send + Sync {
    /// Asks; nothing where nobody can answer.
    fn ask(&self, question: &TrustQuestion) -> Option<bool>;

    /// Asks about a hook, which these lines show; nothing where nobody can answer.
    fn ask_hook(&self, _lines: &[String]) -> Option<bool> {
        None
    }

    /// Asks about a folder at its first use; nothing where nobody can answer.
    fn ask_portal(&self, _question: &PortalQuestion) -> Option<bool> {
        None
    }
}

impl Trust for Nobody {
    fn ask(&self, _question: &TrustQuestion) -> Option<bool> {
        None
    }
}

impl TrustQuestion {
    /// Shows what a skill may run.
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

/// Returns the addresses in a text, each once.
fn urls(text: &str) -> Vec<String> {
    let ends = |letter: char| letter.is_whitespace() || "<>()[]{}\"'`".contains(letter);
    let words = text.split(ends);
    let is_url = |word: &&str| word.starts_with("https://") || word.starts_with("http://");
    let found: BTreeSet<_> = words.filter(is_url).map(str::to_owned).collect();
    found.into_iter().take(20).collect()
}

impl Workshop {
    /// Tells whether a skill may be used as it is: it is the workshop's own, or was trusted.
    pub fn trusts(&self, reader: &Reader, skill: &Skill) -> Result<bool, Failure> {
        if skill.scope == Scope::Workshop {
            return Ok(true);
        }
        let filter = Filter {
            kind: Some("skill.trusted".to_owned()),
            ..Filter::default()
        };
        let folder = skill.folder.display().to_string();
        for record in reader.records(&Query::of(filter).few())? {
            if let Fact::SkillTrusted(trusted) = record.event()?.fact
                && trusted.hash == skill.hash
                && trusted.folder == folder
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records that a person trusts a skill as it is.
    pub(crate) fn trusted(&self, skill: &Skill) -> SkillTrusted {
        SkillTrusted {
            skill: skill.name.clone(),
            folder: skill.folder.display().to_string(),
            hash: skill.hash.clone(),
        }
    }
}

impl House {
    /// Makes sure that a skill is trusted, by asking where that is still open.
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
            Some(false) => Err(untrusted(skill, "you said no")),
            None => Err(untrusted(skill, "nobody could be asked")),
        }
    }
}

pub(crate) fn untrusted(skill: &Skill, why: &str) -> Failure {
    let (name, folder) = (&skill.name, skill.folder.display());
    Failure::new(
        Code::R003,
        format!("the skill `{name}` in `{folder}` is not trusted"),
    )
    .because(format!("it is not the workshop's own, and {why}"))
    .advise(format!(
        "`artel skill show {name}` shows what it may run, `artel skill trust {name}` trusts it; \
             `--yes` does for scripts"
    ))
}
