//! Lark's contextual lexer: what it takes in each mode, as texts and what may follow them.
//!
//! A mode is a list of terminals, those that the parser accepts in a state and the ignored ones.
//! Of these, the first in the lexer's order that matches at all is taken, as far as it matches;
//! a literal that a regular expression matches as a whole is that literal.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::frontend::lark::contextual::followed::{Followed, Following, Pending};
use crate::frontend::lark::contextual::lexemes::Lexeme;
use crate::frontend::lark::contextual::looking::{Looking, Taken};
use crate::frontend::lark::contextual::past::Pasts;
use crate::grammar::{ByteSet, ExprId, Spelling};
use crate::limits::Budget;

/// What a situation between two terminals counts for: texts lead from each to each.
const GAP: usize = 250;

/// The terminals of a mode.
#[derive(Debug)]
struct Mode {
    /// In the order in which they are tried.
    order: Vec<usize>,
    /// Literals that regular expressions match as a whole.
    literals: FxHashMap<usize, Vec<usize>>,
}

/// What a terminal matches.
#[derive(Debug)]
pub(crate) enum Texts {
    /// The longest of these that comes.
    Plain(ExprId),
    /// What depends on what comes before and after it.
    Looking(Looking),
}

/// What a lexer takes.
#[derive(Debug)]
pub(crate) struct Lexer<'a> {
    /// Every terminal.
    lexemes: &'a [Lexeme],
    /// The texts of each.
    texts: Vec<Texts>,
    first_bytes: Vec<ByteSet>,
    pasts: Pasts,
    /// For each two pasts the texts between them.
    between: FxHashMap<(usize, usize), ExprId>,
    /// Texts and what follows them.
    pub(crate) following: Following,
    modes: Vec<Mode>,
    mode_ids: FxHashMap<Vec<usize>, usize>,
    gaps: FxHashMap<(usize, Pending), Rc<[Followed]>>,
    taken: FxHashMap<(usize, Pending, usize), Rc<[Followed]>>,
}

impl<'a> Lexer<'a> {
    /// A lexer without modes; `texts` are those of the lexemes.
    pub(crate) fn new(
        lexemes: &'a [Lexeme],
        texts: Vec<Texts>,
        pasts: Pasts,
        mut following: Following,
    ) -> Result<Self, Error> {
        let mut first_bytes = Vec::with_capacity(texts.len());
        for texts in &texts {
            let all = match texts {
                Texts::Plain(texts) => *texts,
                Texts::Looking(looking) => {
                    let all: Vec<ExprId> = looking.all_texts().collect();
                    following.exprs().choice(&all)
                }
            };
            first_bytes.push(following.first_bytes(all)?);
        }
        Ok(Self {
            lexemes,
            texts,
            first_bytes,
            pasts,
            between: FxHashMap::default(),
            following,
            modes: Vec::new(),
            mode_ids: FxHashMap::default(),
            gaps: FxHashMap::default(),
            taken: FxHashMap::default(),
        })
    }

    /// The mode in which these terminals are accepted.
    pub(crate) fn mode(&mut self, accepted: &[usize]) -> Result<usize, Error> {
        let ignored = (0..self.lexemes.len()).filter(|&it| self.lexemes[it].is_ignored);
        let mut order: Vec<usize> = accepted.iter().copied().chain(ignored).collect();
        order.sort_by_cached_key(|&it| self.lexemes[it].order());
        order.dedup();
        if let Some(&id) = self.mode_ids.get(&order) {
            return Ok(id);
        }
        let mut literals: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut inside = FxHashSet::default();
        for &regex in order.iter().filter(|&&it| self.lexemes[it].literal.is_none()) {
            for &word in &order {
                let Some((text, ignores_case)) = &self.lexemes[word].literal else {
                    continue;
                };
                let is_same = self.lexemes[word].priority == self.lexemes[regex].priority;
                if !is_same {
                    continue;
                }
                let is_whole = match &self.texts[regex] {
                    Texts::Plain(all) => self.following.languages.has(*all, text.as_bytes())?,
                    Texts::Looking(looking) => looking.takes_all(text, &self.pasts),
                };
                if is_whole {
                    // What an ignored terminal matches is ignored, whatever it is.
                    if !self.lexemes[regex].is_ignored {
                        literals.entry(regex).or_default().push(word);
                    }
                    if !ignores_case || self.lexemes[regex].program.ignores_case {
                        inside.insert(word);
                    }
                }
            }
        }
        let id = self.modes.len();
        self.mode_ids.insert(order.clone(), id);
        order.retain(|it| !inside.contains(it));
        self.modes.push(Mode { order, literals });
        Ok(id)
    }

    /// The texts with which a terminal is taken after a place.
    fn taken(
        &mut self,
        mode: usize,
        pending: &Pending,
        terminal: usize,
        budget: &mut Budget,
    ) -> Result<Rc<[Followed]>, Error> {
        let key = (mode, pending.clone(), terminal);
        if let Some(known) = self.taken.get(&key) {
            return Ok(known.clone());
        }
        let mut found: Vec<Followed> = Vec::new();
        let order = self.modes[mode].order.clone();
        for (place, &tried) in order.iter().enumerate() {
            let words = self.modes[mode].literals.get(&tried);
            // What a regular expression matched is not left out, even as an ignored literal.
            let is_word = !self.lexemes[terminal].is_ignored
                && words.is_some_and(|words| words.contains(&terminal));
            if tried != terminal && !is_word {
                continue;
            }
            let before = self.untaken(&order[..place], tried, pending);
            for (all, own) in self.matches(tried, pending.past) {
                let texts = if tried == terminal {
                    self.apart_from_literals(mode, tried, all.texts)
                } else {
                    self.as_literal(mode, tried, terminal, (all.texts, own))
                };
                let own = own.then_some(all.texts);
                for followed in self.following.split(texts, &before, own, budget)?.iter() {
                    self.add(&mut found, followed, &all, own.is_some(), budget)?;
                }
            }
        }
        let found: Rc<[Followed]> = self.joined(found).into();
        self.taken.insert(key, found.clone());
        Ok(found)
    }

    /// What a terminal matches after a past; whether it takes the longest of these.
    fn matches(&mut self, terminal: usize, past: usize) -> Vec<(Taken, bool)> {
        match &self.texts[terminal] {
            Texts::Plain(texts) => {
                let rest = self.following.exprs().any_text(Spelling::Text);
                vec![(Taken { texts: *texts, rest, past }, true)]
            }
            Texts::Looking(looking) => looking.taken(past).iter().map(|&it| (it, false)).collect(),
        }
    }

    /// What is known of a place where none of the terminals `before` matches.
    fn untaken(&mut self, before: &[usize], tried: usize, pending: &Pending) -> Pending {
        let mut untaken = pending.clone();
        for &other in before {
            if self.first_bytes[other].intersection(&self.first_bytes[tried]).is_empty() {
                continue;
            }
            match &self.texts[other] {
                Texts::Plain(texts) => untaken.begins.push(*texts),
                Texts::Looking(looking) => {
                    let matched = looking.matched(pending.past);
                    untaken.rest = self.following.exprs().minus(untaken.rest, matched);
                }
            }
        }
        untaken.begins = self.following.normal(untaken.begins);
        untaken
    }

    /// Adds what was taken; a terminal that looks around says itself what must follow.
    fn add(
        &mut self,
        found: &mut Vec<Followed>,
        followed: &Followed,
        all: &Taken,
        is_plain: bool,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let mut pending = followed.pending.clone();
        if !is_plain {
            let rest = self.following.exprs().and(&[pending.rest, all.rest]);
            if !self.following.languages.is_empty(rest)? {
                let rest = self.following.canonical_rest(rest);
                pending = Pending { rest, past: all.past, ..pending };
                found.push(Followed { pending, ..*followed });
            }
            return Ok(());
        }
        if self.pasts.count() == 1 {
            found.push(followed.clone());
            return Ok(());
        }
        for past in 0..self.pasts.count() {
            let key = (pending.past, past);
            let exprs = self.following.exprs();
            let between = match self.between.get(&key) {
                Some(&known) => known,
                None => self.pasts.between(key.0, past, exprs, budget)?,
            };
            self.between.insert(key, between);
            let texts = exprs.and(&[followed.texts, between]);
            if self.following.languages.is_empty(texts)? {
                continue;
            }
            let is_all = self.following.is_within(followed.texts, between);
            let texts = if is_all { followed.texts } else { texts };
            found.push(Followed { texts, pending: Pending { past, ..pending.clone() } });
        }
        Ok(())
    }

    /// A regular expression's texts but those that are literals.
    fn apart_from_literals(&mut self, mode: usize, terminal: usize, all: ExprId) -> ExprId {
        let Some(words) = self.modes[mode].literals.get(&terminal) else {
            return all;
        };
        let words: Vec<ExprId> = words.iter().map(|&it| self.word(it)).collect();
        let exprs = self.following.exprs();
        let words = exprs.choice_of_many(&words);
        exprs.minus(all, words)
    }

    /// A regular expression's texts that are a literal.
    fn as_literal(
        &mut self,
        mode: usize,
        tried: usize,
        literal: usize,
        (all, is_plain): (ExprId, bool),
    ) -> ExprId {
        // Of literals that are equal but for their case the first one is meant.
        let words = self.modes[mode].literals.get(&tried);
        let words = words.into_iter().flatten().take_while(|&&it| it != literal);
        let before: Vec<ExprId> = words.map(|&it| self.word(it)).collect();
        let word = self.word(literal);
        let exprs = self.following.exprs();
        let is_one = matches!(&self.lexemes[literal].literal, Some((_, false)));
        let word = if is_one && is_plain { word } else { exprs.and(&[all, word]) };
        let before = exprs.choice_of_many(&before);
        exprs.minus(word, before)
    }

    /// The texts of a literal.
    fn word(&self, literal: usize) -> ExprId {
        match &self.texts[literal] {
            Texts::Plain(texts) => *texts,
            Texts::Looking(_) => unreachable!("a literal does not look around"),
        }
    }

    /// Ignored texts, none or some.
    pub(crate) fn gap(
        &mut self,
        mode: usize,
        pending: &Pending,
        budget: &mut Budget,
    ) -> Result<Rc<[Followed]>, Error> {
        let key = (mode, pending.clone());
        if let Some(known) = self.gaps.get(&key) {
            return Ok(known.clone());
        }
        let order = self.modes[mode].order.clone();
        let ignored: Vec<usize> =
            order.into_iter().filter(|&it| self.lexemes[it].is_ignored).collect();
        let mut ids: FxHashMap<Pending, usize> = FxHashMap::default();
        let mut states = vec![pending.clone()];
        ids.insert(pending.clone(), 0);
        let mut edges = Vec::new();
        let mut at = 0;
        while at < states.len() {
            for &terminal in &ignored {
                budget.tick()?;
                for followed in self.taken(mode, &states[at].clone(), terminal, budget)?.iter() {
                    let count = states.len();
                    let to = *ids.entry(followed.pending.clone()).or_insert_with_key(|pending| {
                        states.push(pending.clone());
                        count
                    });
                    edges.push(Edge { from: at, to, texts: followed.texts });
                }
            }
            at += 1;
            budget.check_search(states.len(), GAP)?;
        }
        let automaton = Automaton { count: states.len(), edges };
        let mut found = Vec::with_capacity(states.len());
        for (place, pending) in states.into_iter().enumerate() {
            let texts = automaton.texts(0, &[place], self.following.exprs(), budget)?;
            found.push(Followed { texts, pending });
        }
        let found: Rc<[Followed]> = self.joined(found).into();
        self.gaps.insert(key, found.clone());
        Ok(found)
    }

    /// Ignored texts and then a terminal, taken in a mode.
    pub(crate) fn next(
        &mut self,
        mode: usize,
        pending: &Pending,
        terminal: usize,
        budget: &mut Budget,
    ) -> Result<Vec<Followed>, Error> {
        if self.lexemes[terminal].is_ignored {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for before in self.gap(mode, pending, budget)?.iter() {
            for taken in self.taken(mode, &before.pending, terminal, budget)?.iter() {
                let texts = self.following.exprs().seq2(before.texts, taken.texts);
                found.push(Followed { texts, pending: taken.pending.clone() });
            }
        }
        Ok(self.joined(found))
    }

    /// One entry for all texts that are followed alike.
    fn joined(&mut self, found: Vec<Followed>) -> Vec<Followed> {
        let mut joined: Vec<Followed> = Vec::new();
        let nothing = self.following.exprs().nothing();
        for followed in found.into_iter().filter(|it| it.texts != nothing) {
            match joined.iter_mut().find(|it| it.pending == followed.pending) {
                Some(known) => {
                    known.texts = self.following.exprs().choice(&[known.texts, followed.texts]);
                }
                None => joined.push(followed),
            }
        }
        joined
    }
}
