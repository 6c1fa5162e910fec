//! Strongly connected components of a graph of rules (Tarjan 1972), without recursion.

use crate::error::Error;
use crate::limits::Budget;

const UNSEEN: u32 = u32::MAX;

/// The components of the graph `0..next.len()`, callees before callers.
pub(crate) fn components(next: &[Vec<u32>], budget: &mut Budget) -> Result<Vec<Vec<u32>>, Error> {
    let mut order = vec![UNSEEN; next.len()];
    let mut low = vec![0_u32; next.len()];
    let mut is_open = vec![false; next.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut count = 0;
    for root in 0..next.len() {
        if order[root] != UNSEEN {
            continue;
        }
        // A vertex, and how many of its successors are done.
        let mut path = vec![(root, 0_usize)];
        while let Some((at, done)) = path.last_mut() {
            budget.tick()?;
            let at = *at;
            if *done == 0 {
                (order[at], low[at], is_open[at]) = (count, count, true);
                count += 1;
                open.push(as_id(at));
            }
            if let Some(&to) = next[at].get(*done) {
                *done += 1;
                let to = to as usize;
                if order[to] == UNSEEN {
                    path.push((to, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(from, _)) = path.last() {
                low[from] = low[from].min(low[at]);
            }
            if low[at] == order[at] {
                let place = open.iter().rposition(|&vertex| vertex as usize == at).unwrap_or(0);
                let component = open.split_off(place);
                for &vertex in &component {
                    is_open[vertex as usize] = false;
                }
                found.push(component);
            }
        }
    }
    Ok(found)
}

/// A vertex as the id of a rule. Rules end at their limit, below 2³².
pub(crate) fn as_id(at: usize) -> u32 {
    u32::try_from(at).expect("limits keep rules below 2^32")
}
