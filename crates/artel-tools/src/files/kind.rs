//! Detects the kind of a file by its first bytes.

/// The kinds of content that are read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileContentKind {
    /// An image of this media type.
    Image(&'static str),
    Pdf,
    Notebook,
    /// Anything else: text, or bytes of an unknown kind.
    Plain,
    /// Not text, with a description of the kind.
    Binary(&'static str),
}

/// First bytes of files that are not text, with a description of each kind.
const BINARY: [(&[u8], &str); 22] = [
    (b"\x7fELF", "an ELF program or library"),
    (b"PK\x03\x04", "a ZIP archive (or a document in one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "a Java class or a universal binary"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ\x90", "a Windows program"),
    (b"!<arch>\n", "an archive of object files"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1a\x45\xdf\xa3", "Matroska or WebM video"),
    (b"wOFF", "a WOFF font"),
    (b"wOF2", "a WOFF2 font"),
    (b"\0\x01\0\0\0", "a TrueType font"),
    (b"BM", "a bitmap"),
    (b"PACK", "a git pack"),
];

/// Returns the kind of a file. The name matters only for notebooks, which are JSON.
pub(crate) fn kind(bytes: &[u8], name: &str) -> FileContentKind {
    if let Some(media) = image(bytes) {
        return FileContentKind::Image(media);
    }
    if bytes.starts_with(b"%PDF-") {
        return FileContentKind::Pdf;
    }
    if name.ends_with(".ipynb") {
        return FileContentKind::Notebook;
    }
    let is_text = std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0);
    let known = BINARY.iter().find(|(start, _)| bytes.starts_with(start));
    match known {
        Some((_, what)) if !is_text => FileContentKind::Binary(what),
        _ => FileContentKind::Plain,
    }
}

fn image(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some("image/jpeg");
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some("image/gif");
    }
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    is_webp.then_some("image/webp")
}
