//! Encoding of D-Bus values: little-endian, each aligned to its size.

use zeroize::Zeroizing;

/// Writes values one after the other. Its bytes are wiped on drop, as they may hold a key.
pub(crate) struct DbusWriter(Zeroizing<Vec<u8>>);

impl DbusWriter {
    /// Allocates room for everything that will be written: growing would leave a copy behind
    /// that is never wiped.
    pub(crate) fn with_room(room: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(room)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.0
    }

    pub(crate) fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    pub(crate) fn number(&mut self, number: u32) -> &mut Self {
        self.pad(4);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// Writes a string or an object path.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.number(length(text.len()));
        self.0.extend_from_slice(text.as_bytes());
        self.byte(0)
    }

    pub(crate) fn signature(&mut self, signature: &str) -> &mut Self {
        self.byte(u8::try_from(signature.len()).unwrap_or(u8::MAX));
        self.0.extend_from_slice(signature.as_bytes());
        self.byte(0)
    }

    /// Writes an array of bytes.
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(length(bytes.len()));
        self.raw(bytes)
    }

    /// Writes bytes unchanged, without a length.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Pads with zeros to the next multiple of `to`.
    pub(crate) fn pad(&mut self, to: usize) -> &mut Self {
        let aligned = self.0.len().next_multiple_of(to);
        self.0.resize(aligned, 0);
        self
    }

    /// Writes an array of structures or dictionary entries. `fill` must call `pad(8)` before
    /// each.
    pub(crate) fn array(&mut self, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.number(0);
        let length_at = self.0.len() - 4;
        self.pad(8);
        let begin = self.0.len();
        fill(self);
        let length = length(self.0.len() - begin);
        self.0[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
        self
    }
}

/// Converts a length. Messages are limited to far less than `u32::MAX`.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Reads values one after the other. Every read returns `None` if the bytes do not fit the
/// type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DbusReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> DbusReader<'b> {
    pub(crate) fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        self.pad(4)?;
        let (number, _) = self.take(4)?.split_first_chunk()?;
        Some(u32::from_le_bytes(*number))
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let length = self.number()?;
        self.ended_text(length)
    }

    pub(crate) fn signature(&mut self) -> Option<&'b str> {
        let length = self.byte()?;
        self.ended_text(u32::from(length))
    }

    /// Reads an array of bytes.
    pub(crate) fn blob(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// Reads an array of strings or object paths.
    pub(crate) fn texts(&mut self) -> Option<Vec<&'b str>> {
        let end = self.number().map(usize::try_from)?.ok()?;
        let end = self.at.checked_add(end)?;
        let mut texts = Vec::new();
        while self.at < end {
            texts.push(self.text()?);
        }
        (self.at == end).then_some(texts)
    }

    /// Reads a value that states its own type. Only the types that are expected here are
    /// accepted.
    pub(crate) fn variant(&mut self) -> Option<DbusVariant<'b>> {
        Some(match self.signature()? {
            "s" | "o" => DbusVariant::Text(self.text()?),
            "g" => DbusVariant::Text(self.signature()?),
            "u" | "b" => DbusVariant::Number(self.number()?),
            "ay" => {
                self.blob()?;
                DbusVariant::Blob
            }
            _ => return None,
        })
    }

    pub(crate) fn pad(&mut self, to: usize) -> Option<()> {
        let aligned = self.at.checked_next_multiple_of(to)?;
        self.take(aligned - self.at).map(|_| ())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn ended_text(&mut self, length: u32) -> Option<&'b str> {
        let text = self.take(usize::try_from(length).ok()?)?;
        (self.byte()? == 0).then_some(())?;
        std::str::from_utf8(text).ok()
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

/// A D-Bus value that states its own type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DbusVariant<'b> {
    /// A string, an object path or a signature.
    Text(&'b str),
    /// A number, or a boolean as 0 or 1.
    Number(u32),
    /// Bytes that no caller here needs.
    Blob,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_stand_where_their_size_divides() {
        let mut writer = DbusWriter::with_room(64);
        writer.byte(1).number(2).text("ab").signature("ay");
        writer.blob(&[9, 8]).array(|items| {
            items.pad(8).text("k").pad(8).text("l");
        });
        writer.array(|items| {
            items.pad(8).text("m");
        });
        let wanted: &[u8] = &[
            1, 0, 0, 0, 2, 0, 0, 0, // a byte, then a number
            2, 0, 0, 0, b'a', b'b', 0, // a text
            2, b'a', b'y', 0, // a signature
            0, 2, 0, 0, 0, 9, 8, // bytes
            0, 0, 14, 0, 0, 0, // the length of an array
            1, 0, 0, 0, b'k', 0, 0, 0, 1, 0, 0, 0, b'l', 0, 0, 0, 6, 0, 0,
            0, // another one: padding in front of its items does not count
            0, 0, 0, 0, 1, 0, 0, 0, b'm', 0,
        ];
        assert_eq!(writer.bytes(), wanted);
    }

    fn read_everything(bytes: &[u8]) {
        let readers: [fn(&mut DbusReader<'_>) -> Option<()>; 7] = [
            |r| r.byte().map(drop),
            |r| r.number().map(drop),
            |r| r.text().map(drop),
            |r| r.signature().map(drop),
            |r| r.blob().map(drop),
            |r| r.texts().map(drop),
            |r| r.variant().map(drop),
        ];
        for read in readers {
            let mut reader = DbusReader::of(bytes);
            while !reader.is_at_end() && read(&mut reader).is_some() {}
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            number in any::<u32>(),
            text in ".{0,40}",
            blob in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut writer = DbusWriter::with_room(200);
            writer.byte(1).text(&text).number(number).blob(&blob).signature("s").text(&text);
            let mut reader = DbusReader::of(writer.bytes());
            prop_assert_eq!(reader.byte(), Some(1));
            prop_assert_eq!(reader.text(), Some(&text[..]));
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert_eq!(reader.blob(), Some(&blob[..]));
            prop_assert_eq!(reader.variant(), Some(DbusVariant::Text(&text)));
            prop_assert!(reader.is_at_end());
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            read_everything(&bytes);
        }

        #[test]
        fn no_small_numbers_are_too_odd(bytes in proptest::collection::vec(0_u8..8, 0..120)) {
            read_everything(&bytes);
        }
    }
}
