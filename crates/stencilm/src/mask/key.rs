//! Keys of masks: equal exactly where the masks are equal, however those were put together.

use std::sync::OnceLock;

use crate::grammar::{ContentHash, HashKey};
use crate::mask::{Mask, insert};

/// Tells hashes of masks from those of other content.
const KIND: u64 = 41;

/// The keys of one mask, once they were asked for: without the stop tokens and with them.
pub(super) type Keys = OnceLock<Box<[ContentHash; 2]>>;

impl Mask {
    /// The hash of the set, with the tokens in `stops` if the text may end. `words` is the width of
    /// the vocabulary.
    pub(crate) fn key(
        &self,
        key: &HashKey,
        words: usize,
        stops: &[u32],
        may_stop: bool,
    ) -> ContentHash {
        let both = self.keys.get_or_init(|| {
            let mut row = vec![0; words];
            self.write(&mut row);
            let without = key_of(key, &row);
            for &stop in stops {
                insert(&mut row, stop);
            }
            Box::new([without, key_of(key, &row)])
        });
        both[usize::from(may_stop)]
    }
}

/// The hash of a set of tokens, one bit a token.
pub(crate) fn key_of(key: &HashKey, row: &[u32]) -> ContentHash {
    let pairs = row.chunks(2).map(|pair| match *pair {
        [low, high] => u64::from(low) | u64::from(high) << 32,
        _ => u64::from(pair[0]),
    });
    pairs.fold(key.start(KIND), |hash, word| hash.with(key, word))
}
