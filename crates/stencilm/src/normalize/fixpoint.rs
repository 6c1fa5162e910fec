//! The least solution of "this expression has the property if its parts have it", in linear time.
//!
//! Every expression is a gate: a sequence waits for both parts, a choice for any, a call for the
//! rule's body. What becomes true is told to what waits for it, once.

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs, RuleSet};
use crate::limits::Budget;
use crate::normalize::rewrite::with_calls;

/// Whether each rule has the property; `leaf` says so for an expression without calls.
pub(crate) fn least(
    rules: &RuleSet,
    budget: &mut Budget,
    leaf: &dyn Fn(&Exprs, ExprId) -> bool,
) -> Result<Vec<bool>, Error> {
    let exprs = &rules.exprs;
    let roots: Vec<ExprId> = rules.rules.iter().map(|&(_, body)| body).collect();
    // Gates: first the expressions, by their ids, then the rules.
    let gate = |id: ExprId| id.0 as usize;
    let rule_gate = |rule: usize| exprs.len() + rule;
    let gates = exprs.len() + rules.rules.len();
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    let mut missing = vec![1_u8; gates];
    let mut is_true = vec![false; gates];
    let mut turned: Vec<usize> = Vec::new();
    let turn = |at: usize, is_true: &mut Vec<bool>, turned: &mut Vec<usize>| {
        if !std::mem::replace(&mut is_true[at], true) {
            turned.push(at);
        }
    };
    for id in with_calls(exprs, &roots, budget)? {
        let at = gate(id);
        match exprs.get(id) {
            Expr::Call(rule) if rule.supplied().is_none() => {
                waiting.push((rule_gate(rule.0 as usize), at));
            }
            Expr::Repeat { min: 0, .. } => turn(at, &mut is_true, &mut turned),
            Expr::Seq(..) | Expr::Choice(_) | Expr::Repeat { .. } => {
                let parts = exprs.parts(id);
                missing[at] = if let Expr::Seq(..) = exprs.get(id) { 2 } else { 1 };
                for part in parts {
                    waiting.push((gate(part), at));
                    if !exprs.has_calls(part) && leaf(exprs, part) {
                        turn(gate(part), &mut is_true, &mut turned);
                    }
                }
            }
            _ if leaf(exprs, id) => turn(at, &mut is_true, &mut turned),
            _ => {}
        }
    }
    for (rule, &body) in roots.iter().enumerate() {
        waiting.push((gate(body), rule_gate(rule)));
        if !exprs.has_calls(body) && leaf(exprs, body) {
            turn(gate(body), &mut is_true, &mut turned);
        }
    }
    waiting.sort_unstable();
    while let Some(at) = turned.pop() {
        budget.tick()?;
        let from = waiting.partition_point(|&(of, _)| of < at);
        for &(_, waiter) in waiting[from..].iter().take_while(|&&(of, _)| of == at) {
            missing[waiter] = missing[waiter].saturating_sub(1);
            if missing[waiter] == 0 {
                turn(waiter, &mut is_true, &mut turned);
            }
        }
    }
    Ok(is_true.split_off(exprs.len()))
}
