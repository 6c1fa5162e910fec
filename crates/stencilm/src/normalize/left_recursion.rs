//! Takes out left recursion: afterwards no rule comes to itself again before it has read a byte.
//!
//! Within a component of the left-corner relation every body is `A = Σ B·M[B,A] + R[A]`, B being
//! the rules of the component that may come first. Eliminated one after the other, as Gauss does
//! (and Arden's lemma solves the loop): `A = (R + Σ B·M[B,A])·M[A,A]*`. What is put into the rules
//! that are left has no A; A itself keeps the Bs as calls, which come later in the order, so that
//! the relation has no cycle any more. (Put in place of the calls, eight rules grew to 20,000
//! residuals; with calls they have 291.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Location};
use crate::grammar::{Expr, ExprId, Exprs, Mark, RuleId, RuleSet, UNBOUNDED};
use crate::limits::Budget;
use crate::normalize::graph::{as_id, components};
use crate::normalize::left_corner::{left_calls_of_all, left_parts};
use crate::normalize::nullable::{NonEmpty, non_empty};
use crate::normalize::rewrite::{check_room, size_within};

/// Expressions of more parts become rules of their own before they are put into others: a
/// component of n rules would nest n deep otherwise, and copy n² parts.
const LARGEST_COPY: usize = 64;

/// Eliminates left recursion from all rules. Called rules must not be nullable.
pub(crate) fn eliminate(rules: &mut RuleSet, budget: &mut Budget) -> Result<(), Error> {
    let left_calls = left_calls_of_all(rules, budget)?;
    for component in components(&left_calls, budget)? {
        let first = component[0];
        let is_marked = |(rule, _): &(RuleId, Mark)| component.contains(&rule.0);
        if component.len() > 1
            && let Some((rule, _)) = rules.marks.iter().find(|mark| is_marked(mark))
        {
            let feature = format!(
                "an option of the rule `{}`, which comes to itself through other rules before \
                 anything is read",
                rules.rules[rule.0 as usize].0
            );
            return Err(Error::unsupported(feature, Location::Whole));
        }
        if component.len() > 1 || left_calls[first as usize].binary_search(&first).is_ok() {
            Component::new(rules, &component, budget)?.solve(budget)?;
        }
    }
    Ok(())
}

/// The equations of one component, as far as they are solved.
#[derive(Debug)]
struct Component<'a> {
    rules: &'a mut RuleSet,
    /// The rules that are not eliminated yet, each with its equation.
    equations: BTreeMap<u32, Equation>,
    /// For each rule the others whose equations begin with it.
    users: BTreeMap<u32, BTreeSet<u32>>,
    /// Expressions that became rules of their own.
    extracted: FxHashMap<ExprId, ExprId>,
    non_empty: NonEmpty,
}

/// `A = Σ B·M[B,A] + R[A]`, each sum as a list of its terms.
#[derive(Debug, Default)]
struct Equation {
    after: BTreeMap<u32, Vec<ExprId>>,
    rest: Vec<ExprId>,
}

impl<'a> Component<'a> {
    fn new(rules: &'a mut RuleSet, members: &[u32], budget: &mut Budget) -> Result<Self, Error> {
        let inside: FxHashSet<u32> = members.iter().copied().collect();
        let mut component = Self {
            rules,
            equations: BTreeMap::new(),
            users: members.iter().map(|&rule| (rule, BTreeSet::new())).collect(),
            extracted: FxHashMap::default(),
            non_empty: NonEmpty::default(),
        };
        for &rule in members {
            let equation = component.equation(rule, &inside, budget)?;
            for &first in equation.after.keys() {
                component.users.entry(first).or_default().insert(rule);
            }
            component.equations.insert(rule, equation);
        }
        Ok(component)
    }

    /// Sorts what a rule's body may begin with by the rules of the component.
    fn equation(
        &mut self,
        rule: u32,
        inside: &FxHashSet<u32>,
        budget: &mut Budget,
    ) -> Result<Equation, Error> {
        let body = self.rules.rules[rule as usize].1;
        let entering = entering(&self.rules.exprs, body, inside, budget)?;
        let mut equation = Equation::default();
        // An expression of which the non-empty texts count, and what follows them.
        let mut todo = vec![(body, self.rules.exprs.empty())];
        while let Some((id, after)) = todo.pop() {
            let exprs = &mut self.rules.exprs;
            check_room(exprs, budget)?;
            if !entering.contains(&id) {
                let text = non_empty(self.rules, id, &mut self.non_empty, budget)?;
                equation.rest.push(self.rules.exprs.seq2(text, after));
                continue;
            }
            match exprs.get(id) {
                Expr::Call(rule) => equation.after.entry(rule.0).or_default().push(after),
                Expr::Seq(first, rest) => {
                    let then = exprs.seq2(rest, after);
                    todo.push((first, then));
                    if exprs.is_nullable(first) {
                        todo.push((rest, after));
                    }
                }
                Expr::Choice(list) => {
                    let (entered, others): (Vec<ExprId>, Vec<ExprId>) =
                        exprs.list(list).iter().partition(|member| entering.contains(member));
                    todo.extend(entered.into_iter().map(|member| (member, after)));
                    let others = exprs.choice(&others);
                    todo.push((others, after));
                }
                Expr::Repeat { body, min, max } => {
                    let fewer = if max == UNBOUNDED { max } else { max - 1 };
                    let more = exprs.repeat(body, min.saturating_sub(1), fewer);
                    let then = exprs.seq2(more, after);
                    todo.push((body, then));
                }
                _ => unreachable!("only calls and what has parts can enter the component"),
            }
        }
        Ok(equation)
    }

    /// Eliminates the rules: those without a loop first, then those with the fewest neighbours,
    /// as sparse matrices are solved.
    fn solve(mut self, budget: &mut Budget) -> Result<(), Error> {
        let rules: Vec<u32> = self.equations.keys().copied().collect();
        let mut next: BinaryHeap<Reverse<(bool, usize, u32)>> = rules
            .iter()
            .map(|&rule| Reverse((self.cost(rule).0, self.cost(rule).1, rule)))
            .collect();
        while let Some(Reverse((has_loop, degree, rule))) = next.pop() {
            budget.tick()?;
            // A rule is in the heap once more whenever its cost changes.
            if !self.equations.contains_key(&rule) || self.cost(rule) != (has_loop, degree) {
                continue;
            }
            for changed in self.eliminate(rule, budget)? {
                let (has_loop, degree) = self.cost(changed);
                next.push(Reverse((has_loop, degree, changed)));
            }
        }
        Ok(())
    }

    fn cost(&self, rule: u32) -> (bool, usize) {
        let incoming = self.equations.get(&rule).map_or(0, |equation| equation.after.len());
        let outgoing = self.users.get(&rule).map_or(0, BTreeSet::len);
        let has_loop = self.users.get(&rule).is_some_and(|users| users.contains(&rule));
        let others = usize::from(has_loop);
        (has_loop, (incoming - others) * (outgoing - others))
    }

    /// Solves one equation and puts it into the others; the rules whose cost may have changed.
    fn eliminate(&mut self, rule: u32, budget: &mut Budget) -> Result<Vec<u32>, Error> {
        let Some(mut equation) = self.equations.remove(&rule) else {
            return Ok(Vec::new());
        };
        let mut users = self.users.remove(&rule).unwrap_or_default();
        users.remove(&rule);
        let round = equation.after.remove(&rule).unwrap_or_default();
        let round = self.rules.exprs.choice(&round);
        let rounds = self.rules.exprs.repeat(round, 0, UNBOUNDED);
        // Once for the rule itself and once for each user, so it must be small.
        let is_shared = !users.is_empty();
        let rest = self.term(rule, &equation.rest, rounds, is_shared, budget)?;
        let mut after = Vec::with_capacity(equation.after.len());
        for (&first, terms) in &equation.after {
            after.push((first, self.term(rule, terms, rounds, is_shared, budget)?));
            if let Some(users) = self.users.get_mut(&first) {
                users.remove(&rule);
            }
        }
        for &user in &users {
            let Some(mut target) = self.equations.remove(&user) else {
                continue;
            };
            let terms = target.after.remove(&rule).unwrap_or_default();
            let empty = self.rules.exprs.empty();
            let then = self.term(user, &terms, empty, !after.is_empty(), budget)?;
            target.rest.push(self.rules.exprs.seq2(rest, then));
            for &(first, until) in &after {
                check_room(&self.rules.exprs, budget)?;
                let between = self.rules.exprs.seq2(until, then);
                target.after.entry(first).or_default().push(between);
                self.users.entry(first).or_default().insert(user);
            }
            self.equations.insert(user, target);
        }
        let exprs = &mut self.rules.exprs;
        let mut alternatives = vec![rest];
        for &(first, until) in &after {
            let call = exprs.call(RuleId(first));
            alternatives.push(exprs.seq2(call, until));
        }
        self.rules.rules[rule as usize].1 = exprs.choice(&alternatives);
        let mut changed: Vec<u32> = after.iter().map(|&(first, _)| first).collect();
        changed.extend(users);
        Ok(changed)
    }

    /// The sum of `terms`, then `rounds`; a rule of its own if it is large and used twice.
    fn term(
        &mut self,
        rule: u32,
        terms: &[ExprId],
        rounds: ExprId,
        is_shared: bool,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let exprs = &mut self.rules.exprs;
        check_room(exprs, budget)?;
        let sum = exprs.choice(terms);
        let term = exprs.seq2(sum, rounds);
        if !is_shared || size_within(exprs, term, LARGEST_COPY) < LARGEST_COPY {
            return Ok(term);
        }
        if let Some(&call) = self.extracted.get(&term) {
            return Ok(call);
        }
        let body = non_empty(self.rules, term, &mut self.non_empty, budget)?;
        let id = self.rules.rules.len();
        if id >= budget.limits.rules {
            return Err(Error::limit("rules", budget.limits.rules));
        }
        let exprs = &mut self.rules.exprs;
        let name = format!("{}.part", self.rules.rules[rule as usize].0);
        let mut call = exprs.call(RuleId(as_id(id)));
        if exprs.is_nullable(term) {
            call = exprs.optional(call);
        }
        self.rules.rules.push((name, body));
        self.extracted.insert(term, call);
        Ok(call)
    }
}

/// The expressions in `body` that may come first and may begin with a rule of `inside`.
fn entering(
    exprs: &Exprs,
    body: ExprId,
    inside: &FxHashSet<u32>,
    budget: &mut Budget,
) -> Result<FxHashSet<ExprId>, Error> {
    let mut seen = FxHashSet::default();
    let mut found: Vec<ExprId> = Vec::new();
    let mut todo = vec![body];
    while let Some(id) = todo.pop() {
        budget.tick()?;
        if exprs.has_calls(id) && seen.insert(id) {
            found.push(id);
            todo.extend(left_parts(exprs, id));
        }
    }
    // Parts have smaller ids than what they are part of.
    found.sort_unstable();
    let mut entering = FxHashSet::default();
    for id in found {
        let enters = match exprs.get(id) {
            Expr::Call(rule) => inside.contains(&rule.0),
            _ => left_parts(exprs, id).iter().any(|part| entering.contains(part)),
        };
        if enters {
            entering.insert(id);
        }
    }
    Ok(entering)
}
