//! Walks a trie of token endings along an expression, byte by byte. Calls on the way are noted
//! and done afterwards, all that enter one rule together.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{ByteSet, Expr, ExprId, RuleId};
use crate::mask::after::{After, First};
use crate::mask::few::Few;
use crate::mask::local::Local;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{Mask, MaskBuilder, Tables};
use crate::residual::calls::Callee;
use crate::residual::names::NameRun;
use crate::residual::runs::may_be_raw;
use crate::vocab::{IndexedTrie, Node, Sieve, Trie, bits};

/// Subtrees with fewer nodes are walked without asking whether they could be taken whole.
const SMALL: u32 = 12;

/// So few bytes are looked for among the children, instead of the children among them.
const FEW_BYTES: u32 = 8;

/// Bigger tries are worth a look at what other results tell of them.
pub(super) const BIG: u32 = 64;

/// Where more nodes are below it is asked first with which bytes a text can go on.
const WIDE: u32 = 250;

/// One node of the vocabulary's trie in so many: while tokens enter a rule at fewer places, it is not
/// asked what it may begin with.
const MANY_CALLS: u32 = 4_096;

/// What a walk comes upon.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) inside: MaskBuilder,
    after: After,
    /// What comes after can only begin with these bytes.
    first: ByteSet,
    /// Whether all exits are kept, not only those that begin with `first`.
    pub(super) is_whole: bool,
    /// While there are fewer exits, all are kept.
    few_exits: usize,
    /// While there are fewer places at which a rule is entered, it is at all of them.
    few_calls: usize,
    /// Those that all sieves hold back, by rank: the others are in the mask already, or in none, and
    /// lead nowhere else.
    held_back: Option<Arc<[u32]>>,
    exits: Vec<(TrieId, u32)>,
    entered: Vec<(Entered, TrieId, u32)>,
    /// How often an expression's calls were entered, and the bytes that those begin with, once that
    /// was often enough to ask.
    callers: FxHashMap<ExprId, (usize, Option<ByteSet>)>,
}

/// What is entered in the middle of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entered {
    /// A rule, and what remains after it.
    Rule(RuleId, ExprId),
    /// An expression with a result of its own.
    Expr(ExprId),
}

impl Found {
    /// Exits that are known already.
    pub(super) fn add_exits(&mut self, places: impl Iterator<Item = (TrieId, u32)>) {
        self.exits.extend(places);
    }
}

impl Tables {
    /// Nothing yet.
    pub(super) fn begin_walk(&self, after: After) -> Found {
        Found {
            inside: MaskBuilder::default(),
            after,
            first: self.first_set(after.first),
            is_whole: true,
            few_exits: self.few_exits(),
            few_calls: (self.vocabulary.trie().len() / MANY_CALLS) as usize,
            held_back: None,
            exits: Vec::new(),
            entered: Vec::new(),
            callers: FxHashMap::default(),
        }
    }

    /// What is known already; only what all of `sieves` hold back is to be walked.
    pub(super) fn begin_sieved(
        &self,
        after: After,
        inside: MaskBuilder,
        sieves: &[Arc<Sieve>],
    ) -> Found {
        let all = sieves.iter().map(|sieve| sieve.rest().to_vec());
        let held_back = all.reduce(|mut both, rest| {
            both.iter_mut().zip(rest).for_each(|(both, rest)| *both &= rest);
            both
        });
        self.begin_held_back(after, inside, held_back.map(Into::into))
    }

    /// What is known already; only what is held back is to be walked, if that is given.
    pub(super) fn begin_held_back(
        &self,
        after: After,
        inside: MaskBuilder,
        held_back: Option<Arc<[u32]>>,
    ) -> Found {
        Found { inside, held_back, ..self.begin_walk(after) }
    }

    /// Walks all endings of `trie` along `id`, what `id` calls at its beginning included.
    pub(super) fn walk_all(
        &mut self,
        id: ExprId,
        trie: TrieId,
        found: &mut Found,
    ) -> Result<(), Error> {
        let (whole, node) = self.tries.place(trie);
        self.enter(id, whole, node, found)?;
        let is_over_tokens = self.residuals.is_over_tokens();
        if let Some(run) = self.residuals.name_run(id).filter(|_| !is_over_tokens) {
            return self.walk_names(run, whole, node, found);
        }
        let mut todo = Vec::new();
        let held_back = found.held_back.clone();
        if whole != FULL || !self.add_children(id, node, held_back.as_deref(), &mut todo)? {
            todo.push((id, node + 1, self.tries.trie_ref(whole).end(node)));
        }
        self.walk_ranges(todo, whole, found)
    }

    /// Adds the children of a node of the vocabulary's trie, with the ends of their subtrees, that go
    /// on with a text of `id`, if any of their tokens is held back. False if it has no list of its
    /// children.
    fn add_children(
        &mut self,
        id: ExprId,
        node: u32,
        held_back: Option<&[u32]>,
        todo: &mut Vec<(ExprId, u32, u32)>,
    ) -> Result<bool, Error> {
        let vocabulary = self.vocabulary.clone();
        let trie = vocabulary.indexed_trie();
        let is_wide = node == 0 || trie.trie().end(node) - node > WIDE;
        if !is_wide && held_back.is_none() {
            return Ok(false);
        }
        let Some(children) = trie.children_of(node) else { return Ok(false) };
        self.spend(children.bytes.len())?;
        let live = if is_wide { self.residuals.live_first_bytes(id)? } else { ByteSet::ALL };
        let mut next = 0;
        let mut add = |at: usize| {
            if let Some(held_back) = held_back {
                // Children come by rising ranks.
                if next < children.ranks[at] {
                    next = bits::first_from(held_back, children.ranks[at]);
                }
                if next >= children.ranks[at + 1] {
                    return;
                }
            }
            todo.push((id, children.nodes[at], children.nodes[at + 1]));
        };
        if live.len() < FEW_BYTES {
            live.iter()
                .filter_map(|byte| children.bytes.binary_search(&byte).ok())
                .for_each(&mut add);
        } else {
            let bytes = children.bytes.iter().enumerate();
            bytes.filter(|(_, byte)| live.contains(**byte)).for_each(|(at, _)| add(at));
        }
        Ok(true)
    }

    /// Walks the nodes `from..to` of a whole trie, siblings and all below them, along `id`.
    pub(super) fn walk(
        &mut self,
        id: ExprId,
        whole: TrieId,
        from: u32,
        to: u32,
        found: &mut Found,
    ) -> Result<(), Error> {
        self.walk_ranges(vec![(id, from, to)], whole, found)
    }

    /// The same for many ranges of nodes, each along an expression of its own.
    pub(super) fn walk_ranges(
        &mut self,
        mut todo: Vec<(ExprId, u32, u32)>,
        whole: TrieId,
        found: &mut Found,
    ) -> Result<(), Error> {
        let arc = self.tries.trie(whole);
        let vocabulary = self.vocabulary.clone();
        let trie: &Trie = arc.as_deref().unwrap_or(vocabulary.trie());
        let (nodes, tokens) = (trie.nodes(), trie.tokens());
        let (nothing, empty) = (self.residuals.exprs.nothing(), self.residuals.exprs.empty());
        let is_over_tokens = self.residuals.is_over_tokens();
        let space = vocabulary.root_child(b' ').filter(|_| whole == FULL);
        let held_back = found.held_back.clone().filter(|_| whole == FULL);
        let mut above: Vec<(u32, ExprId)> = Vec::with_capacity(16);
        while let Some((id, from, to)) = todo.pop() {
            let mut top = (u32::MAX, id);
            above.clear();
            let mut node = from;
            let (mut walked, mut next) = (0, 0);
            while node < to {
                let at = node as usize;
                let Node { end, tokens: start, byte } = nodes[at];
                walked += 1;
                if let Some(held_back) = &held_back {
                    if next < start {
                        next = bits::first_from(held_back, start);
                    }
                    if next >= nodes[end as usize].tokens {
                        node = end;
                        continue;
                    }
                }
                while top.0 <= node {
                    top = above.pop().expect("the first entry never ends");
                }
                let rest = match self.residuals.known_step(top.1, byte) {
                    Some(rest) => rest,
                    None => self.residuals.step(top.1, byte)?,
                };
                if rest == nothing {
                    node = end;
                    continue;
                }
                let below = nodes[at + 1].tokens;
                let here = &tokens[start as usize..below as usize];
                if !here.is_empty() && self.residuals.completes(rest, found.after.places)? {
                    found.inside.adds().extend_from_slice(here);
                }
                if end > node + 1 {
                    let below = below..nodes[end as usize].tokens;
                    if end - node > SMALL
                        && whole == FULL
                        && self.takes_all_below(rest, node, found)?
                    {
                        let below = below.start as usize..below.end as usize;
                        found.inside.adds().extend_from_slice(&tokens[below]);
                        node = end;
                        continue;
                    }
                    if found.after.goes_on() && self.residuals.exprs.is_nullable(rest) {
                        self.leave(whole, node, found);
                    }
                    if let Some(run) = self.residuals.name_run(rest).filter(|_| !is_over_tokens) {
                        if run.other {
                            found.entered.push((Entered::Expr(rest), whole, node));
                        } else {
                            self.walk_names(run, whole, node, found)?;
                        }
                        node = end;
                        continue;
                    }
                    if Some(node) == space && self.goes_apart_after_space(top.1, rest, node)? {
                        found.entered.push((Entered::Expr(rest), whole, node));
                        node = end;
                        continue;
                    }
                    self.enter(rest, whole, node, found)?;
                    let is_wide = whole == FULL && end - node > IndexedTrie::FEWEST_BELOW;
                    if rest == empty
                        || (is_wide
                            && self.add_children(rest, node, held_back.as_deref(), &mut todo)?)
                    {
                        node = end;
                        continue;
                    }
                    above.push(top);
                    top = (end, rest);
                }
                node += 1;
            }
            self.spend(walked)?;
        }
        Ok(())
    }

    /// Whether what is left after the space that `before` has read is looked at apart, since there is a
    /// sieve for it. Half of all tokens begin with a space.
    fn goes_apart_after_space(
        &mut self,
        before: ExprId,
        id: ExprId,
        node: u32,
    ) -> Result<bool, Error> {
        let is_loop = self.residuals.leading_loop(before).is_some_and(|it| it.bytes.contains(b' '));
        if is_loop {
            return Ok(false);
        }
        let trie = self.tries.part(FULL, node);
        match self.residuals.exprs.get(id) {
            Expr::Choice(list) => {
                for member in self.residuals.exprs.list(list).to_vec() {
                    if self.has_sieve(member, trie)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => self.has_sieve(id, trie),
        }
    }

    /// Whether all tokens below a node of the vocabulary's trie stay inside the loop that `id`
    /// begins with.
    fn takes_all_below(&mut self, id: ExprId, node: u32, found: &mut Found) -> Result<bool, Error> {
        let Some(lead) = self.residuals.leading_loop(id) else {
            return Ok(false);
        };
        let Some(below) = self.vocabulary.below(node) else {
            return Ok(false);
        };
        let is_guarded = lead.is_guarded || !found.after.goes_on();
        let takes_all = below.chars <= lead.max
            && !below.has_partial
            && below.bytes.is_subset(&lead.bytes)
            && (is_guarded || self.residuals.is_parted(id, &lead, &found.first)?)
            && self.residuals.loop_completes(id, found.after.places)?;
        found.is_whole &= !takes_all || is_guarded || found.after.first == First::ANY;
        Ok(takes_all)
    }

    /// Walks member names: only the bytes that some name has are looked for.
    fn walk_names(
        &mut self,
        run: NameRun,
        whole: TrieId,
        node: u32,
        found: &mut Found,
    ) -> Result<(), Error> {
        let arc = self.tries.trie(whole);
        let vocabulary = self.vocabulary.clone();
        let trie: &Trie = arc.as_deref().unwrap_or(vocabulary.trie());
        let names = self.residuals.names_of(run.state);
        let rules = self.residuals.rules().clone();
        let spelling = self.residuals.name_spelling();
        let mut todo = vec![(run, node)];
        while let Some((run, node)) = todo.pop() {
            self.spend(1)?;
            if spelling.is_free() {
                self.walk_escaped_names(run, whole, node, found)?;
            }
            let mut low = run.low;
            while low < run.high {
                let Some(first) = rules.next_name(run.state, low, run.high)? else { break };
                let literal = self.residuals.exprs.literal_ids(names)[first as usize];
                let next = self.residuals.exprs.literal(literal).get(run.depth as usize).copied();
                let byte = next.unwrap_or(b'"');
                let is_raw =
                    next.is_none_or(|byte| !spelling.is_free() || may_be_raw(byte, spelling));
                let child = if whole == FULL && node == 0 {
                    vocabulary.root_child(byte)
                } else {
                    trie.child(node, byte)
                };
                let high = match next {
                    Some(byte) => {
                        self.residuals.run_with(names, first, run.high, run.depth, byte).1
                    }
                    None => first + 1,
                };
                if let Some(child) = child.filter(|_| is_raw) {
                    found.inside.adds().extend_from_slice(trie.tokens_at(child));
                    let end = trie.end(child);
                    if end > child + 1 {
                        if next.is_some() {
                            let depth = run.depth + 1;
                            todo.push((NameRun { low: first, high, depth, ..run }, child));
                        } else {
                            let exprs = &mut self.residuals.exprs;
                            let after = rules.after_name(run.state, first, exprs)?;
                            if found.after.goes_on() && exprs.is_nullable(after) {
                                self.leave(whole, child, found);
                            }
                            if whole == FULL && end - child > BIG {
                                found.entered.push((Entered::Expr(after), whole, child));
                            } else {
                                self.enter(after, whole, child, found)?;
                                self.walk(after, whole, child + 1, end, found)?;
                            }
                        }
                    }
                }
                low = high;
            }
        }
        Ok(())
    }

    /// Walks on where the next character of a name is escaped.
    fn walk_escaped_names(
        &mut self,
        run: NameRun,
        whole: TrieId,
        node: u32,
        found: &mut Found,
    ) -> Result<(), Error> {
        let arc = self.tries.trie(whole);
        let vocabulary = self.vocabulary.clone();
        let trie: &Trie = arc.as_deref().unwrap_or(vocabulary.trie());
        let Some(child) = trie.child(node, b'\\') else {
            return Ok(());
        };
        let NameRun { state, low, high, depth, other } = run;
        let names = self.residuals.exprs.names(state, low, high, depth, other);
        let rest = self.residuals.step(names, b'\\')?;
        if rest == self.residuals.exprs.nothing() {
            return Ok(());
        }
        found.inside.adds().extend_from_slice(trie.tokens_at(child));
        self.walk(rest, whole, child + 1, trie.end(child), found)
    }

    /// Notes the calls that `id` may begin with.
    fn enter(
        &mut self,
        id: ExprId,
        whole: TrieId,
        node: u32,
        found: &mut Found,
    ) -> Result<(), Error> {
        if !self.residuals.exprs.has_leading_call(id) {
            return Ok(());
        }
        let (times, first) = found.callers.entry(id).or_default();
        *times += 1;
        if *times > found.few_calls && first.is_none() {
            *first = Some(self.first_bytes_of_calls(id)?);
        }
        if first.is_some_and(|first| !self.tries.goes_on_with(whole, node, &first)) {
            return Ok(());
        }
        for &(callee, rest) in self.residuals.calls(id).iter() {
            // A special token is never part of a text token.
            if let Callee::Rule(rule) = callee {
                found.entered.push((Entered::Rule(rule, rest), whole, node));
            }
        }
        Ok(())
    }

    /// The bytes that the rules may begin with that `id` may begin with.
    fn first_bytes_of_calls(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        let mut first = ByteSet::EMPTY;
        for &(callee, _) in self.residuals.calls(id).iter() {
            if let Callee::Rule(rule) = callee {
                let body = self.residuals.body(rule)?;
                first = first.union(&self.residuals.first_bytes_through_calls(body)?);
            }
        }
        Ok(first)
    }

    /// Notes that tokens leave the expression at a node.
    fn leave(&mut self, whole: TrieId, node: u32, found: &mut Found) {
        if found.is_whole && found.exits.len() >= found.few_exits && found.after.first != First::ANY
        {
            found.is_whole = false;
        }
        if found.is_whole || self.tries.goes_on_with(whole, node, &found.first) {
            found.exits.push((whole, node));
        }
    }

    /// Does what was entered, and puts the result together.
    pub(super) fn finish_walk(&mut self, mut found: Found) -> Result<Local, Error> {
        let mut entered = std::mem::take(&mut found.entered);
        entered.sort_unstable();
        entered.dedup();
        let empty = self.residuals.exprs.empty();
        let mut exits = Vec::new();
        for group in entered.chunk_by(|a, b| a.0 == b.0) {
            let sources: Vec<_> = group.iter().map(|&(_, whole, node)| (whole, node)).collect();
            let (body, rest) = match group[0].0 {
                Entered::Rule(rule, rest) => (self.residuals.body(rule)?, rest),
                Entered::Expr(id) => (id, empty),
            };
            let endings = if sources.len() < found.few_calls {
                self.tries.union(sources)
            } else {
                let first = self.residuals.first_bytes_through_calls(body)?;
                self.tries.union_of(sources, &first)
            };
            let body = self.residuals.clip(body)?;
            for &ending in endings.iter() {
                let local = self.local_before(body, ending, rest, found.after)?;
                found.inside.add(&local.inside);
                if rest == empty {
                    exits.extend_from_slice(&local.exits);
                    found.is_whole &= local.is_whole;
                    continue;
                }
                let rest = self.residuals.clip(rest)?;
                for &left in local.exits.iter() {
                    let local = self.local(rest, left, found.after)?;
                    found.inside.add(&local.inside);
                    exits.extend_from_slice(&local.exits);
                    found.is_whole &= local.is_whole;
                }
                if found.after.goes_on() && self.residuals.exprs.is_nullable(rest) {
                    exits.extend_from_slice(&local.exits);
                    found.is_whole &= local.is_whole;
                }
            }
        }
        if found.after.goes_on() {
            let places = exits.iter().map(|&exit| self.tries.place(exit));
            found.exits.extend(places);
        }
        let exits = if found.exits.is_empty() {
            Few::default()
        } else if found.is_whole {
            self.tries.union(found.exits)
        } else {
            self.tries.union_of(found.exits, &found.first)
        };
        let inside = self.finish_mask(found.inside);
        Ok(Local { inside, exits, is_whole: found.is_whole })
    }

    pub(super) fn finish_local(
        &mut self,
        inside: MaskBuilder,
        exits: Vec<TrieId>,
        is_whole: bool,
    ) -> Local {
        let exits: Few<TrieId> = match exits[..] {
            [] | [_] => exits.into(),
            _ => {
                let places = exits.iter().map(|&exit| self.tries.place(exit)).collect();
                self.tries.union(places)
            }
        };
        let inside = self.finish_mask(inside);
        Local { inside, exits, is_whole }
    }

    pub(super) fn finish_mask(&mut self, builder: MaskBuilder) -> Mask {
        let had = builder.base.as_ref().map(Arc::as_ptr);
        let mask = builder.finish(self.vocabulary.words());
        if mask.base.as_ref().map(Arc::as_ptr) != had {
            self.mask_bytes += self.vocabulary.words() * 4;
        }
        mask
    }

    pub(super) fn spend(&mut self, nodes: usize) -> Result<(), Error> {
        match self.work.checked_sub(nodes) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => Err(Error::limit("mask_work", self.limits().mask_work)),
        }
    }
}
