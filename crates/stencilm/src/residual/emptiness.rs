//! Whether an expression matches any text: only intersections and complements can hide that none
//! does.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs};
use crate::limits::Budget;
use crate::residual::characters::{AfterAny, MOST_HEADS};
use crate::residual::{Alive, Residuals, spell};

/// Expressions looked at before lengths are compared, which costs as much as many of them: again
/// and again, with as much work as the search took so far.
const ASK_LENGTHS_AFTER: usize = 200;

/// Steps that are worth as much as one expression that is looked at.
const STEPS_A_STATE: usize = 20;

/// Ways to the ends of expressions that are kept, the last that was of use first.
const KNOWN_ENDS: usize = 4;

/// Steps of the longest of them.
const LONGEST_END: usize = 64;

/// So many expressions of a search are led along these ways.
const TRIED: usize = 4;

/// An expression of a search.
#[derive(Clone, Copy, Debug)]
struct Met {
    id: ExprId,
    /// The place of the one that led to it, and by what.
    from: usize,
    way: Way,
    /// Whether it was looked at.
    is_done: bool,
}

/// What leads from one expression to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Byte(u8),
    /// A character that stands for itself.
    Character(char),
    /// Something that means nothing elsewhere.
    Unknown,
}

/// Whether no text matches `id`, an expression without calls.
///
/// # Errors
/// [`ErrorKind::LimitReached`](crate::ErrorKind::LimitReached) for `search`, or for `expressions`.
pub fn is_empty(exprs: &mut Exprs, id: ExprId, budget: &Budget) -> Result<bool, Error> {
    Ok(without_empty_parts(exprs, id, budget)? == exprs.nothing())
}

/// `id` with each intersection that no text matches replaced by `Nothing`.
///
/// # Errors
/// As [`is_empty`].
pub fn without_empty_parts(
    exprs: &mut Exprs,
    id: ExprId,
    budget: &Budget,
) -> Result<ExprId, Error> {
    if !exprs.has_and(id) {
        return Ok(id);
    }
    Residuals::lent(exprs, budget, |residuals| residuals.without_empty_parts(id))
}

impl Residuals {
    /// `id` with each intersection that no text matches replaced by `Nothing`.
    pub(super) fn without_empty_parts(&mut self, id: ExprId) -> Result<ExprId, Error> {
        match self.exprs.get(id) {
            _ if !self.exprs.has_and(id) => Ok(id),
            Expr::Seq(..) => {
                let mut parts = self.exprs.spine(id);
                for part in &mut parts {
                    *part = self.without_empty_parts(*part)?;
                }
                Ok(self.exprs.seq(&parts))
            }
            Expr::Choice(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.without_empty_parts(*member)?;
                }
                Ok(self.exprs.choice(&members))
            }
            Expr::Repeat { body, min, max } => {
                let body = self.without_empty_parts(body)?;
                Ok(self.exprs.repeat(body, min, max))
            }
            Expr::And(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.without_empty_parts(*member)?;
                }
                let met = self.exprs.and(&members);
                Ok(if self.is_alive(met)? { met } else { self.exprs.nothing() })
            }
            Expr::Not(body) => {
                let body = self.without_empty_parts(body)?;
                Ok(self.exprs.not(body))
            }
            Expr::OtherName(text) => {
                let text = self.without_empty_parts(text)?;
                Ok(self.exprs.other_name(text))
            }
            Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. } => Ok(id),
        }
    }

    /// Whether some text matches `id`. Its parts must have been asked before: an intersection at
    /// the top is the only thing that is looked into.
    pub(super) fn is_alive(&mut self, id: ExprId) -> Result<bool, Error> {
        if id == self.exprs.nothing() {
            return Ok(false);
        }
        if !matches!(self.exprs.get(id), Expr::And(_)) {
            return Ok(true);
        }
        match self.known(id).alive {
            Alive::Yes => Ok(true),
            Alive::No => Ok(false),
            Alive::Unknown => self.search(id),
        }
    }

    /// Looks for a text, first where the conjuncts are near to their ends. After some steps without
    /// one, the lengths that the conjuncts allow are compared, which may settle it.
    fn search(&mut self, id: ExprId) -> Result<bool, Error> {
        let mut met: Vec<Met> = vec![Met { id, from: 0, way: Way::Unknown, is_done: false }];
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        seen.insert(id);
        // Two orders in turn: each is fast where the other one is not.
        let mut nearest = [(); 2].map(|()| BinaryHeap::from([Reverse((0, 0, 0))]));
        let mut looked_at = 0;
        let mut ask_lengths_at = ASK_LENGTHS_AFTER;
        let mut turn = 0;
        loop {
            turn = 1 - turn;
            let Some(Reverse((.., place))) = nearest[turn].pop() else {
                break;
            };
            if std::mem::replace(&mut met[place].is_done, true) {
                continue;
            }
            let at = met[place].id;
            if self.is_surely_alive(at) {
                self.mark_alive(&met, place);
                return Ok(true);
            }
            if looked_at < TRIED && self.has_known_end(at)? {
                self.mark_alive(&met, place);
                return Ok(true);
            }
            looked_at += 1;
            if looked_at == ask_lengths_at
                && let Expr::And(list) = self.exprs.get(id)
            {
                let members = self.exprs.list(list).to_vec();
                ask_lengths_at *= 8;
                let steps = STEPS_A_STATE * looked_at;
                if let Some(verdict) = self.length_verdict(&members, steps)? {
                    self.known(id).alive = if verdict { Alive::Yes } else { Alive::No };
                    return Ok(verdict);
                }
            }
            if looked_at > self.limits.search {
                return Err(Error::limit("search", self.limits.search));
            }
            if self.known(at).alive == Alive::No {
                continue;
            }
            for (rest, way) in self.rests_of_and(at)? {
                if seen.insert(rest) {
                    let (most, others) = self.distances(rest);
                    nearest[0].push(Reverse((most, others, met.len())));
                    nearest[1].push(Reverse((others, most, met.len())));
                    met.push(Met { id: rest, from: place, way, is_done: false });
                }
            }
        }
        // Nothing that can be reached matches.
        for Met { id: at, .. } in met {
            if matches!(self.exprs.get(at), Expr::And(_)) {
                self.known(at).alive = Alive::No;
            }
        }
        Ok(false)
    }

    /// How many characters the conjunct asks for that asks for the most, and all others, one by one:
    /// what serves only the first, as each character does that is counted, brings nothing nearer.
    fn distances(&mut self, id: ExprId) -> (u64, u64) {
        let Expr::And(list) = self.exprs.get(id) else {
            return (0, 0);
        };
        let members = self.exprs.list(list).to_vec();
        members.into_iter().fold((0, 0), |(most, others), member| {
            let own = u64::from(self.shape(member).shortest);
            (most.max(own), others + most.min(own))
        })
    }

    /// All on the way to something alive are alive; the way is tried first the next time.
    fn mark_alive(&mut self, met: &[Met], place: usize) {
        let mut place = place;
        let mut ways = Vec::new();
        loop {
            let Met { id, from, way, .. } = met[place];
            self.known(id).alive = Alive::Yes;
            if place == 0 {
                break;
            }
            ways.push(way);
            place = from;
        }
        // A search that begins in an escape comes out of it first.
        while ways.pop_if(|way| *way == Way::Unknown).is_some() {}
        if (2..=LONGEST_END).contains(&ways.len()) && !ways.contains(&Way::Unknown) {
            ways.reverse();
            self.known_ends.truncate(KNOWN_ENDS - 1);
            self.known_ends.insert(0, ways.into());
        }
    }

    /// Whether a way on which other expressions came to their ends leads `id` to one.
    fn has_known_end(&mut self, id: ExprId) -> Result<bool, Error> {
        for place in 0..self.known_ends.len() {
            let ways = self.known_ends[place].clone();
            let mut at = id;
            for &way in &*ways {
                at = match way {
                    Way::Byte(byte) => self.past_byte(at, byte)?,
                    Way::Character(c) => self.past_raw(at, c)?,
                    Way::Unknown => self.exprs.nothing(),
                };
                if at == self.exprs.nothing() {
                    break;
                }
                if self.is_surely_alive(at) {
                    self.known_ends[..=place].rotate_right(1);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn is_surely_alive(&mut self, id: ExprId) -> bool {
        let Expr::And(list) = self.exprs.get(id) else {
            // Only an intersection can be empty, and `Nothing` is never tried.
            return true;
        };
        if self.exprs.is_nullable(id) || self.known(id).alive == Alive::Yes {
            return true;
        }
        // A counter beside one other condition, whose shortest text it lets through.
        let &[a, b] = self.exprs.list(list) else {
            return false;
        };
        let (counter, other) = if self.is_any_counted(a) { (a, b) } else { (b, a) };
        let Expr::Repeat { min, max, .. } = self.exprs.get(counter) else {
            return false;
        };
        let shape = self.shape(other);
        self.is_any_counted(counter) && shape.is_exact && (min..=max).contains(&shape.shortest)
    }

    /// What an intersection leads to, whether empty or not, and by what.
    fn rests_of_and(&mut self, id: ExprId) -> Result<Vec<(ExprId, Way)>, Error> {
        let Expr::And(list) = self.exprs.get(id) else {
            return Ok(Vec::new());
        };
        if let Some(rests) = self.after_escape(id, MOST_HEADS) {
            return Ok(rests.into_iter().map(|(rest, _)| (rest, Way::Unknown)).collect());
        }
        if let Some(AfterAny { spelling, rests }) = self.after_any_character(id)? {
            let is_raw = |c| spell::stands_raw(c, spelling);
            let way = |(rest, c)| (rest, if is_raw(c) { Way::Character(c) } else { Way::Unknown });
            return Ok(rests.into_iter().map(way).collect());
        }
        let nothing = self.exprs.nothing();
        let mut rests: Vec<(ExprId, Way)> = Vec::new();
        for byte in self.first_bytes(id)? {
            let rest = self.derive_and(list, byte)?;
            if rest != nothing && !rests.iter().any(|&(known, _)| known == rest) {
                rests.push((rest, Way::Byte(byte)));
            }
        }
        Ok(rests)
    }
}
