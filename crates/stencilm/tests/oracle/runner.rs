//! Runs a property on many random values; shrinks what fails.

use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::oracle::nfa::TooBig;

/// What a property says of one value.
pub(crate) type Verdict = Result<(), TestCaseError>;

/// Checks `property` on `cases` values. `STENCILM_CASES` multiplies the number (5, say, or 0.1),
/// and `STENCILM_SEED` chooses other values than those of every run.
///
/// # Panics
/// With the smallest failing value found.
#[track_caller]
pub(crate) fn for_all<S: Strategy>(cases: f64, strategy: &S, property: impl Fn(S::Value) -> Verdict)
where
    S::Value: Debug,
{
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
    let cases = (cases * number("STENCILM_CASES").unwrap_or(1.0)).ceil();
    let seed = std::env::var("STENCILM_SEED").unwrap_or_default();
    let mut bytes = [7; 32];
    bytes.iter_mut().zip(seed.bytes()).for_each(|(byte, of_seed)| *byte = of_seed);
    let config = Config {
        cases: format!("{cases}").parse().expect("a whole number of cases"),
        failure_persistence: None,
        max_global_rejects: 1_000_000,
        max_shrink_iters: 20_000,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    if let Err(error) = TestRunner::new_with_rng(config, rng).run(strategy, property) {
        panic!("{error}");
    }
}

/// Leaves out a grammar that is too big for the judge.
pub(crate) fn too_big(_: TooBig) -> TestCaseError {
    TestCaseError::reject("too big for the judge")
}
