//! Sets of numbers as texts, by value: bounds, multiples and every legal spelling of JSON, exact
//! and of any size.
//!
//! With exponents and divisors such a language is not regular, so a state is not an automaton's:
//! it is what the digits so far say about the bounds and the divisors, and a byte makes another.
//! A state exists only if some text goes on from it to a number of the set.

mod clip;
mod decimal;
mod list;
mod reach;
mod set;
mod show;
mod state;
mod step;

pub(crate) use decimal::Decimal;
pub(crate) use set::{Bound, Definition, NumberSet, Point};
pub(crate) use state::NumberState;
