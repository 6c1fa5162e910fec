//! Loops over many characters: the tokens made of them at once, the others by a walk of as few as
//! may matter.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{CharSet, Expr, ExprId, UNBOUNDED};
use crate::mask::local::Local;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::walk::Found;
use crate::mask::{MaskBuilder, Tables, has};
use crate::residual::loops::Loop;
use crate::residual::places::Places;
use crate::vocab::Sieve;

impl Tables {
    /// The local result of an expression that begins with a wide loop; none if it does not.
    pub(super) fn sieved_local(
        &mut self,
        id: ExprId,
        after: Places,
    ) -> Result<Option<Local>, Error> {
        let Some(lead) = self.residuals.leading_loop(id) else {
            return Ok(None);
        };
        if after.goes_on() && !lead.is_guarded {
            return Ok(None);
        }
        if !lead.is_wide || !self.residuals.loop_completes(id, after)? {
            return Ok(None);
        }
        if !lead.is_exact
            && let Some(local) = self.local_like_loop(id, after)?
        {
            return Ok(Some(local));
        }
        let max = (lead.max != UNBOUNDED).then_some(lead.max);
        let base = self.sieve(&lead.class, max);
        let mut inside = MaskBuilder::default();
        inside.add_base(base.pure());
        if !lead.is_exact {
            // Longer tokens of these characters must be walked, too.
            let mut found = Found::sieved(after, inside, smallvec![base]);
            self.walk_all(id, FULL, &mut found)?;
            return self.finish_walk(found).map(Some);
        }
        let pure = self.sieve(&lead.class, None);
        let mut sieves: SmallVec<[Arc<Sieve>; 3]> = smallvec![pure.clone()];
        let mut exits = Vec::new();
        if let Some((open, min)) = self.without_most(id) {
            if let Some(max) = max.filter(|_| min == 0)
                && !self.residuals.is_over_tokens()
            {
                let local = self.local(open, FULL, after)?;
                if local.inside.has_base(pure.pure()) {
                    if max >= pure.rest_depth() {
                        inside.adds().extend_from_slice(local.inside.singles());
                        let inside = self.finish_mask(inside);
                        return Ok(Some(Local { inside, exits: local.exits }));
                    }
                    sieves.push(self.add_short(&local, max, &mut inside, &mut exits));
                }
            }
            sieves.extend(self.leaving(open, &lead)?);
        }
        let mut found = Found::sieved(after, inside, sieves);
        found.add_exits(exits.iter().map(|&exit| self.tries.place(exit)));
        self.walk_all(id, FULL, &mut found)?;
        self.finish_walk(found).map(Some)
    }

    fn sieve(&self, class: &Arc<CharSet>, max_chars: Option<u32>) -> Arc<Sieve> {
        self.store.sieve(&self.vocabulary, class, max_chars)
    }

    /// `id`, if it begins with a counter of characters, with no most for it, and its least.
    fn without_most(&mut self, id: ExprId) -> Option<(ExprId, u32)> {
        let exprs = &mut self.residuals.exprs;
        let Expr::Seq(first, rest) = exprs.get(id) else { return None };
        let Expr::Repeat { body, min, .. } = exprs.get(first) else { return None };
        if !matches!(exprs.get(body), Expr::Chars { .. }) {
            return None;
        }
        let open = exprs.repeat(body, min, UNBOUNDED);
        Some((exprs.seq2(open, rest), min))
    }

    /// Lets the tokens through that stay in the loop at the beginning of `open`, or are refused
    /// there: none of their characters leads out of it. None if one of the loop's own may, too.
    fn leaving(&mut self, open: ExprId, lead: &Loop) -> Result<Option<Arc<Sieve>>, Error> {
        let Expr::Seq(first, rest) = self.residuals.exprs.get(open) else { return Ok(None) };
        let Expr::Repeat { body, .. } = self.residuals.exprs.get(first) else { return Ok(None) };
        if !self.residuals.begins_outside(rest, &lead.class) {
            return Ok(None);
        }
        let exprs = &mut self.residuals.exprs;
        let any_number = exprs.repeat(body, 0, UNBOUNDED);
        let any_number = exprs.seq2(any_number, rest);
        let nothing = exprs.nothing();
        let mut leaving = Vec::new();
        for byte in 0..=u8::MAX {
            if !lead.bytes.contains(byte) && self.residuals.step(any_number, byte)? != nothing {
                leaving.push(char::from(byte));
            }
        }
        // Beyond ASCII a byte does not tell the character.
        if !leaving.iter().all(char::is_ascii) {
            return Ok(None);
        }
        let staying = CharSet::of(leaving).negate();
        Ok(Some(self.sieve(&Arc::new(staying), None)))
    }

    /// Adds what is known of the tokens with at most `max` characters: no counter that lets so many
    /// through makes a difference to them. The sieve that holds back the others.
    fn add_short(
        &mut self,
        open: &Local,
        max: u32,
        inside: &mut MaskBuilder,
        exits: &mut Vec<TrieId>,
    ) -> Arc<Sieve> {
        let any = self.residuals.exprs.any;
        let any = self.residuals.exprs.class(any).clone();
        let short = self.sieve(&any, Some(max));
        let singles = open.inside.singles().iter().copied();
        inside.adds().extend(singles.filter(|&token| has(short.pure(), token)));
        let long: Vec<u32> = short.pure().iter().map(|word| !word).collect();
        exits.extend(open.exits.iter().filter_map(|&exit| self.tries.without(exit, &long)));
        short
    }
}
