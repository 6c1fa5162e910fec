//! "Not" and "exactly one" of shapes, where a shape can say it; elsewhere the alternative carries
//! the keyword's refusal.

use crate::error::Error;
use crate::frontend::json_schema::formula::FormulaId;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ArrayShape, ObjectShape, Place, Refusal, Shape, ShapeId, StringShape, TermId,
};
use crate::frontend::json_schema::terms::Term;
use crate::grammar::UNBOUNDED;

/// Items of two arrays that are looked at to tell that they exclude each other.
const MOST_ITEMS: u32 = 16;

/// How deep two members are looked into to tell that they exclude each other.
const MOST_DEPTH: u32 = 3;

impl Schemas {
    /// Every other value.
    pub(crate) fn complement(&mut self, place: Place, shape: &Shape) -> Result<Shape, Error> {
        let refusal = Refusal::new("not", place);
        let any = Shape::any();
        let mut other = Shape { null: !shape.null, bools: !shape.bools & 3, ..any };
        for number in &shape.numbers {
            let outside = number.complement();
            other.numbers = meet_all(&other.numbers, &outside, |a, b| Ok(a.meet(b)))?;
        }
        other.strings = self.strings_outside(&shape.strings, refusal)?;
        for array in &shape.arrays {
            let outside = self.arrays_outside(array, refusal);
            other.arrays = meet_all(&other.arrays, &outside, |a, b| Ok(self.meet_arrays(a, b)))?;
        }
        other.objects = self.not_objects(place, shape.objects)?;
        Ok(other)
    }

    /// The values of exactly one of the shapes.
    pub(crate) fn exactly_one(&mut self, place: Place, ids: &[ShapeId]) -> Result<Shape, Error> {
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
                        let outside = self.other_strings(other, refusal)?;
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
                        let outside = self.arrays_outside(other, refusal);
                        left = meet_all(&left, &outside, |a, b| Ok(self.meet_arrays(a, b)))?;
                    }
                }
                one.unite(Shape { arrays: left, ..Shape::default() });
            }
        }
        let objects: Vec<FormulaId> = shapes.iter().map(|shape| shape.objects).collect();
        one.objects = self.one_of_objects(place, &objects)?;
        Ok(one)
    }

    /// The strings that have none of some shapes.
    pub(crate) fn strings_outside(
        &mut self,
        strings: &[StringShape],
        refusal: Refusal,
    ) -> Result<Vec<StringShape>, Error> {
        let mut left = vec![StringShape::default()];
        for string in strings {
            let outside = self.other_strings(string, refusal)?;
            left = meet_all(&left, &outside, |a, b| self.meet_strings(a, b))?;
        }
        Ok(left)
    }

    fn other_strings(
        &mut self,
        string: &StringShape,
        refusal: Refusal,
    ) -> Result<Vec<StringShape>, Error> {
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
                let pattern = self.patterns.twin(pattern, &mut self.budget)?;
                outside.push(StringShape { patterns: vec![(pattern, !is_in)], ..any() });
            }
        }
        if string.refusal.is_some() {
            outside.push(StringShape { refusal: Some(refusal), ..any() });
        }
        Ok(outside)
    }

    /// False if no string has both, those included that a narrower format leaves out.
    fn do_strings_meet(&mut self, a: &StringShape, b: &StringShape) -> Result<bool, Error> {
        let Some(mut both) = self.meet_strings(a, b)? else {
            return Ok(false);
        };
        for (pattern, _) in &mut both.patterns {
            *pattern = self.patterns.twin(*pattern, &mut self.budget)?;
        }
        both.patterns.sort_unstable();
        self.is_string_possible(&both)
    }

    /// Whether some string has a shape.
    pub(crate) fn is_string_possible(&mut self, string: &StringShape) -> Result<bool, Error> {
        if string.values.is_some() {
            return Ok(true);
        }
        if string.patterns.is_empty() {
            let is_only_empty = string.max == 0;
            let has_empty = string.except.iter().any(|&text| self.texts.get(text).is_empty());
            return Ok(!(is_only_empty && has_empty));
        }
        if let [(pattern, true)] = string.patterns[..]
            && (string.min, string.max) == (0, UNBOUNDED)
            && string.except.is_empty()
            && self.patterns.is_plain(pattern)
        {
            return Ok(true);
        }
        Ok(!self.patterns.is_empty(string, &self.texts, &mut self.budget)?)
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

    /// False if it is plain to see, a few levels deep, that no object has both.
    pub(crate) fn do_objects_meet(
        &mut self,
        a: &ObjectShape,
        b: &ObjectShape,
    ) -> Result<bool, Error> {
        let depth = MOST_DEPTH;
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
        for alternative in self.formulas.alternatives(shape.objects) {
            let is_possible = match self.rules_of(alternative) {
                Some(object) => self.is_object_possible(&object, depth - 1)?,
                None => true,
            };
            if is_possible {
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
