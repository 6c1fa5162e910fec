//! Rules with a number, made when they are called: of many numbers a text comes to few.
//!
//! What such a rule calls is a rule of the same grammar. That none calls itself at the same position
//! is known of the definitions, whatever the numbers are ([`Plan`]); which numbers lead to no text is
//! found when a rule is first called.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::frontend::lark::numbered_plan::Plan;
use crate::frontend::lark::tree::{Argument, Condition};
use crate::grammar::{Expr, ExprId, Exprs, Imported, RuleId, Rules};
use crate::interner::Interner;
use crate::limits::Limits;

/// About what a rule takes, with what is known of it.
const BYTES_A_RULE: usize = 64;

/// A rule: the place of its definition, and its number.
type Key = (u32, u64);

/// A piece of a body. Pieces are named by their places; parts come before wholes.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Texts in which no rule is called.
    Texts(ExprId),
    /// A rule, by the place of its definition.
    Call(u32, Argument),
    Seq(Box<[usize]>),
    Choice(Box<[usize]>),
    Repeat(usize, u32, u32),
    If(usize, Box<Condition>),
}

/// The body of a definition; the whole is its last piece.
#[derive(Debug)]
pub(crate) struct Body {
    /// Its name.
    pub(crate) name: Box<str>,
    /// Whether it has a number.
    pub(crate) is_numbered: bool,
    /// Its pieces.
    pub(crate) pieces: Vec<Piece>,
}

/// Everything that does not change.
#[derive(Debug)]
struct Source {
    exprs: Exprs,
    bodies: Vec<Body>,
    plan: Plan,
    limits: Limits,
}

/// Rules with a number, from one of them on.
#[derive(Debug)]
pub(crate) struct NumberedRules {
    source: Arc<Source>,
    start: Key,
    accepts_empty: bool,
    made: Mutex<Made>,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Made {
    /// The rules that were called, the start first.
    rules: Interner<Key>,
    /// Whether a rule matches the empty text.
    nullable: FxHashMap<Key, bool>,
    /// Whether a rule has a text that is not empty.
    lives: FxHashMap<Key, bool>,
}

/// Whether there are texts, and whether one of them is not empty; `None` if that is not known.
#[derive(Clone, Copy, Debug)]
struct Texts {
    some: Option<bool>,
    more: Option<bool>,
}

impl NumberedRules {
    /// The rules from the first definition with a number on.
    ///
    /// # Errors
    /// Too many rules had to be looked at.
    pub(crate) fn new(
        exprs: Exprs,
        bodies: Vec<Body>,
        plan: Plan,
        number: u64,
        limits: Limits,
    ) -> Result<Self, Error> {
        let source = Arc::new(Source { exprs, bodies, plan, limits });
        let start = (0, number);
        let accepts_empty = source.is_nullable(start, &mut Made::default())?;
        Ok(Self::started(source, start, accepts_empty))
    }

    fn started(source: Arc<Source>, start: Key, accepts_empty: bool) -> Self {
        let mut made = Made::default();
        made.rules.id(start);
        Self { source, start, accepts_empty, made: Mutex::new(made) }
    }

    /// Whether the start has any text.
    ///
    /// # Errors
    /// Too many rules had to be looked at.
    pub(crate) fn has_text(&self) -> Result<bool, Error> {
        let mut made = self.made();
        Ok(self.accepts_empty || self.source.lives(self.start, &mut made)?)
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    /// The pieces of a body that its number leaves.
    fn standing(&self, (place, number): Key) -> Vec<bool> {
        let pieces = &self.bodies[place as usize].pieces;
        let mut stands = vec![true; pieces.len()];
        for (at, piece) in pieces.iter().enumerate().rev() {
            let own = stands[at];
            match piece {
                Piece::If(part, condition) => stands[*part] = own && condition.holds(number),
                Piece::Repeat(part, ..) => stands[*part] = own,
                Piece::Seq(parts) | Piece::Choice(parts) => {
                    for &part in parts {
                        stands[part] = own;
                    }
                }
                Piece::Texts(_) | Piece::Call(..) => {}
            }
        }
        stands
    }

    /// Whether a rule matches the empty text. Only calls that come first are asked, which go from a
    /// definition to others ([`Plan::is_first`]).
    fn is_nullable(&self, key: Key, made: &mut Made) -> Result<bool, Error> {
        if let Some(&known) = made.nullable.get(&key) {
            return Ok(known);
        }
        if made.nullable.len() >= self.limits.rules {
            return Err(Error::limit("rules", self.limits.rules));
        }
        let pieces = &self.bodies[key.0 as usize].pieces;
        let stands = self.standing(key);
        let mut found: Vec<bool> = Vec::with_capacity(pieces.len());
        for (at, piece) in pieces.iter().enumerate() {
            let is_nullable = stands[at]
                && match piece {
                    Piece::Texts(texts) => self.exprs.is_nullable(*texts),
                    Piece::Call(callee, argument) => {
                        self.plan.is_first(key.0, at)
                            && self.is_nullable((*callee, argument.of(key.1)), made)?
                    }
                    Piece::Seq(parts) => parts.iter().all(|&part| found[part]),
                    Piece::Choice(parts) => parts.iter().any(|&part| found[part]),
                    Piece::Repeat(part, min, _) => *min == 0 || found[*part],
                    Piece::If(part, _) => found[*part],
                };
            found.push(is_nullable);
        }
        let is_nullable = found.last() == Some(&true);
        made.nullable.insert(key, is_nullable);
        Ok(is_nullable)
    }

    /// The rules that a rule calls.
    fn calls(&self, key: Key) -> Vec<Key> {
        let stands = self.standing(key);
        let pieces = self.bodies[key.0 as usize].pieces.iter().zip(stands);
        pieces
            .filter_map(|(piece, stands)| match piece {
                Piece::Call(callee, argument) if stands => Some((*callee, argument.of(key.1))),
                _ => None,
            })
            .collect()
    }

    /// Whether a rule has a text that is not empty, as far as what it calls is known.
    fn texts(&self, key: Key, made: &mut Made) -> Result<Option<bool>, Error> {
        let pieces = &self.bodies[key.0 as usize].pieces;
        let stands = self.standing(key);
        let mut found: Vec<Texts> = Vec::with_capacity(pieces.len());
        for (at, piece) in pieces.iter().enumerate() {
            let texts = match piece {
                _ if !stands[at] => Texts::NONE,
                Piece::Texts(texts) => {
                    let is_some = *texts != self.exprs.nothing();
                    let is_more = is_some && *texts != self.exprs.empty();
                    Texts { some: Some(is_some), more: Some(is_more) }
                }
                Piece::Call(callee, argument) => {
                    let callee = (*callee, argument.of(key.1));
                    let more = made.lives.get(&callee).copied();
                    let some = if self.is_nullable(callee, made)? { Some(true) } else { more };
                    Texts { some, more }
                }
                Piece::Seq(parts) => {
                    let some = all(parts.iter().map(|&part| found[part].some));
                    let more = any(parts.iter().map(|&part| found[part].more));
                    Texts { some, more: all([some, more].into_iter()) }
                }
                Piece::Choice(parts) => Texts {
                    some: any(parts.iter().map(|&part| found[part].some)),
                    more: any(parts.iter().map(|&part| found[part].more)),
                },
                Piece::Repeat(_, _, 0) => Texts { some: Some(true), more: Some(false) },
                Piece::Repeat(part, 0, _) => Texts { some: Some(true), ..found[*part] },
                Piece::Repeat(part, ..) | Piece::If(part, _) => found[*part],
            };
            found.push(texts);
        }
        Ok(found.last().and_then(|whole| whole.more))
    }

    /// Whether a rule has a text that is not empty: a least fixpoint over what it calls, as far as
    /// that must be known.
    fn lives(&self, key: Key, made: &mut Made) -> Result<bool, Error> {
        let mut todo = vec![key];
        let mut is_open: FxHashSet<Key> = FxHashSet::default();
        // Those that wait for one another.
        let mut waiting: Vec<Key> = Vec::new();
        let mut work = 0;
        let allowed = self.limits.expressions;
        let mut check = |at: Key| {
            work += self.bodies[at.0 as usize].pieces.len();
            if work > allowed { Err(Error::limit("expressions", allowed)) } else { Ok(()) }
        };
        while let Some(&at) = todo.last() {
            check(at)?;
            is_open.insert(at);
            if made.lives.len() + is_open.len() > self.limits.rules {
                return Err(Error::limit("rules", self.limits.rules));
            }
            let is_known = |it: &Key, made: &Made| made.lives.contains_key(it);
            if !is_known(&at, made)
                && let Some(lives) = self.texts(at, made)?
            {
                made.lives.insert(at, lives);
            }
            let mut calls = if is_known(&at, made) { Vec::new() } else { self.calls(at) };
            calls.retain(|it| !is_open.contains(it) && !is_known(it, made));
            if let Some(&next) = calls.first() {
                todo.push(next);
                continue;
            }
            todo.pop();
            if !is_known(&at, made) {
                waiting.push(at);
            }
        }
        while !made.lives.contains_key(&key) {
            let before = made.lives.len();
            for &at in waiting.iter().rev() {
                check(at)?;
                if let Some(lives) = self.texts(at, made)? {
                    made.lives.insert(at, lives);
                }
            }
            if made.lives.len() == before {
                // What has a text only if it has one has none.
                for &at in &waiting {
                    made.lives.entry(at).or_insert(false);
                }
            }
        }
        Ok(made.lives[&key])
    }

    /// The texts of a rule that are not empty.
    fn body(&self, key: Key, made: &mut Made, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let pieces = &self.bodies[key.0 as usize].pieces;
        let stands = self.standing(key);
        let mut imported = Imported::default();
        let mut built: Vec<ExprId> = Vec::with_capacity(pieces.len());
        for (at, piece) in pieces.iter().enumerate() {
            let of = |parts: &[usize]| parts.iter().map(|&part| built[part]).collect::<Vec<_>>();
            let expr = match piece {
                _ if !stands[at] => exprs.nothing(),
                Piece::Texts(texts) => exprs.import(&self.exprs, *texts, &mut imported),
                Piece::Call(callee, argument) => {
                    let callee = (*callee, argument.of(key.1));
                    let more = if self.lives(callee, made)? {
                        exprs.call(RuleId(made.rules.id(callee)))
                    } else {
                        exprs.nothing()
                    };
                    if self.is_nullable(callee, made)? { exprs.optional(more) } else { more }
                }
                Piece::Seq(parts) => exprs.seq(&of(parts)),
                Piece::Choice(parts) => exprs.choice_of_many(&of(parts)),
                Piece::Repeat(part, min, max) => exprs.repeat(built[*part], *min, *max),
                Piece::If(part, _) => built[*part],
            };
            built.push(expr);
        }
        let whole = built.last().copied().unwrap_or_else(|| exprs.nothing());
        if exprs.depth(whole) > self.limits.nesting {
            return Err(Error::limit("nesting", self.limits.nesting));
        }
        Ok(non_empty(exprs, whole))
    }
}

impl Rules for NumberedRules {
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut made = self.made();
        if made.rules.len() > self.source.limits.rules {
            return Err(Error::limit("rules", self.source.limits.rules));
        }
        let key = *made.rules.get(rule.0);
        self.source.body(key, &mut made, exprs)
    }

    fn name(&self, rule: RuleId) -> String {
        let (place, number) = *self.made().rules.get(rule.0);
        let body = &self.source.bodies[place as usize];
        if body.is_numbered { format!("{}_{number}", body.name) } else { body.name.to_string() }
    }

    fn rank(&self, rule: RuleId) -> u32 {
        let (place, _) = *self.made().rules.get(rule.0);
        self.source.plan.ranks[place as usize]
    }

    fn accepts_empty(&self) -> bool {
        self.accepts_empty
    }

    /// A body may be made when there is no more room for what it calls.
    fn numbers(&self) -> u32 {
        let calls: usize = self.source.bodies.iter().map(|body| body.pieces.len()).sum();
        u32::try_from(self.source.limits.rules.saturating_add(calls)).unwrap_or(u32::MAX)
    }

    fn special_tokens(&self) -> Vec<String> {
        self.source.exprs.token_names()
    }

    fn left_behind(&self) -> usize {
        let made = self.made();
        (made.rules.len() + made.nullable.len() + made.lives.len()) * BYTES_A_RULE
    }

    fn renewed(&self) -> Result<Option<Arc<dyn Rules>>, Error> {
        Ok(Some(Arc::new(Self::started(self.source.clone(), self.start, self.accepts_empty))))
    }
}

impl Texts {
    const NONE: Self = Self { some: Some(false), more: Some(false) };
}

/// Whether all are so.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for part in parts {
        match part {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = None,
        }
    }
    known
}

/// Whether one is so.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|is| !is))).map(|none| !none)
}

/// The texts of `id` that are not empty. What is called has no empty text.
fn non_empty(exprs: &mut Exprs, id: ExprId) -> ExprId {
    if !exprs.is_nullable(id) {
        return id;
    }
    if !exprs.has_calls(id) {
        return exprs.minus(id, exprs.empty());
    }
    match exprs.get(id) {
        Expr::Choice(list) => {
            let members = exprs.list(list).to_vec();
            let members: Vec<ExprId> = members.iter().map(|&it| non_empty(exprs, it)).collect();
            exprs.choice(&members)
        }
        Expr::Repeat { body, max, .. } => {
            let body = non_empty(exprs, body);
            exprs.repeat(body, 1, max)
        }
        Expr::Seq(..) => {
            // `+(x y) = (+x) y | +y`.
            let (mut rest, mut more) = (exprs.empty(), exprs.nothing());
            for part in exprs.spine(id).into_iter().rev() {
                let begun = non_empty(exprs, part);
                let begun = exprs.seq2(begun, rest);
                more = exprs.choice(&[begun, more]);
                rest = exprs.seq2(part, rest);
            }
            more
        }
        _ => id,
    }
}
