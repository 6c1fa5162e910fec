//! Drops rules that no text can ever match.

use crate::error::Error;
use crate::grammar::{Expr, RuleSet};
use crate::limits::Budget;
use crate::normalize::fixpoint::least;
use crate::normalize::rewrite::replace_all_calls;

/// Makes every call of an unproductive rule `Nothing`; whether each rule is productive.
///
/// `And` may hide that an expression matches nothing: it counts as productive.
pub(crate) fn drop_unproductive(
    rules: &mut RuleSet,
    budget: &mut Budget,
) -> Result<Vec<bool>, Error> {
    let productive = least(rules, budget, &|exprs, id| !matches!(exprs.get(id), Expr::Nothing))?;
    if productive.contains(&false) {
        replace_all_calls(rules, budget, &mut |exprs, rule| {
            let is_lost = productive.get(rule.0 as usize) == Some(&false);
            if is_lost { exprs.nothing() } else { exprs.call(rule) }
        })?;
    }
    Ok(productive)
}
