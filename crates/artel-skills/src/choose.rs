//! Chooses the skill for a request by its words. A model may decide what this leaves open.
//!
//! Words of a skill's name weigh more than those of its description and paths, and rare
//! words more than common ones (BM25). Sentences that say what a skill is *not* for are
//! ignored.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::Skill;

/// Weight of a word by the place where it occurs.
const IN_NAME: f64 = 3.0;
const IN_TEXT: f64 = 1.0;
/// The usual constants of BM25: how soon repetition stops counting, and how much length
/// counts.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// Number of skills added when the rarity of a word is computed, so that words are not
/// common just because there are few skills.
const BACKGROUND: f64 = 12.0;
/// Smallest score that is more than chance.
const LEAST: f64 = 1.5;
/// Smallest score of a sure choice.
const SURE: f64 = 4.0;
/// Factor by which a sure choice must beat the next skill.
const AHEAD: f64 = 1.25;
/// Largest number of skills offered if none is sure.
const MOST_OFFERED: usize = 5;
/// Number of words of a request that are considered; the rest is ignored.
const MOST_WORDS: usize = 400;

/// A skill and how well it fits a request. A higher score is better; 0 means no match at
/// all.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSkill {
    pub name: String,
    pub score: f64,
    /// Number of different words of the request that match the skill.
    pub matched: usize,
}

/// The choice of a skill from the words of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillChoice {
    /// This skill.
    One(String),
    /// One of these, best first, or none.
    Unsure(Vec<String>),
    /// No skill.
    None,
}

/// Ranks skills by how well they fit a request, best first. Skills that do not match are
/// left out.
pub fn rank(request: &str, skills: &[Skill]) -> Vec<RankedSkill> {
    rank_all(request, &skills.iter().collect::<Vec<_>>())
}

fn rank_all(request: &str, skills: &[&Skill]) -> Vec<RankedSkill> {
    let wanted: HashSet<String> = words(request).take(MOST_WORDS).collect();
    let documents: Vec<SkillSearchDocument> = skills
        .iter()
        .map(|skill| SkillSearchDocument::of(skill))
        .collect();
    let mut spread: HashMap<&str, f64> = HashMap::new();
    for word in documents.iter().flat_map(|document| document.counts.keys()) {
        *spread.entry(word).or_default() += 1.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are fewer skills than that"
    )]
    let (count, length) = (
        documents.len() as f64,
        documents
            .iter()
            .map(|document| document.length)
            .sum::<f64>()
            / documents.len().max(1) as f64,
    );
    let rarity = |word: &str| {
        let holders = spread.get(word).copied().unwrap_or_default();
        ((count + BACKGROUND + 0.5) / (holders + 0.5)).ln()
    };
    let mut ranked: Vec<RankedSkill> = skills
        .iter()
        .zip(&documents)
        .map(|(skill, document)| document.judge(skill, &wanted, length, &rarity))
        .filter(|ranked| ranked.matched > 0)
        .collect();
    ranked.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.name.cmp(&b.name))
    });
    ranked
}

/// Chooses among skills. A choice is sure only if several words match the skill and no
/// other skill's score comes close. Skills that only a person may start are never chosen.
pub fn best(request: &str, skills: &[Skill]) -> SkillChoice {
    let is_open = |skill: &&Skill| !skill.front.disable_model_invocation;
    let open: Vec<&Skill> = skills.iter().filter(is_open).collect();
    let ranked = rank_all(request, &open);
    let likely: Vec<&RankedSkill> = ranked.iter().filter(|one| one.score >= LEAST).collect();
    let Some(first) = likely.first() else {
        return SkillChoice::None;
    };
    let next = likely.get(1).map_or(0.0, |second| second.score);
    if first.score >= SURE && first.matched >= 2 && first.score >= AHEAD * next {
        return SkillChoice::One(first.name.clone());
    }
    let offered = likely.iter().take(MOST_OFFERED);
    SkillChoice::Unsure(offered.map(|one| one.name.clone()).collect())
}

struct SkillSearchDocument {
    counts: BTreeMap<String, f64>,
    name: Vec<String>,
    length: f64,
}

impl SkillSearchDocument {
    fn of(skill: &Skill) -> Self {
        let mut counts = BTreeMap::new();
        let name: Vec<String> = words(&skill.name).collect();
        for word in &name {
            *counts.entry(word.clone()).or_default() += IN_NAME;
        }
        let text = without_exclusions(&skill.description);
        let paths = skill.front.paths.iter().flat_map(|path| words(path));
        for word in words(&text).chain(paths) {
            *counts.entry(word).or_default() += IN_TEXT;
        }
        let length = counts.values().sum();
        Self {
            counts,
            name,
            length,
        }
    }

    fn judge(
        &self,
        skill: &Skill,
        wanted: &HashSet<String>,
        length: f64,
        rarity: &dyn Fn(&str) -> f64,
    ) -> RankedSkill {
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * self.length / length.max(1.0));
        let found: Vec<(&String, &f64)> = self
            .counts
            .iter()
            .filter(|(word, _)| wanted.contains(*word))
            .collect();
        let gains = found
            .iter()
            .map(|(word, count)| rarity(word) * **count * (SATURATION + 1.0) / (**count + norm));
        let mut score: f64 = gains.sum();
        let mut matched = found.len();
        // A request that contains the whole name means this skill.
        if !self.name.is_empty() && self.name.iter().all(|word| wanted.contains(word)) {
            score += SURE;
            matched = matched.max(1) + usize::from(self.name.len() > 1);
        }
        RankedSkill {
            name: skill.name.clone(),
            score,
            matched,
        }
    }
}

/// Removes the sentences that say when not to use a skill.
fn without_exclusions(description: &str) -> String {
    const MARKS: &[&str] = &[
        "do not use",
        "don't use",
        "do not trigger",
        "don't trigger",
        "not for ",
        "never use",
        "not when",
    ];
    let sentences = description.split_inclusive(['.', ';', '\n', '!']);
    sentences
        .filter(|sentence| {
            let lower = sentence.to_lowercase();
            MARKS.iter().all(|mark| !lower.contains(mark))
        })
        .collect()
}

/// Returns the stems of a text's words, without words too common to mean anything.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| stem(&word.chars().take(40).collect::<String>().to_lowercase()))
        .filter(|word| !is_common(word))
}

/// Cuts the endings that English adds to a word. It is rough on purpose: requests and
/// skills are stemmed alike, so a wrong stem does no harm.
fn stem(word: &str) -> String {
    const ENDINGS: &[(&str, &str)] = &[
        ("ies", "y"),
        ("sses", "ss"),
        ("ations", "at"),
        ("ation", "at"),
        ("ating", "at"),
        ("ated", "at"),
        ("ates", "at"),
        ("ate", "at"),
        ("ings", ""),
        ("ing", ""),
        ("ers", ""),
        ("er", ""),
        ("ed", ""),
        ("es", ""),
        ("ly", ""),
        ("s", ""),
        ("e", ""),
    ];
    if word.len() < 4 || !word.is_ascii() || word.ends_with("ss") {
        return word.to_owned();
    }
    for (ending, instead) in ENDINGS {
        if let Some(root) = word.strip_suffix(ending)
            && root.len() >= 3
        {
            let root = match root.as_bytes() {
                // `running` and `run` are one word.
                [.., a, b] if a == b && instead.is_empty() && !b"lsz".contains(b) => {
                    &root[..root.len() - 1]
                }
                _ => root,
            };
            return format!("{root}{instead}");
        }
    }
    word.to_owned()
}

fn is_common(stem: &str) -> bool {
    const COMMON: &[&str] = &[
        "a", "about", "after", "all", "also", "an", "and", "ani", "any", "are", "as", "ask", "at",
        "be", "befor", "but", "by", "can", "com", "creat", "could", "do", "doe", "don", "for",
        "from", "get", "give", "giv", "go", "had", "has", "hav", "have", "help", "her", "here",
        "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "lik", "mak",
        "make", "may", "me", "mi", "my", "need", "new", "no", "not", "now", "of", "on", "one",
        "or", "oth", "our", "out", "over", "pleas", "s", "should", "skill", "so", "som", "some",
        "such", "t", "task", "than", "that", "the", "their", "them", "then", "ther", "thes",
        "they", "thi", "this", "thos", "to", "tool", "up", "us", "use", "user", "want", "was",
        "we", "what", "when", "where", "wher", "which", "who", "will", "with", "work", "would",
        "you", "your", "whenev", "provid", "includ", "support", "or", "using",
    ];
    COMMON.contains(&stem)
}
