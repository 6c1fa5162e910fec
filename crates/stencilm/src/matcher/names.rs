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
use crate::stack::{Frame, Machine, NamePlace, SpelledPlace, State, Stop, has_unseen, seen_of};
use crate::vocab::{IndexedTrie, Vocabulary};

/// The frames with names that tokens may come upon below a state.
pub(super) type Reached<'a> = SmallVec<[&'a Frame; 2]>;

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
            || (reached.is_empty()
                && !state.name.is_open()
                && quoted.repeated().is_empty()
                && quoted.reopening().is_empty()))
    {
        return Ok(Few::default());
    }
    let is_scarce = machine.exprs().has_scarce_names;
    // The rest of an object has a name left for sure; of the items of an array some are no strings.
    if is_scarce {
        let is_in_array = reached.iter().any(|frame| frame.is_array());
        asked.extend_from_slice(if is_in_array { quoted.opening() } else { quoted.reopening() });
    }
    let is_plain = machine.exprs().has_plain_names;
    if state.name.is_open() {
        in_name(machine, vocabulary, state, &mut refused, &mut asked)?;
    }
    for seen in reached.iter().filter_map(|frame| frame.seen()) {
        let names = quoted.names();
        let mut ends = |child| asked.extend_from_slice(names.trie().tokens_at(child));
        if is_plain {
            meet_names(names, seen.start(), is_scarce, &mut ends);
        } else {
            meet_names(names, SpelledPlace::start(seen, is_plain), is_scarce, &mut ends);
        }
    }
    asked.extend_from_slice(quoted.repeated());
    asked.sort_unstable();
    asked.dedup();
    for token in asked {
        let bytes = vocabulary.token_bytes(token).unwrap_or(&[]);
        if mask.contains(token) && state.push_bytes(machine, bytes)?.is_dead() {
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
            && let Some(place) = {
                let name = name.get_or_insert_with(|| state.name.bytes());
                SpelledPlace::find(seen, &state.name, name, machine.exprs().has_plain_names)
            }
        {
            // What one item refuses, another may allow.
            let found = if state.items.len() == 1 { &mut *refused } else { &mut *asked };
            go_on(machine, vocabulary, item.id, place, found)?;
        }
    }
    for token in vocabulary.quoted().rejoined() {
        if !token.is_whole && !machine.exprs().has_scarce_names {
            continue;
        }
        let bytes = vocabulary.token_bytes(token.token).unwrap_or(&[]);
        let bytes = &bytes[..token.end as usize];
        let is_plain = machine.exprs().has_plain_names || !token.has_escape;
        let is_same = if is_plain && state.name.escape().is_none() {
            // What is plain stands as it is.
            let first_len = state.name.len() + bytes.len();
            if token.name.len() > first_len || (token.is_whole && token.name.len() < first_len) {
                continue;
            }
            let name = name.get_or_insert_with(|| state.name.bytes());
            let mut first = name.iter().chain(bytes);
            token.name.iter().all(|byte| first.next() == Some(byte))
        } else {
            let mut first = state.name.clone();
            for &byte in bytes {
                first.push(byte);
            }
            let first = first.bytes();
            first.starts_with(&token.name) && (!token.is_whole || first.len() == token.name.len())
        };
        if is_same {
            asked.push(token.token);
        }
    }
    Ok(())
}

/// Visits the nodes of a trie at which a name ends with its closing quote, and, if asked for, all on
/// the way to one.
fn meet_names<P: NamePlace>(
    tokens: &IndexedTrie,
    start: P,
    has_way: bool,
    visit: &mut impl FnMut(u32),
) {
    let mut todo = SmallVec::<[_; 8]>::from_elem((0, start), 1);
    while let Some((node, place)) = todo.pop() {
        if place.is_name()
            && let Some(child) = tokens.child(node, b'"')
        {
            visit(child);
        }
        for (child, _, place) in tokens.meet(node, place.nexts()) {
            if has_way {
                visit(child);
            }
            todo.push((child, place));
        }
    }
}

/// The tokens that go on in a name to one of those at `place`, or to where only those are left.
fn go_on(
    machine: &mut impl Machine,
    vocabulary: &Vocabulary,
    id: ExprId,
    place: SpelledPlace<'_>,
    found: &mut Vec<u32>,
) -> Result<(), Stop> {
    if machine.exprs().is_fresh(id) {
        let tokens = vocabulary.quoted().tokens();
        let mut ends = |child| found.extend_from_slice(tokens.trie().tokens_below(child));
        if place.escape().is_none() && machine.exprs().has_plain_names {
            meet_names(tokens, place.place(), false, &mut ends);
        } else {
            meet_names(tokens, place, false, &mut ends);
        }
        return Ok(());
    }
    let tokens = vocabulary.indexed_trie();
    let nothing = machine.exprs().nothing();
    let mut todo = SmallVec::<[_; 8]>::from_elem((0, id, place), 1);
    while let Some((node, id, place)) = todo.pop() {
        if place.is_name()
            && let Some(child) = tokens.child(node, b'"')
        {
            found.extend_from_slice(tokens.trie().tokens_below(child));
        }
        for (child, byte, place) in tokens.meet(node, place.nexts()) {
            let rest = machine.step(id, byte)?;
            if rest == nothing {
                continue;
            }
            if !has_unseen(machine, rest, place)? {
                found.extend_from_slice(tokens.trie().tokens_below(child));
                continue;
            }
            todo.push((child, rest, place));
        }
    }
    Ok(())
}
