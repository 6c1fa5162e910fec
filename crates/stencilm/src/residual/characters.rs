//! Steps by whole characters, for questions about which texts there are: the spellings of one
//! character all lead to the same, and so do characters that no class tells apart.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{CharSet, ClassId, Expr, ExprId, Progress, Spelling};
use crate::residual::{Residuals, spell};

/// Parts of an expression that are looked at for the beginnings of characters, where bytes would
/// do as well.
pub(super) const MOST_HEADS: usize = 64;

/// So many characters in a row that do not stand for themselves in every spelling come in no
/// place but among the control characters.
const FEW_ODD: usize = 36;

/// What an entry of a table takes beside what it refers to.
const BYTES_AN_ENTRY: usize = 56;

/// The characters that classes tell apart.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    known: FxHashMap<Vec<ClassId>, Arc<[(char, u32)]>>,
    /// The memory that they take.
    pub(super) bytes: usize,
}

/// The characters that the texts of an expression may begin with, as classes.
#[derive(Debug, Default)]
struct Heads {
    classes: Vec<ClassId>,
    /// How they are all spelled.
    spelling: Option<Spelling>,
}

/// All that an expression can be after one more character.
#[derive(Debug)]
pub(super) struct AfterAny {
    pub(super) spelling: Spelling,
    /// Each with a character that leads there.
    pub(super) rests: Vec<(ExprId, char)>,
}

impl Heads {
    /// One more class. False if its spelling is another one, or there are too many.
    fn add(&mut self, class: ClassId, spelling: Spelling) -> bool {
        if !self.classes.contains(&class) {
            self.classes.push(class);
        }
        *self.spelling.get_or_insert(spelling) == spelling && self.classes.len() <= MOST_HEADS
    }
}

impl Residuals {
    /// All that `id` can be after one more character, whichever, without asking whether it is empty.
    /// `None` if something else than characters may come, or those of different spellings.
    pub(super) fn after_any_character(&mut self, id: ExprId) -> Result<Option<AfterAny>, Error> {
        let mut heads = Heads::default();
        // Where only complements are, bytes that are no characters may come as well.
        let Some(true) = self.first_characters(id, &mut heads) else { return Ok(None) };
        let Some(spelling) = heads.spelling else { return Ok(None) };
        let nothing = self.exprs.nothing();
        let mut rests: Vec<(ExprId, char)> = Vec::new();
        heads.classes.sort_unstable();
        for &(c, _) in &*self.atoms(heads.classes) {
            let rest = self.after_spelled(id, c, spelling)?;
            if rest != nothing && !rests.iter().any(|&(known, _)| known == rest) {
                rests.push((rest, c));
            }
        }
        Ok(Some(AfterAny { spelling, rests }))
    }

    /// Collects the characters that a text of `id` may begin with, and those that it may not begin
    /// with; whether a text that is not empty begins with a character. `None` if there is anything
    /// else.
    fn first_characters(&mut self, id: ExprId, heads: &mut Heads) -> Option<bool> {
        match self.exprs.get(id) {
            Expr::Nothing | Expr::Empty => Some(true),
            Expr::Chars { class, spelling } => heads.add(class, spelling).then_some(true),
            Expr::Bytes { literal, from } => {
                let rest = self.exprs.literal(literal)[from as usize..].iter().copied();
                let first: SmallVec<[u8; 4]> = rest.take(4).collect();
                let first = first.utf8_chunks().next()?.valid().chars().next()?;
                let class = self.exprs.class_id(&CharSet::of([first]));
                heads.add(class, Spelling::Text).then_some(true)
            }
            Expr::Seq(..) => {
                let mut are_characters = true;
                let mut at = id;
                while let Expr::Seq(first, rest) = self.exprs.get(at) {
                    are_characters &= self.first_characters(first, heads)?;
                    if !self.exprs.is_nullable(first) {
                        return Some(are_characters);
                    }
                    at = rest;
                }
                Some(self.first_characters(at, heads)? && are_characters)
            }
            Expr::Choice(list) => {
                let mut are_characters = true;
                for member in self.exprs.list(list).to_vec() {
                    are_characters &= self.first_characters(member, heads)?;
                }
                Some(are_characters)
            }
            Expr::And(list) => {
                let mut are_characters = false;
                for member in self.exprs.list(list).to_vec() {
                    are_characters |= self.first_characters(member, heads)?;
                }
                Some(are_characters)
            }
            Expr::Repeat { body, .. } => self.first_characters(body, heads),
            Expr::Not(body) => self.first_characters(body, heads).and(Some(false)),
            Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => None,
        }
    }

    /// What remains of `id` after a character, in the spelling that is the shortest.
    fn after_spelled(&mut self, id: ExprId, c: char, spelling: Spelling) -> Result<ExprId, Error> {
        if !spell::stands_raw(c, spelling) {
            let escaped = self.past_byte(id, b'\\')?;
            return Ok(self.after_character(escaped, c));
        }
        self.past_raw(id, c)
    }

    /// What remains of `id` after a character that stands for itself.
    pub(super) fn past_raw(&mut self, id: ExprId, c: char) -> Result<ExprId, Error> {
        let mut at = id;
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            at = self.past_byte(at, byte)?;
        }
        Ok(at)
    }

    /// What remains after a byte; an intersection may be empty.
    pub(super) fn past_byte(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        match self.exprs.get(id) {
            Expr::And(list) => self.derive_and(list, byte),
            _ => self.step(id, byte),
        }
    }

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
        let sets: Vec<&CharSet> = classes.iter().map(|&class| &**self.exprs.class(class)).collect();
        let atoms: Arc<[(char, u32)]> = told_apart(&sets).into();
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

/// One character for each way of being in some of these sets and not in the others, and how many
/// there are like it: where there is one, a character that stands for itself in every spelling.
fn told_apart(sets: &[&CharSet]) -> Vec<(char, u32)> {
    let every = CharSet::any();
    // Where a set begins or ends; that of all characters comes last.
    let mut turns: Vec<(u32, usize)> = Vec::new();
    for (at, set) in sets.iter().copied().chain([&every]).enumerate() {
        turns.extend(set.ranges().iter().flat_map(|&(low, high)| [(low, at), (high + 1, at)]));
    }
    turns.sort_unstable();
    let mut is_in: SmallVec<[u64; 2]> = smallvec![0; sets.len() / 64 + 1];
    let mut known: FxHashMap<SmallVec<[u64; 2]>, usize> = FxHashMap::default();
    let mut atoms: Vec<(char, u32)> = Vec::new();
    for (place, &(low, at)) in turns.iter().enumerate() {
        is_in[at / 64] ^= 1 << (at % 64);
        let Some(&(end, _)) = turns.get(place + 1) else { break };
        let is_character = is_in[sets.len() / 64] >> (sets.len() % 64) & 1 == 1;
        if end == low || !is_character {
            continue;
        }
        let is_plain = |c: &char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\');
        let mut characters = (low..end).take(FEW_ODD).filter_map(char::from_u32);
        let Some(first) = characters.clone().next() else { continue };
        let plain = characters.find(is_plain);
        if let Some(&at) = known.get(&is_in) {
            let (best, count) = &mut atoms[at];
            *count += end - low;
            if !is_plain(best) {
                *best = plain.unwrap_or(*best);
            }
        } else {
            known.insert(is_in.clone(), atoms.len());
            atoms.push((plain.unwrap_or(first), end - low));
        }
    }
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_tell_characters_apart_as_set_operations_do() {
        let sets = [
            CharSet::new([('a', 'z'), ('0', '9')]),
            CharSet::new([('b', 'b'), ('"', '"'), ('\u{E000}', '\u{10FFFF}')]),
            CharSet::of(['\n', '\u{D7FF}', '\'']),
            CharSet::any().difference(&CharSet::of(['z'])),
        ];
        // More sets than bits of a word, or of two.
        let many = (0x100..0x200).map(|code| CharSet::from_code_points([(code, code + 0x80)]));
        let sets: Vec<CharSet> = sets.into_iter().chain(many).collect();
        for count in [0, 1, 2, 3, 4, 63, 64, 65, 127, 128, 129, sets.len()] {
            let sets: Vec<&CharSet> = sets[..count].iter().collect();
            let mut atoms = vec![CharSet::any()];
            for set in &sets {
                let split =
                    atoms.iter().flat_map(|atom| [atom.intersection(set), atom.difference(set)]);
                atoms = split.filter(|atom| !atom.is_empty()).collect();
            }
            let found = told_apart(&sets);
            assert_eq!(found.len(), atoms.len());
            for (c, characters) in found {
                let atom = atoms.iter().find(|atom| atom.contains(c)).expect("an atom has it");
                assert_eq!(atom.len(), characters, "{c:?}");
                let has_plain = ('!'..='~').any(|c| !"\"'\\".contains(c) && atom.contains(c));
                assert!(!has_plain || spell::stands_raw(c, Spelling::JsonAscii), "{c:?}");
            }
        }
    }
}
