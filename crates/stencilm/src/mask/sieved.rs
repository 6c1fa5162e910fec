//! Loops over many characters: the tokens made of them at once, the others by a walk of as few as
//! may matter.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, UNBOUNDED};
use crate::mask::after::{After, First};
use crate::mask::local::Local;
use crate::mask::store::Most;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{MaskBuilder, Tables};
use crate::residual::loops::Loop;
use crate::vocab::{Parted, Sieve};

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
        let pure = match max {
            None => base,
            // Where the end of one character too many is missing, it may be another one.
            Some(_) => self.whole(parted, &lead.class, None),
        };
        let mut sieves: SmallVec<[Arc<Sieve>; 3]> = smallvec![pure];
        if let Some(open) = self.without_most(id) {
            sieves.extend(self.leaving(parted, open, &lead, &first)?);
        }
        let mut found = self.begin_sieved(after, inside, &sieves);
        found.is_whole = is_whole;
        self.walk_all(id, trie, &mut found)?;
        self.finish_walk(found).map(Some)
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

    /// Lets the tokens through that stay in the loop at the beginning of `open`, or are refused
    /// there: none of their characters leads out of it, before one of the bytes of `first`. None if
    /// one of the loop's own may, too.
    fn leaving(
        &mut self,
        parted: Parted,
        open: ExprId,
        lead: &Loop,
        first: &ByteSet,
    ) -> Result<Option<Arc<Sieve>>, Error> {
        let (head, rest) = self.residuals.exprs.head_and_rest(open);
        let Expr::Repeat { body, .. } = self.residuals.exprs.get(head) else { return Ok(None) };
        if !self.residuals.is_parted(open, lead, first)? {
            return Ok(None);
        }
        let any_number = self.residuals.exprs.repeat(body, 0, UNBOUNDED);
        let leaving = self.residuals.live_first_bytes(any_number)?;
        let leaving = leaving.difference(&lead.bytes);
        let leaving = leaving.union(&self.residuals.bytes_after(rest, first)?);
        // Beyond ASCII a byte does not tell the character.
        if !leaving.iter().all(|byte| byte.is_ascii()) {
            return Ok(None);
        }
        let staying = CharSet::of(leaving.iter().map(char::from)).negate();
        Ok(Some(self.beginnings(parted, &Arc::new(staying))))
    }
}
