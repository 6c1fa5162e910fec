//! Sparse matrices of expressions, and systems of equations over them.
//!
//! The entry in row `i` and column `j` is the set of texts that lead from situation `i` to
//! situation `j`; what is not there is nothing.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::grammar::{ExprId, UNBOUNDED};

/// A row by column.
pub(crate) type Row = BTreeMap<usize, ExprId>;

/// The rows.
pub(crate) type Matrix = Vec<Row>;

fn identity(algebra: &Algebra, size: usize) -> Matrix {
    (0..size).map(|place| Row::from([(place, algebra.exprs.empty())])).collect()
}

pub(crate) fn product(algebra: &mut Algebra, a: &Matrix, b: &Matrix) -> Result<Matrix, Error> {
    let mut rows = Vec::with_capacity(a.len());
    for row in a {
        let mut sums: BTreeMap<usize, Vec<ExprId>> = BTreeMap::new();
        for (&middle, &first) in row {
            for (&column, &second) in &b[middle] {
                let both = algebra.then(first, second);
                sums.entry(column).or_default().push(both);
                algebra.check()?;
            }
        }
        rows.push(sums.into_iter().map(|(at, texts)| (at, algebra.union(&texts))).collect());
    }
    Ok(rows)
}

fn sum(algebra: &mut Algebra, a: Matrix, b: Matrix) -> Matrix {
    a.into_iter().zip(b).map(|(a, b)| sum_of_rows(algebra, &[a, b])).collect()
}

pub(crate) fn sum_of_rows(algebra: &mut Algebra, rows: &[Row]) -> Row {
    let mut sums: BTreeMap<usize, Vec<ExprId>> = BTreeMap::new();
    for (&column, &texts) in rows.iter().flatten() {
        sums.entry(column).or_default().push(texts);
    }
    sums.into_iter().map(|(at, texts)| (at, algebra.union(&texts))).collect()
}

/// `matrix` between `min` and `max` times, by squaring.
pub(crate) fn repeat(
    algebra: &mut Algebra,
    matrix: &Matrix,
    min: u32,
    max: u32,
) -> Result<Matrix, Error> {
    let start = power(algebra, matrix, min)?;
    let one = identity(algebra, matrix.len());
    let more = if max == UNBOUNDED {
        solve(algebra, matrix.clone(), one)?
    } else {
        let at_most_once = sum(algebra, one, matrix.clone());
        power(algebra, &at_most_once, max - min)?
    };
    product(algebra, &start, &more)
}

pub(crate) fn power(
    algebra: &mut Algebra,
    matrix: &Matrix,
    exponent: u32,
) -> Result<Matrix, Error> {
    let mut result = identity(algebra, matrix.len());
    let (mut square, mut left) = (matrix.clone(), exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = product(algebra, &result, &square)?;
        }
        left >>= 1;
        if left > 0 {
            square = product(algebra, &square, &square)?;
        }
    }
    Ok(result)
}

/// The least `X` with `X = steps·X + ends`: Gaussian elimination, with Arden's rule
/// (`x = ax + b` has the least solution `a*b`) in place of division.
pub(crate) fn solve(
    algebra: &mut Algebra,
    mut steps: Matrix,
    mut ends: Matrix,
) -> Result<Matrix, Error> {
    let size = steps.len();
    for place in 0..size {
        if let Some(again) = steps[place].remove(&place) {
            let star = algebra.exprs.repeat(again, 0, UNBOUNDED);
            for texts in steps[place].values_mut().chain(ends[place].values_mut()) {
                *texts = algebra.then(star, *texts);
            }
        }
        for later in place + 1..size {
            if let Some(first) = steps[later].remove(&place) {
                substitute(algebra, &mut steps, first, place, later)?;
                substitute(algebra, &mut ends, first, place, later)?;
            }
        }
        algebra.check()?;
    }
    for place in (0..size).rev() {
        for (later, first) in std::mem::take(&mut steps[place]) {
            substitute(algebra, &mut ends, first, later, place)?;
        }
    }
    Ok(ends)
}

/// Adds `first` times row `from` to row `to`.
fn substitute(
    algebra: &mut Algebra,
    matrix: &mut Matrix,
    first: ExprId,
    from: usize,
    to: usize,
) -> Result<(), Error> {
    for (column, texts) in matrix[from].clone() {
        let texts = algebra.then(first, texts);
        let sum = match matrix[to].get(&column) {
            Some(&there) => algebra.union(&[there, texts]),
            None => texts,
        };
        matrix[to].insert(column, sum);
        algebra.check()?;
    }
    Ok(())
}
