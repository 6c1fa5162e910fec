//! Values of Python as JSON text, without spaces.
//!
//! Reading a schema begins here, and for large ones the standard library's encoder took a third of
//! the time to the first mask.

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::iter::{BoundDictIterator, BoundListIterator, BoundTupleIterator};
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Values inside each other; the standard library's encoder says what is wrong with more.
const MOST_NESTED: usize = 100_000;

/// How often it is looked whether a value is inside of itself.
const CHECKED: usize = 64;

/// A value whose parts are being written.
struct Open<'py> {
    value: Bound<'py, PyAny>,
    parts: Parts<'py>,
}

enum Parts<'py> {
    Dict(BoundDictIterator<'py>),
    List(BoundListIterator<'py>),
    Tuple(BoundTupleIterator<'py>),
}

/// A value as `json.dumps(value, ensure_ascii=False, separators=(",", ":"))` writes it; None where
/// it is not made of plain `dict`, `list`, `tuple`, `str`, `int`, `float`, `bool` and `None`, with
/// strings for keys.
#[pyfunction]
pub(crate) fn json_text(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let mut out = String::with_capacity(1_024);
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value.clone());
    loop {
        if let Some(value) = next.take() {
            let parts = if let Ok(dict) = value.cast_exact::<PyDict>() {
                Parts::Dict(dict.iter())
            } else if let Ok(list) = value.cast_exact::<PyList>() {
                Parts::List(list.iter())
            } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
                Parts::Tuple(tuple.iter())
            } else if write_scalar(&value, &mut out)? {
                if open.is_empty() {
                    return Ok(Some(out));
                }
                continue;
            } else {
                return Ok(None);
            };
            let is_inside_itself = open.len() % CHECKED == CHECKED - 1
                && open.iter().any(|outer| outer.value.is(&value));
            if is_inside_itself || open.len() == MOST_NESTED {
                return Ok(None);
            }
            out.push(if matches!(parts, Parts::Dict(_)) { '{' } else { '[' });
            open.push(Open { value, parts });
        }
        let Some(innermost) = open.last_mut() else { return Ok(Some(out)) };
        next = match &mut innermost.parts {
            Parts::Dict(members) => match members.next() {
                Some((name, value)) => {
                    let Ok(name) = name.cast_exact::<PyString>() else { return Ok(None) };
                    let Ok(name) = name.to_str() else { return Ok(None) };
                    separate(&mut out);
                    write_string(name, &mut out);
                    out.push(':');
                    Some(value)
                }
                None => None,
            },
            Parts::List(items) => items.next().inspect(|_| separate(&mut out)),
            Parts::Tuple(items) => items.next().inspect(|_| separate(&mut out)),
        };
        if next.is_none() {
            out.push(if matches!(innermost.parts, Parts::Dict(_)) { '}' } else { ']' });
            open.pop();
            if open.is_empty() {
                return Ok(Some(out));
            }
        }
    }
}

/// Writes a value that has no parts; false where it is none of those that are written here.
fn write_scalar(value: &Bound<'_, PyAny>, out: &mut String) -> PyResult<bool> {
    if let Ok(string) = value.cast_exact::<PyString>() {
        let Ok(string) = string.to_str() else { return Ok(false) };
        write_string(string, out);
    } else if let Ok(value) = value.cast_exact::<PyBool>() {
        out.push_str(if value.is_true() { "true" } else { "false" });
    } else if value.is_none() {
        out.push_str("null");
    } else if value.is_exact_instance_of::<PyInt>()
        || value.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_finite())
    {
        let Ok(digits) = value.repr() else { return Ok(false) };
        out.push_str(digits.to_str()?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// A comma, unless something has only just begun. No value ends like that.
fn separate(out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
}

fn write_string(string: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in string.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&string[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            _ => write!(out, "\\u{byte:04x}").expect("a string takes it"),
        }
    }
    out.push_str(&string[plain..]);
    out.push('"');
}
