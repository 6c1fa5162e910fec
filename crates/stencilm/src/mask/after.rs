//! What comes after an expression, as far as its local result depends on it.

use crate::error::Error;
use crate::grammar::{ByteSet, ContentHash, ExprId};
use crate::interner::Interner;
use crate::mask::Tables;
use crate::residual::places::Places;

/// What comes after an expression: where a text may stand then, and with which bytes it can go on.
///
/// After a wide loop nearly every token has something left, and nearly nothing of it can follow.
/// Results are therefore made for the bytes that do; most have few exits, and are whole for any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct After {
    pub(super) places: Places,
    pub(super) first: First,
}

/// An interned set of bytes that may come next after an expression; exits that begin with others
/// may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct First(u32);

impl First {
    /// Every byte: all exits are asked for.
    pub(super) const ANY: Self = Self(0);
    /// No byte: exits are asked for only where they are few.
    pub(super) const NONE: Self = Self(1);
}

/// The sets that one grammar met.
#[derive(Debug)]
pub(super) struct Firsts(Interner<ByteSet>);

impl Default for Firsts {
    fn default() -> Self {
        let mut sets = Interner::default();
        sets.id(ByteSet::ALL);
        sets.id(ByteSet::EMPTY);
        Self(sets)
    }
}

impl After {
    /// Whatever comes, exits are asked for only where they are few.
    pub(super) fn unseen(places: Places) -> Self {
        Self { places, first: First::NONE }
    }

    /// The same place, and any byte.
    pub(super) fn with_any(self) -> Self {
        Self { first: First::ANY, ..self }
    }

    /// Whether more text comes.
    pub(super) fn goes_on(self) -> bool {
        self.places.goes_on()
    }
}

impl Tables {
    /// The bytes of a set.
    pub(super) fn first_set(&self, first: First) -> ByteSet {
        *self.firsts.0.get(first.0)
    }

    /// While tokens leave an expression at fewer places, all of these are kept.
    pub(super) fn few_exits(&self) -> usize {
        (self.vocabulary.trie().len().saturating_sub(SMALL) / MANY_EXITS) as usize
    }

    /// What comes after an expression that `rest` follows, and after it what comes `after`.
    pub(super) fn before(&mut self, rest: ExprId, after: After) -> Result<After, Error> {
        let places = self.residuals.before(rest, after.places)?;
        let first = if after.goes_on() { self.first_set(after.first) } else { ByteSet::EMPTY };
        let bytes = self.residuals.bytes_after(rest, &first)?;
        Ok(After { places, first: First(self.firsts.0.id(bytes)) })
    }

    /// The bytes that any of these may begin with.
    pub(super) fn first_of(&mut self, ids: &[ExprId]) -> Result<First, Error> {
        let mut bytes = ByteSet::EMPTY;
        for &id in ids {
            bytes = bytes.union(&self.residuals.first_bytes_through_calls(id)?);
        }
        Ok(First(self.firsts.0.id(bytes)))
    }

    /// What the bytes are, in one hash; none for any byte.
    pub(super) fn hash_of_first(&self, first: First) -> Option<ContentHash> {
        let key = &self.residuals.exprs.key;
        let words = self.first_set(first).words();
        (first != First::ANY)
            .then(|| words.iter().fold(key.start(KIND), |hash, &word| hash.with(key, word)))
    }
}

/// One node of the vocabulary's trie in so many: with fewer exits than that, what comes after an
/// expression is not asked what it may begin with.
const MANY_EXITS: u32 = 256;

/// Nodes of a trie that are not counted: for a small vocabulary, as those of tests are, it is always
/// asked.
const SMALL: u32 = 2_000;

/// Tells hashes of these sets from those of other content.
const KIND: u64 = 42;
