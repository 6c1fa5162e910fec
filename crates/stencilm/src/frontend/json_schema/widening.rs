//! What cannot be enforced, where the caller asked for a wider language instead of an error: the
//! keyword then says nothing, and neither does its negation.
//!
//! A keyword is found to be one by the error that it causes, and the schema is read again without it.

use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::options::{JsonSchemaOptions, Unsupported};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{Place, Refusal, Shape, ShapeId, StringShape};
use crate::limits::Budget;

/// Keywords that say nothing, by their locations, and why.
#[derive(Debug, Default)]
pub(crate) struct Unknown(FxHashMap<String, String>);

impl Schemas {
    /// A schema, and the shape of its values.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub(crate) fn compiled(
        text: &str,
        options: &JsonSchemaOptions,
        budget: &Budget,
    ) -> Result<(Self, ShapeId), Error> {
        let mut schemas = Self::new(text, options, budget)?;
        loop {
            let error = match schemas.compile() {
                Ok(shape) => return Ok((schemas, shape)),
                Err(error) => error,
            };
            if options.unsupported == Unsupported::Refuse || !schemas.unknown.add(&error) {
                return Err(error);
            }
            schemas.budget.tick()?;
            let mut again = Self::new(text, options, &schemas.budget)?;
            again.unknown = schemas.unknown;
            schemas = again;
        }
    }

    /// Whether a keyword, by the place of its value, says nothing.
    pub(crate) fn is_unknown(&self, place: Place, keyword: &str) -> bool {
        if self.unknown.0.is_empty() {
            return false;
        }
        if keyword == "additionalProperties" {
            // It is about the names that no pattern has.
            let document = self.sources.document(place);
            let schema = document.parent(place.node);
            let patterns = schema.and_then(|schema| document.find(schema, "patternProperties"));
            if let Some(node) = patterns
                && self.is_unknown(Place { node, ..place }, "patternProperties")
            {
                return true;
            }
        }
        match self.sources.location(place) {
            Location::Pointer(at) => self.unknown.0.contains_key(&at),
            Location::Whole | Location::Offset(_) => false,
        }
    }

    /// The shape of a keyword that says nothing.
    pub(crate) fn unknown_shape(place: Place) -> Shape {
        // Names must not be told apart by it.
        let refusal = Some(Refusal::new("this keyword", place));
        let string = StringShape { refusal, ..StringShape::default() };
        Shape { strings: vec![string], ..Shape::any() }
    }

    /// The keywords that say nothing, for the report.
    pub(crate) fn unknown_keywords(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> =
            self.unknown.0.iter().map(|(at, why)| (at.clone(), why.clone())).collect();
        all.sort_unstable();
        all
    }
}

impl Unknown {
    /// Whether every keyword counts.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the keyword that an error is about; what is around it, if that was of no avail. False
    /// if nothing is left to add.
    fn add(&mut self, error: &Error) -> bool {
        let (ErrorKind::Unsupported { feature }, Location::Pointer(at)) =
            (error.kind(), error.location())
        else {
            return false;
        };
        let mut at = at.as_str();
        while self.0.contains_key(at) {
            match at.rsplit_once('/') {
                Some((around, _)) => at = around,
                None => return false,
            }
        }
        self.0.insert(at.to_owned(), feature.clone());
        true
    }
}
