//! Finds the tokens made only of the characters of a class, in a few vector operations.
//!
//! In: any class of characters. Out: the tokens that are whole UTF-8 and have no other
//! character, ready to be laid into a mask, and the others, by rank, for a walk to look for.

use std::{ops::Range, sync::Arc};

use crate::{
    grammar::{ByteSet, CharSet},
    vocab::{
        bit_rows::{BitRows, RowTree, unite},
        bits,
        characters::Characters,
        cut_off::{CutOff, cut_off},
        points::Points,
        row::Row,
        texts::Texts,
        trie_builder::to_u32,
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
        bits::count(&self.rest)
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
    // Invariant: (characters, rank) of the tokens with more than `COUNTED` characters, longest first.
    long: Box<[(u32, u32)]>,
    // Invariant: where the ranks of the texts of a part that begin with each byte start, and end.
    whole: Box<[u32; 257]>,
    spaced: Box<[u32; 257]>,
}

/// Rows of traits below this one: more characters than the row's number.
const COUNTED: u32 = 16;
/// Row of traits: all tokens with text, that is, with more than no character.
const TEXT: usize = 0;
/// Row of traits: not whole UTF-8.
const PARTIAL: usize = COUNTED as usize;
/// Row of traits: tokens that begin with a space and go on.
const SPACED: usize = PARTIAL + 1;
/// Row of traits: tokens with a space after the first byte.
const AGAIN: usize = PARTIAL + 2;
/// Row of traits: neither whole UTF-8, nor that up to the beginning of a character.
const BROKEN: usize = PARTIAL + 3;

/// Neighbours in ASCII that classes have or lack together: what is not printed, signs, digits, signs,
/// big letters, signs, small letters, signs. Classes that are read aloud begin and end there.
const NEIGHBOURS: [u32; 9] = [0, 32, 48, 58, 65, 91, 97, 123, 128];

/// What a sieve refuses.
#[derive(Default)]
struct Refused<'a> {
    rows: Vec<&'a [u32]>,
    /// Tokens by rank, maybe more than once.
    ranks: Vec<u32>,
}

/// So many tokens are laid into a mask one by one while a row is united with others.
const SINGLES_A_ROW: usize = 400;

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
        let ascii = RowTree::of(128, &marks, order, spans());
        let mark = |id| traits_of(texts.of(id), characters, id);
        let marks: Vec<_> = (0..texts.len()).map(mark).collect();
        let ranked = (0..).zip(order).map(|(rank, &id)| (characters.count(id), rank));
        let mut long: Vec<_> = ranked.filter(|it| it.0 > COUNTED).collect();
        long.sort_unstable_by(|a, b| b.cmp(a));
        let whole = starts(texts, order, 0..order.len(), 0);
        let (space, end) =
            (whole[usize::from(b' ')] as usize, whole[usize::from(b' ') + 1] as usize);
        let alone = order[space..end].partition_point(|&id| texts.of(id).len() == 1);
        Self {
            ascii,
            traits: BitRows::of(BROKEN + 1, &marks, order),
            words: bits::words_for(texts.len() as usize),
            points: Points::of(texts, order),
            cut_off: CutOff::of(texts, order),
            long: long.into(),
            spaced: starts(texts, order, space + alone..end, 1),
            whole,
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
        let refused = Refused { rows: vec![self.traits.row(PARTIAL)], ranks: Vec::new() };
        self.sieve_without(refused, parted, class, max_chars, order)
    }

    /// The same where the last character of a pure text may be cut off.
    pub(crate) fn sieve_of_beginnings(
        &self,
        parted: Parted,
        class: &CharSet,
        order: &[u32],
    ) -> Sieve {
        if !class.meets(0x80, char::MAX.into()) {
            return self.sieve(parted, class, None, order);
        }
        let mut refused = Refused { rows: vec![self.traits.row(BROKEN)], ranks: Vec::new() };
        self.cut_off.refuse(class, &mut refused.ranks);
        self.sieve_without(refused, parted, class, None, order)
    }

    fn sieve_without<'a>(
        &'a self,
        mut refused: Refused<'a>,
        parted: Parted,
        class: &CharSet,
        max_chars: Option<u32>,
        order: &[u32],
    ) -> Sieve {
        self.points.refuse(class, &mut refused.rows, &mut refused.ranks);
        let (all, first) = self.part(parted);
        let (all, all_ranks) = all.split_at(self.words);
        let mut lacks = !ascii_in(class);
        if parted == Parted::AfterSpace && lacks & SPACE != 0 {
            lacks ^= SPACE;
            refused.rows.push(self.traits.row(AGAIN));
        }
        self.ascii.find(lacks, &mut refused.rows);
        if let Some(max_chars) = max_chars {
            self.refuse_longer(max_chars.saturating_add(first), &mut refused);
        }
        let Refused { rows, ranks } = refused;
        // What begins with another byte is refused.
        let mut rest = all_ranks.to_vec();
        let mut pure_count = 0;
        let ranges = self.words_that_begin(parted, class);
        for range in &ranges {
            let (rest, all) = (&mut rest[range.clone()], &all_ranks[range.clone()]);
            rest.fill(0);
            unite(rest, &rows, self.words + range.start);
            for (rest, all) in rest.iter_mut().zip(all) {
                *rest &= all;
                pure_count += (all & !*rest).count_ones() as usize;
            }
        }
        for &rank in &ranks {
            if bits::has(all_ranks, rank) {
                bits::insert(&mut rest, rank);
            }
        }
        let pure: Arc<[u32]> = if pure_count <= SINGLES_A_ROW * rows.len() {
            let mut pure = vec![0; self.words];
            for range in ranges {
                for at in range {
                    let mut left = all_ranks[at] & !rest[at];
                    while left != 0 {
                        bits::insert(&mut pure, order[at * 32 + left.trailing_zeros() as usize]);
                        left &= left - 1;
                    }
                }
            }
            pure.into()
        } else {
            let mut refused = vec![0; self.words];
            unite(&mut refused, &rows, 0);
            for &rank in &ranks {
                bits::insert(&mut refused, order[rank as usize]);
            }
            all.iter().zip(&refused).map(|(all, refused)| all & !refused).collect()
        };
        Sieve { pure, rest: rest.into() }
    }

    /// The words of the ranks of all texts of a part that begin with a byte of a character of `class`,
    /// and maybe a few more.
    fn words_that_begin(&self, parted: Parted, class: &CharSet) -> Vec<Range<usize>> {
        let starts = if parted == Parted::Whole { &self.whole } else { &self.spaced };
        let beyond = (0x80, 0xFF);
        let beyond = class.meets(0x80, char::MAX.into()).then_some(beyond);
        let ascii = class.clamp(0, 0x7F);
        let mut found: Vec<Range<usize>> = Vec::new();
        for &(low, high) in ascii.ranges().iter().chain(&beyond) {
            let (from, to) = (starts[low as usize], starts[high as usize + 1]);
            if from == to {
                continue;
            }
            let words = from as usize / 32..bits::words_for(to as usize);
            match found.last_mut() {
                Some(last) if words.start <= last.end => last.end = last.end.max(words.end),
                _ => found.push(words),
            }
        }
        found
    }

    /// The texts of a part, and how many characters come before it.
    fn part(&self, parted: Parted) -> (&[u32], u32) {
        match parted {
            Parted::Whole => (self.traits.row(TEXT), 0),
            Parted::AfterSpace => (self.traits.row(SPACED), 1),
        }
    }

    /// The tokens of a part with more than `most` characters.
    pub(crate) fn longer(&self, parted: Parted, most: u32, order: &[u32]) -> Row {
        let (_, first) = self.part(parted);
        let mut longer = Refused::default();
        self.refuse_longer(most.saturating_add(first), &mut longer);
        self.row_of(parted, &longer, order)
    }

    /// The tokens of a part with one of some bytes of ASCII.
    pub(crate) fn with_ascii(&self, parted: Parted, bytes: &ByteSet) -> Row {
        let mut with = Refused::default();
        let mut wanted = bytes.iter().filter(u8::is_ascii).fold(0, |set, byte| set | 1 << byte);
        if parted == Parted::AfterSpace && wanted & SPACE != 0 {
            wanted ^= SPACE;
            with.rows.push(self.traits.row(AGAIN));
        }
        self.ascii.find(wanted, &mut with.rows);
        self.row_of(parted, &with, &[])
    }

    fn row_of(&self, parted: Parted, of: &Refused, order: &[u32]) -> Row {
        let (all, _) = self.part(parted);
        let mut row = vec![0; all.len()];
        unite(&mut row, &of.rows, 0);
        for &rank in &of.ranks {
            bits::insert(&mut row, order[rank as usize]);
            bits::insert(&mut row[self.words..], rank);
        }
        if parted != Parted::Whole {
            row.iter_mut().zip(all).for_each(|(word, all)| *word &= all);
        }
        Row::new(row, self.words)
    }

    /// Adds the tokens with more than `most` characters.
    fn refuse_longer<'a>(&'a self, most: u32, refused: &mut Refused<'a>) {
        if most < COUNTED {
            refused.rows.push(self.traits.row(most as usize));
            return;
        }
        let longer = self.long.iter().take_while(|(count, _)| *count > most);
        refused.ranks.extend(longer.map(|(_, rank)| rank));
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.ascii.size_in_bytes()
            + self.traits.size_in_bytes()
            + self.points.size_in_bytes()
            + self.cut_off.size_in_bytes()
            + size_of_val(&*self.long)
            + size_of_val(&*self.whole)
            + size_of_val(&*self.spaced)
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
    let counts = (1 << characters.count(id).min(COUNTED)) - 1;
    let partial = u32::from(characters.is_partial(id)) << PARTIAL;
    let (first, rest) = text.split_at(text.len().min(1));
    let is_spaced = u32::from(first == b" " && !rest.is_empty()) << SPACED;
    let is_again = u32::from(rest.contains(&b' ')) << AGAIN;
    let is_broken = characters.is_partial(id) && cut_off(text).is_none();
    let broken = u32::from(is_broken) << BROKEN;
    [counts | partial | is_spaced | is_again | broken]
}

/// All runs of neighbours in ASCII.
fn spans() -> Vec<u128> {
    let below = |at: u32| 1_u128.checked_shl(at).map_or(u128::MAX, |bit| bit - 1);
    let ends = |from: usize| NEIGHBOURS[from + 1..].iter();
    let runs = |from: usize| ends(from).map(move |&to| below(to) & !below(NEIGHBOURS[from]));
    (0..NEIGHBOURS.len() - 1).flat_map(runs).collect()
}

/// Where the ranks of some tokens that have each byte at `place` start, and where those of the last
/// one end.
fn starts(texts: &Texts, order: &[u32], ranks: Range<usize>, place: usize) -> Box<[u32; 257]> {
    let mut starts = Box::new([to_u32(ranks.end); 257]);
    for rank in ranks.rev() {
        let byte = texts.of(order[rank])[place];
        starts[usize::from(byte)] = to_u32(rank);
    }
    for byte in (0..256).rev() {
        starts[byte] = starts[byte].min(starts[byte + 1]);
    }
    starts
}
