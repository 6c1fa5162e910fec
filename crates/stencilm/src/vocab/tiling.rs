//! How tokens lie side by side in a text, for vocabularies in which not every byte is a token.

use rustc_hash::FxHashMap;

use crate::{
    grammar::ByteSet,
    vocab::{Trie, trie_builder::to_u32},
};

/// Pieces up to this length are looked for when a token is taken apart. A token that is made of
/// longer ones is kept, which costs places but changes nothing.
const LONGEST_PIECE: usize = 32;

/// The automaton of all texts that some sequence of tokens spells. Its states are *places*: place
/// 0 lies between two tokens, the others lie inside a token. Places with the same future are one.
///
/// Only tokens that no others spell matter. Where every byte is a token nothing is left to know,
/// and no vocabulary has a tiling then.
///
/// ```
/// use stencilm::vocab::{Tiling, Vocabulary};
///
/// let vocabulary = Vocabulary::new([Some("b"), Some("ab"), Some("cab")], [], [])?;
/// let tiling: &Tiling = vocabulary.tiling().expect("the byte `a` is no token");
/// assert_eq!(tiling.next(0, b'b').collect::<Vec<_>>(), [0]);
/// let inside: Vec<u32> = tiling.next(0, b'a').collect();
/// assert_eq!(tiling.next(inside[0], b'b').collect::<Vec<_>>(), [0]);
/// assert_eq!(tiling.next(inside[0], b'a').count(), 0);
/// # Ok::<(), stencilm::Error>(())
/// ```
#[derive(Debug)]
pub struct Tiling {
    // Invariant: sorted, distinct.
    steps: Vec<Box<[(u8, u32)]>>,
    /// The bytes that lead out of each place.
    out: Vec<ByteSet>,
    /// The bytes that lead into each place.
    into: Vec<ByteSet>,
    missing: ByteSet,
}

impl Tiling {
    /// The tiling of a vocabulary, if some byte is no token of its own.
    pub(super) fn of(trie: &Trie, single: &ByteSet) -> Option<Self> {
        let missing = ByteSet::ALL.difference(single);
        if missing.is_empty() {
            return None;
        }
        let needed = needed_tokens(trie, &missing);
        let texts = needed.iter().map(|text| (text.as_slice(), 0));
        let tokens = Trie::from_sorted(texts);
        let mut tiling =
            Self { steps: vec![Box::default()], out: Vec::new(), into: Vec::new(), missing };
        let mut by_steps: FxHashMap<Box<[(u8, u32)]>, u32> = FxHashMap::default();
        let mut places: Vec<u32> = vec![0; tokens.len() as usize];
        // A node stands before its children: the last come first.
        for node in (0..tokens.len()).rev() {
            let mut steps = Vec::new();
            for child in tokens.children(node) {
                if !tokens.tokens_at(child).is_empty() {
                    steps.push((tokens.byte(child), 0));
                }
                if tokens.end(child) > child + 1 {
                    steps.push((tokens.byte(child), places[child as usize]));
                }
            }
            if node == 0 {
                steps.extend(single.iter().map(|byte| (byte, 0)));
                steps.sort_unstable();
                tiling.steps[0] = steps.into();
            } else if !steps.is_empty() {
                let steps: Box<[(u8, u32)]> = steps.into();
                places[node as usize] = *by_steps.entry(steps).or_insert_with_key(|steps| {
                    tiling.steps.push(steps.clone());
                    to_u32(tiling.steps.len() - 1)
                });
            }
        }
        tiling.into = vec![ByteSet::EMPTY; tiling.steps.len()];
        for steps in &tiling.steps {
            tiling.out.push(steps.iter().map(|&(byte, _)| byte).collect());
            for &(byte, to) in steps {
                tiling.into[to as usize].insert(byte);
            }
        }
        Some(tiling)
    }

    /// How many places there are.
    #[must_use]
    pub fn places(&self) -> u32 {
        to_u32(self.steps.len())
    }

    /// The places that `byte` leads to.
    pub fn next(&self, place: u32, byte: u8) -> impl Iterator<Item = u32> + '_ {
        let steps = &self.steps[place as usize];
        let from = steps.partition_point(|&(other, _)| other < byte);
        steps[from..].iter().take_while(move |&&(other, _)| other == byte).map(|&(_, to)| to)
    }

    /// All steps out of a place: bytes and where they lead, by rising bytes.
    #[must_use]
    pub fn steps(&self, place: u32) -> &[(u8, u32)] {
        &self.steps[place as usize]
    }

    /// The bytes that lead out of a place.
    #[must_use]
    pub fn bytes_out(&self, place: u32) -> &ByteSet {
        &self.out[place as usize]
    }

    /// The bytes that lead into a place.
    #[must_use]
    pub fn bytes_into(&self, place: u32) -> &ByteSet {
        &self.into[place as usize]
    }

    /// The bytes that are no token of their own.
    #[must_use]
    pub fn missing(&self) -> &ByteSet {
        &self.missing
    }

    /// The memory it takes, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let steps: usize = self.steps.iter().map(|steps| size_of_val(&**steps) + 16).sum();
        size_of::<Self>() + steps + 2 * self.out.len() * size_of::<ByteSet>()
    }
}

/// The texts of the tokens that have a missing byte and are not made of other tokens, rising.
fn needed_tokens(trie: &Trie, missing: &ByteSet) -> Vec<Vec<u8>> {
    let mut needed = Vec::new();
    let mut text: Vec<u8> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for node in 1..trie.len() {
        while open.last().is_some_and(|&end| end <= node) {
            open.pop();
            text.pop();
        }
        open.push(trie.end(node));
        text.push(trie.byte(node));
        let is_token = !trie.tokens_at(node).is_empty();
        if is_token
            && text.iter().any(|&byte| missing.contains(byte))
            && !is_made_of_others(trie, &text)
        {
            needed.push(text.clone());
        }
    }
    needed
}

/// Whether shorter tokens spell `text`.
fn is_made_of_others(trie: &Trie, text: &[u8]) -> bool {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for from in 0..text.len() {
        if !reached[from] {
            continue;
        }
        let mut node = 0;
        for to in from + 1..=text.len().min(from + LONGEST_PIECE) {
            let Some(child) = trie.child(node, text[to - 1]) else { break };
            node = child;
            if !trie.tokens_at(node).is_empty() && to - from < text.len() {
                reached[to] = true;
            }
        }
    }
    reached[text.len()]
}
