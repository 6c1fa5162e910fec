//! What the rules with a capture took of a text, on one way of reading it.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use crate::grammar::RuleId;

/// What one call of a rule took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) rule: RuleId,
    /// Bytes of the text before it.
    pub(crate) begin: u32,
    /// Bytes of the text up to its end; none while it goes on.
    pub(crate) end: Option<u32>,
}

/// Spans by their beginnings, those around others first. Long lists share their beginnings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    before: Captured,
    last: Last,
    /// Nodes up to here.
    depth: u32,
    /// Whether some span up to here goes on.
    is_open: bool,
}

#[derive(Clone, Debug)]
enum Last {
    One(Span),
    /// Not empty, and none of them goes on.
    All(Captured),
    /// Whatever went on before ends here.
    End(u32),
}

impl Captured {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.depth)
    }

    fn is_open(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.is_open)
    }

    fn with(&self, last: Last) -> Self {
        let is_open = match &last {
            Last::One(span) => span.end.is_none() || self.is_open(),
            Last::All(_) => self.is_open(),
            Last::End(_) => false,
        };
        let depth = self.depth().saturating_add(1);
        Self(Some(Arc::new(Node { before: self.clone(), last, depth, is_open })))
    }

    /// These, and a call of `rule` that begins now.
    pub(crate) fn opened(&self, rule: RuleId, begin: u32) -> Self {
        self.with(Last::One(Span { rule, begin, end: None }))
    }

    /// These and, behind them, spans that have ended.
    pub(crate) fn then(&self, later: &Self) -> Self {
        match (&self.0, &later.0) {
            (_, None) => self.clone(),
            (None, _) => later.clone(),
            _ => self.with(Last::All(later.clone())),
        }
    }

    /// The same where those behind may go on.
    pub(crate) fn then_any(&self, later: &Self) -> Self {
        if self.is_empty() {
            return later.clone();
        }
        later.spans().into_iter().fold(self.clone(), |past, span| past.with(Last::One(span)))
    }

    /// These; what goes on ends now.
    pub(crate) fn closed(&self, end: u32) -> Self {
        if self.is_open() { self.with(Last::End(end)) } else { self.clone() }
    }

    /// All spans.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.since(&Self::default()).0
    }

    /// The spans behind a beginning of this list, and the end of those that go on there.
    fn since(&self, beginning: &Self) -> (Vec<Span>, Option<u32>) {
        let mut newest_first = Vec::new();
        let mut end_there = None;
        // Each with what ends the spans that go on there.
        let mut todo = vec![(self, None)];
        while let Some((at, end)) = todo.pop() {
            let is_outermost = todo.is_empty();
            if is_outermost && is_same(at, beginning) {
                end_there = end;
                break;
            }
            let Some(node) = &at.0 else { continue };
            match &node.last {
                Last::One(span) => {
                    newest_first.push(Span { end: span.end.or(end), ..*span });
                    todo.push((&node.before, end));
                }
                Last::All(more) => todo.extend([(&node.before, end), (more, None)]),
                Last::End(end) => todo.push((&node.before, Some(*end))),
            }
        }
        newest_first.reverse();
        (newest_first, end_there)
    }

    /// The longest list that both begin with.
    fn common<'a>(&'a self, other: &'a Self) -> &'a Self {
        let (mut a, mut b) = (self, other);
        while !is_same(a, b) {
            let longer = if a.depth() >= b.depth() { &mut a } else { &mut b };
            let Some(node) = &longer.0 else { break };
            *longer = &node.before;
        }
        a
    }

    /// Which of two ways to read a text is the better one, so that `Less` is better: at the first
    /// difference it begins earlier, or ends later, or has more.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        compare_all(&[self], &[other]).0
    }
}

/// The same for lists of lists, the oldest first, and how many spans and lists were looked at.
pub(crate) fn compare_all(a: &[&Captured], b: &[&Captured]) -> (Ordering, usize) {
    let same = a.iter().zip(b).take_while(|(a, b)| is_same(a, b)).count();
    let rest = |all: &[&Captured]| -> Vec<Span> {
        all.iter().skip(same + 1).flat_map(|captured| captured.spans()).collect()
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    if let (Some(first), Some(second)) = (a.get(same), b.get(same)) {
        let common = first.common(second);
        let (of_first, end) = first.since(common);
        let (of_second, other_end) = second.since(common);
        let is_later = later(end).cmp(&later(other_end));
        if common.is_open() && is_later.is_ne() {
            return (is_later, a.len() + of_first.len() + of_second.len());
        }
        (ours, theirs) = (of_first, of_second);
    }
    ours.extend(rest(a));
    theirs.extend(rest(b));
    let looked = a.len() + ours.len() + theirs.len();
    (compare_spans(&ours, &theirs), looked)
}

fn compare_spans(ours: &[Span], theirs: &[Span]) -> Ordering {
    let key = |span: &Span| (span.begin, later(span.end));
    let different = ours.iter().zip(theirs).map(|(a, b)| key(a).cmp(&key(b))).find(|it| it.is_ne());
    let by_rules = || ours.iter().map(|span| span.rule).cmp(theirs.iter().map(|span| span.rule));
    different.unwrap_or_else(|| theirs.len().cmp(&ours.len()).then_with(by_rules))
}

/// Orders ends, the latest first.
fn later(end: Option<u32>) -> Reverse<u32> {
    Reverse(end.unwrap_or(u32::MAX))
}

fn is_same(a: &Captured, b: &Captured) -> bool {
    match (&a.0, &b.0) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

impl Drop for Node {
    /// Frees a long list without recursion.
    fn drop(&mut self) {
        let mut todo = Vec::new();
        let mut free = |node: &mut Self| {
            todo.extend(node.before.0.take());
            if let Last::All(more) = &mut node.last {
                todo.extend(more.0.take());
            }
            todo.pop()
        };
        let mut next = free(self);
        while let Some(node) = next {
            next = match Arc::into_inner(node) {
                Some(mut node) => free(&mut node),
                None => None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::grammar::RuleId;
    use crate::stack::captured::{Captured, Span};

    fn one(begin: u32, end: Option<u32>) -> Captured {
        let open = Captured::default().opened(RuleId(7), begin);
        end.map_or(open.clone(), |end| open.closed(end))
    }

    /// Adds to a list, and to a plain one.
    fn go_on(whole: &mut Captured, plain: &mut Vec<Span>, steps: &[(u8, u32)]) {
        for &(kind, at) in steps {
            let rule = RuleId(at % 2);
            let mut ended = plain.clone();
            for span in &mut ended {
                span.end = span.end.or(Some(at));
            }
            match kind {
                0 => {
                    *whole = whole.opened(rule, at);
                    plain.push(Span { rule, begin: at, end: None });
                }
                1 => {
                    *whole = whole.closed(at);
                    *plain = ended;
                }
                _ if plain.len() < 100 => {
                    *whole = whole.then(&whole.closed(at));
                    plain.extend(ended);
                }
                _ => {}
            }
        }
    }

    fn key(span: &Span) -> (u32, std::cmp::Reverse<u32>) {
        (span.begin, std::cmp::Reverse(span.end.unwrap_or(u32::MAX)))
    }

    proptest! {
        /// Against plain lists: what they hold, and which is better.
        #[test]
        fn it_is_a_list(
            first in prop::collection::vec((0..3_u8, 0..5_u32), 0..20),
            ways in prop::array::uniform2(prop::collection::vec((0..3_u8, 0..5_u32), 0..20)),
        ) {
            let (mut whole, mut plain) = (Captured::default(), Vec::new());
            go_on(&mut whole, &mut plain, &first);
            let [(a, of_a), (b, of_b)] = ways.map(|way| {
                let (mut whole, mut plain) = (whole.clone(), plain.clone());
                go_on(&mut whole, &mut plain, &way);
                (whole, plain)
            });
            prop_assert_eq!(a.spans(), of_a.clone());
            // More goes before less.
            let end = (u32::MAX, std::cmp::Reverse(0));
            let keys = |plain: &[Span]| plain.iter().map(key).chain([end]).collect::<Vec<_>>();
            let rules = |plain: &[Span]| plain.iter().map(|span| span.rule).collect::<Vec<_>>();
            let order = keys(&of_a).cmp(&keys(&of_b)).then(rules(&of_a).cmp(&rules(&of_b)));
            prop_assert_eq!(a.compare(&b), order);
        }
    }

    #[test]
    fn the_longer_one_is_better() {
        let short = one(0, Some(1)).then(&one(1, Some(3)));
        assert!(one(0, None).compare(&short).is_lt());
        assert!(one(0, Some(3)).compare(&short).is_lt());
        assert!(short.compare(&one(0, Some(1))).is_lt());
        assert!(one(1, Some(3)).compare(&short).is_gt());
        assert!(short.compare(&short.clone()).is_eq());
    }

    #[test]
    fn long_lists_are_dropped_without_recursion() {
        let mut long = Captured::default();
        for at in 0..1_000_000 {
            long = long.then(&one(at, Some(at + 1)));
        }
        assert_eq!(long.spans().len(), 1_000_000);
        let mut deep = one(0, Some(1));
        for _ in 0..100_000 {
            deep = one(0, Some(1)).then(&deep);
        }
        assert_eq!(deep.spans().len(), 100_001);
    }
}
