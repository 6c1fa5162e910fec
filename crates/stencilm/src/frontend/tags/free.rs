//! Free text until one of some marks.

use crate::grammar::{ExprId, Exprs, Spelling, UNBOUNDED};

/// Text of up to `most` characters that has none of `marks` inside, and none that would be complete
/// before the text that comes `next`: where `aba` is a mark, `ab` does not come before `aba`.
pub(crate) fn free(exprs: &mut Exprs, marks: &[&str], next: &[&str], most: Option<u32>) -> ExprId {
    let any = exprs.any_text(Spelling::Text);
    let text = match most {
        None => any,
        Some(most) => {
            let any = exprs.chars(&crate::grammar::CharSet::any(), Spelling::Text);
            exprs.repeat(any, 0, most.min(UNBOUNDED - 1))
        }
    };
    let text = exprs.without(text, marks.iter().map(|mark| mark.as_bytes()));
    exprs.not_ending_in(text, early(marks, next))
}

/// What free text must not end in: with one of `next` behind it, a mark would be complete too early.
pub(crate) fn early<'m>(marks: &[&'m str], next: &[&str]) -> Vec<&'m [u8]> {
    let mut early: Vec<&[u8]> = Vec::new();
    for mark in marks.iter().map(|mark| mark.as_bytes()) {
        for next in next.iter().map(|next| next.as_bytes()) {
            let overlaps = |&at: &usize| {
                let rest = &mark[at..];
                rest.len() < next.len() && next.starts_with(rest)
            };
            early.extend((1..mark.len()).filter(overlaps).map(|at| &mark[..at]));
        }
    }
    early
}

/// Each text followed by its rest, as a tree: what texts have in common is read once.
pub(crate) fn tree(exprs: &mut Exprs, texts: &mut [(&str, ExprId)]) -> ExprId {
    texts.sort_by_key(|&(text, _)| text);
    branch(exprs, texts, 0, DEEPEST)
}

/// So deep do beginnings nest; what shares more is one choice.
const DEEPEST: u32 = 32;

fn branch(exprs: &mut Exprs, texts: &[(&str, ExprId)], from: usize, depth: u32) -> ExprId {
    let mut ways = Vec::new();
    for group in texts.chunk_by(|a, b| a.0.as_bytes().get(from) == b.0.as_bytes().get(from)) {
        let [(first, _), .., (last, _)] = group else {
            let (text, rest) = group[0];
            let text = exprs.bytes(&text.as_bytes()[from..]);
            ways.push(exprs.seq2(text, rest));
            continue;
        };
        let (first, last) = (first.as_bytes(), last.as_bytes());
        let same = first[from..].iter().zip(&last[from..]).take_while(|(a, b)| a == b).count();
        if same == 0 || depth == 0 {
            for &(text, rest) in group {
                let text = exprs.bytes(&text.as_bytes()[from..]);
                ways.push(exprs.seq2(text, rest));
            }
            continue;
        }
        let head = exprs.bytes(&first[from..from + same]);
        let rest = branch(exprs, group, from + same, depth - 1);
        ways.push(exprs.seq2(head, rest));
    }
    exprs.choice(&ways)
}
