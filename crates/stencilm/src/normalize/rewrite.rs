//! Rewriting expressions from their parts up, without recursion.
//!
//! Invariant used everywhere: an arena makes parts before wholes, so rising ids are an order in
//! which every part comes before what it is part of.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::grammar::{ExprId, Exprs, RuleId, RuleSet};
use crate::limits::Budget;

/// What each expression became; those without calls are not listed and stay as they are.
pub(crate) type Rewritten = FxHashMap<ExprId, ExprId>;

/// The expressions with calls that the roots are made of, parts before wholes.
pub(crate) fn with_calls(
    exprs: &Exprs,
    roots: &[ExprId],
    budget: &mut Budget,
) -> Result<Vec<ExprId>, Error> {
    let mut seen = FxHashSet::default();
    let mut found: Vec<ExprId> = Vec::new();
    let mut todo: Vec<ExprId> = roots.to_vec();
    while let Some(id) = todo.pop() {
        if exprs.has_calls(id) && seen.insert(id) {
            budget.tick()?;
            found.push(id);
            todo.extend(exprs.parts(id));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Puts `called(rule)` in place of every call in `id`; `done` is kept between the expressions of
/// one arena.
pub(crate) fn replace_calls(
    exprs: &mut Exprs,
    id: ExprId,
    done: &mut Rewritten,
    budget: &mut Budget,
    called: &mut dyn FnMut(&mut Exprs, RuleId) -> ExprId,
) -> Result<ExprId, Error> {
    let mut todo = vec![id];
    while let Some(&at) = todo.last() {
        if done.contains_key(&at) || !exprs.has_calls(at) {
            todo.pop();
            continue;
        }
        check_room(exprs, budget)?;
        let open = todo.len();
        for part in exprs.parts(at) {
            if exprs.has_calls(part) && !done.contains_key(&part) {
                todo.push(part);
            }
        }
        if todo.len() == open {
            let new = match exprs.get(at) {
                crate::grammar::Expr::Call(rule) => called(exprs, rule),
                _ => exprs.map_parts(at, &|part| done.get(&part).copied().unwrap_or(part)),
            };
            done.insert(at, new);
            todo.pop();
        }
    }
    Ok(done.get(&id).copied().unwrap_or(id))
}

/// Puts `called(rule)` in place of every call in every body.
pub(crate) fn replace_all_calls(
    rules: &mut RuleSet,
    budget: &mut Budget,
    called: &mut dyn FnMut(&mut Exprs, RuleId) -> ExprId,
) -> Result<(), Error> {
    let mut done = Rewritten::default();
    for (_, body) in &mut rules.rules {
        *body = replace_calls(&mut rules.exprs, *body, &mut done, budget, called)?;
    }
    Ok(())
}

/// Whether there is time, and room for more expressions.
pub(crate) fn check_room(exprs: &Exprs, budget: &mut Budget) -> Result<(), Error> {
    budget.tick()?;
    let allowed = budget.limits.expressions;
    if exprs.len() > allowed { Err(Error::limit("expressions", allowed)) } else { Ok(()) }
}

/// How many expressions `id` is made of, counted as a tree; `limit` if there are more.
pub(crate) fn size_within(exprs: &Exprs, id: ExprId, limit: usize) -> usize {
    let mut todo = vec![id];
    let mut size = 0;
    while let (Some(id), true) = (todo.pop(), size < limit) {
        size += 1;
        todo.extend(exprs.parts(id));
    }
    size
}
