//! `Store`, `CompiledGrammar`, `Matcher` and masks for many matchers at once.

use std::sync::Arc;

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use stencilm::StoreUse;

use crate::buffers::{MaskBuffer, write_row};
use crate::convert::{Limits, guarded, guarded_apart};
use crate::grammar::Grammar;
use crate::vocabulary::Vocabulary;

/// What all grammars of one vocabulary share.
#[pyclass(frozen, module = "stencilm")]
pub(crate) struct Store(Arc<stencilm::Store>);

#[pymethods]
impl Store {
    /// An empty store that holds at most `limit` bytes.
    #[new]
    fn new(limit: usize) -> Self {
        Self(Arc::new(stencilm::Store::new(limit)))
    }

    /// `(entries, bytes, hits, misses, generations, evictions)`.
    fn usage(&self) -> (usize, usize, u64, u64, u64, u64) {
        let StoreUse { entries, bytes, hits, misses, generations, evictions } = self.0.usage();
        (entries, bytes, hits, misses, generations, evictions)
    }
}

/// A grammar compiled with a vocabulary.
#[pyclass(frozen, module = "stencilm")]
pub(crate) struct CompiledGrammar {
    core: Arc<stencilm::CompiledGrammar>,
    vocabulary: Py<Vocabulary>,
    /// What explanations need: the `stencilm.Grammar` and the `stencilm.Limits`, or None.
    source: Py<PyAny>,
    limits: Py<PyAny>,
}

/// A grammar as Python knows it, and the limits it was compiled with: for explanations.
type Source = (Option<Py<PyAny>>, Option<Py<PyAny>>);

#[pymethods]
impl CompiledGrammar {
    #[new]
    #[pyo3(signature = (grammar, vocabulary, store, limits=None, source=None))]
    fn new(
        py: Python<'_>,
        grammar: &Grammar,
        vocabulary: &Bound<'_, Vocabulary>,
        store: &Store,
        limits: Option<&Limits>,
        source: Option<Source>,
    ) -> PyResult<Self> {
        let limits = limits.map_or_else(stencilm::Limits::default, |limits| limits.0);
        let (tokens, store) = (vocabulary.get().0.clone(), store.0.clone());
        let made =
            guarded(py, || stencilm::CompiledGrammar::new(&grammar.0, tokens, store, limits))?;
        let (source, source_limits) = source.unwrap_or_default();
        let or_none = |object: Option<Py<PyAny>>| object.unwrap_or_else(|| py.None());
        Ok(Self {
            core: Arc::new(made),
            vocabulary: vocabulary.clone().unbind(),
            source: or_none(source),
            limits: or_none(source_limits),
        })
    }

    /// A matcher at the beginning of a text.
    fn matcher(slf: &Bound<'_, Self>) -> Matcher {
        let core = stencilm::Matcher::new(slf.get().core.clone());
        Matcher { core, compiled: slf.clone().unbind() }
    }

    /// The vocabulary that it was compiled for.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Py<Vocabulary> {
        self.vocabulary.clone_ref(py)
    }

    /// Bytes of its own tables.
    #[getter]
    fn memory(&self) -> usize {
        self.core.size_in_bytes()
    }

    /// What its tables hold: local results, those of them that other grammars had left in the store,
    /// masks of states with one live alternative, and with several.
    fn learnt(&self, py: Python<'_>) -> (usize, usize, usize, usize) {
        let learnt = py.detach(|| self.core.learnt());
        (learnt.locals, learnt.adopted, learnt.views, learnt.unions)
    }

    /// How often its tables were begun anew, the first time included.
    #[getter]
    fn generations(&self) -> u64 {
        self.core.generations()
    }
}

/// What one call of a rule with `capture` took of a text.
#[pyclass(frozen, eq, hash, module = "stencilm")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Capture {
    /// The name of the capture.
    #[pyo3(get)]
    name: String,
    /// Bytes of the text before it.
    #[pyo3(get)]
    start: usize,
    text: Vec<u8>,
}

#[pymethods]
impl Capture {
    /// What it took.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text(py).repr()?;
        let name = pyo3::types::PyString::new(py, &self.name).repr()?;
        Ok(format!("Capture(name={name}, start={}, text={text})", self.start))
    }
}

/// Where one sequence of tokens stands in a grammar.
#[pyclass(module = "stencilm")]
pub(crate) struct Matcher {
    pub(crate) core: stencilm::Matcher,
    compiled: Py<CompiledGrammar>,
}

impl Matcher {
    /// After a panic nothing that it may have left behind is used again.
    pub(crate) fn checked<T>(&self, result: PyResult<T>, py: Python<'_>) -> PyResult<T> {
        if let Err(error) = &result
            && error.get_type(py).name()?.to_cow()? == "InternalError"
        {
            self.core.compiled().retire();
        }
        result
    }
}

#[pymethods]
impl Matcher {
    #[new]
    fn new(compiled: &Bound<'_, CompiledGrammar>) -> Self {
        CompiledGrammar::matcher(compiled)
    }

    /// The grammar and the vocabulary.
    #[getter]
    fn compiled(&self, py: Python<'_>) -> Py<CompiledGrammar> {
        self.compiled.clone_ref(py)
    }

    /// Writes the tokens that may come next into row `row` of `mask`.
    #[pyo3(signature = (mask, row=0))]
    fn fill_mask(&mut self, py: Python<'_>, mask: &Bound<'_, PyAny>, row: usize) -> PyResult<()> {
        let words = self.core.compiled().vocabulary().words();
        let allowed = if let Some(allowed) = self.core.known_allowed() {
            allowed
        } else {
            let matcher = &mut self.core;
            let found = guarded_apart(py, || matcher.allowed());
            self.checked(found, py)?
        };
        write_row(mask, row, words, |row| allowed.write(row))
    }

    /// A key of what `fill_mask` would write: equal exactly where that is equal.
    fn mask_key<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = if let Some(key) = self.core.known_mask_key() {
            key
        } else {
            let matcher = &mut self.core;
            let found = guarded_apart(py, || matcher.mask_key());
            self.checked(found, py)?
        };
        Ok(PyBytes::new(py, &key))
    }

    /// What the mask here is put together from: ways down the stack, the most expressions that one
    /// reads, and the tokens that the topmost leave open.
    fn mask_parts(&mut self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        let matcher = &mut self.core;
        let found = guarded_apart(py, || matcher.mask_parts());
        let parts = self.checked(found, py)?;
        Ok((parts.ways, parts.depth, parts.open_tokens))
    }

    /// Takes a token; False, and no change, if it may not come next.
    fn accept(&mut self, py: Python<'_>, token: i64) -> PyResult<bool> {
        let token = self.token(py, token)?;
        if let Some(taken) = self.core.known_accept(token) {
            return Ok(taken);
        }
        let matcher = &mut self.core;
        let taken = guarded_apart(py, || matcher.accept(token));
        self.checked(taken, py)
    }

    /// Takes text as one step; False, and no change, if it may not come next.
    fn accept_bytes(&mut self, py: Python<'_>, text: &[u8]) -> PyResult<bool> {
        let matcher = &mut self.core;
        let taken = guarded_apart(py, || matcher.accept_bytes(text));
        self.checked(taken, py)
    }

    /// Whether a token may come next.
    fn is_allowed(&mut self, py: Python<'_>, token: i64) -> PyResult<bool> {
        let token = self.token(py, token)?;
        let matcher = &mut self.core;
        let answer = guarded_apart(py, || matcher.is_allowed(token));
        self.checked(answer, py)
    }

    /// How many of these tokens could be accepted one after the other; nothing changes.
    #[allow(clippy::needless_pass_by_value)]
    fn validate(&mut self, py: Python<'_>, tokens: Vec<i64>) -> PyResult<usize> {
        let tokens =
            tokens.iter().map(|&token| self.token(py, token)).collect::<PyResult<Vec<_>>>()?;
        let matcher = &mut self.core;
        let count = guarded_apart(py, || matcher.validate(&tokens));
        self.checked(count, py)
    }

    /// Gives back the last steps.
    #[pyo3(signature = (steps=1))]
    fn rollback(&mut self, steps: usize) -> PyResult<()> {
        let window = self.core.rollback_window();
        if !self.core.rollback(steps) {
            let message = format!("{steps} steps cannot be given back: {window} are remembered");
            return Err(PyValueError::new_err(message));
        }
        Ok(())
    }

    /// How many steps can be given back.
    #[getter]
    fn rollback_window(&self) -> usize {
        self.core.rollback_window()
    }

    /// A matcher at the same place that goes its own way.
    fn fork(&self, py: Python<'_>) -> Self {
        Self { core: self.core.fork(), compiled: self.compiled.clone_ref(py) }
    }

    /// Back to the beginning.
    fn reset(&mut self) {
        self.core.reset();
    }

    /// Whether the text may end here.
    fn may_stop(&self) -> bool {
        self.core.may_stop()
    }

    /// Whether no more text can come.
    fn is_finished(&self) -> bool {
        self.core.is_finished()
    }

    /// Whether a stop token was accepted.
    fn has_stopped(&self) -> bool {
        self.core.has_stopped()
    }

    /// The text that must come next, as far as there is no choice.
    #[pyo3(signature = (most=4096))]
    fn forced_text<'py>(&mut self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyBytes>> {
        let matcher = &mut self.core;
        let forced = guarded_apart(py, || matcher.forced_bytes(most));
        Ok(PyBytes::new(py, &self.checked(forced, py)?))
    }

    /// The bytes that may come next, in rising order.
    fn next_bytes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let matcher = &mut self.core;
        let next = guarded_apart(py, || matcher.next_bytes());
        Ok(PyBytes::new(py, &self.checked(next, py)?))
    }

    /// Masks for the rows of a draft sequence; gives how many of its tokens are allowed.
    #[pyo3(signature = (tokens, mask, first_row=0))]
    #[allow(clippy::needless_pass_by_value)]
    fn fill_draft_masks(
        &mut self,
        py: Python<'_>,
        tokens: Vec<i64>,
        mask: &Bound<'_, PyAny>,
        first_row: usize,
    ) -> PyResult<usize> {
        // An id outside the vocabulary, as some engines pad drafts with, is refused like any other.
        let tokens: Vec<u32> = tokens.iter().map(|&id| draft_token(id)).collect();
        let words = self.core.compiled().vocabulary().words();
        let matcher = &mut self.core;
        let filled = guarded_apart(py, || {
            let mut rows = vec![vec![0; words]; tokens.len() + 1];
            let accepted = matcher.fill_draft(&tokens, &mut rows)?;
            Ok((rows, accepted))
        });
        let (rows, accepted) = self.checked(filled, py)?;
        copy_rows(mask, first_row, words, &rows)?;
        Ok(accepted)
    }

    /// Masks for the nodes of a draft tree; gives for each node whether it may be reached.
    #[pyo3(signature = (tokens, first_child, next_sibling, mask, first_row=0))]
    #[allow(clippy::needless_pass_by_value)]
    fn fill_tree_masks(
        &mut self,
        py: Python<'_>,
        tokens: Vec<i64>,
        first_child: Vec<i64>,
        next_sibling: Vec<i64>,
        mask: &Bound<'_, PyAny>,
        first_row: usize,
    ) -> PyResult<Vec<bool>> {
        let tokens: Vec<u32> = tokens.iter().map(|&id| draft_token(id)).collect();
        let words = self.core.compiled().vocabulary().words();
        let matcher = &mut self.core;
        let filled = guarded_apart(py, || {
            let mut rows = vec![vec![0; words]; tokens.len()];
            let reached =
                matcher.fill_draft_tree(&tokens, &first_child, &next_sibling, &mut rows)?;
            Ok((rows, reached))
        });
        let (rows, reached) = self.checked(filled, py)?;
        copy_rows(mask, first_row, words, &rows)?;
        Ok(reached)
    }

    /// Why a token or a text may not come next; see `stencilm.explaining`.
    #[pyo3(signature = (refused, before=None))]
    fn explain<'py>(
        slf: &Bound<'py, Self>,
        refused: &Bound<'py, PyAny>,
        before: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let compiled = slf.try_borrow()?.compiled.clone_ref(py);
        let compiled = compiled.get();
        let explain = py.import("stencilm.explaining")?.getattr("explain")?;
        explain.call1((slf, refused, before, &compiled.source, &compiled.limits))
    }

    /// What the rules with `capture` took, by their beginnings.
    fn captures(&self, py: Python<'_>) -> Vec<Capture> {
        let found = py.detach(|| self.core.captures());
        let of = |it: stencilm::Capture| Capture {
            name: it.name.to_string(),
            start: it.start,
            text: it.text,
        };
        found.into_iter().map(of).collect()
    }

    /// What the next token should be sampled at, if its rule says so.
    fn temperature(&mut self, py: Python<'_>) -> PyResult<Option<f32>> {
        let matcher = &mut self.core;
        let found = guarded_apart(py, || matcher.temperature());
        self.checked(found, py)
    }

    /// What remains, for people.
    fn describe(&self) -> String {
        self.core.describe()
    }

    /// Live alternatives and the frames below them.
    #[getter]
    fn live_size(&self) -> (usize, usize) {
        self.core.live_size()
    }
}

impl Matcher {
    pub(crate) fn token(&self, py: Python<'_>, token: i64) -> PyResult<u32> {
        let size = self.core.compiled().vocabulary().size();
        u32::try_from(token).ok().filter(|&token| token < size).ok_or_else(|| {
            let message = format!("token {token} is not in the vocabulary of {size} tokens");
            crate::convert::vocabulary_error(py, message)
        })
    }
}

/// Copies rows into a mask, from one of its rows on.
fn copy_rows(
    mask: &Bound<'_, PyAny>,
    first_row: usize,
    words: usize,
    rows: &[Vec<u32>],
) -> PyResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut buffer = MaskBuffer::new(mask)?;
    for (at, from) in rows.iter().enumerate() {
        let (set, padding) = buffer.row(first_row + at, words)?.split_at_mut(from.len());
        set.copy_from_slice(from);
        padding.fill(0);
    }
    Ok(())
}

fn draft_token(id: i64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}
