//! The array keywords of one schema as a shape, and the algebra of such shapes.

use crate::error::Error;
use crate::frontend::json_schema::assertions::ArrayKeywords;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::options::Dialect;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, Contains, NEVER, Place, Refusal, Shape, TermId,
};
use crate::grammar::UNBOUNDED;
use crate::interner::index;

impl Schemas {
    /// The arrays that the array keywords of one schema allow, but for `unevaluatedItems`.
    pub(crate) fn array(
        &mut self,
        place: Place,
        keywords: &ArrayKeywords,
    ) -> Result<Option<ArrayShape>, Error> {
        let at = |node| Place { node, ..place };
        let mut array = ArrayShape::default();
        (array.min, array.max) = keywords.count;
        let mut rest = keywords.items;
        let mut prefix = keywords.prefix;
        // Until 2019-09, a list of schemas in `items` was what `prefixItems` is now.
        if let Some(items) = keywords.items
            && keywords.prefix.is_none()
            && matches!(self.sources.document(place).get(items), Node::Array { .. })
        {
            prefix = Some(items);
            rest = keywords.additional;
        }
        if let Some(prefix) = prefix {
            if !matches!(self.sources.document(place).get(prefix), Node::Array { .. }) {
                return Err(self.sources.error("an array is expected here", at(prefix)));
            }
            for node in self.sources.document(place).items(prefix).to_vec() {
                array.prefix.push(self.value_schema(at(node))?);
            }
        }
        if let Some(rest) = rest {
            array.items = self.value_schema(at(rest))?;
        }
        if let Some(node) = keywords.contains {
            let value = self.schema(at(node).open())?;
            let (min, max) = self.contained(place)?;
            array.contains.push(Contains { from: 0, to: UNBOUNDED, value, min, max });
        }
        array.unique = keywords.unique.map(at);
        if let Some(place) = array.unique {
            self.check_unique(place)?;
        }
        Ok(array.normal())
    }

    /// `minContains` and `maxContains`.
    fn contained(&self, schema: Place) -> Result<(u32, u32), Error> {
        let document = self.sources.document(schema);
        let has_counts = self.sources.dialect(schema) >= Dialect::Draft2019;
        let find = |keyword| document.find(schema.node, keyword).filter(|_| has_counts);
        let count = |node| self.count(Place { node, ..schema });
        let min = find("minContains").map_or(Ok(1), count)?;
        let max = find("maxContains").map_or(Ok(UNBOUNDED), count)?;
        Ok((min, max))
    }

    /// Every value, where arrays have only such items from one place on, up to another.
    pub(crate) fn with_items(from: u32, to: u32, value: TermId) -> Shape {
        let mut prefix = vec![ANY; from as usize];
        let mut items = value;
        if to < UNBOUNDED {
            prefix.resize(to as usize, value);
            items = ANY;
        }
        let array = ArrayShape { prefix, items, ..ArrayShape::default() };
        Shape { arrays: array.normal().into_iter().collect(), ..Shape::any() }
    }

    /// The arrays of both shapes.
    pub(crate) fn meet_arrays(&mut self, a: &ArrayShape, b: &ArrayShape) -> Option<ArrayShape> {
        let count = a.prefix.len().max(b.prefix.len());
        let prefix = (0..count).map(|at| self.terms.and2(a.item(at), b.item(at))).collect();
        let mut contains = a.contains.clone();
        contains.extend(b.contains.iter().cloned());
        let mut except: Vec<ConstantId> = a.except.iter().chain(b.except.iter()).copied().collect();
        except.sort_unstable();
        except.dedup();
        let (min, max) = (a.min.max(b.min), a.max.min(b.max));
        except.retain(|&known| {
            let len = self.constants.items(known).len();
            len >= min as usize && len as u64 <= u64::from(max)
        });
        let array = ArrayShape {
            prefix,
            items: self.terms.and2(a.items, b.items),
            min,
            max,
            contains,
            except: except.into(),
            unique: a.unique.or(b.unique),
            repeats: a.repeats.or(b.repeats),
            refusal: a.refusal.or(b.refusal),
        };
        array.normal()
    }

    /// The arrays that do not have a shape.
    pub(crate) fn arrays_outside(
        &mut self,
        array: &ArrayShape,
        refusal: Refusal,
    ) -> Vec<ArrayShape> {
        let any = ArrayShape::default;
        let mut outside = Vec::new();
        if array.min > 0 {
            outside.push(ArrayShape { max: array.min - 1, ..any() });
        }
        if array.max < UNBOUNDED {
            outside.push(ArrayShape { min: array.max + 1, ..any() });
        }
        let len = index(array.prefix.len());
        for (at, &item) in array.prefix.iter().enumerate() {
            let broken = self.terms.not(refusal.place, item);
            if broken != NEVER {
                let mut prefix = vec![ANY; at];
                prefix.push(broken);
                outside.extend(ArrayShape { prefix, min: index(at) + 1, ..any() }.normal());
            }
        }
        if array.items != ANY {
            let value = self.terms.not(refusal.place, array.items);
            let broken = Contains { from: len, to: array.max, value, min: 1, max: UNBOUNDED };
            outside.extend(ArrayShape { contains: vec![broken], ..any() }.normal());
        }
        for contains in &array.contains {
            if contains.min > 0 {
                let fewer = Contains { min: 0, max: contains.min - 1, ..contains.clone() };
                outside.extend(ArrayShape { contains: vec![fewer], ..any() }.normal());
            }
            if contains.max < UNBOUNDED {
                let more = Contains { min: contains.max + 1, max: UNBOUNDED, ..contains.clone() };
                outside.extend(ArrayShape { contains: vec![more], ..any() }.normal());
            }
        }
        for &known in array.except.iter() {
            let items: Box<[ConstantId]> = self.constants.items(known).into();
            outside.push(self.constant_array(&items));
        }
        if array.unique.is_some() {
            outside.push(ArrayShape { min: 2, repeats: Some(refusal), ..any() });
        }
        if array.repeats.is_some() {
            outside.push(ArrayShape { unique: Some(refusal.place), ..any() });
        }
        if array.refusal.is_some() {
            outside.push(ArrayShape { refusal: Some(refusal), ..any() });
        }
        outside
    }
}

impl ArrayShape {
    /// What is asked of the item at a place.
    pub(crate) fn item(&self, at: usize) -> TermId {
        self.prefix.get(at).copied().unwrap_or(self.items)
    }

    /// Whether items are asked for by their places alone.
    pub(crate) fn is_plain(&self) -> bool {
        self.contains.is_empty()
            && self.unique.is_none()
            && self.except.is_empty()
            && !self.has_repeats()
    }

    /// The keyword that has its items compared, if one does.
    pub(crate) fn compared_at(&self) -> Option<Place> {
        self.unique.or(self.repeats.map(|refusal| refusal.place))
    }

    /// Whether two of its items must be equal.
    pub(crate) fn has_repeats(&self) -> bool {
        self.repeats.is_some() && self.refusal().is_none()
    }

    /// What cannot be enforced.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        // Which of the items that are equal count for the rest would have to be guessed.
        let is_counted = !self.contains.is_empty() || !self.except.is_empty();
        self.refusal.or(self.repeats.filter(|_| is_counted))
    }

    /// Whether the same is asked of all items, and nothing else of what they are but that they may
    /// have to differ.
    pub(crate) fn is_uniform(&self) -> bool {
        self.prefix.is_empty() && self.contains.is_empty() && self.except.is_empty()
    }

    /// Whether it is plain to see that the empty array has the shape.
    pub(crate) fn has_empty(&self) -> bool {
        self.min == 0
            && self.except.is_empty()
            && self.contains.iter().all(|contains| contains.min == 0)
    }

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
        for mut contains in std::mem::take(&mut self.contains) {
            contains.to = contains.to.min(self.max);
            let is_every =
                contains.value == ANY || (self.prefix.is_empty() && contains.value == self.items);
            if contains.value == NEVER || contains.from >= contains.to {
                contains.max = 0;
            } else if is_every && contains.from == 0 && contains.to == self.max {
                // It counts all items.
                self.min = self.min.max(contains.min);
                self.max = self.max.min(contains.max);
                continue;
            }
            if contains.min > contains.max
                || contains.min > contains.to.saturating_sub(contains.from)
            {
                return None;
            }
            if contains.max == 0 && (contains.value == NEVER || contains.from >= contains.to) {
                continue;
            }
            if contains.max >= contains.to.saturating_sub(contains.from) {
                contains.max = UNBOUNDED;
            }
            if contains.min == 0 && contains.max == UNBOUNDED {
                continue;
            }
            if contains.min > 0 {
                self.min = self.min.max(contains.from.saturating_add(contains.min));
            }
            let same = self.contains.iter_mut().find(|known| {
                (known.from, known.to, known.value) == (contains.from, contains.to, contains.value)
            });
            match same {
                Some(known) => {
                    known.min = known.min.max(contains.min);
                    known.max = known.max.min(contains.max);
                    if known.min > known.max {
                        return None;
                    }
                }
                None => self.contains.push(contains),
            }
        }
        if self.max <= 1 {
            self.unique = None;
        }
        let is_contrary = self.unique.is_some() && self.repeats.is_some();
        (self.min <= self.max && !is_contrary).then_some(self)
    }
}
