//! All words over a, b, c up to a length, by a textbook fixpoint that shares no code with the crate.

use std::collections::HashMap;

use stencilm::grammar::{Expr, ExprId, Exprs, RuleSet};

/// Longest word of a [`Words`].
const LONGEST: usize = 6;
/// From so many factors on, more of them make no new word.
const ENOUGH: u32 = 7;

/// A set of words over a, b, c of at most [`LONGEST`] letters: for each length, for each word as
/// a number in base three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words(Vec<Vec<bool>>);

impl Words {
    pub(crate) fn none() -> Self {
        let counts = std::iter::successors(Some(1_usize), |count| Some(count * 3));
        Self(counts.take(LONGEST + 1).map(|count| vec![false; count]).collect())
    }

    pub(crate) fn empty_word() -> Self {
        let mut words = Self::none();
        words.0[0][0] = true;
        words
    }

    pub(crate) fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (length, words) in self.0.iter().enumerate() {
            for (word, _) in words.iter().enumerate().filter(|(_, has)| **has) {
                let mut rest = word;
                let mut text = String::new();
                for _ in 0..length {
                    text.insert(0, ['a', 'b', 'c'][rest % 3]);
                    rest /= 3;
                }
                found.push(text);
            }
        }
        found
    }

    pub(crate) fn word(bytes: &[u8]) -> Self {
        let mut words = Self::none();
        if bytes.len() <= LONGEST && bytes.iter().all(|byte| (b'a'..=b'c').contains(byte)) {
            let word = bytes.iter().fold(0, |word, byte| word * 3 + usize::from(byte - b'a'));
            words.0[bytes.len()][word] = true;
        }
        words
    }

    pub(crate) fn letters(has: impl Fn(char) -> bool) -> Self {
        let mut words = Self::none();
        words.0[1] = ['a', 'b', 'c'].map(has).to_vec();
        words
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, others) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine |= others;
        }
    }

    pub(crate) fn both(mut self, other: &Self) -> Self {
        for (mine, others) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine &= others;
        }
        self
    }

    pub(crate) fn others(mut self) -> Self {
        self.0.iter_mut().flatten().for_each(|has| *has = !*has);
        self
    }

    pub(crate) fn then(&self, other: &Self) -> Self {
        let mut joined = Self::none();
        for (first, heads) in self.0.iter().enumerate() {
            for (head, _) in heads.iter().enumerate().filter(|(_, has)| **has) {
                for second in 0..=LONGEST - first {
                    let tails = &other.0[second];
                    let from = head * tails.len();
                    let into = &mut joined.0[first + second][from..from + tails.len()];
                    into.iter_mut().zip(tails).for_each(|(mine, others)| *mine |= others);
                }
            }
        }
        joined
    }

    pub(crate) fn repeated(&self, min: u32, max: u32) -> Self {
        let mut found = Self::none();
        let mut power = Self::empty_word();
        for count in 0..=ENOUGH {
            // All counts beyond the last one are as that one.
            let is_in = (min..=max).contains(&count) || (count == ENOUGH && min > count);
            if is_in {
                found.join(&power);
            }
            power = power.then(self);
        }
        found
    }
}

/// The words of every rule of a rule set.
pub(crate) fn words_of_set(set: &RuleSet) -> Vec<Words> {
    let bodies: Vec<ExprId> = set.rules.iter().map(|&(_, body)| body).collect();
    words_of_bodies(&set.exprs, &bodies)
}

/// The words of every rule, given their bodies in one arena.
pub(crate) fn words_of_bodies(exprs: &Exprs, bodies: &[ExprId]) -> Vec<Words> {
    fixpoint(bodies.len(), |known| {
        let mut done = HashMap::new();
        bodies.iter().map(|&body| words_of_expr(exprs, body, known, &mut done)).collect()
    })
}

fn words_of_expr(
    exprs: &Exprs,
    id: ExprId,
    known: &[Words],
    done: &mut HashMap<ExprId, Words>,
) -> Words {
    if let Some(words) = done.get(&id) {
        return words.clone();
    }
    let mut of = |id: ExprId| words_of_expr(exprs, id, known, done);
    let words = match exprs.get(id) {
        Expr::Empty => Words::empty_word(),
        Expr::Bytes { literal, from } => Words::word(&exprs.literal(literal)[from as usize..]),
        Expr::OneOf { literals, low, high, depth, spelling } => {
            assert!(!spelling.is_free(), "no grammar that a person writes has others");
            let mut words = Words::none();
            for &literal in &exprs.literal_ids(literals)[low as usize..high as usize] {
                words.join(&Words::word(&exprs.literal(literal)[depth as usize..]));
            }
            words
        }
        Expr::Bytes1(set) => {
            let set = exprs.byte_set_of(set);
            Words::letters(|letter| u8::try_from(letter).is_ok_and(|byte| set.contains(byte)))
        }
        Expr::Chars { class, spelling: _ } => {
            Words::letters(|letter| exprs.class(class).contains(letter))
        }
        Expr::Seq(a, b) => of(a).then(&of(b)),
        Expr::Choice(list) => {
            let mut words = Words::none();
            for &member in exprs.list(list) {
                words.join(&of(member));
            }
            words
        }
        Expr::Repeat { body, min, max } => of(body).repeated(min, max),
        Expr::And(list) => {
            let members = exprs.list(list);
            members.iter().fold(Words::none().others(), |words, &member| words.both(&of(member)))
        }
        Expr::Not(body) => of(body).others(),
        Expr::Call(rule) => known[rule.0 as usize].clone(),
        Expr::Nothing
        | Expr::Partial { .. }
        | Expr::Number { .. }
        | Expr::Token(_)
        | Expr::Names { .. }
        | Expr::OtherName(_) => Words::none(),
    };
    done.insert(id, words.clone());
    words
}

pub(crate) fn fixpoint(rules: usize, step: impl Fn(&[Words]) -> Vec<Words>) -> Vec<Words> {
    let mut known = vec![Words::none(); rules];
    loop {
        let next = step(&known);
        if next == known {
            return known;
        }
        known = next;
    }
}
