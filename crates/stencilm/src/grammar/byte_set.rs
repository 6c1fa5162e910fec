//! Sets of bytes, as four words of bits.

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: Self = Self([0; 4]);
    /// Every byte.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// The bytes `low..=high`.
    #[must_use]
    pub fn range(low: u8, high: u8) -> Self {
        let mut set = Self::EMPTY;
        for byte in low..=high {
            set.insert(byte);
        }
        set
    }

    /// Whether `byte` is in the set.
    #[must_use]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Adds `byte`.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Takes `byte` out.
    pub fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    /// The bytes of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// The bytes of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The bytes of this set that `other` lacks.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Whether no byte is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Whether every byte of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// How many bytes are in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The bytes in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        let bytes = |(word, bits): (u8, &u64)| {
            let rest = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
            let bits = Some(*bits).filter(|&bits| bits != 0);
            std::iter::successors(bits, rest)
                .map(move |left| word * 64 + u8::try_from(left.trailing_zeros()).unwrap_or(0))
        };
        (0..4).zip(&self.0).flat_map(bytes)
    }

    /// The four words, lowest bytes first.
    #[must_use]
    pub fn words(&self) -> [u64; 4] {
        self.0
    }

    /// Whether no byte is in both sets.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).is_empty()
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<T: IntoIterator<Item = u8>>(bytes: T) -> Self {
        let mut set = Self::EMPTY;
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}
