//! Many matchers in one call.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyList};
use stencilm::{Allowed, Error};

use crate::buffers::MaskBuffer;
use crate::convert::guarded_apart;
use crate::matcher::Matcher;
use crate::threads::for_each;

/// Fewer masks or tokens that are not known yet than this are not worth a second thread.
const PARALLEL_FROM: usize = 4;

/// So many bytes of known masks are copied faster by several threads than by one.
const PARALLEL_BYTES: usize = 1 << 20;

/// Writes the masks of many matchers at once: matcher *i* into row `rows[i]`, or *i*. A matcher may
/// be None: its row is left alone.
#[pyfunction]
#[pyo3(signature = (matchers, mask, rows=None))]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn fill_masks(
    py: Python<'_>,
    matchers: &Bound<'_, PyList>,
    mask: &Bound<'_, PyAny>,
    rows: Option<Vec<usize>>,
) -> PyResult<()> {
    let count = matchers.len();
    if let Some(rows) = rows.as_ref().filter(|rows| rows.len() != count) {
        let message = format!("{count} matchers, but {} rows", rows.len());
        return Err(PyValueError::new_err(message));
    }
    let mut batch = Batch::of(matchers)?;
    if batch.members.is_empty() {
        return Ok(());
    }
    let mut known: Vec<Option<Allowed>> = Vec::with_capacity(count);
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(count);
    for (at, matcher) in &mut batch.members {
        known.push(matcher.core.known_allowed());
        let row = rows.as_ref().map_or(*at, |rows| rows[*at]);
        places.push((row, matcher.core.compiled().vocabulary().words()));
    }
    let mut buffer = MaskBuffer::new(mask)?;
    let mut jobs: Vec<FillJob<'_>> = batch
        .cores()
        .zip(known)
        .zip(buffer.rows(&places)?)
        .map(|((matcher, allowed), row)| FillJob { matcher, allowed, row, error: None })
        .collect();
    let late = jobs.iter().filter(|job| job.allowed.is_none()).count();
    let bytes: usize = jobs.iter().map(|job| size_of_val(job.row)).sum();
    if late == 0 && bytes < PARALLEL_BYTES {
        // To give the GIL away and get it back takes longer.
        jobs.iter_mut().for_each(FillJob::run);
        return Ok(());
    }
    let is_worth_it = late >= PARALLEL_FROM || bytes >= PARALLEL_BYTES;
    let done = guarded_apart(py, || {
        for_each(&mut jobs, is_worth_it, FillJob::run);
        jobs.iter_mut().find_map(|job| job.error.take()).map_or(Ok(()), Err)
    });
    batch.checked(done, py)
}

/// Takes a token for each of many matchers: `tokens[i]` for matcher *i*. For each, whether it was
/// taken; a refused one changes nothing. A matcher may be None, which refuses nothing.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn accept_tokens(
    py: Python<'_>,
    matchers: &Bound<'_, PyList>,
    tokens: Vec<i64>,
) -> PyResult<Vec<bool>> {
    let count = matchers.len();
    if tokens.len() != count {
        let message = format!("{count} matchers, but {} tokens", tokens.len());
        return Err(PyValueError::new_err(message));
    }
    let mut batch = Batch::of(matchers)?;
    // All are looked at before any is taken.
    let wanted: Vec<u32> = batch
        .members
        .iter()
        .map(|(at, matcher)| matcher.token(py, tokens[*at]))
        .collect::<PyResult<_>>()?;
    let mut taken = vec![true; count];
    let mut late: Vec<AcceptJob<'_>> = Vec::new();
    for ((at, matcher), &token) in batch.members.iter_mut().zip(&wanted) {
        let matcher = &mut matcher.core;
        match matcher.known_accept(token) {
            Some(is_taken) => taken[*at] = is_taken,
            None => late.push(AcceptJob { at: *at, matcher, token, result: Ok(false) }),
        }
    }
    if late.is_empty() {
        return Ok(taken);
    }
    let is_worth_it = late.len() >= PARALLEL_FROM;
    let done = guarded_apart(py, || {
        for_each(&mut late, is_worth_it, AcceptJob::run);
        for job in &mut late {
            taken[job.at] = std::mem::replace(&mut job.result, Ok(false))?;
        }
        Ok(())
    });
    batch.checked(done, py)?;
    Ok(taken)
}

/// The matchers of a list that are not None, with their places in it.
struct Batch<'py> {
    members: Vec<(usize, PyRefMut<'py, Matcher>)>,
}

impl<'py> Batch<'py> {
    fn of(matchers: &Bound<'py, PyList>) -> PyResult<Self> {
        let mut members: Vec<(usize, PyRefMut<'py, Matcher>)> = Vec::with_capacity(matchers.len());
        for (at, item) in matchers.iter().enumerate() {
            if item.is_none() {
                continue;
            }
            match item.cast::<Matcher>()?.try_borrow_mut() {
                Ok(matcher) => members.push((at, matcher)),
                Err(_) if members.iter().any(|(_, other)| other.as_ptr() == item.as_ptr()) => {
                    return Err(PyValueError::new_err("a matcher is in the list twice"));
                }
                Err(in_use) => return Err(in_use.into()),
            }
        }
        Ok(Self { members })
    }

    fn cores(&mut self) -> impl Iterator<Item = &mut stencilm::Matcher> {
        self.members.iter_mut().map(|(_, matcher)| &mut matcher.core)
    }

    /// Which of them failed is not known: no tables are used on after a panic.
    fn checked(&self, mut result: PyResult<()>, py: Python<'_>) -> PyResult<()> {
        for (_, matcher) in &self.members {
            result = matcher.checked(result, py);
        }
        result
    }
}

/// A mask to be found and written.
struct FillJob<'a> {
    matcher: &'a mut stencilm::Matcher,
    allowed: Option<Allowed>,
    row: &'a mut [u32],
    error: Option<Error>,
}

impl FillJob<'_> {
    fn run(&mut self) {
        match self.allowed.take().map_or_else(|| self.matcher.allowed(), Ok) {
            Ok(allowed) => allowed.write(self.row),
            Err(error) => self.error = Some(error),
        }
    }
}

/// A token to be taken.
struct AcceptJob<'a> {
    at: usize,
    matcher: &'a mut stencilm::Matcher,
    token: u32,
    result: Result<bool, Error>,
}

impl AcceptJob<'_> {
    fn run(&mut self) {
        self.result = self.matcher.accept(self.token);
    }
}
