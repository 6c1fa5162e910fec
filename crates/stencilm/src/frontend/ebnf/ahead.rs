//! Look-ahead: `(= "b")` lets nothing follow but texts that begin with `b`, whichever rules they
//! come from.
//!
//! A condition is carried along as what is [owed](Owed). For each rule that may be entered where
//! something is owed, or that may leave something owed, there is a variant for what is owed before
//! and what after: the product of the grammar with the conditions. A whole text owes nothing at its
//! end.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::{Error, Location};
use crate::frontend::ebnf::lower::Lowering;
use crate::frontend::ebnf::owed::{NONE, Owed, Split};
use crate::frontend::ebnf::tree::{Node, NodeId, Tree};
use crate::grammar::{ExprId, Marks, RuleId, UNBOUNDED};
use crate::interner::index;
use crate::limits::Budget;

/// How deep parentheses around conditions nest.
const DEEPEST: usize = 200;

/// What may be owed after a piece.
type Ends = Rc<BTreeSet<usize>>;

/// A rule, and what is owed before it.
type RuleFrom = (usize, usize);

/// What may be owed after a rule.
#[derive(Clone, Debug, Default)]
struct EndsOfRule {
    /// As far as it was found.
    known: Ends,
    /// Whose own ends depend on it.
    callers: FxHashSet<RuleFrom>,
    /// Whether it is among those to look at.
    is_waiting: bool,
}

/// Which pieces may pass a condition, by place; none if the grammar has no condition.
pub(super) fn passing(tree: &Tree) -> Vec<bool> {
    let is_condition = |node: &Node| matches!(node, Node::Ahead(_));
    let mut passes: Vec<bool> = tree.nodes.iter().map(is_condition).collect();
    let mut todo: Vec<NodeId> = (0..passes.len()).filter(|&id| passes[id]).collect();
    if todo.is_empty() {
        return Vec::new();
    }
    let mut wholes: Vec<Vec<NodeId>> = vec![Vec::new(); tree.nodes.len()];
    let called = |id: NodeId| match tree.nodes[id] {
        Node::Call(rule) => tree.rules[rule].body,
        _ => None,
    };
    for id in 0..tree.nodes.len() {
        for part in tree.parts(id).iter().copied().chain(called(id)) {
            wholes[part].push(id);
        }
    }
    while let Some(part) = todo.pop() {
        for &whole in &wholes[part] {
            if !std::mem::replace(&mut passes[whole], true) {
                todo.push(whole);
            }
        }
    }
    passes
}

/// A rule of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Variant {
    what: What,
    /// What is owed before it.
    from: usize,
    /// What is owed after it.
    to: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Rule(usize),
    /// A piece, so many times.
    Times(NodeId, u32, u32),
}

/// The product.
pub(super) struct Ahead<'l, 't, 'b> {
    lowering: &'l mut Lowering<'t>,
    passes: Vec<bool>,
    /// Which pieces have no calls and no tokens inside.
    is_regular: Vec<bool>,
    owed: Owed,
    /// What may be owed after a rule, as far as it is known.
    ends: FxHashMap<RuleFrom, EndsOfRule>,
    /// Those to look at, again or for the first time.
    waiting: Vec<RuleFrom>,
    /// The rule that is being looked at.
    caller: Option<RuleFrom>,
    /// What may be owed after pieces of it.
    round: FxHashMap<(NodeId, usize), Ends>,
    ways: FxHashMap<(NodeId, usize), Split>,
    variants: FxHashMap<Variant, RuleId>,
    todo: Vec<Variant>,
    rules: Vec<(String, ExprId)>,
    /// Those of the rules and of their variants.
    marks: Marks,
    names: FxHashSet<String>,
    budget: &'b mut Budget,
}

impl<'l, 't, 'b> Ahead<'l, 't, 'b> {
    /// `rules` are those of the grammar without the bodies of those that pass a condition.
    pub(super) fn new(
        lowering: &'l mut Lowering<'t>,
        passes: Vec<bool>,
        rules: Vec<(String, ExprId)>,
        marks: Marks,
        budget: &'b mut Budget,
    ) -> Self {
        let mut is_regular = Vec::with_capacity(passes.len());
        for (id, node) in lowering.tree.nodes.iter().enumerate() {
            let has_regular_parts = || lowering.tree.parts(id).iter().all(|&part| is_regular[part]);
            is_regular.push(match node {
                Node::Call(_) | Node::Token(_) | Node::Ahead(_) => false,
                // What is called there was put in place of the calls.
                Node::And(_) | Node::Not(_) => true,
                _ => has_regular_parts(),
            });
        }
        Self {
            lowering,
            passes,
            is_regular,
            owed: Owed::new(budget.limits),
            ends: FxHashMap::default(),
            waiting: Vec::new(),
            caller: None,
            round: FxHashMap::default(),
            ways: FxHashMap::default(),
            variants: FxHashMap::default(),
            todo: Vec::new(),
            names: rules.iter().map(|(name, _)| name.clone()).collect(),
            rules,
            marks,
            budget,
        }
    }

    /// All rules, the given ones first, and their marks; a whole text is one of the rule `start`, a place in the tree.
    ///
    /// # Errors
    /// No text brings what the conditions ask for, or a limit was reached.
    pub(super) fn run(mut self, start: usize) -> Result<(Vec<(String, ExprId)>, Marks), Error> {
        self.ends_of_rule(start, NONE);
        while let Some(at @ (rule, from)) = self.waiting.pop() {
            self.ends.entry(at).or_default().is_waiting = false;
            let Some(body) = self.lowering.tree.rules[rule].body else { continue };
            self.round.clear();
            self.caller = Some(at);
            let ends = self.ends(body, from, 0)?;
            self.grows_to(at, ends);
        }
        self.caller = None;
        if !self.ends_of_rule(start, NONE).contains(&NONE) {
            let tree = self.lowering.tree;
            let is_condition = |id: &NodeId| matches!(tree.nodes[*id], Node::Ahead(_));
            let condition = (0..tree.nodes.len()).find(is_condition);
            let offset = condition.map_or(0, |id| tree.offsets[id]);
            let reason = "nothing that may follow begins as the look-ahead asks";
            return Err(Error::unsatisfiable(reason, Location::Offset(offset)));
        }
        self.round.clear();
        self.variant(Variant { what: What::Rule(start), from: NONE, to: NONE })?;
        while let Some(variant) = self.todo.pop() {
            let body = self.body(variant)?;
            let id = self.variants[&variant];
            self.rules[id.0 as usize].1 = body;
        }
        Ok((self.rules, self.marks))
    }

    /// Takes note of what may be owed after a rule; its callers are looked at again if that is more.
    fn grows_to(&mut self, at: RuleFrom, ends: Ends) {
        let of_rule = self.ends.entry(at).or_default();
        if ends.len() == of_rule.known.len() {
            return;
        }
        of_rule.known = ends;
        for caller in of_rule.callers.clone() {
            if !std::mem::replace(&mut self.ends.entry(caller).or_default().is_waiting, true) {
                self.waiting.push(caller);
            }
        }
    }

    fn ends_of_rule(&mut self, rule: usize, from: usize) -> Ends {
        let waiting = &mut self.waiting;
        let of_rule = self.ends.entry((rule, from)).or_insert_with(|| {
            waiting.push((rule, from));
            EndsOfRule { is_waiting: true, ..EndsOfRule::default() }
        });
        of_rule.callers.extend(self.caller);
        of_rule.known.clone()
    }

    /// Whether a piece is as it was before there were conditions.
    fn is_plain(&self, id: NodeId, from: usize) -> bool {
        from == NONE && !self.passes[id]
    }

    /// What may be owed after a piece.
    fn ends(&mut self, id: NodeId, from: usize, depth: usize) -> Result<Ends, Error> {
        self.check(id, depth)?;
        if self.is_plain(id, from) {
            return Ok(Rc::new(BTreeSet::from([NONE])));
        }
        if let Some(known) = self.round.get(&(id, from)) {
            return Ok(known.clone());
        }
        let tree = self.lowering.tree;
        let ends: Ends = match &tree.nodes[id] {
            _ if self.is_regular[id] => {
                let split = self.split(id, from)?;
                Rc::new(split.iter().map(|&(to, _)| to).collect())
            }
            Node::Call(rule) => self.ends_of_rule(*rule, from),
            Node::Ahead(texts) => Rc::new(self.condition(*texts, from)?.into_iter().collect()),
            Node::Seq(parts) => {
                let mut level = BTreeSet::from([from]);
                for &part in parts {
                    level = self.next_level(part, &level, depth)?;
                }
                Rc::new(level)
            }
            Node::Choice(parts) => {
                let mut all = BTreeSet::new();
                for &part in parts {
                    all.extend(self.ends(part, from, depth + 1)?.iter());
                }
                Rc::new(all)
            }
            &Node::Repeat(part, min, max) => {
                Rc::new(self.ends_of_times(part, (min, max), from, depth)?)
            }
            // A token of its own begins no text.
            _ => Ends::default(),
        };
        self.round.insert((id, from), ends.clone());
        Ok(ends)
    }

    fn next_level(
        &mut self,
        part: NodeId,
        level: &BTreeSet<usize>,
        depth: usize,
    ) -> Result<BTreeSet<usize>, Error> {
        let mut next = BTreeSet::new();
        for &from in level {
            next.extend(self.ends(part, from, depth + 1)?.iter());
        }
        Ok(next)
    }

    fn ends_of_times(
        &mut self,
        part: NodeId,
        (min, max): (u32, u32),
        from: usize,
        depth: usize,
    ) -> Result<BTreeSet<usize>, Error> {
        let mut level = BTreeSet::from([from]);
        for _ in 0..min {
            let next = self.next_level(part, &level, depth)?;
            if next == level {
                break;
            }
            level = next;
        }
        let mut all = level.clone();
        for _ in min..max {
            level = self.next_level(part, &level, depth)?;
            let count = all.len();
            all.extend(&level);
            // What comes after these came already.
            if all.len() == count {
                break;
            }
        }
        Ok(all)
    }

    /// What a piece without calls leads to.
    fn split(&mut self, id: NodeId, from: usize) -> Result<Split, Error> {
        let texts = self.lowering.plain[id];
        self.owed.split(&mut self.lowering.exprs, texts, from, self.budget)
    }

    /// What is owed after a condition.
    fn condition(&mut self, texts: NodeId, from: usize) -> Result<Option<usize>, Error> {
        let texts = self.lowering.flat(texts, self.budget)?;
        self.owed.with(from, &self.lowering.exprs, texts, self.budget)
    }

    /// The texts of a piece by what is owed after them.
    fn ways(&mut self, id: NodeId, from: usize, depth: usize) -> Result<Split, Error> {
        self.check(id, depth)?;
        if self.is_plain(id, from) {
            return Ok([(NONE, self.lowering.plain[id])].into());
        }
        if let Some(known) = self.ways.get(&(id, from)) {
            return Ok(known.clone());
        }
        let tree = self.lowering.tree;
        let ways: Split = match &tree.nodes[id] {
            _ if self.is_regular[id] => self.split(id, from)?,
            Node::Ahead(texts) => {
                let empty = self.lowering.exprs.empty();
                self.condition(*texts, from)?.map(|to| (to, empty)).into_iter().collect()
            }
            Node::Seq(parts) => {
                let mut level: Split = [(from, self.lowering.exprs.empty())].into();
                for &part in parts {
                    let mut next: BTreeMap<usize, Vec<ExprId>> = BTreeMap::new();
                    for &(middle, before) in &*level {
                        for &(to, texts) in &*self.ways(part, middle, depth + 1)? {
                            let texts = self.lowering.exprs.seq2(before, texts);
                            next.entry(to).or_default().push(texts);
                        }
                    }
                    level = self.joined(next);
                }
                level
            }
            Node::Choice(parts) => {
                let mut all: BTreeMap<usize, Vec<ExprId>> = BTreeMap::new();
                for &part in parts {
                    for &(to, texts) in &*self.ways(part, from, depth + 1)? {
                        all.entry(to).or_default().push(texts);
                    }
                }
                self.joined(all)
            }
            Node::Call(rule) => {
                let what = What::Rule(*rule);
                let ends = self.ends_of_rule(*rule, from);
                self.calls(what, from, &ends)?
            }
            &Node::Repeat(part, min, max) => {
                let ends = self.ends_of_times(part, (min, max), from, depth)?;
                self.calls(What::Times(part, min, max), from, &ends)?
            }
            _ => Split::default(),
        };
        self.ways.insert((id, from), ways.clone());
        Ok(ways)
    }

    fn joined(&mut self, all: BTreeMap<usize, Vec<ExprId>>) -> Split {
        let exprs = &mut self.lowering.exprs;
        all.into_iter().map(|(to, texts)| (to, exprs.choice_of_many(&texts))).collect()
    }

    fn calls(&mut self, what: What, from: usize, ends: &BTreeSet<usize>) -> Result<Split, Error> {
        ends.iter().map(|&to| Ok((to, self.variant(Variant { what, from, to })?))).collect()
    }

    /// A call of a variant.
    fn variant(&mut self, variant: Variant) -> Result<ExprId, Error> {
        let Variant { what, from, to } = variant;
        match what {
            What::Times(part, min, max) if from == to && self.is_plain(part, from) => {
                let part = self.lowering.plain[part];
                return Ok(self.lowering.exprs.repeat(part, min, max));
            }
            // Nothing is owed after it that was not before.
            What::Times(part, ..) if self.is_plain(part, from) => {
                return Ok(self.lowering.exprs.nothing());
            }
            What::Times(_, _, 0) if from == to => return Ok(self.lowering.exprs.empty()),
            What::Times(_, _, 0) => return Ok(self.lowering.exprs.nothing()),
            _ => {}
        }
        if let Some(&id) = self.variants.get(&variant) {
            return Ok(self.lowering.exprs.call(id));
        }
        let nothing = self.lowering.exprs.nothing();
        let id = match what {
            What::Rule(rule) if from == NONE && to == NONE => self.lowering.ids[rule],
            _ => {
                let most = self.budget.limits.rules;
                if self.rules.len() >= most {
                    return Err(Error::limit("rules", most));
                }
                let name = match what {
                    What::Rule(rule) => &*self.lowering.tree.rules[rule].name,
                    What::Times(..) => "times",
                };
                let name = self.new_name(name);
                self.rules.push((name, nothing));
                let id = RuleId(index(self.rules.len() - 1));
                if let What::Rule(rule) = what {
                    let mark = &self.lowering.tree.rules[rule].mark;
                    self.marks.extend((!mark.is_empty()).then(|| (id, mark.clone())));
                }
                id
            }
        };
        self.variants.insert(variant, id);
        self.todo.push(variant);
        Ok(self.lowering.exprs.call(id))
    }

    /// A name that no other rule has.
    fn new_name(&mut self, name: &str) -> String {
        let mut number = self.rules.len();
        loop {
            let new = format!("{name}.{number}");
            if self.names.insert(new.clone()) {
                return new;
            }
            number += 1;
        }
    }

    fn body(&mut self, variant: Variant) -> Result<ExprId, Error> {
        let Variant { what, from, to } = variant;
        let nothing = self.lowering.exprs.nothing();
        let (part, min, max) = match what {
            What::Rule(rule) => {
                let Some(body) = self.lowering.tree.rules[rule].body else { return Ok(nothing) };
                let ways = self.ways(body, from, 0)?;
                let way = ways.iter().find(|&&(owed, _)| owed == to);
                return Ok(way.map_or(nothing, |&(_, texts)| texts));
            }
            What::Times(part, min, max) => (part, min, max),
        };
        let mut members = Vec::new();
        if min == 0 && from == to {
            members.push(self.lowering.exprs.empty());
        }
        let fewer = if max == UNBOUNDED { UNBOUNDED } else { max - 1 };
        let rest = What::Times(part, min.saturating_sub(1), fewer);
        for &(middle, texts) in &*self.ways(part, from, 0)? {
            let rest = self.variant(Variant { what: rest, from: middle, to })?;
            members.push(self.lowering.exprs.seq2(texts, rest));
        }
        Ok(self.lowering.exprs.choice_of_many(&members))
    }

    fn check(&mut self, id: NodeId, depth: usize) -> Result<(), Error> {
        self.lowering.check(self.budget)?;
        if depth > DEEPEST && !self.is_regular[id] {
            let place = Location::Offset(self.lowering.tree.offsets[id]);
            return Err(Error::limit("nesting", DEEPEST).moved_to(place));
        }
        Ok(())
    }
}
