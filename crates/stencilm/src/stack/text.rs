//! The bytes that a state keeps of the text.

use std::sync::Arc;

use smallvec::SmallVec;

/// Bytes that stand in the register itself.
const INLINE: usize = 20;

/// A register: what was read since some byte. Long texts share their beginnings with the states
/// before.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextSoFar {
    is_open: bool,
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

impl TextSoFar {
    /// Whether the text has begun.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// From here on, if it has not begun.
    pub(crate) fn begin(&mut self) {
        self.is_open = true;
    }

    /// One more byte.
    pub(crate) fn push(&mut self, byte: u8) {
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
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// What was read after the first `start` bytes.
    pub(crate) fn bytes_from(&self, start: u32) -> SmallVec<[u8; 64]> {
        let (start, len) = (start as usize, self.len as usize);
        let mut bytes = SmallVec::from_elem(0, len.saturating_sub(start));
        let mut end = len;
        let mut chunk = &self.last[..usize::from(self.filled)];
        let mut before = &self.before;
        loop {
            let begin = end - chunk.len();
            let from = begin.max(start);
            if from < end {
                bytes[from - start..end - start].copy_from_slice(&chunk[from - begin..]);
            }
            end = begin;
            match before {
                Some(next) if end > start => (chunk, before) = (&next.bytes, &next.before),
                _ => return bytes,
            }
        }
    }
}

impl Drop for Chunk {
    /// Frees a long text without recursion.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(chunk) = before {
            before = Arc::into_inner(chunk).and_then(|mut chunk| chunk.before.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::stack::text::TextSoFar;

    proptest! {
        #[test]
        fn it_gives_back_what_was_read(read in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut text = TextSoFar::default();
            for &byte in &read {
                text.push(byte);
            }
            prop_assert_eq!(text.len() as usize, read.len());
            for start in 0..=text.len() {
                prop_assert_eq!(&text.bytes_from(start)[..], &read[start as usize..]);
            }
        }
    }
}
