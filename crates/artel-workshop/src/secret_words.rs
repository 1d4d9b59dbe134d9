//! Refuses keys in the words of people. A request, a task, a plan, a hint, an answer, a
//! comment or a reason is stored, shown and sent to models, so none of them may hold a
//! key, on any surface. The text is refused and not cut: a request with a hole in it would
//! ask for something else.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_engine::RunObserver;
use artel_policy::redact::find_secret_in;
use artel_tools::AskablePerson;
use artel_types::{Failure, FailureCode};

use crate::runs::RunObservers;
use crate::workshop::Workshop;

impl Workshop {
    /// Refuses a person's words if they contain a value of the key store, or something that
    /// looks like a key.
    pub(crate) fn refuse_secret_in(&self, words: &str) -> Result<(), Failure> {
        let looks_like = find_secret_in(words);
        let what = match looks_like.first() {
            Some(found) => {
                format!("the text holds what looks like a secret: {}", found.name)
            }
            None if self.redactor().finds_in(words.as_bytes()) => {
                "the text holds a secret that is kept here".to_owned()
            }
            None => return Ok(()),
        };
        Err(Failure::new(FailureCode::P006, what)
            .because("it would be stored, and sent to a model")
            .advise("take it out; `artel auth set --tool NAME` keeps keys for tools"))
    }

    /// Returns these observers with a person whose answers are checked for secrets.
    pub(crate) fn without_secrets_said(self: &Arc<Self>, company: RunObservers) -> RunObservers {
        let person = company.person.map(|person| {
            Arc::new(SecretCheckedPerson {
                workshop: Arc::clone(self),
                audience: Arc::clone(&company.audience),
                person,
                settled: Mutex::default(),
            }) as Arc<dyn AskablePerson>
        });
        RunObservers { person, ..company }
    }
}

/// A person at a prompt, who is asked again as long as the answer holds a secret.
struct SecretCheckedPerson {
    workshop: Arc<Workshop>,
    audience: Arc<dyn RunObserver>,
    person: Arc<dyn AskablePerson>,
    /// Questions that have been settled elsewhere.
    settled: Mutex<BTreeSet<String>>,
}

impl SecretCheckedPerson {
    fn settled(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks until the answer holds no secret, nobody answers, or the question is settled
    /// elsewhere.
    fn ask(&self, question: &str, ask: impl Fn() -> Option<String>) -> Option<String> {
        let answer = loop {
            let Some(answer) = ask() else { break None };
            let Err(failure) = self.workshop.refuse_secret_in(&answer) else {
                break Some(answer);
            };
            let what = &failure.what;
            self.audience
                .notice(&format!("{what}; your answer was not kept, give another"));
            if self.settled().contains(question) {
                break None;
            }
        };
        self.settled().remove(question);
        answer
    }
}

impl AskablePerson for SecretCheckedPerson {
    fn answer(&self, question: &str, choices: &[String]) -> Option<String> {
        self.ask(question, || self.person.answer(question, choices))
    }

    fn answer_filled_in(
        &self,
        question: &str,
        choices: &[String],
        filled_in: &str,
    ) -> Option<String> {
        self.ask(question, || {
            self.person.answer_filled_in(question, choices, filled_in)
        })
    }

    fn settled(&self, question: &str, why: &str) {
        self.settled().insert(question.to_owned());
        self.person.settled(question, why);
    }
}
