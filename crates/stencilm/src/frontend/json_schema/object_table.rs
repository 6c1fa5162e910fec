//! The objects of one formula: their names, and what each part of the formula asks of each name.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::name_set::{NameAtom, NameSet};
use crate::frontend::json_schema::options::KeyOrder;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, Exists, NEVER, ObjectShape, Refusal, StringShape, TermId, TextId,
};
use crate::grammar::{UNBOUNDED, listed};
use crate::interner::index;

/// Names up to which a class of names that are not listed becomes a list.
const FEW_NAMES: usize = 64;

/// What is known of a formula once its names are sorted.
#[derive(Debug)]
pub(crate) struct ObjectTable {
    pub(crate) formula: FormulaId,
    /// The names as they stand in lists, sorted.
    pub(crate) names: Vec<Box<[u8]>>,
    /// The member at each place of the sorted names, and the place of each member.
    pub(crate) member_at: Vec<u32>,
    pub(crate) place_of: Vec<u32>,
    /// The members by name: first those that come in this order, then those in any.
    pub(crate) members: Vec<TextId>,
    pub(crate) ordered: u32,
    /// What the formula is made of.
    pub(crate) leaves: FxHashMap<FormulaId, Leaf>,
    /// The members of the objects that it must not be.
    pub(crate) constants: FxHashMap<ConstantId, Vec<(u32, ConstantId)>>,
    /// The names that are not listed.
    pub(crate) classes: Vec<NameClass>,
    /// How many names that are not listed there are; [`UNBOUNDED`] for more than there can be
    /// rules.
    pub(crate) others: u32,
    /// How far members have to be counted.
    pub(crate) most_counted: u32,
    /// Whether some part asks for members that it does not name, or counts them: then all parts
    /// depend on each other.
    pub(crate) is_entangled: bool,
}

/// Names that are not listed and for which every part of the formula asks the same.
#[derive(Debug)]
pub(crate) struct NameClass {
    set: NameSet,
    /// The names.
    pub(crate) strings: Vec<StringShape>,
}

/// What one part of a formula asks of each member and of each class.
#[derive(Debug)]
pub(crate) enum Leaf {
    Rules {
        values: Vec<TermId>,
        is_required: Vec<bool>,
        /// Those members.
        required: Vec<u32>,
        /// The members of which something is asked.
        touched: Vec<u32>,
        classes: Vec<TermId>,
        min: u32,
        max: u32,
    },
    Exists {
        value: TermId,
        members: Vec<bool>,
        classes: Vec<bool>,
    },
}

impl NameClass {
    /// Whether every name that is not listed is in the class.
    pub(crate) fn is_every_name(&self) -> bool {
        self.strings.contains(&StringShape::default())
    }
}

impl ObjectTable {
    /// Whether the names are those of one list of rules, in its order.
    pub(crate) fn is_simple(&self) -> bool {
        self.leaves.len() == 1
            && self.constants.is_empty()
            && self.ordered as usize == self.members.len()
            && self.leaves.values().all(|leaf| matches!(leaf, Leaf::Rules { .. }))
    }

    pub(crate) fn len(&self) -> u32 {
        index(self.members.len())
    }
}

impl Schemas {
    /// The table of a formula that is no union; it is one alternative of `whole`, whose order of
    /// names holds for all alternatives.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn object_table(
        &mut self,
        formula: FormulaId,
        whole: FormulaId,
    ) -> Result<u32, Error> {
        if let Some(&known) = self.reach.table_ids.get(&(formula, whole)) {
            return Ok(known);
        }
        // Objects have numbers as rules do.
        if self.reach.tables.len() >= self.budget.limits.rules {
            return Err(Error::limit("rules", self.budget.limits.rules));
        }
        let table = self.make_table(formula, whole)?;
        let id = index(self.reach.tables.len());
        self.reach.tables.push(Arc::new(table));
        self.reach.table_ids.insert((formula, whole), id);
        Ok(id)
    }

    /// The place of each name that some alternative declares: each has them in its own order as far
    /// as the earlier ones leave that open.
    fn name_order(&mut self, whole: FormulaId) -> Arc<FxHashMap<TextId, u32>> {
        if let Some(known) = self.reach.name_orders.get(&whole) {
            return known.clone();
        }
        let (objects, ..) = self.leaves_of(whole);
        let mut lists: Vec<Vec<TextId>> = Vec::with_capacity(objects.len());
        for (_, object) in &objects {
            let declared = object.members.iter().filter(|member| member.is_declared);
            lists.push(declared.map(|member| member.name).collect());
        }
        let places = one_order(&lists);
        let places = Arc::new(places);
        self.reach.name_orders.insert(whole, places.clone());
        places
    }

    fn make_table(&mut self, formula: FormulaId, whole: FormulaId) -> Result<ObjectTable, Error> {
        let (objects, exists, except) = self.leaves_of(formula);
        let mut names: Vec<TextId> = Vec::new();
        let mut seen: FxHashSet<TextId> = FxHashSet::default();
        for is_declared in [true, false] {
            let members = objects.iter().flat_map(|(_, object)| &object.members);
            let members = members.filter(|member| member.is_declared == is_declared);
            names.extend(members.map(|member| member.name).filter(|&name| seen.insert(name)));
        }
        let excepted = exists.iter().flat_map(|(_, exists)| exists.except.iter());
        names.extend(excepted.copied().filter(|&name| seen.insert(name)));
        let excepted = except.iter().flat_map(|&known| self.constants.members(known));
        names.extend(excepted.map(|&(name, _)| name).filter(|&name| seen.insert(name)));
        if formula != whole {
            let order = self.name_order(whole);
            names.sort_by_key(|name| order.get(name).copied().unwrap_or(u32::MAX));
        }
        let mut ordered = match self.options.key_order {
            KeyOrder::Declared => names.len(),
            KeyOrder::Any => 0,
        };
        let is_closed = self.formulas.conjuncts(formula).iter().any(|&part| {
            matches!(self.formulas.get(part), Formula::Object(object) if object.is_closed())
        });
        let mut classes = if is_closed { Vec::new() } else { self.classes_of(&objects, &exists)? };
        let (few, many) = self.few_names(classes, &seen)?;
        classes = many;
        if few.is_empty() && self.options.key_order == KeyOrder::Declared {
            ordered = names.len();
        }
        names.extend(few);
        let mut leaves = FxHashMap::default();
        for (id, object) in &objects {
            leaves.insert(*id, self.rules_leaf(object, &names, &classes)?);
        }
        for (id, exists) in &exists {
            leaves.insert(*id, self.exists_leaf(exists, &names, &classes)?);
        }
        let mut constants = FxHashMap::default();
        if !except.is_empty() {
            let place = |(at, &name): (usize, &TextId)| (name, index(at));
            let places: FxHashMap<TextId, u32> = names.iter().enumerate().map(place).collect();
            for known in except {
                let members = self.constants.members(known).iter();
                let members = members.map(|&(name, value)| (places[&name], value)).collect();
                constants.insert(known, members);
            }
        }
        let most_counted = objects.iter().map(|(_, object)| counted(object)).max().unwrap_or(0);
        merge_classes(&mut classes, &mut leaves);
        drop_refused(&mut classes, &mut leaves);
        let spelling = self.options.escapes.listed();
        let mut sorted: Vec<(Box<[u8]>, u32)> = Vec::with_capacity(names.len());
        for (at, &name) in names.iter().enumerate() {
            sorted.push((listed(self.texts.get(name), spelling).into(), index(at)));
        }
        sorted.sort_unstable();
        let (sorted, member_at): (Vec<Box<[u8]>>, Vec<u32>) = sorted.into_iter().unzip();
        let mut place_of = vec![0; names.len()];
        for (place, &member) in member_at.iter().enumerate() {
            place_of[member as usize] = index(place);
        }
        let others = self.count_others(&classes, &names)?;
        Ok(ObjectTable {
            formula,
            others,
            names: sorted,
            member_at,
            place_of,
            ordered: index(ordered),
            members: names,
            is_entangled: most_counted > 0 || !exists.is_empty() || !constants.is_empty(),
            leaves,
            constants,
            classes,
            most_counted,
        })
    }

    fn count_others(&mut self, classes: &[NameClass], listed: &[TextId]) -> Result<u32, Error> {
        if classes.iter().any(NameClass::is_every_name) {
            return Ok(UNBOUNDED);
        }
        let strings = classes.iter().flat_map(|class| &class.strings);
        let most = index(self.budget.limits.rules);
        let listed = (listed, &self.texts);
        let count = self.patterns.count(strings, listed, most, &mut self.budget)?;
        Ok(if count < most { count } else { UNBOUNDED })
    }

    #[expect(clippy::type_complexity, reason = "lists of parts with their ids")]
    pub(crate) fn leaves_of(
        &self,
        formula: FormulaId,
    ) -> (Vec<(FormulaId, Arc<ObjectShape>)>, Vec<(FormulaId, Arc<Exists>)>, Vec<ConstantId>) {
        let (mut objects, mut exists, mut except) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        let mut todo = vec![formula];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.formulas.get(id) {
                Formula::Never => {}
                Formula::Any => objects.push((id, Arc::new(ObjectShape::default()))),
                Formula::Object(object) => objects.push((id, object.clone())),
                Formula::Exists(leaf) => exists.push((id, leaf.clone())),
                Formula::Except(constants) => except.extend_from_slice(constants),
                Formula::And(parts) | Formula::Or(parts) => todo.extend(parts.iter().rev()),
            }
        }
        (objects, exists, except)
    }

    fn classes_of(
        &mut self,
        objects: &[(FormulaId, Arc<ObjectShape>)],
        exists: &[(FormulaId, Arc<Exists>)],
    ) -> Result<Vec<NameClass>, Error> {
        let rules = objects.iter().flat_map(|(_, object)| &object.rules).map(|rule| &rule.set);
        let sets = rules.chain(exists.iter().map(|(_, exists)| &exists.set));
        let mut atoms: Vec<NameAtom> = Vec::new();
        for &(atom, _) in sets.flat_map(NameSet::atoms) {
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
        if let Some(classes) = self.alike(objects, exists, &atoms)? {
            return Ok(classes);
        }
        let classes = self.name_classes(&atoms)?;
        Ok(classes.into_iter().map(|(set, strings)| NameClass { set, strings }).collect())
    }

    /// One class for all names that match some pattern where all patterns ask for the same: which
    /// of them match need not be told apart.
    fn alike(
        &mut self,
        objects: &[(FormulaId, Arc<ObjectShape>)],
        exists: &[(FormulaId, Arc<Exists>)],
        atoms: &[NameAtom],
    ) -> Result<Option<Vec<NameClass>>, Error> {
        let ([(_, object)], [], true) = (objects, exists, atoms.len() > 1) else {
            return Ok(None);
        };
        let mut patterns = Vec::with_capacity(atoms.len());
        let mut value = None;
        for rule in &object.rules {
            match rule.set.atoms() {
                &[(NameAtom::Pattern(pattern), true)] if self.patterns.is_plain(pattern) => {
                    if *value.get_or_insert(rule.value) != rule.value {
                        return Ok(None);
                    }
                    patterns.push(pattern);
                }
                others if others.len() == atoms.len() && others.iter().all(|atom| !atom.1) => {}
                _ => return Ok(None),
            }
        }
        if patterns.len() != atoms.len() {
            return Ok(None);
        }
        let string = |patterns| StringShape { patterns, ..StringShape::default() };
        let matching = patterns.iter().map(|&pattern| string(vec![(pattern, true)]));
        // All patterns count as matching: that asks for their value once, and for nothing else.
        let mut classes = vec![NameClass {
            set: NameSet::of(atoms.iter().map(|&atom| (atom, true))),
            strings: matching.collect(),
        }];
        let mut none: Vec<_> = patterns.iter().map(|&pattern| (pattern, false)).collect();
        none.sort_unstable();
        let others = string(none);
        if self.is_string_possible(&others)? {
            let set = NameSet::of(atoms.iter().map(|&atom| (atom, false)));
            classes.push(NameClass { set, strings: vec![others] });
        }
        Ok(Some(classes))
    }

    /// Takes small classes apart into their names: those not listed yet, and the other classes.
    fn few_names(
        &mut self,
        classes: Vec<NameClass>,
        listed: &FxHashSet<TextId>,
    ) -> Result<(Vec<TextId>, Vec<NameClass>), Error> {
        let (mut few, mut many) = (Vec::new(), Vec::with_capacity(classes.len()));
        for class in classes {
            let mut words: Option<Vec<TextId>> = Some(Vec::new());
            for string in &class.strings {
                let more = self.few_strings(string, FEW_NAMES)?;
                words = words.zip(more).map(|(mut words, more)| {
                    words.extend(more);
                    words
                });
            }
            match words {
                Some(words) => {
                    for word in words {
                        if !listed.contains(&word) && !few.contains(&word) {
                            few.push(word);
                        }
                    }
                }
                None => many.push(class),
            }
        }
        Ok((few, many))
    }

    /// The strings of a shape if there are no more than `most`.
    pub(crate) fn few_strings(
        &mut self,
        string: &StringShape,
        most: usize,
    ) -> Result<Option<Vec<TextId>>, Error> {
        if let Some(values) = &string.values {
            return Ok((values.len() <= most).then(|| values.to_vec()));
        }
        if string.patterns.is_empty() && string.max > 0 {
            return Ok(None);
        }
        let words = self.patterns.few(string, most, &self.texts, &mut self.budget)?;
        Ok(words.map(|words| words.iter().map(|word| self.texts.id(word)).collect()))
    }

    fn rules_leaf(
        &mut self,
        object: &ObjectShape,
        names: &[TextId],
        classes: &[NameClass],
    ) -> Result<Leaf, Error> {
        let known: FxHashMap<TextId, usize> =
            object.members.iter().enumerate().map(|(at, member)| (member.name, at)).collect();
        let mut values = Vec::with_capacity(names.len());
        let mut is_required = vec![false; names.len()];
        let (mut touched, mut required) = (Vec::new(), Vec::new());
        for (at, &name) in names.iter().enumerate() {
            self.budget.tick()?;
            let value = match known.get(&name) {
                Some(&place) => {
                    is_required[at] = object.members[place].is_required;
                    object.members[place].value
                }
                None => self.value_of_other(object, name)?,
            };
            if is_required[at] {
                required.push(index(at));
            }
            if value != ANY || is_required[at] {
                touched.push(index(at));
            }
            values.push(value);
        }
        let mut class_values = Vec::with_capacity(classes.len());
        for class in classes {
            let rules = object.rules.iter().filter(|rule| rule.set.covers(&class.set));
            let parts: Vec<TermId> = rules.map(|rule| rule.value).collect();
            let value = self.terms.and(&parts);
            if value != NEVER {
                self.check_names(class)?;
            }
            class_values.push(value);
        }
        let (min, max) = (object.min, object.max);
        let classes = class_values;
        Ok(Leaf::Rules { values, is_required, required, touched, classes, min, max })
    }

    /// Names that are known only more narrowly cannot be told from the others.
    fn check_names(&self, class: &NameClass) -> Result<(), Error> {
        match class.strings.iter().find_map(|string| string.refusal) {
            Some(Refusal { feature, place }) => {
                Err(Error::unsupported(feature, self.sources.location(place)))
            }
            None => Ok(()),
        }
    }

    fn exists_leaf(
        &mut self,
        exists: &Exists,
        names: &[TextId],
        classes: &[NameClass],
    ) -> Result<Leaf, Error> {
        let mut members = Vec::with_capacity(names.len());
        for &name in names {
            let is_excepted = exists.except.binary_search(&name).is_ok();
            members.push(!is_excepted && self.is_named(&exists.set, name)?);
        }
        let classes: Vec<bool> =
            classes.iter().map(|class| exists.set.covers(&class.set)).collect();
        Ok(Leaf::Exists { value: exists.value, members, classes })
    }
}

/// Leaves out classes whose names no object may have.
fn drop_refused(classes: &mut Vec<NameClass>, leaves: &mut FxHashMap<FormulaId, Leaf>) {
    if leaves.len() != 1 {
        return;
    }
    for leaf in leaves.values_mut() {
        if let Leaf::Rules { classes: values, .. } = leaf {
            let mut flags = values.iter().map(|&value| value != NEVER);
            classes.retain(|_| flags.next() == Some(true));
            values.retain(|&value| value != NEVER);
        }
    }
}

/// How far a list of rules counts members.
fn counted(object: &ObjectShape) -> u32 {
    if object.max < UNBOUNDED { object.max.max(object.min) } else { object.min }
}

/// Joins classes for which all leaves ask the same.
fn merge_classes(classes: &mut Vec<NameClass>, leaves: &mut FxHashMap<FormulaId, Leaf>) {
    let asks = |at: usize, leaves: &FxHashMap<FormulaId, Leaf>| -> Vec<u32> {
        let mut asked: Vec<(FormulaId, u32)> = leaves
            .iter()
            .map(|(&id, leaf)| match leaf {
                Leaf::Rules { classes, .. } => (id, classes[at].0),
                Leaf::Exists { classes, .. } => (id, u32::from(classes[at])),
            })
            .collect();
        asked.sort_unstable();
        asked.into_iter().map(|(_, asked)| asked).collect()
    };
    let mut kept: Vec<usize> = Vec::new();
    for at in 0..classes.len() {
        let own = asks(at, leaves);
        match kept.iter().copied().find(|&known| asks(known, leaves) == own) {
            Some(known) => {
                let strings = std::mem::take(&mut classes[at].strings);
                classes[known].strings.extend(strings);
            }
            None => kept.push(at),
        }
    }
    if kept.len() == classes.len() {
        return;
    }
    let mut place = 0;
    classes.retain(|_| {
        place += 1;
        kept.contains(&(place - 1))
    });
    for leaf in leaves.values_mut() {
        match leaf {
            Leaf::Rules { classes, .. } => *classes = kept.iter().map(|&at| classes[at]).collect(),
            Leaf::Exists { classes, .. } => *classes = kept.iter().map(|&at| classes[at]).collect(),
        }
    }
}

/// One order for all lists: each has its names in its own order as far as no others, or earlier
/// ones, contradict.
fn one_order(lists: &[Vec<TextId>]) -> FxHashMap<TextId, u32> {
    let mut first: FxHashMap<TextId, usize> = FxHashMap::default();
    let mut names: Vec<TextId> = Vec::new();
    for &name in lists.iter().flatten() {
        first.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    let mut missing = vec![0_usize; names.len()];
    for pair in lists.iter().flat_map(|list| list.windows(2)) {
        after[first[&pair[0]]].push(first[&pair[1]]);
        missing[first[&pair[1]]] += 1;
    }
    let mut ready: BTreeSet<usize> = (0..names.len()).filter(|&at| missing[at] == 0).collect();
    let mut places = FxHashMap::default();
    let mut unplaced = 0;
    while places.len() < names.len() {
        // Where lists contradict each other, the name that comes first in the schema does.
        while places.contains_key(&names[unplaced]) {
            unplaced += 1;
        }
        let at = ready.pop_first().unwrap_or(unplaced);
        let next = index(places.len());
        places.insert(names[at], next);
        for &later in &after[at] {
            missing[later] = missing[later].saturating_sub(1);
            if missing[later] == 0 && !places.contains_key(&names[later]) {
                ready.insert(later);
            }
        }
    }
    places
}
