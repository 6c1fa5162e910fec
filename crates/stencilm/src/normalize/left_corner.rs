//! Which rules may come first in an expression.

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs, RuleSet};
use crate::limits::Budget;

/// The rules that each rule may begin with, sorted. Called rules must not be nullable.
pub(crate) fn left_calls_of_all(
    rules: &RuleSet,
    budget: &mut Budget,
) -> Result<Vec<Vec<u32>>, Error> {
    rules.rules.iter().map(|&(_, body)| left_calls(&rules.exprs, body, budget)).collect()
}

/// The rules that `id` may begin with, sorted.
pub(crate) fn left_calls(
    exprs: &Exprs,
    id: ExprId,
    budget: &mut Budget,
) -> Result<Vec<u32>, Error> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        budget.tick()?;
        if !exprs.has_calls(id) || !seen.insert(id) {
            continue;
        }
        match exprs.get(id) {
            Expr::Call(rule) if rule.supplied().is_none() => found.push(rule.0),
            _ => todo.extend(left_parts(exprs, id)),
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The parts that may come first in an expression.
pub(crate) fn left_parts(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.get(id) {
        Expr::Seq(first, _) if !exprs.is_nullable(first) => vec![first],
        _ => exprs.parts(id),
    }
}
