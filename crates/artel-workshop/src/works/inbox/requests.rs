//! Requests that people put into `Inbox/Requests` as files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_journal::{Filter, Journal, Query};
use artel_rules::request::file::{Origin, Read, Request, Status, Wrong, parse, render};
use artel_types::{Code, Fact, Failure, RequestRefused, TraceId};

use super::{Found, note};
use crate::caller::fresh_trace;
use crate::portals::Portal;
use crate::trouble::file_failure;
use crate::works::ask::AskOrder;
use crate::works::sheets::{LONGEST_FILE, read_text};
use crate::works::work::Work;
use crate::workshop::Workshop;

/// A field that cannot be used, and what to do about it.
type Trouble = (String, String);

impl Workshop {
    /// Takes up the files that nobody has, and says what is wrong with those that cannot be.
    pub(super) fn take_requests(
        &self,
        journal: &Journal,
        found: &mut Vec<Found>,
    ) -> Result<(), Failure> {
        let folder = self.root.join("Inbox/Requests");
        note::tidy(&folder);
        let known: BTreeMap<TraceId, String> = self
            .works()?
            .into_iter()
            .map(|work| (work.trace, work.request.file))
            .collect();
        for file in requests_in(&folder) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let shown = format!("Inbox/Requests/{name}");
            match self.take_request(journal, &file, &shown, &known) {
                Ok(None) => note::clear(&file),
                Ok(Some(work)) => {
                    note::clear(&file);
                    found.push(Found {
                        file: shown,
                        what: "taken",
                        trace: Some(work.trace),
                        text: work.request.title,
                    });
                }
                Err(Refusal::Wrong(troubles)) => {
                    let text = self.refuse(journal, &file, &shown, &troubles)?;
                    found.push(Found {
                        file: shown,
                        what: "refused",
                        trace: None,
                        text,
                    });
                }
                Err(Refusal::Failed(failure)) => return Err(failure),
            }
        }
        Ok(())
    }

    fn take_request(
        &self,
        journal: &Journal,
        file: &Path,
        shown: &str,
        known: &BTreeMap<TraceId, String>,
    ) -> Result<Option<Work>, Refusal> {
        let bytes = artel_files::read_bounded(file, LONGEST_FILE);
        let bytes = bytes.map_err(|error| wrong("file", format!("it cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("file", "it is no text in UTF-8"))?;
        let read = parse(&text).map_err(|wrongs| {
            let said = |it: &Wrong| (it.field.clone(), it.to_string());
            Refusal::Wrong(wrongs.iter().map(said).collect())
        })?;
        if let Some(taken) = read.trace.and_then(|trace| known.get(&trace)) {
            if taken == shown {
                return Ok(None);
            }
            let what = format!("`trace_id` is that of `{taken}`; take the line out to ask anew");
            return Err(wrong("trace_id", what));
        }
        if let Some(status) = read.status.filter(|status| *status != Status::Pending) {
            let word = status.as_str();
            let what = format!(
                "`status` is `{word}`, and nothing is known of such a request here; write `pending`"
            );
            return Err(wrong("status", what));
        }
        let portal = self.portal_for(&read)?;
        let mut prospect = self
            .prospect(&order_of(&read), Some(portal))
            .map_err(|no| {
                let advice = no.advice.map_or(String::new(), |it| format!("; {it}"));
                wrong("agent", format!("{}{advice}", no.what))
            })?;
        prospect.trace = match read.trace {
            Some(trace) => trace,
            None => fresh_trace()?,
        };
        shown.clone_into(&mut prospect.request.file);
        if read_text(file).as_ref() != Some(&text) {
            // Somebody is at it: the next look takes it.
            return Ok(None);
        }
        let whole = self.completed(read, &prospect.request.agent, prospect.trace);
        artel_files::write_atomic(file, render(&whole).as_bytes(), 0o644)
            .map_err(|error| file_failure(Code::W008, &error))?;
        let work = self.file_request_as(journal, &prospect, self.by_file())?;
        Ok(Some(work))
    }

    /// Fills in what a person left out.
    fn completed(&self, read: Read, agent: &str, trace: TraceId) -> Request {
        Request {
            trace,
            created: read.created.unwrap_or_else(|| self.caller.clock.now()),
            status: Status::Pending,
            priority: read.priority.unwrap_or_default(),
            agent: agent.to_owned(),
            source: Origin::File,
            created_by: read.created_by.unwrap_or_else(|| self.by_file().id),
            portal: read.portal,
            tags: read.tags,
            verify: read.verify,
            flow: read.flow,
            other: read.other,
            words: read.words,
        }
    }

    /// Returns what a request is about: the portal it names, or the only one there is.
    fn portal_for(&self, read: &Read) -> Result<Portal, Refusal> {
        if let Some(name) = &read.portal {
            return self.portal(name).map_err(|no| {
                let advice = no.advice.map_or(String::new(), |it| format!("; {it}"));
                wrong("portal", format!("{}{advice}", no.what))
            });
        }
        let portals = self.portals()?;
        let names: Vec<String> = portals.iter().map(|it| it.name.clone()).collect();
        let mut portals = portals.into_iter();
        match (portals.next(), portals.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(wrong(
                "portal",
                "no project folder is open to agents; `artel portal add PATH` opens one",
            )),
            (Some(_), Some(_)) => {
                let names = names.join(", ");
                let what =
                    format!("it is not said what it is about; write `portal:` with one of {names}");
                Err(wrong("portal", what))
            }
        }
    }

    /// Says once what is wrong with a file, on record and beside it.
    fn refuse(
        &self,
        journal: &Journal,
        file: &Path,
        shown: &str,
        troubles: &[Trouble],
    ) -> Result<String, Failure> {
        let messages: Vec<String> = troubles.iter().map(|(_, text)| text.clone()).collect();
        let refused = RequestRefused {
            file: shown.to_owned(),
            field: troubles.first().map_or(String::new(), |it| it.0.clone()),
            message: messages.join("; "),
        };
        if self.refused_last(shown)?.as_ref() != Some(&refused) {
            journal.append(self.draft(refused.clone())).wait()?;
        }
        note::write(file, &messages)?;
        Ok(refused.message)
    }

    fn refused_last(&self, shown: &str) -> Result<Option<RequestRefused>, Failure> {
        let filter = Filter {
            kind: Some("request.refused".to_owned()),
            ..Filter::default()
        };
        for record in self.reader()?.records(&Query::of(filter).newest_first())? {
            if let Fact::RequestRefused(refused) = record.event()?.fact
                && refused.file == shown
            {
                return Ok(Some(refused));
            }
        }
        Ok(None)
    }
}

/// Why a file is not taken.
enum Refusal {
    /// It has to be mended.
    Wrong(Vec<Trouble>),
    /// Something else failed.
    Failed(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn wrong(field: &str, what: impl Into<String>) -> Refusal {
    Refusal::Wrong(vec![(field.to_owned(), what.into())])
}

fn order_of(read: &Read) -> AskOrder {
    AskOrder {
        words: read.words.clone(),
        agent: read.agent.clone(),
        urgency: read.priority.unwrap_or_default(),
        source: Origin::File.as_str().to_owned(),
        verify: read.verify,
        ..AskOrder::default()
    }
}

/// Returns the files that may be requests, by name.
fn requests_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            name.ends_with(".md") && !name.ends_with(note::ENDING) && !name.starts_with('.')
        })
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}
