//! Frames: who waits for a rule to end.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{ContentHash, ExprId, HashKey};
use crate::residual::Residuals;
use crate::residual::places::Places;
use crate::stack::captured::Captured;
use crate::stack::judge::keep_best;
use crate::stack::register::{Register, TokenSpan};
use crate::stack::seen::Seen;
use crate::stack::{Machine, Stop};

/// Where a rule returns to; none at the end of the text.
pub(crate) type Link = Option<Arc<Frame>>;

/// A caller that waits.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What remains of it.
    pub(crate) id: ExprId,
    /// Where that returns to.
    pub(crate) link: Link,
    /// What was captured since the caller began, and what goes on until the rule ends. No part of what
    /// the frame is: of several ways to read a text one is kept.
    pub(crate) past: Captured,
}

/// All callers that wait for one rule entered at one position.
#[derive(Debug)]
pub(crate) struct Frame {
    // Invariant: sorted by expression and by the hash of the link, different; an entry whose
    // expression is empty has no link, and stands for the end of the text.
    entries: SmallVec<[Entry; 1]>,
    /// What the frame remembers; none for most.
    register: Option<Register>,
    holds: Holds,
    /// Frames up to the end of the text on the longest way.
    depth: u32,
    /// That of the innermost rule that has one; where callers differ, the highest.
    temperature: Option<f32>,
    /// Whether it is the end of the text, and remembers nothing.
    is_bare_end: bool,
    hash: ContentHash,
    /// Where a text may stand when the rule ends, for liveness over tokens; found when first
    /// asked for.
    places: OnceLock<Places>,
}

/// What a frame or one below it has.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    /// The beginning of an item.
    item: bool,
    /// Something captured.
    captured: bool,
    /// The end of a rule that has few tokens.
    spans: bool,
}

impl Entry {
    /// Whether something was captured in it or below.
    pub(crate) fn has_captured(&self) -> bool {
        has_captured(&self.link, &self.past)
    }
}

impl Frame {
    /// A frame for one caller.
    pub(crate) fn one(key: &HashKey, entry: Entry) -> Arc<Self> {
        let hash = key.start(50).with(key, entry.id.0.into());
        let hash = hash.with_hash(key, hash_of(key, &entry.link));
        Arc::new(Self::known(SmallVec::from_buf([entry]), None, hash))
    }

    /// A frame for these callers, whose entries are flat; none if only the end of the text waits.
    pub(crate) fn of(key: &HashKey, empty: ExprId, entries: Vec<Entry>) -> Link {
        Self::with(key, empty, entries, None)
    }

    /// The same that remembers something. Entries that differ in what they captured stay.
    pub(crate) fn with(
        key: &HashKey,
        empty: ExprId,
        mut entries: Vec<Entry>,
        register: Option<Register>,
    ) -> Link {
        if let [Entry { id, link: None, past }] = &entries[..]
            && *id == empty
            && past.is_empty()
            && register.is_none()
        {
            return None;
        }
        if entries.len() > 1 {
            entries.sort_by_cached_key(|entry| (entry.id, hash_of(key, &entry.link)));
            entries.dedup_by(|later, kept| {
                let is_same = kept.id == later.id && is_same(&kept.link, &later.link);
                is_same && !(kept.has_captured() && later.has_captured())
            });
        }
        let is_bare_end = register.is_none()
            && matches!(entries[..], [Entry { id, link: None, .. }] if id == empty);
        if is_bare_end {
            let mut end = Self::known(entries.into(), register, hash_of(key, &None));
            (end.depth, end.is_bare_end) = (0, true);
            return Some(Arc::new(end));
        }
        let mut hash = key.start(50);
        for entry in &entries {
            hash = hash.with(key, entry.id.0.into()).with_hash(key, hash_of(key, &entry.link));
        }
        if let Some(register) = &register {
            hash = hash.with_hash(key, register.hash(key));
        }
        Some(Arc::new(Self::known(entries.into(), register, hash)))
    }

    fn known(entries: SmallVec<[Entry; 1]>, register: Option<Register>, hash: ContentHash) -> Self {
        let remembered = register.as_ref();
        let mut frame = Self {
            holds: Holds {
                item: remembered.is_some_and(|register| register.item.is_some()),
                captured: entries.iter().any(|entry| !entry.past.is_empty()),
                spans: remembered.is_some_and(|register| !register.spans.is_empty()),
            },
            temperature: remembered.and_then(|register| register.temperature),
            entries,
            register,
            depth: 1,
            is_bare_end: false,
            hash,
            places: OnceLock::new(),
        };
        let mut below: Option<f32> = None;
        for link in frame.entries.iter().filter_map(|entry| entry.link.as_ref()) {
            frame.holds.item |= link.holds.item;
            frame.holds.captured |= link.holds.captured;
            frame.holds.spans |= link.holds.spans;
            frame.depth = frame.depth.max(link.depth.saturating_add(1));
            below = link.temperature.into_iter().chain(below).reduce(f32::max);
        }
        frame.temperature = frame.temperature.or(below);
        frame
    }

    /// The frame below the rest of an object after one more name, or of an array after one more
    /// string.
    pub(crate) fn after_name(key: &HashKey, empty: ExprId, link: &Link, name: &[u8]) -> Link {
        let seen = match seen_of(link) {
            Some(seen) => seen.with(key, name),
            None => Seen::one(key, name),
        };
        let register = register_of(link).cloned().unwrap_or_default();
        let register = Register { seen: Some(seen), ..register };
        Self::with(key, empty, entries_of(link, empty).into_vec(), Some(register))
    }

    /// The frame below the rest of an array where an item begins.
    pub(crate) fn at_item(key: &HashKey, empty: ExprId, link: &Link, item: u32) -> Link {
        let register = register_of(link).cloned().unwrap_or_default();
        let register = Register { item: Some(item), ..register };
        Self::with(key, empty, entries_of(link, empty).into_vec(), Some(register))
    }

    /// What the frame remembers.
    pub(crate) fn register(&self) -> Option<&Register> {
        self.register.as_ref()
    }

    /// Whether it is the frame of an array that remembers its items.
    pub(crate) fn is_array(&self) -> bool {
        self.register.as_ref().is_some_and(|register| register.item.is_some())
    }

    /// Whether names, or strings, that come in it have to differ.
    pub(crate) fn remembers(&self) -> bool {
        self.seen().is_some() || self.is_array()
    }

    /// The names, or strings, that came in it.
    pub(crate) fn seen(&self) -> Option<&Seen> {
        self.register.as_ref().and_then(|register| register.seen.as_ref())
    }

    /// Whether only the end of the text waits.
    pub(crate) fn is_end(&self, empty: ExprId) -> bool {
        matches!(self.entries[..], [Entry { id, link: None, .. }] if id == empty)
    }

    /// The callers.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The temperature of the innermost rule that has one.
    pub(crate) fn temperature(&self) -> Option<f32> {
        self.temperature
    }
}

/// The callers behind a link: the end of the text is one whose rest is empty.
pub(crate) fn entries_of(link: &Link, empty: ExprId) -> SmallVec<[Entry; 1]> {
    match link {
        Some(frame) => frame.entries.clone(),
        None => SmallVec::from_buf([Entry { id: empty, link: None, past: Captured::default() }]),
    }
}

/// What was captured on the way to what a link leads to; of several ways it is the first.
pub(crate) fn past_of(link: &Link) -> Captured {
    let mut newest_first = Vec::new();
    let mut at = link;
    while let Some(frame) = at.as_ref().filter(|frame| frame.holds.captured) {
        let Some(entry) = frame.entries.first() else { break };
        newest_first.push(&entry.past);
        at = &entry.link;
    }
    newest_first.into_iter().rev().fold(Captured::default(), |past, more| past.then_any(more))
}

/// A link without the ways that go through a call of `spans`; none if there are no others. Deep stacks
/// are walked without recursion.
///
/// # Errors
/// The limit of captures.
pub(crate) fn without_spans(
    machine: &impl Machine,
    link: &Link,
    spans: &[TokenSpan],
    done: &mut FxHashMap<*const Frame, Option<Link>>,
) -> Result<Option<Link>, Stop> {
    let (key, empty) = (&machine.exprs().key, machine.exprs().empty());
    let is_whole = |frame: &Arc<Frame>| !frame.holds.spans;
    let Some(frame) = link.as_ref().filter(|frame| !is_whole(frame)) else {
        return Ok(Some(link.clone()));
    };
    let mut todo = vec![frame];
    while let Some(&frame) = todo.last() {
        let at = Arc::as_ptr(frame);
        let ends = |register: &Register| register.spans.iter().any(|span| spans.contains(span));
        if done.contains_key(&at) {
            todo.pop();
            continue;
        }
        if frame.register.as_ref().is_some_and(ends) {
            done.insert(at, None);
            continue;
        }
        let below = frame.entries.iter().filter_map(|entry| entry.link.as_ref());
        let is_missing =
            |frame: &&Arc<Frame>| !is_whole(frame) && !done.contains_key(&Arc::as_ptr(frame));
        if let Some(missing) = below.into_iter().find(is_missing) {
            todo.push(missing);
            continue;
        }
        let of = |link: &Link| match link {
            Some(frame) if !is_whole(frame) => done[&Arc::as_ptr(frame)].clone(),
            _ => Some(link.clone()),
        };
        let mut entries: Vec<Entry> = frame
            .entries
            .iter()
            .filter_map(|entry| Some(Entry { link: of(&entry.link)?, ..entry.clone() }))
            .collect();
        keep_best(machine, &mut entries)?;
        let left =
            (!entries.is_empty()).then(|| Frame::with(key, empty, entries, frame.register.clone()));
        done.insert(at, left);
    }
    Ok(done[&Arc::as_ptr(frame)].clone())
}

/// What the frame behind a link remembers.
pub(crate) fn register_of(link: &Link) -> Option<&Register> {
    link.as_ref().and_then(|frame| frame.register())
}

/// Whether a frame behind a link knows where an item began.
pub(crate) fn keeps_text(link: &Link) -> bool {
    link.as_ref().is_some_and(|frame| frame.holds.item)
}

/// The names that are remembered for the rest of an object that hangs on a link.
pub(crate) fn seen_of(link: &Link) -> Option<&Seen> {
    link.as_ref().and_then(|frame| frame.seen())
}

/// Whether nothing but the end of the text lies behind a link.
pub(crate) fn is_last(link: &Link, empty: ExprId) -> bool {
    link.as_ref().is_none_or(|frame| frame.is_end(empty))
}

/// Frames from here to the end of the text on the longest way: alike for links that are the same, and
/// more than for a link of one of its entries.
pub(crate) fn depth_of(link: &Link) -> u32 {
    link.as_ref().map_or(0, |frame| frame.depth)
}

/// The frame behind a link, if something was captured in it or below.
pub(crate) fn captured_at(link: &Link) -> Option<*const Frame> {
    link.as_ref().filter(|frame| frame.holds.captured).map(Arc::as_ptr)
}

/// Whether something was captured on the way to what a link leads to, or since.
pub(crate) fn has_captured(link: &Link, past: &Captured) -> bool {
    !past.is_empty() || captured_at(link).is_some()
}

/// Whether two links lead to the same callers. Hashes of 128 bits under a secret key decide.
pub(crate) fn is_same(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.hash == b.hash,
        (None, Some(frame)) | (Some(frame), None) => frame.is_bare_end,
    }
}

/// The hash of what a link leads to.
pub(crate) fn hash_of(key: &HashKey, link: &Link) -> ContentHash {
    link.as_ref().map_or_else(|| key.start(51), |frame| frame.hash)
}

/// What comes after an item with this link, if it is known.
#[inline]
pub(crate) fn known_places_after(residuals: &Residuals, link: &Link) -> Option<Places> {
    match link {
        None => Some(Places::END),
        Some(frame) if frame.is_end(residuals.exprs.empty()) => Some(Places::END),
        Some(_) if !residuals.is_over_tokens() => Some(Places::ANY),
        Some(frame) => frame.places.get().copied(),
    }
}

/// What comes after an item with this link. Deep stacks are walked without recursion.
///
/// # Errors
/// A limit.
pub(crate) fn places_after(residuals: &mut Residuals, link: &Link) -> Result<Places, Error> {
    let mut todo: Vec<Arc<Frame>> = link.iter().cloned().collect();
    while let Some(frame) = todo.last().cloned() {
        if known_places_after(residuals, &Some(frame.clone())).is_some() {
            todo.pop();
            continue;
        }
        let unknown = |link: &&Link| known_places_after(residuals, link).is_none();
        let below = frame.entries.iter().map(|entry| &entry.link).find(unknown);
        if let Some(Some(below)) = below {
            todo.push(below.clone());
            continue;
        }
        let mut whole = None;
        for Entry { id, link, .. } in &frame.entries {
            let after = known_places_after(residuals, link).unwrap_or(Places::END);
            let places = residuals.before(*id, after)?;
            whole = Some(match whole {
                None => places,
                Some(whole) => residuals.either(whole, places),
            });
        }
        let _ = frame.places.set(whole.unwrap_or(Places::END));
    }
    Ok(known_places_after(residuals, link).unwrap_or(Places::END))
}

impl Drop for Frame {
    /// Frees a deep stack without recursion.
    fn drop(&mut self) {
        let mut freed: Vec<Arc<Self>> = Vec::new();
        freed.extend(self.entries.drain(..).filter_map(|entry| entry.link));
        while let Some(frame) = freed.pop() {
            if let Some(mut frame) = Arc::into_inner(frame) {
                freed.extend(frame.entries.drain(..).filter_map(|entry| entry.link));
            }
        }
    }
}
