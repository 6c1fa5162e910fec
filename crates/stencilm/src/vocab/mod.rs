//! The vocabulary of a model: what each token spells.
