//! Grammars that supply rules to another one: each keeps its own numbers, counted from a place of
//! its own in the whole.

use std::sync::Arc;

use crate::error::{Error, Location};
use crate::grammar::arena::Exprs;
use crate::grammar::expr::{ExprId, LiteralsId, RuleId, Spelling};
use crate::grammar::{Grammar, Marks, RuleSet, Rules};
use crate::interner::index;

/// Numbers from here on stand for supplied grammars in a [`RuleSet`], and in the whole there are
/// fewer.
const SUPPLIED: u32 = 1 << 31;

impl RuleId {
    /// The place of the grammar that supplies this rule of a [`RuleSet`], if one does.
    pub(crate) fn supplied(self) -> Option<usize> {
        self.0.checked_sub(SUPPLIED).map(|place| place as usize)
    }
}

impl RuleSet {
    /// Rules that are all written down.
    #[must_use]
    pub fn new(exprs: Exprs, rules: Vec<(String, ExprId)>, start: RuleId) -> Self {
        Self { exprs, rules, start, marks: Vec::new(), supplied: Vec::new() }
    }

    /// The texts of another grammar, as an expression for the bodies of these rules. It keeps its
    /// own rules and makes them when they are first called. No `&`, `-` or `~` may stand above it.
    ///
    /// ```
    /// use stencilm::Budget;
    /// use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
    /// use stencilm::grammar::{Exprs, RuleId, RuleSet};
    ///
    /// let mut budget = Budget::default();
    /// let value = grammar(r#"{"const": 1}"#, &JsonSchemaOptions::default(), &mut budget)?;
    /// let mut rules = RuleSet::new(Exprs::default(), Vec::new(), RuleId(0));
    /// let value = rules.supply(&value)?;
    /// let key = rules.exprs.bytes(b"x = ");
    /// let body = rules.exprs.seq(&[key, value]);
    /// rules.rules.push(("root".to_owned(), body));
    /// let whole = stencilm::from_rules(rules, &mut budget)?;
    /// assert!(whole.show(1)?.starts_with("root ::= \"x = \" part_1.value_"));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    ///
    /// # Errors
    /// Its member names are spelled otherwise than those of a grammar that was supplied before, or
    /// a limit: `rules` of all grammars together must stay below 2³¹.
    pub fn supply(&mut self, grammar: &Grammar) -> Result<ExprId, Error> {
        let spelling = |grammar: &Grammar| grammar.rules.name_spelling();
        if let Some(own) = spelling(grammar)
            && self.supplied.iter().filter_map(spelling).any(|other| other != own)
        {
            let feature = "JSON Schemas with different `escapes` in one grammar";
            return Err(Error::unsupported(feature, Location::Whole));
        }
        let is_same = |known: &Grammar| {
            Arc::ptr_eq(&known.rules, &grammar.rules) && known.start == grammar.start
        };
        let place = if let Some(place) = self.supplied.iter().position(is_same) {
            place
        } else {
            self.supplied.push(grammar.clone());
            starts(0, &self.supplied)?;
            self.supplied.len() - 1
        };
        let call = self.exprs.call(RuleId(SUPPLIED + index(place)));
        if !grammar.rules.accepts_empty() {
            return Ok(call);
        }
        let mut scratch = Exprs::default();
        if grammar.rules.body(grammar.start, &mut scratch)? == scratch.nothing() {
            return Ok(self.exprs.empty());
        }
        Ok(self.exprs.optional(call))
    }
}

impl Exprs {
    /// Runs `make`, which counts the rules and the states that it names from `first` on.
    pub(crate) fn counted_from<T>(&mut self, first: u32, make: impl FnOnce(&mut Self) -> T) -> T {
        self.first_number += first;
        let made = make(self);
        self.first_number -= first;
        made
    }
}

/// The number of the start of each grammar behind the first `own` rules.
///
/// # Errors
/// They may come to more rules than there are numbers.
pub(crate) fn starts(own: u32, supplied: &[Grammar]) -> Result<Vec<RuleId>, Error> {
    let mut first = own;
    let mut starts = Vec::with_capacity(supplied.len());
    for grammar in supplied {
        let end = first.checked_add(grammar.rules.numbers()).filter(|&end| end < SUPPLIED);
        starts.push(RuleId(first.saturating_add(grammar.start.0)));
        first = end.ok_or_else(|| Error::limit("rules", SUPPLIED as usize))?;
    }
    Ok(starts)
}

/// The rules of one grammar in the whole.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is added to the numbers of its rules, states and objects, and to its ranks.
    first: u32,
    rules: Arc<dyn Rules>,
}

/// The rules of a grammar and of those that it calls.
#[derive(Debug)]
pub(crate) struct Composite {
    /// Those that call before those that are called, by their first numbers; none is put together
    /// from others.
    parts: Vec<Part>,
    numbers: u32,
    name_spelling: Option<Spelling>,
}

impl Composite {
    /// `rules`, whose bodies call the starts of the supplied grammars as [`starts`] numbers them.
    pub(crate) fn new(rules: Arc<dyn Rules>, supplied: &[Grammar]) -> Self {
        let mut whole = Self { parts: Vec::new(), numbers: 0, name_spelling: None };
        whole.add(rules);
        for grammar in supplied {
            whole.add(grammar.rules.clone());
        }
        whole
    }

    /// Parts of parts are added one by one: nothing nests.
    fn add(&mut self, rules: Arc<dyn Rules>) {
        let first = self.numbers;
        self.numbers += rules.numbers();
        self.name_spelling = self.name_spelling.or(rules.name_spelling());
        match rules.parts() {
            [] => self.parts.push(Part { first, rules }),
            parts => self.parts.extend(
                parts
                    .iter()
                    .map(|part| Part { first: first + part.first, rules: part.rules.clone() }),
            ),
        }
    }

    /// The place of the part that has this number.
    fn place(&self, number: u32) -> usize {
        self.parts.partition_point(|part| part.first <= number).saturating_sub(1)
    }

    /// The part that has this number, and which number it has there.
    fn part(&self, number: u32) -> (&Part, u32) {
        let part = &self.parts[self.place(number)];
        (part, number - part.first)
    }
}

impl Rules for Composite {
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let (part, rule) = self.part(rule.0);
        exprs.counted_from(part.first, |exprs| part.rules.body(RuleId(rule), exprs))
    }

    fn name(&self, rule: RuleId) -> String {
        let place = self.place(rule.0);
        let part = &self.parts[place];
        let name = part.rules.name(RuleId(rule.0 - part.first));
        if place == 0 { name } else { format!("part_{place}.{name}") }
    }

    fn rank(&self, rule: RuleId) -> u32 {
        let (part, rule) = self.part(rule.0);
        part.first + part.rules.rank(RuleId(rule))
    }

    fn accepts_empty(&self) -> bool {
        self.parts[0].rules.accepts_empty()
    }

    fn numbers(&self) -> u32 {
        self.numbers
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn special_tokens(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.parts.iter().flat_map(|part| part.rules.special_tokens()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn marks(&self) -> Marks {
        let of = |part: &Part| {
            let first = part.first;
            part.rules.marks().into_iter().map(move |(rule, mark)| (RuleId(first + rule.0), mark))
        };
        self.parts.iter().flat_map(of).collect()
    }

    fn left_behind(&self) -> usize {
        self.parts.iter().map(|part| part.rules.left_behind()).sum()
    }

    fn renewed(&self) -> Result<Option<Arc<dyn Rules>>, Error> {
        let mut parts = self.parts.clone();
        let mut is_new = false;
        for part in &mut parts {
            if part.rules.left_behind() > 0
                && let Some(rules) = part.rules.renewed()?
            {
                (part.rules, is_new) = (rules, true);
            }
        }
        let whole = Self { parts, numbers: self.numbers, name_spelling: self.name_spelling };
        Ok(is_new.then(|| Arc::new(whole) as Arc<dyn Rules>))
    }

    fn object_of(&self, state: u32) -> u32 {
        let (part, state) = self.part(state);
        part.first + part.rules.object_of(state)
    }

    fn name_spelling(&self) -> Option<Spelling> {
        self.name_spelling
    }

    fn names(&self, object: u32, exprs: &mut Exprs) -> LiteralsId {
        let (part, object) = self.part(object);
        part.rules.names(object, exprs)
    }

    fn next_name(&self, state: u32, low: u32, high: u32) -> Result<Option<u32>, Error> {
        let (part, state) = self.part(state);
        part.rules.next_name(state, low, high)
    }

    fn after_name(&self, state: u32, name: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let (part, state) = self.part(state);
        exprs.counted_from(part.first, |exprs| part.rules.after_name(state, name, exprs))
    }

    fn after_item(&self, rule: RuleId, item: &[u8]) -> Result<RuleId, Error> {
        let (part, rule) = self.part(rule.0);
        Ok(RuleId(part.first + part.rules.after_item(RuleId(rule), item)?.0))
    }

    fn after_other_name(&self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let (part, state) = self.part(state);
        exprs.counted_from(part.first, |exprs| part.rules.after_other_name(state, exprs))
    }
}
