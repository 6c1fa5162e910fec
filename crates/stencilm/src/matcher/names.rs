//! Tokens that a mask allows and the names of the text forbid: they would end a name that came
//! before in the same object, or lead to where only such names are left. The strings of an array of
//! different items are such names, too.
//!
//! Masks are shared, what came is not. Inside a name the tokens that go on to one that came are
//! looked up; the few tokens that have whole names in them are tried.

use smallvec::SmallVec;

use crate::grammar::ExprId;
use crate::mask::{Few, Mask};
use crate::matcher::items::joined;
use crate::stack::{Machine, Place, Seen, State, Stop, has_unseen, seen_of};
use crate::vocab::Vocabulary;

/// The sets of names that tokens may come upon below a state.
pub(super) type Reached<'a> = SmallVec<[&'a Seen; 2]>;

/// The tokens of `mask` that may not come after all, sorted, and maybe some that are not in it.
/// `reached` are the names of all objects that tokens of the mask may go on in.
pub(super) fn refused(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    state: &State,
    reached: &Reached<'_>,
    mask: &Mask,
) -> Result<Few<u32>, Stop> {
    let quoted = vocabulary.quoted();
    let (mut refused, mut asked) = (Vec::new(), Vec::new());
    joined(machine, vocabulary, state, mask, &mut asked)?;
    if asked.is_empty()
        && (!machine.exprs().has_other_names
            || (reached.is_empty() && !state.name.is_open() && quoted.repeated().is_empty()))
    {
        return Ok(Few::default());
    }
    let is_scarce = machine.exprs().has_scarce_names;
    if is_scarce && !reached.is_empty() {
        asked.extend_from_slice(quoted.opening());
    }
    if state.name.is_open() {
        in_name(machine, vocabulary, state, &mut refused, &mut asked)?;
    }
    for seen in reached {
        let names = quoted.names();
        let mut todo = SmallVec::<[_; 8]>::from_elem((0, seen.start()), 1);
        while let Some((node, place)) = todo.pop() {
            if place.is_name()
                && let Some(child) = names.child(node, b'"')
            {
                asked.extend_from_slice(names.trie().tokens_at(child));
            }
            for (child, _, place) in names.meet(node, place.nexts()) {
                if is_scarce {
                    asked.extend_from_slice(names.trie().tokens_at(child));
                }
                todo.push((child, place));
            }
        }
    }
    asked.extend_from_slice(quoted.repeated());
    asked.sort_unstable();
    asked.dedup();
    for token in asked {
        if mask.contains(token) && !is_live_after(machine, vocabulary, state, token)? {
            refused.push(token);
        }
    }
    refused.sort_unstable();
    refused.dedup();
    Ok(refused.into())
}

/// The tokens that go on in the name that a state is inside of to one that came, and those that may
/// have it again behind it.
fn in_name(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    state: &State,
    refused: &mut Vec<u32>,
    asked: &mut Vec<u32>,
) -> Result<(), Stop> {
    let mut name = None;
    for item in &state.items {
        if !machine.exprs().is_naming(item.id) {
            continue;
        }
        if let Some(seen) = seen_of(&item.link)
            && let Some(place) = seen.find(name.get_or_insert_with(|| state.name.bytes()))
        {
            // What one item refuses, another may allow.
            let found = if state.items.len() == 1 { &mut *refused } else { &mut *asked };
            let is_escaped = state.name.is_escaped();
            go_on(machine, vocabulary, item.id, is_escaped, place, found)?;
        }
    }
    for token in vocabulary.quoted().rejoined() {
        let first_len = state.name.len() + token.end as usize;
        let may_be = if token.is_whole {
            token.name.len() == first_len
        } else {
            machine.exprs().has_scarce_names && token.name.len() <= first_len
        };
        if may_be {
            let name = name.get_or_insert_with(|| state.name.bytes());
            let first = vocabulary.token_bytes(token.token).unwrap_or(&[]);
            let mut first = name.iter().chain(&first[..token.end as usize]);
            if token.name.iter().all(|byte| first.next() == Some(byte)) {
                asked.push(token.token);
            }
        }
    }
    Ok(())
}

/// The tokens that go on in a name to one of those at `place`, or to where only those are left.
fn go_on(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    id: ExprId,
    is_escaped: bool,
    place: Place<'_>,
    found: &mut Vec<u32>,
) -> Result<(), Stop> {
    let is_fresh = machine.exprs().is_fresh(id);
    let tokens = if is_fresh { vocabulary.quoted().tokens() } else { vocabulary.indexed_trie() };
    let nothing = machine.exprs().nothing();
    let mut todo = SmallVec::<[_; 8]>::from_elem((0, id, is_escaped, place), 1);
    while let Some((node, id, is_escaped, place)) = todo.pop() {
        if place.is_name()
            && let Some(child) = tokens.child(node, b'"')
        {
            found.extend_from_slice(tokens.trie().tokens_below(child));
        }
        for (child, byte, place) in tokens.meet(node, place.nexts()) {
            let is_escaped = byte == b'\\' && !is_escaped;
            let rest = if is_fresh { id } else { machine.step(id, byte)? };
            if rest == nothing {
                continue;
            }
            if !is_fresh && !has_unseen(machine, rest, is_escaped, place)? {
                found.extend_from_slice(tokens.trie().tokens_below(child));
                continue;
            }
            todo.push((child, rest, is_escaped, place));
        }
    }
    Ok(())
}

/// Whether some text goes on after a token.
fn is_live_after(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    state: &State,
    token: u32,
) -> Result<bool, Stop> {
    let mut at = state.clone();
    for &byte in vocabulary.token_bytes(token).unwrap_or(&[]) {
        at = at.push(machine, byte)?;
        if at.is_dead() {
            return Ok(false);
        }
    }
    Ok(true)
}
