//! The object keywords of one schema as a shape, and what a shape says about a name.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::json_schema::assertions::ObjectKeywords;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, Member, NEVER, ObjectShape, PatternId, Place, Refusal, Rest, Shape, TermId, TextId,
};

/// Members up to which two objects are compared where one lists more than the other.
const MOST_COMPARED: usize = 8;

impl Shape {
    /// Every value, where objects have this member: `ANY` for with it, `NEVER` for without it.
    pub(crate) fn with_member(name: TextId, value: TermId) -> Self {
        let is_required = value != NEVER;
        let member = Member { name, value, is_required, is_declared: false };
        let object = ObjectShape { members: vec![member], ..ObjectShape::default() };
        Self { objects: vec![object], ..Self::any() }
    }
}

impl Schemas<'_> {
    pub(crate) fn object(
        &mut self,
        place: Place,
        keywords: &ObjectKeywords,
    ) -> Result<Option<ObjectShape>, Error> {
        let at = |node| Place { node, ..place };
        let mut object = ObjectShape::default();
        (object.min, object.max) = keywords.count;
        if let Some(names) = keywords.names {
            object.names = self.schema(at(names))?;
        }
        let mut rest = Rest { patterns: Vec::new(), additional: ANY };
        if let Some(additional) = keywords.additional {
            rest.additional = self.schema(at(additional))?;
        }
        if let Some(node) = keywords.unevaluated {
            let unevaluated = self.schema(at(node))?;
            if keywords.additional.is_none() && unevaluated != ANY {
                if keywords.has_applicators {
                    object.refusal = Some(Refusal::new("unevaluatedProperties", at(node)));
                } else {
                    rest.additional = unevaluated;
                }
            }
        }
        if let Some(patterns) = keywords.patterns {
            rest.patterns = self.pattern_properties(at(patterns))?;
        }
        if rest.patterns.is_empty() && rest.additional == ANY {
            // Nothing is asked of other names.
        } else {
            object.rest.push(rest);
        }
        let mut places: FxHashMap<TextId, usize> = FxHashMap::default();
        if let Some(properties) = keywords.properties {
            self.declare(at(properties), &mut object, &mut places)?;
        }
        if let Some(required) = keywords.required {
            // draft-03 wrote a flag into the member's own schema.
            for name in self.strings(at(required))? {
                if let Some(&known) = places.get(&name) {
                    object.members[known].is_required = true;
                    continue;
                }
                let value = self.value_of_other(&object, name)?;
                places.insert(name, object.members.len());
                object.members.push(Member { name, value, is_required: true, is_declared: false });
            }
        }
        Ok(object.normal())
    }

    fn declare(
        &mut self,
        properties: Place,
        object: &mut ObjectShape,
        places: &mut FxHashMap<TextId, usize>,
    ) -> Result<(), Error> {
        let document = self.sources.document(properties);
        if !matches!(document.get(properties.node), Node::Object { .. }) {
            return Err(self.sources.error("an object is expected here", properties));
        }
        let count = document.len(properties.node);
        object.members.reserve(count);
        let applies = object.names != ANY || object.rest.iter().any(|r| !r.patterns.is_empty());
        for at in 0..count {
            self.budget.tick()?;
            let (name, node) = self.sources.document(properties).member(properties.node, at);
            let name = self.texts.id(name);
            let mut value = self.schema(Place { node, ..properties })?;
            if applies {
                let matching = self.matching(object, name)?;
                value = self.terms.and2(value, matching);
            }
            if let Some(&known) = places.get(&name) {
                // As `json.loads` reads it, the last one counts, at the place of the first.
                object.members[known].value = value;
                continue;
            }
            places.insert(name, object.members.len());
            object.members.push(Member { name, value, is_required: false, is_declared: true });
        }
        Ok(())
    }

    fn pattern_properties(&mut self, place: Place) -> Result<Vec<(PatternId, TermId)>, Error> {
        let document = self.sources.document(place);
        if !matches!(document.get(place.node), Node::Object { .. }) {
            return Err(self.sources.error("an object is expected here", place));
        }
        let count = document.len(place.node);
        let mut patterns = Vec::with_capacity(count);
        for at in 0..count {
            let (name, node) = self.sources.document(place).member(place.node, at);
            let text = self.texts.id(name);
            let value = Place { node, ..place };
            let pattern = self.patterns.search(text, &self.texts, self.budget);
            let pattern = pattern.map_err(|error| error.moved_to(self.sources.location(value)))?;
            patterns.push((pattern, self.schema(value)?));
        }
        Ok(patterns)
    }

    /// What the patterns and `propertyNames` ask of the value of a declared name.
    fn matching(&mut self, object: &ObjectShape, name: TextId) -> Result<TermId, Error> {
        let mut parts = Vec::new();
        for rest in &object.rest {
            for &(pattern, value) in &rest.patterns {
                if self.patterns.has(pattern, name, &self.texts, self.budget)? {
                    parts.push(value);
                }
            }
        }
        if !self.may_be_named(object.names, name)? {
            return Ok(NEVER);
        }
        Ok(self.terms.and(&parts))
    }

    /// What is asked of the value of a name that is not in `members`.
    pub(crate) fn value_of_other(
        &mut self,
        object: &ObjectShape,
        name: TextId,
    ) -> Result<TermId, Error> {
        let mut parts = Vec::new();
        for rest in &object.rest {
            let before = parts.len();
            for &(pattern, value) in &rest.patterns {
                if self.patterns.has(pattern, name, &self.texts, self.budget)? {
                    parts.push(value);
                }
            }
            if parts.len() == before {
                parts.push(rest.additional);
            }
        }
        if !self.may_be_named(object.names, name)? {
            return Ok(NEVER);
        }
        Ok(self.terms.and(&parts))
    }

    /// Whether `propertyNames` allows a name.
    fn may_be_named(&mut self, names: TermId, name: TextId) -> Result<bool, Error> {
        if names == ANY {
            return Ok(true);
        }
        let Some(shape) = self.try_evaluate(names)? else {
            // Names are strings: a schema for them has no members that could lead back here.
            return Err(self.recursive_names(names));
        };
        let shape = self.shape(shape).clone();
        for string in &shape.strings {
            if self.string_has(string, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is asked of the value of any name.
    pub(crate) fn value_of(&mut self, object: &ObjectShape, name: TextId) -> Result<TermId, Error> {
        match object.members.iter().find(|member| member.name == name) {
            Some(member) => Ok(member.value),
            None => self.value_of_other(object, name),
        }
    }

    /// The members of both objects, in the order in which they come.
    pub(crate) fn meet_objects(
        &mut self,
        a: &ObjectShape,
        b: &ObjectShape,
    ) -> Result<Option<ObjectShape>, Error> {
        let places = |object: &ObjectShape| -> FxHashMap<TextId, usize> {
            object.members.iter().enumerate().map(|(at, member)| (member.name, at)).collect()
        };
        let (in_a, in_b) = (places(a), places(b));
        let mut members = Vec::with_capacity(a.members.len() + b.members.len());
        for member in &a.members {
            let other = match in_b.get(&member.name) {
                Some(&at) => b.members[at],
                None => Member {
                    value: self.value_of_other(b, member.name)?,
                    is_required: false,
                    is_declared: false,
                    ..*member
                },
            };
            members.push(Member {
                name: member.name,
                value: self.terms.and2(member.value, other.value),
                is_required: member.is_required || other.is_required,
                is_declared: member.is_declared || other.is_declared,
            });
        }
        for member in &b.members {
            if !in_a.contains_key(&member.name) {
                let other = self.value_of_other(a, member.name)?;
                let value = self.terms.and2(other, member.value);
                members.push(Member { value, ..*member });
            }
        }
        // A name that only `a` requires and `b` declares comes where `b` has it.
        let place_in_b = |member: &Member| {
            let own = in_a.get(&member.name).is_some_and(|&at| a.members[at].is_declared);
            if own { None } else { in_b.get(&member.name).copied() }
        };
        members.sort_by_key(|member| match (member.is_declared, place_in_b(member)) {
            (true, None) => (0, 0),
            (true, Some(at)) => (1, at),
            (false, _) => (2, 0),
        });
        let mut rest: Vec<Rest> = Vec::new();
        let mut plain = Vec::new();
        for part in a.rest.iter().chain(&b.rest) {
            if part.patterns.is_empty() {
                plain.push(part.additional);
            } else if !rest.contains(part) {
                rest.push(part.clone());
            }
        }
        let additional = self.terms.and(&plain);
        if additional != ANY {
            rest.push(Rest { patterns: Vec::new(), additional });
        }
        let object = ObjectShape {
            members,
            rest,
            names: self.terms.and2(a.names, b.names),
            min: a.min.max(b.min),
            max: a.max.min(b.max),
            refusal: a.refusal.or(b.refusal),
        };
        Ok(object.normal())
    }
}

impl ObjectShape {
    /// Whether no name may come but those in `members`.
    pub(crate) fn is_closed(&self) -> bool {
        self.names == NEVER
            || self.rest.iter().any(|rest| rest.patterns.is_empty() && rest.additional == NEVER)
    }

    /// Whether it is plain to see that every object of this shape has the other shape too.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let has = |member: &Member| match self.members.iter().find(|own| own.name == member.name) {
            Some(own) => {
                (own.is_required || !member.is_required)
                    && (own.value == member.value || member.value == ANY || own.value == NEVER)
            }
            None => !member.is_required && (member.value == ANY || self.is_closed()),
        };
        other.refusal.is_none()
            && other.names == ANY
            && other.min <= self.min
            && other.max >= self.max
            && other.members.len() <= self.members.len().max(MOST_COMPARED)
            && other.members.iter().all(has)
            // A name that only this shape lists must keep the other's rules too.
            && (other.rest.is_empty()
                || (other.rest == self.rest && other.members.len() == self.members.len()))
    }

    /// The normal form; `None` if it is plain to see that there is no such object.
    pub(crate) fn normal(mut self) -> Option<Self> {
        if self.is_closed() {
            self.rest = vec![Rest { patterns: Vec::new(), additional: NEVER }];
            self.names = ANY;
            self.members.retain(|member| member.value != NEVER || member.is_required);
        }
        let mut required = 0_usize;
        for member in &self.members {
            if member.is_required {
                if member.value == NEVER {
                    return None;
                }
                required += 1;
            }
        }
        let fits = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        if fits(self.min) <= required {
            self.min = 0;
        }
        if self.is_closed() {
            if fits(self.min) > self.members.len() {
                return None;
            }
            if fits(self.max) >= self.members.len() {
                self.max = crate::grammar::UNBOUNDED;
            }
        }
        (self.min <= self.max && required <= fits(self.max)).then_some(self)
    }
}
