//! Numbers as expressions: a set and what a text says of one of them.

use std::sync::Arc;

use crate::grammar::arena::Exprs;
use crate::grammar::expr::{Expr, ExprId, NumberSetId, NumberStateId};
use crate::number::{NumberSet, NumberState};

impl Exprs {
    /// The texts of a set of numbers.
    pub(crate) fn number(&mut self, set: &Arc<NumberSet>) -> ExprId {
        let set = self.number_set_id(set);
        self.number_from(set, NumberState::Start { is_negative: false, is_far: false })
    }

    /// What follows a text with this state, which must lead to a number of the set.
    pub(crate) fn number_from(&mut self, set: NumberSetId, state: NumberState) -> ExprId {
        let state = self.number_state_id(state);
        self.intern(Expr::Number { set, state })
    }

    /// What follows one more byte of a number; `Nothing` if none of the set goes on so.
    pub fn after_number_byte(
        &mut self,
        set: NumberSetId,
        state: NumberStateId,
        byte: u8,
    ) -> ExprId {
        match self.number_set(set).step(self.number_state(state), byte) {
            Some(next) => self.number_from(set, next),
            None => self.nothing(),
        }
    }
}
