//! Serializes paths as text if they are UTF-8 and as bytes if not, so that none is lost.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerializedPath {
    Text(String),
    Bytes(Vec<u8>),
}

pub(super) fn serialize<S: Serializer>(
    paths: &[PathBuf],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| match path.to_str() {
        Some(text) => SerializedPath::Text(text.to_owned()),
        None => SerializedPath::Bytes(path.as_os_str().as_bytes().to_vec()),
    }))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PathBuf>, D::Error> {
    let written: Vec<SerializedPath> = Vec::deserialize(deserializer)?;
    let path = |written| match written {
        SerializedPath::Text(text) => PathBuf::from(text),
        SerializedPath::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    };
    Ok(written.into_iter().map(path).collect())
}
