//! "Not" and "exactly one" of shapes, where a shape can say it; elsewhere the alternative carries
//! the keyword's refusal.

use crate::error::Error;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, Member, NEVER, ObjectShape, Place, Refusal, Shape, ShapeId, StringShape,
    TermId,
};
use crate::frontend::json_schema::terms::Term;
use crate::frontend::json_schema::texts::Pattern;
use crate::grammar::UNBOUNDED;

/// Items of an array that are told apart one by one where some item must break a rule.
const MOST_ITEMS: u32 = 16;

/// How deep two members are looked into to tell that they exclude each other.
const MOST_DEPTH: u32 = 3;

impl Schemas<'_> {
    /// Every other value.
    pub(crate) fn complement(&mut self, place: Place, shape: &Shape) -> Result<Shape, Error> {
        let refusal = Refusal::new("not", place);
        let any = Shape::any();
        let mut other = Shape { null: !shape.null, bools: !shape.bools & 3, ..any };
        for number in &shape.numbers {
            let outside = number.complement();
            other.numbers = meet_all(&other.numbers, &outside, |a, b| Ok(a.meet(b)))?;
        }
        for string in &shape.strings {
            let outside = self.other_strings(string, refusal);
            other.strings = meet_all(&other.strings, &outside, |a, b| self.meet_strings(a, b))?;
        }
        for array in &shape.arrays {
            let outside = self.other_arrays(array, refusal);
            other.arrays = meet_all(&other.arrays, &outside, |a, b| Ok(self.meet_arrays(a, b)))?;
        }
        for object in &shape.objects {
            let outside = self.other_objects(object, refusal);
            other.objects = self.meet_lists(&other.objects, &outside)?;
            self.check_size(&other)?;
        }
        Ok(other)
    }

    /// The values of exactly one of the shapes.
    pub(crate) fn exactly_one(
        &mut self,
        place: Place,
        parts: &[TermId],
        ids: &[ShapeId],
    ) -> Result<Shape, Error> {
        let refusal = Refusal::new("oneOf with branches that overlap", place);
        let shapes: Vec<_> = ids.iter().map(|&id| self.shape(id).clone()).collect();
        let count = |is_in: &dyn Fn(&Shape) -> bool| shapes.iter().filter(|s| is_in(s)).count();
        let mut one = Shape { null: count(&|s| s.null) == 1, ..Shape::default() };
        for bit in [1, 2] {
            if count(&|s| s.bools & bit != 0) == 1 {
                one.bools |= bit;
            }
        }
        for (i, shape) in shapes.iter().enumerate() {
            let others = || shapes.iter().enumerate().filter(move |&(j, _)| j != i).map(|(_, s)| s);
            for number in &shape.numbers {
                let mut left = vec![number.clone()];
                for other in others().flat_map(|s| &s.numbers) {
                    if left.iter().any(|a| a.meet(other).is_some()) {
                        let outside = other.complement();
                        left = meet_all(&left, &outside, |a, b| Ok(a.meet(b)))?;
                    }
                }
                one.unite(Shape { numbers: left, ..Shape::default() });
            }
            for string in &shape.strings {
                let mut left = vec![string.clone()];
                for other in others().flat_map(|s| &s.strings) {
                    let mut overlaps = false;
                    for a in &left {
                        overlaps |= self.do_strings_meet(a, other)?;
                    }
                    if overlaps {
                        let outside = self.other_strings(other, refusal);
                        left = meet_all(&left, &outside, |a, b| self.meet_strings(a, b))?;
                    }
                }
                one.unite(Shape { strings: left, ..Shape::default() });
            }
            for array in &shape.arrays {
                let mut left = vec![array.clone()];
                for other in others().flat_map(|s| &s.arrays) {
                    let mut overlaps = false;
                    for a in &left {
                        overlaps |= self.do_arrays_meet(a, other, MOST_DEPTH)?;
                    }
                    if overlaps {
                        let outside = self.other_arrays(other, refusal);
                        left = meet_all(&left, &outside, |a, b| Ok(self.meet_arrays(a, b)))?;
                    }
                }
                one.unite(Shape { arrays: left, ..Shape::default() });
            }
            for object in &shape.objects {
                let mut left = vec![object.clone()];
                for (j, other) in shapes.iter().enumerate() {
                    if i != j {
                        left = self.without(left, parts[j], &other.objects, refusal)?;
                    }
                }
                one.unite(Shape { objects: left, ..Shape::default() });
                self.check_size(&one)?;
            }
        }
        Ok(one)
    }

    /// What of some objects is none of the alternatives of `other`, the shape of `term`.
    fn without(
        &mut self,
        mut left: Vec<ObjectShape>,
        term: TermId,
        other: &[ObjectShape],
        refusal: Refusal,
    ) -> Result<Vec<ObjectShape>, Error> {
        left.retain(|a| !other.contains(a));
        let mut met: Vec<&ObjectShape> = Vec::new();
        for b in other {
            self.budget.tick()?;
            for a in &left {
                if self.do_objects_meet(a, b, MOST_DEPTH)? {
                    met.push(b);
                    break;
                }
            }
        }
        if met.len() > 1 {
            let not = self.terms.not(refusal.place, term);
            if let Some(shape) = self.try_evaluate(not)? {
                let outside = self.shape(shape).objects.clone();
                return self.meet_lists(&left, &outside);
            }
        }
        for b in met {
            let outside = self.other_objects(b, refusal);
            let (far, near): (Vec<ObjectShape>, Vec<ObjectShape>) = {
                let mut far = Vec::new();
                let mut near = Vec::new();
                for a in left {
                    let meets = self.do_objects_meet(&a, b, MOST_DEPTH)?;
                    if meets { near.push(a) } else { far.push(a) }
                }
                (far, near)
            };
            left = self.meet_lists(&near, &outside)?;
            left.extend(far);
        }
        Ok(left)
    }

    /// What is in one of both lists' objects each, without what is within another one.
    fn meet_lists(
        &mut self,
        a: &[ObjectShape],
        b: &[ObjectShape],
    ) -> Result<Vec<ObjectShape>, Error> {
        let mut both: Vec<ObjectShape> = Vec::new();
        for x in a {
            for y in b {
                self.budget.tick()?;
                if let Some(object) = self.meet_objects(x, y)?
                    && !both.iter().any(|known| object.is_within(known))
                {
                    both.retain(|known| !known.is_within(&object));
                    both.push(object);
                }
            }
            self.check_count(both.len())?;
        }
        Ok(both)
    }

    fn other_strings(&self, string: &StringShape, refusal: Refusal) -> Vec<StringShape> {
        let any = StringShape::default;
        let mut outside = Vec::new();
        if let Some(values) = &string.values {
            let mut except = values.to_vec();
            except.sort_unstable();
            outside.push(StringShape { except: except.into(), ..any() });
        } else {
            if string.min > 0 {
                outside.push(StringShape { max: string.min - 1, ..any() });
            }
            if string.max < UNBOUNDED {
                outside.push(StringShape { min: string.max + 1, ..any() });
            }
            if !string.except.is_empty() {
                outside.push(StringShape { values: Some(string.except.clone()), ..any() });
            }
            for &(pattern, is_in) in &string.patterns {
                // What is narrower than its format would be wider under a negation.
                let refusal = match self.patterns.get(pattern) {
                    Pattern::Format(format) if is_in && !format.is_exact() => Some(refusal),
                    _ => None,
                };
                outside.push(StringShape { patterns: vec![(pattern, !is_in)], refusal, ..any() });
            }
        }
        if string.refusal.is_some() {
            outside.push(StringShape { refusal: Some(refusal), ..any() });
        }
        outside
    }

    fn other_arrays(&mut self, array: &ArrayShape, refusal: Refusal) -> Vec<ArrayShape> {
        let any = ArrayShape::default;
        let mut outside = Vec::new();
        if array.min > 0 {
            outside.push(ArrayShape { max: array.min - 1, ..any() });
        }
        if array.max < UNBOUNDED {
            outside.push(ArrayShape { min: array.max + 1, ..any() });
        }
        let len = u32::try_from(array.prefix.len()).unwrap_or(UNBOUNDED);
        let tail = if array.items == ANY { len } else { array.max };
        if tail.saturating_sub(len) > MOST_ITEMS || array.refusal.is_some() {
            outside.push(ArrayShape { refusal: Some(refusal), ..any() });
            return outside;
        }
        for at in 0..tail.min(array.max) {
            let item = array.prefix.get(at as usize).copied().unwrap_or(array.items);
            let broken = self.terms.not(refusal.place, item);
            if broken != NEVER {
                let mut prefix = vec![ANY; at as usize];
                prefix.push(broken);
                outside.extend(ArrayShape { prefix, min: at + 1, ..any() }.normal());
            }
        }
        outside
    }

    fn other_objects(&mut self, object: &ObjectShape, refusal: Refusal) -> Vec<ObjectShape> {
        let any = ObjectShape::default;
        let mut outside = Vec::new();
        if object.min > 0 {
            outside.push(ObjectShape { max: object.min - 1, ..any() });
        }
        if object.max < UNBOUNDED {
            outside.push(ObjectShape { min: object.max + 1, ..any() });
        }
        for member in &object.members {
            if member.is_required {
                let absent =
                    Member { value: NEVER, is_required: false, is_declared: false, ..*member };
                outside.push(ObjectShape { members: vec![absent], ..any() });
            }
            let value = self.terms.not(refusal.place, member.value);
            if value != NEVER {
                let broken = Member { value, is_required: true, is_declared: false, ..*member };
                outside.push(ObjectShape { members: vec![broken], ..any() });
            }
        }
        // Some name that is not listed breaks a rule: no shape says that yet.
        if !object.rest.is_empty() || object.names != ANY || object.refusal.is_some() {
            outside.push(ObjectShape { refusal: Some(refusal), ..any() });
        }
        outside
    }

    fn do_strings_meet(&mut self, a: &StringShape, b: &StringShape) -> Result<bool, Error> {
        let Some(both) = self.meet_strings(a, b)? else {
            return Ok(false);
        };
        if both.values.is_some() || both.patterns.is_empty() {
            return Ok(true);
        }
        let except = (&*both.except, &self.texts);
        let lengths = (both.min, both.max);
        Ok(!self.patterns.is_empty(&both.patterns, lengths, except, self.budget)?)
    }

    fn do_arrays_meet(
        &mut self,
        a: &ArrayShape,
        b: &ArrayShape,
        depth: u32,
    ) -> Result<bool, Error> {
        let Some(both) = self.meet_arrays(a, b) else {
            return Ok(false);
        };
        for at in 0..both.min.min(MOST_ITEMS) {
            let item = both.prefix.get(at as usize).copied().unwrap_or(both.items);
            if self.is_plainly_empty(item, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn do_objects_meet(
        &mut self,
        a: &ObjectShape,
        b: &ObjectShape,
        depth: u32,
    ) -> Result<bool, Error> {
        if a.is_closed() || b.is_closed() || a.min.max(b.min) > a.max.min(b.max) {
            let Some(both) = self.meet_objects(a, b)? else {
                return Ok(false);
            };
            return self.is_object_possible(&both, depth);
        }
        for (one, other) in [(a, b), (b, a)] {
            for member in one.members.iter().filter(|member| member.is_required) {
                let value = self.value_of(other, member.name)?;
                let both = self.terms.and2(member.value, value);
                if self.is_plainly_empty(both, depth)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn is_object_possible(&mut self, object: &ObjectShape, depth: u32) -> Result<bool, Error> {
        for member in object.members.iter().filter(|member| member.is_required) {
            if self.is_plainly_empty(member.value, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether it is plain to see, a few levels deep, that no value fulfils a term.
    fn is_plainly_empty(&mut self, term: TermId, depth: u32) -> Result<bool, Error> {
        if matches!(self.terms.get(term), Term::Any | Term::Schema(_)) || depth == 0 {
            // A schema by itself is taken to have values: only two of them may exclude each other.
            return Ok(false);
        }
        let Some(shape) = self.try_evaluate(term)? else {
            return Ok(false);
        };
        let shape = self.shape(shape).clone();
        if shape.is_never() {
            return Ok(true);
        }
        if shape.null || shape.bools != 0 || !shape.numbers.is_empty() {
            return Ok(false);
        }
        for string in &shape.strings {
            if self.do_strings_meet(string, &StringShape::default())? {
                return Ok(false);
            }
        }
        for array in &shape.arrays {
            if self.do_arrays_meet(array, &ArrayShape::default(), depth - 1)? {
                return Ok(false);
            }
        }
        for object in &shape.objects {
            if self.is_object_possible(object, depth - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is in one of both lists' alternatives each.
fn meet_all<T: PartialEq>(
    a: &[T],
    b: &[T],
    mut meet: impl FnMut(&T, &T) -> Result<Option<T>, Error>,
) -> Result<Vec<T>, Error> {
    let mut both = Vec::new();
    for x in a {
        for y in b {
            if let Some(shape) = meet(x, y)?
                && !both.contains(&shape)
            {
                both.push(shape);
            }
        }
    }
    Ok(both)
}
