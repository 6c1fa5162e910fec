//! Texts without marks: however such a text begins, it may go on for as long as one likes with a character
//! that no mark has.

use crate::grammar::{CharSet, Expr, ExprId, Spelling, UNBOUNDED};
use crate::residual::Residuals;

/// Parts of expressions looked at.
const FUEL: u32 = 200;

/// Bytes of marks looked at.
const MOST_BYTES: usize = 1_000;

impl Residuals {
    /// How many characters may be missing, whatever came before, to a text of characters of `class` that all
    /// of `others` allow; from there on there are such texts of every length. None if it is not plain to see.
    ///
    /// Each of `others` is a star of characters, or refuses texts with marks in them. Some character is in
    /// all stars and in no mark. It completes no refused text, since where any text may stand none may, too:
    /// what it is added to would have been refused before, however it went on. If a text is refused only with
    /// any text behind it, what remains of another one is never refused as it is.
    pub(super) fn missing_beside(&self, others: &[ExprId], class: &CharSet) -> Option<u32> {
        let (mut fuel, mut left) = (FUEL, class.clone());
        let mut missing = 0;
        for &other in others {
            if let Some(star) = self.text_star(other) {
                left = left.intersection(star);
                continue;
            }
            let Expr::Not(body) = self.exprs.get(other) else { return None };
            let spine = self.exprs.spine(body);
            if !spine.iter().all(|&part| self.take_out(part, &mut left, &mut fuel)) {
                return None;
            }
            if !spine.last().is_some_and(|&last| self.is_any_star(last)) {
                missing = 1;
            }
        }
        (!left.is_empty()).then_some(missing)
    }

    /// Takes the characters of the marks in `id` out of `left`; false if there is anything else than marks
    /// and any texts.
    fn take_out(&self, id: ExprId, left: &mut CharSet, fuel: &mut u32) -> bool {
        let Some(less) = fuel.checked_sub(1) else { return false };
        *fuel = less;
        let mut without = |bytes: &[u8]| {
            let is_short = bytes.len() <= MOST_BYTES;
            if is_short {
                *left = left.difference(&CharSet::of(String::from_utf8_lossy(bytes).chars()));
            }
            is_short
        };
        match self.exprs.get(id) {
            Expr::Empty => true,
            Expr::Bytes { literal, .. } => without(self.exprs.literal(literal)),
            Expr::OneOf { literals, low, high, spelling: Spelling::Text, .. } => {
                let run = &self.exprs.literal_ids(literals)[low as usize..high as usize];
                let length: usize = run.iter().map(|&it| self.exprs.literal(it).len()).sum();
                length <= MOST_BYTES && run.iter().all(|&it| without(self.exprs.literal(it)))
            }
            Expr::Seq(first, rest) => {
                self.take_out(first, left, fuel) && self.take_out(rest, left, fuel)
            }
            Expr::Choice(list) => {
                self.exprs.list(list).iter().all(|&member| self.take_out(member, left, fuel))
            }
            _ => self.is_any_star(id),
        }
    }

    /// The class of an endless star of characters as they are.
    fn text_star(&self, id: ExprId) -> Option<&CharSet> {
        let Expr::Repeat { body, min: 0, max: UNBOUNDED } = self.exprs.get(id) else {
            return None;
        };
        match self.exprs.get(body) {
            Expr::Chars { class, spelling: Spelling::Text } => Some(self.exprs.class(class)),
            _ => None,
        }
    }

    fn is_any_star(&self, id: ExprId) -> bool {
        self.text_star(id).is_some_and(|star| star == &**self.exprs.class(self.exprs.any))
    }
}
