//! An object whose members stand one by one in marks of their own, as models write the arguments of
//! calls: strings as they are, other values as JSON.

use crate::error::{Error, Location};
use crate::frontend::json_schema::formula::NO_OBJECT;
use crate::frontend::json_schema::object_states::{At, Name, Object};
use crate::frontend::json_schema::object_table::NameClass;
use crate::frontend::json_schema::options::Whitespace;
use crate::frontend::json_schema::rules::{Machine, Rule};
use crate::frontend::json_schema::shape::{Shape, ShapeId, StringShape, TextId};
use crate::frontend::json_schema::text_exprs;
use crate::grammar::{ByteSet, CharSet, ExprId, Exprs, Spelling, UNBOUNDED};
use crate::residual::emptiness;

/// The marks around a member. `<key>NAME<value>VALUE<end>`, say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Before the name.
    pub before_name: String,
    /// Between the name and a string.
    pub before_string: String,
    /// Between the name and a number, a truth value, `null`, an object or an array.
    pub before_json: [String; 5],
    /// After the value. No string may have it inside.
    pub end: String,
    /// What strings may not have inside either.
    pub excludes: Vec<String>,
    /// Whether `"` and `&` in names are written as `&quot;` and `&amp;`.
    pub escapes_names: bool,
}

/// What a name that is not listed is made of, where only its marks say where it ends.
const NOT_IN_NAMES: &str = "<>\"'&=/|\\";

impl Machine {
    fn parameters_style(&self) -> Parameters {
        self.schemas.options.parameters.clone().expect("asked for only where there is a style")
    }

    /// Up to the cap, and at least so many white-space characters.
    fn spaces(&self, min: u32, exprs: &mut Exprs) -> ExprId {
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

    /// The members of an object, from the beginning; whether there may be none.
    pub(crate) fn parameters(
        &mut self,
        shape: ShapeId,
        exprs: &mut Exprs,
    ) -> Result<(ExprId, bool), Error> {
        let objects = self.schemas.shape(shape).objects;
        let mut choices = Vec::new();
        let mut accepts_empty = false;
        if objects == NO_OBJECT {
            let feature = "arguments that are no object";
            return Err(Error::unsupported(feature, Location::Pointer(String::new())));
        }
        for formula in self.schemas.formulas.alternatives(objects) {
            if self.schemas.is_formula_alive(formula)? {
                let object = self.schemas.object_table(formula, objects)?;
                let at = self.schemas.reach.tables[object as usize].start();
                let table = self.object(object)?;
                accepts_empty |= self.may_close(&table, at);
                choices.push(self.parameters_body(object, at, exprs)?);
            }
        }
        Ok((exprs.choice(&choices), accepts_empty))
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
        let mut members = Vec::new();
        let mut low = 0;
        while let Some(place) = self.next_place(&object, number, at, low)? {
            low = place + 1;
            let member = table.member_at[place as usize];
            let name = table.members[member as usize];
            let name = self.schemas.texts.get(name).to_string();
            let name = written(&name, &style);
            let name = exprs.bytes(name.as_bytes());
            let rest = self.parameter(&object, number, at, Name::Member(member), exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        for class in self.other_classes(&object, at)? {
            let name = self.other_parameter(&table.classes[class], &table.members, exprs)?;
            let rest = self.parameter(&object, number, at, Name::Class(class), exprs)?;
            members.push(exprs.seq2(name, rest));
        }
        let members = exprs.choice(&members);
        let before = exprs.bytes(style.before_name.as_bytes());
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
        let outside = CharSet::of(NOT_IN_NAMES.chars())
            .union(&CharSet::new([('\0', ' '), ('\x7F', '\u{A0}')]));
        let inside = exprs.chars(&outside.negate(), spelling);
        let plain = exprs.repeat(inside, 1, UNBOUNDED);
        Ok(exprs.and(&[name, plain]))
    }

    /// What follows a name: the value in its marks, and the rest of the members.
    fn parameter(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        name: Name,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut ways = Vec::new();
        for (value, at) in self.steps(object, at, name)? {
            let value = self.parameter_value(value, exprs)?;
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
    fn is_over(&mut self, object: &Object, number: u32, at: At) -> Result<bool, Error> {
        let has_space = matches!(self.schemas.options.whitespace, Whitespace::Any { cap: 1.. });
        Ok(!has_space
            && self.next_place(object, number, at, 0)?.is_none()
            && self.other_classes(object, at)?.is_empty())
    }

    /// A value in its marks.
    fn parameter_value(&mut self, id: ShapeId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let style = self.parameters_style();
        let shape = self.schemas.shape(id).clone();
        let mut ways = Vec::new();
        for string in &shape.strings {
            let before = exprs.bytes(style.before_string.as_bytes());
            let text = self.plain_string(string, &style, exprs)?;
            ways.push(exprs.seq2(before, text));
        }
        let space = self.spaces(0, exprs);
        for (part, before) in json_parts(&shape).into_iter().zip(&style.before_json) {
            if part == Shape::default() {
                continue;
            }
            let part = self.schemas.intern(part);
            let value = self.value_of(part, 0, exprs)?;
            let before = exprs.bytes(before.as_bytes());
            ways.push(exprs.seq(&[before, space, value, space]));
        }
        let value = exprs.choice(&ways);
        let end = exprs.bytes(style.end.as_bytes());
        Ok(exprs.seq2(value, end))
    }

    /// A string as it stands, without what would end it.
    fn plain_string(
        &self,
        string: &StringShape,
        style: &Parameters,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let mut budget = self.schemas.budget.clone();
        let strings = std::slice::from_ref(string);
        let spelling = Spelling::Text;
        let text = text_exprs::strings(&self.schemas, strings, spelling, exprs, &mut budget)?;
        let marks = std::iter::once(&style.end).chain(&style.excludes);
        let text = exprs.without(text, marks.map(String::as_bytes));
        if emptiness::is_empty(exprs, text, &budget)? {
            let feature = format!("a string that must have `{}` inside", style.end);
            return Err(Error::unsupported(feature, Location::Pointer(String::new())));
        }
        Ok(text)
    }
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
