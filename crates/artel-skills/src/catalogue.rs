//! The list of skills in every prompt, which shows a model what is available.

use crate::Skill;

/// Shortest useful length of a description.
const LEAST_LETTERS: usize = 40;
/// The longest description that the format allows.
const MOST_LETTERS: usize = 1024;

/// Returns the block, and the names of the skills that did not fit. Skills that only a
/// person may start are not listed. If the block would exceed `budget_chars`, all
/// descriptions are first cut to the same length; then the last skills are left out, and
/// the caller names them to the person. Without skills the block is empty.
pub fn block(skills: &[Skill], budget_chars: usize) -> (String, Vec<String>) {
    let entries: Vec<SkillCatalogueEntry> = skills
        .iter()
        .filter(|skill| !skill.front.disable_model_invocation)
        .map(SkillCatalogueEntry::of)
        .collect();
    // Binary search for the longest length at which everything fits.
    let (mut fits, mut most) = (LEAST_LETTERS, MOST_LETTERS);
    while fits < most {
        let middle = fits.midpoint(most + 1);
        if size(&entries, middle) <= budget_chars {
            fits = middle;
        } else {
            most = middle - 1;
        }
    }
    let mut kept = entries.as_slice();
    let mut left = size(kept, fits);
    while let Some((last, before)) = kept.split_last()
        && left > budget_chars
    {
        left -= last.size(fits);
        kept = before;
    }
    let dropped = entries[kept.len()..].iter().map(|entry| entry.name.clone());
    let dropped = dropped.collect();
    if kept.is_empty() {
        return (String::new(), dropped);
    }
    let lines: String = kept.iter().map(|entry| entry.line(fits)).collect();
    (format!("{OPEN}{lines}{CLOSE}"), dropped)
}

const OPEN: &str = "<available_skills>\n";
const CLOSE: &str = "</available_skills>\n";

struct SkillCatalogueEntry {
    name: String,
    description: Vec<char>,
    location: String,
}

impl SkillCatalogueEntry {
    fn of(skill: &Skill) -> Self {
        let words: Vec<&str> = skill.description.split_whitespace().collect();
        Self {
            name: skill.name.clone(),
            description: words.join(" ").chars().take(MOST_LETTERS).collect(),
            location: skill.folder.join("SKILL.md").display().to_string(),
        }
    }

    fn line(&self, most: usize) -> String {
        let mut description: String = self.description.iter().take(most).collect();
        if self.description.len() > most {
            description.truncate(description.trim_end().len());
            description.push('…');
        }
        format!(
            "<skill><name>{}</name><description>{}</description><location>{}</location></skill>\n",
            escaped(&self.name),
            escaped(&description),
            escaped(&self.location)
        )
    }

    fn size(&self, most: usize) -> usize {
        self.line(most).chars().count()
    }
}

fn size(entries: &[SkillCatalogueEntry], most: usize) -> usize {
    let lines: usize = entries.iter().map(|entry| entry.size(most)).sum();
    lines + OPEN.len() + CLOSE.len()
}

/// Escapes a text so that it cannot end or begin a tag.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}
