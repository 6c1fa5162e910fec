//! Which rules with a number can be made when they are called: the definitions say without numbers
//! that no rule comes to itself again before anything is read.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::frontend::lark::names::{DefinitionId, Names};
use crate::frontend::lark::terminals::Terminals;
use crate::frontend::lark::tree::{Node, NodeId, Tree};
use crate::limits::Budget;

/// More definitions than a person would count in.
const MOST_DEFINITIONS: usize = 100;

/// What a rule with a number needs, and in which order.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The definitions, the one that was asked for first.
    pub(crate) definitions: Vec<DefinitionId>,
    /// The pieces of each body, parts before wholes.
    pub(crate) nodes: Vec<Vec<NodeId>>,
    /// The rank of each definition's rules.
    pub(crate) ranks: Vec<u32>,
    /// The places of the pieces of each that are calls and may come first.
    firsts: Vec<FxHashSet<usize>>,
}

impl Plan {
    /// Whether a call may come first in its rule.
    pub(crate) fn is_first(&self, definition: u32, piece: usize) -> bool {
        self.firsts[definition as usize].contains(&piece)
    }

    /// The plan for one definition with a number; none if its rules must all be made at once.
    ///
    /// # Errors
    /// A terminal is refused, or a limit.
    pub(crate) fn find(
        tree: &Tree,
        names: &Names,
        root: DefinitionId,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Error> {
        let mut plan = Self {
            definitions: vec![root],
            nodes: Vec::new(),
            ranks: Vec::new(),
            firsts: Vec::new(),
        };
        let mut callees: Vec<FxHashMap<usize, usize>> = Vec::new();
        while let Some(&definition) = plan.definitions.get(plan.nodes.len()) {
            let it = &names.definitions[definition];
            let attributes = &it.attributes;
            let is_plain = it.parameters.is_empty()
                && !attributes.change_texts()
                && attributes.mark.is_empty();
            let (Some(body), true) = (it.body, is_plain) else {
                return Ok(None);
            };
            let mut nodes = Vec::new();
            let mut todo = vec![body];
            while let Some(node) = todo.pop() {
                budget.tick()?;
                nodes.push(node);
                if !is_leaf(&tree.nodes[node]) {
                    todo.extend(tree.parts(node));
                }
            }
            nodes.sort_unstable();
            let mut calls = FxHashMap::default();
            for (place, &node) in nodes.iter().enumerate() {
                let callee = match &tree.nodes[node] {
                    Node::Numbered(name, _) => names.find(name),
                    Node::Name(name) if !name.is_terminal() => names.find(name),
                    Node::Template(..) | Node::Schema(_) | Node::Inner(_) => return Ok(None),
                    _ => continue,
                };
                let Some(callee) = callee else {
                    return Ok(None);
                };
                let known = plan.definitions.iter().position(|&it| it == callee);
                let at = known.unwrap_or_else(|| {
                    plan.definitions.push(callee);
                    plan.definitions.len() - 1
                });
                calls.insert(place, at);
            }
            if plan.definitions.len() > MOST_DEFINITIONS {
                return Ok(None);
            }
            callees.push(calls);
            plan.nodes.push(nodes);
        }
        let empty = plan.nullable(tree, names, &callees, budget)?;
        for (at, calls) in callees.iter().enumerate() {
            let first = plan.first(tree, at, &empty[at]);
            plan.firsts.push(calls.keys().copied().filter(|&place| first[place]).collect());
        }
        plan.ranks = match plan.order(&callees) {
            Some(ranks) => ranks,
            None => return Ok(None),
        };
        Ok(Some(plan))
    }

    /// The place of a piece among those of its definition.
    pub(crate) fn place(&self, definition: usize, node: NodeId) -> usize {
        self.nodes[definition].partition_point(|&it| it < node)
    }

    /// The place of a definition.
    pub(crate) fn definition(&self, id: DefinitionId) -> Option<usize> {
        self.definitions.iter().position(|&it| it == id)
    }

    /// Whether each piece may be empty, whatever the numbers are.
    fn nullable(
        &self,
        tree: &Tree,
        names: &Names,
        callees: &[FxHashMap<usize, usize>],
        budget: &mut Budget,
    ) -> Result<Vec<Vec<bool>>, Error> {
        let mut terminals = Terminals::new(tree, names, 0);
        let mut found: Vec<Vec<bool>> = Vec::new();
        for nodes in &self.nodes {
            let mut own = vec![false; nodes.len()];
            for (place, &node) in nodes.iter().enumerate() {
                let is_terminal = match &tree.nodes[node] {
                    Node::Special(_) | Node::Numbered(..) => false,
                    Node::Name(name) => name.is_terminal(),
                    it => is_leaf(it),
                };
                if is_terminal {
                    let texts = terminals.regular(node, budget)?;
                    own[place] = terminals.set.exprs.is_nullable(texts);
                }
            }
            found.push(own);
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (at, nodes) in self.nodes.iter().enumerate() {
                budget.tick()?;
                for (place, &node) in nodes.iter().enumerate() {
                    let part = |part: &NodeId| found[at][self.place(at, *part)];
                    let is_empty = found[at][place]
                        || match &tree.nodes[node] {
                            Node::Seq(parts) => parts.iter().all(part),
                            Node::Choice(parts) => parts.iter().any(part),
                            Node::Repeat(inner, min, _) => *min == 0 || part(inner),
                            Node::If(inner, _) => part(inner),
                            _ => callees[at]
                                .get(&place)
                                .is_some_and(|&callee| found[callee].last() == Some(&true)),
                        };
                    has_changed |= is_empty != found[at][place];
                    found[at][place] = is_empty;
                }
            }
        }
        Ok(found)
    }

    /// Whether each piece of a definition may come first.
    fn first(&self, tree: &Tree, definition: usize, empty: &[bool]) -> Vec<bool> {
        let nodes = &self.nodes[definition];
        let mut first = vec![false; nodes.len()];
        if let Some(whole) = first.last_mut() {
            *whole = true;
        }
        for (place, &node) in nodes.iter().enumerate().rev() {
            if is_leaf(&tree.nodes[node]) {
                continue;
            }
            let is_sequence = matches!(&tree.nodes[node], Node::Seq(_));
            let mut is_first = first[place];
            for &part in tree.parts(node) {
                let part = self.place(definition, part);
                first[part] = is_first;
                is_first &= !is_sequence || empty[part];
            }
        }
        first
    }

    /// Ranks, callers before what they call first; none if a definition calls itself so.
    fn order(&self, callees: &[FxHashMap<usize, usize>]) -> Option<Vec<u32>> {
        let count = self.definitions.len();
        let calls: Vec<FxHashSet<usize>> = (0..count)
            .map(|at| {
                let calls = self.firsts[at].iter();
                calls.filter_map(|place| callees[at].get(place).copied()).collect()
            })
            .collect();
        let mut ranks = vec![None; count];
        for rank in 0..count {
            let is_next = |at: &usize| {
                let is_called = |by: usize| ranks[by].is_none() && calls[by].contains(at);
                ranks[*at].is_none() && !(0..count).any(is_called)
            };
            let next = (0..count).find(is_next)?;
            ranks[next] = u32::try_from(rank).ok();
        }
        ranks.into_iter().collect()
    }
}

/// Whether a piece is made as a whole.
fn is_leaf(node: &Node) -> bool {
    !matches!(node, Node::Seq(_) | Node::Choice(_) | Node::Repeat(..) | Node::If(..))
}
