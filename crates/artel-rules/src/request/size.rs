//! Estimates the size of a request from its words.
//!
//! A question must be recognisable as one, and a trivial change must name exactly what it
//! changes. Everything else is work: one plan too many costs a look, one plan too few
//! costs trust.

use std::sync::LazyLock;

use artel_types::plan::RequestSize;
use regex::Regex;

use super::sentences::{RequestLine, RequestLineKind};

/// Words that ask for a change.
const CHANGES: &str = "add|adapt|adjust|allow|append|apply|automate|backport|build|bump|cache|capitali[sz]e|change|clean|configure|connect|convert|copy|correct|create|cut|debug|decrease|delete|deploy|deprecate|disable|document|downgrade|drop|edit|enable|encrypt|expose|extend|extract|fix|format|generate|get rid|handle|harden|hide|implement|improve|include|increase|initiali[sz]e|inline|insert|install|instrument|integrate|introduce|limit|lint|localise|localize|log|lower|make|mark|mend|merge|migrate|mock|modernise|modernize|modify|move|normali[sz]e|optimi[sz]e|organi[sz]e|parallelise|parallelize|patch|polish|port|prepare|print|publish|pull|push|put|raise|redesign|reduce|redo|refactor|reformat|regenerate|release|remove|rename|reorder|repair|replace|reset|resolve|restore|restructure|return|revert|rewrite|rework|round|run|scaffold|secure|separate|set|setup|set up|ship|shorten|show users|simplify|solve|sort out|sort the|speed|split|start|stop|store|strip|style|support|swap|switch|test|throw|tidy|translate|trim|tune|turn|unify|uninstall|update|upgrade|use|validate|wire|wrap|write";

/// Words that only ask for information.
const TELLS: &str = "explain|describe|tell me|tell us|show me|list|summari[sz]e|outline|compare|walk me through|clarify|help me understand|find out|find|look up|look at|look into|check|identify|analy[sz]e|investigate|count|give me|estimate|review|suggest|recommend|point me|remind me|search|read|enumerate|name|say";

/// Words that may precede an order.
const POLITE: &str = r"(?:(?:please|kindly|hi|hello|hey|hey there|ok|okay|now|then|also|and|so|just|first|next|finally|instead|afterwards|artel|go ahead and|simply|quickly|maybe|perhaps|do)[,!:]?\s+)*";

/// Phrases that make an order a question or a wish.
const WISH: &str = r"(?:(?:can|could|would|will) (?:you|we|someone|somebody|anyone)(?: please| kindly| also| maybe| just| perhaps)*|(?:i|we)(?: would|['’]d)? (?:want|like|need|love)(?: you| us)? to|(?:i|we) (?:want|need|must|should|have to)|you (?:should|must|need to|have to)|let['’]?s|let us|(?:would|is|would it be|is it) (?:it )?(?:be )?possible to|would you mind|it would be (?:nice|great|good|helpful) (?:to|if (?:you|we) (?:could )?)|try to|feel free to|help me(?: to)?|your task is to|the task is to|the goal is to|time to|why don['’]t (?:you|we)|why not|how about|what about|go|come) ";

struct RequestSizePatterns {
    order: Regex,
    later_order: Regex,
    asked_order: Regex,
    question: Regex,
    telling: Regex,
    wish: Regex,
    small: Vec<(Regex, &'static str)>,
    broad: Regex,
    file: Regex,
}

static PATTERNS: LazyLock<Option<RequestSizePatterns>> =
    LazyLock::new(|| RequestSizePatterns::new().ok());

impl RequestSizePatterns {
    fn new() -> Result<Self, regex::Error> {
        let change = format!(r"(?:{CHANGES}|{})\b", gerunds());
        // Sentences are lower-cased before they are matched, and the words are English.
        // Patterns that ignore case and other scripts are an order of magnitude cheaper to
        // build.
        let any = |pattern: String| Regex::new(&pattern.replace(r"\b", r"(?-u:\b)"));
        let quoted = r#"(?:`[^`]+`|"[^"]+"|'[^']+'|“[^”]+”)"#;
        let value = format!(r"(?:{quoted}|[a-z0-9_.$/+-]+)");
        let small = [
            (r"(?:fix|correct|repair) (?:the |a |this |that )?(?:typo|misspelling|spelling mistake|spelling error|spelling)\b".to_owned(), "a typo"),
            (r"\b(?:a |one )?(?:typo|misspelling|spelling mistake)\b(?: in| on|:)".to_owned(), "a typo"),
            (format!(r"(?:correct|change|fix) the (?:spelling|word) (?:of )?{value}"), "one word"),
            (format!(r"rename (?:the )?(?:local )?(?:variable |constant |parameter |field |heading |key |word )?{value} (?:to|into|as) {value}"), "one name"),
            (format!(r"(?:change|replace|swap) (?:the )?(?:word |text |string |value |number |url |link |title |label |heading |name )?{value} (?:to|with|by|for|into) {value}"), "one value"),
            (format!(r"(?:set|change|bump|raise|lower|increase|decrease) (?:the )?[a-z0-9_.`-]+(?: [a-z0-9_`-]+)? (?:from {value} )?to {value}"), "one value"),
            (r"(?:change|replace|fix|delete|remove) line \d+\b".to_owned(), "one line"),
            (r"(?:remove|delete|drop|add) (?:the |a |an |one )?(?:missing |unused |trailing |extra |stray |duplicate |double |empty |blank |final )+(?:import|semicolon|comma|newline|whitespace|space|line|word|bracket|parenthesis|quote|full stop|period)\b".to_owned(), "one line"),
        ];
        let small = small
            .into_iter()
            .map(|(pattern, name)| Ok((any(format!(r"\b{pattern}"))?, name)));
        Ok(Self {
            order: any(format!(r"^[^a-z0-9]*{POLITE}(?:{WISH})?{POLITE}{change}"))?,
            later_order: any(format!(r"(?:[,;:]|—| -|\band\b|\bthen\b|\bbut\b|\bso\b)\s+{POLITE}(?:{WISH})?{POLITE}{change}"))?,
            asked_order: any(format!(r"(?:\bplease|\b(?:can|could|would|will) you(?: please| also| just)*)\s+{change}"))?,
            question: any(r"^[^a-z0-9]*(?:[^?.,:]{1,60}[,:—]\s+)?(?:(?:hi|hello|hey|ok|okay|so|and|but|quick question|question|just curious|also|then)[,:!]?\s+)*(?:what|what['’]s|why|how|how['’]s|where|where['’]s|when|who|who['’]s|whose|whom|which|is|are|was|were|does|do|did|has|have|had|can|could|should|would|will|may|might|isn['’]t|aren['’]t|doesn['’]t|don['’]t|didn['’]t|shouldn['’]t|any idea|any ideas|anything|anyone|am i)\b".to_owned())?,
            telling: any(format!(r"^[^a-z0-9]*{POLITE}(?:(?:can|could|would|will) you(?: please)?\s+|(?:i|we)(?: would|['’]d) (?:like|love) (?:you )?to |i want (?:you )?to |i need (?:you )?to |help me |let me )?(?:{TELLS}|know|understand|see)\b|^[^a-z0-9]*(?:i wonder|i['’]m wondering|i am wondering|wondering|curious|i don['’]t understand|i do not understand|no idea|not sure)\b"))?,
            wish: any(r"\b(?:i want|we want|i need|we need|i['’]d like|we['’]d like|i would like|we would like|should|must|has to|have to|needs? to|ought to|is missing|are missing|is broken|are broken)\b".to_owned())?,
            small: small.collect::<Result<_, regex::Error>>()?,
            broad: any(r"\b(?:everywhere|all|each|every|across|throughout|whole|entire|any|several|many|multiple|files|modules|refactor|migrate|tests?|and|then|also|without|must|should|module|package|crate|class|function|method|table|column|database|api|endpoint|schema)\b".to_owned())?,
            file: Regex::new(r"(?i)(?:[a-z0-9_-]+/)*[a-z0-9_.-]*[a-z0-9_]\.(?:[a-z][a-z0-9]{0,5})(?-u:\b)|(?-u:\b)(?:readme|license|makefile|dockerfile|changelog|contributing|gemfile|justfile)(?-u:\b)")?,
        })
    }
}

/// The forms of an order after "would you mind" or "how about".
fn gerunds() -> &'static str {
    "adding|changing|creating|fixing|implementing|making|moving|removing|renaming|replacing|rewriting|updating|using|writing|deleting|refactoring|supporting|improving|cleaning|splitting|switching|upgrading"
}

/// Returns the size of a request, and the reason.
pub(super) fn of(lines: &[RequestLine]) -> (RequestSize, String) {
    let Some(patterns) = PATTERNS.as_ref() else {
        return (RequestSize::Work, "its size is not known".to_owned());
    };
    let lists = lines.iter().any(|line| line.kind == RequestLineKind::Item);
    let prose = lines
        .iter()
        .filter(|line| line.kind != RequestLineKind::Item && !line.is_generic_heading());
    let sentences: Vec<String> = prose.flat_map(RequestLine::sentences).collect();
    let orders: Vec<&String> = sentences
        .iter()
        .filter(|it| patterns.is_order(it))
        .collect();
    // A typo can be reported without an order to fix it.
    let only = match (orders.as_slice(), sentences.as_slice()) {
        ([order], _) => Some(*order),
        ([], [report]) => Some(report),
        _ => None,
    };
    if let Some(what) = only.and_then(|only| patterns.small(only, &sentences))
        && !lists
    {
        return (RequestSize::Trivial, format!("it names {what} exactly"));
    }
    if let Some(order) = orders.first() {
        return (
            RequestSize::Work,
            format!("it wants something changed: {}", start(order)),
        );
    }
    let question = sentences.iter().find(|it| patterns.is_question(it));
    let wish = sentences
        .iter()
        .find(|it| !patterns.is_question(it) && patterns.wish.is_match(&it.to_lowercase()));
    match (question, wish) {
        (Some(_), None) => (
            RequestSize::Question,
            "it asks, and wants nothing changed".to_owned(),
        ),
        (_, Some(wish)) => (
            RequestSize::Work,
            format!("it wants something changed: {}", start(wish)),
        ),
        (None, None) => (
            RequestSize::Work,
            "nothing says that it is smaller".to_owned(),
        ),
    }
}

/// Returns whether a sentence only asks.
pub(super) fn is_plain_question(sentence: &str) -> bool {
    let patterns = PATTERNS.as_ref();
    patterns.is_some_and(|it| {
        sentence.ends_with('?') && it.is_question(sentence) && !it.is_order(sentence)
    })
}

impl RequestSizePatterns {
    /// Returns whether a sentence asks for a change.
    fn is_order(&self, sentence: &str) -> bool {
        let sentence = &*sentence.to_lowercase();
        if self.order.is_match(sentence) || self.asked_order.is_match(sentence) {
            return true;
        }
        // In a question, later words belong to what is asked about.
        let asks = sentence.ends_with('?') && self.question.is_match(sentence);
        !asks && self.later_order.is_match(sentence)
    }

    fn is_question(&self, sentence: &str) -> bool {
        let sentence = &*sentence.to_lowercase();
        let is_asked = self.question.is_match(sentence);
        (is_asked && (sentence.ends_with('?') || is_wh(sentence)))
            || self.telling.is_match(sentence)
    }

    /// Returns the small change that a request names exactly, if it does.
    fn small(&self, sentence: &str, all: &[String]) -> Option<String> {
        let is_short = sentence.chars().count() <= 160 && all.len() <= 2;
        let bare = without_quoted(&self.file.replace_all(sentence, "``"));
        if !is_short || self.broad.is_match(&bare.to_lowercase()) {
            return None;
        }
        let files = self.file.find_iter(sentence);
        let mut files: Vec<&str> = files.map(|found| found.as_str()).collect();
        files.dedup();
        let [file] = files.as_slice() else {
            return None;
        };
        let lower = sentence.to_lowercase();
        let mut small = self.small.iter();
        let (_, what) = small.find(|(pattern, _)| pattern.is_match(&lower))?;
        Some(format!("{what} in `{file}`"))
    }
}

/// Returns whether a sentence begins with a word that can only ask, even without a
/// question mark.
fn is_wh(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(
        first,
        "what" | "why" | "how" | "where" | "who" | "which" | "what's" | "where's" | "whose"
    )
}

/// Removes quoted text, which is meant literally.
fn without_quoted(sentence: &str) -> String {
    let mut plain = String::new();
    let mut quote: Option<char> = None;
    for letter in sentence.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '`' | '"') => quote = Some(letter),
            None => plain.push(letter),
        }
    }
    plain
}

fn start(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let start: String = letters.by_ref().take(60).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    format!("“{}{more}”", start.trim_end())
}
