//! Values that are not written as JSON: as Python writes them, or with names that have no quotes.

use crate::error::Error;
use crate::frontend::json_schema::object_states::{At, Name, Object};
use crate::frontend::json_schema::options::Whitespace;
use crate::frontend::json_schema::parameters::plain_name;
use crate::frontend::json_schema::rules::{Machine, Rule};
use crate::frontend::json_schema::shape::StringShape;
use crate::frontend::json_schema::text_exprs;
use crate::grammar::{CharSet, ExprId, Exprs, Spelling, UNBOUNDED};

/// How values are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// As JSON.
    #[default]
    Json,
    /// As JSON, but names have no quotes, and strings stand as they are between two marks that are
    /// the same: `{city:<|"|>Oslo<|"|>}`.
    Bare {
        /// Before and after a string. No string may have it inside.
        quote: String,
        /// What strings may not have inside either.
        excludes: Vec<String>,
    },
    /// As literals of Python; the outermost value, an object, as the arguments of a call, without
    /// its parentheses: `city='Oslo', days=[1, None]`.
    Python,
}

/// Where the members of an object stand.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// Among the arguments of a call.
    Call,
    /// Between the braces of an object at this depth.
    Inside(u32),
}

/// What a name without quotes does not have inside.
pub(crate) const NOT_IN_BARE_NAMES: &str = ":,{}[]";

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

impl Notation {
    /// `null`, `false` and `true`.
    pub(crate) fn words(&self) -> [&'static str; 3] {
        match self {
            Self::Json | Self::Bare { .. } => ["null", "false", "true"],
            Self::Python => ["None", "False", "True"],
        }
    }

    /// Whether a listed name can be written: as the name of an argument, if `is_argument`.
    pub(crate) fn can_write(&self, name: &str, is_argument: bool) -> bool {
        match self {
            Self::Json => true,
            Self::Python => !is_argument || is_identifier(name),
            Self::Bare { quote, excludes } => {
                let is_wrong =
                    |c: char| c.is_control() || NOT_IN_BARE_NAMES.contains(c) || "<>\"".contains(c);
                !name.is_empty()
                    && name.trim() == name
                    && !name.contains(is_wrong)
                    && !name.contains(quote.as_str())
                    && !excludes.iter().any(|mark| name.contains(mark))
            }
        }
    }
}

/// Whether Python takes a name for an argument's, and none other than this: beyond ASCII it reads
/// some characters as others.
fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part)
        && !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !KEYWORDS.contains(&name)
}

impl Machine {
    /// The rest of a call's arguments, without the empty text.
    pub(crate) fn arguments(
        &mut self,
        number: u32,
        at: At,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let object = self.object(number)?;
        let space = self.schemas.options.whitespace.clone();
        let members = self.written_members(&object, number, at, Level::Call, exprs)?;
        let lead = space.lead(exprs);
        let before = if at.is_first { space.begin(exprs, 0) } else { space.comma(exprs, 0) };
        let more = exprs.seq(&[lead, before, members]);
        let end = match space {
            _ if !self.may_close(&object, at) => exprs.nothing(),
            Whitespace::Lines { .. } if !at.is_first => space.end(exprs, 0),
            _ => self.spaces(1, exprs),
        };
        Ok(exprs.choice(&[more, end]))
    }

    /// A member that may come next in an object, and what follows it.
    pub(crate) fn members_in_notation(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        self.written_members(object, number, at, Level::Inside(depth), exprs)
    }

    fn written_members(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        level: Level,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut members = Vec::new();
        let is_argument = matches!(level, Level::Call);
        for (member, name) in self.written_names(object, number, at, is_argument)? {
            let name = match (&self.schemas.options.notation, level) {
                (Notation::Python, Level::Inside(_)) => {
                    quoted(exprs, |exprs, spelling| Ok(exprs.text(&name, spelling)))?
                }
                _ => exprs.bytes(name.as_bytes()),
            };
            let rest =
                self.after_written(object, number, at, level, Name::Member(member), exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        for class in self.other_classes(object, at)? {
            let name = self.other_written(object, class, level, exprs)?;
            let rest = self.after_written(object, number, at, level, Name::Class(class), exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        Ok(exprs.choice(&members))
    }

    /// A name that is not listed. Nobody remembers it: it may come again.
    fn other_written(
        &self,
        object: &Object,
        class: usize,
        level: Level,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let table = object.table();
        let class = &table.classes[class];
        let mut budget = self.schemas.budget.clone();
        let schemas = &self.schemas;
        let mut other = |exprs: &mut Exprs, spelling| {
            text_exprs::other_name(schemas, class, &table.members, spelling, exprs, &mut budget)
        };
        match (&schemas.options.notation, level) {
            (Notation::Python, Level::Inside(_)) => quoted(exprs, other),
            (Notation::Python, Level::Call) => {
                let name = other(exprs, Spelling::Text)?;
                let identifier = identifier(exprs);
                Ok(exprs.and(&[name, identifier]))
            }
            (Notation::Json | Notation::Bare { .. }, _) => {
                let name = other(exprs, Spelling::Text)?;
                let plain = plain_name(exprs, NOT_IN_BARE_NAMES);
                Ok(exprs.and(&[name, plain]))
            }
        }
    }

    /// What follows a name: its value, and the rest of the object.
    fn after_written(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        level: Level,
        name: Name,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut ways = Vec::new();
        for (value, at) in self.steps(object, at, name)? {
            ways.push(match level {
                Level::Inside(depth) => self.after_value(value, number, at, depth, exprs)?,
                Level::Call => {
                    let space = self.schemas.options.whitespace.clone();
                    let around = match space {
                        Whitespace::Any { .. } => space.lead(exprs),
                        _ => exprs.empty(),
                    };
                    let sign = exprs.bytes(b"=");
                    let value = self.value_of(value, space.inside(0), exprs)?;
                    let rest = self.rule(Rule::Parameters { object: number, at })?;
                    let mut rest = exprs.call(rest);
                    if self.may_close(object, at) && !matches!(space, Whitespace::Lines { .. }) {
                        let is_over = self.is_over(object, number, at)?;
                        rest = if is_over { exprs.empty() } else { exprs.optional(rest) };
                    }
                    exprs.seq(&[around, sign, around, value, rest])
                }
            });
        }
        Ok(exprs.choice(&ways))
    }

    /// A string with its marks.
    pub(crate) fn string(&self, string: &StringShape, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut budget = self.schemas.budget.clone();
        match &self.schemas.options.notation {
            Notation::Json => text_exprs::string(&self.schemas, string, exprs, &mut budget),
            Notation::Python => quoted(exprs, |exprs, spelling| {
                let strings = std::slice::from_ref(string);
                text_exprs::strings(&self.schemas, strings, spelling, exprs, &mut budget)
            }),
            Notation::Bare { quote, excludes } => {
                let text =
                    text_exprs::plain(&self.schemas, string, quote, excludes, exprs, &mut budget)?;
                let quote = self.mark(quote, exprs);
                Ok(exprs.seq(&[quote, text, quote]))
            }
        }
    }

    /// A text of the notation: special tokens in it are tokens.
    pub(crate) fn mark(&self, text: &str, exprs: &mut Exprs) -> ExprId {
        let tokens = &self.schemas.options.tokens;
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let next = tokens.iter().filter_map(|token| {
                Some((rest.find(token.as_str())?, std::cmp::Reverse(token.len()), token))
            });
            let Some((at, _, token)) = next.min() else {
                parts.push(exprs.bytes(rest.as_bytes()));
                break;
            };
            parts.push(exprs.bytes(&rest.as_bytes()[..at]));
            parts.push(exprs.token(token));
            rest = &rest[at + token.len()..];
        }
        exprs.seq(&parts)
    }
}

/// A text between single or double quotes, spelled as each needs it.
fn quoted(
    exprs: &mut Exprs,
    mut text: impl FnMut(&mut Exprs, Spelling) -> Result<ExprId, Error>,
) -> Result<ExprId, Error> {
    let mut ways = Vec::with_capacity(2);
    for (quote, spelling) in [(b"'", Spelling::SingleQuoted), (b"\"", Spelling::DoubleQuoted)] {
        let inside = text(exprs, spelling)?;
        let quote = exprs.bytes(quote);
        ways.push(exprs.seq(&[quote, inside, quote]));
    }
    Ok(exprs.choice(&ways))
}

/// The names that Python takes for an argument's, in ASCII.
fn identifier(exprs: &mut Exprs) -> ExprId {
    let letters = CharSet::new([('a', 'z'), ('A', 'Z'), ('_', '_')]);
    let first = exprs.chars(&letters, Spelling::Text);
    let more = exprs.chars(&letters.union(&CharSet::new([('0', '9')])), Spelling::Text);
    let more = exprs.repeat(more, 0, UNBOUNDED);
    let name = exprs.seq2(first, more);
    let keywords = exprs.one_of(KEYWORDS.map(str::as_bytes));
    exprs.minus(name, keywords)
}
