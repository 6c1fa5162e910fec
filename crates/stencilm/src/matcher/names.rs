//! Tokens that a mask allows and the names of the text forbid: they would end a name that came
//! before in the same object, or lead to where only such names are left.
//!
//! Masks are shared, what came is not. Inside a name the tokens that go on to one that came are
//! looked up; the few tokens that have whole names in them are tried.

use smallvec::SmallVec;

use crate::grammar::ExprId;
use crate::mask::{Few, Mask};
use crate::stack::{Machine, Place, Seen, State, Stop, has_unseen, seen_of};
use crate::vocab::{Trie, Vocabulary};

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
    if !machine.exprs().has_other_names
        || (reached.is_empty() && !state.name.is_open() && quoted.repeated().is_empty())
    {
        return Ok(Few::default());
    }
    let is_scarce = machine.exprs().has_scarce_names;
    let (mut refused, mut asked) = (Vec::new(), Vec::new());
    if state.name.is_open() {
        let name = state.name.bytes();
        for item in &state.items {
            if machine.exprs().is_naming(item.id)
                && let Some(seen) = seen_of(&item.link)
                && let Some(place) = seen.find(&name)
            {
                // What one item refuses, another may allow.
                let found = if state.items.len() == 1 { &mut refused } else { &mut asked };
                let is_escaped = state.name.is_escaped();
                go_on(machine, vocabulary, item.id, is_escaped, place, found)?;
            }
        }
        for token in quoted.rejoined() {
            let first = vocabulary.token_bytes(token.token).unwrap_or(&[]);
            let mut first = name.iter().chain(&first[..token.end as usize]);
            let mut other = token.name.iter();
            let has_begun = other.by_ref().all(|byte| first.next() == Some(byte));
            if has_begun && (if token.is_whole { first.next().is_none() } else { is_scarce }) {
                asked.push(token.token);
            }
        }
    }
    for seen in reached {
        let mut todo = vec![(0, seen.start())];
        while let Some((node, place)) = todo.pop() {
            for child in quoted.names().children(node) {
                let byte = quoted.names().byte(child);
                if byte == b'"' && place.is_name() {
                    asked.extend_from_slice(quoted.names().tokens_at(child));
                }
                if let Some(place) = place.next(byte) {
                    if is_scarce {
                        asked.extend_from_slice(quoted.names().tokens_at(child));
                    }
                    todo.push((child, place));
                }
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
    let trie: &Trie = if is_fresh { vocabulary.quoted().tokens() } else { vocabulary.trie() };
    let nothing = machine.exprs().nothing();
    let mut todo = vec![(0, id, is_escaped, place)];
    while let Some((node, id, is_escaped, place)) = todo.pop() {
        for child in trie.children(node) {
            let byte = trie.byte(child);
            if byte == b'"' && !is_escaped {
                if place.is_name() {
                    found.extend_from_slice(trie.tokens_below(child));
                }
                continue;
            }
            let Some(place) = place.next(byte) else { continue };
            let is_escaped = byte == b'\\' && !is_escaped;
            let rest = if is_fresh { id } else { machine.step(id, byte)? };
            if rest == nothing {
                continue;
            }
            if !is_fresh && !has_unseen(machine, rest, is_escaped, place)? {
                found.extend_from_slice(trie.tokens_below(child));
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
