//! Which rules and special tokens an expression may begin with, and what the rules bring in turn.

use std::{collections::BTreeMap, sync::Arc};

use crate::error::Error;
use crate::grammar::{Expr, ExprId, RuleId, TokenName, UNBOUNDED};
use crate::residual::Residuals;

/// What stands where text might.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Callee {
    /// A rule.
    Rule(RuleId),
    /// A special token.
    Token(TokenName),
}

/// A frame of a [`Closure`]: where a rule returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FrameRef {
    /// The frame of the item that the closure is of.
    Outer,
    /// A frame of the closure.
    Inner(usize),
}

impl FrameRef {
    /// What is known of this frame, where `inner` is of the closure's and `outer` of the item's.
    pub(crate) fn among<T: Copy>(self, inner: &[Option<T>], outer: Option<T>) -> Option<T> {
        match self {
            Self::Outer => outer,
            Self::Inner(at) => inner[at],
        }
    }
}

/// All the ways into an expression through calls at its beginning.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    /// Expressions that read bytes, each with where it returns to. The first is the expression
    /// itself.
    pub(crate) entries: Vec<(ExprId, FrameRef)>,
    /// The callers that wait: what remains of each, and where that returns to.
    pub(crate) frames: Vec<Vec<(ExprId, FrameRef)>>,
    /// The rule that each frame waits for.
    pub(crate) rules: Vec<RuleId>,
    /// Special tokens that may come next, what remains after them, and where that returns to.
    pub(crate) tokens: Vec<(TokenName, ExprId, FrameRef)>,
}

/// Callers by the rank and the rule that they call. In a grammar with marks those in tail position
/// keep what the frame remembers that they hand on, apart from other callers.
type Waiting = BTreeMap<(u32, RuleId, Option<FrameRef>), Vec<(ExprId, FrameRef)>>;

impl Residuals {
    /// The calls that `id` may begin with, each with what remains after it.
    pub(crate) fn calls(&mut self, id: ExprId) -> Arc<[(Callee, ExprId)]> {
        if let Some(calls) = &self.known(id).calls {
            return calls.clone();
        }
        let mut found = Vec::new();
        if self.exprs.has_calls(id) {
            self.find_calls(id, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        let calls: Arc<[_]> = found.into();
        self.known(id).calls = Some(calls.clone());
        calls
    }

    /// The calls of `id`, if they were found before.
    pub(crate) fn known_calls(&self, id: ExprId) -> Option<&Arc<[(Callee, ExprId)]>> {
        self.known.get(id.0 as usize)?.calls.as_ref()
    }

    fn find_calls(&mut self, id: ExprId, found: &mut Vec<(Callee, ExprId)>) {
        let empty = self.exprs.empty();
        match self.exprs.get(id) {
            Expr::Call(rule) => found.push((Callee::Rule(rule), empty)),
            Expr::Token(name) => found.push((Callee::Token(name), empty)),
            Expr::Seq(..) => {
                let mut at = id;
                loop {
                    let (first, rest) = match self.exprs.get(at) {
                        Expr::Seq(first, rest) => (first, Some(rest)),
                        _ => (at, None),
                    };
                    for &(callee, after) in self.calls(first).iter() {
                        let after = self.exprs.seq2(after, rest.unwrap_or(empty));
                        found.push((callee, after));
                    }
                    match rest {
                        Some(rest) if self.exprs.is_nullable(first) => at = rest,
                        _ => break,
                    }
                }
            }
            Expr::Choice(list) => {
                for member in self.exprs.list(list).to_vec() {
                    found.extend(self.calls(member).iter());
                }
            }
            Expr::Repeat { body, min, max } => {
                let less = if max == UNBOUNDED { max } else { max - 1 };
                let again = self.exprs.repeat(body, min.saturating_sub(1), less);
                for &(callee, after) in self.calls(body).iter() {
                    let after = self.exprs.seq2(after, again);
                    found.push((callee, after));
                }
            }
            // The normalisation refuses calls inside an intersection, and names call nothing
            // before their quote.
            Expr::And(_)
            | Expr::Not(_)
            | Expr::Names { .. }
            | Expr::OtherName(_)
            | Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Number { .. } => {}
        }
    }

    /// The closure of `id`, if it was found before.
    pub(crate) fn known_closure(&self, id: ExprId) -> Option<&Arc<Closure>> {
        self.known.get(id.0 as usize)?.closure.as_ref()
    }

    /// All ways into `id`. Callers of one rule share its frame, since a rule is entered only when
    /// all its callers, which rank before it, are known.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn closure(&mut self, id: ExprId) -> Result<Arc<Closure>, Error> {
        if let Some(closure) = &self.known(id).closure {
            return Ok(closure.clone());
        }
        let empty = self.exprs.empty();
        let mut closure = Closure::default();
        closure.entries.push((id, FrameRef::Outer));
        let mut waiting: Waiting = BTreeMap::new();
        let mut next = Some((id, FrameRef::Outer));
        while let Some((expr, frame)) = next {
            for &(callee, rest) in self.calls(expr).iter() {
                match callee {
                    Callee::Token(name) => closure.tokens.push((name, rest, frame)),
                    Callee::Rule(rule) => {
                        let rank = self.rules().rank(rule);
                        let is_tail = rest == empty;
                        match frame {
                            // A call in tail position hands its own callers on.
                            FrameRef::Inner(inner)
                                if is_tail && self.mark(closure.rules[inner]).is_none() =>
                            {
                                let callers = waiting.entry((rank, rule, None)).or_default();
                                callers.extend(closure.frames[inner].iter().copied());
                            }
                            _ => {
                                let kept = Some(frame).filter(|_| is_tail && self.has_marks());
                                let callers = waiting.entry((rank, rule, kept)).or_default();
                                callers.push((rest, frame));
                            }
                        }
                    }
                }
            }
            next = None;
            if let Some(((_, rule, _), mut callers)) = waiting.pop_first() {
                callers.sort_unstable();
                callers.dedup();
                let body = self.body(rule)?;
                let frame = match callers[..] {
                    [(rest, frame)] if rest == empty && self.mark(rule).is_none() => frame,
                    _ => {
                        closure.frames.push(callers);
                        closure.rules.push(rule);
                        FrameRef::Inner(closure.frames.len() - 1)
                    }
                };
                closure.entries.push((body, frame));
                if closure.entries.len() > self.limits.items {
                    return Err(Error::limit("items", self.limits.items));
                }
                next = Some((body, frame));
            }
        }
        let closure = Arc::new(closure);
        self.known(id).closure = Some(closure.clone());
        Ok(closure)
    }
}
