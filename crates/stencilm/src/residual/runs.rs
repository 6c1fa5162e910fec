//! Runs of sorted lists: which literals go on with a byte, and which texts of a free spelling.

use crate::grammar::{ByteSet, CharSet, Expr, ExprId, LiteralsId, Spelling};
use crate::residual::partition::PartitionId;
use crate::residual::{Residuals, spell};

/// The part of a run whose texts go on with a character.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharRun {
    pub(super) c: char,
    pub(super) low: u32,
    pub(super) high: u32,
    /// After the character.
    pub(super) depth: u32,
}

impl Residuals {
    /// The part of a run whose literals have `byte` at `depth`.
    pub(crate) fn run_with(
        &self,
        literals: LiteralsId,
        low: u32,
        high: u32,
        depth: u32,
        byte: u8,
    ) -> (u32, u32) {
        let ids = self.exprs.literal_ids(literals);
        let run = &ids[low as usize..high as usize];
        let at = |id| self.exprs.literal(id).get(depth as usize).copied();
        let first = run.partition_point(|&id| at(id) < Some(byte));
        let count = run[first..].partition_point(|&id| at(id) == Some(byte));
        let offset = |n: usize| low + u32::try_from(n).expect("a run is no longer than its list");
        (offset(first), offset(first + count))
    }

    /// The bytes at `depth` of a run's literals.
    pub(crate) fn next_bytes(
        &self,
        literals: LiteralsId,
        low: u32,
        high: u32,
        depth: u32,
    ) -> ByteSet {
        let mut bytes = ByteSet::EMPTY;
        let mut at = low;
        while at < high {
            let id = self.exprs.literal_ids(literals)[at as usize];
            match self.exprs.literal(id).get(depth as usize) {
                None => at += 1,
                Some(&byte) => {
                    bytes.insert(byte);
                    at = self.run_with(literals, at, high, depth, byte).1;
                }
            }
        }
        bytes
    }

    /// The bytes that may come next in a run: those of the literals, or what begins a character of
    /// the texts, or goes on in one, in a free spelling.
    pub(super) fn next_spelled_bytes(
        &self,
        literals: LiteralsId,
        (low, high): (u32, u32),
        depth: u32,
        spelling: Spelling,
    ) -> ByteSet {
        let next = self.next_bytes(literals, low, high, depth);
        if !spelling.is_free() {
            return next;
        }
        let mut bytes: ByteSet = next.iter().filter(|&byte| may_be_raw(byte, spelling)).collect();
        if next.iter().any(|byte| !is_inside_character(byte)) {
            bytes.insert(b'\\');
        }
        bytes
    }

    pub(super) fn partition_of_run(&mut self, id: ExprId) -> PartitionId {
        let Expr::OneOf { literals, low, high, depth, spelling } = self.exprs.get(id) else {
            unreachable!("the caller matched a run");
        };
        let next = self.next_spelled_bytes(literals, (low, high), depth, spelling);
        self.partitions.by_label(|byte| next.contains(byte).then_some(byte))
    }

    pub(super) fn derive_run(&mut self, id: ExprId, byte: u8) -> ExprId {
        let Expr::OneOf { literals, low, high, depth, spelling } = self.exprs.get(id) else {
            unreachable!("the caller matched a run");
        };
        if !spelling.is_free() || may_be_raw(byte, spelling) {
            let run = self.run_with(literals, low, high, depth, byte);
            return self.exprs.one_of_run(literals, run, depth + 1, spelling);
        }
        if byte != b'\\' {
            return self.exprs.nothing();
        }
        let mut ways = Vec::new();
        for run in self.char_runs(literals, (low, high), depth) {
            let rest = self.exprs.one_of_run(literals, (run.low, run.high), run.depth, spelling);
            let escape = self.escaped(&CharSet::of([run.c]), spelling);
            ways.push(self.exprs.seq2(escape, rest));
        }
        self.exprs.choice(&ways)
    }

    /// The characters that the texts of a run have next; none inside of a character.
    pub(super) fn char_runs(
        &self,
        literals: LiteralsId,
        (low, high): (u32, u32),
        depth: u32,
    ) -> Vec<CharRun> {
        let mut runs = Vec::new();
        let mut at = low;
        while at < high {
            let id = self.exprs.literal_ids(literals)[at as usize];
            let rest = &self.exprs.literal(id)[depth as usize..];
            let next = rest[..rest.len().min(4)].utf8_chunks().next();
            let Some(c) = next.and_then(|chunk| chunk.valid().chars().next()) else {
                at += 1;
                continue;
            };
            let mut run = CharRun { c, low: at, high, depth };
            for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
                (run.low, run.high) = self.run_with(literals, run.low, run.high, run.depth, byte);
                run.depth += 1;
            }
            at = run.high;
            runs.push(run);
        }
        runs
    }

    /// A character of a class after the backslash of its escape.
    pub(super) fn escaped(&mut self, class: &CharSet, spelling: Spelling) -> ExprId {
        spell::first_byte(&mut self.exprs, class, spelling, b'\\')
    }
}

/// Whether a byte of a text stands for itself: not if it must be escaped.
pub(crate) fn may_be_raw(byte: u8, spelling: Spelling) -> bool {
    if byte.is_ascii() { spell::stands_raw(byte.into(), spelling) } else { !spelling.is_ascii() }
}

/// Whether a byte goes on in a character.
pub(super) fn is_inside_character(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
