//! Settles which rules match the empty text, and takes it out of them: a rule stands for its texts
//! that are not empty, and where a nullable rule was called, the call is optional.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs, RuleId, RuleSet};
use crate::limits::Budget;
use crate::normalize::fixpoint::least;
use crate::normalize::graph::as_id;
use crate::normalize::rewrite::{check_room, replace_all_calls};

/// The same expressions without the empty text, as far as they are made.
pub(crate) type NonEmpty = FxHashMap<ExprId, ExprId>;

/// Parts of a nullable sequence that are looked at together.
const LONGEST_CUT: usize = 32;

/// Splits every rule; whether each matched the empty text.
pub(crate) fn split(rules: &mut RuleSet, budget: &mut Budget) -> Result<Vec<bool>, Error> {
    let nullable = least(rules, budget, &Exprs::is_nullable)?;
    if nullable.contains(&true) {
        replace_all_calls(rules, budget, &mut |exprs, rule| {
            let call = exprs.call(rule);
            let is_nullable = nullable.get(rule.0 as usize) == Some(&true);
            if is_nullable { exprs.optional(call) } else { call }
        })?;
        let mut done = NonEmpty::default();
        for rule in 0..rules.rules.len() {
            rules.rules[rule].1 = non_empty(rules, rules.rules[rule].1, &mut done, budget)?;
        }
    }
    Ok(nullable)
}

/// The texts of `id` that are not empty; may add rules. Called rules must not be nullable.
///
/// With `+x` for `x` without the empty text: `+(x y) = (+x)y | +y` where both are nullable (else
/// nothing is to do), `+(x | y) = +x | +y`, `+(x{0,n}) = (+x){1,n}`.
pub(crate) fn non_empty(
    rules: &mut RuleSet,
    id: ExprId,
    done: &mut NonEmpty,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut todo = vec![id];
    while let Some(&at) = todo.last() {
        let exprs = &rules.exprs;
        if done.contains_key(&at) {
            todo.pop();
            continue;
        }
        check_room(exprs, budget)?;
        if !exprs.is_nullable(at) {
            done.insert(at, at);
            todo.pop();
            continue;
        }
        let open = todo.len();
        todo.extend(needed(exprs, at).into_iter().filter(|part| !done.contains_key(part)));
        if todo.len() == open {
            let new = match rules.exprs.get(at) {
                Expr::Seq(..) => sequence(rules, at, done, budget)?,
                _ => build(&mut rules.exprs, at, done),
            };
            done.insert(at, new);
            todo.pop();
        }
    }
    Ok(done.get(&id).copied().unwrap_or(id))
}

/// The parts whose non-empty texts are asked for.
fn needed(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.get(id) {
        Expr::Seq(..) => exprs.spine(id),
        Expr::Choice(list) => exprs.list(list).to_vec(),
        Expr::Repeat { body, .. } => vec![body],
        Expr::And(list) => text_member(exprs, exprs.list(list)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The first member of an `And` that is no `Not`: enough to take the empty text out of.
fn text_member(exprs: &Exprs, members: &[ExprId]) -> Option<ExprId> {
    members.iter().copied().find(|&member| !matches!(exprs.get(member), Expr::Not(_)))
}

/// Along the whole sequence at once: `+(x y z) = (+x)y z | (+y)z | +z`. A long one is cut, and each
/// cut but the first becomes a rule, or the alternatives' common beginnings would nest as deep as
/// the sequence is long.
fn sequence(
    rules: &mut RuleSet,
    id: ExprId,
    done: &NonEmpty,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let exprs = &mut rules.exprs;
    let parts = exprs.spine(id);
    if parts.len() > LONGEST_CUT && !exprs.has_calls(id) {
        // Rules have no place in regular expressions. The first byte takes this `And` away.
        return Ok(exprs.minus(id, exprs.empty()));
    }
    let mut rest = exprs.empty();
    let mut non_empty_rest = exprs.nothing();
    for (place, cut) in parts.chunks(LONGEST_CUT).enumerate().rev() {
        let exprs = &mut rules.exprs;
        check_room(exprs, budget)?;
        let mut alternatives = vec![non_empty_rest];
        for &part in cut.iter().rev() {
            let begun = done.get(&part).copied().unwrap_or(part);
            alternatives.push(exprs.seq2(begun, rest));
            rest = exprs.seq2(part, rest);
        }
        non_empty_rest = exprs.choice(&alternatives);
        if place > 0 {
            let rule = RuleId(as_id(rules.rules.len()));
            if rules.rules.len() >= budget.limits.rules {
                return Err(Error::limit("rules", budget.limits.rules));
            }
            rules.rules.push(("rest".to_owned(), non_empty_rest));
            non_empty_rest = rules.exprs.call(rule);
            rest = rules.exprs.optional(non_empty_rest);
        }
    }
    Ok(non_empty_rest)
}

fn build(exprs: &mut Exprs, id: ExprId, done: &NonEmpty) -> ExprId {
    let of = |part: ExprId| done.get(&part).copied().unwrap_or(part);
    match exprs.get(id) {
        Expr::Empty => exprs.nothing(),
        // The list is sorted: the empty rest is its first.
        Expr::OneOf { literals, low, high, depth, spelling } => {
            exprs.one_of_run(literals, (low + 1, high), depth, spelling)
        }
        Expr::Choice(list) => {
            let members: Vec<ExprId> = exprs.list(list).iter().map(|&part| of(part)).collect();
            exprs.choice(&members)
        }
        Expr::Repeat { body, max, .. } => exprs.repeat(of(body), 1, max),
        Expr::And(list) => {
            let members = exprs.list(list).to_vec();
            match text_member(exprs, &members) {
                Some(text) => {
                    let members: Vec<ExprId> = members
                        .iter()
                        .map(|&part| if part == text { of(part) } else { part })
                        .collect();
                    exprs.and(&members)
                }
                None => exprs.minus(id, exprs.empty()),
            }
        }
        Expr::Not(_) => exprs.minus(id, exprs.empty()),
        _ => id,
    }
}
