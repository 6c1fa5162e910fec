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

    /// The unions of the rows in each of some sets of rows.
    fn united(&self, sets: &[u128]) -> Self {
        let mut words = vec![0; sets.len() * self.length];
        for (sum, set) in words.chunks_exact_mut(self.length).zip(sets) {
            let rows: Vec<&[u32]> =
                (0..128).filter(|row| set >> row & 1 == 1).map(|row| self.row(row)).collect();
            unite(sum, &rows, 0);
        }
        Self { length: self.length, words: words.into() }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// Rows and unions of them, so that a union of many is one of few.
#[derive(Debug)]
pub(crate) struct RowTree {
    // Invariant: the rows themselves, then the unions of four, of sixteen, … that are aligned;
    // at least one level.
    levels: Vec<BitRows>,
    // Invariant: sets of rows that are often asked for together, the largest first, and their unions.
    spans: Vec<u128>,
    of_spans: BitRows,
}

impl RowTree {
    /// As [`BitRows::of`]; `count` is at most 128. `spans` are sets of rows that are often asked for
    /// together.
    pub(crate) fn of<const N: usize>(
        count: usize,
        marks: &[[u32; N]],
        order: &[u32],
        mut spans: Vec<u128>,
    ) -> Self {
        let mut levels = vec![BitRows::of(count, marks, order)];
        let mut left = count / 4;
        while left > 4 {
            levels.extend(levels.last().map(BitRows::united_by_four));
            left /= 4;
        }
        spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.count_ones()));
        let of_spans = levels[0].united(&spans);
        Self { levels, spans, of_spans }
    }

    /// Adds rows to `rows` whose union is that of those whose bits are in `wanted`.
    pub(crate) fn find<'a>(&'a self, wanted: u128, rows: &mut Vec<&'a [u32]>) {
        let mut left = wanted;
        let mut take = |bits: u128, row: &'a [u32]| {
            if wanted & bits == bits && left & bits != 0 {
                rows.push(row);
                left &= !bits;
            }
        };
        for (at, &span) in self.spans.iter().enumerate() {
            take(span, self.of_spans.row(at));
        }
        for (level, rows_of_level) in self.levels.iter().enumerate().rev() {
            let size = 1 << (2 * level);
            let block = (1 << size) - 1;
            for row in 0..rows_of_level.words.len() / rows_of_level.length {
                take(block << (row * size), rows_of_level.row(row));
            }
        }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let levels: usize = self.levels.iter().map(BitRows::size_in_bytes).sum();
        levels + self.of_spans.size_in_bytes()
    }
}

/// Adds the words of all `rows` from `at` on to `sum`.
pub(crate) fn unite(sum: &mut [u32], rows: &[&[u32]], at: usize) {
    const BLOCK: usize = 1_024;
    // Block by block, so that the sum stays in the nearest cache, and four rows at once.
    for (block, sum) in sum.chunks_mut(BLOCK).enumerate() {
        let from = at + block * BLOCK;
        let mut fours = rows.chunks_exact(4);
        for four in &mut fours {
            let [a, b, c, d] = [0, 1, 2, 3].map(|row| &four[row][from..from + sum.len()]);
            for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum |= a | b | c | d;
            }
        }
        for row in fours.remainder() {
            let row = &row[from..from + sum.len()];
            sum.iter_mut().zip(row).for_each(|(sum, word)| *sum |= word);
        }
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
