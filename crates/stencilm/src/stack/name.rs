//! The member name that a text is inside of.

use smallvec::SmallVec;

use crate::grammar::{Escaped, Progress, after_byte, canonical};
use crate::stack::text::TextSoFar;

/// A register: what was read of a name since its opening quote, as long as some item of the state
/// may be inside of a name that its object does not list. However its characters are spelled, each
/// is kept in its canonical spelling.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameSoFar {
    text: TextSoFar,
    /// The escape that the text is inside of: of it nothing is in the bytes yet.
    escape: Option<Progress>,
}

impl NameSoFar {
    /// Whether a name has begun.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.text.is_open()
    }

    /// The escape that the text is inside of.
    pub(crate) fn escape(&self) -> Option<Progress> {
        self.escape
    }

    /// Whether `byte` is the closing quote.
    #[inline]
    pub(crate) fn ends_with(&self, byte: u8) -> bool {
        byte == b'"' && self.escape.is_none()
    }

    /// After the opening quote.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
        self.text.begin();
    }

    /// One more byte of the text.
    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        if self.escape.is_none() && byte != b'\\' {
            self.text.push(byte);
        } else {
            self.push_escape(byte);
        }
    }

    fn push_escape(&mut self, byte: u8) {
        let Some(progress) = self.escape.take() else {
            self.escape = Some(Progress::Escape);
            return;
        };
        match after_byte(progress, byte) {
            Escaped::Inside(next) => self.escape = Some(next),
            Escaped::Char(c) => {
                for &byte in &canonical(c) {
                    self.text.push(byte);
                }
            }
            // No text goes on so.
            Escaped::Wrong => {}
        }
    }

    /// How many bytes it has so far.
    pub(crate) fn len(&self) -> usize {
        self.text.len() as usize
    }

    /// The name so far.
    pub(crate) fn bytes(&self) -> SmallVec<[u8; 64]> {
        self.text.bytes_from(0)
    }
}
