//! Partitions of the 256 bytes into classes that an expression cannot tell apart.

use rustc_hash::FxHashMap;

use crate::grammar::ByteSet;
use crate::interner::Interner;

/// An interned partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartitionId(u32);

/// The class of every byte, and how many classes there are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Partition {
    classes: Box<[u8; 256]>,
    count: u32,
}

/// All partitions of one arena, each kept once, with their memoised products.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    items: Interner<Partition>,
    products: FxHashMap<(PartitionId, PartitionId), PartitionId>,
    singles: FxHashMap<u8, PartitionId>,
}

impl Partitions {
    /// The class of `byte`.
    #[inline]
    pub(crate) fn class(&self, id: PartitionId, byte: u8) -> u32 {
        u32::from(self.items.get(id.0).classes[usize::from(byte)])
    }

    /// How many classes there are.
    pub(crate) fn count(&self, id: PartitionId) -> u32 {
        self.items.get(id.0).count
    }

    /// One byte of each class.
    pub(crate) fn representatives(&self, id: PartitionId) -> Vec<u8> {
        let mut seen = [false; 256];
        (0..=u8::MAX)
            .filter(|&byte| !std::mem::replace(&mut seen[self.class(id, byte) as usize], true))
            .collect()
    }

    /// The bytes of some classes.
    pub(crate) fn bytes_of(&self, id: PartitionId, classes: &[bool; 256]) -> ByteSet {
        let of = &self.items.get(id.0).classes;
        (0..=u8::MAX).filter(|&byte| classes[usize::from(of[usize::from(byte)])]).collect()
    }

    /// The bytes in the class of `byte`.
    pub(crate) fn members(&self, id: PartitionId, byte: u8) -> impl Iterator<Item = u8> + '_ {
        let class = self.class(id, byte);
        (0..=u8::MAX).filter(move |&other| self.class(id, other) == class)
    }

    /// All bytes alike.
    pub(crate) fn whole(&mut self) -> PartitionId {
        if self.items.len() == 0 {
            return self.by_label(|_| 0u32);
        }
        // The first partition that is asked for.
        PartitionId(0)
    }

    /// One byte apart from all others.
    pub(crate) fn single(&mut self, byte: u8) -> PartitionId {
        if let Some(&id) = self.singles.get(&byte) {
            return id;
        }
        let id = self.by_label(|b| b == byte);
        self.singles.insert(byte, id);
        id
    }

    /// The bytes of a set apart from the others.
    pub(crate) fn set(&mut self, set: &ByteSet) -> PartitionId {
        self.by_label(|byte| set.contains(byte))
    }

    /// Bytes with the same label share a class; classes are numbered by their first byte.
    pub(crate) fn by_label<L: PartialEq + Copy>(&mut self, label: impl Fn(u8) -> L) -> PartitionId {
        let mut labels: Vec<L> = Vec::new();
        let mut classes = Box::new([0; 256]);
        for byte in 0..=u8::MAX {
            let of = label(byte);
            let class = labels.iter().position(|&l| l == of).unwrap_or_else(|| {
                labels.push(of);
                labels.len() - 1
            });
            classes[usize::from(byte)] = u8::try_from(class).expect("at most 256 classes");
        }
        self.intern(classes, labels.len())
    }

    /// The coarsest partition that refines both.
    pub(crate) fn product(&mut self, a: PartitionId, b: PartitionId) -> PartitionId {
        if a == b {
            return a;
        }
        let pair = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(&id) = self.products.get(&pair) {
            return id;
        }
        // Classes of the product, found by the pair of classes; numbered from 1, 0 for none yet.
        let (left, right) = (self.items.get(a.0), self.items.get(b.0));
        let mut numbers = vec![0_u16; (left.count * right.count) as usize];
        let mut classes = Box::new([0; 256]);
        let mut count = 0;
        for byte in 0..256 {
            let of = u32::from(left.classes[byte]) * right.count + u32::from(right.classes[byte]);
            let number = &mut numbers[of as usize];
            if *number == 0 {
                count += 1;
                *number = count;
            }
            classes[byte] = u8::try_from(*number - 1).expect("at most 256 classes");
        }
        let count = usize::from(count);
        let id = self.intern(classes, count);
        self.products.insert(pair, id);
        id
    }

    /// About how many bytes are held.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.items.len() * 600 + self.products.len() * 16
    }

    fn intern(&mut self, classes: Box<[u8; 256]>, count: usize) -> PartitionId {
        if self.items.len() == 0 && count > 1 {
            self.whole();
        }
        let count = u32::try_from(count).expect("at most 256 classes");
        PartitionId(self.items.id(Partition { classes, count }))
    }
}
