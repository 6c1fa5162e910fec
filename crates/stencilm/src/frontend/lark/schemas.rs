//! JSON Schemas inside a grammar, with the options that llguidance reads from `x-guidance`.

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::{
    self, Document, Escapes, JsonSchemaOptions, Node as JsonNode, Unsupported, Whitespace,
};
use crate::grammar::Grammar;
use crate::limits::Budget;

/// The grammar of a schema, whose text begins at `offset`.
pub(crate) fn grammar(text: &str, offset: usize, budget: &mut Budget) -> Result<Grammar, Error> {
    options(text)
        .and_then(|options| json_schema::grammar(text, &options, budget))
        .map_err(|error| placed(error, offset))
}

/// The same error at its place in the grammar; a place in the schema is said in words.
fn placed(error: Error, offset: usize) -> Error {
    let at = match error.location() {
        Location::Offset(inside) => {
            return error.clone().moved_to(Location::Offset(offset + inside));
        }
        Location::Whole => String::new(),
        Location::Pointer(pointer) => format!(" at `{pointer}`"),
    };
    let place = Location::Offset(offset);
    match error.kind() {
        ErrorKind::Syntax { message } => {
            Error::syntax(format!("in this schema{at}: {message}"), offset)
        }
        ErrorKind::Unsupported { feature } => {
            Error::unsupported(format!("in this schema{at}: {feature}"), place)
        }
        ErrorKind::Unsatisfiable { reason } => {
            Error::unsatisfiable(format!("in this schema{at}: {reason}"), place)
        }
        ErrorKind::LimitReached { .. }
        | ErrorKind::TimeIsUp { .. }
        | ErrorKind::Cancelled
        | ErrorKind::Vocabulary { .. } => error,
    }
}

fn options(text: &str) -> Result<JsonSchemaOptions, Error> {
    let mut options = JsonSchemaOptions::default();
    let document = Document::parse(text)?;
    let Some(given) = document.find(document.root(), "x-guidance") else {
        return Ok(options);
    };
    if !matches!(document.get(given), JsonNode::Object { .. }) {
        return Err(Error::syntax("`x-guidance` is a JSON object", 0));
    }
    let mut is_flexible = true;
    let (mut item, mut key) = (None, None);
    for (name, value) in document.members(given) {
        let flag = match document.get(value) {
            JsonNode::Bool(flag) => Some(flag),
            JsonNode::Null
            | JsonNode::Number(_)
            | JsonNode::String(_)
            | JsonNode::Array { .. }
            | JsonNode::Object { .. } => None,
        };
        match (name, flag, document.as_str(value)) {
            ("whitespace_flexible", Some(flag), _) => is_flexible = flag,
            ("item_separator", _, Some(text)) => item = Some(text.to_owned()),
            ("key_separator", _, Some(text)) => key = Some(text.to_owned()),
            ("lenient" | "coerce_one_of", Some(true), _) => {
                options.unsupported = Unsupported::Widen;
            }
            ("json_allow_general_unicode_escapes", Some(true), _) => options.escapes = Escapes::Any,
            ("lenient" | "coerce_one_of", Some(false), _) => {}
            ("json_allow_general_unicode_escapes", Some(false), _)
            | ("json_allowed_escapes" | "whitespace_pattern", ..) => {
                return Err(refused(name));
            }
            _ => {
                let message =
                    format!("there is no option `{name}` of `x-guidance` with this value");
                return Err(Error::syntax(message, 0));
            }
        }
    }
    if !is_flexible {
        let (item, key) = (item.unwrap_or_else(|| ",".into()), key.unwrap_or_else(|| ":".into()));
        options.whitespace = Whitespace::Separators { item, key };
    } else if item.is_some_and(|item| item != ",") || key.is_some_and(|key| key != ":") {
        return Err(refused("item_separator"));
    }
    Ok(options)
}

fn refused(name: &str) -> Error {
    Error::unsupported(format!("the option `{name}` of `x-guidance`"), Location::Offset(0))
}
