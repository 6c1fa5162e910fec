//! The rules of arrays.

use crate::error::Error;
use crate::frontend::json_schema::array_states::{ItemStep, ItemsAt, Repeat};
use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::rules::{Machine, Rule};
use crate::frontend::json_schema::shape::{ArrayShape, ShapeId};
use crate::frontend::json_schema::text_exprs;
use crate::grammar::{Depends, ExprId, Exprs, UNBOUNDED};
use crate::interner::index;

/// Leading items that one rule writes out.
const ITEMS_A_RULE: usize = 32;

impl Machine {
    /// The rest of an array after `count` items, with its closing bracket.
    pub(crate) fn items(
        &mut self,
        id: ShapeId,
        alternative: usize,
        count: usize,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let shape = self.schemas.shape(id).clone();
        let array = &shape.arrays[alternative];
        let space = self.schemas.options.whitespace.clone();
        let inside = space.inside(depth);
        let lead = space.lead(exprs);
        let close = exprs.bytes(b"]");
        let last = array.prefix.len().min(count + ITEMS_A_RULE);
        let mut rest = if last < array.prefix.len() {
            let rule = Rule::Items {
                shape: id,
                alternative: index(alternative),
                count: index(last),
                depth,
            };
            let rule = self.rule(rule)?;
            exprs.call(rule)
        } else {
            self.more_items(array, last, depth, exprs)?
        };
        for at in (count..last).rev() {
            let item = self.value(array.prefix[at], inside, exprs)?;
            let more = exprs.seq2(item, rest);
            let close = (at >= array.min as usize).then_some(b"]");
            rest = self.close_or_more(at == 0, close, more, depth, exprs);
        }
        if count == 0 && array.prefix.is_empty() {
            // `rest` is what follows a first item.
            let item = self.value(array.items, inside, exprs)?;
            let item = if array.max == 0 { exprs.nothing() } else { item };
            let begin = space.begin(exprs, depth);
            let first = exprs.seq(&[begin, item, rest]);
            let empty = if array.min == 0 { close } else { exprs.nothing() };
            let either = exprs.choice(&[empty, first]);
            return Ok(exprs.seq(&[lead, either]));
        }
        Ok(rest)
    }

    /// The rest of an array of which more than its length counts, from an item on, or from its
    /// beginning.
    pub(crate) fn next_item(
        &mut self,
        array: u32,
        at: ItemsAt,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let table = self.schemas.reach.array_tables[array as usize].clone();
        let inside = self.schemas.options.whitespace.inside(depth);
        let mut more = Vec::new();
        for ItemStep { value, next, is_new } in self.schemas.item_steps(&table, at)? {
            let mut rest = |machine: &mut Self, is_new| {
                let rule = machine.rule(Rule::AfterItem { array, at: next, depth, is_new })?;
                Ok::<_, Error>(exprs.call(rule))
            };
            let Some(id) = self.schemas.live_shape(value)? else { continue };
            let new = rest(self, is_new)?;
            if !(is_new && table.is_unique()) {
                let value = self.value_of(id, inside, exprs)?;
                more.push(exprs.seq(&[value, new]));
                continue;
            }
            let plain = rest(self, false)?;
            let mut shape = (**self.schemas.shape(id)).clone();
            // Names and strings in quotes are remembered as such, others as values.
            let is_json = self.schemas.options.notation == Notation::Json;
            let strings = if is_json { std::mem::take(&mut shape.strings) } else { Vec::new() };
            if !strings.is_empty() {
                let mut budget = self.schemas.budget.clone();
                let spelling = self.schemas.options.escapes.listed();
                let text =
                    text_exprs::strings(&self.schemas, &strings, spelling, exprs, &mut budget)?;
                let (quote, text) = (exprs.bytes(b"\""), exprs.other_name(text));
                more.push(exprs.seq(&[quote, text, plain]));
            }
            if !shape.is_never() {
                let id = self.schemas.intern(shape);
                let value = self.value_of(id, inside, exprs)?;
                more.push(exprs.seq(&[value, new]));
            }
        }
        let more = exprs.choice(&more);
        if at.is_first {
            let close = self.schemas.may_end(&table, at).then_some(b"]");
            return Ok(self.close_or_more(true, close, more, depth, exprs));
        }
        let space = self.schemas.options.whitespace.after_comma(exprs, depth);
        Ok(exprs.seq2(space, more))
    }

    /// The same after an item.
    pub(crate) fn after_item(
        &mut self,
        array: u32,
        at: ItemsAt,
        depth: u32,
        is_new: bool,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let table = self.schemas.reach.array_tables[array as usize].clone();
        let mut more = exprs.nothing();
        if self.schemas.may_go_on(&table, at)? {
            let next = self.next_items(array, at, depth, is_new, exprs)?;
            let comma = self.schemas.options.whitespace.until_comma(exprs);
            more = exprs.seq2(comma, next);
        }
        let close = self.schemas.may_end(&table, at).then_some(b"]");
        Ok(self.close_or(false, close, more, depth, exprs))
    }

    /// A call of the rest of an array from an item on; where items must differ, or be equal, one that
    /// knows where it stands.
    pub(crate) fn next_items(
        &mut self,
        array: u32,
        at: ItemsAt,
        depth: u32,
        is_new: bool,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let rule = self.rule(Rule::NextItem { array, at, depth, is_new })?;
        let is_unique = self.schemas.reach.array_tables[array as usize].is_unique();
        Ok(match (is_new, at.repeat) {
            (_, Repeat::No) if !is_unique => exprs.call(rule),
            (true, Repeat::No) if self.schemas.options.notation == Notation::Json => {
                exprs.next_item(rule, Depends::OnOthers)
            }
            (true, _) => exprs.next_item(rule, Depends::OnAll),
            (false, _) => exprs.next_item(rule, Depends::OnNone),
        })
    }

    /// What follows the leading items (or the first item, if there are none): items of the same
    /// shape, as many as are missing and may come, and the end.
    fn more_items(
        &mut self,
        array: &ArrayShape,
        count: usize,
        depth: u32,
        exprs: &mut Exprs,
    ) -> Result<ExprId, Error> {
        let space = self.schemas.options.whitespace.clone();
        let so_far = index(count.max(1));
        let lead = space.lead(exprs);
        let mut more = exprs.empty();
        if array.max > so_far {
            let item = self.value(array.items, space.inside(depth), exprs)?;
            let comma = space.comma(exprs, depth);
            let item = exprs.seq(&[lead, comma, item]);
            let max = if array.max == UNBOUNDED { UNBOUNDED } else { array.max - so_far };
            more = exprs.repeat(item, array.min.saturating_sub(so_far), max);
        }
        let end = space.end(exprs, depth);
        let close = exprs.bytes(b"]");
        Ok(exprs.seq(&[more, lead, end, close]))
    }
}
