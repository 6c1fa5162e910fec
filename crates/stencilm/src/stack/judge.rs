//! Of several ways to one state, which is the better one to read the text.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::stack::captured::{Captured, compare_all};
use crate::stack::frame::{Entry, Link, captured_at, hash_of};
use crate::stack::{Machine, Stop};

/// A way to a state: what a link leads to, and what was captured since.
type Way<'a> = (&'a Link, &'a Captured);

/// Whether one of two ways is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// For some callers, and for none the worse one.
    Better,
    /// For no caller.
    No,
    /// Better for some callers, and worse for others.
    Neither,
}

/// Where a way belongs among others to the same state that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In place of this one.
    At(usize),
    /// Beside all of them.
    New,
    /// Nowhere: one of them is as good.
    None,
}

/// Finds the place of a way.
///
/// # Errors
/// The limit of captures.
pub(super) fn place_among<'a>(
    machine: &impl Machine,
    new: Way<'_>,
    kept: impl Iterator<Item = (usize, Way<'a>)>,
) -> Result<Place, Stop> {
    for (place, known) in kept {
        match judge(machine, new, known)? {
            Verdict::Neither => {}
            Verdict::No => return Ok(Place::None),
            Verdict::Better => return Ok(Place::At(place)),
        }
    }
    Ok(Place::New)
}

/// Whether the first of two ways to one state is the better one.
///
/// # Errors
/// The limit of captures.
pub(super) fn judge(machine: &impl Machine, new: Way<'_>, known: Way<'_>) -> Result<Verdict, Stop> {
    if is_alike(new.0, known.0) && new.1.is_empty() && known.1.is_empty() {
        return Ok(Verdict::No);
    }
    let none = Captured::default();
    // What was captured, each with the place of what was captured after it.
    let mut levels: Vec<(&Captured, &Captured, Option<usize>)> = vec![(new.1, known.1, None)];
    let mut todo: SmallVec<[(&Link, &Link, usize); 4]> = smallvec![(new.0, known.0, 0)];
    let (mut is_better, mut is_worse) = (false, false);
    while let Some((left, right, level)) = todo.pop() {
        if is_alike(left, right) {
            let (mut of_new, mut of_known) = (Vec::new(), Vec::new());
            let mut at = Some(level);
            while let Some((new, known, later)) = at.map(|at| levels[at]) {
                of_new.push(new);
                of_known.push(known);
                at = later;
            }
            let (order, looked) = compare_all(&of_new, &of_known);
            machine.has_compared(looked)?;
            is_better |= order.is_lt();
            is_worse |= order.is_gt();
            if is_better && is_worse {
                return Ok(Verdict::Neither);
            }
            continue;
        }
        let count = entries(left).len().max(entries(right).len());
        machine.has_compared(count)?;
        for at in 0..count {
            let ((left, of_left), (right, of_right)) = (caller(left, at), caller(right, at));
            todo.push((left, right, levels.len()));
            levels.push((of_left.unwrap_or(&none), of_right.unwrap_or(&none), Some(level)));
        }
    }
    Ok(if is_better { Verdict::Better } else { Verdict::No })
}

/// Whether all that was captured below is the same.
fn is_alike(left: &Link, right: &Link) -> bool {
    captured_at(left) == captured_at(right)
}

fn entries(link: &Link) -> &[Entry] {
    link.as_ref().map_or(&[], |frame| frame.entries())
}

/// A caller, and what was captured when it called; nothing where only one of two links to the end of the
/// text is a frame.
fn caller(link: &Link, at: usize) -> (&Link, Option<&Captured>) {
    entries(link).get(at).map_or((&None, None), |entry| (&entry.link, Some(&entry.past)))
}

/// Leaves out the entries that another one is better than, of those that differ in what they captured.
///
/// # Errors
/// The limit of captures.
pub(super) fn keep_best(machine: &impl Machine, entries: &mut Vec<Entry>) -> Result<(), Stop> {
    if entries.len() < 2 || !entries.iter().any(Entry::has_captured) {
        return Ok(());
    }
    let key = machine.exprs().key;
    let mut alike: FxHashMap<_, SmallVec<[usize; 1]>> = FxHashMap::default();
    let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        let places = alike.entry((entry.id, hash_of(&key, &entry.link))).or_default();
        let known = places.iter().map(|&at| (at, (&kept[at].link, &kept[at].past)));
        match place_among(machine, (&entry.link, &entry.past), known)? {
            Place::At(at) => kept[at] = entry,
            Place::New => {
                places.push(kept.len());
                kept.push(entry);
            }
            Place::None => {}
        }
    }
    *entries = kept;
    Ok(())
}
