//! Finds tokens by their characters beyond ASCII.
//!
//! Each code point has a list of tokens; besides, groups of neighbouring code points have
//! bitsets, so that a class that lacks a whole script costs no more than one that lacks a letter.

use std::ops::Range;

use crate::{
    grammar::CharSet,
    vocab::{bit_rows::RowTree, cut_off::cut_off, texts::Texts, trie_builder::to_u32},
};

/// How many groups there are: as many as a mark of one word tells apart.
const GROUPS: usize = 32;

/// The code points beyond ASCII in tokens that are whole UTF-8, but maybe for their ends.
#[derive(Debug)]
pub(crate) struct Points {
    // Invariant: rising.
    codes: Box<[u32]>,
    // Invariant: where each code point's ranks start; one more than there are code points.
    starts: Box<[u32]>,
    // Invariant: for each code point, the ranks of its tokens, rising.
    ranks: Box<[u32]>,
    // Invariant: where each group's code points start, and their number.
    groups: [usize; GROUPS + 1],
    // Invariant: the tokens of each group.
    rows: RowTree,
}

impl Points {
    /// Collects the code points of all tokens; `order` has the number of each rank.
    pub(crate) fn of(texts: &Texts, order: &[u32]) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (rank, &id) in (0..).zip(order) {
            let text = texts.of(id);
            if text.is_ascii() {
                continue;
            }
            let whole = match cut_off(text) {
                Some((whole, _)) => whole,
                None => std::str::from_utf8(text).unwrap_or_default(),
            };
            let chars = whole.chars();
            pairs.extend(chars.filter(|c| !c.is_ascii()).map(|c| (c.into(), rank)));
        }
        sort_by_code(&mut pairs);
        pairs.dedup();
        let (mut codes, mut starts) = (Vec::new(), Vec::new());
        for (at, (code, _)) in pairs.iter().enumerate() {
            if codes.last() != Some(code) {
                codes.push(*code);
                starts.push(to_u32(at));
            }
        }
        starts.push(to_u32(pairs.len()));
        // Groups of about as many entries each.
        let group_of = |start: u32| start as usize * GROUPS / pairs.len().max(1);
        let group_start =
            |group| starts[..codes.len()].partition_point(|&start| group_of(start) < group);
        let groups = std::array::from_fn(group_start);
        let mut marks = vec![[0]; texts.len() as usize];
        for group in 0..GROUPS {
            let (from, to) = (starts[groups[group]], starts[groups[group + 1]]);
            for (_, rank) in &pairs[from as usize..to as usize] {
                marks[order[*rank as usize] as usize][0] |= 1_u32 << group;
            }
        }
        Self {
            rows: RowTree::of(GROUPS, &marks, order, vec![(1 << GROUPS) - 1]),
            codes: codes.into(),
            starts: starts.into(),
            ranks: pairs.into_iter().map(|(_, rank)| rank).collect(),
            groups,
        }
    }

    /// Adds the tokens with a character beyond ASCII that `class` lacks: rows of whole groups to
    /// `rows`, the ranks of others to `ranks`.
    pub(crate) fn refuse<'a>(
        &'a self,
        class: &CharSet,
        rows: &mut Vec<&'a [u32]>,
        ranks: &mut Vec<u32>,
    ) {
        let mut groups = 0_u128;
        let mut refuse_each = |points: Range<usize>| {
            let (from, to) = (self.starts[points.start], self.starts[points.end]);
            ranks.extend_from_slice(&self.ranks[from as usize..to as usize]);
        };
        for points in self.points_outside(class) {
            let first = self.groups.partition_point(|&start| start < points.start);
            let last = self.groups.partition_point(|&start| start <= points.end) - 1;
            if first >= last {
                refuse_each(points);
                continue;
            }
            (first..last).for_each(|group| groups |= 1 << group);
            refuse_each(points.start..self.groups[first]);
            refuse_each(self.groups[last]..points.end);
        }
        self.rows.find(groups, rows);
    }

    /// The runs of code points that `class` lacks, by their places; no two touch.
    fn points_outside(&self, class: &CharSet) -> Vec<Range<usize>> {
        let mut outside: Vec<Range<usize>> = Vec::new();
        let mut next = 0;
        for &(low, high) in class.clamp(0x80, u32::MAX).ranges() {
            let from = self.first_from(next, low);
            let to = self.first_from(from, high + 1);
            match outside.last_mut() {
                _ if from == next => {}
                Some(last) if last.end == next => last.end = from,
                _ => outside.push(next..from),
            }
            next = to;
        }
        match outside.last_mut() {
            Some(last) if last.end == next => last.end = self.codes.len(),
            _ => outside.push(next..self.codes.len()),
        }
        outside
    }

    /// The place of the first code point that is at least `code`, which is not before `at`.
    fn first_from(&self, mut at: usize, code: u32) -> usize {
        // Strides that double: classes have few ranges that are far apart or many that are near.
        let mut stride = 1;
        while self.codes.get(at + stride).is_some_and(|&other| other < code) {
            at += stride;
            stride *= 2;
        }
        let end = self.codes.len().min(at + stride);
        at + self.codes[at..end].partition_point(|&other| other < code)
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let words = self.codes.len() + self.starts.len() + self.ranks.len();
        words * size_of::<u32>() + self.rows.size_in_bytes()
    }
}

/// Sorts by code points and keeps the order of equal ones: two rounds of counting.
fn sort_by_code(pairs: &mut Vec<(u32, u32)>) {
    // 11 bits a round: code points have 21.
    const BUCKETS: usize = 1 << 11;
    for shift in [0, 11] {
        let bucket = |code: u32| (code >> shift) as usize % BUCKETS;
        let mut starts = [0_u32; BUCKETS + 1];
        for &(code, _) in &*pairs {
            starts[bucket(code) + 1] += 1;
        }
        for at in 0..BUCKETS {
            starts[at + 1] += starts[at];
        }
        let mut sorted = vec![(0, 0); pairs.len()];
        for &pair in &*pairs {
            let to = &mut starts[bucket(pair.0)];
            sorted[*to as usize] = pair;
            *to += 1;
        }
        *pairs = sorted;
    }
}
