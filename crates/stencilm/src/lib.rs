//! The exact set of tokens that may come next, for any grammar.

pub mod error;
pub mod grammar;
pub mod limits;

pub use error::{Error, ErrorKind, Location};
pub use limits::{Budget, Cancel, Limits};

pub mod frontend;
pub mod normalize;
mod residual;
pub mod vocab;
