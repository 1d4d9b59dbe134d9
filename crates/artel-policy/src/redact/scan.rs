//! Reads text once and finds what looks like a secret.

use std::ops::Range;

use artel_types::{SecretDetector, SecretScanContext, SecretScanProgress, TextEnd};

use super::fields::{self, ConfiguredSecretFields};
use super::grams::{
    RedactionTrigger, RedactionTriggerHit, RedactionTriggerIndex, RedactionTriggerLetterCase,
};
use super::mend::NormalizedText;
use super::rules::{self, RedactionRule};
use super::verdict::{LongSecretEnding, LongSecretProgress, RedactionRuleOutcome};
use super::view::{LONGEST_REACH, SecretScanText, is_token};

/// Every format, ready to be searched for.
pub(super) struct SecretScanner {
    grams: RedactionTriggerIndex<RedactionRule>,
    extra: ConfiguredSecretFields,
}

/// The combined result of the rules for one place.
enum SecretScanOutcome {
    Nothing,
    Secret(Range<usize>, Option<LongSecretEnding>, &'static str),
    /// More text is needed.
    Undecided,
}

impl SecretScanner {
    /// Creates a scanner that also removes the values of these names.
    pub(super) fn new(names: &[String]) -> Self {
        Self {
            grams: RedactionTriggerIndex::new(rules::anchors(names)),
            extra: ConfiguredSecretFields::new(names),
        }
    }

    /// Scans the text from `from` on, as described for [`SecretDetector::look`], and passes each
    /// place with its kind to `found`.
    pub(super) fn scan(
        &self,
        view: &SecretScanText<'_>,
        from: usize,
        inside: SecretScanContext,
        mut found: impl FnMut(Range<usize>, &'static str),
    ) -> SecretScanProgress {
        let mut at = from;
        if let SecretScanContext::Secret(code) = inside {
            let (to, look) = follow(view, from, LongSecretEnding::from_code(code));
            if to > from {
                found(from..to, "secret");
            }
            if let Some(look) = look {
                return look;
            }
            at = to;
        }
        let mut floor = at;
        while let Some(hit) = self.grams.next(view.text(), at) {
            let (place, ending, name) = match self.judge(view, &hit) {
                SecretScanOutcome::Nothing => {
                    at = hit.at + 1;
                    continue;
                }
                SecretScanOutcome::Undecided => return undecided(view, floor, hit.at),
                SecretScanOutcome::Secret(place, ending, name) => (place, ending, name),
            };
            let start = place.start.max(floor);
            let (to, look) = match ending {
                Some(ending) => follow(view, place.end, ending),
                None => (place.end, None),
            };
            found(start..to, name);
            if let Some(look) = look {
                return look;
            }
            floor = to;
            at = to.max(hit.at + 1);
        }
        if view.is_open() {
            ended(view, floor)
        } else {
            SecretScanProgress {
                settled: view.len(),
                inside: SecretScanContext::Nothing,
            }
        }
    }

    /// Like [`SecretScanner::scan`], but on the normalized text, as a reader would see it.
    pub(super) fn look_at(
        &self,
        text: &[u8],
        from: usize,
        inside: SecretScanContext,
        end: TextEnd,
        mut found: impl FnMut(Range<usize>, &'static str),
    ) -> SecretScanProgress {
        let Some(mended) = NormalizedText::of(text, end) else {
            return self.scan(&SecretScanText::new(text, end), from, inside, found);
        };
        let view = SecretScanText::new(&mended.text, end).with_seams(&mended.seams);
        let index = mended.index(from);
        let look = self.scan(&view, index, inside, |part, name| {
            let mut place = mended.place(&part);
            // A continued secret begins where the last look ended, even if a colour follows
            // there.
            if part.start == index && inside != SecretScanContext::Nothing {
                place.start = from;
            }
            found(place, name);
        });
        mended.look(look, from)
    }

    /// Runs every rule whose trigger word stands here; the longest secret wins.
    fn judge(&self, view: &SecretScanText<'_>, hit: &RedactionTriggerHit) -> SecretScanOutcome {
        let mut judged = SecretScanOutcome::Nothing;
        let mut reach = 0;
        for anchor in self.grams.anchors(hit) {
            if !stands(view, hit.at, anchor) {
                continue;
            }
            let word = anchor.word.len();
            let (place, ending, name) = match anchor.rule.judge(view, hit.at, word, &self.extra) {
                RedactionRuleOutcome::Nothing => continue,
                RedactionRuleOutcome::Secret(place, name) => (place, None, name),
                RedactionRuleOutcome::Long(place, ending, name) => (place, Some(ending), name),
            };
            if place.end > reach {
                reach = place.end;
                judged = SecretScanOutcome::Secret(place, ending, name);
            }
        }
        if view.was_touched() {
            SecretScanOutcome::Undecided
        } else {
            judged
        }
    }
}

impl SecretDetector for SecretScanner {
    fn look(
        &self,
        text: &[u8],
        from: usize,
        inside: SecretScanContext,
        end: TextEnd,
        found: &mut Vec<Range<usize>>,
    ) -> SecretScanProgress {
        self.look_at(text, from, inside, end, |place, _| found.push(place))
    }

    fn is_secret_field(&self, name: &str, value: &str) -> bool {
        fields::is_secret(name, value, &self.extra)
    }
}

fn stands(view: &SecretScanText<'_>, at: usize, anchor: &RedactionTrigger<RedactionRule>) -> bool {
    match anchor.case {
        RedactionTriggerLetterCase::Exact => view.starts(at, &anchor.word),
        RedactionTriggerLetterCase::Any => view.starts_any_case(at, &anchor.word),
    }
}

/// Follows a long secret. Returns where it was followed to, and the look to return if it
/// continues.
fn follow(
    view: &SecretScanText<'_>,
    from: usize,
    ending: LongSecretEnding,
) -> (usize, Option<SecretScanProgress>) {
    match ending.follow(view, from) {
        LongSecretProgress::Ended(to) => (to, None),
        LongSecretProgress::GoesOn(to, ending) => {
            let inside = SecretScanContext::Secret(ending.to_code());
            (
                to,
                Some(SecretScanProgress {
                    settled: to,
                    inside,
                }),
            )
        }
    }
}

/// Leaves the current token unsettled, because a rule may reach back over it.
fn undecided(view: &SecretScanText<'_>, floor: usize, at: usize) -> SecretScanProgress {
    settle(view, floor, view.run_before(at, LONGEST_REACH, is_token))
}

/// Ends a look with nothing left to decide. The last word may still become something, and
/// so may the bytes too close to the end to be examined. No trigger word has a blank as
/// its second byte.
fn ended(view: &SecretScanText<'_>, floor: usize) -> SecretScanProgress {
    let word = view.run_before(view.len(), LONGEST_REACH, is_token);
    let looked_at = view.len().saturating_sub(3);
    let mut unseen = looked_at..word.max(looked_at);
    let first = unseen.find(|at| !is_token(view.text()[*at]));
    match first {
        // A password, or the last letters of a name, may precede it.
        Some(at) if b"@\"'".contains(&view.text()[at]) => undecided(view, floor, at),
        _ => settle(view, floor, first.unwrap_or(word)),
    }
}

fn settle(view: &SecretScanText<'_>, floor: usize, at: usize) -> SecretScanProgress {
    // Some armour has a blank after its dashes.
    let before = &view.text()[..at];
    let dashes = before.strip_suffix(b" ").unwrap_or(before);
    let settled = if dashes.ends_with(b"-") {
        view.run_before(dashes.len(), LONGEST_REACH, is_token)
    } else {
        at
    };
    SecretScanProgress {
        settled: settled.max(floor),
        inside: SecretScanContext::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts made to be examined again and again.
    const HOSTILE: &[&str] = &[
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA5fakMIIEowIBAAKCAQEA5fak\n",
        "password=",
        "password = ",
        "password: ",
        "password=\"",
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "://a:",
        "key",
        "key=",
        "token ",
        "\"key\": ",
        "sk-",
        "bearer ",
        " -u",
        "; a=",
        "Cookie: ",
        "a",
        "\\",
        "<password>",
        "--token ",
        "$2",
        "MT",
        "Private-Lines: 3\n",
        "LS0tLS1CRUdJTi",
        ":5432:",
        "machine password ",
        "password:|\n",
        "'token', ",
        "name, value: ",
        "login password ",
        "Authorization: Basic YTpi ",
        "String::from(key=",
        " -p mysql",
        "hooks.slack.com/services/",
        "/api/webhooks/",
        "\"d\":\"",
        "{SSHA}",
        "pbkdf2_sha",
        "basicauth('a', '",
        "Client(",
        "*:*:",
        "+ASt",
        "!AQ",
        "fm2_,",
        "password%3D",
        "password\":\"",
        "secret a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6 ",
    ];

    fn steps(unit: &str, bytes: usize) -> usize {
        let text = unit.repeat(bytes / unit.len());
        let scanner = SecretScanner::new(&[]);
        let view = SecretScanText::new(text.as_bytes(), TextEnd::Here);
        scanner.scan(&view, 0, SecretScanContext::Nothing, |_, _| {});
        view.steps()
    }

    #[test]
    fn the_work_grows_with_the_text_and_no_faster() {
        for unit in HOSTILE {
            let (once, twice) = (steps(unit, 6_000), steps(unit, 12_000));
            assert!(
                twice <= 2 * once + once / 10 + 2_000,
                "{unit:?}: {once}, then {twice}"
            );
            assert!(once <= 6_000 * 400, "{unit:?}: {once}");
        }
    }
}
