//! Masks in Python's memory: rows of 32-bit words, written in place.

use std::cell::Cell;

use pyo3::{
    buffer::PyBuffer,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};
use stencilm::Allowed;

/// A mask whose rows are written in place.
pub(crate) struct MaskBuffer<'py> {
    object: Bound<'py, PyAny>,
    words: usize,
}

impl<'py> MaskBuffer<'py> {
    /// Any writable buffer of `int32`, or an object with a `numpy()` view of one (a CPU tensor of
    /// torch), with rows of at least `words` words.
    pub(crate) fn new(object: &Bound<'py, PyAny>, words: usize) -> Self {
        Self { object: object.clone(), words }
    }

    /// Writes one row.
    pub(crate) fn write(&self, row: usize, allowed: &Allowed) -> PyResult<()> {
        self.with_row(row, |cells| {
            let (set, padding) = cells.split_at(self.words);
            match allowed.base() {
                Some(base) => {
                    for (cell, &word) in set.iter().zip(base) {
                        cell.set(word.cast_signed());
                    }
                }
                None => set.iter().for_each(|cell| cell.set(0)),
            }
            padding.iter().for_each(|cell| cell.set(0));
            for token in allowed.singles() {
                let cell = &set[token as usize / 32];
                cell.set(cell.get() | (1u32 << (token % 32)).cast_signed());
            }
        })
    }

    /// Copies one row.
    pub(crate) fn copy(&self, row: usize, words: &[u32]) -> PyResult<()> {
        self.with_row(row, |cells| {
            for (cell, &word) in cells.iter().zip(words) {
                cell.set(word.cast_signed());
            }
            cells[words.len()..].iter().for_each(|cell| cell.set(0));
        })
    }

    fn with_row(&self, row: usize, write: impl FnOnce(&[Cell<i32>])) -> PyResult<()> {
        let py = self.object.py();
        let buffer = match PyBuffer::<i32>::get(&self.object) {
            Ok(buffer) => buffer,
            Err(error) => {
                let Ok(view) = self.object.call_method0("numpy") else {
                    let got = self.object.get_type().name()?;
                    let message = format!(
                        "a mask is a writable buffer of int32, or a CPU tensor; got {got}: {error}"
                    );
                    return Err(PyTypeError::new_err(message));
                };
                PyBuffer::<i32>::get(&view)?
            }
        };
        let (rows, width) = match buffer.shape() {
            [width] => (1, *width),
            [rows, width] => (*rows, *width),
            shape => {
                let message = format!("a mask has one or two dimensions, not {}", shape.len());
                return Err(PyValueError::new_err(message));
            }
        };
        if row >= rows {
            let message = format!("row {row} of a mask with {rows} rows");
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        if width < self.words {
            let message =
                format!("rows of {width} words, but the vocabulary needs {}", self.words);
            return Err(PyValueError::new_err(message));
        }
        if let Some(cells) = buffer.as_mut_slice(py) {
            write(&cells[row * width..(row + 1) * width]);
            return Ok(());
        }
        if buffer.readonly() {
            return Err(PyValueError::new_err("the mask is read-only"));
        }
        // Rows of a wider or strided array: one row alone may lie together.
        if buffer.shape().len() == 2 {
            let view = self.object.get_item(row)?;
            return MaskBuffer { object: view, words: self.words }.with_row(0, write);
        }
        Err(PyValueError::new_err("the words of a row must lie next to each other"))
    }
}
