//! Regular expressions: ECMA-262 with the `u` flag.
//!
//! In: a pattern. Out: an expression that matches exactly the texts that the pattern matches.
//! Every construct that is regular is exact, look-around included; back-references are not
//! regular and refused. Real patterns are often written for an engine without the `u` flag, so
//! what Annex B of ECMA-262 allows and no other reading contradicts is allowed here too: `\-` and
//! other escaped punctuation, `{`, `}` and `]` as themselves, `[\w-.]`, repeated look-aheads.

mod algebra;
mod ast;
mod atoms;
mod bracket;
mod classes;
mod context;
mod escape;
mod matrix;
mod parse;
mod prefix;
mod rewrite;
mod translate;

use crate::error::Error;
use crate::grammar::{CharSet, ExprId, Exprs, Imported, RuleId, RuleSet, Spelling, UNBOUNDED};
use crate::limits::Budget;

use algebra::Algebra;
use atoms::Atoms;
use translate::Pass;

pub use ast::{Kind, Look, Node, Side};

/// The flags of a pattern. There are none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegexOptions {
    /// Letters match in either case (`i`), by simple case folding.
    pub ignore_case: bool,
    /// `.` matches line terminators too (`s`).
    pub dot_all: bool,
    /// `^` and `$` match at the ends of lines too (`m`).
    pub multiline: bool,
}

/// How a pattern meets a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The whole text matches.
    FullMatch,
    /// The text has a match inside, as `pattern` of JSON Schema wants it.
    Search,
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    root: Node,
}

/// Reads a pattern.
///
/// ```
/// use stencilm::Budget;
/// use stencilm::frontend::regex::{self, Mode, RegexOptions};
/// use stencilm::grammar::{Exprs, Spelling};
///
/// let mut budget = Budget::default();
/// let regex = regex::parse("^[a-z]+$", RegexOptions::default(), &mut budget)?;
/// let mut exprs = Exprs::default();
/// let found = regex.to_expr(&mut exprs, Spelling::Text, Mode::Search, &mut budget)?;
/// assert_eq!(exprs.show(found), "[a-z]+");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// [`Syntax`](crate::ErrorKind::Syntax) and [`Unsupported`](crate::ErrorKind::Unsupported) with a
/// byte offset, or [`LimitReached`](crate::ErrorKind::LimitReached).
pub fn parse(pattern: &str, options: RegexOptions, budget: &mut Budget) -> Result<Regex, Error> {
    parse::parse(pattern, options, budget).map(|root| Regex { root })
}

/// A grammar of one rule, `root`: the whole text matches `pattern`.
///
/// # Errors
/// As [`parse`] and [`Regex::to_expr`].
pub fn grammar(
    pattern: &str,
    options: RegexOptions,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    let regex = parse(pattern, options, budget)?;
    let mut exprs = Exprs::default();
    let body = regex.to_expr(&mut exprs, Spelling::Text, Mode::FullMatch, budget)?;
    Ok(RuleSet::new(exprs, vec![("root".to_owned(), body)], RuleId(0)))
}

impl Regex {
    /// The pattern's outermost piece.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Makes in `exprs` the texts that match, spelled.
    ///
    /// # Errors
    /// [`LimitReached`](crate::ErrorKind::LimitReached) for `expressions`, `search` (look-around
    /// that has to tell too many situations apart) or `compile_time`.
    pub fn to_expr(
        &self,
        exprs: &mut Exprs,
        spelling: Spelling,
        mode: Mode,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let root = match mode {
            Mode::FullMatch => self.root.clone(),
            Mode::Search => found_in(&self.root),
        };
        let atoms = if root.has_look() { Atoms::new(&root.sets(), budget)? } else { Atoms::none() };
        // Translating leaves much behind that is not in the result: it stays in an arena of its own.
        let mut algebra = Algebra::new(Exprs::new(exprs.key), spelling, atoms, exprs.len(), budget);
        let end = algebra.exprs.empty();
        let (_, texts) = Pass::run(&mut algebra, &root, end)?;
        let whole = algebra.with_literals(texts[0])?;
        Ok(exprs.import(&algebra.exprs, whole, &mut Imported::default()))
    }
}

/// Anything, `root`, anything.
fn found_in(root: &Node) -> Node {
    let span = root.span();
    let any = Node::new(Kind::Chars(CharSet::any()), span.clone());
    let kind = Kind::Repeat { body: Box::new(any), min: 0, max: UNBOUNDED };
    let any_text = Node::new(kind, span.clone());
    Node::new(Kind::Seq(vec![any_text.clone(), root.clone(), any_text]), span)
}
