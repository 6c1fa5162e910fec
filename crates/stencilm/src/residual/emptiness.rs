//! Whether an expression matches any text: only intersections and complements can hide that none
//! does.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs};
use crate::limits::Budget;
use crate::residual::{Alive, NoRules, Residuals};

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
    let arena = std::mem::take(exprs);
    let rules = std::sync::Arc::new(NoRules);
    let mut residuals = Residuals::over(arena, rules, budget.limits, (0, 0));
    let result = residuals.without_empty_parts(id);
    *exprs = residuals.exprs;
    result
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
            Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
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

    /// Depth-first search for a text, with what lengths tell as a short cut.
    fn search(&mut self, id: ExprId) -> Result<bool, Error> {
        let mut seen: HashSet<ExprId, FxBuildHasher> = HashSet::default();
        // The path from `id` to the expression looked at, each with what is still to be tried.
        let mut path: Vec<(ExprId, Vec<ExprId>)> = Vec::new();
        let mut next = Some(id);
        loop {
            if let Some(at) = next.take() {
                if self.is_surely_alive(at)? {
                    self.known(at).alive = Alive::Yes;
                    for (on_path, _) in path {
                        self.known(on_path).alive = Alive::Yes;
                    }
                    return Ok(true);
                }
                seen.insert(at);
                if seen.len() > self.limits.search {
                    return Err(Error::limit("search", self.limits.search));
                }
                let rests = match self.known(at).alive {
                    Alive::No => Vec::new(),
                    _ => self.rests_of_and(at)?,
                };
                path.push((at, rests));
            }
            let Some((_, rests)) = path.last_mut() else {
                break;
            };
            match rests.pop() {
                Some(rest) if seen.contains(&rest) => {}
                Some(rest) => next = Some(rest),
                None => {
                    path.pop();
                }
            }
        }
        // Nothing that can be reached matches.
        for at in seen {
            if matches!(self.exprs.get(at), Expr::And(_)) {
                self.known(at).alive = Alive::No;
            }
        }
        Ok(false)
    }

    fn is_surely_alive(&mut self, id: ExprId) -> Result<bool, Error> {
        let Expr::And(list) = self.exprs.get(id) else {
            // Only an intersection can be empty, and `Nothing` is never tried.
            return Ok(true);
        };
        if self.exprs.is_nullable(id) || self.known(id).alive == Alive::Yes {
            return Ok(true);
        }
        let members = self.exprs.list(list).to_vec();
        match self.length_verdict(&members)? {
            Some(false) => {
                self.known(id).alive = Alive::No;
                Ok(false)
            }
            Some(true) => Ok(true),
            None => Ok(false),
        }
    }

    /// What an intersection leads to, whether empty or not; short ways out come last, to be tried
    /// first.
    fn rests_of_and(&mut self, id: ExprId) -> Result<Vec<ExprId>, Error> {
        let Expr::And(list) = self.exprs.get(id) else {
            return Ok(Vec::new());
        };
        let nothing = self.exprs.nothing();
        let mut rests = Vec::new();
        for byte in self.first_bytes(id)? {
            let rest = self.derive_and(list, byte)?;
            if rest != nothing && !rests.contains(&rest) {
                rests.push(rest);
            }
        }
        rests.sort_by_key(|&rest| std::cmp::Reverse(self.exprs.is_nullable(rest)));
        rests.reverse();
        Ok(rests)
    }
}
