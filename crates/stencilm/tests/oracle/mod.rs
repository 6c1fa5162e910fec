//! The oracle: an independent judge of grammars that shares no code with the engine.
//!
//! [`Plain`] is a grammar as a tree, [`Nfa`](nfa::Nfa) the automaton of one rule with calls as
//! edges. [`Judge`] answers by definition, with a least fixpoint over positions; [`Chart`] is
//! Earley's algorithm, a thousand times faster and proven against the judge in `tests/oracle.rs`.
//! `strategy` and `vocabulary` make random grammars and vocabularies for both.

#![allow(dead_code, reason = "each test crate uses a part")]

pub(crate) mod chart;
pub(crate) mod judge;
pub(crate) mod nfa;
pub(crate) mod plain;
pub(crate) mod print;
pub(crate) mod regular;
pub(crate) mod runner;
pub(crate) mod spelled;
pub(crate) mod strategy;
pub(crate) mod vocabulary;
