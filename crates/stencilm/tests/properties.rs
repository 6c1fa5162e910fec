//! The engine against the oracle, on random grammars, vocabularies and walks.

#[path = "oracle/languages.rs"]
mod languages;
#[path = "oracle/mod.rs"]
mod oracle;
