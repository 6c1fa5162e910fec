//! Member names: which of an object's go on with a byte.

use crate::error::Error;
use crate::grammar::{CharSet, Depends, Expr, ExprId, LiteralsId, Spelling};
use crate::residual::Residuals;
use crate::residual::partition::PartitionId;
use crate::residual::runs::{CharRun, is_inside_character, may_be_raw};

/// A state inside a member name; the fields of [`Expr::Names`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameRun {
    pub(crate) state: u32,
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) depth: u32,
    pub(crate) other: bool,
}

impl Residuals {
    /// The fields of a member name.
    pub(crate) fn name_run(&self, id: ExprId) -> Option<NameRun> {
        match self.exprs.get(id) {
            Expr::Names { state, low, high, depth, other } => {
                Some(NameRun { state, low, high, depth, other })
            }
            _ => None,
        }
    }

    /// The sorted names of the object that `state` belongs to.
    pub(crate) fn names_of(&mut self, state: u32) -> LiteralsId {
        let object = self.rules.object_of(state);
        if let Some(&names) = self.names.get(&object) {
            return names;
        }
        let rules = self.rules.clone();
        let names = rules.names(object, &mut self.exprs);
        self.names.insert(object, names);
        names
    }

    pub(super) fn partition_of_names(&mut self, id: ExprId) -> Result<PartitionId, Error> {
        let run = self.name_run(id).expect("the caller matched a member name");
        let names = self.names_of(run.state);
        let spelling = self.name_spelling;
        let next = self.next_spelled_bytes(names, (run.low, run.high), run.depth, spelling);
        let declared = self.partitions.by_label(|byte| next.contains(byte).then_some(byte));
        let quote = self.partitions.single(b'"');
        let mut whole = self.partitions.product(declared, quote);
        if run.other {
            let text = self.other_text(names, run)?;
            let part = self.partition(text)?;
            whole = self.partitions.product(whole, part);
        }
        Ok(whole)
    }

    pub(super) fn derive_names(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        let run = self.name_run(id).expect("the caller matched a member name");
        let names = self.names_of(run.state);
        let spelling = self.name_spelling;
        if byte == b'"' && (spelling.is_free() || !self.is_escaped(names, run)) {
            return self.after_closing_quote(names, run);
        }
        if byte == b'\\' && spelling.is_free() {
            return self.escaped_names(names, run);
        }
        let is_raw = !spelling.is_free() || may_be_raw(byte, spelling);
        let (low, high) = if is_raw {
            self.run_with(names, run.low, run.high, run.depth, byte)
        } else {
            (run.low, run.low)
        };
        let depth = run.depth + 1;
        if run.other && low == high {
            let text = self.other_text(names, run)?;
            let text = self.step(text, byte)?;
            let name = self.exprs.other_name(text);
            return self.followed_by_other(run.state, name);
        }
        self.part_of_run(names, NameRun { low, high, depth, ..run })
    }

    /// A part of a run further on, as far as its names may come.
    fn part_of_run(&mut self, names: LiteralsId, part: NameRun) -> Result<ExprId, Error> {
        let NameRun { state, low, high, depth, other } = part;
        if other {
            return Ok(self.exprs.names(state, low, high, depth, true));
        }
        let rules = self.rules.clone();
        let Some(first) = rules.next_name(state, low, high)? else {
            return Ok(self.exprs.nothing());
        };
        if rules.next_name(state, first + 1, high)?.is_some() {
            return Ok(self.exprs.names(state, low, high, depth, false));
        }
        self.rest_of_name(names, state, first, depth)
    }

    /// After the backslash of an escape: one way for each character that names have next, and one
    /// for all others.
    fn escaped_names(&mut self, names: LiteralsId, run: NameRun) -> Result<ExprId, Error> {
        let spelling = self.name_spelling;
        let runs = self.char_runs(names, (run.low, run.high), run.depth);
        let mut ways = Vec::with_capacity(runs.len() + 1);
        for &CharRun { c, low, high, depth } in &runs {
            let rest = self.part_of_run(names, NameRun { low, high, depth, ..run })?;
            let escape = self.escaped(&CharSet::of([c]), spelling);
            ways.push(self.exprs.seq2(escape, rest));
        }
        if run.other && self.is_between_characters(names, run) {
            let others = CharSet::of(runs.iter().map(|run| run.c)).negate();
            let escape = self.escaped(&others, spelling);
            let more = self.exprs.any_text(spelling);
            let text = self.exprs.seq2(escape, more);
            let name = self.exprs.other_name(text);
            ways.push(self.followed_by_other(run.state, name)?);
        }
        Ok(self.exprs.choice(&ways))
    }

    /// Whether the names of a run, which are texts, agree on whole characters.
    fn is_between_characters(&self, names: LiteralsId, run: NameRun) -> bool {
        let first = self.exprs.literal_ids(names).get(run.low as usize);
        let next = first.and_then(|&id| self.exprs.literal(id).get(run.depth as usize));
        run.low == run.high || next.is_none_or(|&byte| !is_inside_character(byte))
    }

    /// Whether the names of a run stand behind a backslash that escapes what follows.
    fn is_escaped(&self, names: LiteralsId, run: NameRun) -> bool {
        let Some(&literal) = self.exprs.literal_ids(names).get(run.low as usize) else {
            return false;
        };
        let read = &self.exprs.literal(literal)[..run.depth as usize];
        read.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
    }

    /// A name from byte `depth` on, its closing quote and what follows.
    fn rest_of_name(
        &mut self,
        names: LiteralsId,
        state: u32,
        name: u32,
        depth: u32,
    ) -> Result<ExprId, Error> {
        let rules = self.rules.clone();
        let literal = self.exprs.literal_ids(names)[name as usize];
        let rest = self.exprs.literal_from(literal, depth, self.name_spelling);
        let quote = self.exprs.bytes(b"\"");
        let after = rules.after_name(state, name, &mut self.exprs)?;
        Ok(self.exprs.seq(&[rest, quote, after]))
    }

    fn after_closing_quote(&mut self, names: LiteralsId, run: NameRun) -> Result<ExprId, Error> {
        let rules = self.rules.clone();
        let first = self.exprs.literal_ids(names).get(run.low as usize).copied();
        let is_declared = run.low < run.high
            && first.is_some_and(|id| self.exprs.literal(id).len() == run.depth as usize);
        if is_declared {
            // A declared name that may not come here is no other name either.
            return match rules.next_name(run.state, run.low, run.low + 1)? {
                Some(name) => rules.after_name(run.state, name, &mut self.exprs),
                None => Ok(self.exprs.nothing()),
            };
        }
        if run.other {
            let text = self.other_text(names, run)?;
            if self.exprs.is_nullable(text) {
                return rules.after_other_name(run.state, &mut self.exprs);
            }
        }
        Ok(self.exprs.nothing())
    }

    /// What may still come in a name that goes on after the bytes that the run agrees on.
    fn other_text(&mut self, names: LiteralsId, run: NameRun) -> Result<ExprId, Error> {
        let mut text = self.exprs.any_text(self.name_spelling);
        let mut from = 0;
        if self.name_spelling.is_free() {
            if self.is_between_characters(names, run) {
                return Ok(text);
            }
            // The bytes of whole characters are behind us.
            let literal = self.exprs.literal_ids(names)[run.low as usize];
            let read = &self.exprs.literal(literal)[..run.depth as usize];
            from = read.iter().rposition(|&byte| !is_inside_character(byte)).unwrap_or(0);
        }
        if run.depth > 0 {
            let literal = self.exprs.literal_ids(names)[run.low as usize];
            for at in from..run.depth as usize {
                let byte = self.exprs.literal(literal)[at];
                text = self.step(text, byte)?;
            }
        }
        Ok(text)
    }

    fn followed_by_other(&mut self, state: u32, name: ExprId) -> Result<ExprId, Error> {
        if name == self.exprs.nothing() {
            return Ok(name);
        }
        let rules = self.rules.clone();
        let after = rules.after_other_name(state, &mut self.exprs)?;
        Ok(self.exprs.seq2(name, after))
    }

    /// Whether the closing quote, which may come next in this name, ends one that its object does
    /// not list.
    pub(crate) fn ends_other_name(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::OtherName(text) => self.exprs.is_nullable(text),
            Expr::Names { state, low, high, depth, other } => {
                let names = self.names.get(&self.rules.object_of(state));
                let first =
                    names.and_then(|&names| self.exprs.literal_ids(names).get(low as usize));
                let is_listed = low < high
                    && first.is_some_and(|&id| self.exprs.literal(id).len() == depth as usize);
                other && !is_listed
            }
            Expr::Seq(first, _) => self.ends_other_name(first),
            Expr::Choice(list) => {
                self.exprs.list(list).iter().any(|&member| self.ends_other_name(member))
            }
            _ => false,
        }
    }

    /// What `id`, the rest of an array from an item on, stands for after an item.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn after_item(&mut self, id: ExprId, item: &[u8]) -> Result<ExprId, Error> {
        match self.exprs.get(id) {
            Expr::Call(rule) if self.exprs.depends_on_item(id, item) => {
                let rule = self.rules.after_item(rule, item)?;
                Ok(self.exprs.next_item(rule, Depends::OnNone))
            }
            _ => Ok(id),
        }
    }

    /// Any name in this place, and what follows one outside the list, as an expression without
    /// [`Expr::Names`].
    pub(crate) fn any_names(&mut self, run: NameRun) -> Result<ExprId, Error> {
        let names = self.names_of(run.state);
        let text = self.other_text(names, run)?;
        let quote = self.exprs.bytes(b"\"");
        let name = self.exprs.seq2(text, quote);
        self.followed_by_other(run.state, name)
    }

    /// The names outside the list alone, as an expression without [`Expr::Names`].
    pub(crate) fn other_names(&mut self, run: NameRun) -> Result<ExprId, Error> {
        let names = self.names_of(run.state);
        let text = self.other_text(names, run)?;
        let spelling =
            if self.name_spelling.is_free() { self.name_spelling } else { Spelling::Text };
        let declared = self.exprs.one_of_run(names, (run.low, run.high), run.depth, spelling);
        let text = self.exprs.minus(text, declared);
        let quote = self.exprs.bytes(b"\"");
        let name = self.exprs.seq2(text, quote);
        self.followed_by_other(run.state, name)
    }
}
