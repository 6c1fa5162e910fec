//! The texts of a set of numbers.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::options::Numbers;
use crate::frontend::json_schema::shape::NumberShape;
use crate::grammar::{ExprId, Exprs, UNBOUNDED};
use crate::limits::Limits;
use crate::number::{Decimal, NumberSet, Point};

/// The set of a shape without a list of values; `None` if no number is in it.
///
/// # Errors
/// The divisors, or bounds beside them, have more digits than the limit.
pub(crate) fn number_set(
    shape: &NumberShape,
    numbers: Numbers,
    limits: &Limits,
) -> Result<Option<NumberSet>, Error> {
    let are_integers = shape.are_integers();
    let mut definition = shape.definition(numbers == Numbers::Any || !are_integers);
    if numbers == Numbers::Digits && are_integers && definition.point == Point::Maybe {
        definition.point = Point::Never;
    }
    NumberSet::new(&definition, limits.number_digits)
}

/// The texts of a shape.
///
/// # Errors
/// As [`number_set`].
pub(crate) fn number(
    exprs: &mut Exprs,
    shape: &NumberShape,
    numbers: Numbers,
    limits: &Limits,
) -> Result<ExprId, Error> {
    if let Some(values) = &shape.values {
        if numbers != Numbers::Any || shape.point == Point::Never {
            return Ok(listed(exprs, values, shape.point, numbers, limits));
        }
        return Ok(match NumberSet::listed(values, shape.point) {
            Some(set) => exprs.number(&Arc::new(set)),
            None => exprs.nothing(),
        });
    }
    Ok(match number_set(shape, numbers, limits)? {
        Some(set) => exprs.number(&Arc::new(set)),
        None => exprs.nothing(),
    })
}

/// Each value by its shortest plain text with any number of zeros behind, and as `json.dumps`
/// writes a float of this value.
fn listed(
    exprs: &mut Exprs,
    values: &[Decimal],
    point: Point,
    numbers: Numbers,
    limits: &Limits,
) -> ExprId {
    let is_short = |value: &&Decimal| value.plain_len() <= limits.number_digits as u64;
    let (whole, fraction): (Vec<&Decimal>, Vec<&Decimal>) =
        values.iter().filter(is_short).partition(|value| value.is_integer());
    let mut whole: Vec<String> = whole.into_iter().map(Decimal::plain).collect();
    if whole.iter().any(|text| text == "0") {
        whole.push("-0".to_owned());
    }
    let fraction: Vec<String> = fraction.into_iter().map(Decimal::plain).collect();
    let is_float = |value: &&Decimal| {
        // `repr` has an exponent from 1e16 on and below 1e-4.
        !value.is_zero() && !(-3..=16).contains(&value.exponent())
    };
    let floats: Vec<String> = values.iter().filter(is_float).map(Decimal::scientific).collect();
    let whole = exprs.one_of(whole.iter().map(String::as_bytes));
    let zero = exprs.bytes(b"0");
    let dot = exprs.bytes(b".");
    let some = exprs.repeat(zero, 1, UNBOUNDED);
    let zeros = exprs.seq(&[dot, some]);
    let behind = match point {
        Point::Maybe if numbers != Numbers::Digits => exprs.optional(zeros),
        Point::Maybe | Point::Never => exprs.empty(),
        Point::Always => zeros,
    };
    let whole = exprs.seq(&[whole, behind]);
    if point == Point::Never {
        return whole;
    }
    let fraction = exprs.one_of(fraction.iter().map(String::as_bytes));
    let zeros = exprs.repeat(zero, 0, UNBOUNDED);
    let fraction = exprs.seq(&[fraction, zeros]);
    let floats = exprs.one_of(floats.iter().map(String::as_bytes));
    exprs.choice(&[whole, fraction, floats])
}
