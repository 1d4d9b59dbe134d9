//! Lessons kept of a skill's runs, which people can see, change and add to.

use artel_journal::{EventBatch, JournalReader};
use artel_types::{
    EventDraft, Failure, FailureCode, FeedbackGiven, LessonChanged, LessonLearned, LessonRemoved,
    RunId,
};
use serde::Serialize;

use crate::caller::random_run;
use crate::runs::lessons::{FEEDBACK, KeptLesson, LONGEST, MOST_KEPT, kept};
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// A lesson kept for the next runs of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillLesson {
    pub id: String,
    /// `success`, `failure` or `feedback`.
    pub sort: String,
    pub text: String,
    /// The run that taught it.
    pub from: Option<String>,
    /// Who put it into words; nobody where a run taught it.
    pub by: Option<String>,
}

/// The result of a person's feedback on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunFeedbackOutcome {
    pub run: String,
    /// The skill whose next runs get the feedback, or `None` if the run was a task.
    pub skill: Option<String>,
}

impl Workshop {
    /// Returns the lessons of a skill, oldest first.
    pub fn lessons(&self, skill: &str) -> Result<Vec<SkillLesson>, Failure> {
        let lessons = kept(&*self.reader()?, skill)?;
        if lessons.is_empty() {
            // A misspelt name has no lessons either, so the caller gets an error for it.
            self.find_skills(&self.run_folder(None)?).get(skill)?;
        }
        let shown = |KeptLesson { lesson, worded_by }| SkillLesson {
            id: lesson.id,
            sort: lesson.sort,
            text: lesson.text,
            from: lesson.from.map(|run| run.to_string()),
            by: worded_by.map(|by| by.label().into_owned()),
        };
        Ok(lessons.into_iter().map(shown).collect())
    }

    /// Keeps a person's lesson for the next runs of a skill and returns its id.
    pub fn add_lesson(&self, skill: &str, text: &str) -> Result<String, Failure> {
        let found = self.find_skills(&self.run_folder(None)?);
        let name = found.get(skill)?.name.clone();
        let text = self.lesson_text(text)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let lesson = lesson(&name, FEEDBACK, text, None)?;
        let id = lesson.id.clone();
        let drafts = self.bounded(journal.reader(), lesson)?;
        journal.append(EventBatch::of(drafts)).wait()?;
        Ok(id)
    }

    /// Changes the text of a lesson.
    pub fn edit_lesson(&self, skill: &str, id: &str, text: &str) -> Result<(), Failure> {
        let id = self.lesson_id(skill, id)?;
        let text = self.lesson_text(text)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        journal
            .append(self.draft(LessonChanged { id, text }))
            .wait()?;
        Ok(())
    }

    /// Removes a lesson.
    pub fn remove_lesson(&self, skill: &str, id: &str) -> Result<(), Failure> {
        let id = self.lesson_id(skill, id)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        journal.append(self.draft(LessonRemoved { id })).wait()?;
        Ok(())
    }

    /// Records a person's feedback on a run. The next runs of its skill get to know it.
    pub fn give_feedback(&self, run: &str, text: &str) -> Result<RunFeedbackOutcome, Failure> {
        let (started, _) = self.started(self.run_named(run)?)?;
        let text = self.lesson_text(text)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let given = FeedbackGiven {
            id: started.id,
            text: text.clone(),
        };
        let mut drafts = vec![self.draft(given)];
        if let Some(skill) = &started.skill {
            let lesson = lesson(skill, FEEDBACK, text, Some(started.id))?;
            drafts.extend(self.bounded(journal.reader(), lesson)?);
        }
        journal.append(EventBatch::of(drafts)).wait()?;
        Ok(RunFeedbackOutcome {
            run: started.id.to_string(),
            skill: started.skill,
        })
    }

    /// Returns the events that keep a lesson and remove the oldest of its sort beyond the
    /// limit.
    pub(super) fn bounded(
        &self,
        reader: &JournalReader,
        lesson: LessonLearned,
    ) -> Result<Vec<EventDraft>, Failure> {
        let kept = kept(reader, &lesson.skill)?;
        let same = kept.iter().map(|it| &it.lesson);
        let same: Vec<_> = same.filter(|it| it.sort == lesson.sort).collect();
        let surplus = (same.len() + 1).saturating_sub(MOST_KEPT);
        let removed = same
            .iter()
            .take(surplus)
            .map(|old| LessonRemoved { id: old.id.clone() });
        let mut drafts: Vec<_> = removed.map(|fact| self.draft(fact)).collect();
        drafts.push(self.draft(lesson));
        Ok(drafts)
    }

    fn lesson_text(&self, text: &str) -> Result<String, Failure> {
        self.refuse_secret_in(text)?;
        let redactor = self.redactor().with_formats(self.caller.formats());
        let text = one_line(&redactor.redact(text));
        if text.is_empty() {
            return Err(Failure::new(FailureCode::C005, "there is nothing to keep")
                .advise("say it in a sentence: `artel feedback RUN \"use the other column\"`"));
        }
        Ok(text)
    }

    fn lesson_id(&self, skill: &str, id: &str) -> Result<String, Failure> {
        let lessons = self.lessons(skill)?;
        let found = lessons.into_iter().find(|lesson| lesson.id == id);
        found.map(|lesson| lesson.id).ok_or_else(|| {
            let shown: String = id.chars().take(80).collect();
            let what = format!("nothing that is kept of `{skill}` has the id `{shown}`");
            Failure::new(FailureCode::W005, what)
                .advise(format!("`artel skill feedback {skill}` shows the ids"))
        })
    }
}

/// Makes a lesson with a new id.
pub(super) fn lesson(
    skill: &str,
    sort: &str,
    text: String,
    from: Option<RunId>,
) -> Result<LessonLearned, Failure> {
    Ok(LessonLearned {
        id: random_run()?.short(),
        skill: skill.to_owned(),
        sort: sort.to_owned(),
        text,
        from,
    })
}

/// Returns a text on one line, cut to the length limit of a lesson.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
