//! The bytes of the member name that a text is inside of.

use smallvec::SmallVec;

use crate::stack::text::TextSoFar;

/// A register: what was read of a name since its opening quote, as long as some item of the state
/// may be inside of a name that its object does not list.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameSoFar {
    text: TextSoFar,
    /// After a backslash that escapes what follows.
    is_escaped: bool,
}

impl NameSoFar {
    /// Whether a name has begun.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.text.is_open()
    }

    /// Whether the next byte is escaped.
    pub(crate) fn is_escaped(&self) -> bool {
        self.is_escaped
    }

    /// Whether `byte` is the closing quote.
    #[inline]
    pub(crate) fn ends_with(&self, byte: u8) -> bool {
        byte == b'"' && !self.is_escaped
    }

    /// After the opening quote.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
        self.text.begin();
    }

    /// One more byte.
    pub(crate) fn push(&mut self, byte: u8) {
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        self.text.push(byte);
    }

    /// How many bytes were read.
    pub(crate) fn len(&self) -> usize {
        self.text.len() as usize
    }

    /// The name so far.
    pub(crate) fn bytes(&self) -> SmallVec<[u8; 64]> {
        self.text.bytes_from(0)
    }
}
