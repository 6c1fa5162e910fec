//! Calls of the rest of an array from an item on, which may depend on the item before.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::grammar::arena::Exprs;
use crate::grammar::expr::{Expr, ExprId, RuleId};

/// Which items before the rest of an array make a difference to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// None.
    OnNone,
    /// All but strings, which the frames remember.
    OnOthers,
    /// All.
    OnAll,
}

/// Stands for a special token in the text of an item. No character has this byte (RFC 3629, 1).
pub(crate) const TOKEN_IN_TEXT: u8 = 0xFF;

/// The rules that stand for the rest of an array from an item on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemRules {
    depends: FxHashMap<RuleId, Depends>,
    /// Whether some of them depend on strings, too.
    pub(crate) after_strings: bool,
}

impl ItemRules {
    /// What a rule depends on, if it is one of them.
    pub(crate) fn get(&self, rule: RuleId) -> Option<Depends> {
        self.depends.get(&rule).copied()
    }
}

impl Exprs {
    /// The rest of an array from an item on, called right after the bracket or the comma before it,
    /// in tail position. The array's frame remembers where the item begins; if the rest depends on
    /// the item before, then [`Rules::after_item`](crate::grammar::Rules::after_item) says which
    /// rule it is after it. Where a mask does not know that item, it is `rule` itself, which must
    /// allow whatever the others do.
    pub fn next_item(&mut self, rule: RuleId, depends: Depends) -> ExprId {
        self.items.depends.insert(RuleId(self.first_number + rule.0), depends);
        self.items.after_strings |= depends == Depends::OnAll;
        self.call(rule)
    }

    /// Whether some rule stands for the rest of an array from an item on.
    #[inline]
    pub(crate) fn has_items(&self) -> bool {
        !self.items.depends.is_empty()
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
        matches!(self.get(id), Expr::Call(rule) if self.items.get(rule).is_some())
    }

    /// Whether such a rest depends on the item before it.
    pub(crate) fn depends_on_item(&self, id: ExprId, item: &[u8]) -> bool {
        match self.get(id) {
            Expr::Call(rule) => {
                let is_text = || item.iter().find(|byte| !b" \t\n\r".contains(byte)) == Some(&b'"');
                match self.items.get(rule) {
                    Some(Depends::OnAll) => true,
                    Some(Depends::OnOthers) => !is_text(),
                    Some(Depends::OnNone) | None => false,
                }
            }
            _ => false,
        }
    }
}
