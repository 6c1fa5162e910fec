//! Structural tags: free text and tags with contents of their own, as one JSON document.
//!
//! ```json
//! {"type": "structural_tag", "format": {
//!     "type": "triggered_tags", "triggers": ["<call="],
//!     "tags": [{"begin": "<call=f>", "content": {"type": "json_schema", "json_schema": true},
//!               "end": "</call>"}]}}
//! ```
//!
//! Free text is all that has no trigger, no excluded text and no end of the tag around it inside: a
//! regular language. Schemas and grammars inside are grammars of their own, which this one calls.

mod fields;
mod free;
mod lower;
mod schema;
mod styles;
mod tokens;
mod written;

use crate::error::Error;
use crate::frontend::json_schema::{JsonSchemaOptions, Report};
use crate::frontend::tags::lower::Lowering;
use crate::grammar::{Grammar, RuleSet};
use crate::limits::Budget;

/// What makes rules that are written down a grammar that can be called.
pub type Normal = fn(RuleSet, &mut Budget) -> Result<Grammar, Error>;

/// Reads a structural tag. `options` hold for the JSON Schemas inside, as far as they do not say
/// otherwise.
///
/// ```
/// use stencilm::{Budget, frontend::{json_schema::JsonSchemaOptions, tags}};
///
/// let tag = r#"{"type": "structural_tag", "format":
///     {"type": "tag", "begin": "<b>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</b>"}}"#;
/// let options = JsonSchemaOptions::default();
/// let rules = tags::parse(tag, &options, stencilm::from_rules, &mut Budget::default())?;
/// assert_eq!(rules.to_string(), "root ::= \"<b>\" [0-9]+ \"</b>\"\n");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// [`Syntax`](crate::ErrorKind::Syntax) for what is no JSON (with the byte offset) or no structural
/// tag (with a JSON Pointer), [`Unsupported`](crate::ErrorKind::Unsupported) for what cannot be
/// enforced, errors of the schemas, patterns and grammars inside (with a JSON Pointer), or a limit.
pub fn parse(
    text: &str,
    options: &JsonSchemaOptions,
    normal: Normal,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    Ok(Lowering::run(text, options, normal, false, budget)?.0)
}

/// What becomes of the keywords of the JSON Schemas inside of a structural tag; equal ones are
/// listed once.
///
/// # Errors
/// As [`parse`].
pub fn report(
    text: &str,
    options: &JsonSchemaOptions,
    normal: Normal,
    budget: &mut Budget,
) -> Result<Report, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    Ok(Lowering::run(text, options, normal, true, budget)?.1)
}
