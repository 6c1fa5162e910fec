//! Grammars as the tests write them, apart from the crate's own expressions.

use std::collections::BTreeSet;

use stencilm::grammar::{CharSet, ExprId, Exprs, RuleId, Spelling};

use crate::words::{Words, fixpoint};

/// A grammar piece as the tests write it, apart from the crate's own expressions.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
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

/// The words of every rule of a grammar of pieces.
pub(crate) fn words_of_pieces(rules: &[Piece]) -> Vec<Words> {
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

/// The piece as an expression.
pub(crate) fn expr_of(exprs: &mut Exprs, piece: &Piece) -> ExprId {
    match piece {
        Piece::Nothing => exprs.nothing(),
        Piece::Empty => exprs.empty(),
        Piece::Text(text) => exprs.text(text, Spelling::Text),
        Piece::Class(letters) => {
            let class = CharSet::of(letters.iter().copied());
            exprs.chars(&class, Spelling::Text)
        }
        Piece::Call(rule) => exprs.call(rule_id(*rule)),
        Piece::Seq(parts) => {
            let parts: Vec<ExprId> = parts.iter().map(|part| expr_of(exprs, part)).collect();
            exprs.seq(&parts)
        }
        Piece::Choice(parts) => {
            let parts: Vec<ExprId> = parts.iter().map(|part| expr_of(exprs, part)).collect();
            exprs.choice(&parts)
        }
        Piece::Repeat(body, min, max) => {
            let body = expr_of(exprs, body);
            exprs.repeat(body, *min, *max)
        }
        Piece::And(a, b) => {
            let both = [expr_of(exprs, a), expr_of(exprs, b)];
            exprs.and(&both)
        }
        Piece::Minus(a, b) => {
            let (a, b) = (expr_of(exprs, a), expr_of(exprs, b));
            exprs.minus(a, b)
        }
    }
}

/// The id of a rule by its place.
pub(crate) fn rule_id(rule: usize) -> RuleId {
    RuleId(u32::try_from(rule).expect("tests have few rules"))
}
