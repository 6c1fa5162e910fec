//! Grammars made of grammars: one after the other, any of them, one of them again and again.

use crate::error::Error;
use crate::frontend::marks;
use crate::grammar::{ExprId, Exprs, Grammar, Mark, RuleId, RuleSet};

/// Texts of all of these, one after the other.
///
/// # Errors
/// See [`RuleSet::supply`].
pub fn sequence(grammars: &[Grammar]) -> Result<RuleSet, Error> {
    combined(grammars, Exprs::seq)
}

/// Texts of any of these.
///
/// # Errors
/// See [`RuleSet::supply`].
pub fn any_of(grammars: &[Grammar]) -> Result<RuleSet, Error> {
    combined(grammars, Exprs::choice)
}

/// Between `min` and `max` texts of this one ([`UNBOUNDED`](crate::grammar::UNBOUNDED) for no bound).
///
/// # Errors
/// See [`RuleSet::supply`].
pub fn repeat(grammar: &Grammar, min: u32, max: u32) -> Result<RuleSet, Error> {
    combined(std::slice::from_ref(grammar), |exprs, parts| exprs.repeat(parts[0], min, max))
}

/// The same texts, as a rule that asks for something beside them.
///
/// # Errors
/// The name of the capture, the number of tokens or the temperature is none.
pub fn marked(grammar: &Grammar, mark: Mark) -> Result<RuleSet, Error> {
    marks::check(&mark)?;
    let mut rules = combined(std::slice::from_ref(grammar), |_, parts| parts[0])?;
    rules.marks.push((RuleId(0), mark));
    Ok(rules)
}

fn combined(
    grammars: &[Grammar],
    combine: impl FnOnce(&mut Exprs, &[ExprId]) -> ExprId,
) -> Result<RuleSet, Error> {
    let mut rules = RuleSet::new(Exprs::default(), Vec::new(), RuleId(0));
    let parts = grammars.iter().map(|grammar| rules.supply(grammar)).collect::<Result<Vec<_>, _>>();
    let body = combine(&mut rules.exprs, &parts?);
    rules.rules.push(("root".to_owned(), body));
    Ok(rules)
}
