//! Local results: all that the tokens of a trie can do inside one expression, and what is left of
//! those that leave it. Kept for good: in the grammar's tables, and, for an expression without
//! calls, in the store that all grammars share.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Spelling, UNBOUNDED};
use crate::mask::few::Few;
use crate::mask::store::{LocalKey, SharedLocal};
use crate::mask::tries::{FULL, TrieId};
use crate::mask::walk::Found;
use crate::mask::{Mask, MaskBuilder, Tables, has, insert};
use crate::residual::places::Places;

/// Local results inside each other: one for each call that a single token enters.
const DEEPEST: usize = 400;

/// A local result of one grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LocalId(pub(super) u32);

/// What an expression alone says of the tokens of a trie.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// The tokens that end in the expression.
    pub(crate) inside: Mask,
    /// What is left of the others after the expression was complete, after one byte at least.
    pub(crate) exits: Few<TrieId>,
}

impl Tables {
    /// The local result of `id` for the endings in `trie`, before what comes `after`. Exits are
    /// left out at the end of the text.
    ///
    /// # Errors
    /// A limit; then nothing of this is kept.
    pub(super) fn local(
        &mut self,
        id: ExprId,
        trie: TrieId,
        after: Places,
    ) -> Result<Local, Error> {
        if let Some(&known) = self.local_ids.get(&(id, trie, after)) {
            return Ok(self.locals[known.0 as usize].clone());
        }
        let is_shared = !self.residuals.exprs.has_calls(id);
        let key = self.shared_key(id, trie, after);
        if is_shared && let Some(shared) = self.store.local(&key) {
            let exits = shared.exits.iter().map(|exit| self.tries.adopt(exit)).collect();
            let local = Local { inside: shared.inside, exits };
            self.keep_local(id, trie, after, &local);
            return Ok(local);
        }
        if self.depth >= DEEPEST {
            return Err(Error::limit("mask_work", self.limits().mask_work));
        }
        self.depth += 1;
        let made = self.make_local(id, trie, after);
        self.depth -= 1;
        let local = made?;
        if is_shared {
            let exits = local.exits.iter().map(|&exit| self.tries.share(exit)).collect();
            self.store.keep(key, SharedLocal { inside: local.inside.clone(), exits });
        }
        self.keep_local(id, trie, after, &local);
        Ok(local)
    }

    fn shared_key(&self, id: ExprId, trie: TrieId, after: Places) -> LocalKey {
        let exprs = &self.residuals.exprs;
        let mut content = exprs.content_hash(id);
        if let Some(places) = self.residuals.hash_of_places(after) {
            content = content.with_hash(&exprs.key, places);
        }
        (content, self.tries.hash(trie), after.goes_on())
    }

    fn keep_local(&mut self, id: ExprId, trie: TrieId, after: Places, local: &Local) {
        let at = u32::try_from(self.locals.len()).expect("limits keep tables small");
        self.mask_bytes += local.exits.len() * 4 + 32;
        self.count_mask(&local.inside, false);
        self.locals.push(local.clone());
        self.local_ids.insert((id, trie, after), LocalId(at));
    }

    fn make_local(&mut self, id: ExprId, trie: TrieId, after: Places) -> Result<Local, Error> {
        // What a text has piled up is not known here.
        let plain = self.residuals.exprs.unmarked(id);
        if plain != id {
            return self.local(plain, trie, after);
        }
        // Short cuts below say which tokens stay inside, not whether all of them can go on.
        let is_over_tokens = self.residuals.is_over_tokens();
        match self.residuals.exprs.get(id) {
            Expr::Names { state, low, high, depth, other: true } if !is_over_tokens => {
                let run = self.residuals.name_run(id).expect("it is a member name");
                let declared = self.residuals.exprs.names(state, low, high, depth, false);
                let others = self.residuals.other_names(run)?;
                self.union_of_locals(&[declared, others], trie, after)
            }
            Expr::Choice(list) => {
                let members = self.residuals.exprs.list(list).to_vec();
                let has_loop =
                    members.iter().any(|&member| self.residuals.leading_loop(member).is_some());
                if has_loop {
                    self.union_of_locals(&members, trie, after)
                } else {
                    self.walked_local(id, trie, after)
                }
            }
            Expr::Seq(first, rest) => {
                if let Some((first, rest)) = self.split(id) {
                    return self.local_of_two(first, rest, trie, after);
                }
                if trie == FULL
                    && !is_over_tokens
                    && let Some(local) = self.counted_local(id, first, rest, after)?
                {
                    return Ok(local);
                }
                if let Some(star) = self.star_of_names(first, rest)
                    && self.tries.place(trie).0 == FULL
                    && !is_over_tokens
                {
                    return self.local_without_names(first, star, rest, trie, after);
                }
                self.walked_local(id, trie, after)
            }
            _ => self.walked_local(id, trie, after),
        }
    }

    fn walked_local(&mut self, id: ExprId, trie: TrieId, after: Places) -> Result<Local, Error> {
        if trie == FULL
            && let Some(local) = self.sieved_local(id, after)?
        {
            return Ok(local);
        }
        let mut found = Found::new(after);
        self.walk_all(id, trie, &mut found)?;
        self.finish_walk(found)
    }

    fn union_of_locals(
        &mut self,
        members: &[ExprId],
        trie: TrieId,
        after: Places,
    ) -> Result<Local, Error> {
        let mut inside = MaskBuilder::default();
        let mut exits = Vec::new();
        for &member in members {
            if member == self.residuals.exprs.nothing() {
                continue;
            }
            let local = self.local(member, trie, after)?;
            inside.add(&local.inside);
            exits.extend_from_slice(&local.exits);
        }
        Ok(self.finish_local(inside, exits))
    }

    /// `first`, then `rest` on the endings that are left.
    fn local_of_two(
        &mut self,
        first: ExprId,
        rest: ExprId,
        trie: TrieId,
        after: Places,
    ) -> Result<Local, Error> {
        let between = self.residuals.before(rest, after)?;
        let local = self.local(first, trie, between)?;
        let mut inside = MaskBuilder::default();
        inside.add(&local.inside);
        let mut onward = local.exits.to_vec();
        if self.residuals.exprs.is_nullable(first) {
            onward.push(trie);
        }
        let rest = self.residuals.clip(rest)?;
        let mut exits = Vec::new();
        if after.goes_on() && self.residuals.exprs.is_nullable(rest) {
            exits.extend_from_slice(&local.exits);
        }
        for ending in onward {
            let local = self.local(rest, ending, after)?;
            inside.add(&local.inside);
            exits.extend_from_slice(&local.exits);
        }
        Ok(self.finish_local(inside, exits))
    }

    /// Where to cut a sequence so that the first half has no calls and many grammars have it:
    /// after a loop and the literal that ends it.
    fn split(&mut self, id: ExprId) -> Option<(ExprId, ExprId)> {
        let exprs = &self.residuals.exprs;
        let parts = exprs.spine(id);
        if matches!(exprs.get(parts[0]), Expr::Bytes { .. } | Expr::OneOf { .. }) {
            return None;
        }
        let call_free = parts.iter().take_while(|&&part| !exprs.has_calls(part)).count();
        let literal = parts[..call_free]
            .iter()
            .position(|&part| matches!(exprs.get(part), Expr::Bytes { .. }));
        let cut = match literal {
            Some(place) => place + 1,
            None => call_free,
        };
        if cut == 0 || cut == parts.len() {
            return None;
        }
        let first = self.residuals.exprs.seq(&parts[..cut]);
        let rest = self.residuals.exprs.seq(&parts[cut..]);
        // Without a literal behind it a wide loop has an exit after every character.
        let lead = self.residuals.leading_loop(first);
        if literal.is_none() && lead.is_some_and(|lead| lead.is_wide) {
            return None;
        }
        // A normal form may have joined the halves again.
        (first != id && rest != id).then_some((first, rest))
    }

    /// The star of any text that `first` is but for some names, if `rest` is the closing quote.
    fn star_of_names(&mut self, first: ExprId, rest: ExprId) -> Option<ExprId> {
        let exprs = &mut self.residuals.exprs;
        if rest != exprs.bytes(b"\"") {
            return None;
        }
        let Expr::And(list) = exprs.get(first) else {
            return None;
        };
        let &[a, b] = exprs.list(list) else {
            return None;
        };
        let star = exprs.any_text(Spelling::JsonCanonical);
        let other = if a == star { b } else { a };
        let Expr::Not(names) = exprs.get(other) else {
            return None;
        };
        let is_list =
            matches!(exprs.get(names), Expr::OneOf { .. } | Expr::Bytes { .. } | Expr::Empty);
        ((a == star || b == star) && is_list).then_some(star)
    }

    /// A text without some names is the text's result less the tokens that go through a name.
    fn local_without_names(
        &mut self,
        text: ExprId,
        star: ExprId,
        quote: ExprId,
        trie: TrieId,
        after: Places,
    ) -> Result<Local, Error> {
        let all = self.residuals.exprs.seq2(star, quote);
        let all = self.local(all, trie, after)?;
        let mut removed = vec![0; self.vocabulary.words()];
        let mut is_touched = false;
        let (_, node) = self.tries.place(trie);
        let vocabulary = self.vocabulary.clone();
        for name in self.refused_names(text) {
            let mut at = Some(node);
            for &byte in name.iter().chain(b"\"") {
                at = at.and_then(|at| {
                    if at == 0 {
                        vocabulary.root_child(byte)
                    } else {
                        vocabulary.trie().child(at, byte)
                    }
                });
            }
            for &token in at.map_or(&[][..], |at| vocabulary.trie().tokens_below(at)) {
                insert(&mut removed, token);
                is_touched = true;
            }
        }
        if !is_touched {
            return Ok(all);
        }
        let mut inside = MaskBuilder::default();
        if let Some(base) = &all.inside.base {
            let is_cut = base.iter().zip(&removed).any(|(base, removed)| base & removed != 0);
            let cut = || base.iter().zip(&removed).map(|(base, removed)| base & !removed).collect();
            inside.add_base(&if is_cut { cut() } else { base.clone() });
        }
        let adds = all.inside.adds.iter().copied();
        inside.adds().extend(adds.filter(|&token| !has(&removed, token)));
        let exits: Few<TrieId> =
            all.exits.iter().filter_map(|&exit| self.tries.without(exit, &removed)).collect();
        let inside = inside.finish(self.vocabulary.words());
        self.count_mask(&inside, true);
        Ok(Local { inside, exits })
    }

    fn refused_names(&self, text: ExprId) -> Vec<Vec<u8>> {
        let exprs = &self.residuals.exprs;
        let Expr::And(list) = exprs.get(text) else {
            return Vec::new();
        };
        let mut names = Vec::new();
        for &member in exprs.list(list) {
            let Expr::Not(body) = exprs.get(member) else { continue };
            match exprs.get(body) {
                Expr::Empty => names.push(Vec::new()),
                Expr::Bytes { literal, from } => {
                    names.push(exprs.literal(literal)[from as usize..].to_vec());
                }
                Expr::OneOf { literals, low, high, depth } => {
                    let run = &exprs.literal_ids(literals)[low as usize..high as usize];
                    names
                        .extend(run.iter().map(|&id| exprs.literal(id)[depth as usize..].to_vec()));
                }
                _ => {}
            }
        }
        names
    }

    /// A loop over many characters: the tokens made of them at once, the others by a walk.
    fn sieved_local(&mut self, id: ExprId, after: Places) -> Result<Option<Local>, Error> {
        let Some(lead) = self.residuals.leading_loop(id) else {
            return Ok(None);
        };
        if after.goes_on() && !lead.is_guarded {
            return Ok(None);
        }
        if !lead.is_wide || !self.residuals.loop_completes(id, after)? {
            return Ok(None);
        }
        let vocabulary = self.vocabulary.clone();
        let max = (lead.max != UNBOUNDED).then_some(lead.max);
        let store = self.store.clone();
        let base = store.sieve(&vocabulary, &lead.class, max);
        // Longer tokens of these characters are refused for sure, or must be walked too.
        let cut =
            if lead.is_exact { store.sieve(&vocabulary, &lead.class, None) } else { base.clone() };
        let reach = cut.rest_depth();
        let alike = self.residuals.clip_to(id, reach);
        if alike != id && lead.is_exact && !self.residuals.is_over_tokens() {
            let other = self.residuals.leading_loop(alike);
            let is_same = other.is_some_and(|other| other.class == lead.class && other.is_exact);
            let local = self.local(alike, FULL, after)?;
            let unbounded = store.sieve(&vocabulary, &lead.class, None);
            let has_all = |base: &Arc<[u32]>| Arc::ptr_eq(base, unbounded.pure());
            if is_same && local.inside.base.as_ref().is_some_and(has_all) {
                let inside =
                    Mask { base: Some(base.pure().clone()), adds: local.inside.adds.clone() };
                return Ok(Some(Local { inside, exits: local.exits }));
            }
        }
        let mut inside = MaskBuilder::default();
        inside.add_base(base.pure());
        let mut found = Found::sieved(after, inside, cut);
        self.walk_all(id, FULL, &mut found)?;
        self.finish_walk(found).map(Some)
    }
}
