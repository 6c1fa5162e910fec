//! The exact set of tokens that may come next, for any grammar.
//!
//! ```text
//! source ─frontend→ Grammar ─normalize→ Grammar ─CompiledGrammar::new→ CompiledGrammar ─Matcher::new→ Matcher
//! text, schema      expressions         no left recursion              lazy tables, shared        one sequence
//! ```
//!
//! Nothing is computed ahead: a state *is* the expression that remains of the grammar, its steps
//! and its mask are found when it is first visited, and once. Start reading at [`Matcher`].

#![forbid(unsafe_code)]

mod compiled;
pub mod error;
pub mod frontend;
pub mod grammar;
mod interner;
pub mod limits;
mod mask;
mod matcher;
pub mod normalize;
mod number;
pub mod residual;
mod stack;
pub mod vocab;

pub use compiled::CompiledGrammar;
pub use error::{Error, ErrorKind, Location};
pub use grammar::Grammar;
pub use limits::{Budget, Cancel, Limits};
pub use mask::Learnt;
pub use mask::store::{Store, StoreUse};
pub use matcher::{Allowed, Capture, MaskParts, Matcher};
pub use vocab::Vocabulary;

use frontend::{ebnf, regex};
use grammar::RuleSet;

/// A grammar of rules that a person wrote: left recursion, rules that match nothing and parts
/// that cannot match are taken out.
///
/// # Errors
/// The start rule matches no text, an intersection of rules that are not regular, or a limit.
pub fn from_rules(mut rules: RuleSet, budget: &mut Budget) -> Result<Grammar, Error> {
    for at in 0..rules.rules.len() {
        budget.tick()?;
        let body = rules.rules[at].1;
        if rules.exprs.depth(body) > budget.limits.nesting {
            return Err(Error::limit("nesting", budget.limits.nesting));
        }
        rules.rules[at].1 =
            residual::emptiness::without_empty_parts(&mut rules.exprs, body, budget)?;
    }
    let (name, start) = &rules.rules[rules.start.0 as usize];
    if *start == rules.exprs.nothing() {
        let reason = format!("`{name}` matches nothing at all");
        return Err(Error::unsatisfiable(reason, Location::Whole));
    }
    let normalized = normalize::normalize(rules, budget)?;
    Ok(normalize::to_grammar(normalized))
}

/// The texts that match a regular expression (ECMA-262 with the `u` flag) from end to end.
///
/// # Errors
/// No regular expression, a construct that is not regular, or a limit; with the byte offset.
pub fn from_regex(pattern: &str, budget: &mut Budget) -> Result<Grammar, Error> {
    let options = regex::RegexOptions::default();
    from_rules(regex::grammar(pattern, options, regex::Mode::FullMatch, budget)?, budget)
}

/// One of these texts.
///
/// # Errors
/// There is none, or a limit.
pub fn from_choice(texts: &[String], budget: &mut Budget) -> Result<Grammar, Error> {
    let size: usize = texts.iter().map(String::len).sum();
    if size > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let mut exprs = grammar::Exprs::default();
    let body = exprs.one_of(texts.iter().map(String::as_bytes));
    let rules = vec![("root".to_owned(), body)];
    from_rules(RuleSet::new(exprs, rules, grammar::RuleId(0)), budget)
}

/// The texts of a grammar in EBNF or GBNF, from the rule `start`.
///
/// # Errors
/// No such grammar, a construct that cannot be enforced, or a limit; with the byte offset.
pub fn from_ebnf(text: &str, start: &str, budget: &mut Budget) -> Result<Grammar, Error> {
    from_rules(ebnf::parse(text, start, budget)?, budget)
}

/// The texts of a grammar in Lark's language, from the rule `start`.
///
/// # Errors
/// No such grammar, a construct that cannot be enforced, or a limit; with the byte offset.
pub fn from_lark(
    text: &str,
    start: &str,
    meaning: frontend::lark::Meaning,
    budget: &mut Budget,
) -> Result<Grammar, Error> {
    from_rules(frontend::lark::parse(text, start, meaning, budget)?, budget)
}

/// The texts of a structural tag, given as JSON. `options` hold for the JSON Schemas inside.
///
/// # Errors
/// No structural tag, what cannot be enforced, or a limit; with a JSON Pointer.
pub fn from_structural_tag(
    tag: &str,
    options: &frontend::json_schema::JsonSchemaOptions,
    budget: &mut Budget,
) -> Result<Grammar, Error> {
    from_rules(frontend::tags::parse(tag, options, from_rules, budget)?, budget)
}

/// Texts of all of these grammars, one after the other.
///
/// # Errors
/// Their schemas spell names differently, or a limit.
pub fn from_sequence(grammars: &[Grammar], budget: &mut Budget) -> Result<Grammar, Error> {
    from_rules(frontend::combine::sequence(grammars)?, budget)
}

/// Texts of any of these grammars.
///
/// # Errors
/// There is none, their schemas spell names differently, or a limit.
pub fn from_any_of(grammars: &[Grammar], budget: &mut Budget) -> Result<Grammar, Error> {
    from_rules(frontend::combine::any_of(grammars)?, budget)
}

/// Between `min` and `max` texts of a grammar, one after the other;
/// [`UNBOUNDED`](grammar::UNBOUNDED) for no bound.
///
/// # Errors
/// A limit.
pub fn from_repeat(
    grammar: &Grammar,
    min: u32,
    max: u32,
    budget: &mut Budget,
) -> Result<Grammar, Error> {
    from_rules(frontend::combine::repeat(grammar, min, max)?, budget)
}

/// The same texts, as a rule that asks for something beside them: what it takes is kept, it has few
/// tokens, or a temperature.
///
/// ```
/// use stencilm::{Budget, from_marked, from_regex, grammar::Mark};
///
/// let mut budget = Budget::default();
/// let word = from_regex("[a-z]+", &mut budget)?;
/// let mark = Mark { capture: Some("word".into()), ..Mark::default() };
/// let shown = from_marked(&word, mark, &mut budget)?.show(9)?;
/// assert!(shown.starts_with("start ::= root\nroot[capture=\"word\"] ::= part_1."));
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// A name, a number of tokens or a temperature that is none, or a limit.
pub fn from_marked(
    grammar: &Grammar,
    mark: grammar::Mark,
    budget: &mut Budget,
) -> Result<Grammar, Error> {
    from_rules(frontend::combine::marked(grammar, mark)?, budget)
}

/// Everything that stands somewhere in a text, the empty text included.
///
/// # Errors
/// A limit.
pub fn from_substrings(text: &str, budget: &mut Budget) -> Result<Grammar, Error> {
    from_rules(frontend::substrings::rules(text, budget)?, budget)
}
