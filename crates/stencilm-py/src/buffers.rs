//! Masks in Python's memory: rows of 32-bit words, written in place.

#![allow(unsafe_code)] // The only file that may: PyO3 hands out memory of other objects no other way.

use pyo3::{
    buffer::PyBuffer,
    exceptions::{PyIndexError, PyTypeError, PyValueError},
    prelude::*,
};
use stencilm::Allowed;

/// Bytes of a word.
const WORD: isize = 4;

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
        self.with_row(row, |words| {
            let (set, padding) = words.split_at_mut(self.words);
            match allowed.base() {
                Some(base) => set.copy_from_slice(base),
                None => set.fill(0),
            }
            padding.fill(0);
            for token in allowed.removed() {
                set[token as usize / 32] &= !(1 << (token % 32));
            }
            for token in allowed.singles() {
                set[token as usize / 32] |= 1 << (token % 32);
            }
        })
    }

    /// Copies one row.
    pub(crate) fn copy(&self, row: usize, from: &[u32]) -> PyResult<()> {
        self.with_row(row, |words| {
            let (set, padding) = words.split_at_mut(from.len());
            set.copy_from_slice(from);
            padding.fill(0);
        })
    }

    fn with_row(&self, row: usize, write: impl FnOnce(&mut [u32])) -> PyResult<()> {
        let buffer = self.buffer()?;
        let last = buffer.shape().len().wrapping_sub(1);
        let (rows, width, stride) = match (buffer.shape(), buffer.strides()) {
            (&[width], &[_]) => (1, width, 0),
            (&[rows, width], &[stride, _]) => (rows, width, stride),
            (shape, _) => {
                let message = format!("a mask has one or two dimensions, not {}", shape.len());
                return Err(PyValueError::new_err(message));
            }
        };
        if row >= rows {
            let message = format!("row {row} of a mask with {rows} rows");
            return Err(PyIndexError::new_err(message));
        }
        if width < self.words {
            let message = format!("rows of {width} words, but the vocabulary needs {}", self.words);
            return Err(PyValueError::new_err(message));
        }
        let format = buffer.format().to_bytes();
        let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
        if format.first().is_some_and(|&order| order == foreign || order == b'!') {
            return Err(PyValueError::new_err("the words are in the other byte order"));
        }
        if buffer.readonly() {
            return Err(PyValueError::new_err("the mask is read-only"));
        }
        let is_dense = buffer.strides().get(last) == Some(&WORD) && stride % WORD == 0;
        let offset = isize::try_from(row).ok().and_then(|row| row.checked_mul(stride));
        let (Some(offset), true) = (offset, is_dense) else {
            return Err(PyValueError::new_err(
                "the words of a row must lie next to each other, and be aligned",
            ));
        };
        // SAFETY: the exporter vouches for `shape` and `strides` as long as the buffer is held:
        // `row` is below the number of rows, its words lie side by side and are aligned (PyO3
        // checks that when it makes the buffer), and the buffer is writable. Every bit pattern is
        // a word. The GIL is held, so no other call of ours writes to it; a caller that lets
        // another thread write to the same row meanwhile gets what it asked for with any library.
        let words = unsafe {
            let start = buffer.buf_ptr().byte_offset(offset).cast::<u32>();
            std::slice::from_raw_parts_mut(start, width)
        };
        write(words);
        Ok(())
    }

    fn buffer(&self) -> PyResult<PyBuffer<i32>> {
        let error = match PyBuffer::<i32>::get(&self.object) {
            Ok(buffer) => return Ok(buffer),
            Err(error) => error,
        };
        let Ok(view) = self.object.call_method0("numpy") else {
            let got = self.object.get_type().name()?;
            let message = format!(
                "a mask is a writable buffer of int32, or a CPU tensor; got {got}: {error}"
            );
            return Err(PyTypeError::new_err(message));
        };
        PyBuffer::<i32>::get(&view)
    }
}
