//! The keywords of one schema that assert something by themselves, as a shape.
//!
//! Keywords of a type that the value cannot have mean nothing; they must be well-formed all the
//! same.

use crate::error::{Error, ErrorKind};
use crate::frontend::json_schema::document::{Node, NodeId};
use crate::frontend::json_schema::formats::{self, Format};
use crate::frontend::json_schema::options::{Dialect, Formats, Unsupported};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    NumberShape, PatternId, Place, Refusal, Shape, StringShape, TextId,
};
use crate::grammar::UNBOUNDED;
use crate::number::{Bound, Decimal, Point};

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const NUMBER: u8 = 4;
const INTEGER: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;
const ALL: u8 = 127;

/// The values of the keywords, where they are written.
#[derive(Default)]
struct Keywords {
    types: u8,
    constant: Option<NodeId>,
    list: Option<NodeId>,
    minimum: Option<NodeId>,
    maximum: Option<NodeId>,
    exclusive_minimum: Option<NodeId>,
    exclusive_maximum: Option<NodeId>,
    multiple_of: Option<NodeId>,
    length: (u32, u32),
    pattern: Option<NodeId>,
    format: Option<NodeId>,
    array: ArrayKeywords,
    object: ObjectKeywords,
}

/// The same, for arrays.
#[derive(Default)]
pub(crate) struct ArrayKeywords {
    pub(crate) prefix: Option<NodeId>,
    pub(crate) items: Option<NodeId>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) count: (u32, u32),
    pub(crate) unique: Option<NodeId>,
    pub(crate) contains: Option<NodeId>,
}

/// The same, for objects.
#[derive(Default)]
pub(crate) struct ObjectKeywords {
    pub(crate) properties: Option<NodeId>,
    pub(crate) patterns: Option<NodeId>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) names: Option<NodeId>,
    pub(crate) required: Option<NodeId>,
    pub(crate) count: (u32, u32),
}

impl Schemas {
    /// The shape of what the assertions of the schema at a place allow.
    pub(crate) fn assertions(&mut self, place: Place) -> Result<Shape, Error> {
        let keywords = self.read_keywords(place)?;
        let types = keywords.types;
        let mut shape = Shape { null: types & NULL != 0, ..Shape::default() };
        if types & BOOLEAN != 0 {
            shape.bools = 3;
        }
        if types & (NUMBER | INTEGER) != 0 {
            let mut number = NumberShape::default();
            if types & NUMBER == 0 {
                // In draft-04 an integer is a spelling.
                match self.sources.dialect(place) {
                    Dialect::Draft4 => number.point = Point::Never,
                    _ => number.multiples.push(Decimal::one()),
                }
            }
            shape.numbers.extend(self.number(place, &keywords, number)?);
        } else {
            self.number(place, &keywords, NumberShape::default())?;
        }
        let string = self.string_shape(place, &keywords)?;
        if types & STRING != 0 {
            shape.strings.extend(string);
        }
        if types & ARRAY != 0 {
            let array = self.array(place, &keywords.array)?;
            shape.arrays.extend(array);
        }
        if types & OBJECT != 0 {
            let object = self.object(place, &keywords.object)?;
            shape.objects = self.formulas.object_or_none(object);
        }
        if let Some(list) = keywords.list {
            let values = self.values(Place { node: list, ..place })?;
            shape = self.meet(&values, &shape)?;
        }
        if let Some(constant) = keywords.constant {
            let value = self.value(Place { node: constant, ..place })?;
            shape = self.meet(&value, &shape)?;
        }
        Ok(shape)
    }

    fn read_keywords(&mut self, place: Place) -> Result<Keywords, Error> {
        let language = self.sources.language(place);
        let dialect = language.dialect;
        let mut found = Keywords { types: ALL, ..Keywords::default() };
        found.length.1 = UNBOUNDED;
        found.array.count.1 = UNBOUNDED;
        found.object.count.1 = UNBOUNDED;
        for at in 0..self.sources.document(place).len(place.node) {
            let (keyword, node) = self.sources.document(place).member(place.node, at);
            if !language.knows(keyword) {
                continue;
            }
            let value = Place { node, ..place };
            if self.is_unknown(value, keyword) {
                continue;
            }
            match keyword {
                "type" => found.types = self.types(value)?,
                "const" if dialect >= Dialect::Draft6 => found.constant = Some(node),
                "enum" => found.list = Some(node),
                "minimum" => found.minimum = Some(node),
                "maximum" => found.maximum = Some(node),
                "exclusiveMinimum" => found.exclusive_minimum = Some(node),
                "exclusiveMaximum" => found.exclusive_maximum = Some(node),
                "multipleOf" => found.multiple_of = Some(node),
                "minLength" => found.length.0 = self.count(value)?,
                "maxLength" => found.length.1 = self.count(value)?,
                "pattern" => found.pattern = Some(node),
                "format" => found.format = Some(node),
                "prefixItems" if dialect >= Dialect::Draft2020 => found.array.prefix = Some(node),
                "items" => found.array.items = Some(node),
                "additionalItems" => found.array.additional = Some(node),
                "minItems" => found.array.count.0 = self.count(value)?,
                "maxItems" => found.array.count.1 = self.count(value)?,
                "uniqueItems" => found.array.unique = self.boolean(value)?.then_some(node),
                "contains" if dialect >= Dialect::Draft6 => found.array.contains = Some(node),
                "properties" => found.object.properties = Some(node),
                "patternProperties" => found.object.patterns = Some(node),
                "additionalProperties" => found.object.additional = Some(node),
                "propertyNames" if dialect >= Dialect::Draft6 => found.object.names = Some(node),
                "required" => found.object.required = Some(node),
                "minProperties" => found.object.count.0 = self.count(value)?,
                "maxProperties" => found.object.count.1 = self.count(value)?,
                _ => {}
            }
        }
        Ok(found)
    }

    fn types(&self, place: Place) -> Result<u8, Error> {
        let document = self.sources.document(place);
        let items = document.items(place.node);
        let names = if items.is_empty() { std::slice::from_ref(&place.node) } else { items };
        let mut types = 0;
        for &node in names {
            types |= match document.as_str(node) {
                Some("null") => NULL,
                Some("boolean") => BOOLEAN,
                Some("number") => NUMBER | INTEGER,
                Some("integer") => INTEGER,
                Some("string") => STRING,
                Some("array") => ARRAY,
                Some("object") => OBJECT,
                _ => {
                    let place = Place { node, ..place };
                    return Err(self.sources.error("this is no JSON type", place));
                }
            };
        }
        Ok(types)
    }

    /// A number that counts something; beyond 2³²−2 it counts as that.
    pub(crate) fn count(&self, place: Place) -> Result<u32, Error> {
        let value = self.decimal(place)?;
        if value.is_negative() || !value.is_integer() {
            return Err(self.sources.error("a non-negative integer is expected here", place));
        }
        if value.plain_len() > 10 {
            return Ok(UNBOUNDED - 1);
        }
        Ok(value.plain().parse().unwrap_or(UNBOUNDED - 1).min(UNBOUNDED - 1))
    }

    pub(crate) fn decimal(&self, place: Place) -> Result<Decimal, Error> {
        let document = self.sources.document(place);
        let Node::Number(run) = document.get(place.node) else {
            return Err(self.sources.error("a number is expected here", place));
        };
        Decimal::parse(document.text(run)).ok_or_else(|| {
            Error::unsupported("a number of this size", self.sources.location(place))
        })
    }

    fn boolean(&self, place: Place) -> Result<bool, Error> {
        match self.sources.document(place).get(place.node) {
            Node::Bool(value) => Ok(value),
            _ => Err(self.sources.error("a boolean is expected here", place)),
        }
    }

    pub(crate) fn string(&self, place: Place) -> Result<String, Error> {
        match self.sources.document(place).as_str(place.node) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.sources.error("a string is expected here", place)),
        }
    }

    /// The texts of an array of strings.
    pub(crate) fn strings(&mut self, place: Place) -> Result<Vec<TextId>, Error> {
        let document = self.sources.document(place);
        let Node::Array { .. } = document.get(place.node) else {
            return Err(self.sources.error("an array of strings is expected here", place));
        };
        let mut texts = Vec::with_capacity(document.items(place.node).len());
        for &node in document.items(place.node) {
            let Some(text) = document.as_str(node) else {
                let place = Place { node, ..place };
                return Err(self.sources.error("a string is expected here", place));
            };
            texts.push(self.texts.id(text));
        }
        Ok(texts)
    }

    fn number(
        &mut self,
        place: Place,
        keywords: &Keywords,
        mut number: NumberShape,
    ) -> Result<Option<NumberShape>, Error> {
        let at = |node| Place { node, ..place };
        let bound = |node: Option<NodeId>, flag: Option<NodeId>| {
            // In draft-04 the exclusive keywords are flags of the others.
            let flag = flag.map(|node| match self.sources.document(place).get(node) {
                Node::Bool(flag) => Ok(Err(flag)),
                _ => self.decimal(at(node)).map(Ok),
            });
            let flag = flag.transpose()?;
            let plain = node.map(|node| self.decimal(at(node))).transpose()?;
            let is_exclusive = matches!(flag, Some(Err(true)));
            let plain = plain.map(|value| Bound { value, is_exclusive });
            let other = flag.and_then(Result::ok).map(|value| Bound { value, is_exclusive: true });
            Ok::<_, Error>([plain, other])
        };
        let lows = bound(keywords.minimum, keywords.exclusive_minimum)?;
        let highs = bound(keywords.maximum, keywords.exclusive_maximum)?;
        for low in lows.into_iter().flatten() {
            number.raise(low);
        }
        for high in highs.into_iter().flatten() {
            number.lower(high);
        }
        if let Some(node) = keywords.multiple_of {
            let divisor = self.decimal(at(node))?;
            if divisor.is_zero() || divisor.is_negative() {
                return Err(self.sources.error("a positive number is expected here", at(node)));
            }
            number.multiples.push(divisor);
        }
        if let Some(node) = keywords.format
            && self.asserts_formats(place)
            && let Some(name) = self.sources.document(place).as_str(node)
            && let Some((low, high)) = formats::integers(name)
        {
            number.multiples.push(Decimal::one());
            let bound =
                |text| Decimal::parse(text).map(|value| Bound { value, is_exclusive: false });
            if let (Some(low), Some(high)) = (bound(low), bound(high)) {
                number.raise(low);
                number.lower(high);
            }
        }
        Ok(number.normal())
    }

    fn string_shape(
        &mut self,
        place: Place,
        keywords: &Keywords,
    ) -> Result<Option<StringShape>, Error> {
        let (min, max) = keywords.length;
        let mut string = StringShape { min, max, ..StringShape::default() };
        if let Some(node) = keywords.pattern {
            let place = Place { node, ..place };
            match self.pattern(place) {
                Ok(pattern) => string.patterns.push((pattern, true)),
                Err(error)
                    if self.options.unsupported == Unsupported::Widen
                        && matches!(error.kind(), ErrorKind::Unsupported { .. }) =>
                {
                    string.refusal = Some(Refusal::new("pattern", place));
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(node) = keywords.format
            && keywords.types & STRING != 0
            && self.asserts_formats(place)
            && let Some(name) = self.sources.document(place).as_str(node)
            && let Some(format) = Format::of_name(name)
        {
            string.max = string.max.min(format.longest().unwrap_or(UNBOUNDED));
            let format = self.patterns.format(format, &mut self.budget)?;
            string.patterns.push((format, true));
        }
        string.patterns.sort_unstable();
        Ok((min <= string.max).then_some(string))
    }

    /// Whether `format` is an assertion at a place.
    pub(crate) fn asserts_formats(&self, place: Place) -> bool {
        self.options.formats == Formats::Enforced || self.sources.language(place).asserts_formats()
    }

    /// The language of the `pattern` at a place.
    pub(crate) fn pattern(&mut self, place: Place) -> Result<PatternId, Error> {
        let document = self.sources.document(place);
        let Some(text) = document.as_str(place.node) else {
            return Err(self.sources.error("a string is expected here", place));
        };
        let text = self.texts.id(text);
        let found = self.patterns.search(text, &self.texts, &mut self.budget);
        found.map_err(|error| error.moved_to(self.sources.location(place)))
    }
}
