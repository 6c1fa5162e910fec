//! Finds the tokens made only of the characters of a class, in a few vector operations.
//!
//! In: any class of characters. Out: the tokens that are whole UTF-8 and have no other
//! character, ready to be laid into a mask, and the others, by rank, for a walk to look for.

use std::sync::Arc;

use crate::{
    grammar::{ByteSet, CharSet},
    vocab::{
        bit_rows::{BitRows, RowTree},
        bits,
        characters::Characters,
        cut_off::{CutOff, cut_off},
        points::Points,
        row::Row,
        texts::Texts,
    },
};

/// The tokens with text, parted in two by a class of characters.
///
/// Made by [`Vocabulary::sieve`](crate::vocab::Vocabulary::sieve).
#[derive(Clone, Debug)]
pub struct Sieve {
    pure: Arc<[u32]>,
    // Invariant: a bitset by rank.
    rest: Box<[u32]>,
    rest_count: u32,
    rest_depth: u32,
}

impl Sieve {
    /// The tokens that are whole UTF-8, not empty, not too long, and have only characters of
    /// the class, the last of which may be cut off if that was asked for: a bitset by number, laid out
    /// like a mask.
    #[must_use]
    pub fn pure(&self) -> &Arc<[u32]> {
        &self.pure
    }

    /// The other tokens with text: a bitset by rank, that is, by the place in
    /// [`Trie::tokens`](crate::vocab::Trie::tokens) of the vocabulary's trie.
    #[must_use]
    pub fn rest(&self) -> &[u32] {
        &self.rest
    }

    /// How many tokens are in the rest.
    #[must_use]
    pub fn rest_count(&self) -> u32 {
        self.rest_count
    }

    /// The most characters that a token of the rest touches.
    #[must_use]
    pub fn rest_depth(&self) -> u32 {
        self.rest_depth
    }

    /// The memory it takes, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.pure) + size_of_val(&*self.rest)
    }
}

/// Which tokens contain which characters. Every row has only tokens with at least one byte.
#[derive(Debug)]
pub(crate) struct SieveIndex {
    // Invariant: the tokens that contain each byte of ASCII.
    ascii: RowTree,
    // Invariant: the rows named by the constants below.
    traits: BitRows,
    // Invariant: the words of a row that are by number.
    words: usize,
    points: Points,
    cut_off: CutOff,
    // Invariant: (characters, number, rank) of the tokens with at least `SATURATED` characters,
    // longest first.
    long: Box<[(u32, u32, u32)]>,
}

/// Rows of traits: bit *i* of the number of characters, which ends at `SATURATED`.
const COUNT_BITS: usize = 6;
const SATURATED: u32 = (1 << COUNT_BITS) - 1;
/// Row of traits: not whole UTF-8.
const PARTIAL: usize = 6;
/// Row of traits: all tokens with text.
const TEXT: usize = 7;
/// Row of traits: tokens that begin with a space and go on.
const SPACED: usize = 8;
/// Row of traits: tokens with a space after the first byte.
const AGAIN: usize = 9;
/// Row of traits: neither whole UTF-8, nor that up to the beginning of a character.
const BROKEN: usize = 10;

/// Which texts a sieve parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parted {
    /// Those of all tokens.
    Whole,
    /// What comes after the space that a token begins with, if anything does. In most vocabularies that
    /// is half of the tokens.
    AfterSpace,
}

impl SieveIndex {
    /// Looks at the text of every token; `order` has the number of each rank.
    pub(crate) fn of(texts: &Texts, characters: &Characters, order: &[u32]) -> Self {
        let marks: Vec<_> = (0..texts.len()).map(|id| ascii_of(texts.of(id))).collect();
        let ascii = RowTree::of(128, &marks, order);
        let mark = |id| traits_of(texts.of(id), characters, id);
        let marks: Vec<_> = (0..texts.len()).map(mark).collect();
        let ranked = || (0..).zip(order).map(|(rank, &id)| (characters.count(id), id, rank));
        let mut long: Vec<_> = ranked().filter(|it| it.0 >= SATURATED).collect();
        long.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            ascii,
            traits: BitRows::of(BROKEN + 1, &marks, order),
            words: bits::words_for(texts.len() as usize),
            points: Points::of(texts, order),
            cut_off: CutOff::of(texts, order),
            long: long.into(),
        }
    }

    /// Parts some texts. Characters of `class` may be in a pure one, and at most `max_chars` of them.
    pub(crate) fn sieve(
        &self,
        parted: Parted,
        class: &CharSet,
        max_chars: Option<u32>,
        order: &[u32],
    ) -> Sieve {
        let refused = self.traits.row(PARTIAL).to_vec();
        self.sieve_without(refused, parted, class, max_chars, order)
    }

    /// The same where the last character of a pure text may be cut off.
    pub(crate) fn sieve_of_beginnings(
        &self,
        parted: Parted,
        class: &CharSet,
        order: &[u32],
    ) -> Sieve {
        let mut refused = self.traits.row(BROKEN).to_vec();
        self.cut_off.refuse(class, order, self.words, &mut refused);
        self.sieve_without(refused, parted, class, None, order)
    }

    fn sieve_without(
        &self,
        mut refused: Vec<u32>,
        parted: Parted,
        class: &CharSet,
        max_chars: Option<u32>,
        order: &[u32],
    ) -> Sieve {
        self.points.refuse(class, order, self.words, &mut refused);
        let (all, first) = self.part(parted);
        let mut lacks = !ascii_in(class);
        if parted == Parted::AfterSpace && lacks & SPACE != 0 {
            lacks ^= SPACE;
            refused.iter_mut().zip(self.traits.row(AGAIN)).for_each(|(sum, word)| *sum |= word);
        }
        self.ascii.unite(&mut refused, lacks);
        if let Some(max_chars) = max_chars {
            self.refuse_longer(max_chars.saturating_add(first), &mut refused);
        }
        if parted != Parted::Whole {
            let (_, others) = refused.split_at_mut(self.words);
            others.iter_mut().zip(&all[self.words..]).for_each(|(refused, all)| *refused &= all);
        }
        let pure = all.iter().zip(&refused[..self.words]).map(|(all, refused)| all & !refused);
        let pure = pure.collect();
        let rest = refused.split_off(self.words);
        let rest_count = bits::count(&rest);
        let rest_depth = self.depth(&rest).saturating_sub(first);
        Sieve { pure, rest_count, rest_depth, rest: rest.into() }
    }

    /// The texts of a part, and how many characters come before it.
    fn part(&self, parted: Parted) -> (&[u32], u32) {
        match parted {
            Parted::Whole => (self.traits.row(TEXT), 0),
            Parted::AfterSpace => (self.traits.row(SPACED), 1),
        }
    }

    /// The tokens of a part with more than `most` characters.
    pub(crate) fn longer(&self, parted: Parted, most: u32) -> Row {
        let (all, first) = self.part(parted);
        let mut longer = vec![0; all.len()];
        self.refuse_longer(most.saturating_add(first), &mut longer);
        self.row_of(parted, longer)
    }

    /// The tokens of a part with one of some bytes of ASCII.
    pub(crate) fn with_ascii(&self, parted: Parted, bytes: &ByteSet) -> Row {
        let (all, _) = self.part(parted);
        let mut with = vec![0; all.len()];
        let mut wanted = bytes.iter().filter(u8::is_ascii).fold(0, |set, byte| set | 1 << byte);
        if parted == Parted::AfterSpace && wanted & SPACE != 0 {
            wanted ^= SPACE;
            with.copy_from_slice(self.traits.row(AGAIN));
        }
        self.ascii.unite(&mut with, wanted);
        self.row_of(parted, with)
    }

    fn row_of(&self, parted: Parted, mut row: Vec<u32>) -> Row {
        if parted != Parted::Whole {
            row.iter_mut().zip(self.part(parted).0).for_each(|(word, all)| *word &= all);
        }
        Row::new(row, self.words)
    }

    /// Adds the tokens with more than `most` characters.
    fn refuse_longer(&self, most: u32, refused: &mut [u32]) {
        const BLOCK: usize = 1_024;
        if most >= SATURATED {
            for &(_, id, rank) in self.long.iter().take_while(|(count, ..)| *count > most) {
                bits::insert(refused, id);
                bits::insert(&mut refused[self.words..], rank);
            }
            return;
        }
        // A comparison of all counts at once, from their highest bit down; block by block, so that what is
        // compared stays in the nearest cache.
        for (block, refused) in refused.chunks_mut(BLOCK).enumerate() {
            let length = refused.len();
            let of = |row| &self.traits.row(row)[block * BLOCK..][..length];
            let mut equal = [0; BLOCK];
            let equal = &mut equal[..length];
            equal.copy_from_slice(of(TEXT));
            for bit in (0..COUNT_BITS).rev() {
                let wanted = if most >> bit & 1 == 1 { u32::MAX } else { 0 };
                let counts = of(bit);
                for ((refused, equal), count) in refused.iter_mut().zip(&mut *equal).zip(counts) {
                    *refused |= *equal & count & !wanted;
                    *equal &= !(count ^ wanted);
                }
            }
        }
    }

    /// The most characters of a token in `rest`, a bitset by rank.
    fn depth(&self, rest: &[u32]) -> u32 {
        let mut deepest = rest.to_vec();
        let mut depth = 0;
        for bit in (0..COUNT_BITS).rev() {
            let counts = &self.traits.row(bit)[self.words..];
            if deepest.iter().zip(counts).any(|(word, count)| word & count != 0) {
                deepest.iter_mut().zip(counts).for_each(|(word, count)| *word &= count);
                depth |= 1 << bit;
            }
        }
        if depth < SATURATED {
            return depth;
        }
        let longest = self.long.iter().find(|(_, _, rank)| bits::has(rest, *rank));
        longest.map_or(depth, |(count, ..)| *count)
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.ascii.size_in_bytes()
            + self.traits.size_in_bytes()
            + self.points.size_in_bytes()
            + self.cut_off.size_in_bytes()
            + size_of_val(&*self.long)
    }
}

/// The bytes of ASCII in `text`.
fn ascii_of(text: &[u8]) -> [u32; 4] {
    let mut set = [0; 4];
    for byte in text.iter().filter(|byte| byte.is_ascii()) {
        set[usize::from(byte >> 5 & 3)] |= 1 << (byte & 31);
    }
    set
}

/// The characters of ASCII in `class`.
fn ascii_in(class: &CharSet) -> u128 {
    let bits = |(low, high): (u32, u32)| (u128::MAX >> (127 - (high - low))) << low;
    class.clamp(0, 0x7F).ranges().iter().fold(0, |set, &range| set | bits(range))
}

/// The space among the characters of ASCII.
const SPACE: u128 = 1 << b' ';

/// The rows of traits that the token is in.
fn traits_of(text: &[u8], characters: &Characters, id: u32) -> [u32; 1] {
    let partial = u32::from(characters.is_partial(id)) << PARTIAL;
    let has_text = u32::from(!text.is_empty()) << TEXT;
    let (first, rest) = text.split_at(text.len().min(1));
    let is_spaced = u32::from(first == b" " && !rest.is_empty()) << SPACED;
    let is_again = u32::from(rest.contains(&b' ')) << AGAIN;
    let is_broken = characters.is_partial(id) && cut_off(text).is_none();
    let broken = u32::from(is_broken) << BROKEN;
    [characters.count(id).min(SATURATED) | partial | has_text | is_spaced | is_again | broken]
}
