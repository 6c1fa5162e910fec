//! The rules of a JSON Schema: a rule for each shape and for each state of an object, its body
//! made when it is first entered.

use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Error;
use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::object_table::{At, ObjectTable, START};
use crate::frontend::json_schema::reach::{Compiled, NameClass};
use crate::frontend::json_schema::shape::{ArrayShape, Shape, ShapeId, TermId};
use crate::frontend::json_schema::{number_text, text_exprs};
use crate::grammar::{ExprId, Exprs, LiteralId, LiteralsId, RuleId, Rules, UNBOUNDED};
use crate::limits::{Budget, Cancel};

/// Lists of strings up to this length are written into the rule that uses them.
const FEW_STRINGS: usize = 16;

/// Leading items that one rule writes out.
const ITEMS_A_RULE: usize = 32;

/// The rules of one schema.
#[derive(Debug)]
pub(crate) struct SchemaRules {
    compiled: Compiled,
    tables: RwLock<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    rules: Vec<Rule>,
    ids: FxHashMap<Rule, u32>,
    objects: Vec<Arc<ObjectTable>>,
    object_ids: FxHashMap<(ShapeId, usize), u32>,
}

/// What a rule, or a state of an object, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rule {
    /// A value of this shape, at a depth where that makes a difference.
    Value { shape: ShapeId, depth: u32 },
    /// The rest of an object.
    Members { object: u32, at: At, depth: u32 },
    /// The rest of an array after so many items.
    Items { shape: ShapeId, alternative: u32, count: u32, depth: u32 },
}

impl SchemaRules {
    pub(crate) fn new(compiled: Compiled) -> Self {
        Self { compiled, tables: RwLock::default() }
    }

    /// The rule of the whole value.
    pub(crate) fn start(&self) -> Result<RuleId, Error> {
        self.rule(Rule::Value { shape: self.compiled.root, depth: 0 })
    }

    fn rule(&self, rule: Rule) -> Result<RuleId, Error> {
        let known =
            self.tables.read().unwrap_or_else(PoisonError::into_inner).ids.get(&rule).copied();
        if let Some(id) = known {
            return Ok(RuleId(id));
        }
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let next = tables.rules.len();
        if next >= self.compiled.limits.rules {
            return Err(Error::limit("rules", self.compiled.limits.rules));
        }
        let id = *tables.ids.entry(rule).or_insert(index(next));
        if id as usize == next {
            tables.rules.push(rule);
        }
        Ok(RuleId(id))
    }

    fn get(&self, id: u32) -> Rule {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).rules[id as usize]
    }

    fn object(&self, id: u32) -> Arc<ObjectTable> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).objects[id as usize].clone()
    }

    fn object_id(&self, shape: ShapeId, alternative: usize) -> Result<u32, Error> {
        let key = (shape, alternative);
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let known = tables.object_ids.get(&key).copied();
        drop(tables);
        if let Some(id) = known {
            return Ok(id);
        }
        let table = ObjectTable::new(&self.compiled, shape, alternative, &mut self.budget())?;
        let table = Arc::new(table);
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let next = index(tables.objects.len());
        let id = *tables.object_ids.entry(key).or_insert(next);
        if id == next {
            tables.objects.push(table);
        }
        Ok(id)
    }

    /// The object and its state that a number stands for.
    fn state(&self, state: u32) -> Option<(u32, At, u32)> {
        match self.get(state) {
            Rule::Members { object, at, depth } => Some((object, at, depth)),
            Rule::Value { .. } | Rule::Items { .. } => None,
        }
    }

    fn budget(&self) -> Budget {
        Budget::new(self.compiled.limits, Cancel::new())
    }

    /// A value of a term's shape: what is short is written here, the rest is a rule of its own.
    fn value(&self, term: TermId, depth: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        match self.compiled.shape_of(term) {
            Some(shape) => self.value_of(shape, depth, exprs),
            None => Ok(exprs.nothing()),
        }
    }

    fn value_of(&self, id: ShapeId, depth: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let shape = self.compiled.shape(id);
        let is_short = shape.arrays.is_empty()
            && shape.objects.is_empty()
            && shape.strings.iter().all(|string| {
                string.patterns.is_empty()
                    && string.values.as_ref().is_none_or(|values| values.len() <= FEW_STRINGS)
            });
        if is_short {
            return self.scalars(shape, exprs);
        }
        let rule = self.rule(Rule::Value { shape: id, depth })?;
        Ok(exprs.call(rule))
    }

    fn scalars(&self, shape: &Shape, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut choices = Vec::new();
        if shape.null {
            choices.push(exprs.bytes(b"null"));
        }
        if shape.bools != 0 {
            let words = [(1, &b"false"[..]), (2, b"true")];
            let words = words.into_iter().filter(|&(bit, _)| shape.bools & bit != 0);
            choices.push(exprs.one_of(words.map(|(_, word)| word)));
        }
        for number in &shape.numbers {
            let plain = self.compiled.has_plain_integers;
            choices.push(number_text::number(exprs, number, plain));
        }
        for string in &shape.strings {
            let string = text_exprs::string(&self.compiled, string, exprs, &mut self.budget())?;
            choices.push(string);
        }
        Ok(exprs.choice(&choices))
    }

    fn value_body(&self, id: ShapeId, depth: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let shape = self.compiled.shape(id);
        let mut choices = vec![self.scalars(shape, exprs)?];
        for (alternative, array) in shape.arrays.iter().enumerate() {
            if self.compiled.is_array_alive(array) {
                let open = exprs.bytes(b"[");
                let rest = self.items(id, alternative, 0, depth, exprs)?;
                choices.push(exprs.seq(&[open, rest]));
            }
        }
        for (alternative, object) in shape.objects.iter().enumerate() {
            if self.compiled.is_object_alive(id, alternative, object, &mut self.budget())? {
                let number = self.object_id(id, alternative)?;
                let at = START;
                let open = exprs.bytes(b"{");
                let state = self.rule(Rule::Members { object: number, at, depth })?;
                // An object that remembers names is a rule of its own: what is inside one name is
                // inside names of one object.
                let rest = if self.object(number).has_others {
                    exprs.call(state)
                } else {
                    self.members(state.0, exprs)?
                };
                choices.push(exprs.seq(&[open, rest]));
            }
        }
        Ok(exprs.choice(&choices))
    }

    /// The rest of an array after `count` items, with its closing bracket.
    fn items(
        &self,
        id: ShapeId,
        alternative: usize,
        count: usize,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let array = &self.compiled.shape(id).arrays[alternative];
        let space = &self.compiled.options.whitespace;
        let inside = space.inside(depth);
        let lead = space.lead(exprs);
        let close = exprs.bytes(b"]");
        let last = array.prefix.len().min(count + ITEMS_A_RULE);
        let mut rest = if last < array.prefix.len() {
            let rule = Rule::Items {
                shape: id,
                alternative: index(alternative),
                count: index(last),
                depth,
            };
            let rule = self.rule(rule)?;
            exprs.call(rule)
        } else {
            self.more_items(array, last, depth, exprs)?
        };
        for at in (count..last).rev() {
            let item = self.value(array.prefix[at], inside, exprs)?;
            rest = self.item_or_end(array, at, item, rest, depth, exprs);
        }
        if count == 0 && array.prefix.is_empty() {
            // `rest` is what follows a first item.
            let item = self.value(array.items, inside, exprs)?;
            let item = if array.max == 0 { exprs.nothing() } else { item };
            let begin = space.begin(exprs, depth);
            let first = exprs.seq(&[begin, item, rest]);
            let empty = if array.min == 0 { close } else { exprs.nothing() };
            let either = exprs.choice(&[empty, first]);
            return Ok(exprs.seq(&[lead, either]));
        }
        Ok(rest)
    }

    /// One more item and `rest`, or the end where that is allowed.
    fn item_or_end(
        &self,
        array: &ArrayShape,
        at: usize,
        item: ExprId,
        rest: ExprId,
        depth: u32,
        exprs: &mut Exprs,
    ) -> ExprId {
        let space = &self.compiled.options.whitespace;
        let before = if at == 0 { space.begin(exprs, depth) } else { space.comma(exprs, depth) };
        let more = exprs.seq(&[before, item, rest]);
        let close = exprs.bytes(b"]");
        let end = if at == 0 { exprs.empty() } else { space.end(exprs, depth) };
        let close = exprs.seq(&[end, close]);
        let close = if at >= array.min as usize { close } else { exprs.nothing() };
        let either = exprs.choice(&[close, more]);
        let lead = space.lead(exprs);
        exprs.seq(&[lead, either])
    }

    /// What follows the leading items (or the first item, if there are none): items of the same
    /// shape, as many as are missing and may come, and the end.
    fn more_items(
        &self,
        array: &ArrayShape,
        count: usize,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let space = &self.compiled.options.whitespace;
        let so_far = index(count.max(1));
        let lead = space.lead(exprs);
        let mut more = exprs.empty();
        if array.max > so_far {
            let item = self.value(array.items, space.inside(depth), exprs)?;
            let comma = space.comma(exprs, depth);
            let item = exprs.seq(&[lead, comma, item]);
            let max = if array.max == UNBOUNDED { UNBOUNDED } else { array.max - so_far };
            more = exprs.repeat(item, array.min.saturating_sub(so_far), max);
        }
        let end = space.end(exprs, depth);
        let close = exprs.bytes(b"]");
        Ok(exprs.seq(&[more, lead, end, close]))
    }

    /// The rest of an object in a state, with its closing bracket.
    fn members(&self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let Some((number, at, depth)) = self.state(state) else {
            return Ok(exprs.nothing());
        };
        let table = self.object(number);
        let space = &self.compiled.options.whitespace;
        let mut choices = Vec::new();
        if table.may_close(at) {
            let end = if at.is_first { exprs.empty() } else { space.end(exprs, depth) };
            let close = exprs.bytes(b"}");
            choices.push(exprs.seq(&[end, close]));
        }
        let mut names = Vec::new();
        let may_be_other = table.may_be_other(at);
        let classes = self.compiled.classes(table.shape, table.alternative);
        let is_open = may_be_other && self.open_class(classes).is_some();
        let high = index(table.names.len());
        if is_open || table.next_place(at, 0, high).is_some() {
            names.push(exprs.names(state, 0, high, 0, is_open));
        }
        if may_be_other && !is_open {
            for class in classes {
                names.push(self.class_member(&table, at, depth, class, exprs)?);
            }
        }
        let before =
            if at.is_first { space.begin(exprs, depth) } else { space.comma(exprs, depth) };
        let quote = exprs.bytes(b"\"");
        let names = exprs.choice(&names);
        choices.push(exprs.seq(&[before, quote, names]));
        let lead = space.lead(exprs);
        let either = exprs.choice(&choices);
        Ok(exprs.seq(&[lead, either]))
    }

    /// The class of all names that are not listed, if it is one.
    fn open_class<'c>(&self, classes: &'c [NameClass]) -> Option<&'c NameClass> {
        match classes {
            [class] if class.is_every_name() => self.compiled.shape_of(class.value).map(|_| class),
            _ => None,
        }
    }

    /// A name of a class, its closing quote, its value and the rest of the object.
    fn class_member(
        &self,
        table: &ObjectTable,
        at: At,
        depth: u32,
        class: &NameClass,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let Some(value) = self.compiled.shape_of(class.value) else {
            return Ok(exprs.nothing());
        };
        let budget = &mut self.budget();
        let name = text_exprs::other_name(&self.compiled, class, &table.names, exprs, budget)?;
        let name = exprs.other_name(name);
        let object = self.object_id(table.shape, table.alternative)?;
        let rest = self.after_value(value, object, table.after_other(at), depth, exprs)?;
        Ok(exprs.seq2(name, rest))
    }

    /// The colon, a value and the rest of the object.
    fn after_value(
        &self,
        value: ShapeId,
        object: u32,
        at: At,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let space = &self.compiled.options.whitespace;
        let colon = space.colon(exprs);
        let value = self.value_of(value, space.inside(depth), exprs)?;
        let state = self.rule(Rule::Members { object, at, depth })?;
        let rest = exprs.call(state);
        Ok(exprs.seq(&[colon, value, rest]))
    }
}

impl Rules for SchemaRules {
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        match self.get(rule.0) {
            Rule::Value { shape, depth } => self.value_body(shape, depth, exprs),
            Rule::Members { .. } => self.members(rule.0, exprs),
            Rule::Items { shape, alternative, count, depth } => {
                self.items(shape, alternative as usize, count as usize, depth, exprs)
            }
        }
    }

    fn name(&self, rule: RuleId) -> String {
        match self.get(rule.0) {
            Rule::Value { shape, .. } => format!("value_{}", shape.0),
            Rule::Members { object, at, .. } => format!("object_{object}_{}", at.next),
            Rule::Items { shape, count, .. } => format!("array_{}_{count}", shape.0),
        }
    }

    /// No body begins with a rule: a value begins with a token of its own, the rest of an object
    /// or an array with a comma or a bracket.
    fn rank(&self, _rule: RuleId) -> u32 {
        0
    }

    fn object_of(&self, state: u32) -> u32 {
        self.state(state).map_or(0, |(object, ..)| object)
    }

    fn names(&self, object: u32, exprs: &mut Exprs) -> LiteralsId {
        let table = self.object(object);
        let names: Vec<LiteralId> = table.names.iter().map(|name| exprs.literal_id(name)).collect();
        exprs.literal_list(names)
    }

    fn next_name(&self, state: u32, low: u32, high: u32) -> Option<u32> {
        let (object, at, _) = self.state(state)?;
        self.object(object).next_place(at, low, high)
    }

    fn after_name(&self, state: u32, name: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let Some((object, at, depth)) = self.state(state) else {
            return Ok(exprs.nothing());
        };
        let table = self.object(object);
        let member = table.member_at[name as usize];
        match table.values[member as usize] {
            Some(value) => self.after_value(value, object, table.after(at, member), depth, exprs),
            None => Ok(exprs.nothing()),
        }
    }

    fn after_other_name(&self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let Some((object, at, depth)) = self.state(state) else {
            return Ok(exprs.nothing());
        };
        let table = self.object(object);
        let classes = self.compiled.classes(table.shape, table.alternative);
        let class = self.open_class(classes);
        match class.and_then(|class| self.compiled.shape_of(class.value)) {
            Some(value) => self.after_value(value, object, table.after_other(at), depth, exprs),
            None => Ok(exprs.nothing()),
        }
    }
}
