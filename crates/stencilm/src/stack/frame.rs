//! Frames: who waits for a rule to end.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{ContentHash, ExprId, HashKey};
use crate::residual::Residuals;
use crate::residual::places::Places;
use crate::stack::register::Register;
use crate::stack::seen::Seen;

/// Where a rule returns to; none at the end of the text.
pub(crate) type Link = Option<Arc<Frame>>;

/// All callers that wait for one rule entered at one position: what remains of each, and where
/// that returns to.
#[derive(Debug)]
pub(crate) struct Frame {
    // Invariant: sorted by expression and by the hash of the link, different; an entry whose
    // expression is empty has no link, and stands for the end of the text.
    entries: SmallVec<[(ExprId, Link); 1]>,
    /// What the object or the array remembers whose rest hangs on this frame; none for others.
    register: Option<Register>,
    /// Whether this frame or one below it knows where an item began.
    keeps_text: bool,
    hash: ContentHash,
    /// Where a text may stand when the rule ends, for liveness over tokens; found when first
    /// asked for.
    places: OnceLock<Places>,
}

impl Frame {
    /// A frame for one caller.
    pub(crate) fn one(key: &HashKey, id: ExprId, link: Link) -> Arc<Self> {
        let hash = key.start(50).with(key, id.0.into()).with_hash(key, hash_of(key, &link));
        let keeps_text = keeps_text(&link);
        let entries = SmallVec::from_buf([(id, link)]);
        Arc::new(Self { entries, register: None, keeps_text, hash, places: OnceLock::new() })
    }

    /// A frame for these callers, whose entries are flat; none if only the end of the text waits.
    pub(crate) fn of(key: &HashKey, empty: ExprId, entries: Vec<(ExprId, Link)>) -> Link {
        Self::with(key, empty, entries, None)
    }

    /// The same for the rest of an object or an array that remembers something.
    pub(crate) fn with(
        key: &HashKey,
        empty: ExprId,
        mut entries: Vec<(ExprId, Link)>,
        register: Option<Register>,
    ) -> Link {
        if let [(id, None)] = entries[..]
            && id == empty
            && register.is_none()
        {
            return None;
        }
        if entries.len() > 1 {
            entries.sort_by_cached_key(|(id, link)| (*id, hash_of(key, link)));
            entries.dedup_by(|a, b| a.0 == b.0 && is_same(&a.1, &b.1));
        }
        let mut hash = key.start(50);
        for (id, link) in &entries {
            hash = hash.with(key, id.0.into()).with_hash(key, hash_of(key, link));
        }
        if let Some(register) = &register {
            hash = hash.with_hash(key, register.hash(key));
        }
        let keeps_text = register.as_ref().is_some_and(|register| register.item.is_some())
            || entries.iter().any(|(_, link)| keeps_text(link));
        let (entries, places) = (entries.into(), OnceLock::new());
        Some(Arc::new(Self { entries, register, keeps_text, hash, places }))
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

    /// What the object or the array remembers whose rest hangs on this frame.
    pub(crate) fn register(&self) -> Option<&Register> {
        self.register.as_ref()
    }

    /// Whether it is the frame of an array that remembers its items.
    pub(crate) fn is_array(&self) -> bool {
        self.register.as_ref().is_some_and(|register| register.item.is_some())
    }

    /// The names, or strings, that came in it.
    pub(crate) fn seen(&self) -> Option<&Seen> {
        self.register.as_ref().and_then(|register| register.seen.as_ref())
    }

    /// Whether only the end of the text waits.
    pub(crate) fn is_end(&self, empty: ExprId) -> bool {
        matches!(self.entries[..], [(id, None)] if id == empty)
    }

    /// The callers.
    pub(crate) fn entries(&self) -> &[(ExprId, Link)] {
        &self.entries
    }
}

/// The callers behind a link: the end of the text is one whose rest is empty.
pub(crate) fn entries_of(link: &Link, empty: ExprId) -> SmallVec<[(ExprId, Link); 1]> {
    match link {
        Some(frame) => frame.entries.clone(),
        None => SmallVec::from_buf([(empty, None)]),
    }
}

/// What is remembered for the rest of an object or an array that hangs on a link.
pub(crate) fn register_of(link: &Link) -> Option<&Register> {
    link.as_ref().and_then(|frame| frame.register())
}

/// Whether a frame behind a link knows where an item began.
pub(crate) fn keeps_text(link: &Link) -> bool {
    link.as_ref().is_some_and(|frame| frame.keeps_text)
}

/// The names that are remembered for the rest of an object that hangs on a link.
pub(crate) fn seen_of(link: &Link) -> Option<&Seen> {
    link.as_ref().and_then(|frame| frame.seen())
}

/// Whether nothing but the end of the text lies behind a link.
pub(crate) fn is_last(link: &Link, empty: ExprId) -> bool {
    link.as_ref().is_none_or(|frame| frame.is_end(empty))
}

/// Whether two links lead to the same callers. Hashes of 128 bits under a secret key decide.
pub(crate) fn is_same(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.hash == b.hash,
        _ => false,
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
        let below = frame.entries.iter().map(|(_, link)| link).find(unknown);
        if let Some(Some(below)) = below {
            todo.push(below.clone());
            continue;
        }
        let mut whole = None;
        for (rest, link) in &frame.entries {
            let after = known_places_after(residuals, link).unwrap_or(Places::END);
            let places = residuals.before(*rest, after)?;
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
        freed.extend(self.entries.drain(..).filter_map(|(_, link)| link));
        while let Some(frame) = freed.pop() {
            if let Some(mut frame) = Arc::into_inner(frame) {
                freed.extend(frame.entries.drain(..).filter_map(|(_, link)| link));
            }
        }
    }
}
