//! "And" of shapes: exact for every pair of alternatives.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::schemas::{ANY_SHAPE, Schemas};
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, NEVER, Shape, ShapeId, StringShape, TextId,
};

impl Schemas<'_> {
    /// The values of both shapes.
    pub(crate) fn meet_ids(&mut self, a: ShapeId, b: ShapeId) -> Result<ShapeId, Error> {
        if a == b || b == ANY_SHAPE {
            return Ok(a);
        }
        if a == ANY_SHAPE {
            return Ok(b);
        }
        let (a, b) = (self.shape(a).clone(), self.shape(b).clone());
        let both = self.meet(&a, &b)?;
        Ok(self.intern(both))
    }

    /// The values of both shapes.
    pub(crate) fn meet(&mut self, a: &Shape, b: &Shape) -> Result<Shape, Error> {
        let mut both =
            Shape { null: a.null && b.null, bools: a.bools & b.bools, ..Shape::default() };
        for x in &a.numbers {
            for y in &b.numbers {
                self.budget.tick()?;
                push(&mut both.numbers, x.meet(y));
            }
        }
        for x in &a.strings {
            for y in &b.strings {
                self.budget.tick()?;
                let string = self.meet_strings(x, y)?;
                push(&mut both.strings, string);
            }
        }
        for x in &a.arrays {
            for y in &b.arrays {
                self.budget.tick()?;
                let array = self.meet_arrays(x, y);
                push(&mut both.arrays, array);
            }
        }
        for x in &a.objects {
            for y in &b.objects {
                self.budget.tick()?;
                let object = self.meet_objects(x, y)?;
                push(&mut both.objects, object);
            }
            self.check_size(&both)?;
        }
        self.check_size(&both)?;
        Ok(both)
    }

    pub(crate) fn meet_strings(
        &mut self,
        a: &StringShape,
        b: &StringShape,
    ) -> Result<Option<StringShape>, Error> {
        for (one, other) in [(a, b), (b, a)] {
            if let Some(values) = &one.values {
                let mut kept: Vec<TextId> = Vec::with_capacity(values.len());
                if *other == StringShape::default() {
                    return Ok(Some(one.clone()));
                }
                let known = other.values.as_ref().filter(|values| values.len() > 8);
                let known: Option<rustc_hash::FxHashSet<TextId>> =
                    known.map(|values| values.iter().copied().collect());
                for &value in values.iter() {
                    let is_in = match &known {
                        Some(known) => known.contains(&value),
                        None => self.string_has(other, value)?,
                    };
                    if is_in {
                        kept.push(value);
                    }
                }
                let refusal = a.refusal.or(b.refusal);
                let values: Arc<[TextId]> = kept.into();
                let string =
                    StringShape { values: Some(values.clone()), refusal, ..Default::default() };
                return Ok((!values.is_empty()).then_some(string));
            }
        }
        let mut patterns = a.patterns.clone();
        patterns.extend_from_slice(&b.patterns);
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Ok(None);
        }
        let mut except: Vec<TextId> = a.except.iter().chain(b.except.iter()).copied().collect();
        except.sort_unstable();
        except.dedup();
        let string = StringShape {
            min: a.min.max(b.min),
            max: a.max.min(b.max),
            patterns,
            values: None,
            except: except.into(),
            refusal: a.refusal.or(b.refusal),
        };
        Ok((string.min <= string.max).then_some(string))
    }

    /// Whether a text is one of a shape's strings.
    pub(crate) fn string_has(&mut self, string: &StringShape, text: TextId) -> Result<bool, Error> {
        if let Some(values) = &string.values {
            return Ok(values.contains(&text));
        }
        if string.except.contains(&text) {
            return Ok(false);
        }
        if string.min > 0 || string.max < crate::grammar::UNBOUNDED {
            let len = index(self.texts.get(text).chars().count());
            if len < string.min || len > string.max {
                return Ok(false);
            }
        }
        for &(pattern, is_in) in &string.patterns {
            if self.patterns.has(pattern, text, &self.texts, self.budget)? != is_in {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn meet_arrays(&mut self, a: &ArrayShape, b: &ArrayShape) -> Option<ArrayShape> {
        let count = a.prefix.len().max(b.prefix.len());
        let item =
            |array: &ArrayShape, at: usize| array.prefix.get(at).copied().unwrap_or(array.items);
        let prefix = (0..count).map(|at| self.terms.and2(item(a, at), item(b, at))).collect();
        let array = ArrayShape {
            prefix,
            items: self.terms.and2(a.items, b.items),
            min: a.min.max(b.min),
            max: a.max.min(b.max),
            refusal: a.refusal.or(b.refusal),
        };
        array.normal()
    }
}

impl ArrayShape {
    /// The normal form; `None` if it is plain to see that there is no such array.
    pub(crate) fn normal(mut self) -> Option<Self> {
        if let Some(at) = self.prefix.iter().position(|&item| item == NEVER) {
            self.max = self.max.min(index(at));
        }
        let len = index(self.prefix.len());
        if self.items == NEVER {
            self.max = self.max.min(len);
        }
        if self.max <= len {
            self.prefix.truncate(usize::try_from(self.max).unwrap_or(usize::MAX));
            self.items = ANY;
        }
        while self.prefix.last() == Some(&self.items) {
            self.prefix.pop();
        }
        (self.min <= self.max).then_some(self)
    }
}

fn push<T: PartialEq>(to: &mut Vec<T>, shape: Option<T>) {
    if let Some(shape) = shape
        && !to.contains(&shape)
    {
        to.push(shape);
    }
}
