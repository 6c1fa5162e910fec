//! What a parser reads, as rules: a rule for each state that a rule of the grammar may begin in,
//! with what the lexer is to know before it and after it.
//!
//! The lexer's mode is that of the state after the terminal before, so that it goes along with the
//! text, and so does what must not come next. Both are found as a parser finds them, from the
//! start, so that only what may happen becomes a rule.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::lark::contextual::bnf::{Bnf, Symbol};
use crate::frontend::lark::contextual::followed::Pending;
use crate::frontend::lark::contextual::lalr::Tables;
use crate::frontend::lark::contextual::lexer::Lexer;
use crate::frontend::lark::contextual::past::BEGINNING;
use crate::grammar::{ExprId, Exprs, Imported, RuleId, RuleSet, Spelling};
use crate::limits::Budget;

/// What the lexer is to know between two terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Context {
    /// Its mode.
    mode: usize,
    /// Terminals that must not come next, since the parser would have done something else.
    denied: Vec<usize>,
    /// What must and must not come next.
    pending: Pending,
}

type ContextId = usize;

/// A rule that begins in a state, in a context.
type Begun = (usize, usize, ContextId);

/// A production of a begun rule, and how much of it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    production: usize,
    dot: usize,
    state: usize,
    context: ContextId,
}

/// What lies between two items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Texts(ExprId),
    Rule(usize, ContextId),
}

/// A begun rule, and how it goes on.
#[derive(Debug, Default)]
struct Node {
    items: Vec<Item>,
    ids: FxHashMap<Item, usize>,
    /// From an item to one that comes later in its production.
    steps: Vec<Vec<(Step, usize)>>,
    /// The contexts in which it ends.
    ends: Vec<ContextId>,
    /// Items that wait for its ends: of which node, which.
    callers: Vec<(usize, usize)>,
}

/// Finds all that a parser may read.
#[derive(Debug)]
pub(crate) struct Table<'a, 'b> {
    bnf: &'a Bnf,
    tables: &'a Tables,
    lexer: Lexer<'b>,
    /// Stands for the end of the text among terminals.
    end: usize,
    /// The mode of each state.
    modes: Vec<usize>,
    contexts: Vec<Context>,
    context_ids: FxHashMap<Context, ContextId>,
    nodes: Vec<Node>,
    begun: Vec<Begun>,
    node_ids: FxHashMap<Begun, usize>,
    todo: Vec<(usize, usize)>,
    size: usize,
    budget: &'a mut Budget,
}

/// The texts that a parser accepts from the rule `start`, as rules.
pub(crate) fn rules(
    bnf: &Bnf,
    tables: &Tables,
    mut lexer: Lexer<'_>,
    start: usize,
    end: usize,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    let mut modes = Vec::with_capacity(tables.accepted.len());
    for accepted in &tables.accepted {
        budget.tick()?;
        modes.push(lexer.mode(accepted)?);
    }
    let mut table = Table {
        bnf,
        tables,
        lexer,
        end,
        modes,
        contexts: Vec::new(),
        context_ids: FxHashMap::default(),
        nodes: Vec::new(),
        begun: Vec::new(),
        node_ids: FxHashMap::default(),
        todo: Vec::new(),
        size: 0,
        budget,
    };
    let mode = table.modes[0];
    let rest = table.lexer.following.exprs().any_text(Spelling::Text);
    let pending = Pending { begins: Vec::new(), rest, past: BEGINNING };
    let first = table.context(Context { mode, denied: Vec::new(), pending });
    let whole = table.node((0, start, first));
    table.find()?;
    table.into_rules(whole)
}

impl Table<'_, '_> {
    fn context(&mut self, context: Context) -> ContextId {
        if let Some(&id) = self.context_ids.get(&context) {
            return id;
        }
        self.contexts.push(context.clone());
        self.context_ids.insert(context, self.contexts.len() - 1);
        self.contexts.len() - 1
    }

    fn node(&mut self, begun: Begun) -> usize {
        if let Some(&id) = self.node_ids.get(&begun) {
            return id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.begun.push(begun);
        self.node_ids.insert(begun, id);
        let (state, rule, context) = begun;
        for &production in &self.bnf.rules[rule].2 {
            self.item(id, Item { production, dot: 0, state, context });
        }
        id
    }

    fn item(&mut self, node: usize, item: Item) -> usize {
        let found = &mut self.nodes[node];
        if let Some(&id) = found.ids.get(&item) {
            return id;
        }
        let id = found.items.len();
        found.items.push(item);
        found.ids.insert(item, id);
        found.steps.push(Vec::new());
        self.todo.push((node, id));
        self.size += 1;
        id
    }

    fn find(&mut self) -> Result<(), Error> {
        while let Some((node, id)) = self.todo.pop() {
            self.budget.tick()?;
            let allowed = self.budget.limits.rules;
            if self.size > allowed {
                return Err(Error::limit("rules", allowed));
            }
            let item = self.nodes[node].items[id];
            let symbol = self.bnf.productions[item.production].symbols.get(item.dot);
            match symbol.copied() {
                None => self.complete(node, item),
                Some(Symbol::Terminal(terminal)) => self.shift(node, id, item, terminal)?,
                Some(Symbol::Rule(rule)) => {
                    let called = self.node((item.state, rule, item.context));
                    self.nodes[called].callers.push((node, id));
                    for end in self.nodes[called].ends.clone() {
                        self.go_on(node, id, called, end);
                    }
                }
            }
        }
        Ok(())
    }

    /// A production was read: what the parser would have done instead must not come next.
    fn complete(&mut self, node: usize, item: Item) {
        let mut end = item.context;
        if let Some(denied) = self.tables.denied.get(&(item.state, item.production)) {
            let mut context = self.contexts[end].clone();
            context.denied.extend(denied);
            context.denied.sort_unstable();
            context.denied.dedup();
            end = self.context(context);
        }
        if self.nodes[node].ends.contains(&end) {
            return;
        }
        self.nodes[node].ends.push(end);
        for (caller, id) in self.nodes[node].callers.clone() {
            self.go_on(caller, id, node, end);
        }
    }

    /// A called rule ended.
    fn go_on(&mut self, node: usize, id: usize, called: usize, end: ContextId) {
        let item = self.nodes[node].items[id];
        let symbol = Symbol::Rule(self.begun[called].1);
        let state = self.tables.next[item.state][&symbol];
        let next = self.item(node, Item { dot: item.dot + 1, state, context: end, ..item });
        self.nodes[node].steps[id].push((Step::Rule(called, end), next));
    }

    fn shift(&mut self, node: usize, id: usize, item: Item, terminal: usize) -> Result<(), Error> {
        let context = self.contexts[item.context].clone();
        if context.denied.contains(&terminal) {
            return Ok(());
        }
        let state = self.tables.next[item.state][&Symbol::Terminal(terminal)];
        let mode = self.modes[state];
        let taken = self.lexer.next(context.mode, &context.pending, terminal, self.budget)?;
        for followed in taken {
            let pending = followed.pending;
            let context = self.context(Context { mode, denied: Vec::new(), pending });
            let next = self.item(node, Item { dot: item.dot + 1, state, context, ..item });
            self.nodes[node].steps[id].push((Step::Texts(followed.texts), next));
        }
        Ok(())
    }

    /// All that was found, as rules.
    fn into_rules(mut self, whole: usize) -> Result<RuleSet, Error> {
        let mut set = RuleSet::new(Exprs::default(), Vec::new(), RuleId(0));
        let mut ids: FxHashMap<(usize, ContextId), RuleId> = FxHashMap::default();
        for (node, found) in self.nodes.iter().enumerate() {
            for &end in &found.ends {
                let id = 1 + ids.len();
                ids.insert((node, end), rule_id(id));
            }
        }
        let mut imported = Imported::default();
        let mut whole_texts = Vec::new();
        for end in self.nodes[whole].ends.clone() {
            let context = self.contexts[end].clone();
            if context.denied.contains(&self.end) {
                continue;
            }
            let gap = self.lexer.gap(context.mode, &context.pending, self.budget)?;
            let exprs = self.lexer.following.exprs();
            let gap = gap.iter().filter(|it| exprs.is_nullable(it.pending.rest));
            let gap: Vec<ExprId> = gap.map(|it| it.texts).collect();
            let gap = self.lexer.following.exprs().choice(&gap);
            let gap = set.exprs.import(self.lexer.following.exprs(), gap, &mut imported);
            let call = set.exprs.call(ids[&(whole, end)]);
            whole_texts.push(set.exprs.seq2(call, gap));
        }
        let body = set.exprs.choice(&whole_texts);
        set.rules.push(("text".to_owned(), body));
        for node in 0..self.nodes.len() {
            for end in self.nodes[node].ends.clone() {
                self.budget.tick()?;
                let allowed = self.budget.limits.expressions;
                if set.exprs.len() > allowed {
                    return Err(Error::limit("expressions", allowed));
                }
                let body = self.body(node, end, &ids, &mut set.exprs, &mut imported);
                let (state, rule, _) = self.begun[node];
                let name = format!("{}_{state}_{}", self.bnf.rules[rule].0, set.rules.len());
                set.rules.push((name, body));
            }
        }
        Ok(set)
    }

    /// What a begun rule reads until it ends in a context: last things first.
    fn body(
        &mut self,
        node: usize,
        end: ContextId,
        ids: &FxHashMap<(usize, ContextId), RuleId>,
        exprs: &mut Exprs,
        imported: &mut Imported,
    ) -> ExprId {
        let found = &self.nodes[node];
        let mut order: Vec<usize> = (0..found.items.len()).collect();
        order.sort_unstable_by_key(|&it| std::cmp::Reverse(found.items[it].dot));
        let mut rest = vec![exprs.nothing(); found.items.len()];
        let mut ways = Vec::new();
        for id in order {
            let item = found.items[id];
            let symbols = &self.bnf.productions[item.production].symbols;
            if item.dot == symbols.len() {
                if ends_in(self.tables, &self.contexts, item, &self.contexts[end]) {
                    rest[id] = exprs.empty();
                }
            } else {
                let mut alternatives = Vec::with_capacity(found.steps[id].len());
                for &(step, next) in &found.steps[id] {
                    let first = match step {
                        Step::Texts(texts) => {
                            exprs.import(self.lexer.following.exprs(), texts, imported)
                        }
                        Step::Rule(called, end) => exprs.call(ids[&(called, end)]),
                    };
                    alternatives.push(exprs.seq2(first, rest[next]));
                }
                rest[id] = exprs.choice(&alternatives);
            }
            if item.dot == 0 {
                ways.push(rest[id]);
            }
        }
        exprs.choice(&ways)
    }
}

/// Whether a complete item ends its rule in the context `end`.
fn ends_in(tables: &Tables, contexts: &[Context], item: Item, end: &Context) -> bool {
    let context = &contexts[item.context];
    let denied = tables.denied.get(&(item.state, item.production));
    let mut all = context.denied.clone();
    all.extend(denied.into_iter().flatten());
    all.sort_unstable();
    all.dedup();
    context.mode == end.mode && context.pending == end.pending && all == end.denied
}

fn rule_id(rule: usize) -> RuleId {
    RuleId(u32::try_from(rule).expect("limits keep rules below 2^32"))
}
