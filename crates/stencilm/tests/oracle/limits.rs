//! Limits: what they stop is said, and nothing is spoilt by it.

use std::cell::Cell;

use stencilm::{Error, ErrorKind, Limits, Matcher};

use crate::engine::{
    compile, fail, id_of, mask, read, same_mask, store, try_mask, unexpected, vocabulary,
};
use crate::oracle::chart::Chart;
use crate::oracle::judge::Judge;
use crate::oracle::runner::{Verdict, for_all, too_big};
use crate::oracle::strategy::grammars;
use crate::oracle::vocabulary::{Case, cases};

/// Walks with these limits: each mask is right or names the limit. What a limit broke off must
/// not be found in the store by a matcher without it.
fn limits_spoil_nothing(case: &Case, limits: Limits, name: &str, reached: &Cell<usize>) -> Verdict {
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let tokens = case.tokens(&judge);
    let (vocabulary, store) = (vocabulary(&tokens)?, store());
    let Some(free) = compile(&case.grammar, &vocabulary, &store, Limits::default())? else {
        return Ok(());
    };
    let is_limit = |error: &Error| {
        reached.set(reached.get() + 1);
        matches!(error.kind(), ErrorKind::LimitReached { limit, .. } if *limit == name)
    };
    let Some(bound) = compile(&case.grammar, &vocabulary, &store, limits)? else {
        return fail("unsatisfiable only under a limit");
    };
    let mut bound = Matcher::new(bound);
    let mut free = Matcher::new(free);
    let mut chart = Chart::new(&judge, tokens.tail(&judge));
    let mut masks: Vec<Vec<bool>> = Vec::new();
    for (step, &choice) in case.choices.iter().enumerate() {
        let judged = tokens.mask(&judge, &mut chart);
        let at = format!("after {}", case.text(&judge, step));
        match try_mask(&mut bound, &tokens)? {
            Ok(engine) => same_mask(&tokens, &judged, &engine, &at)?,
            Err(error) if is_limit(&error) => {}
            Err(error) => return Err(unexpected(error)),
        }
        same_mask(&tokens, &judged, &mask(&mut free, &tokens)?, &format!("{at}, without limit"))?;
        let Some(id) = tokens.choose(&judged, choice) else {
            break;
        };
        match bound.accept(id_of(id)) {
            Ok(true) => {}
            Ok(false) => return fail(format!("{at}: {:?} is refused", tokens.0[id])),
            Err(error) if is_limit(&error) => break,
            Err(error) => return Err(unexpected(error)),
        }
        if !free.accept(id_of(id)).map_err(unexpected)? {
            return fail(format!("{at}: {:?} is refused without limit", tokens.0[id]));
        }
        read(&mut chart, &tokens, &judge, &[id]);
        masks.push(judged);
    }
    for judged in masks.iter().rev() {
        if !bound.rollback(1) {
            return fail("cannot give back after a limit");
        }
        match try_mask(&mut bound, &tokens)? {
            Ok(engine) => same_mask(&tokens, judged, &engine, "given back")?,
            Err(error) if is_limit(&error) => {}
            Err(error) => return Err(unexpected(error)),
        }
    }
    Ok(())
}

#[test]
fn too_many_items_are_a_limit_and_spoil_nothing() {
    let reached = Cell::new(0);
    for items in [1, 2, 4] {
        let limits = Limits { items, ..Limits::default() };
        for_all(200.0, &cases(grammars(), 8), |case| {
            limits_spoil_nothing(&case, limits, "items", &reached)
        });
    }
    assert!(reached.get() > 20, "hardly ever reached: {}", reached.get());
}

#[test]
fn too_much_work_for_a_mask_is_a_limit_and_spoils_nothing() {
    let reached = Cell::new(0);
    for mask_work in [1, 5, 20, 100] {
        let limits = Limits { mask_work, ..Limits::default() };
        for_all(150.0, &cases(grammars(), 8), |case| {
            limits_spoil_nothing(&case, limits, "mask_work", &reached)
        });
    }
    assert!(reached.get() > 20, "hardly ever reached: {}", reached.get());
}
