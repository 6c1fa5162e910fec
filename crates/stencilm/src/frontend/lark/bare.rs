//! Rules without the ignored text behind their last terminal: what a rule with a mark takes ends where
//! that terminal does.
//!
//! Ignored text belongs to the terminal before it. Of a part `p` the *bare* texts are those that end in a
//! terminal, without what is ignored behind it:
//! `bare(x y) = x bare(y) | bare(x)`, the second if `y` may have no terminal; `bare(x{m,n}) = x{m-1,n-1} bare(x)`.
//! A marked rule is bare itself. Where it is called, ignored text may follow, or it has no terminal.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::frontend::lark::names::Names;
use crate::frontend::lark::rules::{Part, PartId, RulePlace, Rules};
use crate::frontend::lark::tree::ScopeId;
use crate::grammar::{ExprId, Exprs, RuleId, UNBOUNDED};
use crate::limits::Budget;

/// Which rules and parts are needed bare.
#[derive(Debug, Default)]
pub(crate) struct Bare {
    /// The marked rules that are bare, and whose ignored text may follow each.
    pub(crate) marked: FxHashMap<RulePlace, ScopeId>,
    /// Other rules that are needed bare as well, in the order of their ids.
    pub(crate) rules: Vec<RulePlace>,
    /// Parts before what they are part of.
    pub(crate) parts: Vec<PartId>,
    places: FxHashMap<RulePlace, usize>,
    /// Whether each part may have no terminal.
    may_be_none: Vec<bool>,
}

impl Bare {
    /// What is needed so that marked rules are bare. Those whose last terminals are followed by ignored
    /// texts of several grammars stay as they are.
    ///
    /// # Errors
    /// The time is over.
    pub(crate) fn find(rules: &Rules, names: &Names, budget: &mut Budget) -> Result<Self, Error> {
        let mut bare = Self::default();
        let is_marked = |place: &RulePlace| !rules.list[*place].mark.is_empty();
        let marked: Vec<RulePlace> = (0..rules.list.len()).filter(is_marked).collect();
        if marked.is_empty() {
            return Ok(bare);
        }
        bare.may_be_none = may_be_none(rules, budget)?;
        for &place in &marked {
            if let Some(scope) = bare.last_scope(rules, place, budget)?
                && names.ignored.contains_key(&scope)
            {
                bare.marked.insert(place, scope);
            }
        }
        let mut seen: FxHashSet<PartId> = FxHashSet::default();
        let mut todo: Vec<PartId> = marked
            .iter()
            .filter(|it| bare.marked.contains_key(it))
            .map(|&it| rules.list[it].body)
            .collect();
        while let Some(id) = todo.pop() {
            budget.tick()?;
            if !seen.insert(id) {
                continue;
            }
            match &rules.parts[id] {
                Part::Rule(rule) if !bare.marked.contains_key(rule) => {
                    if !bare.places.contains_key(rule) {
                        bare.places.insert(*rule, bare.rules.len());
                        bare.rules.push(*rule);
                        todo.push(rules.list[*rule].body);
                    }
                }
                part => todo.extend(bare.last_parts(part)),
            }
        }
        bare.parts = seen.into_iter().collect();
        bare.parts.sort_unstable();
        Ok(bare)
    }

    /// The text whose ignored texts may follow the last terminal of a rule; none if there are several.
    fn last_scope(
        &self,
        rules: &Rules,
        place: RulePlace,
        budget: &mut Budget,
    ) -> Result<Option<ScopeId>, Error> {
        let mut found: Option<ScopeId> = None;
        let mut seen: FxHashSet<PartId> = FxHashSet::default();
        let mut todo = vec![rules.list[place].body];
        while let Some(id) = todo.pop() {
            budget.tick()?;
            if !seen.insert(id) {
                continue;
            }
            match &rules.parts[id] {
                Part::Terminal(terminal) => {
                    let scope = rules.terminals[*terminal].scope;
                    if found.is_some_and(|known| known != scope) {
                        return Ok(None);
                    }
                    found = Some(scope);
                }
                Part::Inner { .. } | Part::Supplied(_) => return Ok(None),
                Part::Rule(rule) => todo.push(rules.list[*rule].body),
                part => todo.extend(self.last_parts(part)),
            }
        }
        Ok(found)
    }

    /// The parts of a part whose last terminal may be its last.
    fn last_parts(&self, part: &Part) -> Vec<PartId> {
        match part {
            Part::Seq(ids) => {
                let kept = ids.iter().rev().take_while(|&&id| self.may_be_none[id]).count();
                ids[ids.len().saturating_sub(kept + 1)..].to_vec()
            }
            Part::Choice(ids) => ids.to_vec(),
            Part::Repeat(id, ..) => vec![*id],
            Part::Terminal(_) | Part::Rule(_) | Part::Inner { .. } | Part::Supplied(_) => {
                Vec::new()
            }
        }
    }

    /// Whether a rule may have no terminal.
    pub(crate) fn may_rule_be_none(&self, rules: &Rules, rule: RulePlace) -> bool {
        self.may_be_none[rules.list[rule].body]
    }

    /// The bare texts of a part that is no terminal: `full` has all parts, `bare` those before it, and
    /// `first_rule` is the id of the first of [`Self::rules`].
    pub(crate) fn part(
        &self,
        part: &Part,
        full: &[ExprId],
        bare: &FxHashMap<PartId, ExprId>,
        first_rule: usize,
        exprs: &mut Exprs,
    ) -> ExprId {
        match part {
            Part::Rule(rule) => {
                let place = self.places.get(rule).map_or(*rule, |place| first_rule + place);
                exprs.call(RuleId(u32::try_from(place).expect("limits keep rules below 2^32")))
            }
            Part::Seq(ids) => {
                let mut ways = Vec::new();
                for at in (0..ids.len()).rev() {
                    let mut way: Vec<ExprId> = ids[..at].iter().map(|&id| full[id]).collect();
                    way.extend(bare.get(&ids[at]));
                    ways.push(exprs.seq(&way));
                    if !self.may_be_none[ids[at]] {
                        break;
                    }
                }
                exprs.choice(&ways)
            }
            Part::Choice(ids) => {
                let ways: Vec<ExprId> = ids.iter().filter_map(|id| bare.get(id).copied()).collect();
                exprs.choice_of_many(&ways)
            }
            Part::Repeat(id, min, max @ 1..) => {
                let most = if *max == UNBOUNDED { UNBOUNDED } else { max - 1 };
                let least = if self.may_be_none[*id] { 0 } else { min.saturating_sub(1) };
                let before = exprs.repeat(full[*id], least, most);
                let last = bare.get(id).copied().unwrap_or_else(|| exprs.nothing());
                exprs.seq2(before, last)
            }
            Part::Repeat(..) | Part::Terminal(_) | Part::Inner { .. } | Part::Supplied(_) => {
                exprs.nothing()
            }
        }
    }
}

/// Whether each part may have no terminal: the least fixpoint.
fn may_be_none(rules: &Rules, budget: &mut Budget) -> Result<Vec<bool>, Error> {
    let mut found = vec![false; rules.parts.len()];
    loop {
        let mut has_grown = false;
        for (id, part) in rules.parts.iter().enumerate() {
            budget.tick()?;
            let is_none = match part {
                Part::Terminal(_) | Part::Inner { .. } | Part::Supplied(_) => false,
                Part::Rule(rule) => found[rules.list[*rule].body],
                Part::Seq(ids) => ids.iter().all(|&id| found[id]),
                Part::Choice(ids) => ids.iter().any(|&id| found[id]),
                Part::Repeat(id, min, _) => *min == 0 || found[*id],
            };
            if is_none && !found[id] {
                (found[id], has_grown) = (true, true);
            }
        }
        if !has_grown {
            return Ok(found);
        }
    }
}
