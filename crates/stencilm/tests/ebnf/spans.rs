//! Whether one text belongs to a grammar: a textbook fixpoint over all its spans, which shares no
//! code with the crate.

use std::collections::HashMap;

use stencilm::grammar::{Expr, ExprId, Exprs, RuleSet, Spelling, UNBOUNDED};

/// Whether `text` is a text of the start rule: a fixpoint over all its spans.
pub(crate) fn accepts(set: &RuleSet, text: &str) -> bool {
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
        Expr::Empty => (0..size).for_each(|at| found[at * size + at] = true),
        Expr::Bytes { literal, from } => {
            mark(&mut found, text, &exprs.literal(literal)[from as usize..]);
        }
        Expr::OneOf { literals, low, high, depth, spelling } => {
            assert_eq!(spelling, Spelling::Text, "the tests spell nothing else");
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
        Expr::Nothing
        | Expr::Partial { .. }
        | Expr::Number { .. }
        | Expr::Token(_)
        | Expr::Names { .. }
        | Expr::OtherName(_) => {}
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
