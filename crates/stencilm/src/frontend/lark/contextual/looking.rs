//! Terminals that look around: the texts that they take after each past, and what must follow.
//!
//! Read from its end, a text says at each place whether a step of a program comes to its end from
//! there: one bit for a step and a past. The list of these bits is the *class* of what follows;
//! one more character in front makes it another one, so that classes are the states of an
//! automaton. Where the class is known, look-ahead is, and which of two ways Python's `re` goes:
//! the first one that comes to its end.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::frontend::lark::contextual::past::{BEGINNING, Pasts};
use crate::frontend::lark::contextual::preferred::{THREADS, atoms, join};
use crate::frontend::lark::contextual::program::Step;
use crate::grammar::{CharSet, ExprId, Exprs, Spelling};
use crate::limits::Budget;

/// What a class of what follows, or a set of them, counts for: each is looked at beside each.
const CLASS: usize = 125;

/// So many bits of a class count as much as one expression.
const BITS: usize = 1_024;

/// The class of the empty text.
const END: usize = 0;

/// A past, and the classes of what may follow.
type Complete = (usize, Vec<usize>);

/// Texts that a terminal takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The texts.
    pub(crate) texts: ExprId,
    /// All that follows is one of these.
    pub(crate) rest: ExprId,
    /// The past after them.
    pub(crate) past: usize,
}

/// A terminal that looks around.
#[derive(Debug)]
pub(crate) struct Looking {
    steps: Vec<Step>,
    atoms: Vec<(CharSet, char)>,
    /// For each class, past and step whether it comes to its end.
    classes: Vec<Vec<bool>>,
    /// For each class and atom, the class with a character of it in front.
    before: Vec<Vec<usize>>,
    /// For each past what is taken.
    taken: Vec<Vec<Taken>>,
    /// For each past all that may follow if the terminal matches there.
    matched: Vec<ExprId>,
}

impl Looking {
    /// # Errors
    /// A limit was reached.
    pub(crate) fn new(
        steps: &[Step],
        pasts: &Pasts,
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let mut found = Self {
            steps: steps.to_vec(),
            atoms: Vec::new(),
            classes: Vec::new(),
            before: Vec::new(),
            taken: Vec::new(),
            matched: Vec::new(),
        };
        let sets = steps.iter().filter_map(Step::chars).chain(pasts.atoms());
        for atom in atoms(sets, budget)? {
            let sample = atom.ranges().first().and_then(|it| char::from_u32(it.0));
            found.atoms.extend(sample.map(|sample| (atom, sample)));
        }
        found.find_classes(pasts, budget)?;
        for past in 0..pasts.count() {
            let begins = found.with_bit(past, 0);
            let matched = found.rests(&begins, exprs, budget)?;
            found.matched.push(matched);
            let taken = found.find_taken(past, pasts, exprs, budget)?;
            found.taken.push(taken);
        }
        Ok(found)
    }

    /// What is taken after a past.
    pub(crate) fn taken(&self, past: usize) -> &[Taken] {
        &self.taken[past]
    }

    /// What follows a past where the terminal matches.
    pub(crate) fn matched(&self, past: usize) -> ExprId {
        self.matched[past]
    }

    /// All texts that are taken after some past.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = ExprId> {
        self.taken.iter().flatten().map(|it| it.texts)
    }

    /// Whether the whole of a text is taken where nothing else is.
    pub(crate) fn takes_all(&self, text: &str, pasts: &Pasts) -> bool {
        let mut follows = vec![END];
        for c in text.chars().rev() {
            let atom = self.atoms.iter().position(|(atom, _)| atom.contains(c));
            let atom = atom.expect("every character is in one of the sets");
            let class = *follows.last().expect("there is one");
            follows.push(self.before[class][atom]);
        }
        let mut past = BEGINNING;
        let Some(mut at) = self.leaf(0, past, follows.pop().expect("there is one"), pasts) else {
            return false;
        };
        for c in text.chars() {
            if matches!(self.steps[at], Step::Match) {
                return false;
            }
            past = pasts.after(past, c);
            let class = follows.pop().expect("one for each character");
            at = self.leaf(at + 1, past, class, pasts).expect("this way comes to its end");
        }
        matches!(self.steps[at], Step::Match)
    }

    fn find_classes(&mut self, pasts: &Pasts, budget: &mut Budget) -> Result<(), Error> {
        let first = self.class(None, pasts, budget)?;
        let mut ids: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
        self.classes.push(first.clone());
        ids.insert(first, END);
        while self.before.len() < self.classes.len() {
            budget.check()?;
            let at = self.before.len();
            let mut before = Vec::with_capacity(self.atoms.len());
            for place in 0..self.atoms.len() {
                let next = Some((self.atoms[place].1, &self.classes[at]));
                let class = self.class(next, pasts, budget)?;
                let count = self.classes.len();
                before.push(*ids.entry(class).or_insert_with_key(|class| {
                    self.classes.push(class.clone());
                    count
                }));
            }
            self.before.push(before);
            budget.check_search(self.classes.len(), CLASS + self.classes[END].len() / BITS)?;
        }
        Ok(())
    }

    fn bit(&self, past: usize, at: usize) -> usize {
        past * self.steps.len() + at
    }

    /// Which steps come to their ends before the end of the text, or before a character and a class.
    fn class(
        &self,
        next: Option<(char, &Vec<bool>)>,
        pasts: &Pasts,
        budget: &Budget,
    ) -> Result<Vec<bool>, Error> {
        let mut class = vec![false; pasts.count() * self.steps.len()];
        let after: Vec<usize> = match next {
            Some((c, _)) => (0..pasts.count()).map(|past| pasts.after(past, c)).collect(),
            None => Vec::new(),
        };
        // What is looked for is known before what looks for it: bodies that begin later first.
        let mut regions: Vec<(usize, usize)> = vec![(0, self.steps.len())];
        regions.extend(self.steps.iter().enumerate().filter_map(|(at, step)| match step {
            Step::Ahead { end, .. } => Some((at + 1, *end)),
            _ => None,
        }));
        for (past, (begin, end)) in
            (0..pasts.count()).flat_map(|past| regions.iter().rev().map(move |it| (past, *it)))
        {
            let mut is_new = true;
            while std::mem::take(&mut is_new) {
                budget.check()?;
                for at in (begin..end).rev() {
                    let bit = |at: usize| class[self.bit(past, at)];
                    let is_set = match &self.steps[at] {
                        Step::Chars(set) => next.is_some_and(|(c, class)| {
                            set.contains(c) && class[self.bit(after[past], at + 1)]
                        }),
                        Step::Match => true,
                        Step::Jump(to) => bit(*to),
                        Step::Split(first, second) => bit(*first) || bit(*second),
                        Step::Ahead { end, is_negative } => {
                            bit(at + 1) != *is_negative && bit(*end)
                        }
                        Step::Behind { body, is_negative } => {
                            pasts.holds(past, *body) != *is_negative && bit(at + 1)
                        }
                    };
                    is_new |= is_set && !class[self.bit(past, at)];
                    let place = self.bit(past, at);
                    class[place] |= is_set;
                }
            }
        }
        Ok(class)
    }

    fn with_bit(&self, past: usize, at: usize) -> Vec<usize> {
        let bit = self.bit(past, at);
        (0..self.classes.len()).filter(|&it| self.classes[it][bit]).collect()
    }

    /// The step that reads the next character, or the end, on the first way that comes to its end.
    fn leaf(&self, from: usize, past: usize, class: usize, pasts: &Pasts) -> Option<usize> {
        let comes_to_end = |at: usize| self.classes[class][self.bit(past, at)];
        let mut seen = FxHashSet::default();
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if !comes_to_end(at) || !seen.insert(at) {
                continue;
            }
            match &self.steps[at] {
                Step::Chars(_) | Step::Match => return Some(at),
                Step::Jump(to) => todo.push(*to),
                Step::Split(first, second) => todo.extend([*second, *first]),
                Step::Ahead { end, .. } => todo.push(*end),
                Step::Behind { body, is_negative } => {
                    debug_assert_ne!(pasts.holds(past, *body), *is_negative);
                    todo.push(at + 1);
                }
            }
        }
        None
    }

    /// All texts of some classes.
    fn rests(
        &self,
        classes: &[usize],
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        if classes.len() == self.classes.len() {
            return Ok(exprs.any_text(Spelling::Text));
        }
        let mut ids: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let mut states = vec![classes.to_vec()];
        ids.insert(classes.to_vec(), 0);
        let mut edges = Vec::new();
        // Where nothing is told apart any more, all that follows is.
        let mut free = None;
        let mut at = 0;
        while at < states.len() {
            budget.check()?;
            let mut by_target: Vec<(usize, CharSet)> = Vec::new();
            for (place, (atom, _)) in self.atoms.iter().enumerate() {
                let next: Vec<usize> = (0..self.classes.len())
                    .filter(|&it| states[at].binary_search(&self.before[it][place]).is_ok())
                    .collect();
                if next.is_empty() {
                    continue;
                }
                let is_free = next.len() == self.classes.len();
                let count = states.len();
                let to = *ids.entry(next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    count
                });
                if is_free {
                    free = Some(to);
                }
                join(&mut by_target, to, atom);
            }
            for (to, set) in by_target {
                if Some(at) != free {
                    edges.push(Edge { from: at, to, texts: exprs.chars(&set, Spelling::Text) });
                }
            }
            at += 1;
            budget.check_search(states.len(), CLASS)?;
        }
        let mut ends: Vec<usize> =
            (0..states.len()).filter(|&it| states[it].first() == Some(&END)).collect();
        let mut count = states.len();
        if let Some(free) = free {
            ends.retain(|&it| it != free);
            ends.push(count);
            let texts = exprs.any_text(Spelling::Text);
            edges.push(Edge { from: free, to: count, texts });
            count += 1;
        }
        Automaton { count, edges }.texts(0, &ends, exprs, budget)
    }

    /// What is taken after a past. Which class the text that follows has is not known before it
    /// comes: a state has a step for each.
    fn find_taken(
        &self,
        past: usize,
        pasts: &Pasts,
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<Vec<Taken>, Error> {
        let all = 0..self.classes.len();
        let first: Vec<(usize, usize)> =
            all.filter_map(|class| Some((self.leaf(0, past, class, pasts)?, class))).collect();
        let mut ids: FxHashMap<(usize, Vec<(usize, usize)>), usize> = FxHashMap::default();
        let mut states = vec![(past, first.clone())];
        ids.insert((past, first), 0);
        let mut edges = Vec::new();
        let mut threads = 0;
        let mut at = 0;
        while at < states.len() {
            budget.check()?;
            let (past, steps) = states[at].clone();
            let mut by_target: Vec<(usize, CharSet)> = Vec::new();
            for (place, (atom, sample)) in self.atoms.iter().enumerate() {
                let past = pasts.after(past, *sample);
                let mut next = Vec::new();
                for &(step, class) in &steps {
                    budget.check()?;
                    if !matches!(&self.steps[step], Step::Chars(set) if set.contains(*sample)) {
                        continue;
                    }
                    let follows =
                        (0..self.classes.len()).filter(|&it| self.before[it][place] == class);
                    next.extend(follows.filter_map(|class| {
                        Some((self.leaf(step + 1, past, class, pasts)?, class))
                    }));
                }
                if next.is_empty() {
                    continue;
                }
                next.sort_unstable();
                next.dedup();
                let count = states.len();
                let to = *ids.entry((past, next)).or_insert_with_key(|next| {
                    threads += next.1.len();
                    states.push(next.clone());
                    count
                });
                join(&mut by_target, to, atom);
            }
            for (to, set) in by_target {
                edges.push(Edge { from: at, to, texts: exprs.chars(&set, Spelling::Text) });
            }
            at += 1;
            budget.check_search(states.len() + threads / THREADS, 1)?;
        }
        let mut groups: Vec<(Complete, Vec<usize>)> = Vec::new();
        for (place, (past, steps)) in states.iter().enumerate() {
            let complete = steps.iter().filter(|it| matches!(self.steps[it.0], Step::Match));
            let mut classes: Vec<usize> = complete.map(|it| it.1).collect();
            classes.sort_unstable();
            if classes.is_empty() {
                continue;
            }
            let key = (*past, classes);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        let automaton = Automaton { count: states.len(), edges };
        let mut taken = Vec::with_capacity(groups.len());
        for ((past, classes), places) in groups {
            let texts = automaton.texts(0, &places, exprs, budget)?;
            let rest = self.rests(&classes, exprs, budget)?;
            taken.push(Taken { texts, rest, past });
        }
        Ok(taken)
    }
}
