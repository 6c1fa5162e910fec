//! Strings and member names of a shape as expressions.

use crate::error::Error;
use crate::frontend::json_schema::object_table::spelled;
use crate::frontend::json_schema::reach::{Compiled, NameClass};
use crate::frontend::json_schema::shape::{ANY, PatternId, StringShape, TextId};
use crate::grammar::{CharSet, ExprId, Exprs, Spelling, UNBOUNDED};
use crate::limits::Budget;

/// A string with its quotes: listed strings in their canonical spelling, others in every one.
pub(crate) fn string(
    compiled: &Compiled,
    shape: &StringShape,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let inside = content(compiled, shape, Spelling::Json, exprs, budget)?;
    let quote = exprs.bytes(b"\"");
    Ok(exprs.seq(&[quote, inside, quote]))
}

/// A member name of a class that is not one of those listed, without its quotes.
pub(crate) fn other_name(
    compiled: &Compiled,
    class: &NameClass,
    listed: &[Box<[u8]>],
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let name = name(compiled, class, exprs, budget)?;
    let listed = exprs.one_of(listed.iter().map(|name| &**name));
    Ok(exprs.minus(name, listed))
}

/// A member name of a class, without its quotes.
fn name(
    compiled: &Compiled,
    class: &NameClass,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut lists = Vec::with_capacity(class.any_of.len());
    for list in &class.any_of {
        lists.push(all_of(compiled, list, Spelling::JsonCanonical, exprs, budget)?);
    }
    let lists = exprs.choice(&lists);
    if class.names == ANY {
        return Ok(lists);
    }
    let Some(names) = compiled.names_shape(class.names) else {
        return Ok(exprs.nothing());
    };
    let mut allowed = Vec::new();
    for shape in &names.strings {
        allowed.push(content(compiled, shape, Spelling::JsonCanonical, exprs, budget)?);
    }
    let allowed = exprs.choice(&allowed);
    Ok(exprs.and(&[lists, allowed]))
}

/// The inside of a string.
fn content(
    compiled: &Compiled,
    shape: &StringShape,
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    if let Some(values) = &shape.values {
        return Ok(literals(compiled, values, exprs));
    }
    let any = exprs.chars(&CharSet::any(), spelling);
    let length = exprs.repeat(any, shape.min, shape.max);
    let mut parts = Vec::new();
    if !shape.patterns.is_empty() {
        parts.push(all_of(compiled, &shape.patterns, spelling, exprs, budget)?);
    }
    if parts.is_empty() || (shape.min, shape.max) != (0, UNBOUNDED) {
        parts.push(length);
    }
    let mut all = exprs.and(&parts);
    if !shape.except.is_empty() {
        let except: Vec<ExprId> = shape
            .except
            .iter()
            .map(|&text| exprs.text(compiled.texts.get(text), spelling))
            .collect();
        let except = exprs.choice(&except);
        all = exprs.minus(all, except);
    }
    Ok(all)
}

/// The texts that are in all the languages, or outside of those marked `false`.
fn all_of(
    compiled: &Compiled,
    list: &[(PatternId, bool)],
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut parts = Vec::with_capacity(list.len() + 1);
    if list.iter().all(|&(_, is_in)| !is_in) {
        // A complement is one within the legal spellings.
        parts.push(exprs.any_text(spelling));
    }
    for &(pattern, is_in) in list {
        let language = compiled.patterns.expr(pattern, exprs, spelling, budget)?;
        parts.push(if is_in { language } else { exprs.not(language) });
    }
    Ok(exprs.and(&parts))
}

fn literals(compiled: &Compiled, values: &[TextId], exprs: &mut Exprs) -> ExprId {
    let texts: Vec<Box<[u8]>> =
        values.iter().map(|&text| spelled(compiled.texts.get(text))).collect();
    exprs.one_of(texts.iter().map(|text| &**text))
}
