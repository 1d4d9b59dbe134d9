//! The constraints and success criteria of a request, in its own words.

use std::sync::LazyLock;

use artel_types::plan::{Requirement, RequirementSource};
use regex::Regex;

use super::sentences::{RequestLine, RequestLineKind};
use super::size::is_plain_question;
use super::{LONGEST_CLAIM, MOST_CLAIMS};

/// The topic of the lines under a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestHeadingTopic {
    Constraints,
    Criteria,
    Other,
}

static LIMITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(
            must\ not | mustn['’]t | do\ not | don['’]t | never | without | only | avoid
          | should\ not | shouldn['’]t | shall\ not | may\ not | cannot\ use | can['’]t\ use
          | at\ most | no\ more\ than | at\ least | no\ new | no\ extra | no\ additional
          | no\ breaking | unchanged | untouched | as\ (it|they)\ (is|are)
          | leave\ .+\ alone | keep | stay | compatible | instead\ of
        )\b",
    )
    .ok()
});

static WISHES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(
            must | should | shall | has\ to | have\ to | needs?\ to | so\ that | in\ order\ to
          | make\ sure | ensure | is\ expected\ to | are\ expected\ to | we\ expect | i\ expect
          | done\ when | finished\ when | works?\ when | as\ soon\ as
        )\b
        | \b(when|if|once|whenever|given)\b .* (\bthen\b | ,\s+ (it|the|a|an|they|we|users?|nothing)\b)
        | ^(given|then)\s",
    )
    .ok()
});

/// Returns constraints and criteria, in the order of the text, each once.
pub(super) fn read(lines: &[RequestLine]) -> (Vec<Requirement>, Vec<Requirement>) {
    let (mut constraints, mut criteria) = (Vec::new(), Vec::new());
    let mut topic = RequestHeadingTopic::Other;
    for line in lines {
        if line.kind == RequestLineKind::Heading {
            topic = topic_of(&line.text);
            continue;
        }
        if topic != RequestHeadingTopic::Other && line.kind == RequestLineKind::Item {
            let list = match topic {
                RequestHeadingTopic::Constraints => &mut constraints,
                _ => &mut criteria,
            };
            add(list, &line.text);
            continue;
        }
        for sentence in line.sentences() {
            let matches = |pattern: &Option<Regex>| {
                pattern
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_match(&sentence))
            };
            match topic {
                RequestHeadingTopic::Constraints => add(&mut constraints, &sentence),
                RequestHeadingTopic::Criteria => add(&mut criteria, &sentence),
                RequestHeadingTopic::Other if is_plain_question(&sentence) => {}
                RequestHeadingTopic::Other if matches(&LIMITS) => add(&mut constraints, &sentence),
                RequestHeadingTopic::Other if matches(&WISHES) => add(&mut criteria, &sentence),
                RequestHeadingTopic::Other => {}
            }
        }
    }
    (constraints, criteria)
}

fn topic_of(heading: &str) -> RequestHeadingTopic {
    let plain = heading.trim_end_matches(':').to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    if has(&[
        "constraint",
        "limit",
        "restriction",
        "out of scope",
        "non-goal",
        "not in scope",
        "do not",
        "don't",
        "must not",
        "boundaries",
    ]) {
        RequestHeadingTopic::Constraints
    } else if has(&[
        "criteria",
        "criterion",
        "acceptance",
        "done when",
        "definition of done",
        "success",
        "requirement",
        "expected",
        "must",
        "should",
        "goals",
        "outcome",
    ]) {
        RequestHeadingTopic::Criteria
    } else {
        RequestHeadingTopic::Other
    }
}

fn add(list: &mut Vec<Requirement>, text: &str) {
    let text: String = text.trim().chars().take(LONGEST_CLAIM).collect();
    let is_known = list.iter().any(|claim| claim.text == text);
    if !text.is_empty() && !is_known && list.len() < MOST_CLAIMS {
        list.push(Requirement {
            text,
            source: RequirementSource::Explicit,
        });
    }
}
