//! What remains of an expression after a byte.
