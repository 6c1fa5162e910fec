//! Rules as a plain context-free grammar: every way of cutting a text into terminals counts.
//!
//! Ignored texts may come after each terminal, and before the first.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::lark::names::Names;
use crate::frontend::lark::rules::{Part, Rules, Source, Terminal};
use crate::frontend::lark::schemas;
use crate::frontend::lark::terminals::Terminals;
use crate::frontend::lark::tree::{ScopeId, Tree};
use crate::grammar::{Expr, ExprId, RuleId, RuleSet, UNBOUNDED};
use crate::limits::Budget;

/// Makes expressions of rules.
pub(crate) fn lower(
    text: &str,
    tree: &Tree,
    names: &Names,
    rules: &Rules,
    main: ScopeId,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    // One more rule begins with what is ignored.
    let count = rules.list.len() + 1;
    let terminals = Terminals::new(tree, names, count);
    let mut lowering = Lowering { text, tree, names, terminals, ignored: FxHashMap::default() };
    let mut parts: Vec<ExprId> = Vec::with_capacity(rules.parts.len());
    for part in &rules.parts {
        lowering.terminals.check(budget)?;
        let made = lowering.part(part, &parts, rules, budget)?;
        parts.push(made);
    }
    let start = lowering.terminals.set.exprs.call(rule_id(rules.start));
    let before = lowering.before(main, budget)?;
    let whole = lowering.terminals.set.exprs.seq2(before, start);
    let Terminals { mut set, rules: runs, .. } = lowering.terminals;
    let mut made: Vec<(String, ExprId)> =
        rules.list.iter().map(|rule| (rule.name.clone(), parts[rule.body])).collect();
    made.push(("text".to_owned(), whole));
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
    terminals: Terminals<'a>,
    /// What may come after a terminal of a text.
    ignored: FxHashMap<ScopeId, ExprId>,
}

impl Lowering<'_> {
    fn part(
        &mut self,
        part: &Part,
        parts: &[ExprId],
        rules: &Rules,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let made = |ids: &[usize]| -> Vec<ExprId> { ids.iter().map(|&id| parts[id]).collect() };
        Ok(match part {
            Part::Terminal(id) => {
                let terminal = &rules.terminals[*id];
                let texts = self.terminal(terminal, budget)?;
                let ignored = self.ignored(terminal.scope, budget)?;
                self.terminals.set.exprs.seq2(texts, ignored)
            }
            Part::Rule(rule) => self.terminals.set.exprs.call(rule_id(*rule)),
            Part::Inner { inner, outer, rule } => {
                let before = self.before(*inner, budget)?;
                let after = self.ignored(*outer, budget)?;
                let rule = self.terminals.set.exprs.call(rule_id(*rule));
                self.terminals.set.exprs.seq(&[before, rule, after])
            }
            Part::Seq(ids) => self.terminals.set.exprs.seq(&made(ids)),
            Part::Choice(ids) => self.terminals.set.exprs.choice_of_many(&made(ids)),
            Part::Repeat(id, min, max) => self.terminals.set.exprs.repeat(parts[*id], *min, *max),
        })
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
            Source::Named(_)
            | Source::Lazy(_)
            | Source::Literal(..)
            | Source::Pattern(..)
            | Source::Node(_) => unreachable!("these have texts of their own"),
        }
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
