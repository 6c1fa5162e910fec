//! Whether an object can still be completed: a search for one choice among the alternatives of a
//! formula whose members all have values. It stops at the first.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::object_states::At;
use crate::frontend::json_schema::object_table::{Leaf, ObjectTable};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, NEVER, TermId};
use crate::grammar::UNBOUNDED;

/// Choices made in the order of the formula; a search that takes more looks ahead.
const EASY_STEPS: usize = 64;

/// What the parts that were chosen ask for, together.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) table: Arc<ObjectTable>,
    pub(crate) at: At,
    /// What is asked of a member, and whether it must come.
    pub(crate) asked: FxHashMap<u32, (TermId, bool)>,
    /// What `asked` held before, to be put back.
    trail: Vec<(u32, Option<(TermId, bool)>)>,
    /// The lists of rules, and the members that must exist, that were chosen.
    rules: Vec<FormulaId>,
    exists: Vec<FormulaId>,
    /// The objects that it must not be.
    pub(crate) except: Vec<ConstantId>,
    /// Unions of which nothing was chosen yet.
    open: Vec<FormulaId>,
    steps: usize,
}

/// A union under way.
#[derive(Debug)]
struct Choice {
    alternatives: Vec<FormulaId>,
    next: usize,
    /// How much there was of everything before.
    trail: usize,
    rules: usize,
    exists: usize,
    except: usize,
    open: Vec<FormulaId>,
}

/// A member that fulfils an [`Leaf::Exists`]: a listed one, or one of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Witness {
    Member(u32),
    /// The how-many-th of a class.
    Fresh(usize, usize),
}

impl Schemas {
    /// Whether some object has a formula that is no union.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn is_formula_alive(&mut self, formula: FormulaId) -> Result<bool, Error> {
        if let Formula::Object(object) = self.formulas.get(formula).clone() {
            let mut count = 0;
            for member in &object.members {
                let is_alive = member.value == ANY || self.is_alive(member.value)?;
                if member.is_required && !is_alive {
                    return Ok(false);
                }
                count += u32::from(is_alive);
            }
            if count >= object.min {
                return Ok(true);
            }
        }
        // Asked of each two alternatives that meet: most need no table of names to be answered.
        if self.may_be_empty(formula) {
            return Ok(true);
        }
        let id = self.object_table(formula, formula)?;
        let table = self.reach.tables[id as usize].clone();
        self.search(&table, table.start(), &[formula], None)
    }

    /// Whether the object without members is one of a formula's.
    fn may_be_empty(&self, formula: FormulaId) -> bool {
        match self.formulas.get(formula) {
            Formula::Never | Formula::Exists(_) => false,
            Formula::Any => true,
            Formula::Object(object) => {
                object.min == 0 && !object.members.iter().any(|member| member.is_required)
            }
            Formula::Except(constants) => {
                constants.iter().all(|&known| !self.constants.members(known).is_empty())
            }
            Formula::And(parts) => parts.iter().all(|&part| self.may_be_empty(part)),
            Formula::Or(parts) => parts.iter().any(|&part| self.may_be_empty(part)),
        }
    }

    /// Whether an object that could be completed at `from` can be at `next`, one member later.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn can_complete(
        &mut self,
        table: &Arc<ObjectTable>,
        from: At,
        next: At,
    ) -> Result<bool, Error> {
        if self.may_close(table, next) {
            return Ok(true);
        }
        if table.is_entangled {
            return self.search(table, next, &[next.formula], None);
        }
        let (parts, base) = self.concerned(table, from, next);
        if parts.is_empty() {
            return Ok(true);
        }
        self.search(table, next, &parts, base)
    }

    /// The parts that the last member made a difference to, and those that share names with them;
    /// the list of rules that holds for every object is there for its values alone.
    fn concerned(
        &self,
        table: &ObjectTable,
        from: At,
        next: At,
    ) -> (Vec<FormulaId>, Option<FormulaId>) {
        let mut parts = self.formulas.conjuncts(next.formula);
        let is_rules = |part: &FormulaId| matches!(self.formulas.get(*part), Formula::Object(_));
        let base = parts.iter().position(is_rules).map(|place| parts.remove(place));
        let scopes: Vec<Vec<u32>> = parts.iter().map(|&part| self.scope(table, part)).collect();
        let mut members: rustc_hash::FxHashSet<u32> = (from.next..next.next).collect();
        members.extend(next.last);
        let mut is_in = vec![false; parts.len()];
        loop {
            let more = (0..parts.len())
                .find(|&at| !is_in[at] && scopes[at].iter().any(|member| members.contains(member)));
            match more {
                Some(at) => {
                    is_in[at] = true;
                    members.extend(&scopes[at]);
                }
                None => break,
            }
        }
        let mut flags = is_in.into_iter();
        parts.retain(|_| flags.next() == Some(true));
        (parts, base)
    }

    /// The members of which a formula asks something.
    fn scope(&self, table: &ObjectTable, formula: FormulaId) -> Vec<u32> {
        let mut scope = Vec::new();
        let mut todo = vec![formula];
        while let Some(id) = todo.pop() {
            match self.formulas.get(id) {
                Formula::And(parts) | Formula::Or(parts) => todo.extend(parts.iter()),
                _ => {
                    if let Some(Leaf::Rules { touched, .. }) = table.leaves.get(&id) {
                        scope.extend(touched);
                    }
                    if let Formula::Except(constants) = self.formulas.get(id) {
                        let members = constants.iter().flat_map(|known| &table.constants[known]);
                        scope.extend(members.map(|&(member, _)| member));
                    }
                }
            }
        }
        scope
    }

    fn search(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
        parts: &[FormulaId],
        base: Option<FormulaId>,
    ) -> Result<bool, Error> {
        let mut search = Search {
            table: table.clone(),
            at,
            asked: FxHashMap::default(),
            trail: Vec::new(),
            rules: Vec::new(),
            exists: Vec::new(),
            except: Vec::new(),
            open: Vec::new(),
            steps: 0,
        };
        if let Some(base) = base
            && let Some(Leaf::Rules { values, is_required, touched, .. }) = table.leaves.get(&base)
        {
            let known = touched
                .iter()
                .map(|&member| (member, (values[member as usize], is_required[member as usize])));
            search.asked.extend(known);
        }
        for &part in parts {
            if !self.choose(&mut search, part)? {
                return Ok(false);
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        loop {
            self.budget.tick()?;
            search.steps += 1;
            if search.steps > self.budget.limits.search {
                return Err(Error::limit("search", self.budget.limits.search));
            }
            let choice = if search.steps > EASY_STEPS {
                self.narrowest(&mut search)?
            } else {
                let union = search.open.pop();
                union.map(|union| search.begin(self.formulas.alternatives(union)))
            };
            match choice {
                Some(choice) => choices.push(choice),
                None if self.is_possible(&search)? => return Ok(true),
                None => {}
            }
            // The next alternative of the innermost union that has one left.
            loop {
                let Some(choice) = choices.last_mut() else {
                    return Ok(false);
                };
                search.undo(choice);
                let Some(&alternative) = choice.alternatives.get(choice.next) else {
                    choices.pop();
                    continue;
                };
                choice.next += 1;
                if self.choose(&mut search, alternative)? {
                    break;
                }
            }
        }
    }

    /// The open union with the fewest alternatives that can still be chosen.
    fn narrowest(&mut self, search: &mut Search) -> Result<Option<Choice>, Error> {
        let mut best: Option<(usize, Vec<FormulaId>)> = None;
        for place in 0..search.open.len() {
            let union = search.open[place];
            let mut left = Vec::new();
            for alternative in self.formulas.alternatives(union) {
                self.budget.tick()?;
                let mark = search.begin(Vec::new());
                if self.choose(search, alternative)? {
                    left.push(alternative);
                }
                search.undo(&mark);
            }
            if best.as_ref().is_none_or(|(_, known)| left.len() < known.len()) {
                let is_decided = left.len() < 2;
                best = Some((place, left));
                if is_decided {
                    break;
                }
            }
        }
        Ok(best.map(|(place, left)| {
            search.open.swap_remove(place);
            search.begin(left)
        }))
    }

    /// Adds a part to what is asked for. False if that cannot be.
    fn choose(&mut self, search: &mut Search, part: FormulaId) -> Result<bool, Error> {
        let mut todo = vec![part];
        while let Some(part) = todo.pop() {
            match self.formulas.get(part).clone() {
                Formula::Never => return Ok(false),
                Formula::And(parts) => todo.extend(parts.iter()),
                Formula::Or(_) => search.open.push(part),
                Formula::Exists(_) => search.exists.push(part),
                Formula::Except(constants) => search.except.extend_from_slice(&constants),
                Formula::Any if !search.table.leaves.contains_key(&part) => {}
                Formula::Any | Formula::Object(_) => {
                    if !self.choose_rules(search, part)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn choose_rules(&mut self, search: &mut Search, part: FormulaId) -> Result<bool, Error> {
        let table = search.table.clone();
        let Leaf::Rules { values, is_required, touched, .. } = &table.leaves[&part] else {
            return Ok(true);
        };
        search.rules.push(part);
        for &member in touched {
            if !self.is_left(&table, search.at, member) {
                continue;
            }
            let before = search.asked.get(&member).copied();
            let (known, was_required) = before.unwrap_or((ANY, false));
            let value = self.terms.and2(known, values[member as usize]);
            let is_required = was_required || is_required[member as usize];
            if before != Some((value, is_required)) {
                search.trail.push((member, before));
                search.asked.insert(member, (value, is_required));
            }
            if is_required && (value == NEVER || !self.is_alive(value)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what was chosen can come true: counts, and members that must exist.
    fn is_possible(&mut self, search: &Search) -> Result<bool, Error> {
        let table = search.table.clone();
        if !table.is_entangled {
            return Ok(true);
        }
        let (mut min, mut max) = (0, UNBOUNDED);
        let mut classes = vec![ANY; table.classes.len()];
        for rules in &search.rules {
            if let Leaf::Rules { min: least, max: most, classes: own, .. } = &table.leaves[rules] {
                min = min.max(*least);
                max = max.min(*most);
                for (class, &value) in classes.iter_mut().zip(own) {
                    *class = self.terms.and2(*class, value);
                }
            }
        }
        let need = min.saturating_sub(search.at.count);
        let room = if max == UNBOUNDED { max } else { max.saturating_sub(search.at.count) };
        let mut required = 0;
        let mut possible = 0_u32;
        for member in 0..table.len() {
            if self.is_left(&table, search.at, member) {
                let (value, is_required) =
                    search.asked.get(&member).copied().unwrap_or((ANY, false));
                required += u32::from(is_required);
                possible += u32::from(value == ANY || self.is_alive(value)?);
            }
        }
        for &class in &classes {
            if self.is_alive(class)? {
                possible = possible.saturating_add(table.others_left(search.at));
            }
        }
        if required > room || need > room || possible < need {
            return Ok(false);
        }
        if search.exists.len() > self.budget.limits.nesting {
            // They are looked for one inside the other.
            return Err(self.at_work(Error::limit("nesting", self.budget.limits.nesting)));
        }
        let (room, need) = (room - required, need.saturating_sub(required));
        let mut used: Vec<(Witness, TermId)> = Vec::new();
        Ok(self.find_witnesses(search, &classes, &search.exists, room, &mut used)?
            && self.can_differ(search, &classes, need, room)?)
    }

    /// Looks for members that fulfil all of `exists`, of which no more than `room` are not
    /// required anyway.
    fn find_witnesses(
        &mut self,
        search: &Search,
        classes: &[TermId],
        exists: &[FormulaId],
        room: u32,
        used: &mut Vec<(Witness, TermId)>,
    ) -> Result<bool, Error> {
        self.budget.tick()?;
        let Some((first, rest)) = exists.split_first() else {
            return Ok(true);
        };
        let table = search.table.clone();
        let Leaf::Exists { value, members, classes: in_class } = &table.leaves[first] else {
            return Ok(true);
        };
        let asked = |member: u32| search.asked.get(&member).copied().unwrap_or((ANY, false));
        let mut candidates: Vec<(Witness, TermId, bool)> = Vec::new();
        for member in 0..table.len() {
            if members[member as usize] && self.is_left(&table, search.at, member) {
                let (value, is_required) = asked(member);
                candidates.push((Witness::Member(member), value, is_required));
            }
        }
        for (class, &asked) in classes.iter().enumerate() {
            if in_class[class] {
                let fresh = |(witness, _): &&(Witness, TermId)| matches!(witness, Witness::Fresh(known, _) if *known == class);
                let count = used.iter().filter(fresh).count();
                candidates.extend((0..=count).map(|at| (Witness::Fresh(class, at), asked, false)));
            }
        }
        // What comes anyway takes no room.
        candidates.sort_by_key(|&(.., is_required)| !is_required);
        for (witness, asked, is_required) in candidates {
            let place = used.iter().position(|(known, _)| *known == witness);
            let before = place.map_or(asked, |place| used[place].1);
            let both = self.terms.and2(before, *value);
            if both == NEVER || !self.is_alive(both)? {
                continue;
            }
            let cost = u32::from(!is_required && place.is_none());
            if cost > room {
                continue;
            }
            match place {
                Some(place) => used[place].1 = both,
                None => used.push((witness, both)),
            }
            if self.find_witnesses(search, classes, rest, room - cost, used)? {
                return Ok(true);
            }
            match place {
                Some(place) => used[place].1 = before,
                None => drop(used.pop()),
            }
        }
        Ok(false)
    }
}

impl Search {
    /// A choice among these, made here.
    fn begin(&self, alternatives: Vec<FormulaId>) -> Choice {
        Choice {
            alternatives,
            next: 0,
            trail: self.trail.len(),
            rules: self.rules.len(),
            exists: self.exists.len(),
            except: self.except.len(),
            open: self.open.clone(),
        }
    }

    /// Takes back what was chosen since a union was opened.
    fn undo(&mut self, choice: &Choice) {
        while self.trail.len() > choice.trail {
            if let Some((member, before)) = self.trail.pop() {
                match before {
                    Some(before) => self.asked.insert(member, before),
                    None => self.asked.remove(&member),
                };
            }
        }
        self.rules.truncate(choice.rules);
        self.exists.truncate(choice.exists);
        self.except.truncate(choice.except);
        self.open.clone_from(&choice.open);
    }
}
