//! Earley's algorithm over the rules' automata: the judge's answers, a thousand times faster.
//!
//! A column holds, for one position, all (rule, state, origin) that the text read so far allows
//! and that anything at all may still complete.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::oracle::judge::{Judge, Relation, Text};
use crate::oracle::nfa::{ACCEPT, Label, START, Symbol};

/// What may follow the text.
#[derive(Debug)]
pub(crate) enum Tail {
    /// Any symbols.
    Anything,
    /// Any sequence of these tokens.
    Tokens(Vec<Vec<Symbol>>),
}

/// A text being read.
pub(crate) struct Chart<'a> {
    judge: &'a Judge,
    /// For each rule, which states any symbols can lead to the end of the rule.
    useful: Vec<Vec<bool>>,
    /// Which rules match the empty text.
    nullable: Vec<bool>,
    columns: Vec<Column>,
    tokens: Option<TokenTail>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    rule: usize,
    state: usize,
    origin: usize,
}

#[derive(Debug, Default)]
struct Column {
    items: Vec<Item>,
    seen: FxHashSet<Item>,
    /// For each rule called here, where its callers stand when it has ended.
    waiting: FxHashMap<usize, Vec<Item>>,
}

/// Sequences of tokens as a text, and how the rules lead through it.
struct TokenTail {
    text: Text,
    relation: Relation,
    ends: FxHashMap<(usize, usize, usize), Vec<usize>>,
}

impl<'a> Chart<'a> {
    /// Nothing read yet.
    pub(crate) fn new(judge: &'a Judge, tail: Tail) -> Self {
        let (useful, nullable) = (useful_states(judge), nullable_rules(judge));
        let tokens = match tail {
            Tail::Anything => None,
            Tail::Tokens(tokens) => {
                let mut text = Text::line(&[]);
                text.add_tokens(0, &tokens);
                let relation = judge.relation(&text);
                Some(TokenTail { text, relation, ends: FxHashMap::default() })
            }
        };
        let mut chart = Self { judge, useful, nullable, columns: Vec::new(), tokens };
        let mut first = Column::default();
        chart.add(&mut first, Item { rule: judge.start, state: START, origin: 0 });
        chart.close(first);
        chart
    }

    /// How many symbols were read.
    pub(crate) fn len(&self) -> usize {
        self.columns.len() - 1
    }

    /// Reads one symbol.
    pub(crate) fn push(&mut self, symbol: Symbol) {
        let mut next = Column::default();
        for item in &self.columns[self.len()].items {
            for &(label, state) in &self.judge.rules[item.rule].edges[item.state] {
                if matches!(label, Label::Symbols(low, high) if low <= symbol && symbol <= high) {
                    self.add(&mut next, Item { state, ..*item });
                }
            }
        }
        self.close(next);
    }

    /// Reads these symbols.
    pub(crate) fn read(&mut self, symbols: &[Symbol]) {
        for &symbol in symbols {
            self.push(symbol);
        }
    }

    /// Forgets all symbols but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.columns.truncate(len + 1);
    }

    /// Whether what was read is a sentence.
    pub(crate) fn accepts(&self) -> bool {
        let whole = Item { rule: self.judge.start, state: ACCEPT, origin: 0 };
        self.columns[self.len()].seen.contains(&whole)
    }

    /// Whether what was read can be completed by what may follow.
    pub(crate) fn is_live(&mut self) -> bool {
        if self.columns[self.columns.len() - 1].items.is_empty() {
            return false;
        }
        match self.tokens.take() {
            None => true,
            Some(mut tail) => {
                let live = self.is_live_with(&mut tail);
                self.tokens = Some(tail);
                live
            }
        }
    }

    /// Whether what was read and then `token` can be completed.
    pub(crate) fn may_come(&mut self, token: &[Symbol]) -> bool {
        let len = self.len();
        for &symbol in token {
            self.push(symbol);
            if self.columns[self.columns.len() - 1].items.is_empty() {
                self.truncate(len);
                return false;
            }
        }
        let live = self.is_live();
        self.truncate(len);
        live
    }

    /// All symbols out of `0..end` after which the text is live.
    pub(crate) fn next_symbols(&mut self, end: Symbol) -> Vec<Symbol> {
        (0..end).filter(|&symbol| self.may_come(&[symbol])).collect()
    }

    /// The least set of (rule, origin, place in the tail) such that the rule that began at
    /// `origin` may end there. The text is live if the start rule may end between two tokens.
    fn is_live_with(&self, tail: &mut TokenTail) -> bool {
        let mut ended: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
        let mut todo = Vec::new();
        for &item in &self.columns[self.len()].items {
            todo.extend(self.ends_in(tail, item, 0));
        }
        while let Some((rule, origin, place)) = todo.pop() {
            if !ended.insert((rule, origin, place)) {
                continue;
            }
            for &caller in self.columns[origin].waiting.get(&rule).into_iter().flatten() {
                todo.extend(self.ends_in(tail, caller, place));
            }
        }
        ended.contains(&(self.judge.start, 0, 0))
    }

    fn ends_in(
        &self,
        tail: &mut TokenTail,
        item: Item,
        place: usize,
    ) -> Vec<(usize, usize, usize)> {
        let Item { rule, state, origin } = item;
        let ends = tail.ends.entry((rule, state, place)).or_insert_with(|| {
            let ends = self.judge.ends(rule, state, place, &tail.text, &tail.relation);
            ends.into_iter().collect()
        });
        ends.iter().map(|&end| (rule, origin, end)).collect()
    }

    fn add(&self, column: &mut Column, item: Item) {
        if self.useful[item.rule][item.state] && column.seen.insert(item) {
            column.items.push(item);
        }
    }

    /// Predicts and completes until nothing is new. An empty rule ends where it was called, so
    /// its callers go on at once: those that come later would not be seen by its end.
    fn close(&mut self, mut column: Column) {
        let here = self.columns.len();
        let mut at = 0;
        while at < column.items.len() {
            let item = column.items[at];
            at += 1;
            if item.state == ACCEPT && item.origin < here {
                let waiting = self.columns[item.origin].waiting.get(&item.rule);
                for &caller in waiting.into_iter().flatten() {
                    self.add(&mut column, caller);
                }
            }
            for &(label, state) in &self.judge.rules[item.rule].edges[item.state] {
                let after = Item { state, ..item };
                match label {
                    Label::Empty => self.add(&mut column, after),
                    Label::Call(rule) if self.useful[item.rule][state] => {
                        column.waiting.entry(rule).or_default().push(after);
                        self.add(&mut column, Item { rule, state: START, origin: here });
                        if self.nullable[rule] {
                            self.add(&mut column, after);
                        }
                    }
                    Label::Call(_) | Label::Symbols(..) => {}
                }
            }
        }
        self.columns.push(column);
    }
}

fn useful_states(judge: &Judge) -> Vec<Vec<bool>> {
    let all = judge.rules.iter();
    let mut useful: Vec<Vec<bool>> = all.map(|rule| vec![false; rule.edges.len()]).collect();
    for states in &mut useful {
        states[ACCEPT] = true;
    }
    let mut grew = true;
    while grew {
        grew = false;
        for (rule, nfa) in judge.rules.iter().enumerate() {
            for state in (0..nfa.edges.len()).rev() {
                let ends = nfa.edges[state].iter().any(|&(label, next)| {
                    let passes = match label {
                        Label::Empty | Label::Symbols(..) => true,
                        Label::Call(callee) => useful[callee][START],
                    };
                    passes && useful[rule][next]
                });
                if ends && !useful[rule][state] {
                    (useful[rule][state], grew) = (true, true);
                }
            }
        }
    }
    useful
}

/// By the judge's own relation on the empty text.
fn nullable_rules(judge: &Judge) -> Vec<bool> {
    judge.relation(&Text::line(&[])).iter().map(|ends| ends[0].contains(&0)).collect()
}
