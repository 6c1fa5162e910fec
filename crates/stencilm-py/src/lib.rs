//! The Python classes of Stencilm: each method is one call into the core.

#![deny(unsafe_code)]

mod batches;
mod buffers;
mod convert;
mod grammar;
mod json_text;
mod logits;
mod matcher;
mod threads;
mod vocabulary;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

// Tables are many small pieces that come and go with grammars. The system's allocator gives the
// pages back each time and faults them in again: a third of the time to the first mask.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<convert::Cancel>()?;
    module.add_class::<convert::Limits>()?;
    module.add_class::<vocabulary::Vocabulary>()?;
    module.add_class::<grammar::Grammar>()?;
    module.add_class::<matcher::Store>()?;
    module.add_class::<matcher::CompiledGrammar>()?;
    module.add_class::<matcher::Capture>()?;
    module.add_class::<matcher::Matcher>()?;
    module.add_function(wrap_pyfunction!(batches::fill_masks, module)?)?;
    module.add_function(wrap_pyfunction!(batches::accept_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(json_text::json_text, module)?)?;
    module.add_function(wrap_pyfunction!(logits::first_allowed, module)?)?;
    module.add_function(wrap_pyfunction!(logits::write_refused, module)?)?;
    Ok(())
}
