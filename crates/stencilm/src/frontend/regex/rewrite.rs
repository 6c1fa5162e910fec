//! Rebuilds expressions from their parts up, without recursion: the mirror image of a language,
//! and literals for runs of single characters.

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::grammar::{Expr, ExprId, Exprs, Imported, UNBOUNDED};

/// The parts whose derivatives the derivative of `id` is made of.
pub(crate) fn needed_for_derivative(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.get(id) {
        Expr::Seq(first, _) if !exprs.is_nullable(first) => vec![first],
        _ => exprs.parts(id),
    }
}

impl Algebra<'_> {
    /// The texts of `id` read from their ends.
    pub(crate) fn reversed(&mut self, id: ExprId) -> Result<ExprId, Error> {
        self.rewrite(id, |algebra, parts| {
            parts.iter().fold(algebra.exprs.empty(), |after, &part| algebra.then(part, after))
        })
    }

    /// `id` with literals where several single characters follow one another.
    pub(crate) fn with_literals(&mut self, id: ExprId) -> Result<ExprId, Error> {
        if self.spelling.is_free() {
            return Ok(id);
        }
        self.rewrite(id, |algebra, parts| {
            let mut done = Vec::with_capacity(parts.len());
            let mut at = 0;
            while at < parts.len() {
                let run: String =
                    parts[at..].iter().map_while(|&part| algebra.only_char(part)).collect();
                let len = run.chars().count();
                if len > 1 {
                    done.push(algebra.exprs.text(&run, algebra.spelling));
                    at += len;
                } else {
                    done.push(parts[at]);
                    at += 1;
                }
            }
            algebra.exprs.seq(&done)
        })
    }

    fn only_char(&self, id: ExprId) -> Option<char> {
        let Expr::Chars { class, .. } = self.exprs.get(id) else {
            return None;
        };
        match self.exprs.class(class).ranges() {
            [(low, high)] if low == high => char::from_u32(*low),
            _ => None,
        }
    }

    /// A superset of `id` in which nothing is counted and nothing ruled out.
    pub(crate) fn relaxed(&mut self, id: ExprId) -> Result<ExprId, Error> {
        let mut done = Imported::default();
        self.rebuild_all(id, &mut done, |algebra, at, parts| match algebra.exprs.get(at) {
            Expr::Repeat { min: 0, .. } => algebra.exprs.repeat(parts[0], 0, UNBOUNDED),
            Expr::Repeat { .. } => algebra.exprs.repeat(parts[0], 1, UNBOUNDED),
            Expr::And(_) | Expr::Not(_) => algebra.any,
            _ => algebra.same_kind(at, parts),
        })
    }

    /// Rebuilds `id` with `sequence` in place of the arena's own constructor.
    fn rewrite(
        &mut self,
        id: ExprId,
        sequence: fn(&mut Self, &[ExprId]) -> ExprId,
    ) -> Result<ExprId, Error> {
        let mut done = Imported::default();
        self.rebuild_all(id, &mut done, |algebra, at, parts| match algebra.exprs.get(at) {
            Expr::Seq(..) => sequence(algebra, parts),
            _ => algebra.same_kind(at, parts),
        })
    }

    /// Makes every expression inside `id` again, parts first. A sequence has all its parts at once.
    fn rebuild_all(
        &mut self,
        id: ExprId,
        done: &mut Imported,
        make: impl Fn(&mut Self, ExprId, &[ExprId]) -> ExprId,
    ) -> Result<ExprId, Error> {
        let mut todo = vec![id];
        while let Some(&at) = todo.last() {
            if done.contains_key(&at) {
                todo.pop();
                continue;
            }
            let parts = match self.exprs.get(at) {
                Expr::Seq(..) => self.exprs.spine(at),
                _ => self.exprs.parts(at),
            };
            let before = todo.len();
            todo.extend(parts.iter().filter(|part| !done.contains_key(*part)));
            if todo.len() == before {
                let parts: Vec<ExprId> = parts.iter().map(|part| done[part]).collect();
                let copy = make(self, at, &parts);
                done.insert(at, copy);
                todo.pop();
            }
            self.check()?;
        }
        Ok(done[&id])
    }

    fn same_kind(&mut self, id: ExprId, parts: &[ExprId]) -> ExprId {
        match self.exprs.get(id) {
            Expr::Seq(..) => self.exprs.seq(parts),
            Expr::Choice(_) => self.union(parts),
            Expr::And(_) => self.exprs.and(parts),
            Expr::Not(_) => self.exprs.not(parts[0]),
            Expr::Repeat { min, max, .. } => self.exprs.repeat(parts[0], min, max),
            _ => id,
        }
    }
}
