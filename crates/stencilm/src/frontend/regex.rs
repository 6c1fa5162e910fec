//! Regular expressions: ECMA-262 with the `u` flag.
