//! Whether an object that can be completed can be completed to one that is none of some others.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::extent::Extent;
use crate::frontend::json_schema::satisfy::Search;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, NEVER, TermId};

/// What a member may do to tell an object from others.
struct Way {
    member: u32,
    is_required: bool,
    values: Arc<[ConstantId]>,
}

impl Schemas {
    /// Whether the members that are left, of which `need` to `room` may come that are not required,
    /// leave some object that is none of those excepted.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn can_differ(
        &mut self,
        search: &Search,
        classes: &[TermId],
        need: u32,
        room: u32,
    ) -> Result<bool, Error> {
        let alike = self.may_be_alike(search)?;
        if alike.is_empty() {
            return Ok(true);
        }
        let table = search.table.clone();
        // A name that none of them has.
        if room > 0 && table.others_left(search.at) > 0 {
            for &class in classes {
                if self.is_alive(class)? {
                    return Ok(true);
                }
            }
        }
        let mut ways = Vec::new();
        for member in 0..table.len() {
            if !self.is_left(&table, search.at, member) {
                continue;
            }
            let (value, is_required) = search.asked.get(&member).copied().unwrap_or((ANY, false));
            if (!is_required && room == 0) || !self.is_alive(value)? {
                continue;
            }
            match self.extent(value)? {
                // One of them is none of those that the others have.
                Extent::Many { .. } | Extent::Unknown => return Ok(true),
                Extent::Few(values) => ways.push(Way { member, is_required, values }),
            }
        }
        self.find_way(search, &ways, alike, need, room)
    }

    /// The excepted objects that one may become for all that is asked of it.
    fn may_be_alike(&mut self, search: &Search) -> Result<Vec<ConstantId>, Error> {
        let table = search.table.clone();
        let is_missing = |schemas: &Self, members: &[(u32, ConstantId)]| {
            search.asked.iter().any(|(&member, &(_, is_required))| {
                is_required
                    && schemas.is_left(&table, search.at, member)
                    && !members.iter().any(|&(own, _)| own == member)
            })
        };
        let mut alike = Vec::new();
        'next: for &known in &search.except {
            let members = &table.constants[&known];
            if is_missing(self, members) {
                continue;
            }
            for &(member, value) in members {
                if self.is_left(&table, search.at, member) {
                    let (asked, _) = search.asked.get(&member).copied().unwrap_or((ANY, false));
                    let same = self.constant(value);
                    let both = self.terms.and2(asked, same);
                    if both == NEVER || !self.is_alive(both)? {
                        continue 'next;
                    }
                }
            }
            alike.push(known);
        }
        Ok(alike)
    }

    /// Whether some members with some of their few values leave none of `alike`.
    fn find_way(
        &mut self,
        search: &Search,
        ways: &[Way],
        alike: Vec<ConstantId>,
        need: u32,
        room: u32,
    ) -> Result<bool, Error> {
        let table = search.table.clone();
        let limit = self.budget.limits.search;
        let mut looked_at = 0;
        let mut todo = vec![(0, alike, need, room)];
        while let Some((at, alike, need, room)) = todo.pop() {
            self.budget.tick()?;
            looked_at += 1;
            if looked_at > limit {
                return Err(Error::limit("search", limit));
            }
            let left = ways[at..].iter().filter(|way| !way.is_required).count();
            if (left.min(room as usize) as u64) < u64::from(need) {
                continue;
            }
            let Some(way) = ways.get(at) else {
                if alike.is_empty() {
                    return Ok(true);
                }
                continue;
            };
            if alike.is_empty() {
                // Whatever comes now, nothing is like them.
                return Ok(true);
            }
            let value_of = |known: &ConstantId| {
                let members = &table.constants[known];
                members.iter().find(|(own, _)| *own == way.member).map(|&(_, value)| value)
            };
            if !way.is_required {
                let without = alike.iter().filter(|&known| value_of(known).is_none());
                todo.push((at + 1, without.copied().collect(), need, room));
            }
            let cost = u32::from(!way.is_required);
            if cost <= room {
                for &value in way.values.iter() {
                    let same = alike.iter().filter(|&known| value_of(known) == Some(value));
                    let same = same.copied().collect();
                    todo.push((at + 1, same, need.saturating_sub(cost), room - cost));
                }
            }
        }
        Ok(false)
    }
}
