//! How many characters each token touches, and which tokens are not whole UTF-8.

use crate::vocab::{bits, texts::Texts};

/// The characters of every token.
#[derive(Debug)]
pub(crate) struct Characters {
    // Invariant: at most the token's length, which fits.
    counts: Box<[u16]>,
    // Invariant: a bitset by token.
    partial: Box<[u32]>,
    longest: u32,
}

impl Characters {
    /// Counts the characters of all tokens.
    pub(crate) fn of(texts: &Texts) -> Self {
        let mut counts = Vec::with_capacity(texts.len() as usize);
        let mut partial = bits::none_of(texts.len() as usize);
        for id in 0..texts.len() {
            let text = texts.of(id);
            let is_ascii = text.is_ascii();
            let count = if is_ascii { text.len() } else { touched(text) };
            counts.push(u16::try_from(count).expect("a text has at most 65,535 bytes"));
            if !is_ascii && std::str::from_utf8(text).is_err() {
                bits::insert(&mut partial, id);
            }
        }
        let longest = counts.iter().copied().max().unwrap_or(0).into();
        Self { counts: counts.into(), partial: partial.into(), longest }
    }

    /// How many characters the token touches: those it begins, and one that it only goes on
    /// with. For whole UTF-8, its number of characters.
    pub(crate) fn count(&self, id: u32) -> u32 {
        self.counts[id as usize].into()
    }

    /// Whether the token is not whole UTF-8.
    pub(crate) fn is_partial(&self, id: u32) -> bool {
        bits::has(&self.partial, id)
    }

    /// The most characters of a token.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.counts.len() * size_of::<u16>() + self.partial.len() * size_of::<u32>()
    }
}

/// Whether `byte` only goes on with a character of UTF-8.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many characters the text begins, and one that it only goes on with.
fn touched(text: &[u8]) -> usize {
    let begun = text.iter().filter(|&&byte| !is_continuation(byte)).count();
    begun + usize::from(text.first().is_some_and(|&byte| is_continuation(byte)))
}
