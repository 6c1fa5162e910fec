//! Puts small rules in place of their calls, where that costs less than a frame of the stack.
//!
//! A rule that is only another's name (`a ::= b`) gives way to that one. Inlined are rules that no
//! chain of calls leads back to, except the start and those with a mark, if they are
//! - hardly larger than a call (`comma ::= ","`),
//! - regular and small (blanks, digits),
//! - or called from one place only and not large.
//!
//! A larger regular rule (a string) stays a rule on purpose: its masks are then found by its
//! content alone, whatever follows the call.

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs, RuleId, RuleSet};
use crate::limits::Budget;
use crate::normalize::graph::{as_id, components};
use crate::normalize::rewrite::{Rewritten, replace_calls, size_within, with_calls};

/// Parts of a rule that is inlined anywhere.
const TINY: usize = 3;
/// Parts of a regular rule that is inlined anywhere.
const SMALL: usize = 8;
/// Parts of a rule that is inlined where it is the only call.
const MEDIUM: usize = 24;

/// Inlines rules, callees first. The rules themselves stay, some without a call.
pub(crate) fn inline(rules: &mut RuleSet, budget: &mut Budget) -> Result<(), Error> {
    let calls = calls_of_all(rules, budget)?;
    let mut uses = vec![0_usize; rules.rules.len()];
    for &callee in live_calls(rules, &calls).iter().flat_map(|&caller| &calls[caller]) {
        uses[callee as usize] += 1;
    }
    let mut is_marked = vec![false; rules.rules.len()];
    for (rule, _) in &rules.marks {
        is_marked[rule.0 as usize] = true;
    }
    let meant = names_of_others(rules, &is_marked);
    let mut inlined: Vec<Option<ExprId>> = vec![None; rules.rules.len()];
    let mut done = Rewritten::default();
    for component in components(&calls, budget)? {
        for &rule in &component {
            let at = rule as usize;
            let exprs = &mut rules.exprs;
            let mut called = |exprs: &mut Exprs, callee: RuleId| {
                let callee = meant.get(callee.0 as usize).copied().unwrap_or(callee);
                let body = inlined.get(callee.0 as usize).copied().flatten();
                body.unwrap_or_else(|| exprs.call(callee))
            };
            let body = rules.rules[at].1;
            let body = replace_calls(exprs, body, &mut done, budget, &mut called)?;
            rules.rules[at].1 = body;
            let is_recursive = component.len() > 1 || calls[at].contains(&rule);
            let size = size_within(exprs, body, MEDIUM + 1);
            let most = match (exprs.has_calls(body), uses[at]) {
                (_, 1) => MEDIUM,
                (false, _) => SMALL,
                (true, _) => TINY,
            };
            if size <= most && !is_recursive && !is_marked[at] && rule != rules.start.0 {
                inlined[at] = Some(body);
            }
        }
    }
    Ok(())
}

/// The rule that each rule stands for: itself, or the one at the end of a chain of names. Such a
/// chain ends, since there is no left recursion.
fn names_of_others(rules: &RuleSet, is_marked: &[bool]) -> Vec<RuleId> {
    let mut meant: Vec<Option<RuleId>> = vec![None; rules.rules.len()];
    for rule in 0..rules.rules.len() {
        let mut chain = Vec::new();
        let mut at = RuleId(as_id(rule));
        let end = loop {
            if let Some(end) = meant[at.0 as usize] {
                break end;
            }
            chain.push(at);
            match rules.exprs.get(rules.rules[at.0 as usize].1) {
                Expr::Call(next) if next.supplied().is_none() && !is_marked[at.0 as usize] => {
                    at = next;
                }
                _ => break at,
            }
        };
        for name in chain {
            meant[name.0 as usize] = Some(end);
        }
    }
    meant.into_iter().flatten().collect()
}

/// The rules that each rule calls, once for each place.
fn calls_of_all(rules: &RuleSet, budget: &mut Budget) -> Result<Vec<Vec<u32>>, Error> {
    let exprs = &rules.exprs;
    let mut calls = Vec::with_capacity(rules.rules.len());
    for &(_, body) in &rules.rules {
        let mut called = Vec::new();
        let mut note = |id: ExprId| {
            if let Expr::Call(rule) = exprs.get(id)
                && rule.supplied().is_none()
            {
                called.push(rule.0);
            }
        };
        note(body);
        for id in with_calls(exprs, &[body], budget)? {
            exprs.parts(id).into_iter().for_each(&mut note);
        }
        calls.push(called);
    }
    Ok(calls)
}

/// The rules that the start reaches.
fn live_calls(rules: &RuleSet, calls: &[Vec<u32>]) -> Vec<usize> {
    let mut is_live = vec![false; calls.len()];
    let mut todo = vec![rules.start.0];
    let mut live = Vec::new();
    while let Some(rule) = todo.pop() {
        let at = rule as usize;
        if !std::mem::replace(&mut is_live[at], true) {
            live.push(at);
            todo.extend(&calls[at]);
        }
    }
    live
}
