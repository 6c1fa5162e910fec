//! Masks in Python's memory: rows of 32-bit words, written in place.

#![allow(unsafe_code)] // The only file that may: PyO3 hands out memory of other objects no other way.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use pyo3::{
    buffer::{Element, PyBuffer, ReadOnlyCell},
    exceptions::{PyIndexError, PyTypeError, PyValueError},
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyCapsule, PyType},
};

/// Bytes of a word.
const WORD: usize = 4;

/// A mask whose rows are written in place; its memory stays where it is as long as this lives.
pub(crate) struct MaskBuffer {
    buffer: PyBuffer<i32>,
    rows: usize,
    width: usize,
    /// Bytes from one row to the next.
    stride: isize,
}

impl MaskBuffer {
    /// Any writable buffer of `int32`, or an object with a `numpy()` view of one (a CPU tensor of
    /// torch).
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = buffer_of(object)?;
        let last = buffer.shape().len().wrapping_sub(1);
        let (rows, width, stride) = match (buffer.shape(), buffer.strides()) {
            (&[width], &[_]) => (1, width, 0),
            (&[rows, width], &[stride, _]) => (rows, width, stride),
            (shape, _) => {
                let message = format!("a mask has one or two dimensions, not {}", shape.len());
                return Err(PyValueError::new_err(message));
            }
        };
        let format = buffer.format().to_bytes();
        let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
        if format.first().is_some_and(|&order| order == foreign || order == b'!') {
            return Err(PyValueError::new_err("the words are in the other byte order"));
        }
        if buffer.readonly() {
            return Err(PyValueError::new_err("the mask is read-only"));
        }
        let is_dense = buffer.strides().get(last) == Some(&WORD.cast_signed())
            && stride.unsigned_abs().is_multiple_of(WORD);
        if !is_dense {
            return Err(PyValueError::new_err(
                "the words of a row must lie next to each other, and be aligned",
            ));
        }
        Ok(Self { buffer, rows, width, stride })
    }

    /// One row of at least `words` words.
    pub(crate) fn row(&mut self, row: usize, words: usize) -> PyResult<&mut [u32]> {
        check_row(row, self.rows, self.width, words)?;
        Ok(self.slice(row))
    }

    /// Rows of at least so many words each, all at once.
    pub(crate) fn rows(&mut self, rows: &[(usize, usize)]) -> PyResult<Vec<&mut [u32]>> {
        let mut all: Vec<usize> = Vec::with_capacity(rows.len());
        for &(row, words) in rows {
            check_row(row, self.rows, self.width, words)?;
            all.push(row);
        }
        all.sort_unstable();
        if let Some([twice, _]) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PyValueError::new_err(format!("row {twice} is given twice")));
        }
        if all.len() > 1 && self.stride.unsigned_abs() < self.width * WORD {
            return Err(PyValueError::new_err("the rows of the mask lie upon each other"));
        }
        Ok(rows
            .iter()
            .map(|&(row, _)| {
                let slice: *mut [u32] = self.slice(row);
                // SAFETY: the rows are distinct and no shorter apart than they are long, so no two
                // of these overlap, and all of them borrow `self`.
                unsafe { &mut *slice }
            })
            .collect())
    }

    fn slice(&mut self, row: usize) -> &mut [u32] {
        let offset = row.cast_signed() * self.stride;
        // SAFETY: the exporter vouches for `shape` and `strides` as long as the buffer is held:
        // `row` is below the number of rows, its words lie side by side and are aligned (PyO3
        // checks that when it makes the buffer), and the buffer is writable. Every bit pattern is
        // a word. A caller that lets another thread write to the same row meanwhile gets what it
        // asked for with any library.
        unsafe {
            let start = self.buffer.buf_ptr().byte_offset(offset).cast::<u32>();
            std::slice::from_raw_parts_mut(start, self.width)
        }
    }
}

/// Writes one row of at least `words` words of a mask.
pub(crate) fn write_row(
    object: &Bound<'_, PyAny>,
    row: usize,
    words: usize,
    write: impl FnOnce(&mut [u32]),
) -> PyResult<()> {
    if let Some((rows, width, start)) = tensor_memory(object) {
        check_row(row, rows, width, words)?;
        // SAFETY: the tensor vouches for its shape and its address. The GIL is held and `write` runs
        // no Python, so nobody gives the memory back meanwhile; else as for a buffer.
        let words =
            unsafe { std::slice::from_raw_parts_mut(start.as_ptr().add(row * width), width) };
        write(words);
        return Ok(());
    }
    write(MaskBuffer::new(object)?.row(row, words)?);
    Ok(())
}

/// The numbers of a buffer, if they lie side by side.
pub(crate) fn numbers<'a, T: Element>(
    _py: Python<'a>,
    buffer: &'a PyBuffer<T>,
) -> Option<&'a [ReadOnlyCell<T>]> {
    let numbers = buffer.as_slice_ptr()?;
    // SAFETY: the exporter vouches for its memory as long as the buffer is held, PyO3 checked that
    // it is aligned, and cells may be written through other references meanwhile.
    Some(unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) })
}

/// The same to be written; none if the buffer is read-only.
pub(crate) fn written_numbers<'a, T: Element>(
    _py: Python<'a>,
    buffer: &'a PyBuffer<T>,
) -> Option<&'a [Cell<T>]> {
    let numbers = buffer.as_slice_ptr().filter(|_| !buffer.readonly())?;
    // SAFETY: as in `numbers`, and the memory is writable.
    Some(unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) })
}

fn check_row(row: usize, rows: usize, width: usize, words: usize) -> PyResult<()> {
    if row >= rows {
        let message = format!("row {row} of a mask with {rows} rows");
        return Err(PyIndexError::new_err(message));
    }
    if width < words {
        let message = format!("rows of {width} words, but the vocabulary needs {words}");
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

fn buffer_of(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<i32>> {
    let error = match PyBuffer::<i32>::get(object) {
        Ok(buffer) => return Ok(buffer),
        Err(error) => error,
    };
    let Ok(view) = object.call_method0(intern!(object.py(), "numpy")) else {
        let got = object.get_type().name()?;
        let message =
            format!("a mask is a writable buffer of int32, or a CPU tensor; got {got}: {error}");
        return Err(PyTypeError::new_err(message));
    };
    learn_tensors(object);
    PyBuffer::<i32>::get(&view)
}

/// Name of the attribute of a class, and of the capsule in it, by which `DLPack` exchanges tensors
/// without a call of Python.
const EXCHANGE: &str = "__dlpack_c_exchange_api__";
const CAPSULE: &CStr = c"dlpack_exchange_api";

/// `kDLCPU` and `kDLInt`.
const ON_CPU: i32 = 1;
const SIGNED: u8 = 0;

/// `DLTensor`.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLPackExchangeAPI`, as far as it is used here.
#[repr(C)]
struct DlExchange {
    major: u32,
    minor: u32,
    previous: *const c_void,
    functions: [*const c_void; 3],
    tensor_from_object: Option<unsafe extern "C" fn(*mut c_void, *mut DlTensor) -> c_int>,
}

/// The class of tensors, once one came, and how they are read.
struct Tensors {
    class: Py<PyType>,
    exchange: NonNull<DlExchange>,
}

// SAFETY: what DLPack points to never changes and lives as long as the process.
unsafe impl Send for Tensors {}
unsafe impl Sync for Tensors {}

static TENSORS: PyOnceLock<Tensors> = PyOnceLock::new();

/// Takes note of how tensors of torch are read, if this is one and they say so. What other libraries
/// exchange in this way may not be for writing, which it does not tell.
fn learn_tensors(object: &Bound<'_, PyAny>) {
    let class = object.get_type();
    if !class.fully_qualified_name().is_ok_and(|name| name == "torch.Tensor") {
        return;
    }
    let pointer = class.getattr(EXCHANGE).ok().and_then(|capsule| {
        capsule.cast_into::<PyCapsule>().ok()?.pointer_checked(Some(CAPSULE)).ok()
    });
    let Some(exchange) = pointer.map(NonNull::cast::<DlExchange>) else { return };
    // SAFETY: the capsule has the name under which DLPack promises this struct, whose first two
    // fields say which version it has; the others exist since 1.3.
    let is_known = unsafe {
        let exchange = exchange.as_ref();
        exchange.major == 1 && exchange.minor >= 3 && exchange.tensor_from_object.is_some()
    };
    if is_known {
        let _ = TENSORS.set(object.py(), Tensors { class: class.unbind(), exchange });
    }
}

/// Rows, words in each and the first word of a tensor of 32-bit words that lie side by side on the
/// CPU, if it is of a class that was learnt. Takes a tenth of the time that `numpy()` takes.
fn tensor_memory(object: &Bound<'_, PyAny>) -> Option<(usize, usize, NonNull<u32>)> {
    let tensors = TENSORS.get(object.py())?;
    if !object.get_type().is(&tensors.class) {
        return None;
    }
    let mut tensor = MaybeUninit::<DlTensor>::uninit();
    // SAFETY: the object is of the class that the functions are for, and the GIL is held. They fill
    // the struct if they give 0; shape and strides are the tensor's own, which is alive.
    let (tensor, shape, strides) = unsafe {
        let read = tensors.exchange.as_ref().tensor_from_object?;
        if read(object.as_ptr().cast(), tensor.as_mut_ptr()) != 0 {
            drop(PyErr::take(object.py()));
            return None;
        }
        let tensor = tensor.assume_init();
        let axes = usize::try_from(tensor.dimensions).ok().filter(|axes| (1..=2).contains(axes))?;
        if tensor.shape.is_null() || tensor.strides.is_null() {
            return None;
        }
        let shape = std::slice::from_raw_parts(tensor.shape, axes);
        let strides = std::slice::from_raw_parts(tensor.strides, axes);
        (tensor, shape, strides)
    };
    let is_fit = tensor.device == ON_CPU
        && (tensor.code, tensor.bits, tensor.lanes) == (SIGNED, 32, 1)
        && tensor.byte_offset == 0;
    let (rows, width) = match (shape, strides) {
        (&[width], &[1]) => (1, width),
        (&[rows, width], &[stride, 1]) if stride == width => (rows, width),
        _ => return None,
    };
    let start = NonNull::new(tensor.data.cast::<u32>()).filter(|start| start.is_aligned())?;
    let (rows, width) = (usize::try_from(rows).ok()?, usize::try_from(width).ok()?);
    is_fit.then_some((rows, width, start))
}
