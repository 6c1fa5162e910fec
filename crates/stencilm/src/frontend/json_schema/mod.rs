//! JSON Schema.
