//! Rules as a plain context-free grammar: every way of cutting a text into terminals counts.
//!
//! Ignored texts may come after each terminal, and before the first.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::lark::bare::Bare;
use crate::frontend::lark::names::{DefinitionId, Names};
use crate::frontend::lark::numbered::{Body, NumberedRules, Piece};
use crate::frontend::lark::numbered_plan::Plan;
use crate::frontend::lark::rules::{Part, PartId, RulePlace, Rules, Source, Terminal};
use crate::frontend::lark::schemas;
use crate::frontend::lark::terminals::Terminals;
use crate::frontend::lark::tree::{Argument, Name, Node, NodeId, ScopeId, Tree};
use crate::grammar::{Expr, ExprId, Exprs, Grammar, Imported, RuleId, RuleSet, UNBOUNDED};
use crate::limits::Budget;
use crate::residual::emptiness::without_empty_parts;

/// Makes expressions of rules.
pub(crate) fn lower(
    text: &str,
    tree: &Tree,
    names: &Names,
    rules: &Rules,
    main: ScopeId,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    let bare = Bare::find(rules, names, budget)?;
    // One more rule begins with what is ignored.
    let first_bare = rules.list.len() + 1;
    let count = first_bare + bare.rules.len();
    if count > budget.limits.rules {
        return Err(Error::limit("rules", budget.limits.rules));
    }
    let terminals = Terminals::new(tree, names, count);
    let ignored = FxHashMap::default();
    let mut lowering = Lowering { text, tree, names, rules, bare: &bare, terminals, ignored };
    let mut parts: Vec<ExprId> = Vec::with_capacity(rules.parts.len());
    for part in &rules.parts {
        lowering.terminals.check(budget)?;
        let made = lowering.part(part, &parts, budget)?;
        parts.push(made);
    }
    let bare_parts = lowering.bare_parts(&parts, first_bare, budget)?;
    let start = lowering.called(rules.start, budget)?;
    let before = lowering.before(main, budget)?;
    let whole = lowering.terminals.set.exprs.seq2(before, start);
    let Terminals { mut set, rules: runs, .. } = lowering.terminals;
    let body = |place: usize, is_bare: bool| {
        let id = rules.list[place].body;
        if is_bare { bare_parts[&id] } else { parts[id] }
    };
    let named =
        |place: usize, is_bare: bool| (rules.list[place].name.clone(), body(place, is_bare));
    let places = 0..rules.list.len();
    let mut made: Vec<(String, ExprId)> =
        places.map(|place| named(place, bare.marked.contains_key(&place))).collect();
    made.push(("text".to_owned(), whole));
    made.extend(bare.rules.iter().map(|&place| named(place, true)));
    made.extend(runs.bodies.iter().enumerate().map(|(at, &body)| (format!("run_{at}"), body)));
    let marks = rules.list.iter().enumerate().filter(|(_, rule)| !rule.mark.is_empty());
    set.marks = marks.map(|(place, rule)| (rule_id(place), rule.mark.clone())).collect();
    set.rules = made;
    set.start = rule_id(rules.list.len());
    Ok(set)
}

#[derive(Debug)]
struct Lowering<'a> {
    text: &'a str,
    tree: &'a Tree,
    names: &'a Names,
    rules: &'a Rules,
    bare: &'a Bare,
    terminals: Terminals<'a>,
    /// What may come after a terminal of a text.
    ignored: FxHashMap<ScopeId, ExprId>,
}

impl Lowering<'_> {
    fn part(
        &mut self,
        part: &Part,
        parts: &[ExprId],
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let made = |ids: &[usize]| -> Vec<ExprId> { ids.iter().map(|&id| parts[id]).collect() };
        Ok(match part {
            Part::Terminal(id) => {
                let terminal = &self.rules.terminals[*id];
                let texts = self.terminal(terminal, budget)?;
                let ignored = self.ignored(terminal.scope, budget)?;
                self.terminals.set.exprs.seq2(texts, ignored)
            }
            Part::Rule(rule) => self.called(*rule, budget)?,
            Part::Supplied(id) => self.terminal(&self.rules.terminals[*id], budget)?,
            Part::Inner { inner, outer, rule } => {
                let before = self.before(*inner, budget)?;
                let after = self.ignored(*outer, budget)?;
                let rule = self.called(*rule, budget)?;
                self.terminals.set.exprs.seq(&[before, rule, after])
            }
            Part::Seq(ids) => self.terminals.set.exprs.seq(&made(ids)),
            Part::Choice(ids) => self.terminals.set.exprs.choice_of_many(&made(ids)),
            Part::Repeat(id, min, max) => self.terminals.set.exprs.repeat(parts[*id], *min, *max),
        })
    }

    /// A call of a rule: what is ignored may follow one that is bare.
    fn called(&mut self, rule: RulePlace, budget: &mut Budget) -> Result<ExprId, Error> {
        let call = self.terminals.set.exprs.call(rule_id(rule));
        let Some(&scope) = self.bare.marked.get(&rule) else {
            return Ok(call);
        };
        let ignored = self.ignored(scope, budget)?;
        let exprs = &mut self.terminals.set.exprs;
        let whole = exprs.seq2(call, ignored);
        let may_be_none = self.bare.may_rule_be_none(self.rules, rule);
        Ok(if may_be_none { exprs.optional(whole) } else { whole })
    }

    /// The bare texts of the parts that need them.
    fn bare_parts(
        &mut self,
        full: &[ExprId],
        first_rule: usize,
        budget: &mut Budget,
    ) -> Result<FxHashMap<PartId, ExprId>, Error> {
        let mut made = FxHashMap::default();
        for &id in &self.bare.parts {
            self.terminals.check(budget)?;
            let texts = match &self.rules.parts[id] {
                Part::Terminal(terminal) => {
                    let terminal = &self.rules.terminals[*terminal];
                    self.terminal(terminal, budget)?
                }
                part => {
                    let exprs = &mut self.terminals.set.exprs;
                    self.bare.part(part, full, &made, first_rule, exprs)
                }
            };
            made.insert(id, texts);
        }
        Ok(made)
    }

    fn terminal(&mut self, terminal: &Terminal, budget: &mut Budget) -> Result<ExprId, Error> {
        if let Some(texts) = self.terminals.of(&terminal.source, terminal.offset, budget)? {
            return Ok(texts);
        }
        match &terminal.source {
            Source::Schema(place) => {
                let text = &self.text[place.clone()];
                let grammar = schemas::grammar(text, place.start, budget)?;
                self.terminals.set.supply(&grammar)
            }
            Source::Special(name) => Ok(self.terminals.set.exprs.token(name)),
            Source::Numbered(definition, number) => self.numbered(*definition, *number, budget),
            Source::Named(_)
            | Source::Lazy(_)
            | Source::Literal(..)
            | Source::Pattern(..)
            | Source::Node(_) => unreachable!("these have texts of their own"),
        }
    }

    /// The texts of a rule with a number.
    fn numbered(
        &mut self,
        definition: DefinitionId,
        number: u64,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let Some(plan) = Plan::find(self.tree, self.names, definition, budget)? else {
            unreachable!("only what has a plan is made later");
        };
        let mut exprs = Exprs::default();
        let mut imported = Imported::default();
        let mut bodies = Vec::with_capacity(plan.definitions.len());
        for (at, &id) in plan.definitions.iter().enumerate() {
            let of = |parts: &[NodeId]| parts.iter().map(|&it| plan.place(at, it)).collect();
            let called = |name: &Name| {
                let place = self.names.find(name).and_then(|id| plan.definition(id));
                place.and_then(|place| u32::try_from(place).ok()).unwrap_or(0)
            };
            let it = &self.names.definitions[id];
            let (scope, name) = (it.name.scope, it.name.text.clone());
            let mut pieces = Vec::with_capacity(plan.nodes[at].len());
            for &node in &plan.nodes[at] {
                pieces.push(match &self.tree.nodes[node] {
                    Node::Numbered(name, argument) => Piece::Call(called(name), *argument),
                    Node::Name(name) if !name.is_terminal() => {
                        Piece::Call(called(name), Argument::Number(0))
                    }
                    Node::Seq(parts) => Piece::Seq(of(parts)),
                    Node::Choice(parts) => Piece::Choice(of(parts)),
                    Node::Repeat(part, min, max) => {
                        Piece::Repeat(plan.place(at, *part), *min, *max)
                    }
                    Node::If(part, condition) => {
                        Piece::If(plan.place(at, *part), condition.clone())
                    }
                    _ => {
                        let texts = self.terminal_of(node, scope, budget)?;
                        let texts = exprs.import(&self.terminals.set.exprs, texts, &mut imported);
                        Piece::Texts(without_empty_parts(&mut exprs, texts, budget)?)
                    }
                });
            }
            bodies.push(Body { name, is_numbered: it.is_numbered, pieces });
        }
        let rules = NumberedRules::new(exprs, bodies, plan, number, budget.limits)?;
        if !rules.has_text()? {
            return Ok(self.terminals.set.exprs.nothing());
        }
        let start = RuleId(0);
        self.terminals.set.supply(&Grammar { rules: Arc::new(rules), start })
    }

    /// A piece that is a terminal, and what may come after it.
    fn terminal_of(
        &mut self,
        node: NodeId,
        scope: ScopeId,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let texts = match &self.tree.nodes[node] {
            Node::Literal(text, _) if text.is_empty() => {
                return Ok(self.terminals.set.exprs.empty());
            }
            Node::Special(name) => self.terminals.set.exprs.token(name),
            _ => self.terminals.regular(node, budget)?,
        };
        let ignored = self.ignored(scope, budget)?;
        Ok(self.terminals.set.exprs.seq2(texts, ignored))
    }

    /// What may come before the first terminal of a text.
    fn before(&mut self, scope: ScopeId, budget: &mut Budget) -> Result<ExprId, Error> {
        if self.tree.scopes[scope].ignores_at_first == Some(false) {
            return Ok(self.terminals.set.exprs.empty());
        }
        self.ignored(scope, budget)
    }

    /// What may come after a terminal of a text.
    fn ignored(&mut self, scope: ScopeId, budget: &mut Budget) -> Result<ExprId, Error> {
        if let Some(&known) = self.ignored.get(&scope) {
            return Ok(known);
        }
        let mut texts = Vec::new();
        for &node in self.names.ignored.get(&scope).map_or(&[][..], Vec::as_slice) {
            texts.push(self.terminals.node(node, budget)?);
        }
        let one = self.terminals.set.exprs.choice_of_many(&texts);
        let most = if self.tree.scopes[scope].ignores_once { 1 } else { UNBOUNDED };
        let ignored = match self.terminals.set.exprs.get(one) {
            Expr::Nothing => self.terminals.set.exprs.empty(),
            _ => self.terminals.set.exprs.repeat(one, 0, most),
        };
        self.ignored.insert(scope, ignored);
        Ok(ignored)
    }
}

fn rule_id(rule: usize) -> RuleId {
    RuleId(u32::try_from(rule).expect("limits keep rules below 2^32"))
}
