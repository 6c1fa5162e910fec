//! Naive recognisers that share no code with the crate: textbook fixpoints over all words of the
//! letters a, b, c up to a length, and over all spans of one text.

use std::collections::{BTreeSet, HashMap};

use stencilm::grammar::{Expr, ExprId, Exprs, RuleId, RuleSet, Rules, Spelling, UNBOUNDED};

/// Longest word of a [`Words`].
const LONGEST: usize = 6;
/// From so many factors on, more of them make no new word.
const ENOUGH: u32 = 7;

/// A grammar piece as the tests write it, apart from the crate's own expressions.
#[derive(Clone, Debug)]
pub enum Piece {
    Nothing,
    Empty,
    Text(String),
    Class(BTreeSet<char>),
    Call(usize),
    Seq(Vec<Piece>),
    Choice(Vec<Piece>),
    Repeat(Box<Piece>, u32, u32),
    And(Box<Piece>, Box<Piece>),
    Minus(Box<Piece>, Box<Piece>),
}

/// A set of words over a, b, c of at most [`LONGEST`] letters: for each length, for each word as
/// a number in base three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<Vec<bool>>);

impl Words {
    pub fn none() -> Self {
        Self((0..=LONGEST).map(|length| vec![false; 3_usize.pow(length as u32)]).collect())
    }

    pub fn empty_word() -> Self {
        let mut words = Self::none();
        words.0[0][0] = true;
        words
    }

    pub fn has_empty_word(&self) -> bool {
        self.0[0][0]
    }

    pub fn is_none(&self) -> bool {
        self.0.iter().flatten().all(|&has| !has)
    }

    pub fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (length, words) in self.0.iter().enumerate() {
            for (word, _) in words.iter().enumerate().filter(|(_, has)| **has) {
                let letter =
                    |at: usize| char::from(b'a' + (word / 3_usize.pow(at as u32) % 3) as u8);
                found.push((0..length).rev().map(letter).collect());
            }
        }
        found
    }

    fn word(bytes: &[u8]) -> Self {
        let mut words = Self::none();
        if bytes.len() <= LONGEST && bytes.iter().all(|byte| (b'a'..=b'c').contains(byte)) {
            let word = bytes.iter().fold(0, |word, byte| word * 3 + usize::from(byte - b'a'));
            words.0[bytes.len()][word] = true;
        }
        words
    }

    fn letters(has: impl Fn(char) -> bool) -> Self {
        let mut words = Self::none();
        words.0[1] = ['a', 'b', 'c'].map(has).to_vec();
        words
    }

    pub fn join(&mut self, other: &Self) {
        for (mine, others) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine |= others;
        }
    }

    fn both(mut self, other: &Self) -> Self {
        for (mine, others) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine &= others;
        }
        self
    }

    fn others(mut self) -> Self {
        self.0.iter_mut().flatten().for_each(|has| *has = !*has);
        self
    }

    fn then(&self, other: &Self) -> Self {
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

    fn repeated(&self, min: u32, max: u32) -> Self {
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

/// The words of every rule of a grammar of pieces.
pub fn words_of_pieces(rules: &[Piece]) -> Vec<Words> {
    fixpoint(rules.len(), |known| rules.iter().map(|rule| words_of(rule, known)).collect())
}

fn words_of(piece: &Piece, known: &[Words]) -> Words {
    let of = |piece: &Piece| words_of(piece, known);
    match piece {
        Piece::Nothing => Words::none(),
        Piece::Empty => Words::empty_word(),
        Piece::Text(text) => Words::word(text.as_bytes()),
        Piece::Class(letters) => Words::letters(|letter| letters.contains(&letter)),
        Piece::Call(rule) => known[*rule].clone(),
        Piece::Seq(parts) => {
            parts.iter().fold(Words::empty_word(), |words, part| words.then(&of(part)))
        }
        Piece::Choice(parts) => parts.iter().fold(Words::none(), |mut words, part| {
            words.join(&of(part));
            words
        }),
        Piece::Repeat(body, min, max) => of(body).repeated(*min, *max),
        Piece::And(a, b) => of(a).both(&of(b)),
        Piece::Minus(a, b) => of(a).both(&of(b).others()),
    }
}

/// The words of every rule of a rule set.
pub fn words_of_set(set: &RuleSet) -> Vec<Words> {
    let bodies: Vec<ExprId> = set.rules.iter().map(|&(_, body)| body).collect();
    words_of_bodies(&set.exprs, &bodies)
}

/// The words of every rule, given their bodies in one arena.
pub fn words_of_bodies(exprs: &Exprs, bodies: &[ExprId]) -> Vec<Words> {
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
        Expr::Nothing => Words::none(),
        Expr::Empty => Words::empty_word(),
        Expr::Bytes { literal, from } => Words::word(&exprs.literal(literal)[from as usize..]),
        Expr::OneOf { literals, low, high, depth } => {
            let mut words = Words::none();
            for &literal in &exprs.literal_ids(literals)[low as usize..high as usize] {
                words.join(&Words::word(&exprs.literal(literal)[depth as usize..]));
            }
            words
        }
        Expr::Bytes1(set) => {
            let set = exprs.byte_set_of(set);
            Words::letters(|letter| set.contains(letter as u8))
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
        Expr::Partial { .. } | Expr::Token(_) | Expr::Names { .. } => Words::none(),
    };
    done.insert(id, words.clone());
    words
}

fn fixpoint(rules: usize, step: impl Fn(&[Words]) -> Vec<Words>) -> Vec<Words> {
    let mut known = vec![Words::none(); rules];
    loop {
        let next = step(&known);
        if next == known {
            return known;
        }
        known = next;
    }
}

/// A normal grammar's bodies in one arena.
pub fn bodies(rules: &dyn Rules, count: usize) -> (Exprs, Vec<ExprId>) {
    let mut exprs = Exprs::default();
    let bodies = (0..count)
        .map(|rule| rules.body(RuleId(rule as u32), &mut exprs).expect("no limit is near"))
        .collect();
    (exprs, bodies)
}

/// The rules that may come first in an expression, and whether it may be empty.
pub fn left_calls(exprs: &Exprs, id: ExprId, found: &mut BTreeSet<u32>) -> bool {
    match exprs.get(id) {
        Expr::Empty => true,
        Expr::OneOf { literals, low, depth, .. } => {
            exprs.literal(exprs.literal_ids(literals)[low as usize]).len() == depth as usize
        }
        Expr::Seq(a, b) => left_calls(exprs, a, found) && left_calls(exprs, b, found),
        Expr::Choice(list) => {
            let members = exprs.list(list).iter();
            members.fold(false, |any, &member| left_calls(exprs, member, found) || any)
        }
        Expr::And(list) => {
            let members = exprs.list(list).iter();
            members.fold(true, |all, &member| left_calls(exprs, member, found) && all)
        }
        Expr::Not(body) => !left_calls(exprs, body, found),
        Expr::Repeat { body, min, .. } => left_calls(exprs, body, found) || min == 0,
        Expr::Call(rule) => {
            found.insert(rule.0);
            false
        }
        _ => false,
    }
}

/// Whether `text` is a text of the start rule: a fixpoint over all its spans.
pub fn accepts(set: &RuleSet, text: &str) -> bool {
    let size = text.len() + 1;
    let mut known = vec![vec![false; size * size]; set.rules.len()];
    loop {
        let mut done = HashMap::new();
        let next: Vec<Spans> = set
            .rules
            .iter()
            .map(|&(_, body)| spans(&set.exprs, body, text, &known, &mut done))
            .collect();
        if next == known {
            return known[set.start.0 as usize][text.len()];
        }
        known = next;
    }
}

/// For each pair of places in a text, whether what lies between matches.
type Spans = Vec<bool>;

fn spans(
    exprs: &Exprs,
    id: ExprId,
    text: &str,
    known: &[Spans],
    done: &mut HashMap<ExprId, Spans>,
) -> Spans {
    if let Some(found) = done.get(&id) {
        return found.clone();
    }
    let size = text.len() + 1;
    let mut found = vec![false; size * size];
    let mut of = |id: ExprId| spans(exprs, id, text, known, done);
    match exprs.get(id) {
        Expr::Nothing => {}
        Expr::Empty => (0..size).for_each(|at| found[at * size + at] = true),
        Expr::Bytes { literal, from } => {
            mark(&mut found, text, &exprs.literal(literal)[from as usize..]);
        }
        Expr::OneOf { literals, low, high, depth } => {
            for &literal in &exprs.literal_ids(literals)[low as usize..high as usize] {
                mark(&mut found, text, &exprs.literal(literal)[depth as usize..]);
            }
        }
        Expr::Bytes1(set) => {
            for (at, byte) in text.bytes().enumerate() {
                found[at * size + at + 1] = exprs.byte_set_of(set).contains(byte);
            }
        }
        Expr::Chars { class, spelling } => {
            assert_eq!(spelling, Spelling::Text, "the tests spell nothing else");
            for (at, c) in text.char_indices() {
                found[at * size + at + c.len_utf8()] = exprs.class(class).contains(c);
            }
        }
        Expr::Seq(a, b) => found = after(&of(a), &of(b), size),
        Expr::Choice(list) => {
            for &member in exprs.list(list) {
                let member = of(member);
                found.iter_mut().zip(member).for_each(|(mine, others)| *mine |= others);
            }
        }
        Expr::And(list) => {
            found.fill(true);
            for &member in exprs.list(list) {
                let member = of(member);
                found.iter_mut().zip(member).for_each(|(mine, others)| *mine &= others);
            }
        }
        Expr::Not(body) => found = of(body).into_iter().map(|has| !has).collect(),
        Expr::Repeat { body, min, max } => {
            let body = of(body);
            let mut power = vec![false; size * size];
            (0..size).for_each(|at| power[at * size + at] = true);
            let enough = u32::try_from(size).expect("texts are short");
            for count in 0..=enough {
                if (min..=max).contains(&count) || (count == enough && min > count) {
                    found.iter_mut().zip(&power).for_each(|(mine, others)| *mine |= others);
                }
                if count == max || (count == enough && max != UNBOUNDED) {
                    break;
                }
                power = after(&power, &body, size);
            }
        }
        Expr::Call(rule) => found.clone_from(&known[rule.0 as usize]),
        Expr::Partial { .. } | Expr::Token(_) | Expr::Names { .. } => {}
    }
    done.insert(id, found.clone());
    found
}

fn mark(found: &mut Spans, text: &str, literal: &[u8]) {
    let size = text.len() + 1;
    for at in 0..size {
        if text.as_bytes()[at..].starts_with(literal) {
            found[at * size + at + literal.len()] = true;
        }
    }
}

fn after(first: &Spans, second: &Spans, size: usize) -> Spans {
    let mut found = vec![false; size * size];
    for from in 0..size {
        for middle in (from..size).filter(|middle| first[from * size + middle]) {
            for to in middle..size {
                found[from * size + to] |= second[middle * size + to];
            }
        }
    }
    found
}
