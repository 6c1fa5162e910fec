//! Vocabularies as bytes, to be kept in a cache: loading them is faster than reading a
//! tokenizer's own files.
//!
//! In: bytes that may have been damaged or forged. Out: a vocabulary that is sound, or an
//! error; what is allocated stays in proportion to the bytes.
//!
//! All numbers are little endian. The header is `MAGIC`, the version (`u32`), the length of what
//! follows (`u64`) and its checksum (`u64`). Then come five counts (`u32` each: tokens, bytes of
//! texts, tokens with text, stop tokens, special tokens), and, one after another, the length of
//! each text (`u16`), the bitset of tokens without text, the texts, the tokens in trie order, the
//! stop tokens, and each special token's number, length of name, and name. The trie and the
//! indexes are made anew, since that takes no longer than checking them would.

use crate::{
    error::Error,
    vocab::{Vocabulary, bits, texts::Texts, trie_builder::to_u32},
};

const MAGIC: &[u8; 8] = b"STNCLVOC";
const VERSION: u32 = 1;

impl Vocabulary {
    /// The vocabulary as bytes, for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let texts = &self.texts;
        let order = self.trie().tokens();
        let counts =
            [texts.bytes().len(), order.len(), self.stop.len(), self.special.len()].map(to_u32);
        put_words(&mut content, &[self.size()]);
        put_words(&mut content, &counts);
        content.extend(texts.lengths().flat_map(u16::to_le_bytes));
        put_words(&mut content, texts.absent());
        content.extend_from_slice(texts.bytes());
        put_words(&mut content, order);
        put_words(&mut content, &self.stop);
        for (name, id) in &self.special {
            put_words(&mut content, &[*id, to_u32(name.len())]);
            content.extend_from_slice(name.as_bytes());
        }
        let mut bytes = MAGIC.to_vec();
        put_words(&mut bytes, &[VERSION]);
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&content).to_le_bytes());
        bytes.append(&mut content);
        bytes
    }

    /// The vocabulary that [`to_bytes`](Self::to_bytes) has written. Its key is a new one.
    ///
    /// ```
    /// use stencilm::vocab::Vocabulary;
    ///
    /// let vocabulary = Vocabulary::new([Some("a"), None], [("<end>".to_owned(), 1)], [1])?;
    /// let bytes = vocabulary.to_bytes();
    /// assert_eq!(Vocabulary::from_bytes(&bytes)?.stop_ids(), [1]);
    /// assert!(Vocabulary::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Vocabulary`](crate::ErrorKind): the bytes are no vocabulary of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader { left: bytes };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(damaged("do not begin like one"));
        }
        let version = reader.word()?;
        if version != VERSION {
            let message = format!(
                "the saved vocabulary has version {version}, and this is version {VERSION}: save it again"
            );
            return Err(Error::vocabulary(message));
        }
        let (length, sum) = (reader.long()?, reader.long()?);
        if length != reader.left.len() as u64 {
            return Err(damaged("are cut off or too many"));
        }
        if sum != checksum(reader.left) {
            return Err(damaged("do not have their checksum"));
        }
        Self::from_content(reader)
    }

    /// Reads what follows the header.
    fn from_content(mut reader: Reader) -> Result<Self, Error> {
        let mut count = || reader.word().map(|count| count as usize);
        let (size, text_bytes, ranks) = (count()?, count()?, count()?);
        let (stops, specials) = (count()?, count()?);
        let lengths = reader.take(size.saturating_mul(2))?.chunks_exact(2);
        let absent = reader.words(bits::words_for(size))?;
        let texts = reader.take(text_bytes)?;
        let lengths = lengths.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let texts = Texts::from_lengths(texts, lengths, absent)?;
        let order = reader.words(ranks)?;
        if !texts.is_sorted(&order) {
            return Err(damaged("do not have the tokens in order"));
        }
        let stop = reader.words(stops)?;
        let mut special = Vec::new();
        for _ in 0..specials {
            let (id, length) = (reader.word()?, reader.word()?);
            let name = std::str::from_utf8(reader.take(length as usize)?)
                .map_err(|_| damaged("have a name that is not UTF-8"))?;
            special.push((name.to_owned(), id));
        }
        if !reader.left.is_empty() {
            return Err(damaged("are too many"));
        }
        Self::from_parts(texts, &order, special, stop)
    }
}

/// What has not been read yet.
struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, left) =
            self.left.split_at_checked(length).ok_or_else(|| damaged("are cut off"))?;
        self.left = left;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32, Error> {
        self.take(4).map(to_word)
    }

    fn long(&mut self) -> Result<u64, Error> {
        self.take(8).map(to_long)
    }

    fn words(&mut self, count: usize) -> Result<Vec<u32>, Error> {
        Ok(self.take(count.saturating_mul(4))?.chunks_exact(4).map(to_word).collect())
    }
}

fn to_word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn to_long(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn put_words(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn damaged(how: &str) -> Error {
    Error::vocabulary(format!("the bytes of the saved vocabulary {how}"))
}

/// Tells damage, not malice: whatever passes is checked piece by piece.
fn checksum(bytes: &[u8]) -> u64 {
    // The golden ratio: an odd number without structure.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    bytes.chunks(8).fold(bytes.len() as u64, |sum, chunk| {
        ((sum ^ to_long(chunk)).wrapping_mul(FACTOR)).rotate_left(29)
    })
}
