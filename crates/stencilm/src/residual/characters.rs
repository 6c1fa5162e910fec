//! Steps by whole characters inside an escape, for questions about which texts there are: the
//! 65,536 ways to end a `\u` differ only in the character that comes out.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::grammar::{CharSet, ClassId, Expr, ExprId, Progress, Spelling};
use crate::residual::Residuals;

/// Parts of an expression that are looked at for the beginnings of characters, where bytes would
/// do as well.
pub(super) const MOST_HEADS: usize = 64;

/// What an entry of a table takes beside what it refers to.
const BYTES_AN_ENTRY: usize = 56;

/// The characters that classes tell apart.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    known: FxHashMap<Vec<ClassId>, Arc<[(char, u32)]>>,
    /// The memory that they take.
    pub(super) bytes: usize,
}

impl Residuals {
    /// All that `id` can be when the escape that it is inside of has ended, each with how many
    /// characters lead to it; none if it is not inside of one, or has more than `most` parts.
    pub(super) fn after_escape(&mut self, id: ExprId, most: usize) -> Option<Vec<(ExprId, u32)>> {
        let mut heads = Vec::new();
        if !self.collect_heads(id, most, &mut heads) || heads.is_empty() {
            return None;
        }
        // What one spelling ends with is none of another one's ends, though the character is the same.
        if heads.iter().any(|head| head.1 != heads[0].1) {
            return None;
        }
        let mut classes: Vec<ClassId> = heads.into_iter().map(|head| head.0).collect();
        classes.sort_unstable();
        classes.dedup();
        let nothing = self.exprs.nothing();
        let mut rests: Vec<(ExprId, u32)> = Vec::new();
        for &(c, count) in &*self.atoms(classes) {
            let rest = self.after_character(id, c);
            if rest == nothing {
                continue;
            }
            match rests.iter_mut().find(|(known, _)| *known == rest) {
                Some((_, characters)) => *characters += count,
                None => rests.push((rest, count)),
            }
        }
        Some(rests)
    }

    /// One character for each way of being in some of the classes and not in the others, and how many
    /// there are like it.
    fn atoms(&mut self, classes: Vec<ClassId>) -> Arc<[(char, u32)]> {
        if let Some(known) = self.atoms.known.get(&classes) {
            return known.clone();
        }
        let mut atoms: Vec<CharSet> = vec![CharSet::any()];
        for &class in &classes {
            let class = self.exprs.class(class);
            let parts =
                atoms.iter().flat_map(|atom| [atom.intersection(class), atom.difference(class)]);
            atoms = parts.filter(|atom| !atom.is_empty()).collect();
        }
        let first = |atom: &CharSet| char::from_u32(atom.ranges()[0].0);
        let atoms: Arc<[(char, u32)]> =
            atoms.iter().filter_map(|atom| Some((first(atom)?, atom.len()))).collect();
        self.atoms.bytes += size_of_val(&*classes) + size_of_val(&*atoms) + BYTES_AN_ENTRY;
        self.atoms.known.insert(classes, atoms.clone());
        atoms
    }

    /// The classes of the characters that `id` is inside of, and their spellings. False if it is not
    /// inside of an escape on every way.
    fn collect_heads(&self, id: ExprId, most: usize, heads: &mut Vec<(ClassId, Spelling)>) -> bool {
        if heads.len() > most {
            return false;
        }
        match self.exprs.get(id) {
            Expr::Partial { class, spelling, progress } => {
                heads.push((class, spelling));
                !matches!(progress, Progress::Utf8 { .. })
            }
            Expr::Seq(first, _) => self.collect_heads(first, most, heads),
            Expr::Choice(list) | Expr::And(list) => {
                let mut members = self.exprs.list(list).iter();
                members.all(|&member| self.collect_heads(member, most, heads))
            }
            Expr::Not(body) | Expr::OtherName(body) => self.collect_heads(body, most, heads),
            Expr::Nothing => true,
            Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Repeat { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. } => false,
        }
    }

    /// What remains of `id` when the character that it is inside of is `c`.
    fn after_character(&mut self, id: ExprId, c: char) -> ExprId {
        match self.exprs.get(id) {
            Expr::Partial { class, .. } => {
                if self.exprs.class(class).contains(c) {
                    self.exprs.empty()
                } else {
                    self.exprs.nothing()
                }
            }
            Expr::Seq(first, rest) => {
                let first = self.after_character(first, c);
                self.exprs.seq2(first, rest)
            }
            Expr::Choice(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.after_character(*member, c);
                }
                self.exprs.choice(&members)
            }
            Expr::And(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.after_character(*member, c);
                }
                self.exprs.and(&members)
            }
            Expr::Not(body) => {
                let body = self.after_character(body, c);
                self.exprs.not(body)
            }
            Expr::OtherName(text) => {
                let text = self.after_character(text, c);
                self.exprs.other_name(text)
            }
            Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Repeat { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. } => self.exprs.nothing(),
        }
    }
}
