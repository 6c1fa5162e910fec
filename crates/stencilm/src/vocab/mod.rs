//! The vocabulary of a model: what each token spells, and how to find tokens by what they
//! spell.
//!
//! In: the bytes of every token, from the tokenizer's own tables. Out: a trie, and an index of
//! tokens by their characters. Nothing here knows of grammars.

mod below;
mod bit_rows;
pub(crate) mod bits;
mod characters;
mod cut_off;
mod file;
mod indexed_trie;
mod items;
mod named;
mod points;
mod quoted;
mod row;
mod sieve;
mod string_signs;
mod texts;
mod tiling;
mod trie;
mod trie_builder;

use std::fmt;

use crate::{
    error::Error,
    grammar::{ByteSet, CharSet, ContentHash, HashKey},
};

pub use below::Below;
pub use indexed_trie::IndexedTrie;
pub use items::{Joint, Joints};
pub(crate) use named::NamedTokens;
pub use quoted::{Quoted, Rejoined};
pub(crate) use row::Row;
pub use sieve::{Parted, Sieve};
pub(crate) use string_signs::StringSigns;
pub use tiling::Tiling;
pub(crate) use trie::Node;
pub use trie::Trie;

use below::BelowIndex;
use characters::Characters;
use sieve::SieveIndex;
use texts::Texts;

/// The tokens of a model. Immutable: share one behind an [`Arc`](std::sync::Arc).
///
/// Tokens are numbers from 0 to [`size`](Self::size); text has no meaning for those without
/// bytes. A text may belong to several tokens.
///
/// ```
/// use stencilm::vocab::Vocabulary;
///
/// let tokens = [Some("a"), Some("ab"), Some("é"), None, None];
/// let special = [("<end>".to_owned(), 3), ("<pad>".to_owned(), 4)];
/// let vocabulary = Vocabulary::new(tokens, special, [3])?;
/// assert_eq!(vocabulary.size(), 5);
/// assert_eq!(vocabulary.token_bytes(2), Some("é".as_bytes()));
/// assert_eq!(vocabulary.token_bytes(3), None);
/// assert_eq!(vocabulary.special_id("<end>"), Some(3));
/// # Ok::<(), stencilm::Error>(())
/// ```
pub struct Vocabulary {
    key: HashKey,
    hash: ContentHash,
    texts: Texts,
    // Invariant: sorted by name; names are distinct, numbers below the size.
    special: Box<[(String, u32)]>,
    // Invariant: rising, distinct, below the size.
    stop: Box<[u32]>,
    trie: IndexedTrie,
    below: BelowIndex,
    characters: Characters,
    sieves: SieveIndex,
    quoted: Quoted,
    string_signs: StringSigns,
    joints: Joints,
    spellable: ByteSet,
    used: ByteSet,
    tiling: Option<Tiling>,
    longest_bytes: u32,
    most_digits: u32,
}

impl Vocabulary {
    /// Indexes the tokens of a model: the bytes of token 0, 1, 2, …; `None` for those that
    /// stand for no text. Special tokens are known by name, stop tokens end an output; either
    /// may have a text besides.
    ///
    /// # Errors
    /// [`ErrorKind::Vocabulary`](crate::ErrorKind): no token has a text, a text is longer than
    /// 65,535 bytes, there are more than 4,194,304 tokens or 32 MiB of texts, a special or stop
    /// token does not exist, or two special tokens have one name.
    pub fn new<T: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = Option<T>>,
        special: impl IntoIterator<Item = (String, u32)>,
        stop: impl IntoIterator<Item = u32>,
    ) -> Result<Self, Error> {
        let texts = Texts::new(tokens)?;
        let order = texts.sorted();
        let special = special.into_iter().collect();
        Self::from_parts(texts, &order, special, stop.into_iter().collect())
    }

    /// Indexes texts whose order by text is known.
    fn from_parts(
        texts: Texts,
        order: &[u32],
        special: Vec<(String, u32)>,
        stop: Vec<u32>,
    ) -> Result<Self, Error> {
        if order.is_empty() {
            return Err(Error::vocabulary("no token of the vocabulary has a text"));
        }
        let special = checked_special(special, texts.len())?;
        let stop = checked_stop(stop, texts.len())?;
        let trie = Trie::from_sorted(order.iter().map(|&id| (texts.of(id), id)));
        let mut spellable = ByteSet::EMPTY;
        for child in trie.children(0) {
            if !trie.tokens_at(child).is_empty() {
                spellable.insert(trie.byte(child));
            }
        }
        let used = (1..trie.len()).map(|node| trie.byte(node)).collect();
        let characters = Characters::of(&texts);
        // As the texts lie in memory.
        let all = || (0..texts.len()).map(|id| texts.of(id));
        let longest_bytes = all().map(|text| trie_builder::to_u32(text.len())).max();
        let most_digits = all().map(digits_of_a_number).max();
        let key = HashKey::random();
        Ok(Self {
            key,
            hash: content_hash(&key, &texts, &trie, &special, &stop),
            below: BelowIndex::of(&trie, &characters),
            sieves: SieveIndex::of(&texts, &characters, order),
            tiling: Tiling::of(&trie, &spellable),
            quoted: Quoted::of(&texts, order),
            string_signs: StringSigns::of(&texts, order, &key),
            joints: Joints::of(&texts, order),
            texts,
            special,
            stop,
            trie: IndexedTrie::new(trie),
            characters,
            spellable,
            used,
            longest_bytes: longest_bytes.unwrap_or(0),
            most_digits: most_digits.unwrap_or(0),
        })
    }

    /// The number of tokens, those without text included.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.texts.len()
    }

    /// The number of 32-bit words of a mask.
    #[must_use]
    pub fn words(&self) -> usize {
        bits::words_for(self.size() as usize)
    }

    /// What the token spells: `None` if there is no such token or if it stands for no text.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.texts.get(id)
    }

    /// How many characters the token touches: for whole UTF-8 its number of characters; a
    /// character of which it has a part counts. 0 if there is no such token.
    #[must_use]
    pub fn token_chars(&self, id: u32) -> u32 {
        if id < self.size() { self.characters.count(id) } else { 0 }
    }

    /// Whether the token's bytes are not whole UTF-8.
    #[must_use]
    pub fn is_partial(&self, id: u32) -> bool {
        self.characters.is_partial(id)
    }

    /// The special token of this name.
    #[must_use]
    pub fn special_id(&self, name: &str) -> Option<u32> {
        let at = self.special.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok()?;
        Some(self.special[at].1)
    }

    /// The special tokens by name, sorted.
    #[must_use]
    pub fn special(&self) -> &[(String, u32)] {
        &self.special
    }

    /// The tokens that end an output, rising.
    #[must_use]
    pub fn stop_ids(&self) -> &[u32] {
        &self.stop
    }

    /// All tokens that spell at least one byte.
    #[must_use]
    pub fn trie(&self) -> &Trie {
        self.trie.trie()
    }

    /// The trie with an index of its widest nodes' children.
    #[must_use]
    pub fn indexed_trie(&self) -> &IndexedTrie {
        &self.trie
    }

    /// The trie's node for the text that is this one byte.
    #[must_use]
    #[inline]
    pub fn root_child(&self, byte: u8) -> Option<u32> {
        self.trie.child(0, byte)
    }

    /// What occurs strictly below a node of the trie. Known for nodes with at least eight
    /// tokens below, that is, where a walk saves something by knowing.
    ///
    /// ```
    /// use stencilm::{grammar::ByteSet, vocab::Vocabulary};
    ///
    /// let tokens = (b'a'..=b'z').map(|byte| Some([b'x', byte]));
    /// let vocabulary = Vocabulary::new(tokens, [], [])?;
    /// let x = vocabulary.root_child(b'x').expect("all tokens begin with it");
    /// let below = vocabulary.below(x).expect("it has 26 tokens below");
    /// assert_eq!((below.bytes, below.chars), (ByteSet::range(b'a', b'z'), 1));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn below(&self, node: u32) -> Option<&Below> {
        self.below.get(node)
    }

    /// Parts the tokens with text in those made only of characters of `class` (the scalar
    /// values that may stand as they are), at most `max_chars` of them, and the rest.
    ///
    /// ```
    /// use stencilm::{grammar::CharSet, vocab::Vocabulary};
    ///
    /// let vocabulary = Vocabulary::new([Some("ab"), Some("b1"), Some("é"), Some("aaa")], [], [])?;
    /// let letters = CharSet::new([('a', 'z')]);
    /// assert_eq!(vocabulary.sieve(&letters, None).pure()[..], [0b1001]);
    /// let sieve = vocabulary.sieve(&letters, Some(2));
    /// assert_eq!((sieve.pure()[0], sieve.rest_count()), (0b0001, 3));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    #[must_use]
    pub fn sieve(&self, class: &CharSet, max_chars: Option<u32>) -> Sieve {
        self.sieve_of(Parted::Whole, class, max_chars)
    }

    /// The same for some part of the tokens' texts.
    ///
    /// ```
    /// use stencilm::{grammar::CharSet, vocab::{Parted, Vocabulary}};
    ///
    /// let vocabulary = Vocabulary::new([Some("ab"), Some(" ab"), Some(" a b"), Some(" ")], [], [])?;
    /// let letters = CharSet::new([('a', 'z')]);
    /// let sieve = vocabulary.sieve_of(Parted::AfterSpace, &letters, None);
    /// assert_eq!((sieve.pure()[0], sieve.rest_count()), (0b0010, 1));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    #[must_use]
    pub fn sieve_of(&self, parted: Parted, class: &CharSet, max_chars: Option<u32>) -> Sieve {
        self.sieves.sieve(parted, class, max_chars, self.trie().tokens())
    }

    /// The same for a class alone, where of the last character of a pure text the end may be missing: some
    /// character of the class begins so.
    ///
    /// ```
    /// use stencilm::{grammar::CharSet, vocab::{Parted, Vocabulary}};
    ///
    /// let tokens: [&[u8]; 3] = [b"a\xC3", b"a\xD0", b"\xA9"];
    /// let vocabulary = Vocabulary::new(tokens.map(Some), [], [])?;
    /// let latin = CharSet::new([('a', 'z'), ('é', 'é')]);
    /// let sieve = vocabulary.sieve_of_beginnings(Parted::Whole, &latin);
    /// assert_eq!((sieve.pure()[0], sieve.rest_count()), (0b001, 2));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    #[must_use]
    pub fn sieve_of_beginnings(&self, parted: Parted, class: &CharSet) -> Sieve {
        self.sieves.sieve_of_beginnings(parted, class, self.trie().tokens())
    }

    /// The tokens of some part with more than `most` characters.
    pub(crate) fn longer(&self, parted: Parted, most: u32) -> Row {
        self.sieves.longer(parted, most, self.trie().tokens())
    }

    /// The tokens of some part with one of some bytes of ASCII.
    pub(crate) fn with_ascii(&self, parted: Parted, bytes: &ByteSet) -> Row {
        self.sieves.with_ascii(parted, bytes)
    }

    /// The tokens in which an item of an array may end and another one begin.
    #[must_use]
    pub fn joints(&self) -> &Joints {
        &self.joints
    }

    /// The tokens with quotes, by the member names in them.
    #[must_use]
    pub fn quoted(&self) -> &Quoted {
        &self.quoted
    }

    /// The tokens with a quote or a backslash.
    pub(crate) fn string_signs(&self) -> &StringSigns {
        &self.string_signs
    }

    /// The most characters that one token touches.
    #[must_use]
    pub fn longest_chars(&self) -> u32 {
        self.characters.longest()
    }

    /// The most bytes of a token.
    #[must_use]
    pub fn longest_bytes(&self) -> u32 {
        self.longest_bytes
    }

    /// The most digits that one token adds to a number.
    #[must_use]
    pub fn most_digits(&self) -> u32 {
        self.most_digits
    }

    /// The bytes that some token has.
    #[must_use]
    pub fn used_bytes(&self) -> ByteSet {
        self.used
    }

    /// The bytes that are tokens of their own.
    #[must_use]
    pub fn spellable(&self) -> ByteSet {
        self.spellable
    }

    /// Whether every byte is a token of its own, so that any text can be spelled.
    #[must_use]
    pub fn is_byte_complete(&self) -> bool {
        self.spellable == ByteSet::ALL
    }

    /// How tokens lie side by side in a text; none if every byte is a token of its own.
    #[must_use]
    #[inline]
    pub fn tiling(&self) -> Option<&Tiling> {
        self.tiling.as_ref()
    }

    /// The secret of this vocabulary, with which content is hashed.
    #[must_use]
    pub fn key(&self) -> &HashKey {
        &self.key
    }

    /// The hash of the whole content under [`key`](Self::key).
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.hash
    }

    /// The memory it takes, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of::<Self>()
            + self.texts.size_in_bytes()
            + self.trie.size_in_bytes()
            + self.below.size_in_bytes()
            + self.characters.size_in_bytes()
            + self.sieves.size_in_bytes()
            + self.tiling.as_ref().map_or(0, Tiling::size_in_bytes)
            + self.quoted.size_in_bytes()
            + self.string_signs.size_in_bytes()
            + self.joints.size_in_bytes()
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("size", &self.size()).finish_non_exhaustive()
    }
}

/// What the hash of a vocabulary starts with.
const KIND: u64 = u64::from_be_bytes(*b"tokens  ");

/// Sorted by name; every token exists and every name is there once.
fn checked_special(
    mut special: Vec<(String, u32)>,
    size: u32,
) -> Result<Box<[(String, u32)]>, Error> {
    if let Some((name, id)) = special.iter().find(|(_, id)| *id >= size) {
        let message =
            format!("the special token `{name}` is number {id}, but the vocabulary has {size}");
        return Err(Error::vocabulary(message));
    }
    special.sort_unstable();
    if let Some(twice) = special.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message = format!("two special tokens have the name `{}`", twice[0].0);
        return Err(Error::vocabulary(message));
    }
    Ok(special.into())
}

/// Sorted; every token exists.
fn checked_stop(mut stop: Vec<u32>, size: u32) -> Result<Box<[u32]>, Error> {
    if let Some(id) = stop.iter().find(|id| **id >= size) {
        let message = format!("the stop token is number {id}, but the vocabulary has {size}");
        return Err(Error::vocabulary(message));
    }
    stop.sort_unstable();
    stop.dedup();
    Ok(stop.into())
}

fn content_hash(
    key: &HashKey,
    texts: &Texts,
    trie: &Trie,
    special: &[(String, u32)],
    stop: &[u32],
) -> ContentHash {
    // The trie tells every text that is not empty; what remains is which others are absent.
    let mut hash = key.start(KIND).with(key, texts.len().into());
    hash = hash.with_hash(key, trie.content_hash(key));
    hash = texts.absent().iter().fold(hash, |hash, &word| hash.with(key, word.into()));
    for (name, id) in special {
        hash = hash.with_bytes(key, name.as_bytes()).with(key, (*id).into());
    }
    stop.iter().fold(hash.with(key, special.len() as u64), |hash, &id| hash.with(key, id.into()))
}

/// The most digits in a run of bytes that numbers have.
fn digits_of_a_number(text: &[u8]) -> u32 {
    let (mut most, mut run) = (0, 0);
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                run += 1;
                most = run.max(most);
            }
            b'+' | b'-' | b'.' | b'e' | b'E' => {}
            _ => run = 0,
        }
    }
    most
}
