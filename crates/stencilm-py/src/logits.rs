//! Masks read and applied to logits, where calls of `NumPy` would be felt beside a small model.

use std::cell::Cell;

use pyo3::{
    buffer::{Element, PyBuffer, ReadOnlyCell},
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::buffers::{numbers, written_numbers};

/// Tokens of a word.
const BITS: usize = 32;

/// Writes `refused`, the bits of minus infinity, over the logits of the tokens that `mask` does not
/// have; it has none beyond its end. The logits are viewed as unsigned integers of their width.
#[pyfunction]
pub(crate) fn write_refused(
    py: Python<'_>,
    logits: &Bound<'_, PyAny>,
    mask: &Bound<'_, PyAny>,
    refused: u64,
) -> PyResult<()> {
    let mask = PyBuffer::<i32>::get(mask)?;
    let words = numbers(py, &mask).ok_or_else(scattered)?;
    if let Ok(logits) = PyBuffer::<u32>::get(logits) {
        return write(py, &logits, words, u32::try_from(refused)?);
    }
    if let Ok(logits) = PyBuffer::<u16>::get(logits) {
        return write(py, &logits, words, u16::try_from(refused)?);
    }
    if let Ok(logits) = PyBuffer::<u64>::get(logits) {
        return write(py, &logits, words, refused);
    }
    Err(PyTypeError::new_err("the logits are not unsigned integers of 16, 32 or 64 bits"))
}

/// The first `most` tokens of a row of a mask: fewer if it has no more.
#[pyfunction]
pub(crate) fn first_allowed(
    py: Python<'_>,
    mask: &Bound<'_, PyAny>,
    most: usize,
) -> PyResult<Vec<usize>> {
    let mask = PyBuffer::<i32>::get(mask)?;
    let words = numbers(py, &mask).ok_or_else(scattered)?;
    let tokens = words.iter().enumerate().flat_map(|(at, word)| {
        let word = word.get();
        (0..if word == 0 { 0 } else { BITS })
            .filter(move |bit| word >> bit & 1 != 0)
            .map(move |bit| at * BITS + bit)
    });
    Ok(tokens.take(most).collect())
}

fn write<T: Element>(
    py: Python<'_>,
    logits: &PyBuffer<T>,
    words: &[ReadOnlyCell<i32>],
    refused: T,
) -> PyResult<()> {
    let logits = written_numbers(py, logits).ok_or_else(scattered)?;
    let (known, beyond) = logits.split_at(logits.len().min(words.len() * BITS));
    let (chunks, rest) = known.as_chunks::<BITS>();
    for (chunk, word) in chunks.iter().zip(words) {
        match word.get() {
            -1 => {}
            0 => fill(chunk, refused),
            word => keep(chunk, word, refused),
        }
    }
    if let Some(word) = words.get(chunks.len()) {
        keep(rest, word.get(), refused);
    }
    fill(beyond, refused);
    Ok(())
}

#[inline]
fn fill<T: Copy>(logits: &[Cell<T>], refused: T) {
    for logit in logits {
        logit.set(refused);
    }
}

#[inline]
fn keep<T: Copy>(logits: &[Cell<T>], word: i32, refused: T) {
    for (bit, logit) in logits.iter().enumerate() {
        // Written whether kept or not: a branch for each token would be mispredicted.
        logit.set(if word >> bit & 1 == 0 { refused } else { logit.get() });
    }
}

fn scattered() -> PyErr {
    PyValueError::new_err("the numbers must lie next to each other, and the logits be writable")
}
