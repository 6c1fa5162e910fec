//! The bytes of all tokens in one buffer.

use crate::{
    error::Error,
    vocab::{bits, trie_builder::to_u32},
};

/// 65,535: no tokenizer comes near (the longest token of the usual ones has 128 to 512 bytes),
/// and a length fits into two bytes.
const LONGEST_TOKEN: usize = u16::MAX as usize;
/// 4,194,304: sixteen times the largest vocabulary we know. A bitset of it takes 512 KiB.
const MOST_TOKENS: usize = 1 << 22;
/// 32 MiB: ten times the largest vocabulary we know. A trie of it takes 300 MB.
const MOST_BYTES: usize = 32 << 20;

/// What each token spells.
#[derive(Debug)]
pub(crate) struct Texts {
    bytes: Box<[u8]>,
    // Invariant: one more than there are tokens, rising; the last is the number of bytes.
    starts: Box<[u32]>,
    // Invariant: a bitset of the tokens that stand for no text; theirs is empty.
    absent: Box<[u32]>,
}

impl Texts {
    /// Copies the tokens' texts.
    ///
    /// # Errors
    /// There are too many of them, or one is too long, or all together are.
    pub(crate) fn new<T: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = Option<T>>,
    ) -> Result<Self, Error> {
        let tokens = tokens.into_iter();
        let expected = tokens.size_hint().0.min(MOST_TOKENS);
        let mut bytes = Vec::with_capacity(expected.saturating_mul(8).min(MOST_BYTES));
        let mut starts = Vec::with_capacity(expected + 1);
        let mut absent = Vec::with_capacity(bits::words_for(expected));
        starts.push(0);
        for (id, text) in tokens.enumerate() {
            if id == MOST_TOKENS {
                let message = format!("the vocabulary has more than {MOST_TOKENS} tokens");
                return Err(Error::vocabulary(message));
            }
            if id % 32 == 0 {
                absent.push(0);
            }
            match &text {
                None => bits::insert(&mut absent, to_u32(id)),
                Some(text) => {
                    let text = text.as_ref();
                    check_length(id, text.len(), bytes.len())?;
                    bytes.extend_from_slice(text);
                }
            }
            starts.push(to_u32(bytes.len()));
        }
        Ok(Self { bytes: bytes.into(), starts: starts.into(), absent: absent.into() })
    }

    /// The texts of these lengths in a row.
    ///
    /// # Errors
    /// The parts do not fit together, or a limit is passed.
    pub(crate) fn from_lengths(
        bytes: &[u8],
        lengths: impl ExactSizeIterator<Item = u16>,
        absent: Vec<u32>,
    ) -> Result<Self, Error> {
        let size = lengths.len();
        if size > MOST_TOKENS || bytes.len() > MOST_BYTES {
            return Err(Error::vocabulary("the vocabulary is too big"));
        }
        let mut starts = Vec::with_capacity(size + 1);
        let mut end = 0;
        starts.push(end);
        let mut fits = absent.len() == bits::words_for(size);
        for (id, length) in (0..).zip(lengths) {
            end = u32::saturating_add(end, length.into());
            starts.push(end);
            fits &= length == 0 || !bits::has(&absent, id);
        }
        let beyond = bits::ones(&absent, to_u32(size), to_u32(absent.len() * 32)).next();
        if !fits || end as usize != bytes.len() || beyond.is_some() {
            return Err(Error::vocabulary("the lengths of the tokens do not fit their bytes"));
        }
        Ok(Self { bytes: bytes.into(), starts: starts.into(), absent: absent.into() })
    }

    /// The number of tokens.
    pub(crate) fn len(&self) -> u32 {
        to_u32(self.starts.len() - 1)
    }

    /// The text of a token that exists; empty if it stands for none.
    #[inline]
    pub(crate) fn of(&self, id: u32) -> &[u8] {
        let id = id as usize;
        &self.bytes[self.starts[id] as usize..self.starts[id + 1] as usize]
    }

    /// The text of a token, if it exists and stands for one.
    pub(crate) fn get(&self, id: u32) -> Option<&[u8]> {
        (id < self.len() && !bits::has(&self.absent, id)).then(|| self.of(id))
    }

    /// The texts of all tokens in a row.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The length of each text.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u16> + '_ {
        let length =
            |id| u16::try_from(self.of(id).len()).expect("a text has at most 65,535 bytes");
        (0..self.len()).map(length)
    }

    /// The bitset of tokens that stand for no text.
    pub(crate) fn absent(&self) -> &[u32] {
        &self.absent
    }

    /// All tokens that spell at least one byte, by text and then by number.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let ids = (0..self.len()).filter(|&id| !self.of(id).is_empty());
        // The first eight bytes as one number decide nearly all comparisons.
        let mut keyed: Vec<(u64, u32)> = ids.map(|id| (head(self.of(id)), id)).collect();
        keyed.sort_unstable_by(|a, b| {
            let by_text = || self.of(a.1).cmp(self.of(b.1));
            a.0.cmp(&b.0).then_with(by_text).then(a.1.cmp(&b.1))
        });
        keyed.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether `order` is what [`sorted`](Self::sorted) answers.
    pub(crate) fn is_sorted(&self, order: &[u32]) -> bool {
        let expected = (0..self.len()).filter(|&id| !self.of(id).is_empty()).count();
        let exists = |&id: &u32| id < self.len() && !self.of(id).is_empty();
        // Strictly rising tokens are distinct: if they are as many, none is missing.
        order.len() == expected
            && order.iter().all(exists)
            && order.is_sorted_by(|a, b| (self.of(*a), a) < (self.of(*b), b))
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.bytes.len() + (self.starts.len() + self.absent.len()) * size_of::<u32>()
    }
}

/// Refuses a text that is too long, alone or together with those before.
fn check_length(id: usize, length: usize, before: usize) -> Result<(), Error> {
    if length > LONGEST_TOKEN {
        let message =
            format!("token {id} has {length} bytes, and at most {LONGEST_TOKEN} are allowed");
        return Err(Error::vocabulary(message));
    }
    if before + length > MOST_BYTES {
        let message = format!("the tokens have more than {MOST_BYTES} bytes together");
        return Err(Error::vocabulary(message));
    }
    Ok(())
}

/// The first eight bytes, as a number that orders like them.
fn head(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(bytes)
}
