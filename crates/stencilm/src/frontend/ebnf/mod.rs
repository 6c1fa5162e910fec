//! EBNF and GBNF: the common ground of llama.cpp's and xgrammar's grammars, and what
//! [`RuleSet`] prints.
//!
//! ```text
//! # A comment runs to the end of the line.
//! root   ::= "say " (word | 'nothing')   # a name and `::=` at the beginning of a line
//!          | number{1,3}                 # a rule goes on until the next one begins
//! word   ::= [a-z] [^ \n]* .?            # classes over Unicode; `.` is any character
//! number ::= [0-9]+ | ""                 # `* + ? {n} {n,} {,m} {n,m}`; "" and () are empty
//! ```
//!
//! Names are made of ASCII letters, digits, `_`, `-` and `.`; they begin with a letter, a digit or
//! `_`. Escapes, in literals and classes alike: `\n \r \t \b \f \a \v \e \0`, the punctuation
//! `\\ \" \' \/ \? \[ \] \- \^`, and code points as `\xHH` (two digits), `\uHHHH`, `\UHHHHHHHH`,
//! `\u{H…}`.
//!
//! Beyond that ground:
//!
//! | written | means |
//! |---|---|
//! | `a & b` | texts of both |
//! | `a - b` | texts of `a` that `b` lacks; blanks around, since names contain `-` |
//! | `~a` | any text but those of `a` |
//! | `[]` | nothing matches |
//! | `[^]` | any character, as `.` |
//! | `%token("<\|x\|>")`, `<think>` | one special token |
//! | `%bytes[\x80-\xFF]` | one byte |
//! | `%raw"\xFF"` | these bytes: here `\xHH` is a byte |
//! | `%json[a-z]` | a character inside a JSON string, in every spelling |
//! | `%canonical[a-z]` | the same in its shortest spelling |
//! | `%ascii[é]`, `%canonical_ascii[é]` | the same without anything but ASCII |
//!
//! `&`, `-` and `~` bind looser than a sequence (`~`: only its own operand) and tighter than `|`.
//! Rules may be called below them if they are not recursive.

mod escape;
mod lower;
mod parser;
mod text;
mod tree;

use crate::error::Error;
use crate::frontend::ebnf::parser::Parser;
use crate::grammar::RuleSet;
use crate::limits::Budget;

/// Reads a grammar; a whole text matches the rule `start`.
///
/// ```
/// use stencilm::{Budget, frontend::ebnf};
///
/// let rules = ebnf::parse("root ::= root \"+\" n | n\nn ::= [0-9]+", "root", &mut Budget::default())?;
/// assert_eq!(rules.rules.len(), 2);
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// The text is no grammar (with the byte offset), asks for what cannot be exact, or needs more
/// than `budget` allows.
pub fn parse(text: &str, start: &str, budget: &mut Budget) -> Result<RuleSet, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let tree = Parser::new(text, budget).run()?;
    lower::lower(&tree, start, text.len(), budget)
}
