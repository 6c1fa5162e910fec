//! A schema as a term: its own assertions, and the schemas that apply to the same value.

use crate::error::{Error, ErrorKind};
use crate::frontend::json_schema::constants::Constant;
use crate::frontend::json_schema::document::{Node, NodeId};
use crate::frontend::json_schema::options::Dialect;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, NEVER, Place, TermId};
use crate::frontend::json_schema::terms::Term;

/// Schemas with a `oneOf` that are taken apart one inside the other; deeper ones stay closed.
const MOST_OPENED: usize = 16;

/// The parts of one schema, in the order in which it names them.
struct Parts {
    place: Place,
    dialect: Dialect,
    all: Vec<TermId>,
    /// Exactly one of each of these.
    choices: Vec<Choice>,
    has_assertions: bool,
}

/// The branches of a `oneOf`, and where it stands.
type Choice = (Place, Vec<TermId>);

impl Schemas {
    /// What [`Self::lower`] makes of the schema that a term names, made once.
    pub(crate) fn lowered(&mut self, term: TermId, place: Place) -> Result<TermId, Error> {
        if let Some(&known) = self.lowered.get(&term) {
            return Ok(known);
        }
        let lowered = self.lower(place)?;
        self.lowered.insert(term, lowered);
        Ok(lowered)
    }

    /// The term that a schema stands for. Schemas inside stay closed.
    fn lower(&mut self, place: Place) -> Result<TermId, Error> {
        let language = self.sources.language(place);
        let dialect = language.dialect;
        let document = self.sources.document(place);
        if dialect <= Dialect::Draft7
            && let Some(reference) = document.find(place.node, "$ref")
            && let Some(target) = document.as_str(reference).map(str::to_owned)
        {
            // Before 2019-09, what stands beside `$ref` is ignored.
            return self.reference(place, &target);
        }
        let mut parts =
            Parts { place, dialect, all: Vec::new(), choices: Vec::new(), has_assertions: false };
        for at in 0..document.len(place.node) {
            let (keyword, value) = self.sources.document(place).member(place.node, at);
            if !language.knows(keyword) {
                continue;
            }
            if self.is_unknown(Place { node: value, ..place }, keyword) {
                let unknown = self.terms.add(Term::Unknown(Place { node: value, ..place }));
                parts.all.push(unknown);
                continue;
            }
            // The keyword is told apart by its length first, which decides nearly always.
            match keyword {
                "$ref"
                | "$dynamicRef"
                | "$recursiveRef"
                | "allOf"
                | "anyOf"
                | "oneOf"
                | "not"
                | "if"
                | "dependentRequired"
                | "dependentSchemas"
                | "dependencies"
                | "unevaluatedProperties"
                | "unevaluatedItems" => {
                    let keyword = keyword.to_owned();
                    self.lower_keyword(&mut parts, &keyword, Place { node: value, ..place })?;
                }
                "type"
                | "enum"
                | "const"
                | "properties"
                | "required"
                | "items"
                | "additionalProperties"
                | "patternProperties"
                | "propertyNames"
                | "prefixItems"
                | "additionalItems"
                | "minItems"
                | "maxItems"
                | "uniqueItems"
                | "contains"
                | "minContains"
                | "maxContains"
                | "minLength"
                | "maxLength"
                | "pattern"
                | "format"
                | "minimum"
                | "maximum"
                | "exclusiveMinimum"
                | "exclusiveMaximum"
                | "multipleOf"
                | "minProperties"
                | "maxProperties"
                | "nullable"
                    if !parts.has_assertions =>
                {
                    parts.has_assertions = true;
                    let own = self.terms.add(Term::Assertions(place));
                    parts.all.push(own);
                }
                _ => {}
            }
        }
        let is_nullable = self.options.nullable
            && self.sources.document(place).find(place.node, "nullable").is_some_and(|value| {
                matches!(self.sources.document(place).get(value), Node::Bool(true))
            });
        self.lowering.push(place);
        let all = self.join(parts);
        self.lowering.pop();
        let all = all?;
        if is_nullable {
            let null = self.constants.id(Constant::Null);
            let null = self.constant(null);
            return Ok(self.terms.or(&[all, null]));
        }
        Ok(all)
    }

    /// All parts at once. What stands beside a `oneOf` goes into its branches, where it helps to
    /// tell them apart.
    fn join(&mut self, parts: Parts) -> Result<TermId, Error> {
        let Parts { all, mut choices, .. } = parts;
        let mut plain = Vec::with_capacity(all.len());
        let is_alone = all.len() + choices.len() < 2;
        for part in all {
            if is_alone || !self.open_choices(part, &mut plain, &mut choices)? {
                plain.push(part);
            }
        }
        let all = self.terms.and(&plain);
        if choices.is_empty() {
            return Ok(all);
        }
        // Each by itself: one choice within the branches of another one would double with each.
        let mut chosen = Vec::with_capacity(choices.len());
        for (place, branches) in choices {
            let branches: Vec<TermId> =
                branches.into_iter().map(|branch| self.terms.and2(all, branch)).collect();
            chosen.push(match branches[..] {
                [one] => one,
                // What is known of a branch is not all: its negation is one of its parts.
                _ if !self.unknown.is_empty() => self.exactly_one_of(place, &branches)?,
                _ => self.terms.add(Term::One(place, branches.into())),
            });
        }
        Ok(self.terms.and(&chosen))
    }

    /// Exactly one of some terms, as a formula.
    fn exactly_one_of(&mut self, place: Place, branches: &[TermId]) -> Result<TermId, Error> {
        self.check_count(branches.len())?;
        let nots: Vec<TermId> =
            branches.iter().map(|&branch| self.terms.not(place, branch)).collect();
        let mut all = Vec::with_capacity(branches.len());
        for (at, &branch) in branches.iter().enumerate() {
            self.budget.check()?;
            let mut parts = nots.clone();
            parts[at] = branch;
            all.push(self.terms.and(&parts));
        }
        Ok(self.terms.or(&all))
    }

    /// Takes a schema with a `oneOf` apart into its choices and the rest of it. False if it has
    /// none.
    fn open_choices(
        &mut self,
        part: TermId,
        plain: &mut Vec<TermId>,
        choices: &mut Vec<Choice>,
    ) -> Result<bool, Error> {
        let Term::Schema(place) = *self.terms.get(part) else {
            return Ok(false);
        };
        let document = self.sources.document(place);
        let has_choice = document.find(place.node, "oneOf").is_some();
        let is_deep = self.lowering.len() >= MOST_OPENED;
        if !has_choice || is_deep || self.lowering.contains(&place) {
            return Ok(false);
        }
        let lowered = self.lowered(part, place)?;
        let parts = match self.terms.get(lowered) {
            Term::And(parts) => parts.to_vec(),
            _ => vec![lowered],
        };
        for part in parts {
            match self.terms.get(part) {
                Term::One(place, branches) => choices.push((*place, branches.to_vec())),
                _ => plain.push(part),
            }
        }
        Ok(true)
    }

    fn lower_keyword(
        &mut self,
        parts: &mut Parts,
        keyword: &str,
        value: Place,
    ) -> Result<(), Error> {
        match keyword {
            "$ref" => {
                let target = self.string(value)?;
                let target = self.reference(parts.place, &target)?;
                parts.all.push(target);
            }
            "$dynamicRef" | "$recursiveRef" if has_dynamic(parts.dialect, keyword) => {
                let target = self.string(value)?;
                let target = self.sources.resolve_dynamic(parts.place, &target, keyword)?;
                let target = self.schema(target)?;
                parts.all.push(target);
            }
            "allOf" => {
                let all = self.schemas_of(value)?;
                parts.all.extend(all);
            }
            "anyOf" => {
                let any = self.schemas_of(value)?;
                let any = self.terms.or(&any);
                parts.all.push(any);
            }
            "oneOf" => {
                let branches = self.schemas_of(value)?;
                parts.choices.push((value, branches));
            }
            "not" => {
                let inner = self.schema(value.open())?;
                let not = self.terms.not(value, inner);
                parts.all.push(not);
            }
            "if" if parts.dialect >= Dialect::Draft7 => {
                let condition = self.lower_condition(parts.place, value)?;
                parts.all.push(condition);
            }
            "dependentRequired" if parts.dialect >= Dialect::Draft2019 => {
                self.lower_dependencies(parts, value, true, false)?;
            }
            "dependentSchemas" if parts.dialect >= Dialect::Draft2019 => {
                self.lower_dependencies(parts, value, false, true)?;
            }
            "unevaluatedProperties" if parts.dialect >= Dialect::Draft2019 => {
                let unevaluated = self.unevaluated_members(parts.place, value);
                // Which names a widened `patternProperties` looks at is not known.
                let unevaluated = unevaluated.map_err(|error| match error.kind() {
                    ErrorKind::Unsupported { .. } if !self.unknown.is_empty() => {
                        error.moved_to(self.sources.location(value))
                    }
                    _ => error,
                })?;
                parts.all.push(unevaluated);
            }
            "unevaluatedItems" if parts.dialect >= Dialect::Draft2019 => {
                let unevaluated = self.unevaluated_items(parts.place, value)?;
                parts.all.push(unevaluated);
            }
            // Later dialects dropped `dependencies`, but validators go on enforcing it, and so do
            // the optional tests of the official suite.
            "dependencies" => self.lower_dependencies(parts, value, true, true)?,
            _ => {}
        }
        Ok(())
    }

    fn reference(&mut self, from: Place, reference: &str) -> Result<TermId, Error> {
        let target = self.sources.resolve(from, reference)?;
        self.schema(target)
    }

    /// `if`: (condition and `then`) or (not condition and `else`).
    fn lower_condition(&mut self, schema: Place, condition: Place) -> Result<TermId, Error> {
        let document = self.sources.document(schema);
        let then = document.find(schema.node, "then");
        let other = document.find(schema.node, "else");
        let mut branch = |node: Option<NodeId>| match node {
            Some(node) => self.schema(Place { node, ..schema }),
            None => Ok(ANY),
        };
        let (then, other) = (branch(then)?, branch(other)?);
        if then == other {
            // Also where both are absent. The condition is still to be well-formed.
            let inner = self.schema(condition.open())?;
            let either = self.terms.or(&[inner, ANY]);
            return Ok(self.terms.and2(either, then));
        }
        let inner = self.schema(condition.open())?;
        let not = self.terms.not(condition, inner);
        let (yes, no) = (self.terms.and2(inner, then), self.terms.and2(not, other));
        Ok(self.terms.or(&[yes, no]))
    }

    /// For each name: without it, or with it and what it brings along.
    fn lower_dependencies(
        &mut self,
        parts: &mut Parts,
        value: Place,
        lists: bool,
        schemas: bool,
    ) -> Result<(), Error> {
        if !matches!(self.sources.document(value).get(value.node), Node::Object { .. }) {
            return Err(self.sources.error("an object is expected here", value));
        }
        for at in 0..self.sources.document(value).len(value.node) {
            let (name, node) = self.sources.document(value).member(value.node, at);
            let name = name.to_owned();
            let place = Place { node, ..value };
            let name = self.text(&name);
            let list = match self.sources.document(place).get(node) {
                Node::Array { .. } if lists => true,
                // draft-03 and draft-04 validators read a string as a list of one.
                Node::Object { .. } | Node::Bool(_) if schemas => false,
                _ => return Err(self.sources.error("this is no dependency", place)),
            };
            let brought = if list {
                let names = self.strings(place)?;
                let names: Vec<TermId> =
                    names.into_iter().map(|name| self.terms.add(Term::Present(name))).collect();
                self.terms.and(&names)
            } else {
                self.schema(place)?
            };
            if brought == ANY {
                continue;
            }
            let present = self.terms.add(Term::Present(name));
            let absent = self.terms.add(Term::Member(name, NEVER));
            let with = self.terms.and2(present, brought);
            let either = self.terms.or(&[absent, with]);
            parts.all.push(either);
        }
        Ok(())
    }

    fn schemas_of(&mut self, list: Place) -> Result<Vec<TermId>, Error> {
        let items = self.sources.document(list).items(list.node).to_vec();
        if items.is_empty() {
            return Err(self.sources.error("a list of at least one schema is expected here", list));
        }
        items.into_iter().map(|node| self.schema(Place { node, ..list })).collect()
    }
}

/// Whether a dialect has a keyword for dynamic references.
pub(crate) fn has_dynamic(dialect: Dialect, keyword: &str) -> bool {
    match keyword {
        "$dynamicRef" => dialect >= Dialect::Draft2020,
        _ => dialect == Dialect::Draft2019,
    }
}
