//! The languages that grammars are written in: each file turns one of them into the one IR.

mod automaton;
pub mod combine;
pub mod ebnf;
pub mod json_schema;
pub mod lark;
mod marks;
pub mod regex;
pub mod substrings;
pub mod tags;
