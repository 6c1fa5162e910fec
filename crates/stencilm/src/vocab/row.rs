//! A set of tokens in two orders at once: by number, to be laid into masks, and by rank, to be looked
//! for in the trie.

use crate::vocab::{Sieve, bits};

/// Tokens with text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    // Invariant: a bitset by number, padded to whole words, and then one by rank.
    bits: Vec<u32>,
    // Invariant: the words of the first.
    numbers: usize,
}

impl Row {
    pub(crate) fn new(bits: Vec<u32>, numbers: usize) -> Self {
        Self { bits, numbers }
    }

    /// By number, laid out like a mask.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.bits[..self.numbers]
    }

    /// By rank, that is, by the place in the vocabulary's trie.
    pub(crate) fn ranks(&self) -> &[u32] {
        &self.bits[self.numbers..]
    }

    /// How many tokens there are.
    pub(crate) fn count(&self) -> u32 {
        bits::count(self.ranks())
    }

    /// Keeps those that are in `other` as well.
    pub(crate) fn keep(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(mine, other)| *mine &= other);
    }

    /// Adds those of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(mine, other)| *mine |= other);
    }

    /// Keeps those that a sieve holds back.
    pub(crate) fn keep_rest(&mut self, sieve: &Sieve) {
        let (numbers, ranks) = self.bits.split_at_mut(self.numbers);
        numbers.iter_mut().zip(sieve.pure().iter()).for_each(|(mine, pure)| *mine &= !pure);
        ranks.iter_mut().zip(sieve.rest()).for_each(|(mine, rest)| *mine &= rest);
    }

    /// Takes out those of `other`.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(mine, other)| *mine &= !other);
    }
}
