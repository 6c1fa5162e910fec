//! JSON Schema: a schema becomes rules whose bodies are made when they are first entered.
//!
//! ```text
//! text → Document → Terms (a boolean formula over places) → Shapes (unions by type) → rules
//! ```
//!
//! Everything that can go wrong is found before the first token: malformed schemas, references to
//! nothing, patterns that are none, keywords that cannot be enforced, schemas without a value.
//! No assertion is ever ignored in silence.

mod array_rules;
mod array_states;
mod arrays;
mod assertions;
mod closed;
mod compared;
mod complement;
mod constants;
mod differ;
mod document;
mod dynamic;
mod evaluated;
mod extent;
mod formats;
mod formats_net;
mod formats_pattern;
mod formats_time;
mod formula;
mod interned;
mod language;
mod library;
mod lower;
mod meet;
mod metaschemas;
mod name_set;
mod notation;
mod notation_checks;
mod notation_items;
mod number_text;
mod numbers;
mod object_pairs;
mod object_states;
mod object_table;
mod objects;
mod options;
mod ordered_object;
mod parameters;
mod polarity;
mod reach;
mod repeats;
mod report;
mod resources;
mod rules;
mod satisfy;
mod schemas;
mod scopes;
mod shape;
mod sources;
mod spacing;
mod tagged;
mod terms;
mod text_exprs;
mod texts;
mod uri;
mod values;
mod widening;

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::Grammar;
use crate::limits::Budget;

use rules::SchemaRules;
use schemas::Schemas;

pub(crate) use document::{Document, Node, NodeId};
pub use notation::Notation;
pub use options::{
    Additional, Dialect, Escapes, Formats, JsonSchemaOptions, KeyOrder, Numbers, Unsupported,
    Whitespace,
};
pub use parameters::{Nested, Parameters};
pub use report::{Report, report};

/// The grammar of the JSON texts that are valid for a schema.
///
/// ```
/// use stencilm::Budget;
/// use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
///
/// let schema = r#"{"type": "object", "properties": {"age": {"type": "integer"}}}"#;
/// let grammar = grammar(schema, &JsonSchemaOptions::default(), &mut Budget::default())?;
/// assert_eq!(grammar.rules.name(grammar.start), "value_2");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// [`Syntax`](crate::ErrorKind::Syntax) for what is no JSON (with a byte offset) or no schema
/// (with a JSON Pointer), [`Unsupported`](crate::ErrorKind::Unsupported) for an assertion that
/// cannot be enforced, [`Unsatisfiable`](crate::ErrorKind::Unsatisfiable) for a schema without
/// values, or a limit.
pub fn grammar(
    schema: &str,
    options: &JsonSchemaOptions,
    budget: &mut Budget,
) -> Result<Grammar, Error> {
    options.whitespace.check()?;
    let (schemas, start) = Schemas::compiled(schema, options, budget)?;
    let rules = SchemaRules::new(schemas, start)?;
    let start = rules.start();
    Ok(Grammar { rules: Arc::new(rules), start })
}
