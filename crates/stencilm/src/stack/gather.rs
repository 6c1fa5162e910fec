//! The step of a state with several items: all callers of a rule, whichever item they are in, are
//! gathered before its frame is made.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::grammar::{ContentHash, RuleId};
use crate::residual::calls::Callee;
use crate::stack::ambiguity::Closing;
use crate::stack::captured::Captured;
use crate::stack::enter::make_frame;
use crate::stack::frame::{Entry, register_of};
use crate::stack::state::{Item, State};
use crate::stack::{Machine, Stop};

/// The state after `byte`.
pub(super) fn push(machine: &mut impl Machine, items: &[Item], byte: u8) -> Result<State, Stop> {
    let nothing = machine.exprs().nothing();
    let mut closing = Closing::default();
    let mut waiting = Waiting::default();
    for item in items {
        let rest = machine.step(item.id, byte)?;
        if rest != nothing {
            closing.add(Item { id: rest, ..item.clone() });
        }
        enter(machine, item, &mut waiting)?;
    }
    let mut count = 0;
    while let Some(((_, rule, _), callers)) = waiting.pop_first() {
        count += 1;
        if count > machine.most_items() {
            return Err(Error::limit("items", machine.most_items()).into());
        }
        let entered = enter_rule(machine, rule, callers)?;
        let rest = machine.step(entered.id, byte)?;
        if rest != nothing {
            closing.add(Item { id: rest, ..entered.clone() });
        }
        enter(machine, &entered, &mut waiting)?;
    }
    closing.finish(machine)
}

/// Callers by the rank and the rule that they call. What is called in tail position keeps what the frame
/// remembers, apart from callers that remember something else.
type Waiting = BTreeMap<(u32, RuleId, Option<ContentHash>), Vec<Entry>>;

fn enter(machine: &mut impl Machine, item: &Item, waiting: &mut Waiting) -> Result<(), Stop> {
    if !machine.exprs().has_leading_call(item.id) {
        return Ok(());
    }
    for &(callee, rest) in machine.calls(item.id)?.iter() {
        if let Callee::Rule(rule) = callee {
            let rank = machine.rank(rule);
            let is_tail = rest == machine.exprs().empty();
            let key = &machine.exprs().key;
            let register = register_of(&item.link).filter(|_| is_tail).map(|it| it.hash(key));
            let caller = Entry { id: rest, link: item.link.clone(), past: item.past.clone() };
            waiting.entry((rank, rule, register)).or_default().push(caller);
        }
    }
    Ok(())
}

/// The body of a rule, at its beginning.
fn enter_rule(machine: &mut impl Machine, rule: RuleId, callers: Vec<Entry>) -> Result<Item, Stop> {
    let link = make_frame(machine, rule, callers)?;
    let id = machine.body(rule)?;
    Ok(Item { id, link, past: Captured::default() })
}
