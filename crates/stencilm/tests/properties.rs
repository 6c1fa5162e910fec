//! The engine against the oracle, on random grammars, vocabularies and walks.

#[path = "oracle/engine.rs"]
mod engine;
#[path = "oracle/languages.rs"]
mod languages;
#[path = "oracle/limits.rs"]
mod limits;
#[path = "oracle/masks.rs"]
mod masks;
#[path = "oracle/mod.rs"]
mod oracle;
