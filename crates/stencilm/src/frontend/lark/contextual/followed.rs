//! Texts and what must not follow them.
//!
//! What a lexer takes depends on what comes next: a longer match would have been taken instead.
//! Such a condition is a list of languages of which no text may begin what follows and, where
//! terminals look around, what all that follows has to be ([`Pending`]): regular, so that it goes
//! along with the texts that follow, byte by byte.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::frontend::lark::contextual::characters::by_characters;
use crate::grammar::{ByteSet, ExprId, Exprs, Spelling};
use crate::limits::Budget;
use crate::residual::languages::Languages;

/// Languages of which no text, but the empty one, may begin what follows.
pub(crate) type Begins = Vec<ExprId>;

/// What is known of a place between two terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pending {
    /// What must not follow.
    pub(crate) begins: Begins,
    /// All that follows is one of these texts.
    pub(crate) rest: ExprId,
    /// What came before, as [`Pasts`](crate::frontend::lark::contextual::past::Pasts) know it.
    pub(crate) past: usize,
}

/// Texts, and what is known of the place after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Followed {
    /// The texts.
    pub(crate) texts: ExprId,
    /// What must and must not follow.
    pub(crate) pending: Pending,
}

/// What each byte leads to.
type Steps = Rc<[ExprId]>;

/// A question, and its answer.
type Answers = FxHashMap<(ExprId, Pending, Option<ExprId>), Rc<[Followed]>>;

/// Answers questions about texts and what follows them.
#[derive(Debug)]
pub(crate) struct Following {
    /// All languages.
    pub(crate) languages: Languages,
    steps: FxHashMap<ExprId, Steps>,
    answers: Answers,
    /// Conditions that were met, with all texts that they forbid; each means something else.
    met: Vec<(Begins, ExprId)>,
    /// The condition among those that another one means.
    same: FxHashMap<Begins, Begins>,
    /// All that may follow, as it was met; each means something else.
    rests: Vec<ExprId>,
    /// The one among those that another one means.
    same_rests: FxHashMap<ExprId, ExprId>,
}

/// What remains of the texts, of what must not come, of the terminal itself, and of all that must
/// come.
type State = (ExprId, Begins, ExprId, ExprId);

impl Following {
    pub(crate) fn new(languages: Languages) -> Self {
        Self {
            languages,
            steps: FxHashMap::default(),
            answers: FxHashMap::default(),
            met: Vec::new(),
            same: FxHashMap::default(),
            rests: Vec::new(),
            same_rests: FxHashMap::default(),
        }
    }

    /// The arena.
    pub(crate) fn exprs(&mut self) -> &mut Exprs {
        self.languages.exprs()
    }

    /// The bytes that texts of a language begin with.
    pub(crate) fn first_bytes(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        let nothing = self.exprs().nothing();
        let steps = self.steps(id)?;
        Ok((0..=u8::MAX).filter(|&byte| steps[usize::from(byte)] != nothing).collect())
    }

    fn steps(&mut self, id: ExprId) -> Result<Steps, Error> {
        if let Some(steps) = self.steps.get(&id) {
            return Ok(steps.clone());
        }
        let mut steps = vec![self.exprs().nothing(); 256];
        for (bytes, rest) in self.languages.ways(id)? {
            for byte in bytes {
                steps[usize::from(byte)] = rest;
            }
        }
        let steps: Steps = steps.into();
        self.steps.insert(id, steps.clone());
        Ok(steps)
    }

    /// The texts of `texts` that may come after `before`: none of them has one of what must not
    /// follow as its beginning. After each what remains of those must not follow, nor what remains
    /// of `own`. The past is left as it was.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn split(
        &mut self,
        texts: ExprId,
        before: &Pending,
        own: Option<ExprId>,
        budget: &mut Budget,
    ) -> Result<Rc<[Followed]>, Error> {
        let key = (texts, before.clone(), own);
        if let Some(known) = self.answers.get(&key) {
            return Ok(known.clone());
        }
        let found: Rc<[Followed]> = self.split_anew(texts, before, own, budget)?.into();
        self.answers.insert(key, found.clone());
        Ok(found)
    }

    fn split_anew(
        &mut self,
        texts: ExprId,
        before: &Pending,
        own: Option<ExprId>,
        budget: &mut Budget,
    ) -> Result<Vec<Followed>, Error> {
        let nothing = self.exprs().nothing();
        let killers = &before.begins;
        let first: State = (texts, killers.clone(), own.unwrap_or(nothing), before.rest);
        let mut ids: FxHashMap<State, usize> = FxHashMap::default();
        let mut states = vec![first.clone()];
        let mut edges: Vec<(usize, usize, ByteSet)> = Vec::new();
        let (mut is_killed, mut is_over) = (false, false);
        ids.insert(first, 0);
        let mut at = 0;
        while at < states.len() {
            budget.check()?;
            let mut by_target: Vec<(usize, ByteSet)> = Vec::new();
            for (byte, next) in self.ways(&states[at])? {
                let Some(next) = next else {
                    is_killed = true;
                    continue;
                };
                if next.3 == nothing {
                    is_over = true;
                    continue;
                }
                let count = states.len();
                let to = *ids.entry(next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    count
                });
                match by_target.iter_mut().find(|(known, _)| *known == to) {
                    Some((_, set)) => set.insert(byte),
                    None => by_target.push((to, ByteSet::from_iter([byte]))),
                }
            }
            edges.extend(by_target.into_iter().map(|(to, set)| (at, to, set)));
            at += 1;
            budget.check_search(states.len(), 1)?;
        }
        let mut groups: Vec<(Pending, Vec<usize>)> = Vec::new();
        for (place, (texts, killers, own, rest)) in states.iter().enumerate() {
            if !self.exprs().is_nullable(*texts) {
                continue;
            }
            let mut begins = killers.clone();
            begins.push(*own);
            let begins = self.normal(begins);
            let begins = self.canonical(begins)?;
            let rest = self.canonical_rest(*rest);
            let pending = Pending { begins, rest, past: before.past };
            match groups.iter_mut().find(|(known, _)| *known == pending) {
                Some((_, places)) => places.push(place),
                None => groups.push((pending, vec![place])),
            }
        }
        if groups.len() == 1 && !is_over {
            // The texts as they are, or without what begins with something forbidden.
            let pending = groups.swap_remove(0).0;
            let texts = if is_killed { self.without(texts, killers) } else { texts };
            return Ok(vec![Followed { texts, pending }]);
        }
        let exprs = self.exprs();
        let edges = by_characters(states.len(), &edges)
            .into_iter()
            .map(|(from, to, set)| Edge { from, to, texts: exprs.chars(&set, Spelling::Text) })
            .collect();
        let automaton = Automaton { count: states.len(), edges };
        let mut found = Vec::new();
        for (pending, places) in groups {
            let texts = automaton.texts(0, &places, self.exprs(), budget)?;
            found.push(Followed { texts, pending });
        }
        Ok(found)
    }

    /// Where each byte leads that texts go on with; `None` where it begins what must not come.
    fn ways(&mut self, state: &State) -> Result<Vec<(u8, Option<State>)>, Error> {
        let (texts, killers, own, rest) = state;
        let nothing = self.exprs().nothing();
        let steps = self.steps(*texts)?;
        let own_steps = self.steps(*own)?;
        let rest_steps = self.steps(*rest)?;
        let mut killer_steps = Vec::with_capacity(killers.len());
        for &killer in killers {
            killer_steps.push(self.steps(killer)?);
        }
        let mut ways = Vec::new();
        for byte in 0..=u8::MAX {
            let at = usize::from(byte);
            let texts = steps[at];
            if texts == nothing {
                continue;
            }
            let next: Begins = killer_steps.iter().map(|steps| steps[at]).collect();
            let is_dead = next.iter().any(|&it| self.exprs().is_nullable(it));
            let state = (texts, self.normal(next), own_steps[at], rest_steps[at]);
            ways.push((byte, (!is_dead).then_some(state)));
        }
        Ok(ways)
    }

    /// Each language once, none of them empty.
    pub(crate) fn normal(&mut self, begins: Begins) -> Begins {
        let (nothing, empty) = (self.exprs().nothing(), self.exprs().empty());
        let mut begins = begins;
        begins.retain(|&it| it != nothing && it != empty);
        begins.sort_unstable();
        begins.dedup();
        begins
    }

    /// The same condition, as it was met first: `[a-z]+` forbids what `[a-z]` does.
    fn canonical(&mut self, begins: Begins) -> Result<Begins, Error> {
        if begins.is_empty() {
            return Ok(begins);
        }
        if let Some(known) = self.same.get(&begins) {
            return Ok(known.clone());
        }
        let forbidden = self.forbidden(&begins);
        let first_bytes = self.first_bytes(forbidden)?;
        let mut found = None;
        for place in 0..self.met.len() {
            let other = self.met[place].1;
            if self.first_bytes(other)? == first_bytes
                && self.is_within(forbidden, other)
                && self.is_within(other, forbidden)
            {
                found = Some(self.met[place].0.clone());
                break;
            }
        }
        let known = found.unwrap_or_else(|| {
            self.met.push((begins.clone(), forbidden));
            begins.clone()
        });
        self.same.insert(begins, known.clone());
        Ok(known)
    }

    /// The same texts, as they were met first.
    pub(crate) fn canonical_rest(&mut self, rest: ExprId) -> ExprId {
        if let Some(&known) = self.same_rests.get(&rest) {
            return known;
        }
        let mut known = None;
        for place in 0..self.rests.len() {
            let other = self.rests[place];
            if self.is_within(rest, other) && self.is_within(other, rest) {
                known = Some(other);
                break;
            }
        }
        let known = known.unwrap_or_else(|| {
            self.rests.push(rest);
            rest
        });
        self.same_rests.insert(rest, known);
        known
    }

    /// Whether one language is sure to be a part of another. Nothing depends on the answer but how
    /// many conditions there are.
    pub(crate) fn is_within(&mut self, part: ExprId, whole: ExprId) -> bool {
        let rest = self.exprs().minus(part, whole);
        self.languages.is_empty(rest).unwrap_or(false)
    }

    /// All texts that a condition forbids.
    fn forbidden(&mut self, begins: &Begins) -> ExprId {
        let exprs = self.exprs();
        let empty = exprs.empty();
        let any = exprs.any_text(Spelling::Text);
        let mut all = Vec::with_capacity(begins.len());
        for &begin in begins {
            let begin = if exprs.is_nullable(begin) { exprs.minus(begin, empty) } else { begin };
            all.push(exprs.seq2(begin, any));
        }
        exprs.choice(&all)
    }

    fn without(&mut self, texts: ExprId, killers: &Begins) -> ExprId {
        let begun = self.forbidden(killers);
        self.exprs().minus(texts, begun)
    }
}
