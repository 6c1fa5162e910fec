//! LALR(1) tables: the states, which terminals each accepts, and which reductions lose a conflict.
//!
//! Look-aheads are follow sets of the grammar whose rules are annotated with the states that they
//! begin in (Bermudez and Logothetis, "Simple computation of LALR(1) lookahead sets", 1989).

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::lark::contextual::bnf::{Bnf, Symbol};
use crate::limits::Budget;

/// A set of terminals; one more stands for the end of the text.
type Terminals = Vec<u64>;

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// Where each symbol leads, for each state.
    pub(crate) next: Vec<FxHashMap<Symbol, usize>>,
    /// The terminals that each state has an action for, sorted; without the end.
    pub(crate) accepted: Vec<Vec<usize>>,
    /// Terminals before which a production that is complete in a state is not reduced, since
    /// another action won.
    pub(crate) denied: FxHashMap<(usize, usize), Vec<usize>>,
}

/// A production and how much of it was read.
type Item = (usize, usize);

/// The tables for a start rule; `end` is the number of terminals, and stands for the end.
///
/// # Errors
/// Two reductions for one terminal, between which no priority decides; or a limit.
pub(crate) fn tables(
    bnf: &Bnf,
    start: usize,
    end: usize,
    terminal_name: &dyn Fn(usize) -> String,
    budget: &mut Budget,
) -> Result<Tables, Error> {
    let mut builder = Builder { bnf, end, budget, kernels: Vec::new(), next: Vec::new() };
    builder.states(start)?;
    let ahead = builder.look_aheads(start)?;
    builder.decide(&ahead, terminal_name)
}

#[derive(Debug)]
struct Builder<'a> {
    bnf: &'a Bnf,
    end: usize,
    budget: &'a mut Budget,
    kernels: Vec<Vec<Item>>,
    next: Vec<FxHashMap<Symbol, usize>>,
}

impl Builder<'_> {
    /// What comes next in an item.
    fn symbol(&self, (production, dot): Item) -> Option<Symbol> {
        self.bnf.productions.get(production)?.symbols.get(dot).copied()
    }

    /// The rules that may begin where these items are, and all items there.
    fn closure(&self, kernel: &[Item], also: Option<usize>) -> Vec<Item> {
        let mut items = kernel.to_vec();
        let mut has = vec![false; self.bnf.rules.len()];
        let add = |items: &mut Vec<Item>, has: &mut Vec<bool>, rule: usize| {
            if !std::mem::replace(&mut has[rule], true) {
                items.extend(self.bnf.rules[rule].2.iter().map(|&production| (production, 0)));
            }
        };
        if let Some(rule) = also {
            add(&mut items, &mut has, rule);
        }
        let mut at = 0;
        while let Some(&(production, dot)) = items.get(at) {
            if let Some(Symbol::Rule(rule)) = self.symbol((production, dot)) {
                add(&mut items, &mut has, rule);
            }
            at += 1;
        }
        items
    }

    fn states(&mut self, start: usize) -> Result<(), Error> {
        let mut ids: FxHashMap<Vec<Item>, usize> = FxHashMap::default();
        // The first state has no item read yet; the start rule begins there.
        self.kernels.push(Vec::new());
        ids.insert(Vec::new(), 0);
        let mut at = 0;
        while at < self.kernels.len() {
            self.budget.check()?;
            let items = self.closure(&self.kernels[at], (at == 0).then_some(start));
            let mut moved: FxHashMap<Symbol, Vec<Item>> = FxHashMap::default();
            if at == 0 {
                // The whole text leads to a state of its own, also where the start is recursive.
                moved.entry(Symbol::Rule(start)).or_default().push((usize::MAX, 1));
            }
            for (production, dot) in items {
                if let Some(symbol) = self.symbol((production, dot)) {
                    moved.entry(symbol).or_default().push((production, dot + 1));
                }
            }
            let mut symbols: Vec<Symbol> = moved.keys().copied().collect();
            symbols.sort_unstable();
            let mut next = FxHashMap::default();
            for symbol in symbols {
                self.budget.tick()?;
                let mut kernel = moved.remove(&symbol).unwrap_or_default();
                kernel.sort_unstable();
                let id = *ids.entry(kernel).or_insert_with_key(|kernel| {
                    self.kernels.push(kernel.clone());
                    self.kernels.len() - 1
                });
                next.insert(symbol, id);
            }
            self.next.push(next);
            at += 1;
            let allowed = self.budget.limits.rules;
            if self.kernels.len() > allowed {
                return Err(Error::limit("rules", allowed));
            }
        }
        for kernel in &mut self.kernels {
            kernel.retain(|&(production, _)| production != usize::MAX);
        }
        Ok(())
    }

    /// Which rules may be empty, and which terminals may come first in each.
    fn firsts(&mut self) -> Result<(Vec<bool>, Vec<Terminals>), Error> {
        let words = self.end / 64 + 1;
        let mut nullable = vec![false; self.bnf.rules.len()];
        let mut firsts = vec![vec![0_u64; words]; self.bnf.rules.len()];
        loop {
            let mut is_new = false;
            for production in &self.bnf.productions {
                self.budget.tick()?;
                let mut all_nullable = true;
                for symbol in &production.symbols {
                    match *symbol {
                        Symbol::Terminal(terminal) => {
                            is_new |= insert(&mut firsts[production.rule], terminal);
                            all_nullable = false;
                        }
                        Symbol::Rule(rule) => {
                            let first = firsts[rule].clone();
                            is_new |= unite(&mut firsts[production.rule], &first);
                            all_nullable = nullable[rule];
                        }
                    }
                    if !all_nullable {
                        break;
                    }
                }
                is_new |= all_nullable && !std::mem::replace(&mut nullable[production.rule], true);
            }
            if !is_new {
                return Ok((nullable, firsts));
            }
        }
    }

    /// For each state and each production that is complete there: what may follow.
    fn look_aheads(&mut self, start: usize) -> Result<FxHashMap<(usize, usize), Terminals>, Error> {
        let (nullable, firsts) = self.firsts()?;
        let words = self.end / 64 + 1;
        let mut ids: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut begun: Vec<(usize, usize)> = Vec::new();
        for (state, next) in self.next.iter().enumerate() {
            for &symbol in next.keys() {
                if let Symbol::Rule(rule) = symbol {
                    ids.insert((state, rule), begun.len());
                    begun.push((state, rule));
                }
            }
        }
        let mut follow = vec![vec![0_u64; words]; begun.len()];
        let mut handed_on: Vec<Vec<usize>> = vec![Vec::new(); begun.len()];
        let mut complete: Vec<(usize, usize, usize)> = Vec::new();
        if let Some(&whole) = ids.get(&(0, start)) {
            insert(&mut follow[whole], self.end);
        }
        for (from, &(state, rule)) in begun.iter().enumerate() {
            for &production in &self.bnf.rules[rule].2 {
                let symbols = &self.bnf.productions[production].symbols;
                let mut at = state;
                for (place, &symbol) in symbols.iter().enumerate() {
                    self.budget.tick()?;
                    if let Symbol::Rule(rule) = symbol {
                        let id = ids[&(at, rule)];
                        let mut is_last = true;
                        for after in &symbols[place + 1..] {
                            match *after {
                                Symbol::Terminal(terminal) => {
                                    insert(&mut follow[id], terminal);
                                    is_last = false;
                                }
                                Symbol::Rule(rule) => {
                                    unite(&mut follow[id], &firsts[rule]);
                                    is_last = nullable[rule];
                                }
                            }
                            if !is_last {
                                break;
                            }
                        }
                        if is_last {
                            handed_on[from].push(id);
                        }
                    }
                    at = self.next[at][&symbol];
                }
                complete.push((at, production, from));
            }
        }
        let mut todo: Vec<usize> = (0..begun.len()).collect();
        while let Some(from) = todo.pop() {
            self.budget.tick()?;
            let set = follow[from].clone();
            for &to in &handed_on[from] {
                if unite(&mut follow[to], &set) {
                    todo.push(to);
                }
            }
        }
        let mut ahead: FxHashMap<(usize, usize), Terminals> = FxHashMap::default();
        for (state, production, from) in complete {
            let set = ahead.entry((state, production)).or_insert_with(|| vec![0; words]);
            unite(set, &follow[from]);
        }
        Ok(ahead)
    }

    fn decide(
        self,
        ahead: &FxHashMap<(usize, usize), Terminals>,
        terminal_name: &dyn Fn(usize) -> String,
    ) -> Result<Tables, Error> {
        let mut reductions: Vec<Vec<(usize, &Terminals)>> = vec![Vec::new(); self.next.len()];
        for (&(state, production), set) in ahead {
            reductions[state].push((production, set));
        }
        let mut tables = Tables::default();
        for (state, found) in reductions.iter_mut().enumerate() {
            self.budget.tick()?;
            found.sort_unstable_by_key(|&(production, _)| production);
            let mut accepted = vec![0_u64; self.end / 64 + 1];
            let mut shifted = accepted.clone();
            for symbol in self.next[state].keys() {
                if let Symbol::Terminal(terminal) = *symbol {
                    insert(&mut shifted, terminal);
                }
            }
            unite(&mut accepted, &shifted);
            for &(production, set) in &*found {
                unite(&mut accepted, set);
                let mut denied: Vec<usize> =
                    members(set).filter(|&it| contains(&shifted, it)).collect();
                for &(other, others) in &*found {
                    let priority = |it: usize| {
                        let rule = self.bnf.productions[it].rule;
                        self.bnf.rules[rule].1
                    };
                    if other == production {
                        continue;
                    }
                    for both in members(set).filter(|&it| contains(others, it)) {
                        if priority(other) == priority(production) {
                            return Err(self.conflict(production, other, &terminal_name(both)));
                        }
                        if priority(other) > priority(production) {
                            denied.push(both);
                        }
                    }
                }
                if !denied.is_empty() {
                    denied.sort_unstable();
                    denied.dedup();
                    tables.denied.insert((state, production), denied);
                }
            }
            tables.accepted.push(members(&accepted).filter(|&it| it != self.end).collect());
        }
        tables.next = self.next;
        Ok(tables)
    }

    fn conflict(&self, a: usize, b: usize, terminal: &str) -> Error {
        let name = |production: usize| {
            let rule = self.bnf.productions[production].rule;
            format!("`{}`", self.bnf.rules[rule].0)
        };
        let message = format!(
            "a parser with one token of look-ahead cannot tell {} from {} before {terminal}: give \
             one of them a priority, or use the meaning \"cfg\"",
            name(a),
            name(b)
        );
        Error::syntax(message, 0)
    }
}

fn insert(set: &mut Terminals, terminal: usize) -> bool {
    let before = set[terminal / 64];
    set[terminal / 64] |= 1 << (terminal % 64);
    before != set[terminal / 64]
}

fn unite(set: &mut Terminals, other: &Terminals) -> bool {
    let mut is_new = false;
    for (word, more) in set.iter_mut().zip(other) {
        is_new |= *more & !*word != 0;
        *word |= more;
    }
    is_new
}

fn contains(set: &Terminals, terminal: usize) -> bool {
    set[terminal / 64] >> (terminal % 64) & 1 == 1
}

fn members(set: &Terminals) -> impl Iterator<Item = usize> {
    (0..set.len() * 64).filter(|&it| contains(set, it))
}
