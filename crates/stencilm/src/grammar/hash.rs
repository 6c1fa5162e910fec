//! Keyed 128-bit hashes of content: what the store shares between grammars is found by them.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The secret that makes hashes of content unpredictable to whoever writes grammars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashKey([u64; 4]);

impl HashKey {
    /// A key that nobody knows.
    #[must_use]
    pub fn random() -> Self {
        let state = RandomState::new();
        Self(std::array::from_fn(|i| state.hash_one(i) | 1))
    }

    /// Starts a hash for one kind of content.
    #[must_use]
    pub fn start(&self, kind: u64) -> ContentHash {
        ContentHash([self.0[0], self.0[1]]).with(self, kind)
    }
}

/// A 128-bit hash of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u64; 2]);

impl ContentHash {
    /// The hash of this content followed by `word`.
    #[must_use]
    pub fn with(self, key: &HashKey, word: u64) -> Self {
        Self([
            folded(self.0[0] ^ word, key.0[2]).wrapping_add(self.0[1]),
            folded(self.0[1] ^ word.rotate_left(32), key.0[3]) ^ self.0[0].rotate_left(17),
        ])
    }

    /// The hash of this content followed by another's.
    #[must_use]
    pub fn with_hash(self, key: &HashKey, other: Self) -> Self {
        self.with(key, other.0[0]).with(key, other.0[1])
    }

    /// The hash of this content followed by `bytes` and their number.
    #[must_use]
    pub fn with_bytes(self, key: &HashKey, bytes: &[u8]) -> Self {
        let mut hash = self.with(key, bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = hash.with(key, u64::from_le_bytes(word));
        }
        hash
    }

    /// The hash of this content followed by a value's, which is the same in every process.
    #[must_use]
    pub(crate) fn with_value(self, key: &HashKey, value: &impl Hash) -> Self {
        let mut hasher = ContentHasher { key, hash: self };
        value.hash(&mut hasher);
        hasher.hash
    }

    /// The sixteen bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.0[0].to_le_bytes());
        bytes[8..].copy_from_slice(&self.0[1].to_le_bytes());
        bytes
    }
}

/// Feeds all that a value hashes into a content hash.
struct ContentHasher<'k> {
    key: &'k HashKey,
    hash: ContentHash,
}

impl Hasher for ContentHasher<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.hash = self.hash.with_bytes(self.key, bytes);
    }

    fn write_u64(&mut self, word: u64) {
        self.hash = self.hash.with(self.key, word);
    }

    fn finish(&self) -> u64 {
        self.hash.0[0]
    }
}

/// Both halves of the 128-bit product: each bit of the input reaches all of the output.
fn folded(a: u64, b: u64) -> u64 {
    let bytes = (u128::from(a) * u128::from(b)).to_le_bytes();
    let [low, high] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i])));
    low ^ high
}
