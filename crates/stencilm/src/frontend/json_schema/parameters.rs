//! An object whose members stand one by one in marks of their own, as models write the arguments of
//! calls: strings as they are, other values as JSON.

use crate::error::{Error, Location};
use crate::frontend::json_schema::formula::NO_OBJECT;
use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::object_states::{At, Name, Object};
use crate::frontend::json_schema::object_table::NameClass;
use crate::frontend::json_schema::options::Whitespace;
use crate::frontend::json_schema::rules::{Machine, Rule};
use crate::frontend::json_schema::shape::{
    ArrayShape, Shape, ShapeId, StringShape, TermId, TextId,
};
use crate::frontend::json_schema::text_exprs;
use crate::frontend::regex::python_space;
use crate::grammar::{ByteSet, CharSet, ExprId, Exprs, Spelling, UNBOUNDED};
use crate::interner::index;

/// The marks around a member. `<key>NAME<value>VALUE<end>`, say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Before the name.
    pub before_name: String,
    /// Behind the name, with white space behind it; nothing if it is empty.
    pub after_name: String,
    /// Between that and a string.
    pub before_string: String,
    /// Between the name and a number, a truth value, `null`, an object or an array.
    pub before_json: [String; 5],
    /// After the value. No string may have it inside.
    pub end: String,
    /// Behind `end` come the name again and this, if it is given. Then only names come that are
    /// listed.
    pub after_end: Option<String>,
    /// What strings may not have inside either.
    pub excludes: Vec<String>,
    /// Whether one line end before a string, and one after it, is no part of it.
    pub has_lines: bool,
    /// Whether `"` and `&` in names are written as `&quot;` and `&amp;`.
    pub escapes_names: bool,
    /// How integers are marked too, where nothing is said of a number.
    pub before_integer: Option<String>,
    /// How objects and arrays are written in such marks too. JSON if not given.
    pub nested: Option<Nested>,
}

/// The marks around the members of an object and the items of an array inside another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    /// Between the name and the members of an object.
    pub before_members: String,
    /// Between the name and the items of an array.
    pub before_items: String,
    /// What stands before an item instead of the name and the first character behind it.
    pub before_item: String,
    /// What an item has for a name behind its end, if names come there.
    pub item: String,
}

impl Parameters {
    /// Whether a name can stand between its marks.
    pub(crate) fn can_write(&self, name: &str) -> bool {
        self.after_end.as_ref().is_none_or(|after| {
            let is_marked = name.contains(after.as_str())
                || self.excludes.iter().any(|mark| name.contains(mark));
            !name.trim().is_empty() && !name.starts_with('/') && !is_marked
        })
    }

    /// What comes behind the value of a name, or of an item.
    fn end_of(&self, name: &str) -> String {
        match &self.after_end {
            Some(after) => format!("{}{name}{after}", self.end),
            None => self.end.clone(),
        }
    }
}

/// What a name that is not listed is made of, where only its marks say where it ends.
const NOT_IN_NAMES: &str = "<>\"'&=/|\\";
/// What it does not begin with: names of parameters are those of variables.
const NOT_FIRST: &str = "0123456789-.";

impl Machine {
    fn parameters_style(&self) -> Parameters {
        self.schemas.options.parameters.clone().expect("asked for only where there is a style")
    }

    /// Up to the cap, and at least so many white-space characters.
    pub(crate) fn spaces(&self, min: u32, exprs: &mut Exprs) -> ExprId {
        match self.schemas.options.whitespace {
            Whitespace::Any { cap } if cap >= min => {
                let space = ByteSet::from_iter([b' ', b'\t', b'\n', b'\r']);
                let space = exprs.byte_set(&space);
                exprs.repeat(space, min, cap)
            }
            _ if min == 0 => exprs.empty(),
            _ => exprs.nothing(),
        }
    }

    /// The arguments of a call, from the beginning; whether there may be none.
    pub(crate) fn call(
        &mut self,
        shape: ShapeId,
        exprs: &mut Exprs,
    ) -> Result<(ExprId, bool), Error> {
        if self.schemas.shape(shape).objects == NO_OBJECT {
            let feature = "arguments that are no object";
            return Err(Error::unsupported(feature, Location::Pointer(String::new())));
        }
        let mut ways = Vec::new();
        let mut accepts_empty = false;
        for (object, at, may_close) in self.beginnings(shape)? {
            let table = self.object(object)?.table().clone();
            self.schemas.check_outermost(&table)?;
            accepts_empty |= may_close;
            ways.push(self.more_arguments(object, at, exprs)?);
        }
        Ok((exprs.choice(&ways), accepts_empty))
    }

    /// The rest of a call's arguments, without the empty text.
    pub(crate) fn more_arguments(
        &mut self,
        object: u32,
        at: At,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        match self.schemas.options.notation {
            Notation::Python => self.arguments(object, at, exprs),
            Notation::Json | Notation::Bare { .. } => self.parameters_body(object, at, exprs),
        }
    }

    /// The listed members that may come next in an object and can be written, each with its name.
    pub(crate) fn written_names(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        is_argument: bool,
    ) -> Result<Vec<(u32, String)>, Error> {
        let table = object.table().clone();
        let mut found = Vec::new();
        let mut low = 0;
        while let Some(place) = self.next_place(object, number, at, low)? {
            low = place + 1;
            let member = table.member_at[place as usize];
            let name = self.schemas.texts.get(table.members[member as usize]);
            // Others are among a few that a condition on names leaves.
            if self.schemas.can_write(name, is_argument) {
                found.push((member, name.to_string()));
            }
        }
        Ok(found)
    }

    /// The objects of a shape where they begin, and whether they may have no members.
    pub(crate) fn beginnings(&mut self, shape: ShapeId) -> Result<Vec<(u32, At, bool)>, Error> {
        let objects = self.schemas.shape(shape).objects;
        let mut found = Vec::new();
        for formula in self.schemas.formulas.alternatives(objects) {
            if self.schemas.is_formula_alive(formula)? {
                let object = self.schemas.object_table(formula, objects)?;
                let at = self.schemas.reach.tables[object as usize].start();
                let table = self.object(object)?;
                found.push((object, at, self.may_close(&table, at)));
            }
        }
        Ok(found)
    }

    /// The rest of the members, without the empty text.
    pub(crate) fn parameters_body(
        &mut self,
        number: u32,
        at: At,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let object = self.object(number)?;
        let table = object.table().clone();
        let style = self.parameters_style();
        let mut after_name = self.mark(&style.after_name, exprs);
        if !style.after_name.is_empty() {
            let space = self.spaces(0, exprs);
            after_name = exprs.seq2(after_name, space);
        }
        let mut members = Vec::new();
        for (member, name) in self.written_names(&object, number, at, true)? {
            let name = written(&name, &style);
            let end = style.end_of(&name);
            let name = exprs.bytes(name.as_bytes());
            let name = exprs.seq2(name, after_name);
            let rest = self.parameter(&object, number, at, Name::Member(member), &end, exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        let classes = match style.after_end {
            // No rule says that two names are the same.
            Some(_) => Vec::new(),
            None => self.other_classes(&object, at)?,
        };
        for class in classes {
            let name = self.other_parameter(&table.classes[class], &table.members, exprs)?;
            let name = exprs.seq2(name, after_name);
            let end = &style.end;
            let rest = self.parameter(&object, number, at, Name::Class(class), end, exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        let members = exprs.choice(&members);
        let before = self.mark(&style.before_name, exprs);
        let space = self.spaces(0, exprs);
        let more = exprs.seq(&[space, before, members]);
        let end = if self.may_close(&object, at) { self.spaces(1, exprs) } else { exprs.nothing() };
        Ok(exprs.choice(&[more, end]))
    }

    /// The name of a member that is not listed. Nobody remembers it: it may come again.
    fn other_parameter(
        &self,
        class: &NameClass,
        listed: &[TextId],
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut budget = self.schemas.budget.clone();
        let spelling = Spelling::Text;
        let name =
            text_exprs::other_name(&self.schemas, class, listed, spelling, exprs, &mut budget)?;
        let plain = plain_name(exprs, "");
        Ok(exprs.and(&[name, plain]))
    }

    /// What follows a name: the value in its marks, and the rest of the members.
    fn parameter(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        name: Name,
        end: &str,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut ways = Vec::new();
        for (value, at) in self.steps(object, at, name)? {
            let value = self.parameter_value(value, "", end, exprs)?;
            let rule = self.rule(Rule::Parameters { object: number, at })?;
            let mut rest = exprs.call(rule);
            if self.may_close(object, at) {
                let is_over = self.is_over(object, number, at)?;
                rest = if is_over { exprs.empty() } else { exprs.optional(rest) };
            }
            ways.push(exprs.seq2(value, rest));
        }
        Ok(exprs.choice(&ways))
    }

    /// Whether nothing may come behind the last member.
    pub(crate) fn is_over(&mut self, object: &Object, number: u32, at: At) -> Result<bool, Error> {
        let has_space = matches!(self.schemas.options.whitespace, Whitespace::Any { cap: 1.. });
        Ok(!has_space
            && self.next_place(object, number, at, 0)?.is_none()
            && self.other_classes(object, at)?.is_empty())
    }

    /// An item of a list.
    pub(crate) fn item_in_marks(
        &mut self,
        shape: ShapeId,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let style = self.parameters_style();
        let (before, name) =
            style.nested.as_ref().map_or(("", ""), |nested| (&nested.before_item, &nested.item));
        self.parameter_value(shape, before, &style.end_of(name), exprs)
    }

    /// A value in its marks, of which the first begins with `item` instead of the end of a name, if
    /// that is given, and the last is `end`.
    fn parameter_value(
        &mut self,
        id: ShapeId,
        item: &str,
        end: &str,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let style = self.parameters_style();
        let shape = self.schemas.shape(id).clone();
        let marked = |machine: &Self, exprs: &mut Exprs, before: &str| match item {
            "" => machine.mark(before, exprs),
            _ => machine.mark(&format!("{item}{}", before.get(1..).unwrap_or("")), exprs),
        };
        let is_free = *shape == Shape::any();
        let mut ways = Vec::new();
        for string in &shape.strings {
            let before = marked(self, exprs, &style.before_string);
            let mut budget = self.schemas.budget.clone();
            let (schemas, excludes) = (&self.schemas, &style.excludes);
            let text =
                text_exprs::plain(schemas, string, &style.end, excludes, exprs, &mut budget)?;
            let is_any = *string == StringShape::default();
            let text = if style.has_lines && !is_any { in_lines(text, exprs) } else { text };
            ways.push(exprs.seq2(before, text));
        }
        let space = self.spaces(0, exprs);
        for (part, before) in json_parts(&shape).into_iter().zip(&style.before_json) {
            if part == Shape::default() {
                continue;
            }
            let (before, value) = match &style.nested {
                Some(nested) if part.objects != NO_OBJECT => {
                    (&nested.before_members, self.members_in_marks(part, exprs)?)
                }
                Some(nested) if part.arrays.iter().any(ArrayShape::is_plain) => {
                    // The rest stays JSON: its items are counted or compared.
                    let (plain, rest): (Vec<_>, Vec<_>) =
                        part.arrays.into_iter().partition(ArrayShape::is_plain);
                    if !rest.is_empty() {
                        let rest = Shape { arrays: rest, ..Shape::default() };
                        let rest = self.schemas.intern(rest);
                        let value = self.value_of(rest, 0, exprs)?;
                        let before = marked(self, exprs, before);
                        ways.push(exprs.seq(&[before, space, value, space]));
                    }
                    (&nested.before_items, self.items_in_marks(&plain, exprs)?)
                }
                _ => {
                    let is_integer = is_free && !part.numbers.is_empty();
                    let part = self.schemas.intern(part);
                    let value = self.value_of(part, 0, exprs)?;
                    if is_integer && let Some(before) = &style.before_integer {
                        let before = marked(self, exprs, before);
                        ways.push(exprs.seq(&[before, space, value, space]));
                    }
                    (before, exprs.seq2(value, space))
                }
            };
            let before = marked(self, exprs, before);
            ways.push(exprs.seq(&[before, space, value]));
        }
        let value = exprs.choice(&ways);
        let end = self.mark(end, exprs);
        Ok(exprs.seq2(value, end))
    }

    /// The members of an object inside, up to its end mark.
    fn members_in_marks(&mut self, part: Shape, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let shape = self.schemas.intern(part);
        let may_be_empty = self.beginnings(shape)?.iter().any(|&(_, _, may_close)| may_close);
        let rule = self.rule(Rule::Call { shape })?;
        let members = exprs.call(rule);
        Ok(if may_be_empty { exprs.optional(members) } else { members })
    }

    /// The items of an array inside, up to its end mark.
    fn items_in_marks(
        &mut self,
        arrays: &[ArrayShape],
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let space = self.spaces(0, exprs);
        let mut ways = Vec::with_capacity(arrays.len());
        for array in arrays {
            let count = index(array.prefix.len());
            let more = if array.max > count {
                let item = self.item_call(array.items, exprs)?;
                let max = if array.max == UNBOUNDED { UNBOUNDED } else { array.max - count };
                exprs.repeat(item, array.min.saturating_sub(count), max)
            } else {
                exprs.empty()
            };
            let mut rest = more;
            for (at, &value) in array.prefix.iter().enumerate().rev() {
                let item = self.item_call(value, exprs)?;
                rest = exprs.seq2(item, rest);
                if at >= array.min as usize {
                    rest = exprs.optional(rest);
                }
            }
            ways.push(rest);
        }
        let items = exprs.choice(&ways);
        Ok(exprs.seq2(items, space))
    }

    /// An item, and white space before it.
    fn item_call(&mut self, value: TermId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let Some(shape) = self.schemas.live_shape(value)? else {
            return Ok(exprs.nothing());
        };
        let space = self.spaces(0, exprs);
        let rule = self.rule(Rule::Item { shape })?;
        let item = exprs.call(rule);
        Ok(exprs.seq2(space, item))
    }
}

/// A name that is made of what no mark begins with, and of none of `others`.
pub(crate) fn plain_name(exprs: &mut Exprs, others: &str) -> ExprId {
    let outside = CharSet::of(NOT_IN_NAMES.chars().chain(others.chars()))
        .union(&CharSet::new([('\0', ' '), ('\x7F', '\u{A0}')]))
        .union(&python_space());
    let inside = exprs.chars(&outside.negate(), Spelling::Text);
    let first = outside.union(&CharSet::of(NOT_FIRST.chars())).negate();
    let first = exprs.chars(&first, Spelling::Text);
    let more = exprs.repeat(inside, 0, UNBOUNDED);
    exprs.seq2(first, more)
}

/// A text on lines of its own, or as it is where that is no other one on lines of its own.
fn in_lines(text: ExprId, exprs: &mut Exprs) -> ExprId {
    let (end, any) = (exprs.bytes(b"\n"), exprs.any_text(Spelling::Text));
    let framed = exprs.seq(&[end, text, end]);
    let (begins, ends) = (exprs.seq2(end, any), exprs.seq2(any, end));
    let others = exprs.choice(&[begins, ends]);
    let plain = exprs.minus(text, others);
    exprs.choice(&[framed, plain])
}

fn written(name: &str, style: &Parameters) -> String {
    if style.escapes_names {
        name.replace('&', "&amp;").replace('"', "&quot;")
    } else {
        name.to_owned()
    }
}

/// The values that are no strings, by their types, in the order of [`Parameters::before_json`].
fn json_parts(shape: &Shape) -> [Shape; 5] {
    let none = Shape::default;
    [
        Shape { numbers: shape.numbers.clone(), ..none() },
        Shape { bools: shape.bools, ..none() },
        Shape { null: shape.null, ..none() },
        Shape { objects: shape.objects, ..none() },
        Shape { arrays: shape.arrays.clone(), ..none() },
    ]
}
