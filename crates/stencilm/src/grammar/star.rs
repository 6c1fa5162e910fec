//! Repetitions: their normal forms, and what is syntactically inside one.

use crate::grammar::arena::Exprs;
use crate::grammar::char_set::CharSet;
use crate::grammar::expr::{Expr, ExprId, Spelling, UNBOUNDED};

/// How many parts a test for being inside a star looks at before it says "not known".
const FUEL: u32 = 200;

impl Exprs {
    /// `body` between `min` and `max` times; `max` [`UNBOUNDED`] for no bound.
    ///
    /// Normal forms: `(uv)* = (u|v)*` where both may be empty; inner stars and empty
    /// alternatives under a star dissolve; `(x{a,b}){m,n} = x{ma,nb}` where the counts leave no
    /// gap.
    pub fn repeat(&mut self, body: ExprId, min: u32, max: u32) -> ExprId {
        let (nothing, empty) = (self.nothing(), self.empty());
        if body == nothing {
            return if min == 0 { empty } else { nothing };
        }
        if max < min {
            return nothing;
        }
        if max == 0 || body == empty {
            return empty;
        }
        let min = if self.is_nullable(body) { 0 } else { min };
        if (min, max) == (1, 1) || (max == 1 && self.is_nullable(body)) {
            return body;
        }
        if max == 1 {
            return self.optional(body);
        }
        if max == UNBOUNDED && min <= 1 {
            let simpler = self.body_of_star(body);
            if simpler == empty {
                return empty;
            }
            if simpler != body {
                // With `min` 1 the body may have become one that is not empty.
                let min = if self.is_nullable(body) { 0 } else { min };
                return self.repeat(simpler, min, max);
            }
        }
        if let Expr::Repeat { body: inner, min: a, max: b } = self.get(body)
            && let Some((min, max)) = nested_counts((a, b), (min, max))
        {
            return self.repeat(inner, min, max);
        }
        self.intern(Expr::Repeat { body, min, max })
    }

    /// The simplest `y` with `y* = body*`.
    fn body_of_star(&mut self, body: ExprId) -> ExprId {
        let empty = self.empty();
        match self.get(body) {
            Expr::Repeat { body: inner, min: 0 | 1, max: _ } => self.body_of_star(inner),
            Expr::Seq(..) if self.is_nullable(body) => {
                // The whole sequence at once: it may be longer than the stack is deep.
                let parts = self.spine(body);
                let any = self.choice(&parts);
                self.body_of_star(any)
            }
            Expr::Choice(list) => {
                let members = self.list(list).to_vec();
                let mut simpler: Vec<ExprId> = Vec::with_capacity(members.len());
                for &member in &members {
                    if member == empty {
                        continue;
                    }
                    simpler.push(match self.get(member) {
                        Expr::Repeat { min: 0 | 1, .. } => self.body_of_star(member),
                        Expr::Seq(..) if self.is_nullable(member) => self.body_of_star(member),
                        _ => member,
                    });
                }
                if simpler == members {
                    return body;
                }
                let union = self.choice(&simpler);
                if union == body { body } else { self.body_of_star(union) }
            }
            _ => body,
        }
    }

    /// One repetition for two neighbours with the same body.
    pub(crate) fn join_repeats(&mut self, first: ExprId, second: ExprId) -> Option<ExprId> {
        let (a, b) = (self.counted(first), self.counted(second));
        let ((body, min, max), (_, more_min, more_max)) = if a.0 == b.0 {
            (a, b)
        } else if a.0 == second {
            (a, (second, 1, 1))
        } else if b.0 == first {
            ((first, 1, 1), b)
        } else {
            return None;
        };
        // Two equal parts that are no repetition stay two: `aa` is shorter than `a{2}`.
        if first == second && !matches!(self.get(first), Expr::Repeat { .. }) {
            return None;
        }
        let min = min.checked_add(more_min).filter(|&min| min < UNBOUNDED)?;
        let max = match (max, more_max) {
            (UNBOUNDED, _) | (_, UNBOUNDED) => UNBOUNDED,
            _ => max.checked_add(more_max).filter(|&max| max < UNBOUNDED)?,
        };
        Some(self.repeat(body, min, max))
    }

    fn counted(&self, id: ExprId) -> (ExprId, u32, u32) {
        match self.get(id) {
            Expr::Repeat { body, min, max } => (body, min, max),
            _ => (id, 1, 1),
        }
    }

    /// Alternatives that are repetitions of one body, without a gap between their counts, become
    /// one; the empty text joins them.
    pub(crate) fn unite_repeats(&mut self, members: &mut Vec<ExprId>) {
        let empty = self.empty();
        if !members.iter().any(|&id| matches!(self.get(id), Expr::Repeat { .. })) {
            return;
        }
        let has_empty = members.contains(&empty);
        let mut counted: Vec<(ExprId, u32, u32)> =
            members.iter().filter(|&&id| id != empty).map(|&id| self.counted(id)).collect();
        let before = counted.len();
        counted.sort_unstable();
        let mut united: Vec<(ExprId, u32, u32)> = Vec::with_capacity(counted.len());
        for (body, min, max) in counted {
            match united.last_mut() {
                Some(last) if last.0 == body && u64::from(min) <= u64::from(last.2) + 1 => {
                    last.2 = last.2.max(max);
                }
                _ => united.push((body, min, max)),
            }
        }
        let mut changed = united.len() < before;
        let mut keeps_empty = has_empty;
        if has_empty {
            for part in &mut united {
                let is_repeat = part.1 != 1 || part.2 != 1;
                if part.1 == 1 && is_repeat {
                    (part.1, keeps_empty, changed) = (0, false, true);
                }
            }
        }
        if changed {
            members.clear();
            for (body, min, max) in united {
                let id = self.repeat(body, min, max);
                members.push(id);
            }
            if keeps_empty {
                members.push(empty);
            }
            members.sort_unstable();
            members.dedup();
        }
    }

    /// Drops alternatives that lie inside a star beside them.
    pub(crate) fn absorb_into_stars(&self, members: &mut Vec<ExprId>) {
        let stars: Vec<ExprId> = members
            .iter()
            .copied()
            .filter(|&id| matches!(self.get(id), Expr::Repeat { min: 0, max: UNBOUNDED, .. }))
            .collect();
        for star in stars {
            members.retain(|&id| id == star || !self.is_inside_star(id, star));
        }
    }

    /// Whether every text of `id` is one of `star`, as far as the shape tells: "no" may be wrong.
    #[must_use]
    pub fn is_inside_star(&self, id: ExprId, star: ExprId) -> bool {
        let Expr::Repeat { body, min: 0, max: UNBOUNDED } = self.get(star) else {
            return false;
        };
        self.is_inside(id, body, &mut FUEL.clone())
    }

    fn is_inside(&self, id: ExprId, body: ExprId, fuel: &mut u32) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        if id == body || id == self.empty() {
            return true;
        }
        if let Expr::Choice(list) = self.get(body)
            && self.list(list).contains(&id)
        {
            return true;
        }
        match self.get(id) {
            Expr::Choice(list) => {
                self.list(list).iter().all(|&member| self.is_inside(member, body, fuel))
            }
            Expr::And(list) => {
                self.list(list).iter().any(|&member| self.is_inside(member, body, fuel))
            }
            Expr::Repeat { body: inner, .. } => self.is_inside(inner, body, fuel),
            Expr::Seq(first, rest) => {
                if let Some(after) = self.after_prefix(id, body)
                    && self.is_inside(after, body, fuel)
                {
                    return true;
                }
                self.is_inside(first, body, fuel) && self.is_inside(rest, body, fuel)
            }
            Expr::Chars { class, spelling } => self
                .class_inside(body, spelling)
                .is_some_and(|outer| self.class(class).is_subset(outer)),
            Expr::Bytes { literal, from } => {
                let rest = &self.literal(literal)[from as usize..];
                [Spelling::Text, Spelling::Json].iter().any(|&spelling| {
                    self.class_inside(body, spelling)
                        .is_some_and(|class| is_raw_text_of(rest, class, spelling))
                })
            }
            _ => false,
        }
    }

    /// What follows in a sequence after the parts of the sequence `body`, if it begins with them.
    fn after_prefix(&self, id: ExprId, body: ExprId) -> Option<ExprId> {
        let (mut at, mut prefix) = (id, body);
        loop {
            match (self.get(at), self.get(prefix)) {
                (Expr::Seq(a, rest), Expr::Seq(b, more)) if a == b => (at, prefix) = (rest, more),
                (Expr::Seq(a, rest), _) if a == prefix => return Some(rest),
                _ if at == prefix => return Some(self.empty()),
                _ => return None,
            }
        }
    }

    /// The class in this spelling that is `body` or one of its alternatives.
    fn class_inside(&self, body: ExprId, spelling: Spelling) -> Option<&CharSet> {
        let of = |id: ExprId| match self.get(id) {
            Expr::Chars { class, spelling: s } if s == spelling => Some(&**self.class(class)),
            _ => None,
        };
        match self.get(body) {
            Expr::Choice(list) => self.list(list).iter().find_map(|&member| of(member)),
            _ => of(body),
        }
    }

    /// Meets conjuncts in place; true if nothing can match.
    pub(crate) fn merge_conjuncts(&mut self, members: &mut Vec<ExprId>) -> bool {
        let empty = self.empty();
        if members.len() < 2 {
            return false;
        }
        if members.contains(&empty) {
            let all = members.iter().all(|&id| self.is_nullable(id));
            *members = vec![empty];
            return !all;
        }
        let contradicts = |exprs: &Self, id: ExprId| match exprs.get(id) {
            Expr::Not(inner) => members.binary_search(&inner).is_ok(),
            _ => false,
        };
        if members.iter().any(|&id| contradicts(self, id)) {
            return true;
        }
        let refused: Vec<ExprId> = members
            .iter()
            .filter_map(|&id| match self.get(id) {
                Expr::Not(inner) => Some(inner),
                _ => None,
            })
            .collect();
        if refused.iter().any(|&star| members.iter().any(|&id| self.is_inside_star(id, star))) {
            return true;
        }
        let mut at = 0;
        while at < members.len() {
            let mut other = at + 1;
            while other < members.len() {
                if let Some(met) = self.meet_repeats(members[at], members[other]) {
                    if met == self.nothing() {
                        return true;
                    }
                    members[at] = met;
                    members.remove(other);
                    other = at + 1;
                } else {
                    other += 1;
                }
            }
            at += 1;
        }
        let stars: Vec<ExprId> = members
            .iter()
            .copied()
            .filter(|&id| matches!(self.get(id), Expr::Repeat { min: 0, max: UNBOUNDED, .. }))
            .collect();
        for star in stars {
            let covers = |exprs: &Self, id: ExprId| id != star && exprs.is_inside_star(id, star);
            if members.iter().any(|&id| covers(self, id)) {
                members.retain(|&id| id != star);
            }
        }
        members.sort_unstable();
        members.dedup();
        false
    }

    /// Two counted classes of characters at once: one counted class.
    fn meet_repeats(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let (Expr::Repeat { .. } | Expr::Chars { .. }, Expr::Repeat { .. } | Expr::Chars { .. }) =
            (self.get(a), self.get(b))
        else {
            return None;
        };
        let (a, b) = (self.counted(a), self.counted(b));
        let (min, max) = (a.1.max(b.1), a.2.min(b.2));
        if a.0 == b.0 && matches!(self.get(a.0), Expr::Chars { .. }) {
            return Some(self.repeat(a.0, min, max));
        }
        match (self.get(a.0), self.get(b.0)) {
            (Expr::Chars { class: one, spelling }, Expr::Chars { class: two, spelling: other })
                if spelling == other =>
            {
                let class = self.class(one).intersection(self.class(two));
                let body = self.chars(&class, spelling);
                Some(self.repeat(body, min, max))
            }
            _ => None,
        }
    }
}

/// The counts of `(x{a,b}){m,n}` if they leave no gap.
fn nested_counts((a, b): (u32, u32), (m, n): (u32, u32)) -> Option<(u32, u32)> {
    let times = |x: u32, y: u32| match (x, y) {
        (0, _) | (_, 0) => Some(0),
        (UNBOUNDED, _) | (_, UNBOUNDED) => Some(UNBOUNDED),
        _ => x.checked_mul(y).filter(|&product| product < UNBOUNDED),
    };
    let width = if b == UNBOUNDED { u64::from(UNBOUNDED) } else { u64::from(b - a) };
    let no_gap = m == n || u64::from(a) <= u64::from(m).saturating_mul(width).saturating_add(1);
    // From zero times to once there is a gap unless one is enough.
    if !no_gap || (m == 0 && a > 1) {
        return None;
    }
    Some((times(a, m)?, times(b, n)?))
}

/// Whether `bytes` are whole characters of `class` that stand for themselves.
fn is_raw_text_of(bytes: &[u8], class: &CharSet, spelling: Spelling) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let is_raw = |c: char| spelling == Spelling::Text || (c >= ' ' && c != '"' && c != '\\');
    text.chars().all(|c| is_raw(c) && class.contains(c))
}
