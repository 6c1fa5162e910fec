//! `Vocabulary`: the tokens of a model.

use std::sync::Arc;

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::convert::{guarded, guarded_apart};

/// The tokens of a model; see `stencilm.Vocabulary`.
#[pyclass(frozen, subclass, module = "stencilm")]
pub(crate) struct Vocabulary(pub(crate) Arc<stencilm::Vocabulary>);

#[pymethods]
impl Vocabulary {
    #[new]
    #[pyo3(signature = (tokens=None, *, special=None, stop=None, saved=None))]
    fn new(
        py: Python<'_>,
        tokens: Option<Vec<Option<Bound<'_, PyBytes>>>>,
        special: Option<&Bound<'_, PyDict>>,
        stop: Option<Vec<u32>>,
        saved: Option<&[u8]>,
    ) -> PyResult<Self> {
        if let Some(saved) = saved {
            let made = guarded_apart(py, || stencilm::Vocabulary::from_bytes(saved))?;
            return Ok(Self(Arc::new(made)));
        }
        let tokens = tokens.unwrap_or_default();
        let special: Vec<(String, u32)> = match special {
            Some(special) => special
                .iter()
                .map(|(name, id)| Ok((name.extract()?, id.extract()?)))
                .collect::<PyResult<_>>()?,
            None => Vec::new(),
        };
        let texts = tokens.iter().map(|token| token.as_ref().map(PyBytesMethods::as_bytes));
        let made =
            guarded(py, || stencilm::Vocabulary::new(texts, special, stop.unwrap_or_default()))?;
        Ok(Self(Arc::new(made)))
    }

    /// The vocabulary as bytes, which load faster than a tokenizer.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Number of token ids.
    #[getter]
    fn size(&self) -> u32 {
        self.0.size()
    }

    /// 32-bit words of one row of a mask.
    #[getter]
    fn words(&self) -> usize {
        self.0.words()
    }

    /// The ids that end a text, in rising order.
    #[getter]
    fn stop_ids(&self) -> Vec<u32> {
        self.0.stop_ids().to_vec()
    }

    /// The special tokens: name to id.
    #[getter]
    fn special<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let special = PyDict::new(py);
        for (name, id) in self.0.special() {
            special.set_item(name, id)?;
        }
        Ok(special)
    }

    /// Whether each byte is a token of its own.
    #[getter]
    fn is_byte_complete(&self) -> bool {
        self.0.is_byte_complete()
    }

    /// The bytes that are tokens of their own.
    #[getter]
    fn spellable<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.0.spellable().iter().collect();
        PyBytes::new(py, &bytes)
    }

    /// The bytes of a token; None for one without text, or outside the vocabulary.
    fn token_bytes<'py>(&self, py: Python<'py>, id: u32) -> Option<Bound<'py, PyBytes>> {
        self.0.token_bytes(id).map(|bytes| PyBytes::new(py, bytes))
    }

    /// Whether some token begins with `text` and goes on.
    fn has_longer(&self, text: &[u8]) -> bool {
        let trie = self.0.trie();
        trie.find(text).is_some_and(|node| trie.end(node) > node + 1)
    }

    /// Memory held, in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.0.size_in_bytes()
    }

    fn __len__(&self) -> usize {
        self.0.size() as usize
    }

    fn __repr__(&self) -> String {
        format!("Vocabulary(size={}, stop_ids={:?})", self.0.size(), self.0.stop_ids())
    }
}
