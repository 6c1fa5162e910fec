//! Local results: all that the tokens of a trie can do inside one expression, and what is left of
//! those that leave it. Kept for good: in the grammar's tables, and, for an expression without
//! calls, in the store that all grammars share.

use crate::error::Error;
use crate::grammar::{CharSet, Expr, ExprId, Spelling, UNBOUNDED};
use crate::mask::after::{After, First};
use crate::mask::few::Few;
use crate::mask::store::{LocalKey, SharedLocal};
use crate::mask::tries::TrieId;
use crate::mask::walk::BIG;
use crate::mask::{Mask, MaskBuilder, Tables};
use crate::residual::names::NameRun;

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
    /// Whether all exits are there, whatever byte they begin with.
    pub(crate) is_whole: bool,
}

impl Tables {
    /// The local result of `id` for the endings in `trie`, before what comes `after`. Exits that
    /// cannot go on there may be left out, and are at the end of the text.
    ///
    /// # Errors
    /// A limit; then nothing of this is kept.
    pub(super) fn local(&mut self, id: ExprId, trie: TrieId, after: After) -> Result<Local, Error> {
        let after = if after.goes_on() { after } else { after.with_any() };
        if let Some(found) = self.found_local(id, trie, after) {
            return Ok(found);
        }
        if self.depth >= DEEPEST {
            return Err(Error::limit("mask_work", self.limits().mask_work));
        }
        self.depth += 1;
        let made = self.make_local(id, trie, after);
        self.depth -= 1;
        let local = made?;
        let after = if local.is_whole { after.with_any() } else { after };
        if !self.residuals.exprs.has_calls(id) {
            let exits = local.exits.iter().map(|&exit| self.tries.share(exit)).collect();
            let shared = SharedLocal { inside: local.inside.clone(), exits };
            self.store.keep(self.shared_key(id, trie, after), shared);
        }
        self.keep_local(id, trie, after, &local);
        Ok(local)
    }

    /// The local result of `id` before `rest` and what comes `after` it.
    pub(super) fn local_before(
        &mut self,
        id: ExprId,
        trie: TrieId,
        rest: ExprId,
        after: After,
    ) -> Result<Local, Error> {
        if rest == self.residuals.exprs.empty() {
            return self.local(id, trie, after);
        }
        // What `rest` begins with is asked only where it makes a difference.
        let unseen = After::unseen(self.residuals.before(rest, after.places)?);
        let whole = if (self.tries.size(trie) as usize) < self.few_exits() {
            Some(self.local(id, trie, unseen)?).filter(|local| local.is_whole)
        } else {
            self.found_local(id, trie, unseen.with_any())
        };
        if let Some(whole) = whole {
            return Ok(whole);
        }
        let before = self.before(rest, after)?;
        self.local(id, trie, before)
    }

    /// A result that is known, with all exits that are asked for.
    fn found_local(&mut self, id: ExprId, trie: TrieId, after: After) -> Option<Local> {
        let wanted = self.first_set(after.first);
        if let Some(known) = self.local_ids.get(&(id, trie, after.places)) {
            let has_all = |first: First| wanted.is_subset(&self.first_set(first));
            if let Some((_, local)) = known.iter().find(|(first, _)| has_all(*first)) {
                return Some(self.locals[local.0 as usize].clone());
            }
        }
        if self.residuals.exprs.has_calls(id) {
            return None;
        }
        // Most results are whole, and found so.
        let whole = self.adopted_local(id, trie, after.with_any());
        match after.first {
            First::ANY => whole,
            _ => whole.or_else(|| self.adopted_local(id, trie, after)),
        }
    }

    /// What another grammar has left in the store.
    fn adopted_local(&mut self, id: ExprId, trie: TrieId, after: After) -> Option<Local> {
        let shared = self.store.local(&self.shared_key(id, trie, after))?;
        self.adopted += 1;
        let exits = shared.exits.iter().map(|exit| self.tries.adopt(exit)).collect();
        let is_whole = after.first == First::ANY;
        let local = Local { inside: shared.inside, exits, is_whole };
        self.keep_local(id, trie, after, &local);
        Some(local)
    }

    fn shared_key(&self, id: ExprId, trie: TrieId, after: After) -> LocalKey {
        let exprs = &self.residuals.exprs;
        let mut content = exprs.content_hash(id);
        if let Some(places) = self.residuals.hash_of_places(after.places) {
            content = content.with_hash(&exprs.key, places);
        }
        if let Some(first) = self.hash_of_first(after.first) {
            content = content.with_hash(&exprs.key, first);
        }
        (content, self.tries.hash(trie), after.goes_on())
    }

    fn keep_local(&mut self, id: ExprId, trie: TrieId, after: After, local: &Local) {
        let at = u32::try_from(self.locals.len()).expect("limits keep tables small");
        self.mask_bytes += local.exits.len() * 4 + 32;
        self.count_mask(&local.inside);
        self.locals.push(local.clone());
        let known = self.local_ids.entry((id, trie, after.places)).or_default();
        known.push((after.first, LocalId(at)));
    }

    fn make_local(&mut self, id: ExprId, trie: TrieId, after: After) -> Result<Local, Error> {
        // What a text has piled up is not known here.
        let plain = self.residuals.exprs.unmarked(id);
        if plain != id {
            return self.local(plain, trie, after);
        }
        // Short cuts below say which tokens stay inside, not whether all of them can go on.
        let is_over_tokens = self.residuals.is_over_tokens();
        match self.residuals.exprs.get(id) {
            Expr::Names { state, low, high, depth, other: true } if !is_over_tokens => {
                self.local_of_names(NameRun { state, low, high, depth, other: true }, trie, after)
            }
            Expr::Choice(list) => {
                let members = self.residuals.exprs.list(list).to_vec();
                let has_loop =
                    members.iter().any(|&member| self.residuals.leading_loop(member).is_some());
                if has_loop || self.has_counted(&members, trie) {
                    return self.union_of_locals(&members, trie, after);
                }
                match self.without_loops_alike(&members, trie)? {
                    Some(parts) => self.union_of_locals(&parts, trie, after),
                    None => self.walked_local(id, trie, after),
                }
            }
            Expr::Seq(first, rest) => {
                if let Some((first, rest)) = self.unroll(id).or_else(|| self.split(id, trie)) {
                    return self.local_of_two(first, rest, trie, after);
                }
                if let Some(local) = self.counted_local(id, trie, after)? {
                    return Ok(local);
                }
                if let Expr::Choice(list) = self.residuals.exprs.get(first) {
                    let mut members = self.residuals.exprs.list(list).to_vec();
                    if self.has_counted(&members, trie) {
                        for member in &mut members {
                            *member = self.residuals.exprs.seq2(*member, rest);
                        }
                        return self.union_of_locals(&members, trie, after);
                    }
                }
                if let Some(star) = self.star_of_names(first, rest)
                    && !is_over_tokens
                    && let Some(local) = self.local_without_names(first, star, rest, trie, after)?
                {
                    return Ok(local);
                }
                self.walked_local(id, trie, after)
            }
            _ => match self.counted_local(id, trie, after)? {
                Some(local) => Ok(local),
                None => self.walked_local(id, trie, after),
            },
        }
    }

    /// Whether some member of a choice begins with a counter that makes a difference for few tokens.
    fn has_counted(&mut self, members: &[ExprId], trie: TrieId) -> bool {
        self.parted(trie).is_some()
            && !self.residuals.is_over_tokens()
            && members.iter().any(|&member| self.is_counted(member))
    }

    /// The members of a choice that soon become a loop, each alone, and all others together; none if no
    /// sieve would help.
    fn without_loops_alike(
        &mut self,
        members: &[ExprId],
        trie: TrieId,
    ) -> Result<Option<Vec<ExprId>>, Error> {
        if self.parted(trie).is_none() {
            return Ok(None);
        }
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for &member in members {
            if self.is_loop_inside(member)? { alike.push(member) } else { others.push(member) }
        }
        if alike.is_empty() || others.is_empty() {
            return Ok(None);
        }
        alike.push(self.residuals.exprs.choice(&others));
        Ok(Some(alike))
    }

    fn walked_local(&mut self, id: ExprId, trie: TrieId, after: After) -> Result<Local, Error> {
        if let Some(local) = self.sieved_local(id, trie, after)? {
            return Ok(local);
        }
        if let Some(local) = self.local_like_loop(id, trie, after)? {
            return Ok(local);
        }
        let mut found = self.begin_walk(after);
        self.walk_all(id, trie, &mut found)?;
        self.finish_walk(found)
    }

    pub(super) fn union_of_locals(
        &mut self,
        members: &[ExprId],
        trie: TrieId,
        after: After,
    ) -> Result<Local, Error> {
        let mut inside = MaskBuilder::default();
        let mut exits = Vec::new();
        let mut is_whole = true;
        for &member in members {
            if member == self.residuals.exprs.nothing() {
                continue;
            }
            let local = self.local(member, trie, after)?;
            inside.add(&local.inside);
            exits.extend_from_slice(&local.exits);
            is_whole &= local.is_whole;
        }
        Ok(self.finish_local(inside, exits, is_whole))
    }

    /// `first`, then `rest` on the endings that are left.
    fn local_of_two(
        &mut self,
        first: ExprId,
        rest: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<Local, Error> {
        let local = self.local_before(first, trie, rest, after)?;
        let mut inside = MaskBuilder::default();
        inside.add(&local.inside);
        let mut onward = local.exits.to_vec();
        if self.residuals.exprs.is_nullable(first) {
            onward.push(trie);
        }
        let rest = self.residuals.clip(rest)?;
        let mut exits = Vec::new();
        let mut is_whole = true;
        if after.goes_on() && self.residuals.exprs.is_nullable(rest) {
            exits.extend_from_slice(&local.exits);
            is_whole = local.is_whole;
        }
        for ending in onward {
            let local = self.local(rest, ending, after)?;
            inside.add(&local.inside);
            exits.extend_from_slice(&local.exits);
            is_whole &= local.is_whole;
        }
        Ok(self.finish_local(inside, exits, is_whole))
    }

    /// A repetition and what follows, if both begin with the same loop, as that loop and what follows
    /// it: `(s a)* s b` is `s (a (s a)* s b | b)`. White space is looked at once then, and by all.
    fn unroll(&mut self, id: ExprId) -> Option<(ExprId, ExprId)> {
        let exprs = &mut self.residuals.exprs;
        let Expr::Seq(first, after) = exprs.get(id) else { return None };
        let Expr::Repeat { body, min, max } = exprs.get(first) else { return None };
        let Expr::Seq(space, once) = exprs.get(body) else { return None };
        let Expr::Seq(next, end) = exprs.get(after) else { return None };
        let Expr::Repeat { body: character, .. } = exprs.get(space) else { return None };
        if next != space || !matches!(exprs.get(character), Expr::Bytes1(_)) {
            return None;
        }
        let max = if max == UNBOUNDED { max } else { max - 1 };
        let more = exprs.repeat(body, min.saturating_sub(1), max);
        let more = exprs.seq(&[once, more, after]);
        let rest = if min == 0 { exprs.choice(&[more, end]) } else { more };
        Some((space, rest))
    }

    /// Where to cut a sequence so that the first half has no calls and many grammars have it:
    /// after white space, or after a loop and the literal that ends it.
    fn split(&mut self, id: ExprId, trie: TrieId) -> Option<(ExprId, ExprId)> {
        let exprs = &self.residuals.exprs;
        let parts = exprs.spine(id);
        let length = |part: ExprId| match exprs.get(part) {
            Expr::Bytes { literal, from } => Some(exprs.literal(literal).len() - from as usize),
            _ => None,
        };
        let is_space = |part: ExprId| match exprs.get(part) {
            Expr::Repeat { body, .. } => match exprs.get(body) {
                Expr::Bytes1(_) => true,
                Expr::Chars { class, spelling: Spelling::Text } => {
                    exprs.class(class).difference(&CharSet::of(" \t\n\r".chars())).is_empty()
                }
                _ => false,
            },
            _ => false,
        };
        let call_free = parts.iter().take_while(|&&part| !exprs.has_calls(part)).count();
        match exprs.get(parts[0]) {
            // The closing quote of a name, and all that comes before the value.
            Expr::Bytes { .. }
                if length(parts[0]) == Some(1)
                    && (2..parts.len()).contains(&call_free)
                    && (is_space(parts[call_free - 1])
                        || length(parts[call_free - 1]).is_some())
                    && self.tries.size(trie) > BIG =>
            {
                let first = self.residuals.exprs.seq(&parts[..call_free]);
                let rest = self.residuals.exprs.seq(&parts[call_free..]);
                return Some((first, rest));
            }
            Expr::Bytes { .. } | Expr::OneOf { .. } => return None,
            _ => {}
        }
        let literal = parts[..call_free].iter().position(|&part| length(part).is_some());
        let cut = match literal {
            Some(1) if length(parts[1]) == Some(1) => 2,
            _ if is_space(parts[0]) => 1,
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
}
