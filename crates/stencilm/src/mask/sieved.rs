//! Loops over many characters: the tokens made of them at once, the others by a walk of as few as
//! may matter.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, UNBOUNDED};
use crate::mask::after::{After, First};
use crate::mask::local::Local;
use crate::mask::store::Most;
use crate::mask::tries::{FULL, STRING_SIGNS, TrieId};
use crate::mask::walk::Found;
use crate::mask::{MaskBuilder, Tables};
use crate::residual::loops::Loop;
use crate::vocab::{Parted, Sieve, StringSigns};

impl Tables {
    /// Which part of the vocabulary's texts the endings of `trie` are, if there are sieves for it.
    pub(super) fn parted(&self, trie: TrieId) -> Option<Parted> {
        if trie == FULL {
            return Some(Parted::Whole);
        }
        let space = self.vocabulary.root_child(b' ')?;
        (self.tries.place(trie) == (FULL, space)).then_some(Parted::AfterSpace)
    }

    /// The local result of an expression that begins with a wide loop; none if it does not.
    pub(super) fn sieved_local(
        &mut self,
        id: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<Option<Local>, Error> {
        let Some(parted) = self.parted(trie) else { return Ok(None) };
        let Some(lead) = self.residuals.leading_loop(id) else {
            return Ok(None);
        };
        if !lead.is_wide || !self.residuals.loop_completes(id, after.places)? {
            return Ok(None);
        }
        let is_guarded = lead.is_guarded || !after.goes_on();
        let first = self.first_set(after.first);
        let is_parted = self.residuals.is_parted(id, &lead, &first)?;
        if !is_guarded && !is_parted {
            return Ok(None);
        }
        let is_exact = lead.is_exact || (is_parted && self.without_most(id).is_some());
        // Of an endless text the end tells nothing.
        let is_whole = is_guarded || after.first == First::ANY;
        if !is_exact && let Some(local) = self.local_like_loop(id, trie, after)? {
            return Ok(Some(local));
        }
        let max = (lead.max != UNBOUNDED).then_some(lead.max);
        let base = match max {
            None => self.beginnings(parted, &lead.class),
            Some(_) => self.whole(parted, &lead.class, max),
        };
        let mut inside = MaskBuilder::default();
        inside.add_base(base.pure());
        if !is_exact {
            // Longer tokens of these characters must be walked, too.
            let mut found = self.begin_sieved(after, inside, &[base]);
            found.is_whole = is_whole;
            self.walk_all(id, trie, &mut found)?;
            return self.finish_walk(found).map(Some);
        }
        let leaving = match self.without_most(id) {
            Some(open) => self.leaving(open, &lead, &first)?,
            None => None,
        };
        // Where the end of one character too many is missing, it may be another one.
        let is_by_start = max.is_some() || self.residuals.is_over_tokens();
        let may_be_cut = is_by_start && lead.class.meets(0x80, char::MAX.into());
        if !may_be_cut && leaving.is_some_and(|leaving| leaving.is_subset(&StringSigns::bytes())) {
            let mut found = self.begin_held_back(after, inside, None);
            found.is_whole = is_whole;
            self.walk_string_signs(id, trie, &mut found)?;
            return self.finish_walk(found).map(Some);
        }
        let pure = match max {
            None => base,
            Some(_) => self.whole(parted, &lead.class, None),
        };
        let mut sieves: SmallVec<[Arc<Sieve>; 2]> = smallvec![pure];
        if let Some(leaving) = leaving {
            let staying = Arc::new(CharSet::of(leaving.iter().map(char::from)).negate());
            sieves.push(match max {
                None => self.beginnings(parted, &staying),
                Some(_) => self.whole(parted, &staying, None),
            });
        }
        let mut found = self.begin_sieved(after, inside, &sieves);
        found.is_whole = is_whole;
        self.walk_all(id, trie, &mut found)?;
        self.finish_walk(found).map(Some)
    }

    /// Walks the tokens of a part with a quote or a backslash along `id`.
    pub(super) fn walk_string_signs(
        &mut self,
        id: ExprId,
        trie: TrieId,
        found: &mut Found,
    ) -> Result<(), Error> {
        if trie == FULL {
            return self.walk_all(id, STRING_SIGNS, found);
        }
        // The other part is what comes after a space.
        let Some(space) = self.tries.trie_ref(STRING_SIGNS).child(0, b' ') else { return Ok(()) };
        let spaced = self.tries.part(STRING_SIGNS, space);
        self.walk_all(id, spaced, found)
    }

    /// The tokens made of characters of a class, the last of which may be cut off: what a token has of it
    /// can go on where the class may.
    pub(super) fn beginnings(&self, parted: Parted, class: &Arc<CharSet>) -> Arc<Sieve> {
        // Not where it takes a token to go on.
        let most = if self.residuals.is_over_tokens() { Most::Whole(None) } else { Most::CutOff };
        self.store.sieve(&self.vocabulary, parted, class, most)
    }

    fn whole(&self, parted: Parted, class: &Arc<CharSet>, most: Option<u32>) -> Arc<Sieve> {
        self.store.sieve(&self.vocabulary, parted, class, Most::Whole(most))
    }

    /// `id`, if it begins with a counter of characters, with no most for it.
    fn without_most(&mut self, id: ExprId) -> Option<ExprId> {
        let exprs = &mut self.residuals.exprs;
        let (head, rest) = exprs.head_and_rest(id);
        let Expr::Repeat { body, min, .. } = exprs.get(head) else { return None };
        if !matches!(exprs.get(body), Expr::Chars { .. }) {
            return None;
        }
        let open = exprs.repeat(body, min, UNBOUNDED);
        Some(exprs.seq2(open, rest))
    }

    /// The bytes with which a token leaves the characters of the loop at the beginning of `open`, before
    /// one of the bytes of `first`: without them it stays in the loop or is refused. None if one of the
    /// loop's own may leave it, too, or one beyond ASCII.
    fn leaving(
        &mut self,
        open: ExprId,
        lead: &Loop,
        first: &ByteSet,
    ) -> Result<Option<ByteSet>, Error> {
        let (head, rest) = self.residuals.exprs.head_and_rest(open);
        let Expr::Repeat { body, .. } = self.residuals.exprs.get(head) else { return Ok(None) };
        if !self.residuals.is_parted(open, lead, first)? {
            return Ok(None);
        }
        let any_number = self.residuals.exprs.repeat(body, 0, UNBOUNDED);
        let mut leaving = self.residuals.live_first_bytes(any_number)?;
        if matches!(self.residuals.exprs.get(body), Expr::Chars { .. }) {
            // Beyond ASCII it has its characters as they are, and no others.
            leaving = leaving.intersection(&ByteSet::range(0, 0x7F));
        }
        let leaving = leaving.difference(&lead.bytes);
        let leaving = leaving.union(&self.residuals.bytes_after(rest, first)?);
        // Beyond ASCII a byte does not tell the character.
        Ok(leaving.iter().all(|byte| byte.is_ascii()).then_some(leaving))
    }
}
