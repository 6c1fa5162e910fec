//! What Lark's LALR parser accepts with its contextual lexer, as rules.
//!
//! ```text
//! Rules → productions → LALR tables ─┐
//!   └→ lexemes → what the lexer takes ┴→ rules by state, mode and what must not follow
//! ```

mod anonymous;
mod bnf;
mod characters;
mod followed;
mod lalr;
mod lexemes;
mod lexer;
mod looking;
mod past;
mod preferred;
mod program;
mod table;

use crate::error::{Error, Location};
use crate::frontend::lark::names::Names;
use crate::frontend::lark::rules::Rules;
use crate::frontend::lark::terminals::Terminals;
use crate::frontend::lark::tree::{ScopeId, Tree};
use crate::grammar::{Imported, RuleSet};
use crate::limits::Budget;
use crate::residual::languages::Languages;

use followed::Following;
use lexer::{Lexer, Texts};
use looking::Looking;
use past::Pasts;

/// The rules of a grammar whose main text is `main`.
///
/// # Errors
/// A conflict that Lark refuses, a terminal that a lexer does not know, or a limit.
pub(crate) fn lower(
    tree: &Tree,
    names: &Names,
    rules: &Rules,
    main: ScopeId,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    if let Some(rule) = rules.list.iter().find(|rule| !rule.mark.is_empty()) {
        let feature = format!(
            "an attribute of the rule `{}` in the contextual meaning, whose tables know no rules,",
            rule.name
        );
        return Err(Error::unsupported(feature, Location::Whole));
    }
    let lexemes = lexemes::lexemes(tree, names, rules, main, budget)?;
    let bnf = bnf::bnf(rules, &lexemes.of_terminal, budget)?;
    let end = lexemes.list.len();
    let name = |terminal: usize| match lexemes.list.get(terminal) {
        Some(lexeme) => match &lexeme.literal {
            Some((text, _)) => format!("`\"{text}\"`"),
            None => format!("`{}`", lexeme.name),
        },
        None => "the end of the text".to_owned(),
    };
    let tables = lalr::tables(&bnf, rules.start, end, &name, budget)?;
    let mut terminals = Terminals::new(tree, names, 0);
    let mut following = Following::new(Languages::new(budget.limits));
    let mut texts = Vec::with_capacity(end);
    let pasts = Pasts::new(&lexemes.behind, budget)?;
    for lexeme in &lexemes.list {
        let steps = &lexeme.program.steps;
        if lexeme.program.looks() {
            let looking = Looking::new(steps, &pasts, following.exprs(), budget)?;
            texts.push(Texts::Looking(looking));
            continue;
        }
        let Some(all) = terminals.of(&lexeme.source, lexeme.offset, budget)? else {
            unreachable!("what is no text of its own was refused");
        };
        let exprs = following.exprs();
        let all = exprs.import(&terminals.set.exprs, all, &mut Imported::default());
        texts.push(Texts::Plain(preferred::preferred(steps, all, exprs, budget)?));
    }
    let lexer = Lexer::new(&lexemes.list, texts, pasts, following)?;
    table::rules(&bnf, &tables, lexer, rules.start, end, budget)
}
