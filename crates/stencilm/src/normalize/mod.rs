//! Rewrites a grammar into one with the same language that the engine can run: no rule is empty
//! where it is called, and none comes to itself again before it has read a byte.
//!
//! Recursion follows no chain of rules here: 100,000 rules may call one another in a row.

mod fixpoint;
mod graph;
mod inline;
mod left_corner;
mod left_recursion;
mod nullable;
mod productive;
mod rank;
mod rewrite;

use std::sync::Arc;

use crate::error::{Error, Location};
use crate::grammar::{
    Composite, Expr, ExprId, Exprs, Grammar, Imported, Marks, RuleId, RuleSet, Rules,
};
use crate::limits::Budget;

/// A grammar that the engine can run.
#[derive(Debug)]
pub struct Normalized {
    exprs: Exprs,
    /// A name and a body for each rule, callers before callees wherever a call may come first.
    ///
    /// Invariant: no body is nullable; `And` and `Not` have no calls inside.
    rules: Vec<(String, ExprId)>,
    /// The rule of the texts that are not empty. Its body is `Nothing` if there is none.
    pub start: RuleId,
    /// Whether the empty text matches, too.
    pub accepts_empty: bool,
    marks: Marks,
    /// The grammars that the rules call: their rules are numbered behind these.
    supplied: Vec<Grammar>,
}

/// Runs every pass. This list is the order; a pass never calls another one.
///
/// ```
/// use stencilm::{Budget, frontend::ebnf, normalize::normalize};
///
/// let mut budget = Budget::default();
/// let rules = ebnf::parse("root ::= root \"+\" n | n\nn ::= [0-9]+", "root", &mut budget)?;
/// let normal = normalize(rules, &mut budget)?;
/// assert_eq!(normal.to_string(), "root ::= [0-9]+ (\"+\" [0-9]+)*\n");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// The start rule matches no text, `&` or `~` stands over a call, or a limit was reached.
pub fn normalize(rules: RuleSet, budget: &mut Budget) -> Result<Normalized, Error> {
    let mut rules = rules;
    call_marked_start(&mut rules, budget)?;
    refuse_calls_in_conjunctions(&rules, budget)?;
    let productive = productive::drop_unproductive(&mut rules, budget)?;
    let start = rules.start.0 as usize;
    if !productive[start] {
        let reason = format!(
            "the rule `{}` never ends: each way through it needs another call of \
                              a rule that does not end",
            rules.rules[start].0
        );
        return Err(Error::unsatisfiable(reason, Location::Whole));
    }
    let nullable = nullable::split(&mut rules, budget)?;
    // A rule whose only text was empty has lost it.
    productive::drop_unproductive(&mut rules, budget)?;
    left_recursion::eliminate(&mut rules, budget)?;
    inline::inline(&mut rules, budget)?;
    rank::order(rules, nullable[start], budget)
}

/// The grammar that the engine runs.
#[must_use]
pub fn to_grammar(mut normalized: Normalized) -> Grammar {
    let start = normalized.start;
    let supplied = std::mem::take(&mut normalized.supplied);
    let rules: Arc<dyn Rules> = Arc::new(normalized);
    if supplied.is_empty() {
        return Grammar { rules, start };
    }
    Grammar { rules: Arc::new(Composite::new(rules, &supplied)), start }
}

impl Normalized {
    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Never: there is a start rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Rules for Normalized {
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let body = self.rules[rule.0 as usize].1;
        Ok(exprs.import(&self.exprs, body, &mut Imported::default()))
    }

    fn name(&self, rule: RuleId) -> String {
        self.rules[rule.0 as usize].0.clone()
    }

    /// Rules are numbered by rank.
    fn rank(&self, rule: RuleId) -> u32 {
        rule.0
    }

    fn numbers(&self) -> u32 {
        graph::as_id(self.rules.len())
    }

    fn special_tokens(&self) -> Vec<String> {
        self.exprs.token_names()
    }

    fn marks(&self) -> Marks {
        self.marks.clone()
    }

    fn accepts_empty(&self) -> bool {
        self.accepts_empty
    }
}

impl std::fmt::Display for Normalized {
    /// EBNF, the start rule first; without the empty text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        crate::grammar::write_rules(f, &self.exprs, &self.rules, &self.marks, self.start)
    }
}

/// A mark is met where its rule is called, and nothing calls the start.
fn call_marked_start(rules: &mut RuleSet, budget: &Budget) -> Result<(), Error> {
    if !rules.marks.iter().any(|(rule, _)| *rule == rules.start) {
        return Ok(());
    }
    if rules.rules.len() >= budget.limits.rules {
        return Err(Error::limit("rules", budget.limits.rules));
    }
    let call = rules.exprs.call(rules.start);
    rules.start = RuleId(graph::as_id(rules.rules.len()));
    rules.rules.push(("start".to_owned(), call));
    Ok(())
}

/// `And` and `Not` hide where calls are from every pass, and context-free rules have no
/// complement.
fn refuse_calls_in_conjunctions(rules: &RuleSet, budget: &mut Budget) -> Result<(), Error> {
    let roots: Vec<ExprId> = rules.rules.iter().map(|&(_, body)| body).collect();
    for id in rewrite::with_calls(&rules.exprs, &roots, budget)? {
        if let Expr::And(_) | Expr::Not(_) = rules.exprs.get(id) {
            let feature = "a rule or a special token inside `&`, `-` or `~`";
            return Err(Error::unsupported(feature, Location::Whole));
        }
    }
    Ok(())
}
