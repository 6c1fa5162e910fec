//! Finds tokens by their characters beyond ASCII.

use std::ops::RangeInclusive;

use crate::{
    grammar::CharSet,
    vocab::{characters::Characters, texts::Texts, trie_builder::to_u32},
};

/// The code points beyond ASCII in tokens that are whole UTF-8.
#[derive(Debug)]
pub(crate) struct Points {
    // Invariant: rising.
    codes: Box<[u32]>,
    // Invariant: where each code point's ranks start; one more than there are code points.
    starts: Box<[u32]>,
    // Invariant: for each code point, the ranks of its tokens, rising.
    ranks: Box<[u32]>,
}

impl Points {
    /// Collects the code points of all tokens; `order` has the number of each rank.
    pub(crate) fn of(texts: &Texts, characters: &Characters, order: &[u32]) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (rank, &id) in (0..).zip(order) {
            let text = texts.of(id);
            if text.is_ascii() || characters.is_partial(id) {
                continue;
            }
            let chars = std::str::from_utf8(text).into_iter().flat_map(str::chars);
            pairs.extend(chars.filter(|c| !c.is_ascii()).map(|c| (c.into(), rank)));
        }
        sort_by_code(&mut pairs);
        pairs.dedup();
        let (mut codes, mut starts) = (Vec::new(), Vec::new());
        for (at, (code, _)) in pairs.iter().enumerate() {
            if codes.last() != Some(code) {
                codes.push(*code);
                starts.push(to_u32(at));
            }
        }
        starts.push(to_u32(pairs.len()));
        let ranks = pairs.into_iter().map(|(_, rank)| rank).collect();
        Self { codes: codes.into(), starts: starts.into(), ranks }
    }

    /// The ranks of the tokens with each of these code points; a token may come repeatedly.
    pub(crate) fn ranks_in(&self, range: RangeInclusive<u32>) -> &[u32] {
        let from = self.codes.partition_point(|code| code < range.start());
        let length = self.codes[from..].partition_point(|code| code <= range.end());
        &self.ranks[self.starts[from] as usize..self.starts[from + length] as usize]
    }

    /// How many ranks the code points of a class have together.
    pub(crate) fn entries_in(&self, class: &CharSet) -> usize {
        class.ranges().iter().map(|&(low, high)| self.ranks_in(low..=high).len()).sum()
    }

    /// How many ranks all code points have together.
    pub(crate) fn entries(&self) -> usize {
        self.ranks.len()
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        (self.codes.len() + self.starts.len() + self.ranks.len()) * size_of::<u32>()
    }
}

/// Sorts by code points and keeps the order of equal ones: two rounds of counting.
fn sort_by_code(pairs: &mut Vec<(u32, u32)>) {
    // 11 bits a round: code points have 21.
    const BUCKETS: usize = 1 << 11;
    for shift in [0, 11] {
        let bucket = |code: u32| (code >> shift) as usize % BUCKETS;
        let mut starts = [0_usize; BUCKETS + 1];
        for &(code, _) in &*pairs {
            starts[bucket(code) + 1] += 1;
        }
        for at in 0..BUCKETS {
            starts[at + 1] += starts[at];
        }
        let mut sorted = vec![(0, 0); pairs.len()];
        for &pair in &*pairs {
            let to = &mut starts[bucket(pair.0)];
            sorted[*to] = pair;
            *to += 1;
        }
        *pairs = sorted;
    }
}
