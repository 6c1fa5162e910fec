//! Liveness over tokens, for vocabularies in which not every byte is a token: whether some
//! sequence of tokens completes a text. What can be completed in bytes alone may be dead then.
//!
//! All texts that tokens spell are a regular language, whose automaton is the vocabulary's
//! [`Tiling`]. An expression leads from some places of it to others (`ends.rs`). What comes after
//! an expression is summed up as the places from which it can be completed; so a residual is
//! judged with its own rule alone, and masks stay composed of local results.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{ByteSet, ContentHash, Expr, ExprId, UNBOUNDED};
use crate::residual::Residuals;
use crate::residual::ends::{Question, Wanted};
use crate::residual::first::First;
use crate::residual::places::{PlaceSets, Places};
use crate::vocab::{Tiling, Vocabulary};

/// Rules entered to see which bytes may come first.
const RULES_ENTERED: u32 = 3;

/// More bytes than these are no help to people who ask what is missing.
const FEW: u32 = 8;

/// What is known of the ways through one vocabulary's tiling.
#[derive(Debug)]
pub(super) struct Liveness {
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) sets: PlaceSets,
    /// Where an expression may end that begins at a place, among the places asked about.
    pub(super) ends: FxHashMap<Question, Places>,
    completes: FxHashMap<(ExprId, Places), bool>,
    before: FxHashMap<(ExprId, Places), Places>,
    starts: FxHashMap<(ExprId, Places), Places>,
    is_steady: FxHashMap<ExprId, bool>,
    /// Bytes that a text needed where no token had them.
    lacked: ByteSet,
}

impl Liveness {
    /// What is to be known; nothing where every byte is a token.
    pub(super) fn of(vocabulary: &Arc<Vocabulary>) -> Option<Box<Self>> {
        vocabulary.tiling()?;
        Some(Box::new(Self {
            vocabulary: vocabulary.clone(),
            sets: PlaceSets::new(),
            ends: FxHashMap::default(),
            completes: FxHashMap::default(),
            before: FxHashMap::default(),
            starts: FxHashMap::default(),
            is_steady: FxHashMap::default(),
            lacked: ByteSet::EMPTY,
        }))
    }

    pub(super) fn tiling(&self) -> &Tiling {
        self.vocabulary.tiling().expect("it is only made for vocabularies with one")
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        let entries = self.completes.len() + self.before.len() + self.starts.len();
        self.sets.size_in_bytes() + self.ends.len() * 24 + entries * 20
    }
}

impl Residuals {
    /// Whether some texts cannot be spelled, so that liveness is over tokens.
    #[inline]
    pub(crate) fn is_over_tokens(&self) -> bool {
        self.liveness.is_some()
    }

    /// What comes after an expression that `rest` and then `after` follow.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn before(&mut self, rest: ExprId, after: Places) -> Result<Places, Error> {
        if rest == self.exprs.empty() {
            return Ok(after);
        }
        let Some(liveness) = &self.liveness else {
            return Ok(Places::ANY);
        };
        if let Some(&known) = liveness.before.get(&(rest, after)) {
            return Ok(known);
        }
        let first = self.first(rest, RULES_ENTERED)?;
        let is_nullable = self.exprs.is_nullable(rest);
        let mut found = Vec::new();
        for place in 0..self.tiling().places() {
            let passes = is_nullable && self.sets().contains(after, place);
            if passes || (self.may_begin(&first, place) && self.is_any_end((rest, place, after))?) {
                found.push(place);
            }
        }
        let places = self.sets_mut().id(found);
        self.liveness_mut().before.insert((rest, after), places);
        Ok(places)
    }

    /// The places of either set.
    pub(crate) fn either(&mut self, one: Places, other: Places) -> Places {
        if self.liveness.is_none() {
            return Places::ANY;
        }
        let mut places = self.sets().get(one).to_vec();
        places.extend_from_slice(&self.sets().get(other).clone());
        self.sets_mut().id(places)
    }

    /// Whether tokens complete `id` and what comes after it, from between two tokens.
    ///
    /// # Errors
    /// A limit.
    #[inline]
    pub(crate) fn completes(&mut self, id: ExprId, after: Places) -> Result<bool, Error> {
        match self.known_completes(id, after) {
            Some(known) => Ok(known),
            None => self.find_completes(id, after),
        }
    }

    /// The same, if it was asked before.
    #[inline]
    pub(crate) fn known_completes(&self, id: ExprId, after: Places) -> Option<bool> {
        match &self.liveness {
            None => Some(true),
            Some(liveness) => liveness.completes.get(&(id, after)).copied(),
        }
    }

    #[cold]
    fn find_completes(&mut self, id: ExprId, after: Places) -> Result<bool, Error> {
        let completes = self.is_any_end((id, 0, after))?;
        self.liveness_mut().completes.insert((id, after), completes);
        Ok(completes)
    }

    /// Whether all that characters of the loop lead to, with which `id` begins, can be completed.
    /// False if that is not plain to see.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn loop_completes(&mut self, id: ExprId, after: Places) -> Result<bool, Error> {
        if self.liveness.is_none() {
            return Ok(true);
        }
        let (first, rest) = match self.exprs.get(id) {
            Expr::Seq(first, rest) => (first, rest),
            _ => (id, self.exprs.empty()),
        };
        let Expr::Repeat { body, .. } = self.exprs.get(first) else {
            return Ok(false);
        };
        let is_character = matches!(self.exprs.get(body), Expr::Chars { .. });
        // However many characters are still to come, each can begin and end between two tokens.
        Ok(is_character
            && self.is_any_end((body, 0, Places::BETWEEN))?
            && self.completes(rest, after)?)
    }

    /// Whether a text of `body` once or more often leads to the same places, however often: then
    /// liveness does not depend on counts.
    ///
    /// # Errors
    /// A limit.
    pub(super) fn is_steady(&mut self, body: ExprId) -> Result<bool, Error> {
        let Some(liveness) = &self.liveness else {
            return Ok(true);
        };
        if let Some(&known) = liveness.is_steady.get(&body) {
            return Ok(known);
        }
        let first = self.first(body, RULES_ENTERED)?;
        let all: Vec<u32> = (0..self.tiling().places()).collect();
        let anywhere = self.sets_mut().id(all.clone());
        let mut is_steady = true;
        for place in all {
            if !self.may_begin(&first, place) {
                continue;
            }
            let once = self.all_ends((body, place, anywhere))?;
            let mut twice = Vec::new();
            for &place in self.sets().get(once).clone().iter() {
                let more = self.all_ends((body, place, anywhere))?;
                twice.extend_from_slice(self.sets().get(more));
            }
            if self.sets_mut().id(twice) != once {
                is_steady = false;
                break;
            }
        }
        self.liveness_mut().is_steady.insert(body, is_steady);
        Ok(is_steady)
    }

    /// Where a text may stand when `rest` begins, which leads to one of the places `after`: these
    /// places and maybe more.
    pub(super) fn starts(&mut self, rest: ExprId, after: Places) -> Result<Places, Error> {
        if let Some(&known) = self.live().starts.get(&(rest, after)) {
            return Ok(known);
        }
        let first = self.first(rest, RULES_ENTERED)?;
        let is_nullable = self.exprs.is_nullable(rest);
        if !self.may_begin(&first, 0) {
            self.note_lacked(&first.bytes);
        }
        let may_stand = |place: &u32| {
            (is_nullable && self.sets().contains(after, *place)) || self.may_begin(&first, *place)
        };
        let places = (0..self.tiling().places()).filter(may_stand).collect();
        let places = self.sets_mut().id(places);
        self.liveness_mut().starts.insert((rest, after), places);
        Ok(places)
    }

    /// Key and content of what comes after, for results that grammars share.
    pub(crate) fn hash_of_places(&self, after: Places) -> Option<ContentHash> {
        let liveness = self.liveness.as_ref()?;
        Some(liveness.sets.hash(&self.exprs.key, after))
    }

    /// That the start of a grammar can be spelled.
    ///
    /// # Errors
    /// It cannot, or that is too much work to find out.
    pub(crate) fn check_start(&mut self, start: ExprId) -> Result<bool, Error> {
        if self.liveness.is_none() {
            return Ok(true);
        }
        let places = self.tiling().places() as usize;
        if places > self.limits.search {
            return Err(self.undecided());
        }
        self.completes(start, Places::END).map_err(|error| match error.kind() {
            crate::error::ErrorKind::LimitReached { limit: "search", .. } => self.undecided(),
            _ => error,
        })
    }

    fn undecided(&self) -> Error {
        let missing = self.tiling().missing();
        let inside = missing.intersection(&self.live().vocabulary.used_bytes());
        let bytes = if inside.is_empty() { missing } else { &inside };
        Error::vocabulary(format!(
            "whether the tokens can spell a text of this grammar takes more than Limits::search = {} steps to find out, since these bytes are no tokens of their own: {}. Add them as tokens",
            self.limits.search,
            listed(bytes),
        ))
    }

    /// The error for a grammar of which no text can be spelled.
    pub(crate) fn cannot_spell(&self) -> Error {
        let missing = self.tiling().missing();
        let inside = missing.intersection(&self.live().vocabulary.used_bytes());
        let bytes = [self.live().lacked.intersection(missing), inside, *missing];
        let bytes = bytes.iter().find(|bytes| !bytes.is_empty()).unwrap_or(missing);
        Error::vocabulary(format!(
            "the tokens cannot spell any text of this grammar: the vocabulary lacks tokens of their own for bytes that it needs: {}. Add them as tokens, or allow other texts",
            listed(bytes)
        ))
    }

    /// Notes bytes that a text needed where no token had them, for people.
    pub(super) fn note_lacked(&mut self, bytes: &ByteSet) {
        if bytes.len() <= FEW {
            let liveness = self.liveness_mut();
            liveness.lacked = liveness.lacked.union(bytes);
        }
    }

    pub(super) fn live(&self) -> &Liveness {
        self.liveness.as_deref().expect("asked only where not every byte is a token")
    }

    pub(super) fn liveness_mut(&mut self) -> &mut Liveness {
        self.liveness.as_deref_mut().expect("asked only where not every byte is a token")
    }

    pub(super) fn tiling(&self) -> &Tiling {
        self.live().tiling()
    }

    pub(super) fn sets(&self) -> &PlaceSets {
        &self.live().sets
    }

    pub(super) fn sets_mut(&mut self) -> &mut PlaceSets {
        &mut self.liveness_mut().sets
    }

    fn is_any_end(&mut self, question: Question) -> Result<bool, Error> {
        let ends = self.ends(question, Wanted::Any)?;
        Ok(ends != Places::NONE)
    }

    pub(super) fn all_ends(&mut self, question: Question) -> Result<Places, Error> {
        self.ends(question, Wanted::All)
    }

    fn may_begin(&self, first: &First, place: u32) -> bool {
        (first.is_special && place == 0)
            || !first.bytes.intersection(self.tiling().bytes_out(place)).is_empty()
    }

    pub(super) fn first_bytes_of(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        Ok(self.first(id, RULES_ENTERED)?.bytes)
    }

    /// Whether counters of `id` may be clipped: `max` times `body`.
    pub(super) fn may_clip(&mut self, body: ExprId, max: u32) -> bool {
        self.liveness.is_none()
            || (max != UNBOUNDED && max <= 1)
            // A limit here only means that masks are shared less.
            || self.is_steady(body).unwrap_or(false)
    }
}

/// Bytes for people, the first few.
fn listed(bytes: &ByteSet) -> String {
    let show = |byte: u8| match byte {
        0x21..=0x7E => format!("0x{byte:02X} (`{}`)", char::from(byte)),
        _ => format!("0x{byte:02X}"),
    };
    let mut parts: Vec<String> = bytes.iter().take(FEW as usize).map(show).collect();
    if bytes.len() > FEW {
        parts.push(format!("and {} more", bytes.len() - FEW));
    }
    parts.join(", ")
}
