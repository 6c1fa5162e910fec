//! Tokens that end inside of a character: whether a class has a character that goes on so.

use std::collections::BTreeMap;

use crate::{
    grammar::CharSet,
    vocab::{texts::Texts, trie_builder::to_u32},
};

/// The code points from the first to the last.
type Range = (u32, u32);

/// The tokens whose text is whole UTF-8 but for its end, which is the beginning of a character.
#[derive(Debug)]
pub(crate) struct CutOff {
    // Invariant: rising; the code points that begin like the end of some token.
    ranges: Box<[Range]>,
    // Invariant: where each range's ranks start; one more than there are ranges.
    starts: Box<[u32]>,
    // Invariant: for each range, the ranks of its tokens, rising.
    ranks: Box<[u32]>,
}

impl CutOff {
    /// Collects these tokens; `order` has the number of each rank.
    pub(crate) fn of(texts: &Texts, order: &[u32]) -> Self {
        let mut found: BTreeMap<Range, Vec<u32>> = BTreeMap::new();
        for (rank, &id) in (0..).zip(order) {
            if let Some((_, end)) = cut_off(texts.of(id)) {
                found.entry(range_of(end)).or_default().push(rank);
            }
        }
        let mut starts = vec![0];
        let mut ranks = Vec::new();
        for of_range in found.values() {
            ranks.extend_from_slice(of_range);
            starts.push(to_u32(ranks.len()));
        }
        Self { ranges: found.into_keys().collect(), starts: starts.into(), ranks: ranks.into() }
    }

    /// Adds the ranks of the tokens that no character of `class` goes on like to `refused`.
    pub(crate) fn refuse(&self, class: &CharSet, refused: &mut Vec<u32>) {
        if class.covers(0x80, char::MAX.into()) {
            return;
        }
        for (&(low, high), ranks) in self.ranges.iter().zip(self.starts.windows(2)) {
            if !class.meets(low, high) {
                refused.extend_from_slice(&self.ranks[ranks[0] as usize..ranks[1] as usize]);
            }
        }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.ranges) + size_of_val(&*self.starts) + size_of_val(&*self.ranks)
    }
}

/// The whole characters of a text, and the beginning of another one behind them; none if there is none, or
/// if it is not all of UTF-8.
pub(crate) fn cut_off(text: &[u8]) -> Option<(&str, &[u8])> {
    if text.is_ascii() {
        return None;
    }
    let error = std::str::from_utf8(text).err()?;
    let (whole, end) = text.split_at(error.valid_up_to());
    let whole = std::str::from_utf8(whole).ok()?;
    error.error_len().is_none().then_some((whole, end))
}

/// The code points that begin with these bytes, and maybe some that do not exist.
fn range_of(begun: &[u8]) -> Range {
    let length = begun[0].leading_ones();
    let lead = u32::from(begun[0]) & (0x7F >> length);
    let known = begun[1..].iter().fold(lead, |code, byte| code << 6 | u32::from(byte & 0x3F));
    let missing = 6 * (length - to_u32(begun.len()));
    let least = match length {
        2 => 0x80,
        3 => 0x800,
        _ => 0x1_0000,
    };
    ((known << missing).max(least), (((known + 1) << missing) - 1).min(char::MAX.into()))
}
