//! Rewrites a grammar into one with the same language that the engine can run.
