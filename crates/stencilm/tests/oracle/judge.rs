//! The judge: every answer by definition, with one textbook construction.
//!
//! A *text* is an automaton whose states are positions (Bar-Hillel). The least relation of
//! (rule, position, position) that the rules' automata allow says which rule can lead from where
//! to where. A prefix and whatever may follow it is such a text, too.

use std::collections::BTreeSet;

use stencilm::grammar::RuleSet;

use crate::oracle::nfa::{ACCEPT, FIRST_TOKEN, Label, Nfa, START, Symbol, TooBig};
use crate::oracle::plain::{Plain, Tree};

/// A grammar that can be asked.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) rules: Vec<Nfa>,
    pub(crate) start: usize,
    /// The names of the special tokens, in the order of their symbols.
    tokens: Vec<String>,
}

/// Many texts at once: an automaton without choices of its own. It starts in state 0.
#[derive(Debug)]
pub(crate) struct Text {
    /// Inclusive ranges of symbols, and where they lead.
    pub(crate) edges: Vec<Vec<(Symbol, Symbol, usize)>>,
}

/// For each rule and each position: where a text of the rule that begins here may end.
pub(crate) type Relation = Vec<Vec<BTreeSet<usize>>>;

impl Judge {
    /// The grammar as the engine holds it.
    pub(crate) fn new(rules: &RuleSet) -> Result<Self, TooBig> {
        Self::of(&Plain::read(rules))
    }

    /// A plain grammar.
    pub(crate) fn of(plain: &Plain) -> Result<Self, TooBig> {
        let mut tokens = BTreeSet::new();
        for tree in &plain.rules {
            collect_tokens(tree, &mut tokens);
        }
        let tokens: Vec<String> = tokens.into_iter().collect();
        let rules: Result<_, _> = plain.rules.iter().map(|tree| Nfa::new(tree, &tokens)).collect();
        Ok(Self { rules: rules?, start: plain.start, tokens })
    }

    /// The symbol of a special token; nothing if the grammar does not name it.
    pub(crate) fn symbol(&self, token: &str) -> Option<Symbol> {
        let place = self.tokens.iter().position(|name| name == token)?;
        Some(FIRST_TOKEN + Symbol::try_from(place).expect("few tokens"))
    }

    /// Whether `text` is a sentence.
    pub(crate) fn accepts(&self, text: &[Symbol]) -> bool {
        self.leads(&Text::line(text), text.len())
    }

    /// Whether some symbols complete `prefix` to a sentence.
    pub(crate) fn prefix_viable(&self, prefix: &[Symbol]) -> bool {
        let mut text = Text::line(prefix);
        text.edges[prefix.len()].push((0, Symbol::MAX, prefix.len()));
        self.leads(&text, prefix.len())
    }

    /// Whether some sequence of these tokens completes `prefix` to a sentence.
    pub(crate) fn live_with(&self, tokens: &[Vec<Symbol>], prefix: &[Symbol]) -> bool {
        let mut text = Text::line(prefix);
        text.add_tokens(prefix.len(), tokens);
        self.leads(&text, prefix.len())
    }

    /// Which of the tokens may come after `prefix`: those after which it is still live.
    pub(crate) fn mask(&self, prefix: &[Symbol], tokens: &[Vec<Symbol>]) -> Vec<bool> {
        let after = |token: &Vec<Symbol>| [prefix, token].concat();
        tokens.iter().map(|token| self.live_with(tokens, &after(token))).collect()
    }

    /// Whether the start rule leads from position 0 to `end`.
    fn leads(&self, text: &Text, end: usize) -> bool {
        self.relation(text)[self.start][0].contains(&end)
    }

    /// The least relation: rounds until one adds nothing.
    pub(crate) fn relation(&self, text: &Text) -> Relation {
        let mut relation = vec![vec![BTreeSet::new(); text.edges.len()]; self.rules.len()];
        loop {
            let mut grew = false;
            for rule in 0..self.rules.len() {
                for from in 0..text.edges.len() {
                    let ends = self.ends(rule, START, from, text, &relation);
                    if ends != relation[rule][from] {
                        relation[rule][from] = ends;
                        grew = true;
                    }
                }
            }
            if !grew {
                return relation;
            }
        }
    }

    /// Where the rule may end that stands in `state` at position `from`.
    pub(crate) fn ends(
        &self,
        rule: usize,
        state: usize,
        from: usize,
        text: &Text,
        relation: &Relation,
    ) -> BTreeSet<usize> {
        let edges = &self.rules[rule].edges;
        let mut seen = vec![false; edges.len() * text.edges.len()];
        let mut todo = vec![(state, from)];
        let mut ends = BTreeSet::new();
        while let Some((state, at)) = todo.pop() {
            if std::mem::replace(&mut seen[state * text.edges.len() + at], true) {
                continue;
            }
            if state == ACCEPT {
                ends.insert(at);
            }
            for &(label, next) in &edges[state] {
                match label {
                    Label::Empty => todo.push((next, at)),
                    Label::Symbols(low, high) => {
                        let read =
                            text.edges[at].iter().filter(|&&(a, b, _)| a <= high && low <= b);
                        todo.extend(read.map(|&(.., to)| (next, to)));
                    }
                    Label::Call(callee) => {
                        todo.extend(relation[callee][at].iter().map(|&to| (next, to)));
                    }
                }
            }
        }
        ends
    }
}

impl Text {
    /// One text: position i comes before symbol i.
    pub(crate) fn line(text: &[Symbol]) -> Self {
        let step = |(at, &symbol): (usize, &Symbol)| vec![(symbol, symbol, at + 1)];
        let steps = text.iter().enumerate().map(step);
        Self { edges: steps.chain([Vec::new()]).collect() }
    }

    /// Lets any sequence of tokens lead from position `root` back to it.
    pub(crate) fn add_tokens(&mut self, root: usize, tokens: &[Vec<Symbol>]) {
        let mut nodes: Vec<(Vec<Symbol>, usize)> = vec![(Vec::new(), root)];
        for token in tokens.iter().filter(|token| !token.is_empty()) {
            let mut at = root;
            let (&last, before) = token.split_last().expect("not empty");
            for (place, &symbol) in before.iter().enumerate() {
                let spelled = &token[..=place];
                let known = nodes.iter().find(|(node, _)| node == spelled).map(|&(_, node)| node);
                at = known.unwrap_or_else(|| {
                    let node = self.edges.len();
                    self.edges.push(Vec::new());
                    self.edges[at].push((symbol, symbol, node));
                    nodes.push((spelled.to_vec(), node));
                    node
                });
            }
            if !self.edges[at].contains(&(last, last, root)) {
                self.edges[at].push((last, last, root));
            }
        }
    }
}

/// The bytes of a text as symbols.
pub(crate) fn symbols(bytes: &[u8]) -> Vec<Symbol> {
    bytes.iter().map(|&byte| byte.into()).collect()
}

fn collect_tokens(tree: &Tree, tokens: &mut BTreeSet<String>) {
    match tree {
        Tree::Token(name) => {
            tokens.insert(name.clone());
        }
        Tree::Seq(parts) | Tree::Choice(parts) | Tree::And(parts) => {
            for part in parts {
                collect_tokens(part, tokens);
            }
        }
        Tree::Not(body) | Tree::Repeat(body, ..) => collect_tokens(body, tokens),
        Tree::Nothing
        | Tree::Empty
        | Tree::Literal(_)
        | Tree::OneOf(_)
        | Tree::Bytes(_)
        | Tree::Chars(..)
        | Tree::Call(_) => {}
    }
}
