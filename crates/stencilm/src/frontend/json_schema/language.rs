//! What the keywords of a schema mean: its dialect, and the vocabularies of its metaschema.

use crate::frontend::json_schema::document::{Document, Node, NodeId};
use crate::frontend::json_schema::options::Dialect;

/// The language in which a schema is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Language {
    pub(crate) dialect: Dialect,
    /// The groups of keywords that the metaschema names.
    groups: u8,
}

/// Schemas that apply to the value or to its parts.
const APPLICATOR: u8 = 1;
const VALIDATION: u8 = 2;
const UNEVALUATED: u8 = 4;
/// `format` is an assertion whatever the caller says.
const FORMAT: u8 = 8;

/// Where keywords have schemas in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// An array of schemas.
    Many,
    /// An array of schemas, or one.
    OneOrMany,
    /// An object whose members are schemas.
    Named,
}

impl Language {
    /// A dialect as its standard has it.
    pub(crate) fn of(dialect: Dialect) -> Self {
        Self { dialect, groups: APPLICATOR | VALIDATION | UNEVALUATED }
    }

    /// The language of the schemas that a metaschema describes; without it, `dialect` is the
    /// metaschema's own.
    ///
    /// # Errors
    /// The vocabulary that is required and not known.
    pub(crate) fn of_metaschema(metaschema: &Document, dialect: Dialect) -> Result<Self, String> {
        let vocabularies = metaschema.find(metaschema.root(), "$vocabulary");
        let Some(vocabularies) = vocabularies.filter(|_| dialect >= Dialect::Draft2019) else {
            return Ok(Self::of(dialect));
        };
        let mut groups = 0;
        for (uri, is_required) in metaschema.members(vocabularies) {
            let is_required = matches!(metaschema.get(is_required), Node::Bool(true));
            let name = uri
                .strip_prefix("https://json-schema.org/draft/2019-09/vocab/")
                .or_else(|| uri.strip_prefix("https://json-schema.org/draft/2020-12/vocab/"));
            match name {
                // In 2019-09 `unevaluated…` belong to the applicators.
                Some("applicator") if dialect == Dialect::Draft2019 => {
                    groups |= APPLICATOR | UNEVALUATED;
                }
                Some("applicator") => groups |= APPLICATOR,
                Some("unevaluated") => groups |= UNEVALUATED,
                Some("validation") => groups |= VALIDATION,
                Some("format-assertion") => groups |= FORMAT,
                Some("format") if is_required => groups |= FORMAT,
                Some("core" | "format" | "format-annotation" | "meta-data" | "content") => {}
                _ if is_required => return Err(uri.to_owned()),
                _ => {}
            }
        }
        Ok(Self { dialect, groups })
    }

    /// Whether `format` is an assertion whatever the caller says.
    pub(crate) fn asserts_formats(self) -> bool {
        self.groups & FORMAT != 0
    }

    /// Whether a keyword means anything, as far as vocabularies decide that.
    pub(crate) fn knows(self, keyword: &str) -> bool {
        const ALL: u8 = APPLICATOR | VALIDATION | UNEVALUATED;
        if self.groups & ALL == ALL {
            return true;
        }
        let group = match keyword {
            "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "dependentSchemas"
            | "dependencies"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames" => APPLICATOR,
            "type" | "enum" | "const" | "multipleOf" | "minimum" | "maximum"
            | "exclusiveMinimum" | "exclusiveMaximum" | "minLength" | "maxLength" | "pattern"
            | "minItems" | "maxItems" | "uniqueItems" | "minContains" | "maxContains"
            | "minProperties" | "maxProperties" | "required" | "dependentRequired" => VALIDATION,
            "unevaluatedItems" | "unevaluatedProperties" => UNEVALUATED,
            _ => return true,
        };
        self.groups & group != 0
    }

    /// The schemas in the value of a keyword. In other keywords may stand what looks like one.
    pub(crate) fn holds(self, keyword: &str) -> Option<Holds> {
        let (since, holds) = match keyword {
            "additionalProperties" | "additionalItems" | "not" => (Dialect::Draft4, Holds::One),
            "contains" | "propertyNames" => (Dialect::Draft6, Holds::One),
            "if" | "then" | "else" => (Dialect::Draft7, Holds::One),
            "unevaluatedItems" | "unevaluatedProperties" | "contentSchema" => {
                (Dialect::Draft2019, Holds::One)
            }
            "items" => (Dialect::Draft4, Holds::OneOrMany),
            "allOf" | "anyOf" | "oneOf" => (Dialect::Draft4, Holds::Many),
            "prefixItems" => (Dialect::Draft2020, Holds::Many),
            "properties" | "patternProperties" | "definitions" | "dependencies" => {
                (Dialect::Draft4, Holds::Named)
            }
            "$defs" | "dependentSchemas" => (Dialect::Draft2019, Holds::Named),
            _ => return None,
        };
        (self.dialect >= since).then_some(holds)
    }

    /// The keyword that names a resource.
    pub(crate) fn id_keyword(self) -> &'static str {
        if self.dialect == Dialect::Draft4 { "id" } else { "$id" }
    }

    /// The value of that keyword, where it means something: before 2019-09, what stands beside a
    /// `$ref` is ignored.
    pub(crate) fn id(self, document: &Document, node: NodeId) -> Option<&str> {
        let id = document.as_str(document.find(node, self.id_keyword())?)?;
        let is_ignored = self.dialect <= Dialect::Draft7
            && document.find(node, "$ref").is_some_and(|node| document.as_str(node).is_some());
        (!is_ignored).then_some(id)
    }
}
