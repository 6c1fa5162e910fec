//! Tokens that a mask allows and the items of an array may forbid: one item ends in them, and another
//! one begins that may have to differ from it.

use crate::mask::Mask;
use crate::stack::{Machine, State, Stop};
use crate::vocab::Vocabulary;

/// Adds the tokens of `mask` that go on in an item behind one that ends in them.
pub(super) fn joined(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    state: &State,
    mask: &Mask,
    asked: &mut Vec<u32>,
) -> Result<(), Stop> {
    if !machine.exprs().has_items() && !state.text.is_open() {
        return Ok(());
    }
    // Else what was a string is remembered as names are.
    for joint in vocabulary.joints().iter() {
        let strings = if machine.exprs().items.after_strings { &joint.strings[..] } else { &[] };
        let mut tokens = joint.others.iter().chain(strings);
        let is_inside = state.text.is_open() || joint.until.contains(&b'[');
        if !is_inside || !tokens.any(|&token| mask.contains(token)) {
            continue;
        }
        let at = state.push_bytes(machine, &joint.until)?;
        if at.items.iter().any(|item| machine.exprs().is_next_item(item.id)) {
            asked.extend_from_slice(&joint.others);
            asked.extend_from_slice(strings);
        }
    }
    Ok(())
}
