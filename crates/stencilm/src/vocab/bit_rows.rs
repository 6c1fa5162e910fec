//! Bitsets of tokens, in two orders at once: by number, to be laid into masks, and by rank
//! (the place in the trie), to cut tries out.
//!
//! A *row* is a bitset by number, padded to whole words, and then one by rank, in one slice, so
//! that one loop serves both.

use crate::vocab::bits;

/// Rows of equal length.
#[derive(Debug)]
pub(crate) struct BitRows {
    length: usize,
    words: Box<[u32]>,
}

impl BitRows {
    /// Row *r* has the tokens whose mark has bit *r* (bit *r % 32* of word *r / 32*). `marks` is
    /// by number, `order` has the number of each rank.
    pub(crate) fn of<const N: usize>(count: usize, marks: &[[u32; N]], order: &[u32]) -> Self {
        let numbers = bits::words_for(marks.len());
        let length = numbers + bits::words_for(order.len());
        let mut rows = Self { length, words: vec![0; count * length].into() };
        rows.fill(0, marks.iter().copied());
        rows.fill(numbers, order.iter().map(|&id| marks[id as usize]));
        rows
    }

    /// Lays the marks into all rows, from the word `at` on.
    fn fill<const N: usize>(
        &mut self,
        mut at: usize,
        mut marks: impl ExactSizeIterator<Item = [u32; N]>,
    ) {
        // Word by word, each write would miss the cache: the rows are far apart.
        const LINE: usize = 16;
        let mut lines = vec![[0; LINE]; 32 * N];
        while marks.len() > 0 {
            let width = bits::words_for(marks.len()).min(LINE);
            for word in 0..width {
                let mut block = [[0; N]; 32];
                for (slot, mark) in block.iter_mut().zip(&mut marks) {
                    *slot = mark;
                }
                transpose(&mut block);
                for (row, line) in lines.iter_mut().enumerate() {
                    line[word] = block[row % 32][row / 32];
                }
            }
            for (row, line) in self.words.chunks_exact_mut(self.length).zip(&lines) {
                row[at..at + width].copy_from_slice(&line[..width]);
            }
            at += width;
        }
    }

    /// One row.
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.words[row * self.length..][..self.length]
    }

    /// The unions of each four neighbours.
    fn united_by_four(&self) -> Self {
        let mut words = Vec::with_capacity(self.words.len() / 4);
        for four in self.words.chunks_exact(4 * self.length) {
            let (a, rest) = four.split_at(self.length);
            let (b, rest) = rest.split_at(self.length);
            let (c, d) = rest.split_at(self.length);
            words.extend((0..self.length).map(|i| a[i] | b[i] | c[i] | d[i]));
        }
        Self { length: self.length, words: words.into() }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// Rows and the unions of neighbouring ones, so that a union of many is one of few.
#[derive(Debug)]
pub(crate) struct RowTree {
    // Invariant: the rows themselves, then the unions of four, of sixteen, … that are aligned;
    // at least one level.
    levels: Vec<BitRows>,
}

impl RowTree {
    /// As [`BitRows::of`]; `count` is at most 128.
    pub(crate) fn of<const N: usize>(count: usize, marks: &[[u32; N]], order: &[u32]) -> Self {
        let mut levels = vec![BitRows::of(count, marks, order)];
        let mut left = count / 4;
        while left > 1 {
            levels.extend(levels.last().map(BitRows::united_by_four));
            left /= 4;
        }
        Self { levels }
    }

    /// Adds the rows whose bits are in `wanted` to `sum`.
    pub(crate) fn unite(&self, sum: &mut [u32], mut wanted: u128) {
        const BLOCK: usize = 2_048;
        let mut rows = Vec::new();
        for (level, rows_of_level) in self.levels.iter().enumerate().rev() {
            let size = 1 << (2 * level);
            let block = (1 << size) - 1;
            for row in 0..rows_of_level.words.len() / rows_of_level.length {
                let bits: u128 = block << (row * size);
                if wanted & bits == bits {
                    rows.push(rows_of_level.row(row));
                    wanted &= !bits;
                }
            }
        }
        // Block by block, so that the sum stays in the nearest cache.
        for (block, sum) in sum.chunks_mut(BLOCK).enumerate() {
            for row in &rows {
                let row = &row[block * BLOCK..][..sum.len()];
                sum.iter_mut().zip(row).for_each(|(sum, word)| *sum |= word);
            }
        }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.levels.iter().map(BitRows::size_in_bytes).sum()
    }
}

/// Swaps rows and columns of N squares of 32 bits by 32, side by side: halves, quarters and so
/// on (Warren, Hacker's Delight, 7-3).
fn transpose<const N: usize>(block: &mut [[u32; N]; 32]) {
    let mut mask = 0x0000_FFFF;
    let mut size = 16;
    while size > 0 {
        for row in (0..32).filter(|row| row & size == 0) {
            let (upper, lower) = block.split_at_mut(row + size);
            for (upper, lower) in upper[row].iter_mut().zip(&mut lower[0]) {
                let swapped = (*upper >> size ^ *lower) & mask;
                *upper ^= swapped << size;
                *lower ^= swapped;
            }
        }
        size /= 2;
        mask ^= mask << size;
    }
}
