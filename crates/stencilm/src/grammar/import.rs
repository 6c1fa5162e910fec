//! Copies expressions from one arena into another.

use crate::grammar::arena::{Exprs, IdMap};
use crate::grammar::char_set::CharSet;
use crate::grammar::expr::{Expr, ExprId, LiteralId};

/// What was copied already, by the id in the arena it came from.
pub type Imported = IdMap<ExprId, ExprId>;

impl Exprs {
    /// Makes in this arena what `id` is in `from`; ids of rules and states stay as they are.
    /// Pass the same `done` for all expressions of one arena.
    pub fn import(&mut self, from: &Self, id: ExprId, done: &mut Imported) -> ExprId {
        let mut todo = vec![id];
        while let Some(&at) = todo.last() {
            if done.contains_key(&at) {
                todo.pop();
                continue;
            }
            let missing: Vec<ExprId> =
                from.parts(at).into_iter().filter(|part| !done.contains_key(part)).collect();
            if missing.is_empty() {
                let copy = self.rebuild(from, at, &|part| done[&part]);
                done.insert(at, copy);
                todo.pop();
            } else {
                todo.extend(missing);
            }
        }
        done[&id]
    }

    /// The expressions that this one is made of.
    #[must_use]
    pub fn parts(&self, id: ExprId) -> Vec<ExprId> {
        match self.get(id) {
            Expr::Seq(first, rest) => vec![first, rest],
            Expr::Choice(list) | Expr::And(list) => self.list(list).to_vec(),
            Expr::Repeat { body, .. } | Expr::Not(body) | Expr::OtherName(body) => vec![body],
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
            | Expr::Names { .. } => Vec::new(),
        }
    }

    /// The expression with `new` in place of each part.
    pub(crate) fn map_parts(&mut self, id: ExprId, new: &dyn Fn(ExprId) -> ExprId) -> ExprId {
        let members = |exprs: &Self, list| -> Vec<ExprId> {
            exprs.list(list).iter().map(|&member| new(member)).collect()
        };
        match self.get(id) {
            Expr::Seq(first, rest) => self.seq2(new(first), new(rest)),
            Expr::Choice(list) => {
                let members = members(self, list);
                if members == self.list(list) { id } else { self.choice(&members) }
            }
            Expr::And(list) => {
                let members = members(self, list);
                if members == self.list(list) { id } else { self.and(&members) }
            }
            Expr::Repeat { body, min, max } => self.repeat(new(body), min, max),
            Expr::Not(body) => self.not(new(body)),
            Expr::OtherName(text) => self.other_name(new(text)),
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
            | Expr::Names { .. } => id,
        }
    }

    /// Makes in this arena what `id` is in `from`, with `new` in place of each part.
    pub(crate) fn rebuild(
        &mut self,
        from: &Self,
        id: ExprId,
        new: &dyn Fn(ExprId) -> ExprId,
    ) -> ExprId {
        match from.get(id) {
            Expr::Nothing => self.nothing(),
            Expr::Empty => self.empty(),
            Expr::Bytes { literal, from: at } => {
                let literal = self.literal_id(from.literal(literal));
                self.bytes_from(literal, at)
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                let ids: Vec<LiteralId> = from.literal_ids(literals).to_vec();
                let ids = ids.into_iter().map(|id| self.literal_id(from.literal(id))).collect();
                let list = self.literal_list(ids);
                self.one_of_run(list, (low, high), depth, spelling)
            }
            Expr::Bytes1(set) => self.byte_set(&from.byte_set_of(set)),
            Expr::Chars { class, spelling } => {
                let class: &CharSet = from.class(class);
                self.chars(class, spelling)
            }
            Expr::Partial { class, spelling, progress } => {
                self.partial(&from.class(class).clone(), spelling, progress)
            }
            Expr::Number { set, state } => {
                let set = self.number_set_id(from.number_set(set));
                self.number_from(set, (**from.number_state(state)).clone())
            }
            Expr::Token(name) => self.token(from.token_name(name)),
            Expr::Seq(first, rest) => self.seq2(new(first), new(rest)),
            Expr::Choice(list) => {
                let members: Vec<ExprId> = from.list(list).iter().map(|&m| new(m)).collect();
                self.choice(&members)
            }
            Expr::And(list) => {
                let members: Vec<ExprId> = from.list(list).iter().map(|&m| new(m)).collect();
                self.and(&members)
            }
            Expr::Repeat { body, min, max } => self.repeat(new(body), min, max),
            Expr::Not(body) => self.not(new(body)),
            Expr::OtherName(text) => self.other_name(new(text)),
            Expr::Call(rule) => match from.items.get(rule) {
                Some(depends) => self.next_item(rule, depends),
                None => self.call(rule),
            },
            Expr::Names { state, low, high, depth, other } => {
                self.names(state, low, high, depth, other)
            }
        }
    }
}
