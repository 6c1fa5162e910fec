//! The bytes of the member name that a text is inside of.

use std::sync::Arc;

use smallvec::SmallVec;

/// Bytes that stand in the register itself.
const INLINE: usize = 20;

/// A register: what was read of a name since its opening quote, as long as some item of the state
/// may be inside of a name that its object does not list. Long names share their beginnings with
/// the states before.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameSoFar {
    is_open: bool,
    /// After a backslash that escapes what follows.
    is_escaped: bool,
    /// How many bytes of `last` are read.
    filled: u8,
    last: [u8; INLINE],
    len: u32,
    before: Option<Arc<Chunk>>,
}

#[derive(Debug)]
struct Chunk {
    bytes: [u8; INLINE],
    before: Option<Arc<Chunk>>,
}

impl NameSoFar {
    /// Whether a name has begun.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
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
        *self = Self { is_open: true, ..Self::default() };
    }

    /// One more byte.
    pub(crate) fn push(&mut self, byte: u8) {
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        if usize::from(self.filled) == INLINE {
            let before = self.before.take();
            self.before = Some(Arc::new(Chunk { bytes: self.last, before }));
            self.filled = 0;
        }
        self.last[usize::from(self.filled)] = byte;
        self.filled += 1;
        self.len = self.len.saturating_add(1);
    }

    /// How many bytes were read.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The name so far.
    pub(crate) fn bytes(&self) -> SmallVec<[u8; 64]> {
        let mut bytes = SmallVec::from_elem(0, self.len());
        let last = &self.last[..usize::from(self.filled)];
        let mut end = self.len() - last.len();
        bytes[end..].copy_from_slice(last);
        let mut at = &self.before;
        while let Some(chunk) = at {
            bytes[end - INLINE..end].copy_from_slice(&chunk.bytes);
            end -= INLINE;
            at = &chunk.before;
        }
        bytes
    }
}

impl Drop for Chunk {
    /// Frees a long name without recursion.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(chunk) = before {
            before = Arc::into_inner(chunk).and_then(|mut chunk| chunk.before.take());
        }
    }
}
