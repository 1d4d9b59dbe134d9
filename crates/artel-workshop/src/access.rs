//! Access to the server, for programs with tokens and for people who signed in at the
//! console.
//!
//! A secret is 256 random bits and is shown once. The journal keeps only its hash, so a
//! running server knows of a new or revoked token at the next request.
//!
//! A sign-in at the console gives two secrets. The browser sends the cookie with every
//! request, so anyone who can get the browser to call their server may see it: the cookie
//! therefore only shows pages. The key is held by the pages alone, and nothing can be
//! changed without it.

mod console_name;

pub use console_name::ConsoleHostName;

use std::collections::HashMap;

use artel_config::ViewerRole;
use artel_journal::{
    EventBatch, EventFilter, EventQuery, JournalAppendError, JournalReader, JournalRecord,
};
use artel_types::{
    Actor, ConsoleNamed, EventDraft, EventVisibility, Fact, Failure, FailureCode, LoginEnded,
    LoginOffered, LoginUsed, StreamName, Timestamp, TokenCreated, TokenRevoked,
};
use serde::Serialize;

use crate::workshop::{OutcomeWithNotes, Workshop};

/// Lifetime of a sign-in link, in microseconds.
const LINK_HOLDS: i64 = 60 * 1_000_000;

/// Lifetime of a sign-in, in microseconds.
const LOGIN_HOLDS: i64 = 7 * 24 * 3_600 * 1_000_000;

/// Largest backward clock step that still counts as a correction, in microseconds.
const CLOCK_STEP: i64 = 60 * 1_000_000;

/// Age below which a sign-in counts as fresh, in microseconds.
const SIGN_IN_FRESH: i64 = 5 * 60 * 1_000_000;

/// Prefix of the secrets that people copy, so that a leaked one is recognized wherever it
/// turns up.
const TOKEN_MARK: &str = "artel_";

/// The kind of credential that let somebody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    /// A token that a program presents.
    Token,
    /// A console cookie.
    Login,
}

/// An authenticated person or program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticatedPrincipal {
    /// The id of the token or of the sign-in link.
    pub id: String,
    /// The name under which they act.
    pub name: String,
    pub role: ViewerRole,
    pub sort: CredentialKind,
    /// Whether this is a program; a program approves nothing.
    pub is_program: bool,
}

/// The age of a sign-in: a person who signed in long ago may have left the browser open
/// since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInAge {
    Fresh,
    /// Longer ago, or in the future, in which case the real age is unknown.
    Older,
}

/// A valid sign-in at the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub pass: AuthenticatedPrincipal,
    key_hash: String,
    since: Timestamp,
    until: Timestamp,
}

impl SignIn {
    /// Returns whether `shown` is the key that this sign-in gave.
    pub fn has_key(&self, shown: &str) -> bool {
        let wanted = blake3::Hash::from_hex(&self.key_hash);
        // `blake3::Hash` compares in constant time.
        wanted.is_ok_and(|wanted| wanted == blake3::hash(shown.as_bytes()))
    }

    pub fn age(&self, now: Timestamp) -> SignInAge {
        if self.since <= now && now < later(self.since, SIGN_IN_FRESH) {
            SignInAge::Fresh
        } else {
            SignInAge::Older
        }
    }

    /// Returns whether the sign-in is still valid. Small clock corrections are tolerated;
    /// setting the clock back further does not extend a sign-in.
    fn holds(&self, now: Timestamp) -> bool {
        later(self.until, -LOGIN_HOLDS - CLOCK_STEP) <= now && now < self.until
    }
}

/// The credentials a browser gets at sign-in, shown only once.
#[derive(Debug, Clone)]
pub struct SignInCredentials {
    /// The id of the sign-in, which is not secret.
    pub id: String,
    /// Sent by the browser with every request.
    pub cookie: String,
    /// Sent by the console's pages when they change something.
    pub key: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenHolder {
    /// A person: the token allows whatever the person may do by hand.
    Person,
    /// A program: it approves nothing.
    Program,
}

/// A token that was just created; its secret is shown only here.
#[derive(Debug, Clone, Serialize)]
pub struct NewToken {
    pub id: String,
    /// The viewer role it gives.
    pub role: String,
    /// The secret itself.
    pub token: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRow {
    pub id: String,
    /// The name that people gave it.
    pub name: String,
    /// The viewer role it gives.
    pub role: String,
    pub created: Timestamp,
    /// The person who created it.
    pub by: String,
    /// Whether a program holds it; a program approves nothing.
    pub program: bool,
}

/// A sign-in link to the console that has not been used yet.
#[derive(Debug, Clone)]
pub struct SignInLink {
    /// The code in the link.
    pub code: String,
    /// When the link expires.
    pub until: Timestamp,
}

/// Tokens, sign-in links and sign-ins, folded from the journal.
#[derive(Debug, Default)]
pub struct AccessProjection {
    position: u64,
    end: u64,
    tokens: HashMap<String, (TokenRow, ViewerRole)>,
    offers: HashMap<String, (LoginOffered, ViewerRole)>,
    sign_ins: HashMap<String, SignIn>,
    console: Option<ConsoleHostName>,
}

impl AccessProjection {
    /// Folds the events appended since the last call.
    pub fn refresh(&mut self, reader: &JournalReader) -> Result<(), Failure> {
        let filter = EventFilter {
            stream: Some(StreamName::access().to_string()),
            ..EventFilter::default()
        };
        for record in reader.records(&EventQuery::of(filter).after(self.position))? {
            self.take(&record);
        }
        Ok(())
    }

    /// Returns who holds a token, or `None` if the token is not valid.
    pub fn token(&self, shown: &str) -> Option<AuthenticatedPrincipal> {
        let (row, role) = self.tokens.get(&hash(shown))?;
        Some(AuthenticatedPrincipal {
            id: row.id.clone(),
            name: row.name.clone(),
            role: *role,
            sort: CredentialKind::Token,
            is_program: row.program,
        })
    }

    /// Returns the valid sign-in that gave this cookie.
    pub fn sign_in(&self, shown: &str, now: Timestamp) -> Option<&SignIn> {
        let found = self.sign_ins.get(&hash(shown));
        found.filter(|sign_in| sign_in.holds(now))
    }

    /// Returns whether a principal that came in earlier is still allowed in.
    pub fn holds(&self, pass: &AuthenticatedPrincipal, now: Timestamp) -> bool {
        match pass.sort {
            CredentialKind::Token => self.tokens.values().any(|(row, _)| row.id == pass.id),
            CredentialKind::Login => {
                let mut sign_ins = self.sign_ins.values();
                sign_ins.any(|it| it.pass.id == pass.id && it.holds(now))
            }
        }
    }

    fn take(&mut self, record: &JournalRecord) {
        if record.seq <= self.position {
            return;
        }
        self.position = record.seq;
        self.end = record.stream_seq;
        // A record that this build does not know or cannot read lets nobody in.
        let Ok(event) = record.event() else { return };
        match event.fact {
            Fact::TokenCreated(it) => {
                let Ok(role) = it.role.parse() else { return };
                let row = TokenRow {
                    id: it.id,
                    name: it.name,
                    role: it.role,
                    created: event.at,
                    by: event.actor.label().into_owned(),
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
                // Before keys existed, a cookie alone allowed everything. A browser signed in that
                // way has to sign in again.
                let Some(key_hash) = it.key else { return };
                let pass = AuthenticatedPrincipal {
                    id: offer.id,
                    name: offer.name,
                    role,
                    sort: CredentialKind::Login,
                    is_program: false,
                };
                let sign_in = SignIn {
                    pass,
                    key_hash,
                    since: event.at,
                    until: it.until,
                };
                self.sign_ins.insert(it.hash, sign_in);
            }
            Fact::LoginEnded(it) => self.sign_ins.retain(|_, sign_in| sign_in.pass.id != it.id),
            Fact::ConsoleNamed(it) => self.console = ConsoleHostName::parse(&it.name),
            _ => {}
        }
    }
}

impl Workshop {
    pub fn access(&self) -> Result<AccessProjection, Failure> {
        let mut access = AccessProjection::default();
        access.refresh(&*self.reader()?)?;
        Ok(access)
    }

    /// Creates a token. Its secret is returned once and cannot be shown again.
    pub fn create_token(
        &self,
        name: Option<&str>,
        role: ViewerRole,
        holder: TokenHolder,
    ) -> Result<OutcomeWithNotes<NewToken>, Failure> {
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
            program: (holder == TokenHolder::Program).then_some(true),
        };
        let notes = self.note_access(fact.into())?;
        let role = role.as_str().to_owned();
        let done = NewToken { id, role, token };
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Lists the valid tokens, oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, Failure> {
        let access = self.access()?;
        let mut rows: Vec<_> = access.tokens.into_values().map(|(row, _)| row).collect();
        rows.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(rows)
    }

    pub fn revoke_token(&self, id: &str) -> Result<OutcomeWithNotes<TokenRow>, Failure> {
        let mut found = self.tokens()?.into_iter().filter(|row| row.id == id);
        let Some(done) = found.next() else {
            return Err(
                Failure::new(FailureCode::H005, format!("there is no token `{id}`"))
                    .advise("`artel token list` shows them"),
            );
        };
        let id = done.id.clone();
        let notes = self.note_access(TokenRevoked { id }.into())?;
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Creates a short-lived link that lets the caller sign in at the console once.
    pub fn offer_login(&self, role: ViewerRole) -> Result<SignInLink, Failure> {
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
        Ok(SignInLink { code, until })
    }

    /// Signs somebody in by the code of a link, and returns the credentials for their browser.
    /// If two browsers present the same code, only one is let in.
    pub fn use_login(&self, code: &str) -> Result<Option<SignInCredentials>, Failure> {
        let journal = self.open()?.journal;
        loop {
            let mut access = AccessProjection::default();
            access.refresh(journal.reader())?;
            let now = self.caller.clock.now();
            let offer = access.offers.get(&hash(code)).map(|(offer, _)| offer);
            let Some(offer) = offer.filter(|offer| holds_now(offer, now)) else {
                return Ok(None);
            };
            let given = SignInCredentials {
                id: offer.id.clone(),
                cookie: secret()?,
                key: secret()?,
            };
            let fact = LoginUsed {
                id: given.id.clone(),
                hash: hash(&given.cookie),
                until: later(now, LOGIN_HOLDS),
                key: Some(hash(&given.key)),
            };
            let actor = Actor::human(offer.name.clone(), self.caller.via);
            let draft = EventDraft::new(
                StreamName::access(),
                self.trace_id(),
                actor,
                Fact::from(fact),
            )
            .shown(EventVisibility::Hidden);
            let batch = EventBatch::of([draft]).expecting(StreamName::access(), access.end);
            match journal.append(batch).wait() {
                Ok(_) => return Ok(Some(given)),
                // Another event about access came first: check again whether the code is still
                // valid.
                Err(JournalAppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the host name of the console, or `None` if no daemon has chosen one yet.
    pub fn console_name(&self) -> Result<Option<ConsoleHostName>, Failure> {
        Ok(self.access()?.console)
    }

    /// Returns the host name of the console and chooses it the first time. It never changes
    /// afterwards, so open tabs survive a restart of the daemon.
    pub fn name_console(&self) -> Result<ConsoleHostName, Failure> {
        let journal = self.open()?.journal;
        loop {
            let mut access = AccessProjection::default();
            access.refresh(journal.reader())?;
            if let Some(name) = access.console {
                return Ok(name);
            }
            let mut bytes = [0; 16];
            fill(&mut bytes)?;
            let name = ConsoleHostName::new(&self.id(), bytes);
            let fact = ConsoleNamed {
                name: name.as_str().to_owned(),
            };
            let actor = self.caller.actor();
            let draft = EventDraft::new(
                StreamName::access(),
                self.trace_id(),
                actor,
                Fact::from(fact),
            )
            .shown(EventVisibility::Hidden);
            let batch = EventBatch::of([draft]).expecting(StreamName::access(), access.end);
            match journal.append(batch).wait() {
                Ok(_) => return Ok(name),
                // Another process chose the name, or a token was created in the meantime.
                Err(JournalAppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub fn end_login(&self, id: &str) -> Result<(), Failure> {
        let id = id.to_owned();
        self.note_access(LoginEnded { id }.into())?;
        Ok(())
    }

    fn note_access(&self, fact: Fact) -> Result<Vec<String>, Failure> {
        let opened = self.open()?;
        let draft = EventDraft::new(
            StreamName::access(),
            self.trace_id(),
            self.caller.actor(),
            fact,
        )
        .shown(EventVisibility::Hidden);
        opened.journal.append(EventBatch::of([draft])).wait()?;
        Ok(opened.notes)
    }
}

/// Returns whether a link is still valid. A link that was offered in the future is not: it
/// would stay valid for as long as the clock was set back.
fn holds_now(offer: &LoginOffered, now: Timestamp) -> bool {
    later(offer.until, -LINK_HOLDS) <= now && now < offer.until
}

fn nameless() -> Failure {
    Failure::new(FailureCode::C004, "such a name cannot be used")
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
    Ok(hex(&bytes))
}

fn short_id() -> Result<String, Failure> {
    let mut bytes = [0; 4];
    fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| {
        Failure::new(FailureCode::X001, "the system gave no random bytes")
            .because(error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign_in(since: i64) -> SignIn {
        SignIn {
            pass: AuthenticatedPrincipal {
                id: "m2x7".to_owned(),
                name: "ada".to_owned(),
                role: ViewerRole::Admin,
                sort: CredentialKind::Login,
                is_program: false,
            },
            key_hash: hash("the key"),
            since: Timestamp::from_micros(since),
            until: Timestamp::from_micros(since + LOGIN_HOLDS),
        }
    }

    #[test]
    fn a_sign_in_is_fresh_for_five_minutes_and_not_before_it_was() {
        let since = 1_000_000_000_000;
        let age = |at: i64| sign_in(since).age(Timestamp::from_micros(at));
        assert_eq!(age(since), SignInAge::Fresh);
        assert_eq!(age(since + SIGN_IN_FRESH - 1), SignInAge::Fresh);
        assert_eq!(age(since + SIGN_IN_FRESH), SignInAge::Older);
        // Setting the clock back does not make an old sign-in fresh.
        assert_eq!(age(since - 1), SignInAge::Older);
        assert_eq!(age(i64::MAX), SignInAge::Older);
    }

    #[test]
    fn a_sign_in_holds_no_longer_because_the_clock_was_set_back() {
        let since = 1_000_000_000_000;
        let holds = |at: i64| sign_in(since).holds(Timestamp::from_micros(at));
        assert!(holds(since) && holds(since - CLOCK_STEP) && holds(since + LOGIN_HOLDS - 1));
        assert!(!holds(since - CLOCK_STEP - 1) && !holds(since + LOGIN_HOLDS));
    }

    #[test]
    fn only_its_own_key_fits() {
        let sign_in = sign_in(0);
        assert!(sign_in.has_key("the key"));
        for other in ["", "The key", "the key ", &hash("the key")] {
            assert!(!sign_in.has_key(other), "{other}");
        }
        let broken = SignIn {
            key_hash: String::new(),
            ..sign_in
        };
        assert!(!broken.has_key(""));
    }
}
