//! Numbers the rules that the start reaches so that callers come before callees wherever a call
//! may come first, and moves them into an arena of their own.

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs, RuleId, RuleSet, starts};
use crate::limits::Budget;
use crate::normalize::Normalized;
use crate::normalize::graph::{as_id, components};
use crate::normalize::left_corner::left_calls_of_all;
use crate::normalize::rewrite::{Rewritten, replace_calls, with_calls};

/// Drops what cannot be reached and orders the rest.
pub(crate) fn order(
    rules: RuleSet,
    accepts_empty: bool,
    budget: &mut Budget,
) -> Result<Normalized, Error> {
    let reached = reached(&rules, budget)?;
    let left_calls = left_calls_of_all(&rules, budget)?;
    let mut ids: Vec<Option<RuleId>> = vec![None; rules.rules.len()];
    let mut order: Vec<usize> = Vec::new();
    // Components come callees first; left recursion is gone, so each is one rule.
    for component in components(&left_calls, budget)?.into_iter().rev() {
        let rule = component[0] as usize;
        assert!(
            component.len() == 1 && left_calls[rule].binary_search(&component[0]).is_err(),
            "left recursion was eliminated"
        );
        if reached[rule] {
            ids[rule] = Some(RuleId(as_id(order.len())));
            order.push(rule);
        }
    }
    let supplied = starts(as_id(order.len()), &rules.supplied)?;
    let mut exprs = Exprs::default();
    let (mut moved, mut renumbered) = (Rewritten::default(), Rewritten::default());
    let mut bodies = Vec::with_capacity(order.len());
    for rule in order {
        budget.tick()?;
        let (name, body) = &rules.rules[rule];
        let copy = exprs.import(&rules.exprs, *body, &mut moved);
        let body =
            replace_calls(&mut exprs, copy, &mut renumbered, budget, &mut |exprs, callee| {
                match callee.supplied() {
                    Some(place) => exprs.call(supplied[place]),
                    None => exprs.call(ids[callee.0 as usize].expect("what calls it is reached")),
                }
            })?;
        bodies.push((name.clone(), body));
    }
    let start = ids[rules.start.0 as usize].unwrap_or(RuleId(0));
    let marks = rules.marks.into_iter();
    let marks = marks.filter_map(|(rule, mark)| Some((ids[rule.0 as usize]?, mark))).collect();
    Ok(Normalized { exprs, rules: bodies, start, accepts_empty, marks, supplied: rules.supplied })
}

/// Whether the start reaches each rule.
fn reached(rules: &RuleSet, budget: &mut Budget) -> Result<Vec<bool>, Error> {
    let mut reached = vec![false; rules.rules.len()];
    reached[rules.start.0 as usize] = true;
    let mut todo = vec![rules.start.0 as usize];
    while let Some(rule) = todo.pop() {
        let body: ExprId = rules.rules[rule].1;
        for id in with_calls(&rules.exprs, &[body], budget)? {
            if let Expr::Call(callee) = rules.exprs.get(id)
                && callee.supplied().is_none()
            {
                let callee = callee.0 as usize;
                if !std::mem::replace(&mut reached[callee], true) {
                    todo.push(callee);
                }
            }
        }
    }
    Ok(reached)
}
