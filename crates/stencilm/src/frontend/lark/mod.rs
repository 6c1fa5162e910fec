//! Lark's language of grammars, with what llguidance adds to it.
//!
//! ```text
//! text → Tree → Names (imports, %extend, %override) → Rules (templates and numbers filled in) → expressions
//! ```
//!
//! A grammar has two meanings ([`Meaning`]): a plain context-free grammar, or what a parser with
//! a lexer in front of it accepts.

mod attributes;
mod bare;
mod body;
mod cfg;
mod contextual;
mod extensions;
mod library;
mod literals;
mod names;
mod numbered;
mod numbered_plan;
mod parser;
mod rules;
mod schemas;
mod substring;
mod terminals;
mod text;
mod tree;

use crate::error::Error;
use crate::grammar::RuleSet;
use crate::limits::Budget;

use names::Names;
use tree::Tree;

/// What a grammar means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// A plain context-free grammar, as Lark's `parser="earley", lexer="dynamic_complete"`: every
    /// way of cutting the text into terminals counts, and priorities choose nothing.
    #[default]
    Cfg,
    /// The same, but no ignored text comes before the first terminal unless the grammar says so, as
    /// `XGrammar` reads it.
    XGrammar,
    /// What Lark's `parser="lalr"` accepts with its contextual lexer: in each state of the parser,
    /// the first terminal in the lexer's order that matches is taken, as far as it matches.
    Contextual,
}

/// Reads a grammar; a whole text matches the rule `start`.
///
/// ```
/// use stencilm::{Budget, frontend::lark::{self, Meaning}};
///
/// let text = "start: NUMBER (\",\" NUMBER)*\n%import common.NUMBER\n%ignore \" \"";
/// let rules = lark::parse(text, "start", Meaning::Cfg, &mut Budget::default())?;
/// assert_eq!(rules.rules[0].0, "start");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// The text is no grammar (with the byte offset), asks for what cannot be exact, or needs more
/// than `budget` allows.
pub fn parse(
    text: &str,
    start: &str,
    meaning: Meaning,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let mut tree = Tree::default();
    let main = parser::parse(text, &mut tree, budget)?;
    if meaning == Meaning::XGrammar {
        tree.scopes[main].ignores_at_first.get_or_insert(false);
    }
    let names = Names::collect(&mut tree, budget)?;
    let start = names.start(&tree, main, start)?;
    let rules = rules::rules(&tree, &names, start, meaning, budget)?;
    match meaning {
        Meaning::Cfg | Meaning::XGrammar => cfg::lower(text, &tree, &names, &rules, main, budget),
        Meaning::Contextual => contextual::lower(&tree, &names, &rules, main, budget),
    }
}
