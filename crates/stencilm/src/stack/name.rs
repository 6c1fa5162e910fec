//! The bytes of the member name that a text is inside of.

use std::sync::Arc;

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
    len: u8,
    last: [u8; INLINE],
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
        if usize::from(self.len) == INLINE {
            let before = self.before.take();
            self.before = Some(Arc::new(Chunk { bytes: self.last, before }));
            self.len = 0;
        }
        self.last[usize::from(self.len)] = byte;
        self.len += 1;
    }

    /// The name so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut chunks: Vec<&[u8]> = vec![&self.last[..usize::from(self.len)]];
        let mut at = &self.before;
        while let Some(chunk) = at {
            chunks.push(&chunk.bytes);
            at = &chunk.before;
        }
        chunks.reverse();
        chunks.concat()
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
