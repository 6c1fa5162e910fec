//! "And" of shapes: exact for every pair of alternatives.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::schemas::{ANY_SHAPE, Schemas};
use crate::frontend::json_schema::shape::{PatternId, Shape, ShapeId, StringShape, TextId};
use crate::interner::index;

impl Schemas {
    /// The values of all shapes.
    pub(crate) fn meet_all(&mut self, parts: &[ShapeId]) -> Result<ShapeId, Error> {
        let mut parts = parts.to_vec();
        parts.retain(|&part| part != ANY_SHAPE);
        parts.dedup();
        let Some((&first, rest)) = parts.split_first() else {
            return Ok(ANY_SHAPE);
        };
        if rest.is_empty() {
            return Ok(first);
        }
        let mut all = (**self.shape(first)).clone();
        let mut objects = vec![all.objects];
        for &part in rest {
            let part = self.shape(part).clone();
            objects.push(part.objects);
            all = self.meet_others(&all, &part)?;
        }
        all.objects = self.and_objects(&objects)?;
        Ok(self.intern(all))
    }

    /// The values of both shapes.
    pub(crate) fn meet(&mut self, a: &Shape, b: &Shape) -> Result<Shape, Error> {
        let mut both = self.meet_others(a, b)?;
        both.objects = self.and_objects(&[a.objects, b.objects])?;
        Ok(both)
    }

    /// The values of both shapes but for objects.
    fn meet_others(&mut self, a: &Shape, b: &Shape) -> Result<Shape, Error> {
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
                        Some(known) => Some(known.contains(&value)),
                        None => self.string_has(other, value)?,
                    };
                    match is_in {
                        Some(true) => kept.push(value),
                        Some(false) => {}
                        None => {
                            // It must not be left out: then its negation would have it.
                            let list = self.pattern_of(values)?;
                            let (patterns, refusal) = (vec![(list, true)], one.refusal);
                            let one = StringShape { patterns, refusal, ..StringShape::default() };
                            return self.meet_strings(&one, other);
                        }
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

    /// The language that a list of texts is.
    fn pattern_of(&mut self, list: &[TextId]) -> Result<PatternId, Error> {
        let texts = list.iter().map(|&text| self.texts.get(text).escape_unicode().to_string());
        let list = texts.collect::<Vec<String>>().join("|");
        let list = self.texts.id(&format!("^(?:{list})$"));
        self.patterns.search(list, &self.texts, &mut self.budget)
    }

    /// Whether a text is one of a shape's strings; `None` if a format is not known well enough.
    pub(crate) fn string_has(
        &mut self,
        string: &StringShape,
        text: TextId,
    ) -> Result<Option<bool>, Error> {
        if let Some(values) = &string.values {
            return Ok(Some(values.contains(&text)));
        }
        if string.except.contains(&text) {
            return Ok(Some(false));
        }
        if string.min > 0 || string.max < crate::grammar::UNBOUNDED {
            let len = index(self.texts.get(text).chars().count());
            if len < string.min || len > string.max {
                return Ok(Some(false));
            }
        }
        let mut is_sure = true;
        for &(pattern, is_in) in &string.patterns {
            if self.patterns.has(pattern, text, &self.texts, &mut self.budget)? == is_in {
                continue;
            }
            let twin = self.patterns.twin(pattern, &mut self.budget)?;
            if self.patterns.has(twin, text, &self.texts, &mut self.budget)? != is_in {
                return Ok(Some(false));
            }
            is_sure = false;
        }
        Ok(is_sure.then_some(true))
    }
}

fn push<T: PartialEq>(to: &mut Vec<T>, shape: Option<T>) {
    if let Some(shape) = shape
        && !to.contains(&shape)
    {
        to.push(shape);
    }
}
