//! Expressions that after a few bytes are one whose result is known: only the tokens that tell the
//! two apart are walked.

use crate::error::Error;
use crate::grammar::{Expr, ExprId, UNBOUNDED};
use crate::mask::after::After;
use crate::mask::local::Local;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{MaskBuilder, Tables};
use crate::residual::loops::Loop;

impl Tables {
    /// The local result of `id` out of that of a loop that it soon becomes; none if there is none.
    pub(super) fn local_like_loop(
        &mut self,
        id: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<Option<Local>, Error> {
        if self.parted(trie).is_none() {
            return Ok(None);
        }
        // What is like itself, in the end, is walked.
        if self.modelled.contains(&(id, trie)) {
            return Ok(None);
        }
        let Some(model) = self.loop_like(id, trie)? else { return Ok(None) };
        self.modelled.push((id, trie));
        let known = self.local(model, trie, after);
        self.modelled.pop();
        let known = known?;
        let nothing = self.residuals.exprs.nothing();
        let vocabulary = self.vocabulary.clone();
        let (_, root) = self.tries.place(trie);
        let texts = vocabulary.trie();
        // The tokens that only the model allows, and where `id` goes a way of its own.
        let (mut refused, mut apart) = (Vec::new(), Vec::new());
        let mut todo = vec![(id, model, root)];
        while let Some((mine, other, node)) = todo.pop() {
            for child in texts.children(node) {
                self.spend(1)?;
                let byte = texts.byte(child);
                let (before, mine) = (mine, self.residuals.step(mine, byte)?);
                let other = self.residuals.step(other, byte)?;
                if mine == other {
                    continue;
                }
                let exprs = &self.residuals.exprs;
                let may_leave = exprs.is_nullable(mine) || exprs.is_nullable(other);
                // Steps do not go into rules.
                let may_call = exprs.has_leading_call(mine) || exprs.has_leading_call(other);
                let is_both = mine != nothing && other != nothing;
                if is_both && !may_call && !(may_leave && after.goes_on()) {
                    todo.push((mine, other, child));
                    continue;
                }
                if other != nothing {
                    let is_walked = mine == nothing
                        && !may_call
                        && !(may_leave && after.goes_on())
                        && self.residuals.leading_loop(other).is_none_or(|it| !it.is_wide);
                    if is_walked {
                        // Few of them may be the model's.
                        refused.extend_from_slice(texts.tokens_at(child));
                        todo.push((nothing, other, child));
                    } else {
                        refused.extend_from_slice(texts.tokens_below(child));
                    }
                }
                if mine != nothing {
                    apart.push((before, child, texts.end(child)));
                }
            }
        }
        let Some(Local { inside: kept, exits, is_whole }) = self.without(known, trie, refused)
        else {
            return Ok(None);
        };
        let mut inside = MaskBuilder::default();
        inside.add(&kept);
        let mut found = self.begin_sieved(after, inside, &[]);
        found.is_whole = is_whole;
        found.add_exits(exits.iter().map(|&exit| self.tries.place(exit)));
        self.walk_ranges(apart, FULL, &mut found)?;
        self.finish_walk(found).map(Some)
    }

    /// An expression that begins with an endless wide loop, and is what `id` becomes after most first
    /// bytes.
    fn loop_like(&mut self, id: ExprId, trie: TrieId) -> Result<Option<ExprId>, Error> {
        if self.residuals.is_over_tokens() {
            return Ok(None);
        }
        if let Some(model) = self.loop_inside(id)
            && self.is_like(id, model)?
        {
            return Ok(Some(model));
        }
        // The beginning of a text that must not occur is left by most characters, and a word goes on
        // after its first letter.
        for byte in [b' ', b'e'] {
            let model = self.residuals.step(id, byte)?;
            // A choice is put together from its members.
            let is_part = match self.residuals.exprs.get(model) {
                Expr::Choice(list) => self.residuals.exprs.list(list).contains(&id),
                _ => model == id,
            };
            if is_part || !self.is_like(id, model)? {
                continue;
            }
            // To take out all that the model alone allows after a space would be half of the tokens.
            let nothing = self.residuals.exprs.nothing();
            let after_space = self.residuals.step(model, b' ')?;
            let is_apart = after_space != nothing && self.residuals.step(id, b' ')? != after_space;
            if trie != FULL || !is_apart || byte == b' ' {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// Whether `id` begins with a wide loop, or soon becomes one, for the endings in `trie`.
    pub(super) fn has_sieve(&mut self, id: ExprId, trie: TrieId) -> Result<bool, Error> {
        Ok(self.residuals.leading_loop(id).is_some_and(|lead| lead.is_wide)
            || self.loop_like(id, trie)?.is_some())
    }

    /// Whether `id` becomes a wide loop by its first character, or by what it refuses.
    pub(super) fn is_loop_inside(&mut self, id: ExprId) -> Result<bool, Error> {
        match self.loop_inside(id) {
            Some(model) => self.is_like(id, model),
            None => Ok(false),
        }
    }

    /// The loop that is left of `id` without its first character, or without what it refuses.
    fn loop_inside(&mut self, id: ExprId) -> Option<ExprId> {
        let exprs = &mut self.residuals.exprs;
        let Expr::Seq(first, rest) = exprs.get(id) else { return None };
        match exprs.get(first) {
            Expr::Chars { .. } => Some(rest),
            Expr::And(list) => {
                let is_refused = |member: &ExprId| matches!(exprs.get(*member), Expr::Not(_));
                let mut others =
                    exprs.list(list).iter().copied().filter(|member| !is_refused(member));
                match (others.next(), others.next()) {
                    (Some(star), None) => Some(exprs.seq2(star, rest)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether `model` begins with an endless wide loop, and is what `id` becomes after most first
    /// bytes.
    fn is_like(&mut self, id: ExprId, model: ExprId) -> Result<bool, Error> {
        let exprs = &self.residuals.exprs;
        if exprs.has_leading_call(id) || exprs.has_leading_call(model) {
            return Ok(false);
        }
        let is_endless = |lead: &Loop| lead.is_wide && lead.is_exact && lead.max == UNBOUNDED;
        let Some(lead) = self.residuals.leading_loop(model).filter(|lead| is_endless(lead)) else {
            return Ok(false);
        };
        let (mut alike, mut apart) = (0, 0);
        for byte in lead.bytes.iter() {
            let is_same = self.residuals.step(id, byte)? == self.residuals.step(model, byte)?;
            *(if is_same { &mut alike } else { &mut apart }) += 1;
        }
        Ok(alike > apart)
    }
}
