//! The tokens with a sign that a JSON string cannot have inside as it is, a quote or a backslash: what
//! a string makes of the others, its characters alone tell.

use std::sync::Arc;

use crate::grammar::{ByteSet, ContentHash, HashKey};
use crate::vocab::bits;
use crate::vocab::texts::Texts;
use crate::vocab::trie::Trie;

/// These tokens, close together: in the trie of all tokens they lie far apart.
#[derive(Debug)]
pub(crate) struct StringSigns {
    trie: Arc<Trie>,
    hash: ContentHash,
    // Invariant: a bitset by number.
    tokens: Box<[u32]>,
}

impl StringSigns {
    /// Collects the tokens; `order` has the number of each rank.
    pub(crate) fn of(texts: &Texts, order: &[u32], key: &HashKey) -> Self {
        let signs = Self::bytes();
        let has_sign = |&id: &u32| texts.of(id).iter().any(|&byte| signs.contains(byte));
        let with_sign: Vec<u32> = order.iter().copied().filter(has_sign).collect();
        let trie = Trie::from_sorted(with_sign.iter().map(|&id| (texts.of(id), id)));
        let mut tokens = bits::none_of(texts.len() as usize);
        for &id in &with_sign {
            bits::insert(&mut tokens, id);
        }
        Self { hash: trie.content_hash(key), trie: Arc::new(trie), tokens: tokens.into() }
    }

    /// The signs.
    pub(crate) fn bytes() -> ByteSet {
        b"\"\\".iter().copied().collect()
    }

    /// The tokens.
    pub(crate) fn trie(&self) -> &Arc<Trie> {
        &self.trie
    }

    /// The hash of the trie's content.
    pub(crate) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The tokens by number, laid out like a mask.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.trie.size_in_bytes() + size_of_val(&*self.tokens)
    }
}
