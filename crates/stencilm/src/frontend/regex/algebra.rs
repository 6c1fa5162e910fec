//! The arena's constructors with what holds for texts: everything here is a set of texts, so "any
//! text" is the universe that complements are taken in.
//!
//! Invariant: every expression is made of classes in one spelling; literals come last, by
//! [`Algebra::with_literals`].

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::regex::atoms::Atoms;
use crate::frontend::regex::rewrite::needed_for_derivative;
use crate::grammar::{CharSet, Expr, ExprId, Exprs, Spelling, UNBOUNDED};
use crate::limits::Budget;

/// How deep [`Algebra::meet`] looks into an expression before it leaves the work to `And`.
const DEPTH: u32 = 40;

/// An arena, and what else the translation of one pattern needs everywhere.
pub(crate) struct Algebra<'b> {
    pub(crate) exprs: Exprs,
    pub(crate) spelling: Spelling,
    pub(crate) atoms: Atoms,
    /// Any text.
    pub(crate) any: ExprId,
    /// Any text but the empty one.
    pub(crate) some: ExprId,
    derivatives: FxHashMap<(ExprId, usize), ExprId>,
    // Expressions made elsewhere that count towards the same limit.
    made_before: usize,
    pub(crate) budget: &'b mut Budget,
}

/// A condition on the first or the last character of a text.
struct Edge {
    class: CharSet,
    /// Whether a text without characters fulfils it.
    or_empty: bool,
}

impl<'b> Algebra<'b> {
    pub(crate) fn new(
        mut exprs: Exprs,
        spelling: Spelling,
        atoms: Atoms,
        made_before: usize,
        budget: &'b mut Budget,
    ) -> Self {
        let any = exprs.any_text(spelling);
        let one = exprs.chars(&CharSet::any(), spelling);
        let some = exprs.repeat(one, 1, UNBOUNDED);
        let derivatives = FxHashMap::default();
        Self { exprs, spelling, atoms, any, some, derivatives, made_before, budget }
    }

    /// To be called in every loop.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        let allowed = self.budget.limits.expressions;
        if self.made_before + self.exprs.len() > allowed {
            return Err(Error::limit("expressions", allowed));
        }
        self.budget.tick()
    }

    /// An error if `count` situations of look-around are too many.
    pub(crate) fn check_search(&mut self, count: usize) -> Result<(), Error> {
        self.budget.check_search(count, 1)?;
        self.check()
    }

    pub(crate) fn chars(&mut self, set: &CharSet) -> ExprId {
        self.exprs.chars(set, self.spelling)
    }

    /// `first`, then `rest`. Beside "any text" a repetition need not go on: `Σ*x{m,n} = Σ*x{m}`.
    pub(crate) fn then(&mut self, first: ExprId, rest: ExprId) -> ExprId {
        let (mut first, mut rest) = (first, rest);
        let starts_with_any = match self.exprs.get(rest) {
            Expr::Seq(head, _) => head == self.any,
            _ => rest == self.any,
        };
        if starts_with_any {
            first = self.without_loose_tail(first);
        }
        if first == self.any {
            rest = self.without_loose_head(rest);
        }
        self.exprs.seq2(first, rest)
    }

    fn without_loose_tail(&mut self, id: ExprId) -> ExprId {
        if self.exprs.is_nullable(id) {
            return self.exprs.empty();
        }
        let mut parts = self.exprs.spine(id);
        while let Some(&last) = parts.last() {
            match self.exprs.get(last) {
                _ if self.exprs.is_nullable(last) => {
                    parts.pop();
                }
                Expr::Repeat { body, min, max } if min < max => {
                    parts.pop();
                    parts.push(self.exprs.repeat(body, min, min));
                }
                _ => break,
            }
        }
        self.exprs.seq(&parts)
    }

    fn without_loose_head(&mut self, id: ExprId) -> ExprId {
        let mut rest = id;
        loop {
            let (head, after) = match self.exprs.get(rest) {
                Expr::Seq(head, after) => (head, after),
                _ => (rest, self.exprs.empty()),
            };
            match self.exprs.get(head) {
                Expr::Empty => return rest,
                _ if self.exprs.is_nullable(head) => rest = after,
                Expr::Repeat { body, min, max } if min < max => {
                    let head = self.exprs.repeat(body, min, min);
                    return self.exprs.seq2(head, after);
                }
                _ => return rest,
            }
        }
    }

    pub(crate) fn union(&mut self, alternatives: &[ExprId]) -> ExprId {
        if alternatives.contains(&self.any) { self.any } else { self.exprs.choice(alternatives) }
    }

    /// The texts that are not in `id`.
    pub(crate) fn complement(&mut self, id: ExprId) -> ExprId {
        if id == self.any {
            return self.exprs.nothing();
        }
        if id == self.exprs.nothing() {
            return self.any;
        }
        if id == self.exprs.empty() {
            return self.some;
        }
        if id == self.some {
            return self.exprs.empty();
        }
        if let Some(inner) = self.complemented(id) {
            return inner;
        }
        if let Some(edge) = self.first_edge(id) {
            let class = self.chars(&edge.class.negate());
            let whole = self.exprs.seq2(class, self.any);
            return if edge.or_empty { whole } else { self.exprs.optional(whole) };
        }
        if let Some(edge) = self.last_edge(id) {
            let class = self.chars(&edge.class.negate());
            let whole = self.exprs.seq2(self.any, class);
            return if edge.or_empty { whole } else { self.exprs.optional(whole) };
        }
        self.exprs.minus(self.any, id)
    }

    /// What `id` is the complement of, if it was made as one.
    fn complemented(&self, id: ExprId) -> Option<ExprId> {
        let Expr::And(list) = self.exprs.get(id) else {
            return None;
        };
        match *self.exprs.list(list) {
            [a, b] if a == self.any => self.negated(b),
            [a, b] if b == self.any => self.negated(a),
            _ => None,
        }
    }

    fn negated(&self, id: ExprId) -> Option<ExprId> {
        match self.exprs.get(id) {
            Expr::Not(inner) => Some(inner),
            _ => None,
        }
    }

    /// The texts of both.
    pub(crate) fn meet(&mut self, texts: ExprId, condition: ExprId) -> ExprId {
        let nothing = self.exprs.nothing();
        if texts == condition || condition == self.any {
            return texts;
        }
        if texts == self.any {
            return condition;
        }
        if texts == nothing || condition == nothing {
            return nothing;
        }
        if condition == self.exprs.empty() {
            return if self.exprs.is_nullable(texts) { condition } else { nothing };
        }
        if condition == self.some {
            return self.not_empty(texts, DEPTH);
        }
        if let Some(edge) = self.first_edge(condition) {
            return self.meet_first(texts, condition, &edge, DEPTH);
        }
        if let Some(edge) = self.last_edge(condition) {
            return self.meet_last(texts, condition, &edge, DEPTH);
        }
        if let Some(edge) = self.first_edge(texts) {
            return self.meet_first(condition, texts, &edge, DEPTH);
        }
        match self.complemented(condition) {
            Some(inner) => self.exprs.minus(texts, inner),
            None => self.exprs.and(&[texts, condition]),
        }
    }

    fn not_empty(&mut self, texts: ExprId, depth: u32) -> ExprId {
        match self.exprs.get(texts) {
            _ if !self.exprs.is_nullable(texts) => texts,
            Expr::Empty => self.exprs.nothing(),
            Expr::Repeat { body, max, .. } if !self.exprs.is_nullable(body) => {
                self.exprs.repeat(body, 1, max)
            }
            Expr::Choice(list) if depth > 0 => {
                let members = self.exprs.list(list).to_vec();
                let members: Vec<ExprId> =
                    members.into_iter().map(|id| self.not_empty(id, depth - 1)).collect();
                self.union(&members)
            }
            _ => self.exprs.and(&[texts, self.some]),
        }
    }

    /// `[c]Σ*`, also with the empty text beside it.
    fn first_edge(&self, id: ExprId) -> Option<Edge> {
        self.edge(id, |exprs, (first, rest), any| match exprs.get(first) {
            Expr::Chars { class, .. } if rest == any => Some((**exprs.class(class)).clone()),
            _ => None,
        })
    }

    /// `Σ*[c]`, also with the empty text beside it.
    fn last_edge(&self, id: ExprId) -> Option<Edge> {
        self.edge(id, |exprs, (first, rest), any| match exprs.get(rest) {
            Expr::Chars { class, .. } if first == any => Some((**exprs.class(class)).clone()),
            _ => None,
        })
    }

    fn edge(
        &self,
        id: ExprId,
        class_of: fn(&Exprs, (ExprId, ExprId), ExprId) -> Option<CharSet>,
    ) -> Option<Edge> {
        let (whole, or_empty) = match self.exprs.get(id) {
            Expr::Choice(list) => match *self.exprs.list(list) {
                [empty, whole] if empty == self.exprs.empty() => (whole, true),
                _ => return None,
            },
            _ => (id, false),
        };
        let Expr::Seq(first, rest) = self.exprs.get(whole) else {
            return None;
        };
        let class = class_of(&self.exprs, (first, rest), self.any)?;
        Some(Edge { class, or_empty })
    }

    fn meet_first(&mut self, texts: ExprId, whole: ExprId, edge: &Edge, depth: u32) -> ExprId {
        match self.exprs.get(texts) {
            Expr::Chars { class, .. } => {
                let class = self.exprs.class(class).intersection(&edge.class);
                self.chars(&class)
            }
            Expr::Repeat { body, min, max } if self.is_class(body) => {
                let head = self.meet_first(body, whole, edge, depth);
                let rest = self.exprs.repeat(body, min.saturating_sub(1), less_one(max));
                let texts = self.exprs.seq2(head, rest);
                if min == 0 && edge.or_empty { self.exprs.optional(texts) } else { texts }
            }
            Expr::Seq(head, rest) if depth > 0 && !self.exprs.is_nullable(head) => {
                let head = self.meet_first(head, whole, edge, depth - 1);
                self.exprs.seq2(head, rest)
            }
            Expr::Seq(head, rest) if depth > 0 => {
                let Expr::Repeat { body, max, .. } = self.exprs.get(head) else {
                    return self.exprs.and(&[texts, whole]);
                };
                if !self.is_class(body) {
                    return self.exprs.and(&[texts, whole]);
                }
                let head = self.exprs.repeat(body, 1, max);
                let head = self.meet_first(head, whole, edge, depth - 1);
                let begun = self.exprs.seq2(head, rest);
                let skipped = self.meet_first(rest, whole, edge, depth - 1);
                self.union(&[begun, skipped])
            }
            _ => self.meet_edge(texts, whole, edge, depth, Self::meet_first),
        }
    }

    fn meet_last(&mut self, texts: ExprId, whole: ExprId, edge: &Edge, depth: u32) -> ExprId {
        match self.exprs.get(texts) {
            Expr::Chars { .. } => self.meet_first(texts, whole, edge, depth),
            Expr::Repeat { body, min, max } if self.is_class(body) => {
                let last = self.meet_first(body, whole, edge, depth);
                let before = self.exprs.repeat(body, min.saturating_sub(1), less_one(max));
                let texts = self.exprs.seq2(before, last);
                if min == 0 && edge.or_empty { self.exprs.optional(texts) } else { texts }
            }
            Expr::Seq(..) if depth > 0 => {
                let mut parts = self.exprs.spine(texts);
                match parts.pop() {
                    Some(last) if !self.exprs.is_nullable(last) => {
                        parts.push(self.meet_last(last, whole, edge, depth - 1));
                        self.exprs.seq(&parts)
                    }
                    _ => self.exprs.and(&[texts, whole]),
                }
            }
            _ => self.meet_edge(texts, whole, edge, depth, Self::meet_last),
        }
    }

    /// What both sides have in common.
    fn meet_edge(
        &mut self,
        texts: ExprId,
        whole: ExprId,
        edge: &Edge,
        depth: u32,
        again: fn(&mut Self, ExprId, ExprId, &Edge, u32) -> ExprId,
    ) -> ExprId {
        match self.exprs.get(texts) {
            Expr::Nothing => texts,
            Expr::Empty if edge.or_empty => texts,
            Expr::Empty => self.exprs.nothing(),
            Expr::Choice(list) if depth > 0 => {
                let members = self.exprs.list(list).to_vec();
                let members: Vec<ExprId> =
                    members.into_iter().map(|id| again(self, id, whole, edge, depth - 1)).collect();
                self.union(&members)
            }
            _ => self.exprs.and(&[texts, whole]),
        }
    }

    /// How many characters every text of `id` has, if that is plain to see.
    pub(crate) fn length(&self, id: ExprId) -> Option<u32> {
        self.exprs.spine(id).into_iter().try_fold(0_u32, |length, part| {
            let (body, count) = match self.exprs.get(part) {
                Expr::Repeat { body, min, max } if min == max => (body, min),
                _ => (part, 1),
            };
            let one = match self.exprs.get(body) {
                Expr::Chars { .. } => 1,
                Expr::Empty => 0,
                _ => return None,
            };
            length.checked_add(count * one).filter(|&length| length < UNBOUNDED - 1)
        })
    }

    fn is_class(&self, id: ExprId) -> bool {
        matches!(self.exprs.get(id), Expr::Chars { .. })
    }

    /// What may follow a character of `atom` in the texts of `id` (Brzozowski, "Derivatives of
    /// regular expressions", 1964).
    pub(crate) fn derivative(&mut self, id: ExprId, atom: usize) -> Result<ExprId, Error> {
        let mut todo = vec![id];
        while let Some(&at) = todo.last() {
            if self.derivatives.contains_key(&(at, atom)) {
                todo.pop();
                continue;
            }
            let needed = needed_for_derivative(&self.exprs, at);
            let before = todo.len();
            todo.extend(needed.iter().filter(|&&id| !self.derivatives.contains_key(&(id, atom))));
            if todo.len() > before {
                continue;
            }
            let parts: Vec<ExprId> =
                needed.iter().map(|&id| self.derivatives[&(id, atom)]).collect();
            let derivative = self.derivative_of(at, atom, &parts);
            self.derivatives.insert((at, atom), derivative);
            todo.pop();
            self.check()?;
        }
        Ok(self.derivatives[&(id, atom)])
    }

    fn derivative_of(&mut self, id: ExprId, atom: usize, parts: &[ExprId]) -> ExprId {
        match self.exprs.get(id) {
            Expr::Nothing | Expr::Empty => self.exprs.nothing(),
            Expr::Chars { class, .. } => {
                let goes_on = self.exprs.class(class).contains(self.atoms.sample(atom));
                if goes_on { self.exprs.empty() } else { self.exprs.nothing() }
            }
            Expr::Seq(_, rest) => {
                let through = self.then(parts[0], rest);
                match parts.get(1) {
                    Some(&after) => self.union(&[through, after]),
                    None => through,
                }
            }
            Expr::Choice(_) => self.union(parts),
            Expr::And(_) => self.exprs.and(parts),
            Expr::Not(_) => self.exprs.not(parts[0]),
            Expr::Repeat { body, min, max } => {
                let rest = self.exprs.repeat(body, min.saturating_sub(1), less_one(max));
                self.then(parts[0], rest)
            }
            Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => unreachable!("the translation is made of classes"),
        }
    }
}

pub(crate) fn less_one(max: u32) -> u32 {
    if max == UNBOUNDED { UNBOUNDED } else { max.saturating_sub(1) }
}
