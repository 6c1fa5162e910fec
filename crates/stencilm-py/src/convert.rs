//! Errors, limits and panics: where Rust's meet Python's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use stencilm::{Budget, Error, ErrorKind, Location};

/// Runs a call into the core; a panic, which is our bug, becomes `InternalError`.
pub(crate) fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raised(py, &error)),
        Err(panic) => Err(internal_error(py, &*panic)),
    }
}

/// The same with the GIL released.
pub(crate) fn guarded_apart<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raised(py, &error)),
        Err(panic) => Err(internal_error(py, &*panic)),
    }
}

/// The Python exception for an error of the core.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    let name = match error.kind() {
        ErrorKind::Syntax { .. } => "GrammarSyntaxError",
        ErrorKind::Unsupported { .. } => "UnsupportedError",
        ErrorKind::Unsatisfiable { .. } => "UnsatisfiableError",
        ErrorKind::LimitReached { .. } | ErrorKind::TimeIsUp { .. } => "LimitError",
        ErrorKind::Cancelled => "Cancelled",
        ErrorKind::Vocabulary { .. } => "VocabularyError",
        _ => "InternalError",
    };
    let is_about_grammar =
        matches!(name, "GrammarSyntaxError" | "UnsupportedError" | "UnsatisfiableError");
    let made = exception(py, name).and_then(|class| {
        if !is_about_grammar {
            return class.call1((message.clone(),));
        }
        match error.location() {
            Location::Offset(byte) => class.call1((message.clone(), *byte)),
            Location::Pointer(pointer) => class.call1((message.clone(), pointer.as_str())),
            Location::Whole => class.call1((message.clone(), "")),
        }
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

/// `VocabularyError` with this message.
pub(crate) fn vocabulary_error(py: Python<'_>, message: String) -> PyErr {
    match exception(py, "VocabularyError").and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

fn internal_error(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let message = format!("a bug in stencilm, please report it: {text}");
    match exception(py, "InternalError").and_then(|class| class.call1((message.clone(),))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(_) => PyRuntimeError::new_err(message),
    }
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("stencilm._exceptions")?.getattr(name)
}

/// Stops a compilation from another thread.
#[pyclass(frozen, module = "stencilm")]
pub(crate) struct Cancel(pub(crate) stencilm::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self(stencilm::Cancel::new())
    }

    /// Makes the work that was given this end with `Cancelled`.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether `cancel` was called.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Upper bounds for one grammar; see `stencilm.Limits`.
#[pyclass(frozen, module = "stencilm")]
pub(crate) struct Limits(pub(crate) stencilm::Limits);

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, nesting, source_bytes, rules, expressions, repeat, items, captures, alternatives,
                        number_digits, search, mask_work, grammar_bytes, compile_time, rollback))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        nesting: usize,
        source_bytes: usize,
        rules: usize,
        expressions: usize,
        repeat: usize,
        items: usize,
        captures: usize,
        alternatives: usize,
        number_digits: usize,
        search: usize,
        mask_work: usize,
        grammar_bytes: usize,
        compile_time: f64,
        rollback: usize,
    ) -> PyResult<Self> {
        let compile_time = Duration::try_from_secs_f64(compile_time)
            .map_err(|error| vocabulary_error(py, format!("compile_time: {error}")))?;
        Ok(Self(stencilm::Limits {
            nesting,
            source_bytes,
            rules,
            expressions,
            repeat,
            items,
            captures,
            alternatives,
            number_digits,
            search,
            mask_work,
            grammar_bytes,
            compile_time,
            rollback,
        }))
    }
}

/// A budget under these limits, or the usual ones.
pub(crate) fn budget(limits: Option<&Limits>, cancel: Option<&Cancel>) -> Budget {
    let limits = limits.map_or_else(stencilm::Limits::default, |limits| limits.0);
    let cancel = cancel.map_or_else(stencilm::Cancel::new, |cancel| cancel.0.clone());
    Budget::new(limits, cancel)
}
