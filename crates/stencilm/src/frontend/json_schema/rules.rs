//! The rules of a JSON Schema: a rule for each shape and for each state of an object, its body
//! made when it is first entered.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::frontend::json_schema::array_states::ItemsAt;
use crate::frontend::json_schema::formula::NO_OBJECT;
use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::object_states::{At, Name, Object};
use crate::frontend::json_schema::object_table::{NameClass, ObjectTable};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{Shape, ShapeId, TermId};
use crate::frontend::json_schema::{number_text, text_exprs};
use crate::grammar::{ExprId, Exprs, LiteralId, LiteralsId, RuleId, Rules, Spelling};
use crate::interner::Interner;
use crate::limits::{Budget, Cancel, Limits};

/// Lists of strings up to this length are written into the rule that uses them.
const FEW_STRINGS: usize = 16;

/// About what a rule takes, with the tables that know it.
const BYTES_A_RULE: usize = 256;

/// The rules of one schema.
#[derive(Debug)]
pub(crate) struct SchemaRules {
    start: RuleId,
    accepts_empty: bool,
    /// Rules and objects are fewer.
    numbers: u32,
    name_spelling: Spelling,
    machine: Mutex<Machine>,
    /// About how many bytes the machine takes beyond what it took at first.
    left_behind: AtomicUsize,
}

/// What the rules are made from; it grows as rules are entered.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) schemas: Schemas,
    limits: Limits,
    rules: Interner<Rule>,
    objects: FxHashMap<u32, Object>,
    size_at_first: usize,
}

/// What a rule, or a state of an object, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// A value of this shape, at a depth where that makes a difference.
    Value { shape: ShapeId, depth: u32 },
    /// The rest of an object.
    Members { object: u32, at: At, depth: u32 },
    /// An object whose members are written as parameters, or as the arguments of a call.
    Call { shape: ShapeId },
    /// The rest of its members, not empty.
    Parameters { object: u32, at: At },
    /// An item of a list, in marks.
    Item { shape: ShapeId },
    /// The rest of an array after so many items.
    Items { shape: ShapeId, alternative: u32, count: u32, depth: u32 },
    /// The rest of an array of which more than its length counts, from an item on; whether what came
    /// before that is still to be remembered.
    NextItem { array: u32, at: ItemsAt, depth: u32, is_new: bool },
    /// The same after an item.
    AfterItem { array: u32, at: ItemsAt, depth: u32, is_new: bool },
}

impl SchemaRules {
    /// The rules of a compiled schema, from the shape of its values.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn new(schemas: Schemas, shape: ShapeId) -> Result<Self, Error> {
        let mut machine = Machine {
            limits: schemas.budget.limits,
            schemas,
            rules: Interner::default(),
            objects: FxHashMap::default(),
            size_at_first: 0,
        };
        let mut accepts_empty = false;
        let start = if machine.schemas.options.is_call() {
            (_, accepts_empty) = machine.call(shape, &mut Exprs::default())?;
            machine.rule(Rule::Call { shape })?
        } else {
            machine.rule(Rule::Value { shape, depth: 0 })?
        };
        machine.size_at_first = machine.size_in_bytes();
        let name_spelling = machine.schemas.options.escapes.listed();
        let numbers = u32::try_from(machine.limits.rules).unwrap_or(u32::MAX);
        let left_behind = AtomicUsize::new(0);
        Ok(Self {
            start,
            accepts_empty,
            numbers,
            name_spelling,
            machine: Mutex::new(machine),
            left_behind,
        })
    }

    /// The rule of the whole value.
    pub(crate) fn start(&self) -> RuleId {
        self.start
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        let machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        let size = machine.size_in_bytes().saturating_sub(machine.size_at_first);
        self.left_behind.store(size, Ordering::Relaxed);
        machine
    }
}

impl Machine {
    /// A guess: bodies live elsewhere.
    fn size_in_bytes(&self) -> usize {
        self.rules.len() * BYTES_A_RULE + self.schemas.size_in_bytes()
    }

    pub(crate) fn rule(&mut self, rule: Rule) -> Result<RuleId, Error> {
        if let Some(id) = self.rules.find(&rule) {
            return Ok(RuleId(id));
        }
        if self.rules.len() >= self.limits.rules {
            return Err(Error::limit("rules", self.limits.rules));
        }
        Ok(RuleId(self.rules.id(rule)))
    }

    pub(crate) fn object(&mut self, id: u32) -> Result<Object, Error> {
        if let Some(object) = self.objects.get(&id) {
            return Ok(object.clone());
        }
        let table = self.schemas.reach.tables[id as usize].clone();
        let object = if table.is_simple() {
            let ordered = Arc::new(self.schemas.ordered_object(&table)?);
            Object::Ordered(table, ordered)
        } else {
            Object::Any(table)
        };
        self.objects.insert(id, object.clone());
        Ok(object)
    }

    /// Whether the object may end here.
    pub(crate) fn may_close(&self, object: &Object, at: At) -> bool {
        match object {
            Object::Ordered(_, ordered) => ordered.may_close(at),
            Object::Any(table) => self.schemas.may_close(table, at),
        }
    }

    /// The first place at or after `low` of a listed name that may come next.
    pub(crate) fn next_place(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        low: u32,
    ) -> Result<Option<u32>, Error> {
        match object {
            Object::Ordered(table, ordered) => Ok(ordered.next_place(at, low, table.len())),
            Object::Any(table) => self.schemas.next_place(table, number, at, (low, table.len())),
        }
    }

    /// The classes of names outside the list of which some may come next.
    pub(crate) fn other_classes(&mut self, object: &Object, at: At) -> Result<Vec<usize>, Error> {
        match object {
            Object::Ordered(table, ordered) => {
                let count = if ordered.may_be_other(at) { table.classes.len() } else { 0 };
                Ok((0..count).filter(|&class| ordered.classes[class].is_some()).collect())
            }
            Object::Any(table) => self.schemas.classes_at(table, at),
        }
    }

    /// What the value of a member may be, and where the object stands after each.
    pub(crate) fn steps(
        &mut self,
        object: &Object,
        at: At,
        name: Name,
    ) -> Result<SmallVec<[(ShapeId, At); 1]>, Error> {
        match object {
            Object::Ordered(_, ordered) => {
                let (value, at) = match name {
                    Name::Member(member) => {
                        (ordered.values[member as usize], ordered.after(at, member))
                    }
                    Name::Class(class) => (ordered.classes[class], ordered.after_other(at)),
                };
                Ok(value.map(|value| (value, at)).into_iter().collect())
            }
            Object::Any(table) => {
                let mut live = SmallVec::new();
                for (value, at) in self.schemas.steps(table, at, name)? {
                    if let Some(value) = self.schemas.live_shape(value)? {
                        live.push((value, at));
                    }
                }
                Ok(live)
            }
        }
    }

    /// The object and its state that a number stands for.
    fn state(&self, state: u32) -> Option<(u32, At, u32)> {
        match *self.rules.get(state) {
            Rule::Members { object, at, depth } => Some((object, at, depth)),
            Rule::Value { .. }
            | Rule::Call { .. }
            | Rule::Parameters { .. }
            | Rule::Item { .. }
            | Rule::Items { .. }
            | Rule::NextItem { .. }
            | Rule::AfterItem { .. } => None,
        }
    }

    /// Work while a text is written has a time limit of its own.
    fn begin(&mut self) {
        self.schemas.budget = Budget::new(self.limits, Cancel::new());
    }

    /// A value of a term's shape: what is short is written here, the rest is a rule of its own.
    pub(crate) fn value(
        &mut self,
        term: TermId,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        match self.schemas.live_shape(term)? {
            Some(shape) => self.value_of(shape, depth, exprs),
            None => Ok(exprs.nothing()),
        }
    }

    pub(crate) fn value_of(
        &mut self,
        id: ShapeId,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let shape = self.schemas.shape(id).clone();
        let is_short = shape.arrays.is_empty()
            && shape.objects == NO_OBJECT
            && shape.strings.iter().all(|string| {
                string.patterns.is_empty()
                    && string.values.as_ref().is_none_or(|values| values.len() <= FEW_STRINGS)
            });
        if is_short {
            return self.scalars(&shape, exprs);
        }
        let rule = self.rule(Rule::Value { shape: id, depth })?;
        Ok(exprs.call(rule))
    }

    fn scalars(&mut self, shape: &Shape, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut choices = Vec::new();
        let [null, no, yes] = self.schemas.options.notation.words();
        if shape.null {
            choices.push(exprs.bytes(null.as_bytes()));
        }
        if shape.bools != 0 {
            let words = [(1, no), (2, yes)];
            let words = words.into_iter().filter(|&(bit, _)| shape.bools & bit != 0);
            choices.push(exprs.one_of(words.map(|(_, word)| word.as_bytes())));
        }
        for number in &shape.numbers {
            let numbers = self.schemas.options.numbers;
            choices.push(number_text::number(exprs, number, numbers, &self.limits)?);
        }
        for string in &shape.strings {
            choices.push(self.string(string, exprs)?);
        }
        Ok(exprs.choice(&choices))
    }

    fn value_body(&mut self, id: ShapeId, depth: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let shape = self.schemas.shape(id).clone();
        let mut choices = vec![self.scalars(&shape, exprs)?];
        for (alternative, array) in shape.arrays.iter().enumerate() {
            if self.schemas.is_array_alive(array)? {
                let open = exprs.bytes(b"[");
                let rest = if array.is_plain() {
                    self.items(id, alternative, 0, depth, exprs)?
                } else {
                    let array = self.schemas.array_table(array)?;
                    let at = self.schemas.reach.array_tables[array as usize].start();
                    self.next_items(array, at, depth, false, exprs)?
                };
                choices.push(exprs.seq(&[open, rest]));
            }
        }
        for formula in self.schemas.formulas.alternatives(shape.objects) {
            if self.schemas.is_formula_alive(formula)? {
                let object = self.schemas.object_table(formula, shape.objects)?;
                let at = self.schemas.reach.tables[object as usize].start();
                let open = exprs.bytes(b"{");
                let state = self.rule(Rule::Members { object, at, depth })?;
                // An object that remembers names is a rule of its own: what is inside one name is
                // inside names of one object.
                let has_others = !self.schemas.reach.tables[object as usize].classes.is_empty();
                let rest =
                    if has_others { exprs.call(state) } else { self.members(state.0, exprs)? };
                choices.push(exprs.seq(&[open, rest]));
            }
        }
        Ok(exprs.choice(&choices))
    }

    /// The closing bracket, if one may come, or `more`, with what comes before each.
    pub(crate) fn close_or_more(
        &self,
        is_first: bool,
        close: Option<&[u8; 1]>,
        more: ExprId,
        depth: u32,
        exprs: &mut Exprs,
    ) -> ExprId {
        let space = &self.schemas.options.whitespace;
        let before = if is_first { space.begin(exprs, depth) } else { space.comma(exprs, depth) };
        let more = exprs.seq2(before, more);
        self.close_or(is_first, close, more, depth, exprs)
    }

    /// The same where `more` begins with what comes before it.
    pub(crate) fn close_or(
        &self,
        is_first: bool,
        close: Option<&[u8; 1]>,
        more: ExprId,
        depth: u32,
        exprs: &mut Exprs,
    ) -> ExprId {
        let space = &self.schemas.options.whitespace;
        let close = match close {
            Some(bracket) => {
                let end = if is_first { exprs.empty() } else { space.end(exprs, depth) };
                let bracket = exprs.bytes(bracket);
                exprs.seq(&[end, bracket])
            }
            None => exprs.nothing(),
        };
        let either = exprs.choice(&[close, more]);
        let lead = space.lead(exprs);
        exprs.seq(&[lead, either])
    }

    /// The rest of an object in a state, with its closing bracket.
    fn members(&mut self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let Some((number, at, depth)) = self.state(state) else {
            return Ok(exprs.nothing());
        };
        let object = self.object(number)?;
        let table = object.table().clone();
        let high = table.len();
        let close = self.may_close(&object, at).then_some(b"}");
        if self.schemas.options.notation != Notation::Json {
            let more = self.members_in_notation(&object, number, at, depth, exprs)?;
            return Ok(self.close_or_more(at.is_first, close, more, depth, exprs));
        }
        let has_listed = self.next_place(&object, number, at, 0)?.is_some();
        let classes = self.other_classes(&object, at)?;
        let mut names = Vec::new();
        let is_open = matches!(classes[..], [class] if table.classes[class].is_every_name());
        if is_open || has_listed {
            names.push(exprs.names(state, 0, high, 0, is_open));
        }
        if !is_open {
            for class in classes {
                names.push(self.class_member(&object, number, at, depth, class, exprs)?);
            }
        }
        let quote = exprs.bytes(b"\"");
        let names = exprs.choice(&names);
        let more = exprs.seq2(quote, names);
        Ok(self.close_or_more(at.is_first, close, more, depth, exprs))
    }

    /// A name of a class, its closing quote, its value and the rest of the object.
    fn class_member(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        depth: u32,
        class: usize,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let table = object.table();
        let mut budget = self.schemas.budget.clone();
        let class_names = &table.classes[class];
        let (schemas, members) = (&self.schemas, &table.members);
        let spelling = schemas.options.escapes.listed();
        let name =
            text_exprs::other_name(schemas, class_names, members, spelling, exprs, &mut budget)?;
        let name = exprs.other_name(name);
        let rest = self.after(object, number, at, depth, Name::Class(class), exprs)?;
        Ok(exprs.seq2(name, rest))
    }

    /// What follows the closing quote of a name.
    fn after(
        &mut self,
        object: &Object,
        number: u32,
        at: At,
        depth: u32,
        name: Name,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let steps = self.steps(object, at, name)?;
        let mut choices = Vec::with_capacity(steps.len());
        for (value, at) in steps {
            choices.push(self.after_value(value, number, at, depth, exprs)?);
        }
        Ok(exprs.choice(&choices))
    }

    /// The colon, a value and the rest of the object.
    pub(crate) fn after_value(
        &mut self,
        value: ShapeId,
        object: u32,
        at: At,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let space = self.schemas.options.whitespace.clone();
        let colon = space.colon(exprs);
        let value = self.value_of(value, space.inside(depth), exprs)?;
        let state = self.rule(Rule::Members { object, at, depth })?;
        let rest = exprs.call(state);
        Ok(exprs.seq(&[colon, value, rest]))
    }

    fn after_name(
        &mut self,
        state: u32,
        name: impl FnOnce(&ObjectTable) -> Option<Name>,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let Some((number, at, depth)) = self.state(state) else {
            return Ok(exprs.nothing());
        };
        let object = self.object(number)?;
        match name(object.table()) {
            Some(name) => self.after(&object, number, at, depth, name, exprs),
            None => Ok(exprs.nothing()),
        }
    }
}

impl Rules for SchemaRules {
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut machine = self.machine();
        machine.begin();
        match *machine.rules.get(rule.0) {
            Rule::Value { shape, depth } => machine.value_body(shape, depth, exprs),
            Rule::Members { .. } => machine.members(rule.0, exprs),
            Rule::Call { shape } => Ok(machine.call(shape, exprs)?.0),
            Rule::Parameters { object, at } => machine.more_arguments(object, at, exprs),
            Rule::Item { shape } => machine.item_in_marks(shape, exprs),
            Rule::Items { shape, alternative, count, depth } => {
                machine.items(shape, alternative as usize, count as usize, depth, exprs)
            }
            Rule::NextItem { array, at, depth, .. } => machine.next_item(array, at, depth, exprs),
            Rule::AfterItem { array, at, depth, is_new } => {
                machine.after_item(array, at, depth, is_new, exprs)
            }
        }
    }

    fn name(&self, rule: RuleId) -> String {
        match *self.machine().rules.get(rule.0) {
            Rule::Value { shape, .. } => format!("value_{}", shape.0),
            Rule::Members { object, at, .. } => format!("object_{object}_{}", at.next),
            Rule::Call { shape } => format!("call_{}", shape.0),
            Rule::Parameters { object, at } => format!("parameters_{object}_{}", at.next),
            Rule::Item { shape } => format!("item_{}", shape.0),
            Rule::Items { shape, count, .. } => format!("array_{}_{count}", shape.0),
            Rule::NextItem { array, at, .. } => format!("items_{array}_{}", at.count),
            Rule::AfterItem { array, at, .. } => format!("after_item_{array}_{}", at.count),
        }
    }

    fn special_tokens(&self) -> Vec<String> {
        self.machine().schemas.options.tokens.clone()
    }

    fn left_behind(&self) -> usize {
        self.left_behind.load(Ordering::Relaxed)
    }

    fn renewed(&self) -> Result<Option<Arc<dyn Rules>>, Error> {
        let (text, options, limits) = {
            let machine = self.machine();
            let text: Arc<str> = machine.schemas.sources.text().into();
            (text, machine.schemas.options.clone(), machine.limits)
        };
        let budget = Budget::new(limits, Cancel::new());
        let (schemas, shape) = Schemas::compiled(&text, &options, &budget)?;
        Ok(Some(Arc::new(Self::new(schemas, shape)?)))
    }

    /// No body begins with a rule: a value begins with a token of its own, the rest of an object
    /// or an array with a comma or a bracket.
    fn rank(&self, _rule: RuleId) -> u32 {
        0
    }

    fn object_of(&self, state: u32) -> u32 {
        self.machine().state(state).map_or(0, |(object, ..)| object)
    }

    fn accepts_empty(&self) -> bool {
        self.accepts_empty
    }

    fn numbers(&self) -> u32 {
        self.numbers
    }

    fn name_spelling(&self) -> Option<Spelling> {
        Some(self.name_spelling)
    }

    fn names(&self, object: u32, exprs: &mut Exprs) -> LiteralsId {
        let table = self.machine().schemas.reach.tables[object as usize].clone();
        let names: Vec<LiteralId> = table.names.iter().map(|name| exprs.literal_id(name)).collect();
        exprs.literal_list(names)
    }

    fn next_name(&self, state: u32, low: u32, high: u32) -> Result<Option<u32>, Error> {
        let mut machine = self.machine();
        machine.begin();
        let Some((number, at, _)) = machine.state(state) else {
            return Ok(None);
        };
        Ok(match machine.object(number)? {
            Object::Ordered(_, ordered) => ordered.next_place(at, low, high),
            Object::Any(table) => machine.schemas.next_place(&table, number, at, (low, high))?,
        })
    }

    fn after_name(&self, state: u32, name: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut machine = self.machine();
        machine.begin();
        let member = |table: &ObjectTable| Some(Name::Member(table.member_at[name as usize]));
        machine.after_name(state, member, exprs)
    }

    fn after_item(&self, rule: RuleId, item: &[u8]) -> Result<RuleId, Error> {
        let mut machine = self.machine();
        machine.begin();
        let Rule::NextItem { array, at, depth, is_new: true } = *machine.rules.get(rule.0) else {
            return Ok(rule);
        };
        let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
        let options = &machine.schemas.options;
        let item = options.notation.json_of(item, &options.tokens);
        let item = item.trim_end_matches(is_space).trim_end_matches(',').trim_matches(is_space);
        let value = machine.schemas.constant_of(item)?;
        let at = machine.schemas.with_item(at, value);
        machine.rule(Rule::NextItem { array, at, depth, is_new: false })
    }

    fn after_other_name(&self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let mut machine = self.machine();
        machine.begin();
        // Only where all other names are one class.
        let class = |table: &ObjectTable| {
            table.classes.iter().position(NameClass::is_every_name).map(Name::Class)
        };
        machine.after_name(state, class, exprs)
    }
}
