//! Turns the pieces of a pattern into expressions, last piece first: each is translated knowing
//! what follows it.
//!
//! What follows a place is a vector, one expression for each state of [`PrefixStates`]: the texts
//! that may follow a prefix of that state. A condition at a place is a vector too, the texts for
//! which it holds, so that look-ahead is an intersection, `(?=y)K = yΣ* ∩ K` and
//! `(?!y)K = K ∖ yΣ*`, and nested look-around needs nothing of its own. Look-behind is what the
//! states say of the prefix. Only repeated look-around needs more: see
//! [`context`](crate::frontend::regex::context).
//!
//! Recursion is as deep as the pattern nests, which the parser bounds.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::frontend::regex::ast::{Kind, Look, Node, Side};
use crate::frontend::regex::context;
use crate::frontend::regex::prefix::PrefixStates;
use crate::grammar::{CharSet, ExprId, UNBOUNDED};

/// Repetitions of look-around up to this count, nested ones multiplied, are written out: beyond it
/// the matrices of `context` give smaller expressions.
const WRITTEN_OUT: u32 = 8;

/// The translation of one pattern, or of one look-behind read from its end.
pub(crate) struct Pass<'p, 'b> {
    pub(crate) algebra: &'p mut Algebra<'b>,
    pub(crate) states: PrefixStates,
    behind: FxHashMap<u32, Behind>,
    conditions: FxHashMap<u32, Vec<ExprId>>,
    // Invariant: how often the piece in hand is written out, at most `WRITTEN_OUT`.
    copies: u32,
}

/// A look-behind holds where for one of these the language of the prefix (its number in the
/// states) holds and the suffix is in the expression: a look-ahead inside may look past the place.
type Behind = Vec<(usize, ExprId)>;

/// One expression for each state of the prefix.
pub(crate) type ByState = Vec<ExprId>;

impl<'p, 'b> Pass<'p, 'b> {
    /// The texts that match `root` and then `last`, for each state that may come before.
    pub(crate) fn run(
        algebra: &'p mut Algebra<'b>,
        root: &Node,
        last: ExprId,
    ) -> Result<(PrefixStates, ByState), Error> {
        let mut pass = Pass::new(algebra, root)?;
        let after = vec![last; pass.states.len()];
        let texts = pass.before(root, &after)?;
        Ok((pass.states, texts))
    }

    fn new(algebra: &'p mut Algebra<'b>, root: &Node) -> Result<Self, Error> {
        let (states, behind) = prefixes(algebra, root)?;
        Ok(Pass { algebra, states, behind, conditions: FxHashMap::default(), copies: 1 })
    }

    /// The texts that match `node` and go on as `after` says.
    fn before(&mut self, node: &Node, after: &[ExprId]) -> Result<ByState, Error> {
        self.algebra.check()?;
        if let (false, Some(rest)) = (node.has_look(), uniform(after)) {
            let texts = plain(self.algebra, node)?;
            return Ok(vec![self.algebra.then(texts, rest); after.len()]);
        }
        match node.kind() {
            Kind::Empty => Ok(after.to_vec()),
            Kind::Chars(set) => Ok(self.before_chars(set, after)),
            Kind::Seq(parts) => {
                let mut texts = after.to_vec();
                for part in parts.iter().rev() {
                    texts = self.before(part, &texts)?;
                }
                Ok(texts)
            }
            Kind::Choice(alternatives) => {
                let mut texts = Vec::with_capacity(alternatives.len());
                for alternative in alternatives {
                    texts.push(self.before(alternative, after)?);
                }
                Ok(self.union(&texts))
            }
            Kind::Repeat { body, min, max } => self.before_repeat(node, body, (*min, *max), after),
            Kind::Look(look) => {
                let condition = self.condition(look)?;
                let both = after.iter().zip(condition);
                Ok(both.map(|(&texts, condition)| self.algebra.meet(texts, condition)).collect())
            }
        }
    }

    fn union(&mut self, vectors: &[ByState]) -> ByState {
        let of_state = |state: usize| vectors.iter().map(|v| v[state]).collect::<Vec<_>>();
        (0..self.states.len()).map(|state| self.algebra.union(&of_state(state))).collect()
    }

    fn before_chars(&mut self, set: &CharSet, after: &[ExprId]) -> ByState {
        let atoms = self.algebra.atoms.of(set);
        let mut texts = Vec::with_capacity(after.len());
        for state in 0..after.len() {
            let mut by_rest: BTreeMap<ExprId, Vec<usize>> = BTreeMap::new();
            for &atom in &atoms {
                by_rest.entry(after[self.states.next(state, atom)]).or_default().push(atom);
            }
            let mut ways = Vec::with_capacity(by_rest.len());
            for (rest, atoms) in by_rest {
                let set = self.algebra.atoms.union(&atoms);
                let first = self.algebra.chars(&set);
                ways.push(self.algebra.then(first, rest));
            }
            texts.push(self.algebra.union(&ways));
        }
        texts
    }

    fn before_repeat(
        &mut self,
        node: &Node,
        body: &Node,
        (min, max): (u32, u32),
        after: &[ExprId],
    ) -> Result<ByState, Error> {
        // What is matched more often than needed is also any text.
        let max = if uniform(after) == Some(self.algebra.any) { min } else { max };
        let copies = self.copies.saturating_mul(max.max(1));
        if max <= 1 || (copies <= WRITTEN_OUT && body.has_look()) {
            let outside = std::mem::replace(&mut self.copies, copies);
            let texts = self.written_out(body, (min, max), after);
            self.copies = outside;
            return texts;
        }
        if !body.has_look() {
            return self.before_plain(node, after);
        }
        if let Some(texts) = self.each_character(body, (min, max), after)? {
            return Ok(texts);
        }
        context::before_repeat(self, body, (min, max), after)
    }

    fn written_out(
        &mut self,
        body: &Node,
        (min, max): (u32, u32),
        after: &[ExprId],
    ) -> Result<ByState, Error> {
        let mut texts = after.to_vec();
        for done in (0..max).rev() {
            texts = self.before(body, &texts)?;
            if done >= min {
                texts = self.union(&[texts, after.to_vec()]);
            }
        }
        Ok(texts)
    }

    /// A repetition without look-around whose end matters to what follows.
    fn before_plain(&mut self, node: &Node, after: &[ExprId]) -> Result<ByState, Error> {
        let id = plain(self.algebra, node)?;
        let relaxed = self.algebra.relaxed(id)?;
        let atoms = atoms_in(self.algebra, node);
        let mut texts = Vec::with_capacity(after.len());
        for from in 0..after.len() {
            let reached = self.states.reachable(self.algebra, from, relaxed, &atoms)?;
            let mut by_rest: BTreeMap<ExprId, Vec<usize>> = BTreeMap::new();
            for &state in &reached {
                by_rest.entry(after[state]).or_default().push(state);
            }
            by_rest.remove(&self.algebra.exprs.nothing());
            let mut ways = Vec::with_capacity(by_rest.len());
            for (rest, group) in by_rest {
                let others: Vec<usize> =
                    reached.iter().copied().filter(|state| !group.contains(state)).collect();
                let leading = self.states.leading(self.algebra, from, (&group, &others), &atoms)?;
                let first = self.algebra.meet(id, leading);
                ways.push(self.algebra.then(first, rest));
            }
            texts.push(self.algebra.union(&ways));
        }
        Ok(texts)
    }

    /// The common `(?:(?!y)c)*K` where what follows leaves no doubt where the characters end: the
    /// texts of `c*K` that do not go on as `y` does before one of those characters.
    fn each_character(
        &mut self,
        body: &Node,
        (min, max): (u32, u32),
        after: &[ExprId],
    ) -> Result<Option<ByState>, Error> {
        let (Kind::Seq(parts), Some(rest)) = (body.kind(), uniform(after)) else {
            return Ok(None);
        };
        let Some((class, looks)) = parts.split_last() else {
            return Ok(None);
        };
        let Kind::Chars(class) = class.kind() else {
            return Ok(None);
        };
        let mut wrong = Vec::with_capacity(looks.len());
        for look in looks {
            let Kind::Look(look) = look.kind() else {
                return Ok(None);
            };
            let Some(condition) = uniform(&self.condition(look)?) else {
                return Ok(None);
            };
            wrong.push(self.algebra.complement(condition));
        }
        let wrong = self.algebra.union(&wrong);
        let Some(wrong) = self.before_last_of(class, wrong, rest)? else {
            return Ok(None);
        };
        let class = self.algebra.chars(class);
        let texts = self.algebra.exprs.repeat(class, min, max);
        let texts = self.algebra.then(texts, rest);
        let right = self.algebra.complement(wrong);
        Ok(Some(vec![self.algebra.meet(texts, right); after.len()]))
    }

    /// Of the texts `[class]*` and then `rest`, those that have a character of the first part from
    /// which on they are in `wrong`; if it is clear where the first part ends.
    fn before_last_of(
        &mut self,
        class: &CharSet,
        wrong: ExprId,
        rest: ExprId,
    ) -> Result<Option<ExprId>, Error> {
        if let Some(length) = self.algebra.length(rest) {
            let one = self.algebra.chars(&CharSet::any());
            let longer = self.algebra.exprs.repeat(one, length + 1, UNBOUNDED);
            let wrong = self.algebra.meet(wrong, longer);
            return Ok(Some(self.algebra.then(self.algebra.any, wrong)));
        }
        for atom in self.algebra.atoms.of(class) {
            if self.algebra.derivative(rest, atom)? != self.algebra.exprs.nothing() {
                return Ok(None);
            }
        }
        let class = self.algebra.chars(class);
        let begun = self.algebra.exprs.seq2(class, self.algebra.any);
        let wrong = self.algebra.meet(wrong, begun);
        let before = self.algebra.exprs.repeat(class, 0, UNBOUNDED);
        Ok(Some(self.algebra.then(before, wrong)))
    }

    /// The texts that may follow where `look` holds.
    pub(crate) fn condition(&mut self, look: &Look) -> Result<ByState, Error> {
        if let Some(known) = self.conditions.get(&look.id) {
            return Ok(known.clone());
        }
        let mut condition = match look.side {
            Side::Ahead => self.before(&look.body, &vec![self.algebra.any; self.states.len()])?,
            Side::Behind => {
                let parts = self.behind[&look.id].clone();
                let mut condition = Vec::with_capacity(self.states.len());
                for state in 0..self.states.len() {
                    let suffixes: Vec<ExprId> = parts
                        .iter()
                        .filter(|(language, _)| self.states.holds(self.algebra, state, *language))
                        .map(|&(_, suffixes)| suffixes)
                        .collect();
                    condition.push(self.algebra.union(&suffixes));
                }
                condition
            }
        };
        if look.is_negative {
            for texts in &mut condition {
                *texts = self.algebra.complement(*texts);
            }
        }
        self.conditions.insert(look.id, condition.clone());
        Ok(condition)
    }
}

/// What the pattern's look-behind asks of the prefix.
fn prefixes(
    algebra: &mut Algebra,
    root: &Node,
) -> Result<(PrefixStates, FxHashMap<u32, Behind>), Error> {
    let mut languages: Vec<ExprId> = Vec::new();
    let mut behind = FxHashMap::default();
    for look in root.looks(|look| look.side == Side::Ahead) {
        if look.side == Side::Ahead {
            continue;
        }
        let mut parts = Vec::new();
        for (suffixes, language) in prefixes_before(algebra, &look.body)? {
            let number = languages.iter().position(|&known| known == language);
            parts.push((number.unwrap_or(languages.len()), suffixes));
            if number.is_none() {
                languages.push(language);
            }
        }
        behind.insert(look.id, parts);
    }
    Ok((PrefixStates::new(algebra, languages)?, behind))
}

/// Where a text that matches `body` ends: pairs of the suffix and the prefix.
fn prefixes_before(algebra: &mut Algebra, body: &Node) -> Result<BTreeMap<ExprId, ExprId>, Error> {
    let any = algebra.any;
    // Read from its end, look-behind is look-ahead.
    let (_, mirrored) = Pass::run(algebra, &body.mirrored(), any)?;
    if let Some(language) = uniform(&mirrored) {
        let language = algebra.reversed(language)?;
        return Ok(BTreeMap::from([(any, language)]));
    }
    // A look-ahead inside looks past the end of the body.
    let mut pass = Pass::new(algebra, body)?;
    context::prefixes_owing(&mut pass, body)
}

/// The texts of a piece without look-around.
pub(crate) fn plain(algebra: &mut Algebra, node: &Node) -> Result<ExprId, Error> {
    algebra.check()?;
    match node.kind() {
        Kind::Empty => Ok(algebra.exprs.empty()),
        Kind::Chars(set) => Ok(algebra.chars(set)),
        Kind::Seq(parts) => {
            let mut texts = algebra.exprs.empty();
            for part in parts.iter().rev() {
                let first = plain(algebra, part)?;
                texts = algebra.then(first, texts);
            }
            Ok(texts)
        }
        Kind::Choice(alternatives) => {
            let mut texts = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                texts.push(plain(algebra, alternative)?);
            }
            Ok(algebra.union(&texts))
        }
        Kind::Repeat { body, min, max } => {
            let body = plain(algebra, body)?;
            Ok(algebra.exprs.repeat(body, *min, *max))
        }
        Kind::Look(_) => unreachable!("only asked of pieces without look-around"),
    }
}

/// The atoms that the classes of a piece are made of.
pub(crate) fn atoms_in(algebra: &Algebra, node: &Node) -> Vec<usize> {
    let mut atoms: Vec<usize> =
        node.sets().into_iter().flat_map(|set| algebra.atoms.of(set)).collect();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

/// The one value of all states, if there is one.
pub(crate) fn uniform(by_state: &[ExprId]) -> Option<ExprId> {
    let (&first, others) = by_state.split_first()?;
    others.iter().all(|&other| other == first).then_some(first)
}
