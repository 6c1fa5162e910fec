//! EBNF and GBNF.
