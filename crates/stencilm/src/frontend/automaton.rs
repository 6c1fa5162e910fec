//! Automata become expressions: states are taken out one by one (state elimination, as textbooks have it).

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{ExprId, Exprs, UNBOUNDED};
use crate::limits::Budget;

/// What a state counts for on the way to an expression: ways lead from each to each.
const STATE: usize = 125;

/// A way from one state to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) texts: ExprId,
}

/// States by number, and ways between them.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(crate) count: usize,
    pub(crate) edges: Vec<Edge>,
}

impl Automaton {
    /// The texts that lead from `start` to one of `ends`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn texts(
        &self,
        start: usize,
        ends: &[usize],
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let useful = self.useful(start, ends);
        let states: Vec<usize> = (0..self.count).filter(|&it| useful[it]).collect();
        if states.is_empty() {
            return Ok(exprs.nothing());
        }
        budget.check_search(states.len(), STATE)?;
        let (first, last) = (self.count, self.count + 1);
        let mut ways: FxHashMap<(usize, usize), ExprId> = FxHashMap::default();
        let add = |exprs: &mut Exprs, ways: &mut FxHashMap<(usize, usize), ExprId>, key, texts| {
            let known = ways.get(&key).copied().unwrap_or(exprs.nothing());
            ways.insert(key, exprs.choice(&[known, texts]));
        };
        for edge in self.edges.iter().filter(|edge| useful[edge.from] && useful[edge.to]) {
            add(exprs, &mut ways, (edge.from, edge.to), edge.texts);
        }
        let empty = exprs.empty();
        add(exprs, &mut ways, (first, start), empty);
        for &end in ends.iter().filter(|&&end| useful[end]) {
            add(exprs, &mut ways, (end, last), empty);
        }
        let mut left = states;
        while !left.is_empty() {
            // The one with the fewest ways through it makes the smallest expression.
            let through = |state: usize| {
                let count =
                    |is: &dyn Fn(&(usize, usize)) -> bool| ways.keys().filter(|it| is(it)).count();
                count(&|it| it.0 == state && it.1 != state)
                    * count(&|it| it.1 == state && it.0 != state)
            };
            let place = (0..left.len()).min_by_key(|&it| through(left[it])).unwrap_or(0);
            let state = left.swap_remove(place);
            budget.check()?;
            let allowed = budget.limits.expressions;
            if exprs.len() > allowed {
                return Err(Error::limit("expressions", allowed));
            }
            let around = ways.remove(&(state, state));
            let around = around.map_or(empty, |texts| exprs.repeat(texts, 0, UNBOUNDED));
            let mut into: Vec<(usize, ExprId)> = Vec::new();
            let mut out: Vec<(usize, ExprId)> = Vec::new();
            ways.retain(|&(from, to), texts| {
                if to == state {
                    into.push((from, *texts));
                } else if from == state {
                    out.push((to, *texts));
                }
                from != state && to != state
            });
            into.sort_unstable();
            out.sort_unstable();
            for &(from, before) in &into {
                for &(to, after) in &out {
                    let texts = exprs.seq(&[before, around, after]);
                    add(exprs, &mut ways, (from, to), texts);
                }
            }
        }
        Ok(ways.get(&(first, last)).copied().unwrap_or(exprs.nothing()))
    }

    /// The states that lie on a way from `start` to one of `ends`.
    fn useful(&self, start: usize, ends: &[usize]) -> Vec<bool> {
        let reach = |from: &[usize], is_back: bool| {
            let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.count];
            for edge in &self.edges {
                let (from, to) = if is_back { (edge.to, edge.from) } else { (edge.from, edge.to) };
                next[from].push(to);
            }
            let mut seen = vec![false; self.count];
            let mut todo = from.to_vec();
            while let Some(at) = todo.pop() {
                if !std::mem::replace(&mut seen[at], true) {
                    todo.extend(&next[at]);
                }
            }
            seen
        };
        let (ahead, back) = (reach(&[start], false), reach(ends, true));
        (0..self.count).map(|it| ahead[it] && back[it]).collect()
    }
}
