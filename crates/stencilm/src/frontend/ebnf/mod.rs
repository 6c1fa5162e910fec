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
//! | `(= a)` | nothing, before what begins with a text of `a` (see `ahead.rs`) |
//! | `[]` | nothing matches |
//! | `[^]` | any character, as `.` |
//! | `%token("<\|x\|>")`, `<think>`, `!<think>` | one special token, any other token |
//! | `<[42]>`, `<[1-5,7]>`, `<[^42]>`, `!<[42]>` | tokens by number |
//! | `%bytes[\x80-\xFF]` | one byte |
//! | `%raw"\xFF"` | these bytes: here `\xHH` is a byte |
//! | `%json[a-z]` | a character inside a JSON string, in every spelling |
//! | `%canonical[a-z]` | the same in its shortest spelling |
//! | `%ascii[é]`, `%canonical_ascii[é]` | the same without anything but ASCII |
//! | `%single_quoted[a-z]`, `%double_quoted[a-z]` | a character inside a Python string, in every spelling |
//!
//! `&`, `-` and `~` bind looser than a sequence (`~`: only its own operand) and tighter than `|`.
//! Rules may be called below them if they are not recursive.
//!
//! The macros are xgrammar's (see `macros.rs`), and so are options of a rule: `name[lazy] ::= …`.

mod ahead;
mod escape;
mod lower;
mod macros;
mod options;
mod owed;
mod parser;
mod substring;
mod text;
mod tree;

use crate::error::Error;
use crate::frontend::ebnf::parser::Parser;
use crate::frontend::ebnf::text::Text;
use crate::frontend::ebnf::tree::{Node, Tree};
use crate::grammar::RuleSet;
use crate::limits::Budget;

/// How a grammar text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// As llama.cpp and xgrammar write it.
    #[default]
    Gbnf,
    /// As the standards of the W3C write it: `#xNN`, no backslash escapes, `/* … */`, numbers before
    /// productions, and `a - b` between two items.
    W3c,
}

/// Reads a grammar; a whole text matches the rule `start`.
///
/// ```
/// use stencilm::{Budget, frontend::ebnf};
///
/// let text = "root ::= root \"+\" n | n\nn ::= [0-9]+";
/// let rules = ebnf::parse(text, "root", &mut Budget::default())?;
/// assert_eq!(rules.rules.len(), 2);
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// The text is no grammar (with the byte offset), asks for what cannot be exact, or needs more
/// than `budget` allows.
pub fn parse(text: &str, start: &str, budget: &mut Budget) -> Result<RuleSet, Error> {
    parse_in(Notation::Gbnf, text, start, budget)
}

/// As [`parse`], in any notation.
///
/// ```
/// use stencilm::{Budget, frontend::ebnf};
///
/// let text = "[1] Name ::= [A-Z] (Char - '-')* /* no hyphen */\n[2] Char ::= [#x20-#x7E]";
/// let rules = ebnf::parse_in(ebnf::Notation::W3c, text, "Name", &mut Budget::default())?;
/// assert_eq!(rules.rules.len(), 2);
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// As [`parse`].
pub fn parse_in(
    notation: Notation,
    text: &str,
    start: &str,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    let tree = read(notation, text, budget)?;
    lower::lower(&tree, start, text.len(), budget)
}

/// The rules that no text of `start` needs, by name: a mistake of the writer, perhaps, but none of the
/// grammar.
///
/// ```
/// use stencilm::{Budget, frontend::ebnf};
///
/// let text = "root ::= a\na ::= \"x\"\nb ::= a b?";
/// let unused = ebnf::unused_rules(ebnf::Notation::Gbnf, text, "root", &mut Budget::default())?;
/// assert_eq!(unused, ["b"]);
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// As [`parse`].
pub fn unused_rules(
    notation: Notation,
    text: &str,
    start: &str,
    budget: &mut Budget,
) -> Result<Vec<String>, Error> {
    let tree = read(notation, text, budget)?;
    let mut is_used = vec![false; tree.rules.len()];
    // What a macro makes has parts in common.
    let mut is_seen = vec![false; tree.nodes.len()];
    let mut todo = Vec::new();
    if let Some(rule) = tree.rules.iter().position(|rule| *rule.name == *start) {
        is_used[rule] = true;
        todo.extend(tree.rules[rule].body);
    }
    while let Some(id) = todo.pop() {
        budget.tick()?;
        if std::mem::replace(&mut is_seen[id], true) {
            continue;
        }
        todo.extend(tree.parts(id));
        if let Node::Call(rule) = tree.nodes[id]
            && !std::mem::replace(&mut is_used[rule], true)
        {
            todo.extend(tree.rules[rule].body);
        }
    }
    let unused = tree.rules.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    Ok(unused.map(|(rule, _)| rule.name.to_string()).collect())
}

fn read(notation: Notation, text: &str, budget: &mut Budget) -> Result<Tree, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    Parser::new(Text::new(text, notation), budget).run()
}
