//! The object keywords of one schema as a shape, and what a shape says about a name.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::json_schema::assertions::ObjectKeywords;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::name_set::{NameAtom, NameSet};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, Member, NEVER, NameRule, ObjectShape, PatternId, Place, Shape, TermId, TextId,
};

/// Members up to which two objects are compared where one lists more than the other.
const MOST_COMPARED: usize = 8;

impl Schemas {
    /// The objects that the object keywords of one schema allow, but for `unevaluatedProperties`.
    pub(crate) fn object(
        &mut self,
        place: Place,
        keywords: &ObjectKeywords,
    ) -> Result<Option<ObjectShape>, Error> {
        let at = |node| Place { node, ..place };
        let mut object = ObjectShape::default();
        (object.min, object.max) = keywords.count;
        // What is asked of listed names too comes first.
        let mut negative = Vec::new();
        if let Some(patterns) = keywords.patterns {
            for (pattern, value) in self.pattern_properties(at(patterns))? {
                let atom = NameAtom::Pattern(pattern);
                negative.push((atom, false));
                if value != ANY {
                    object.rules.push(NameRule { set: NameSet::of([(atom, true)]), value });
                }
            }
        }
        if let Some(names) = keywords.names {
            let keyword = at(names);
            let names = self.schema(keyword.open())?;
            self.reach.name_terms.insert(names, keyword);
            match names {
                ANY => {}
                NEVER => object.rules.push(NameRule { set: NameSet::EVERY, value: NEVER }),
                _ => {
                    let set = NameSet::of([(NameAtom::Strings(names), false)]);
                    object.rules.push(NameRule { set, value: NEVER });
                }
            }
        }
        let mut places: FxHashMap<TextId, usize> = FxHashMap::default();
        if let Some(properties) = keywords.properties {
            self.declare(at(properties), &mut object, &mut places)?;
        }
        if let Some(additional) = keywords.additional {
            let value = self.value_schema(at(additional))?;
            if value != ANY {
                object.rules.push(NameRule { set: NameSet::of(negative), value });
            }
        }
        if let Some(required) = keywords.required {
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

    /// Every value, where objects have only such values for a name.
    pub(crate) fn with_member(&mut self, name: TextId, value: TermId, is_required: bool) -> Shape {
        let member = Member { name, value, is_required, is_declared: false };
        let object = ObjectShape { members: vec![member], ..ObjectShape::default() };
        Shape { objects: self.formulas.object_or_none(object.normal()), ..Shape::any() }
    }

    /// Every value, where objects have only such values for the names of a set.
    pub(crate) fn with_others(&mut self, set: NameSet, except: &[TextId], value: TermId) -> Shape {
        let member = |&name| Member { name, value: ANY, is_required: false, is_declared: false };
        let object = ObjectShape {
            members: except.iter().map(member).collect(),
            rules: vec![NameRule { set, value }],
            ..ObjectShape::default()
        };
        Shape { objects: self.formulas.object_or_none(object.normal()), ..Shape::any() }
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
        let applies = !object.rules.is_empty();
        for at in 0..count {
            self.budget.tick()?;
            let (name, node) = self.sources.document(properties).member(properties.node, at);
            let name = self.texts.id(name);
            let mut value = self.value_schema(Place { node, ..properties })?;
            if applies {
                let matching = self.value_of_other(object, name)?;
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

    pub(crate) fn pattern_properties(
        &mut self,
        place: Place,
    ) -> Result<Vec<(PatternId, TermId)>, Error> {
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
            let pattern = self.patterns.search(text, &self.texts, &mut self.budget);
            let pattern = pattern.map_err(|error| error.moved_to(self.sources.location(value)))?;
            patterns.push((pattern, self.value_schema(value)?));
        }
        Ok(patterns)
    }

    /// What is asked of the value of a name that is not in `members`.
    pub(crate) fn value_of_other(
        &mut self,
        object: &ObjectShape,
        name: TextId,
    ) -> Result<TermId, Error> {
        let mut parts = Vec::new();
        for rule in &object.rules {
            if self.is_named(&rule.set, name)? {
                parts.push(rule.value);
            }
        }
        Ok(self.terms.and(&parts))
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
        members.sort_by_cached_key(|member| match (member.is_declared, place_in_b(member)) {
            (true, None) => (0, 0),
            (true, Some(at)) => (1, at),
            (false, _) => (2, 0),
        });
        let mut rules = a.rules.clone();
        for rule in &b.rules {
            match rules.iter_mut().find(|known| known.set == rule.set) {
                Some(known) => known.value = self.terms.and2(known.value, rule.value),
                None => rules.push(rule.clone()),
            }
        }
        let (min, max) = (a.min.max(b.min), a.max.min(b.max));
        Ok(ObjectShape { members, rules, min, max }.normal())
    }
}

impl ObjectShape {
    /// Whether no name may come but those in `members`.
    pub(crate) fn is_closed(&self) -> bool {
        self.rules.iter().any(|rule| rule.set.is_every() && rule.value == NEVER)
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
        other.min <= self.min
            && other.max >= self.max
            && other.members.len() <= self.members.len().max(MOST_COMPARED)
            && other.members.iter().all(has)
            // A name that only this shape lists must keep the other's rules too.
            && (other.rules.is_empty()
                || (other.rules == self.rules
                    && self.members.iter().all(|own| other.has_member(own.name))))
    }

    fn has_member(&self, name: TextId) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    /// The normal form; `None` if it is plain to see that there is no such object.
    pub(crate) fn normal(mut self) -> Option<Self> {
        if self.is_closed() {
            self.rules = vec![NameRule { set: NameSet::EVERY, value: NEVER }];
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
