//! Who may use the server: tokens of programs, and people who signed in at the console.
//!
//! Secrets are 256 random bits that are shown once. The journal has their hashes, so that a server
//! that runs knows of a new token, and of one that was taken back, with the next request.

use std::collections::HashMap;

use artel_config::Viewer;
use artel_journal::{AppendError, Batch, Filter, Query, Reader, Record};
use artel_types::{
    Actor, Code, Draft, Fact, Failure, LoginEnded, LoginOffered, LoginUsed, Stream, Timestamp,
    TokenCreated, TokenRevoked, Visibility,
};
use serde::Serialize;

use crate::workshop::{Noted, Workshop};

/// How long a link to the console holds.
const LINK_HOLDS: i64 = 60 * 1_000_000;

/// How long somebody stays signed in.
const LOGIN_HOLDS: i64 = 7 * 24 * 3_600 * 1_000_000;

/// How what people copy begins, so that it is known for what it is wherever it turns up.
const TOKEN_MARK: &str = "artel_";

/// Through what somebody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassSort {
    /// A token that a program shows.
    Token,
    /// A cookie of the console.
    Login,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The token's or the link's id.
    pub id: String,
    /// Who acts.
    pub name: String,
    /// What they may see and do.
    pub role: Viewer,
    /// Through what.
    pub sort: PassSort,
    /// Whether it is a program, which approves nothing.
    pub is_program: bool,
}

/// Who holds a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A person: what they may do by hand, they may with it.
    Person,
    /// A program: it approves nothing.
    Program,
}

/// A token that was just made: the only time it is seen.
#[derive(Debug, Clone, Serialize)]
pub struct NewToken {
    /// Names it.
    pub id: String,
    /// What it allows.
    pub role: String,
    /// The token.
    pub token: String,
}

/// One token in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRow {
    /// Names it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it allows.
    pub role: String,
    /// When it was made.
    pub created: Timestamp,
    /// By whom.
    pub by: String,
    /// Whether a program holds it: then nothing is approved with it.
    pub program: bool,
}

/// A link to the console, before anybody used it.
#[derive(Debug, Clone)]
pub struct LoginOffer {
    /// What stands in the link.
    pub code: String,
    /// It holds until then.
    pub until: Timestamp,
}

/// Who may come in, folded from the journal.
#[derive(Debug, Default)]
pub struct Access {
    position: u64,
    end: u64,
    tokens: HashMap<String, (TokenRow, Viewer)>,
    offers: HashMap<String, (LoginOffered, Viewer)>,
    logins: HashMap<String, (Pass, Timestamp)>,
}

impl Access {
    /// Takes in what came since.
    pub fn refresh(&mut self, reader: &Reader) -> Result<(), Failure> {
        let filter = Filter {
            stream: Some(Stream::access().to_string()),
            ..Filter::default()
        };
        for record in reader.records(&Query::of(filter).after(self.position))? {
            self.take(&record);
        }
        Ok(())
    }

    /// Returns whom a token stands for.
    pub fn token(&self, shown: &str) -> Option<Pass> {
        let (row, role) = self.tokens.get(&hash(shown))?;
        Some(Pass {
            id: row.id.clone(),
            name: row.name.clone(),
            role: *role,
            sort: PassSort::Token,
            is_program: row.program,
        })
    }

    /// Returns who signed in with this cookie.
    pub fn login(&self, shown: &str, now: Timestamp) -> Option<Pass> {
        let (pass, until) = self.logins.get(&hash(shown))?;
        (now < *until).then(|| pass.clone())
    }

    /// Tells whether somebody who came in may still be here.
    pub fn holds(&self, pass: &Pass, now: Timestamp) -> bool {
        match pass.sort {
            PassSort::Token => self.tokens.values().any(|(row, _)| row.id == pass.id),
            PassSort::Login => {
                let mut logins = self.logins.values();
                logins.any(|(login, until)| login.id == pass.id && now < *until)
            }
        }
    }

    fn take(&mut self, record: &Record) {
        if record.seq <= self.position {
            return;
        }
        self.position = record.seq;
        self.end = record.stream_seq;
        // What this build does not know, or cannot read, lets nobody in.
        let Ok(event) = record.event() else { return };
        match event.fact {
            Fact::TokenCreated(it) => {
                let Ok(role) = it.role.parse() else { return };
                let row = TokenRow {
                    id: it.id,
                    name: it.name,
                    role: it.role,
                    created: event.at,
                    by: event.actor.id,
                    program: it.program == Some(true),
                };
                self.tokens.insert(it.hash, (row, role));
            }
            Fact::TokenRevoked(it) => self.tokens.retain(|_, (row, _)| row.id != it.id),
            Fact::LoginOffered(it) => {
                let Ok(role) = it.role.parse() else { return };
                self.offers.insert(it.hash.clone(), (it, role));
            }
            Fact::LoginUsed(it) => {
                let mut used = self.offers.extract_if(|_, (offer, _)| offer.id == it.id);
                let Some((_, (offer, role))) = used.next() else {
                    return;
                };
                let pass = Pass {
                    id: offer.id,
                    name: offer.name,
                    role,
                    sort: PassSort::Login,
                    is_program: false,
                };
                self.logins.insert(it.hash, (pass, it.until));
            }
            Fact::LoginEnded(it) => self.logins.retain(|_, (pass, _)| pass.id != it.id),
            _ => {}
        }
    }
}

impl Workshop {
    /// Returns who may come in.
    pub fn access(&self) -> Result<Access, Failure> {
        let mut access = Access::default();
        access.refresh(&*self.reader()?)?;
        Ok(access)
    }

    /// Makes a token. It is shown now and never again.
    pub fn create_token(
        &self,
        name: Option<&str>,
        role: Viewer,
        holder: Holder,
    ) -> Result<Noted<NewToken>, Failure> {
        let (id, token) = (short_id()?, format!("{TOKEN_MARK}{}", secret()?));
        let name = match name.map(str::trim) {
            Some("") => return Err(nameless()),
            Some(name) if name.chars().count() > 100 || name.chars().any(char::is_control) => {
                return Err(nameless());
            }
            Some(name) => name.to_owned(),
            None => self.caller.actor().id,
        };
        let fact = TokenCreated {
            id: id.clone(),
            name,
            role: role.as_str().to_owned(),
            hash: hash(&token),
            program: (holder == Holder::Program).then_some(true),
        };
        let notes = self.note_access(fact.into())?;
        let role = role.as_str().to_owned();
        let done = NewToken { id, role, token };
        Ok(Noted { done, notes })
    }

    /// Lists the tokens that hold, the oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, Failure> {
        let access = self.access()?;
        let mut rows: Vec<_> = access.tokens.into_values().map(|(row, _)| row).collect();
        rows.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(rows)
    }

    /// Takes a token back.
    pub fn revoke_token(&self, id: &str) -> Result<Noted<TokenRow>, Failure> {
        let mut found = self.tokens()?.into_iter().filter(|row| row.id == id);
        let Some(done) = found.next() else {
            return Err(
                Failure::new(Code::H005, format!("there is no token `{id}`"))
                    .advise("`artel token list` shows them"),
            );
        };
        let id = done.id.clone();
        let notes = self.note_access(TokenRevoked { id }.into())?;
        Ok(Noted { done, notes })
    }

    /// Offers a link that lets the caller in at the console, once and soon.
    pub fn offer_login(&self, role: Viewer) -> Result<LoginOffer, Failure> {
        let (id, code) = (short_id()?, secret()?);
        let until = later(self.caller.clock.now(), LINK_HOLDS);
        let fact = LoginOffered {
            id,
            name: self.caller.actor().id,
            role: role.as_str().to_owned(),
            hash: hash(&code),
            until,
        };
        self.note_access(fact.into())?;
        Ok(LoginOffer { code, until })
    }

    /// Lets somebody in by the code of a link, and returns what their browser shows from then on.
    /// Of two who come with the same code, one is let in.
    pub fn use_login(&self, code: &str) -> Result<Option<String>, Failure> {
        let journal = self.open()?.journal;
        loop {
            let mut access = Access::default();
            access.refresh(journal.reader())?;
            let now = self.caller.clock.now();
            let offer = access.offers.get(&hash(code)).map(|(offer, _)| offer);
            let Some(offer) = offer.filter(|offer| now < offer.until) else {
                return Ok(None);
            };
            let cookie = secret()?;
            let fact = LoginUsed {
                id: offer.id.clone(),
                hash: hash(&cookie),
                until: later(now, LOGIN_HOLDS),
            };
            let actor = Actor::human(offer.name.clone(), self.caller.via);
            let draft = Draft::new(Stream::access(), self.trace_id(), actor, Fact::from(fact))
                .shown(Visibility::Hidden);
            let batch = Batch::of([draft]).expecting(Stream::access(), access.end);
            match journal.append(batch).wait() {
                Ok(_) => return Ok(Some(cookie)),
                // Something else about access came first; whether the code still holds is seen anew.
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Signs somebody out.
    pub fn end_login(&self, id: &str) -> Result<(), Failure> {
        let id = id.to_owned();
        self.note_access(LoginEnded { id }.into())?;
        Ok(())
    }

    fn note_access(&self, fact: Fact) -> Result<Vec<String>, Failure> {
        let opened = self.open()?;
        let draft = Draft::new(Stream::access(), self.trace_id(), self.caller.actor(), fact)
            .shown(Visibility::Hidden);
        opened.journal.append(Batch::of([draft])).wait()?;
        Ok(opened.notes)
    }
}

fn nameless() -> Failure {
    Failure::new(Code::C004, "such a name cannot be used")
        .because("a token's name is one line of at most 100 characters")
        .advise("`artel token create --role developer --name ci`")
}

fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

fn later(now: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros().saturating_add(micros))
}

fn secret() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn short_id() -> Result<String, Failure> {
    let mut bytes = [0; 4];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| {
        Failure::new(Code::X001, "the system gave no random bytes").because(error.to_string())
    })
}
