//! Arrays of which two items must be equal.
//!
//! The state remembers every item until one comes again. What comes again is known before it begins:
//! it is one of those that came.

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::frontend::json_schema::array_states::{ArrayTable, ItemStep, ItemsAt, Repeat};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::TermId;
use crate::grammar::UNBOUNDED;
use crate::interner::index;

/// The items that may still come.
struct Ahead {
    /// What they are asked for, each once.
    values: Vec<TermId>,
    /// Whether two of them are asked for alike.
    has_alike: bool,
    /// Whether as many as are missing can come.
    is_enough: bool,
}

impl ItemsAt {
    /// Two items are equal.
    pub(crate) fn repeated(self) -> Self {
        Self { came: 0, repeat: Repeat::No, ..self }
    }
}

impl Schemas {
    /// The steps of an array in which nothing came twice so far.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn steps_to_repeat(
        &mut self,
        table: &ArrayTable,
        at: ItemsAt,
    ) -> Result<Vec<ItemStep>, Error> {
        let value = table.array.item(at.count as usize);
        let count = at.count.saturating_add(1).min(table.last);
        let next = ItemsAt { count, is_first: false, ..at };
        let came = self.reach.came.get(at.came).to_vec();
        let mut steps = Vec::with_capacity(2);
        if !came.is_empty() {
            let equal: Vec<TermId> = came.iter().map(|&known| self.constant(known)).collect();
            let equal = self.terms.or(&equal);
            let value = self.terms.and2(value, equal);
            steps.push(ItemStep { value, next: next.repeated(), is_new: false });
        }
        let others = self.none_of(came);
        let mut value = self.terms.and2(value, others);
        if !self.can_repeat(table, next)? {
            // Then this one must be able to come again.
            let ahead = self.ahead(table, next)?;
            let again = self.terms.or(&ahead.values);
            value = self.terms.and2(value, again);
        }
        steps.push(ItemStep {
            value,
            next: ItemsAt { repeat: Repeat::Unknown, ..next },
            is_new: true,
        });
        Ok(steps)
    }

    /// Whether an array can be completed in which two items must be equal: one that may come is one
    /// that came, or two that may come can be the same.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn can_repeat(&mut self, table: &ArrayTable, at: ItemsAt) -> Result<bool, Error> {
        let ahead = self.ahead(table, at)?;
        if !ahead.is_enough || ahead.has_alike {
            return Ok(ahead.is_enough);
        }
        let came = self.reach.came.get(at.came).to_vec();
        let mut equal: Vec<TermId> = came.into_iter().map(|known| self.constant(known)).collect();
        for value in ahead.values {
            for &other in &equal {
                self.budget.tick()?;
                let both = self.terms.and2(value, other);
                if self.is_alive(both)? {
                    return Ok(true);
                }
            }
            equal.push(value);
        }
        Ok(false)
    }

    fn ahead(&mut self, table: &ArrayTable, at: ItemsAt) -> Result<Ahead, Error> {
        let array = &table.array;
        // Of those that are asked for alike, two are as good as all.
        let alike = index(array.prefix.len()).max(at.count).saturating_add(2);
        let mut seen = FxHashSet::default();
        let mut ahead = Ahead { values: Vec::new(), has_alike: false, is_enough: true };
        for place in at.count..array.max.min(alike) {
            self.budget.tick()?;
            let value = array.item(place as usize);
            if !self.is_alive(value)? {
                ahead.is_enough = place >= array.min;
                return Ok(ahead);
            }
            if seen.insert(value) {
                ahead.values.push(value);
            } else {
                ahead.has_alike = true;
            }
        }
        ahead.is_enough = array.max == UNBOUNDED || array.max >= array.min;
        Ok(ahead)
    }
}
