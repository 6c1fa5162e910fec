//! The step of a state with several items: all callers of a rule, whichever item they are in, are
//! gathered before its frame is made.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::grammar::{ContentHash, ExprId, RuleId};
use crate::residual::calls::Callee;
use crate::stack::ambiguity::Closing;
use crate::stack::frame::{Link, register_of};
use crate::stack::state::{Item, State, make_frame};
use crate::stack::{Machine, Stop};

/// The state after `byte`.
pub(super) fn push(machine: &mut impl Machine, items: &[Item], byte: u8) -> Result<State, Stop> {
    let nothing = machine.exprs().nothing();
    let mut closing = Closing::default();
    let mut waiting = Waiting::default();
    for item in items {
        let rest = machine.step(item.id, byte)?;
        if rest != nothing {
            closing.add(rest, item.link.clone());
        }
        enter(machine, item.id, &item.link, &mut waiting)?;
    }
    let mut entered = 0;
    while let Some(((_, rule, _), callers)) = waiting.pop_first() {
        entered += 1;
        if entered > machine.most_items() {
            return Err(Error::limit("items", machine.most_items()).into());
        }
        let link = make_frame(machine, callers)?;
        let body = machine.body(rule)?;
        let rest = machine.step(body, byte)?;
        if rest != nothing {
            closing.add(rest, link.clone());
        }
        enter(machine, body, &link, &mut waiting)?;
    }
    closing.finish(machine)
}

/// Callers by the rank and the rule that they call. What the rest of an object or an array calls in
/// tail position keeps what is remembered, apart from callers that remember something else.
type Waiting = BTreeMap<(u32, RuleId, Option<ContentHash>), Vec<(ExprId, Link)>>;

fn enter(
    machine: &mut impl Machine,
    id: ExprId,
    link: &Link,
    waiting: &mut Waiting,
) -> Result<(), Stop> {
    if !machine.exprs().has_leading_call(id) {
        return Ok(());
    }
    for &(callee, rest) in machine.calls(id)?.iter() {
        if let Callee::Rule(rule) = callee {
            let rank = machine.rank(rule);
            let is_tail = rest == machine.exprs().empty();
            let key = &machine.exprs().key;
            let register = register_of(link).filter(|_| is_tail).map(|it| it.hash(key));
            waiting.entry((rank, rule, register)).or_default().push((rest, link.clone()));
        }
    }
    Ok(())
}
