//! The Python classes of Stencilm: each method is one call into the core.
