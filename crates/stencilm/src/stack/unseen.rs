//! Whether a name may still become one that did not come: asked where names may run out.

use crate::grammar::{ExprId, Progress, Spelled, canonical, ends_with};
use crate::stack::spelled_place::SpelledPlace;
use crate::stack::{Machine, Stop};

/// Whether the name that `id` is inside of may become one that is not among those at `place`.
pub(crate) fn has_unseen(
    machine: &mut impl Machine,
    id: ExprId,
    at: SpelledPlace<'_>,
) -> Result<bool, Stop> {
    if machine.exprs().is_fresh(id) {
        return Ok(true);
    }
    let count = at.place().count();
    let in_escape = at.escape().is_some();
    let words = machine.names_left(id, in_escape, count.saturating_add(1))?;
    if words.count > count {
        return Ok(true);
    }
    // Names that came may be none of those that may come now.
    let nothing = machine.exprs().nothing();
    let mut met = 0;
    let mut todo = Vec::new();
    match at.escape() {
        None => todo.push((id, at.place())),
        Some(progress) => {
            for (c, place) in at.place().next_chars() {
                let rest = after_one_of(machine, id, ends_with(progress, c))?;
                if rest != nothing {
                    todo.push((rest, place));
                }
            }
        }
    }
    while let Some((id, place)) = todo.pop() {
        if place.is_name() && machine.step(id, b'"')? != nothing {
            met += 1;
        }
        if machine.exprs().has_plain_names {
            for (byte, place) in place.nexts() {
                let rest = machine.step(id, byte)?;
                if rest != nothing {
                    todo.push((rest, place));
                }
            }
            continue;
        }
        for (byte, place) in place.next_inner_bytes() {
            let rest = machine.step(id, byte)?;
            if rest != nothing {
                todo.push((rest, place));
            }
        }
        for (c, place) in place.next_chars() {
            let long = ends_with(Progress::Escape, c).map(|end| [b"\\", &end[..]].concat().into());
            let rest = after_one_of(machine, id, std::iter::once(canonical(c)).chain(long))?;
            if rest != nothing {
                todo.push((rest, place));
            }
        }
    }
    Ok(words.count > met)
}

/// What remains after one of these texts, which all mean the same character: the first that may
/// come.
fn after_one_of(
    machine: &mut impl Machine,
    id: ExprId,
    texts: impl Iterator<Item = Spelled>,
) -> Result<ExprId, Stop> {
    let nothing = machine.exprs().nothing();
    for text in texts {
        let mut rest = id;
        for &byte in &text {
            rest = machine.step(rest, byte)?;
        }
        if rest != nothing {
            return Ok(rest);
        }
    }
    Ok(nothing)
}
