//! Regular expressions: ECMA-262 with the `u` flag, and those of Python's `re`.
//!
//! In: a pattern. Out: an expression that matches exactly the texts that the pattern matches.
//! Every construct that is regular is exact, look-around included; back-references are not
//! regular and refused. Real patterns are often written for an engine without the `u` flag, so
//! what Annex B of ECMA-262 allows and no other reading contradicts is allowed here too: `\-` and
//! other escaped punctuation, `{`, `}` and `]` as themselves, `[\w-.]`, repeated look-aheads.
//!
//! The dialects share the parser, which asks [`RegexOptions::dialect`] where they differ; after it
//! there is one kind of tree.

mod algebra;
mod ast;
mod atoms;
mod bracket;
mod classes;
mod context;
mod escape;
mod flags;
mod matrix;
mod meaning;
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
pub(crate) use classes::python_space;

/// Whose regular expressions are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// ECMA-262 with the `u` flag, the dialect of JSON Schema.
    #[default]
    Ecma,
    /// The module `re` of Python, for `str`.
    Python,
}

/// What a pattern is written in, and its flags. There are none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "flags, each known by its letter")]
pub struct RegexOptions {
    /// Whose regular expressions are meant.
    pub dialect: Dialect,
    /// Letters match in either case (`i`), by simple case folding.
    pub ignore_case: bool,
    /// `.` matches line terminators too (`s`).
    pub dot_all: bool,
    /// `^` and `$` match at the ends of lines too (`m`).
    pub multiline: bool,
    /// `\w`, `\d`, `\s`, `\b` and the case of letters know ASCII only (`a`; Python). In
    /// ECMA-262, where all but the last do anyway, the case of letters.
    pub ascii: bool,
    /// Blanks mean nothing outside of classes, and `#` begins a comment (`x`; Python).
    pub verbose: bool,
    /// `\p{…}` is a class in Python too, as in its package `regex`.
    pub properties: bool,
    /// `(?P<name>…)` is a named group in ECMA-262 too, as in a macro of EBNF.
    pub names_with_p: bool,
}

impl RegexOptions {
    /// The options for a dialect and the letters of flags.
    ///
    /// ```
    /// use stencilm::frontend::regex::{Dialect, RegexOptions};
    ///
    /// let options = RegexOptions::with_flags(Dialect::Python, "ix")?;
    /// assert!(options.ignore_case && options.verbose);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// Says which letter is no flag of the dialect.
    pub fn with_flags(dialect: Dialect, letters: &str) -> Result<Self, String> {
        let mut options = Self { dialect, ..Self::default() };
        for letter in letters.chars() {
            if !options.set(letter, true) {
                return Err(format!("`{letter}` is no flag of {}", dialect.name()));
            }
        }
        Ok(options)
    }
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

/// A grammar of one rule, `root`: the texts that meet `pattern` as `mode` says.
///
/// # Errors
/// As [`parse`] and [`Regex::to_expr`].
pub fn grammar(
    pattern: &str,
    options: RegexOptions,
    mode: Mode,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    let regex = parse(pattern, options, budget)?;
    let mut exprs = Exprs::default();
    let body = regex.to_expr(&mut exprs, Spelling::Text, mode, budget)?;
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
