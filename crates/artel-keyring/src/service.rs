//! The Secret Service calls that are needed to store one text.

use std::time::Duration;

use artel_types::Secret;
use artel_vault::KeyStoreError;

use crate::address::DbusAddress;
use crate::bus::{DbusConnection, garbled};
use crate::message::{DbusCall, DbusReply};
use crate::wire::{DbusReader, DbusVariant, DbusWriter};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The object path that the service returns instead of an object.
const NOTHING: &str = "/";

/// Value of the attribute that marks Artel's entries. The attribute is our own, since
/// GNOME's store does not find a locked item by its `xdg:schema`.
const APPLICATION: &str = "artel";

/// Buffer size in bytes: more than all names of one request together.
const ROOM: usize = 1024;

/// The names under which a key is stored.
pub(crate) struct KeyringItemName {
    provider: String,
    account: String,
}

impl KeyringItemName {
    pub(crate) fn new(provider: &str, account: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            account: account.to_owned(),
        }
    }

    /// Writes the attributes by which the item is found again.
    fn attributes(&self, body: &mut DbusWriter) {
        body.array(|entries| {
            for (key, value) in [
                ("account", &self.account[..]),
                ("application", APPLICATION),
                ("provider", &self.provider),
            ] {
                entries.pad(8).text(key).text(value);
            }
        });
    }

    fn label(&self) -> String {
        format!("Artel: {} ({})", self.provider, self.account)
    }
}

/// Object paths of matching items: those that can be read now, and the locked ones.
struct KeyringMatches {
    open: Vec<String>,
    locked: Vec<String>,
}

/// A connection to the Secret Service.
pub(crate) struct SecretService {
    bus: DbusConnection,
}

impl SecretService {
    pub(crate) fn connect(address: &DbusAddress, limit: Duration) -> Result<Self, KeyStoreError> {
        let bus = DbusConnection::connect(address, limit)?;
        Ok(Self { bus })
    }

    pub(crate) fn get(&mut self, item: &KeyringItemName) -> Result<Option<Secret>, KeyStoreError> {
        let found = self.search(item)?;
        let Some(path) = found.open.first() else {
            return if found.locked.is_empty() {
                Ok(None)
            } else {
                Err(KeyStoreError::Locked)
            };
        };
        let mut body = DbusWriter::with_room(ROOM);
        body.text(&self.session()?);
        let reply = self.call(path, ITEM, "GetSecret", "o", body)?;
        let secret = reply.read("(oayays)", |values| {
            let (_session, _parameters) = (values.text()?, values.blob()?);
            let secret = std::str::from_utf8(values.blob()?).ok()?;
            let _content_type = values.text()?;
            Some(Secret::new(secret))
        });
        secret.ok_or_else(garbled).map(Some)
    }

    pub(crate) fn set(
        &mut self,
        item: &KeyringItemName,
        key: &Secret,
    ) -> Result<(), KeyStoreError> {
        let collection = self.default_collection()?;
        if self.is_locked(&collection)? {
            return Err(KeyStoreError::Locked);
        }
        let mut body = DbusWriter::with_room(ROOM + key.expose().len());
        body.array(|properties| {
            let label = properties.pad(8).text("org.freedesktop.Secret.Item.Label");
            label.signature("s").text(&item.label());
            let attributes = properties.pad(8);
            attributes.text("org.freedesktop.Secret.Item.Attributes");
            item.attributes(attributes.signature("a{ss}"));
        });
        body.pad(8).text(&self.session()?).blob(&[]);
        body.blob(key.expose().as_bytes()).text("text/plain");
        // True: replace an item that has the same attributes.
        body.number(1);
        let reply = self.call(
            &collection,
            COLLECTION,
            "CreateItem",
            "a{sv}(oayays)b",
            body,
        )?;
        let made = reply.read("oo", |values| Some((values.text()?, values.text()?)));
        let (made, prompt) = made.ok_or_else(garbled)?;
        without_prompt(prompt)?;
        self.remove_others(item, made)
    }

    pub(crate) fn remove(&mut self, item: &KeyringItemName) -> Result<(), KeyStoreError> {
        let found = self.search(item)?;
        found.open.iter().try_for_each(|path| self.delete(path))?;
        if found.locked.is_empty() {
            Ok(())
        } else {
            Err(KeyStoreError::Locked)
        }
    }

    /// Removes items of the same names from other collections. One of them may have been the
    /// default earlier, and its item would be found as well as the new one.
    fn remove_others(&mut self, item: &KeyringItemName, made: &str) -> Result<(), KeyStoreError> {
        let mut found = self.search(item)?;
        found.open.retain(|path| path != made);
        found.open.iter().try_for_each(|path| self.delete(path))
    }

    /// Searches twice before it reports no match, in case the store was just saving.
    fn search(&mut self, item: &KeyringItemName) -> Result<KeyringMatches, KeyStoreError> {
        let found = self.search_once(item)?;
        if found.open.is_empty() && found.locked.is_empty() {
            self.search_once(item)
        } else {
            Ok(found)
        }
    }

    fn search_once(&mut self, item: &KeyringItemName) -> Result<KeyringMatches, KeyStoreError> {
        let mut body = DbusWriter::with_room(ROOM);
        item.attributes(&mut body);
        let reply = self.call(ROOT, SERVICE, "SearchItems", "a{ss}", body)?;
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
        let matches = reply.read("aoao", |values| {
            let (open, locked) = (owned(values.texts()?), owned(values.texts()?));
            Some(KeyringMatches { open, locked })
        });
        matches.ok_or_else(garbled)
    }

    fn delete(&mut self, path: &str) -> Result<(), KeyStoreError> {
        let reply = self.call(path, ITEM, "Delete", "", DbusWriter::with_room(0))?;
        let prompt = reply.read("o", DbusReader::text);
        without_prompt(prompt.ok_or_else(garbled)?)
    }

    /// Opens a session that does not encrypt values a second time.
    fn session(&mut self) -> Result<String, KeyStoreError> {
        let mut body = DbusWriter::with_room(ROOM);
        body.text("plain").signature("s").text("");
        let reply = self.call(ROOT, SERVICE, "OpenSession", "sv", body)?;
        let session = reply.read("vo", |values| {
            values.variant()?;
            values.text()
        });
        session.map(str::to_owned).ok_or_else(garbled)
    }

    fn default_collection(&mut self) -> Result<String, KeyStoreError> {
        let mut body = DbusWriter::with_room(ROOM);
        body.text("default");
        let reply = self.call(ROOT, SERVICE, "ReadAlias", "s", body)?;
        match reply.read("o", DbusReader::text).ok_or_else(garbled)? {
            NOTHING => Err(KeyStoreError::Refused(
                "it has no collection to put keys into".to_owned(),
            )),
            path => Ok(path.to_owned()),
        }
    }

    fn is_locked(&mut self, collection: &str) -> Result<bool, KeyStoreError> {
        let mut body = DbusWriter::with_room(ROOM);
        body.text(COLLECTION).text("Locked");
        let reply = self.call(collection, PROPERTIES, "Get", "ss", body)?;
        match reply.read("v", DbusReader::variant) {
            Some(DbusVariant::Number(truth)) => Ok(truth != 0),
            _ => Err(garbled()),
        }
    }

    fn call(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        signature: &str,
        body: DbusWriter,
    ) -> Result<DbusReply, KeyStoreError> {
        self.bus.call(DbusCall {
            destination: NAME,
            path,
            interface,
            member,
            signature,
            body,
        })
    }
}

/// Treats a prompt as a locked store. A prompt means that the service wants to ask a
/// person before it acts. It has not acted yet and never will, since nobody shows the
/// prompt.
fn without_prompt(prompt: &str) -> Result<(), KeyStoreError> {
    match prompt {
        NOTHING => Ok(()),
        _ => Err(KeyStoreError::Locked),
    }
}
