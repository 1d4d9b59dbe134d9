//! Serializes paths as text if they are UTF-8 and as bytes if not, so that none is lost.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

pub(super) fn serialize<S: Serializer>(
    paths: &[PathBuf],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| match path.to_str() {
        Some(text) => Written::Text(text.to_owned()),
        None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
    }))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PathBuf>, D::Error> {
    let written: Vec<Written> = Vec::deserialize(deserializer)?;
    let path = |written| match written {
        Written::Text(text) => PathBuf::from(text),
        Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    };
    Ok(written.into_iter().map(path).collect())
}
