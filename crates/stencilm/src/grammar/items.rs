//! Calls of the rest of an array from an item on, which may depend on the item before.

use smallvec::SmallVec;

use crate::grammar::arena::Exprs;
use crate::grammar::expr::{Expr, ExprId, RuleId};

impl Exprs {
    /// The rest of an array from an item on, called right after the bracket or the comma before it,
    /// in tail position. The array's frame remembers where the item begins; if `depends`, then
    /// [`Rules::after_item`](crate::grammar::Rules::after_item) says which rule it is after the
    /// item before. Where a mask does not know that item, it is `rule` itself.
    pub fn next_item(&mut self, rule: RuleId, depends: bool) -> ExprId {
        self.items.insert(rule, depends);
        self.call(rule)
    }

    /// Whether some rule stands for the rest of an array from an item on.
    #[inline]
    pub(crate) fn has_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// Whether it is the rest of an array from an item on, or a choice with one.
    #[inline]
    pub(crate) fn has_next_item(&self, id: ExprId) -> bool {
        self.has_leading_call(id)
            && match self.get(id) {
                Expr::Choice(list) => self.list(list).iter().any(|&it| self.is_next_item(it)),
                _ => self.is_next_item(id),
            }
    }

    /// `id`, or the members of a choice that has the rest of an array from an item on among them.
    pub(crate) fn apart(&self, id: ExprId) -> SmallVec<[ExprId; 2]> {
        match self.get(id) {
            Expr::Choice(list) if self.has_next_item(id) => {
                let members = self.list(list).iter().copied();
                members.filter(|&member| member != self.empty()).collect()
            }
            _ => SmallVec::from_slice(&[id]),
        }
    }

    /// Whether it is the rest of an array from an item on; see [`Exprs::next_item`].
    pub(crate) fn is_next_item(&self, id: ExprId) -> bool {
        matches!(self.get(id), Expr::Call(rule) if self.items.contains_key(&rule))
    }

    /// Whether such a rest depends on the item before it. Strings are remembered by the frames.
    pub(crate) fn depends_on_item(&self, id: ExprId, item: &[u8]) -> bool {
        match self.get(id) {
            Expr::Call(rule) => {
                self.items.get(&rule) == Some(&true)
                    && item.iter().find(|byte| !b" \t\n\r".contains(byte)) != Some(&b'"')
            }
            _ => false,
        }
    }
}
