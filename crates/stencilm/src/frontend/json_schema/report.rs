//! What becomes of each keyword of a schema: enforced, enforced more narrowly, an annotation, or
//! widened because the caller asked for it.

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::frontend::json_schema::document::NodeId;
use crate::frontend::json_schema::formats::{self, Format};
use crate::frontend::json_schema::options::{Dialect, Escapes, JsonSchemaOptions, Numbers};
use crate::frontend::json_schema::polarity::Polarity;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{Place, TermId};
use crate::frontend::json_schema::terms::Term;
use crate::interner::index;
use crate::limits::Budget;

/// What compiling a schema means for its keywords. Each list has the JSON Pointer of a keyword's
/// value and a text; equal subschemas are listed once, subschemas that no value reaches are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Keywords that are enforced exactly.
    pub enforced: Vec<(String, String)>,
    /// Keywords of which only a part is allowed: no output breaks them, and some valid output
    /// never comes. A `format` that both must hold and must fail is here twice.
    pub narrower: Vec<(String, String)>,
    /// Keywords that ask for nothing.
    pub annotations: Vec<(String, String)>,
    /// Assertions that are not enforced, which only [`Unsupported::Widen`] allows.
    ///
    /// [`Unsupported::Widen`]: crate::frontend::json_schema::Unsupported::Widen
    pub widened: Vec<(String, String)>,
}

/// What [`grammar`](crate::frontend::json_schema::grammar) makes of a schema.
///
/// ```
/// use stencilm::Budget;
/// use stencilm::frontend::json_schema::{JsonSchemaOptions, report};
///
/// let schema = r#"{"type": "string", "format": "color", "title": "Paint"}"#;
/// let report = report(schema, &JsonSchemaOptions::default(), &mut Budget::default())?;
/// assert_eq!(report.enforced, [("/type".to_owned(), "type".to_owned())]);
/// assert_eq!(report.annotations[0].1, "format: `color` is unknown");
/// # Ok::<(), stencilm::Error>(())
/// ```
///
/// # Errors
/// As [`grammar`](crate::frontend::json_schema::grammar).
pub fn report(
    schema: &str,
    options: &JsonSchemaOptions,
    budget: &mut Budget,
) -> Result<Report, Error> {
    let (mut schemas, start) = Schemas::compiled(schema, options, budget)?;
    let polarity = schemas.polarity()?;
    let mut report = Report::default();
    let mut described = FxHashSet::default();
    for at in 0..schemas.terms.len() {
        let term = TermId(index(at));
        if let Term::Schema(place) = *schemas.terms.get(term)
            // One that has to fail is opened, but no value has its shape.
            && (schemas.shape_of(term).is_some() || schemas.lowered.contains_key(&term))
            && described.insert((place.document, place.node))
        {
            schemas.describe(place, &polarity, &mut report);
        }
    }
    if schemas.options.is_call() && schemas.shape(start).is_not_only_objects() {
        let root = schemas.sources.root();
        let node = schemas.sources.document(root).find(root.node, "type").unwrap_or(root.node);
        let pointer = schemas.pointer(Place { node, ..root });
        let text = "the arguments of a call are an object, and no other value comes";
        report.enforced.retain(|(known, _)| *known != pointer);
        report.narrower.push((pointer, text.to_owned()));
    }
    for refusal in std::mem::take(&mut schemas.reach.refusals) {
        let entry = (schemas.pointer(refusal.place), refusal.feature.to_owned());
        if !report.widened.contains(&entry) {
            report.widened.push(entry);
        }
    }
    for entry in schemas.unknown_keywords() {
        if !report.widened.iter().any(|(known, _)| *known == entry.0) {
            report.widened.push(entry);
        }
    }
    let Report { enforced, narrower, widened, .. } = &mut report;
    for list in [enforced, narrower] {
        list.retain(|(pointer, _)| !widened.iter().any(|(known, _)| known == pointer));
    }
    Ok(report)
}

impl Schemas {
    fn pointer(&self, place: Place) -> String {
        match self.sources.location(place) {
            crate::error::Location::Pointer(pointer) => pointer,
            crate::error::Location::Whole | crate::error::Location::Offset(_) => String::new(),
        }
    }

    fn describe(&self, place: Place, polarity: &Polarity, report: &mut Report) {
        let language = self.sources.language(place);
        let dialect = language.dialect;
        let document = self.sources.document(place);
        // What must fail is no part of the output, so that its spelling does not matter.
        let is_written =
            polarity.holding.contains(&place.open()) || !polarity.failing.contains(&place.open());
        let is_reference = dialect <= Dialect::Draft7
            && document.find(place.node, "$ref").is_some_and(|r| document.as_str(r).is_some());
        for (keyword, node) in document.members(place.node) {
            let pointer = self.pointer(Place { node, ..place });
            if is_reference && keyword != "$ref" {
                if is_assertion(keyword, Dialect::Draft2020) {
                    let text = format!("{keyword}: this dialect ignores what stands beside $ref");
                    report.annotations.push((pointer, text));
                }
                continue;
            }
            if !language.knows(keyword) {
                let text = format!("{keyword}: not in the vocabularies of the metaschema");
                report.annotations.push((pointer, text));
                continue;
            }
            match keyword {
                "format" => self.describe_format(place, node, pointer, polarity, report),
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
                    if self.options.numbers != Numbers::Any && is_written =>
                {
                    let text = format!("{keyword}: integers are written without an exponent");
                    report.narrower.push((pointer, text));
                }
                "enum" | "const"
                    if self.options.escapes != Escapes::Any
                        && is_assertion(keyword, dialect)
                        && is_written =>
                {
                    let text = format!("{keyword}: each string has one spelling");
                    report.narrower.push((pointer, text));
                }
                "nullable" if self.options.nullable => {
                    report.enforced.push((pointer, keyword.to_owned()));
                }
                _ if is_assertion(keyword, dialect) => {
                    report.enforced.push((pointer, keyword.to_owned()));
                }
                "$schema" => self.describe_schema(place, node, pointer, report),
                "$id" | "id" | "$anchor" | "$defs" | "definitions" | "$vocabulary"
                | "$dynamicAnchor" | "$recursiveAnchor" => {}
                "title" | "description" | "default" | "examples" | "$comment" | "deprecated"
                | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
                | "contentSchema" => report.annotations.push((pointer, keyword.to_owned())),
                _ => report.annotations.push((pointer, format!("{keyword}: unknown keyword"))),
            }
        }
    }

    /// A `$schema` that does not say what the schema is written in.
    fn describe_schema(&self, place: Place, node: NodeId, pointer: String, report: &mut Report) {
        let language = self.sources.language(place);
        let uri = self.sources.document(place).as_str(node).unwrap_or_default();
        let text = if !self.sources.is_resource(place) {
            "means nothing here, since the schema has no URI of its own"
        } else if !self.sources.library.is_known_language(uri) {
            "is unknown: the option `dialect` says how to read it"
        } else {
            return;
        };
        let text = format!("$schema: `{uri}` {text}; read as {}", language.dialect.name());
        report.annotations.push((pointer, text));
    }

    fn describe_format(
        &self,
        place: Place,
        node: NodeId,
        pointer: String,
        polarity: &Polarity,
        report: &mut Report,
    ) {
        let name = self.sources.document(place).as_str(node).unwrap_or_default();
        if !self.asserts_formats(place) {
            report.annotations.push((pointer, format!("format: `{name}`, as asked")));
            return;
        }
        let format = Format::of_name(name);
        match format.map(|format| (format, format.difference())) {
            Some((format, Some(difference))) => {
                let must_fail =
                    polarity.failing.contains(&place.open()) && self.patterns.is_widened(format);
                if polarity.holding.contains(&place.open()) || !must_fail {
                    let text = format!("format: `{name}`: {}", difference.leaves_out);
                    report.narrower.push((pointer.clone(), text));
                }
                if must_fail {
                    let text =
                        format!("format: `{name}`, where it must fail: {}", difference.counts_too);
                    report.narrower.push((pointer, text));
                }
            }
            None if formats::integers(name).is_none() => {
                let text = format!("format: `{name}` {}", formats::annotation(name));
                report.annotations.push((pointer, text));
            }
            _ => report.enforced.push((pointer, format!("format: `{name}`"))),
        }
    }
}

/// Whether a keyword asserts something in a dialect.
fn is_assertion(keyword: &str, dialect: Dialect) -> bool {
    match keyword {
        "type"
        | "enum"
        | "properties"
        | "required"
        | "items"
        | "additionalProperties"
        | "patternProperties"
        | "additionalItems"
        | "minItems"
        | "maxItems"
        | "uniqueItems"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "minProperties"
        | "maxProperties"
        | "$ref"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "dependencies"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf" => true,
        "const" | "contains" | "propertyNames" => dialect >= Dialect::Draft6,
        "if" | "then" | "else" => dialect >= Dialect::Draft7,
        "dependentRequired"
        | "dependentSchemas"
        | "minContains"
        | "maxContains"
        | "unevaluatedItems"
        | "unevaluatedProperties" => dialect >= Dialect::Draft2019,
        "$recursiveRef" => dialect == Dialect::Draft2019,
        "prefixItems" | "$dynamicRef" => dialect >= Dialect::Draft2020,
        _ => false,
    }
}
