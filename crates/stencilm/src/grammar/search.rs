//! Texts in which others do not occur.

use crate::grammar::arena::Exprs;
use crate::grammar::expr::{ExprId, Spelling};

impl Exprs {
    /// The texts of `id`, spelled as text, that have none of the `marks` inside.
    ///
    /// ```
    /// use stencilm::grammar::{Exprs, Spelling};
    ///
    /// let mut exprs = Exprs::default();
    /// let any = exprs.any_text(Spelling::Text);
    /// let line = exprs.without(any, [&b"\n"[..]]);
    /// assert_ne!(line, any);
    /// assert_eq!(exprs.without(any, []), any);
    /// ```
    pub fn without<'a>(&mut self, id: ExprId, marks: impl IntoIterator<Item = &'a [u8]>) -> ExprId {
        let marks = self.one_of(marks);
        if marks == self.nothing() {
            return id;
        }
        let any = self.any_text(Spelling::Text);
        let inside = self.seq(&[any, marks, any]);
        self.minus(id, inside)
    }

    /// The texts of `id`, spelled as text, that do not end in any of these.
    pub fn not_ending_in<'a>(
        &mut self,
        id: ExprId,
        ends: impl IntoIterator<Item = &'a [u8]>,
    ) -> ExprId {
        let ends = self.one_of(ends);
        if ends == self.nothing() {
            return id;
        }
        let any = self.any_text(Spelling::Text);
        let ended = self.seq2(any, ends);
        self.minus(id, ended)
    }
}
