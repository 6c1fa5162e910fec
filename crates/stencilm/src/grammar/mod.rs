//! Grammars: expressions and the rules that name them. Every front end ends here, and nothing
//! after it remembers which front end it was.

mod arena;
mod build;
mod byte_set;
mod char_set;
mod composite;
mod display;
mod expr;
mod hash;
mod import;
mod items;
mod json_text;
mod mark;
mod numbers;
mod search;
mod show;
mod star;

use std::{fmt, sync::Arc};

use crate::error::Error;

pub use arena::Exprs;
pub(crate) use arena::LONGEST_COUNTER;
pub(crate) use build::listed;
pub use byte_set::ByteSet;
pub use char_set::CharSet;
pub use composite::Part;
pub(crate) use composite::{Composite, starts};
pub(crate) use display::write_rules;
pub use expr::{
    ByteSetId, ClassId, Expr, ExprId, List, LiteralId, LiteralsId, NumberSetId, NumberStateId,
    Progress, RuleId, Spelling, TokenName, UNBOUNDED,
};
pub use hash::{ContentHash, HashKey};
pub use import::Imported;
pub use items::Depends;
pub(crate) use items::TOKEN_IN_TEXT;
pub(crate) use json_text::{
    Escaped, SHORT_ESCAPES, Spelled, after_byte, canonical, canonical_text, ends_with,
};
pub use mark::{Mark, Marks};

/// Where the bodies of a grammar's rules come from: each is asked for when it is first called.
///
/// Bodies must not let a rule call itself again at the same position (left recursion):
/// [`normalize`](crate::normalize) takes it out of grammars that a person wrote.
pub trait Rules: Send + Sync + fmt::Debug {
    /// The body of `rule`, made in `exprs`. Asked once for each arena.
    ///
    /// # Errors
    /// A limit was reached.
    fn body(&self, rule: RuleId, exprs: &mut Exprs) -> Result<ExprId, Error>;

    /// The rule's name, for people.
    fn name(&self, rule: RuleId) -> String;

    /// The rank of a rule: callers come before callees wherever a call may come first in a body.
    /// All callers of a rule at one position are gathered in this order before it is entered.
    fn rank(&self, rule: RuleId) -> u32;

    /// Whether the empty text matches too. The start's body is then only its non-empty part: no
    /// rule is empty where it is called.
    fn accepts_empty(&self) -> bool {
        false
    }

    /// All rules, states and objects have numbers below this, and all rules ranks.
    fn numbers(&self) -> u32;

    /// The grammars that these rules are put together from, none if they are not.
    fn parts(&self) -> &[Part] {
        &[]
    }

    /// The names of all special tokens in the bodies.
    fn special_tokens(&self) -> Vec<String> {
        Vec::new()
    }

    /// The rules that ask for something beside their texts.
    fn marks(&self) -> Marks {
        Marks::new()
    }

    /// About how many bytes rules take that texts have led to, beyond those of the grammar itself.
    fn left_behind(&self) -> usize {
        0
    }

    /// The same rules, none of which a text has led to; `None` if texts lead to none. The start
    /// keeps its number.
    ///
    /// # Errors
    /// A limit was reached.
    fn renewed(&self) -> Result<Option<Arc<dyn Rules>>, Error> {
        Ok(None)
    }

    /// The object that `state` is a state of: its states share one list of names.
    /// Only for grammars with [`Expr::Names`].
    fn object_of(&self, state: u32) -> u32 {
        state
    }

    /// How member names are spelled between their quotes; `None` if no rule has any.
    fn name_spelling(&self) -> Option<Spelling> {
        None
    }

    /// The sorted member names of an object: as they are spelled, or as texts if each has several
    /// spellings ([`Spelling::is_free`]). Asked once for each arena and object.
    fn names(&self, object: u32, exprs: &mut Exprs) -> LiteralsId {
        let _ = object;
        exprs.literal_list(Vec::new())
    }

    /// The first name at or after `low` and before `high` (places in the sorted names) that may
    /// come in `state`.
    ///
    /// # Errors
    /// A limit was reached.
    fn next_name(&self, state: u32, low: u32, high: u32) -> Result<Option<u32>, Error> {
        let _ = (state, low, high);
        Ok(None)
    }

    /// What follows the closing quote of a name that [`Rules::next_name`] gave.
    ///
    /// # Errors
    /// A limit was reached.
    fn after_name(&self, state: u32, name: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let _ = (state, name);
        Ok(exprs.nothing())
    }

    /// The rule that stands for `rule`, made by [`Exprs::next_item`], after an item: the text from
    /// where that began to where the next one does, with the comma between them. Not asked for
    /// strings. It allows no text that `rule` does not allow, and ends in no dead end where that
    /// does not.
    ///
    /// # Errors
    /// A limit was reached.
    fn after_item(&self, rule: RuleId, item: &[u8]) -> Result<RuleId, Error> {
        let _ = item;
        Ok(rule)
    }

    /// What follows the closing quote of any name outside the list.
    ///
    /// # Errors
    /// A limit was reached.
    fn after_other_name(&self, state: u32, exprs: &mut Exprs) -> Result<ExprId, Error> {
        let _ = state;
        Ok(exprs.nothing())
    }
}

/// A grammar, ready to be compiled with a vocabulary. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// Where the bodies come from.
    pub rules: Arc<dyn Rules>,
    /// The rule that a whole text matches.
    pub start: RuleId,
}

/// A grammar whose rules are all written down, as a person does: left recursion allowed. They may
/// call other grammars ([`RuleSet::supply`]).
#[derive(Debug)]
pub struct RuleSet {
    /// The arena of the bodies.
    pub exprs: Exprs,
    /// A name and a body for each rule; the place in this list is the rule's id.
    pub rules: Vec<(String, ExprId)>,
    /// The rule that a whole text matches.
    pub start: RuleId,
    /// The rules that ask for something beside their texts. None of them may be called below `&`, `-`
    /// or `~`.
    pub marks: Marks,
    /// The grammars that they call.
    pub(crate) supplied: Vec<Grammar>,
}
