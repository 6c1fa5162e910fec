//! What a caller may choose about the text that a JSON Schema allows.

use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::parameters::Parameters;
use crate::grammar::Spelling;

/// How a JSON Schema becomes a grammar.
///
/// ```
/// use stencilm::frontend::json_schema::{JsonSchemaOptions, Whitespace};
///
/// let options = JsonSchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
/// assert!(!options.nullable);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct JsonSchemaOptions {
    /// White space between tokens. None comes before or after the whole value.
    pub whitespace: Whitespace,
    /// The order in which member names come.
    pub key_order: KeyOrder,
    /// Where names may come that the schema does not list, if the order is the declared one.
    pub additional: Additional,
    /// How numbers may be spelled.
    pub numbers: Numbers,
    /// How member names and strings may be spelled.
    pub escapes: Escapes,
    /// Enforces `format`. Default yes.
    pub formats: Formats,
    /// Reads `OpenAPI`'s `nullable: true` as "or null". Default no: it is an unknown keyword.
    pub nullable: bool,
    /// Where a schema describes members or items of a value (`properties`, `patternProperties`,
    /// `prefixItems`) and says nothing of others, allows no others: as if `unevaluatedProperties`
    /// and `unevaluatedItems` were `false`. Default no, as the standard says.
    pub closed: bool,
    /// What to do with an assertion that cannot be enforced. Default: refuse the schema.
    pub unsupported: Unsupported,
    /// What a schema without `$schema` is written in. Default 2020-12.
    pub dialect: Dialect,
    /// Other documents that a `$ref` may name: a URI and the text of the schema. Nothing is ever
    /// fetched.
    pub resources: Vec<(String, String)>,
    /// Writes the members of the outermost value, an object, as parameters in these marks instead
    /// of as JSON. Default: JSON.
    pub parameters: Option<Parameters>,
    /// How values are written. Default: as JSON.
    pub notation: Notation,
    /// What is no text in the marks of parameters and in those of the notation, but a special token
    /// of this name. Default: none.
    pub tokens: Vec<String>,
}

impl JsonSchemaOptions {
    /// Whether the outermost value is the arguments of a call, an object.
    pub(crate) fn is_call(&self) -> bool {
        self.parameters.is_some() || self.notation == Notation::Python
    }
}

/// White space between the tokens of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Whitespace {
    /// Up to `cap` characters (space, tab, line feed, carriage return) at each place.
    Any {
        /// The most white-space characters in a row.
        cap: u32,
    },
    /// None.
    Compact,
    /// As `json.dumps` writes it: one line with exactly these separators. `(", ", ": ")` is its
    /// default.
    Separators {
        /// Between members and between items.
        item: String,
        /// Between a name and its value.
        key: String,
    },
    /// As `json.dumps(…, indent=n)` writes it: a line for each member and item. `(",", ": ")` are
    /// its separators.
    Lines {
        /// Spaces at the front of a line, for each level.
        width: u32,
        /// Between members and between items, at the end of a line.
        item: String,
        /// Between a name and its value.
        key: String,
    },
}

impl Whitespace {
    /// The default cap on white-space characters in a row: the indentation of real documents
    /// needs less, and a model that runs on in white space is stopped.
    pub const DEFAULT_CAP: u32 = 64;
}

impl Default for Whitespace {
    fn default() -> Self {
        Self::Any { cap: Self::DEFAULT_CAP }
    }
}

/// The order in which member names come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// The order in which the schema first mentions them, as models are trained to write.
    #[default]
    Declared,
    /// Any order. More states are visited: one for each set of names that came so far.
    Any,
}

/// Where member names may come that a schema does not list. Listed names come in the order in
/// which the schema first mentions them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Additional {
    /// As soon as no required name is missing, between the others too.
    #[default]
    AfterRequired,
    /// Anywhere.
    Anywhere,
    /// After all listed names.
    Last,
}

/// How numbers may be spelled. A number is a value: `1`, `1.0`, `10e-1` are the same. Zeros may
/// come at the end of a fraction without bound in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// As models and `json.dumps` write them: integers without an exponent.
    #[default]
    Plain,
    /// The same, and integers by their digits alone: `1`, never `1.0`.
    Digits,
    /// Every legal spelling of JSON, also `1e3` for an integer.
    Any,
}

/// How member names and strings may be spelled. Lone surrogates never come: they are no characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escapes {
    /// As models and `json.dumps` write them: names and listed strings (`const`, `enum`) in their
    /// shortest spelling, other strings in every legal one.
    #[default]
    Plain,
    /// Every legal spelling of JSON: `"\u0061"` is the name `a`.
    Any,
    /// ASCII alone: names and listed strings as `json.dumps` writes them by itself, other strings
    /// in every legal spelling made of ASCII.
    Ascii,
}

impl Escapes {
    /// The spelling of member names and of listed strings.
    pub(crate) fn listed(self) -> Spelling {
        match self {
            Self::Plain => Spelling::JsonCanonical,
            Self::Any => Spelling::Json,
            Self::Ascii => Spelling::JsonAsciiCanonical,
        }
    }

    /// The spelling of other strings.
    pub(crate) fn others(self) -> Spelling {
        match self {
            Self::Plain | Self::Any => Spelling::Json,
            Self::Ascii => Spelling::JsonAscii,
        }
    }
}

/// Whether `format` is an assertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formats {
    /// Known formats are enforced.
    #[default]
    Enforced,
    /// All formats are annotations.
    Ignored,
}

/// What to do with an assertion that is known but cannot be enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsupported {
    /// Refuse the schema, with the keyword's name and place.
    #[default]
    Refuse,
    /// Serve a wider language and list the keyword in the report.
    Widen,
}

/// The versions of JSON Schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// draft-04.
    Draft4,
    /// draft-06.
    Draft6,
    /// draft-07.
    Draft7,
    /// 2019-09.
    Draft2019,
    /// 2020-12.
    #[default]
    Draft2020,
}

impl Dialect {
    /// As its authors call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft2019 => "2019-09",
            Self::Draft2020 => "2020-12",
        }
    }

    /// The dialect that `$schema` names; `None` for one that we do not know.
    #[must_use]
    pub fn of_uri(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#');
        let path = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
        match path {
            "json-schema.org/draft-04/schema" => Some(Self::Draft4),
            "json-schema.org/draft-06/schema" => Some(Self::Draft6),
            "json-schema.org/draft-07/schema" => Some(Self::Draft7),
            "json-schema.org/draft/2019-09/schema" => Some(Self::Draft2019),
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft2020),
            _ => None,
        }
    }
}
