//! The engine's masks and everything that a matcher answers, against the judge.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use proptest::prelude::any;
use stencilm::{Limits, Matcher, Store};

use crate::engine::{
    bits, compile, compile_in_parts, fail, id_of, mask, read, same_mask, store, symbols_of,
    unexpected, vocabulary,
};
use crate::oracle::chart::{Chart, Tail};
use crate::oracle::judge::Judge;
use crate::oracle::nfa::FIRST_TOKEN;
use crate::oracle::runner::{Verdict, for_all, too_big};
use crate::oracle::strategy::{SPECIAL, grammars, looping_grammars, regular_grammars};
use crate::oracle::vocabulary::{Case, Recipe, Tokens, cases, marked_cases, sparse_cases};

/// Runs `visit` at every step of the case's walk, and takes the step if the matcher does.
fn walk(
    case: &Case,
    judge: &Judge,
    tokens: &Tokens,
    matcher: &mut Matcher,
    mut visit: impl FnMut(&mut Matcher, &mut Chart<'_>, &[bool], &str) -> Verdict,
) -> Verdict {
    let mut chart = Chart::new(judge, tokens.tail(judge));
    for (step, &choice) in case.choices.iter().enumerate() {
        let judged = tokens.mask(judge, &mut chart);
        let at = format!("after {}", case.text(judge, step));
        visit(matcher, &mut chart, &judged, &at)?;
        let Some(id) = tokens.choose(&judged, choice) else {
            break;
        };
        if !matcher.accept(id_of(id)).map_err(unexpected)? {
            return fail(format!("{at}: {:?} is refused", tokens.0[id]));
        }
        read(&mut chart, tokens, judge, &[id]);
    }
    Ok(())
}

/// Compiles the case and walks through it.
fn check(
    case: &Case,
    visit: impl FnMut(&mut Matcher, &mut Chart<'_>, &[bool], &str) -> Verdict,
) -> Verdict {
    check_in_parts(case, &[], Limits::default(), visit)
}

/// The same where grammars of their own supply the `chosen` rules.
fn check_in_parts(
    case: &Case,
    chosen: &[usize],
    limits: Limits,
    visit: impl FnMut(&mut Matcher, &mut Chart<'_>, &[bool], &str) -> Verdict,
) -> Verdict {
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let tokens = case.tokens(&judge);
    let vocabulary = vocabulary(&tokens)?;
    let compiled = if chosen.is_empty() {
        compile(&case.grammar, &vocabulary, &store(), limits)
    } else {
        compile_in_parts(&case.grammar, chosen, &vocabulary, &store(), limits)
    };
    match compiled? {
        Some(compiled) => walk(case, &judge, &tokens, &mut Matcher::new(compiled), visit),
        None if Chart::new(&judge, tokens.tail(&judge)).is_live() => {
            fail("refused, but it has a sentence of these tokens")
        }
        None => Ok(()),
    }
}

fn masks_are_exact(case: &Case) -> Verdict {
    masks_in_parts_are_exact(case, &[], Limits::default())
}

fn masks_in_parts_are_exact(case: &Case, chosen: &[usize], limits: Limits) -> Verdict {
    let tokens = case.tokens(&Judge::of(&case.grammar).map_err(too_big)?);
    check_in_parts(case, chosen, limits, |matcher, chart, judged, at| {
        same_mask(&tokens, judged, &mask(matcher, &tokens)?, at)?;
        if matcher.may_stop() != chart.accepts() {
            return fail(format!("{at}: may_stop is {}", matcher.may_stop()));
        }
        Ok(())
    })
}

#[test]
fn masks_of_grammars_are_exact() {
    for_all(2_000.0, &cases(grammars(), 8), |case| masks_are_exact(&case));
}

#[test]
fn masks_of_regular_grammars_are_exact() {
    for_all(2_000.0, &cases(regular_grammars(), 8), |case| masks_are_exact(&case));
}

#[test]
fn masks_of_loops_and_what_follows_them_are_exact() {
    for_all(700.0, &marked_cases(looping_grammars(), 8), |case| masks_are_exact(&case));
    for_all(100.0, &sparse_cases(looping_grammars(), 8), |case| masks_are_exact(&case));
}

#[test]
fn masks_over_tokens_that_spell_not_every_byte_are_exact() {
    for_all(800.0, &sparse_cases(grammars(), 8), |case| masks_are_exact(&case));
    for_all(400.0, &sparse_cases(regular_grammars(), 8), |case| masks_are_exact(&case));
}

/// One to three of the rules, as the number says.
fn chosen(case: &Case, number: usize) -> Vec<usize> {
    let count = case.grammar.rules.len();
    let mut chosen = vec![number % count, number / 7 % count, number / 49 % count];
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

#[test]
fn masks_of_grammars_in_parts_are_exact() {
    for_all(1_500.0, &(cases(grammars(), 8), any::<u16>()), |(case, number)| {
        masks_in_parts_are_exact(&case, &chosen(&case, number.into()), Limits::default())
    });
    for_all(300.0, &(sparse_cases(grammars(), 8), any::<u16>()), |(case, number)| {
        masks_in_parts_are_exact(&case, &chosen(&case, number.into()), Limits::default())
    });
    // Each piece of learning opens a new generation.
    let limits = Limits { grammar_bytes: 1, ..Limits::default() };
    for_all(200.0, &(cases(grammars(), 8), any::<u16>()), |(case, number)| {
        masks_in_parts_are_exact(&case, &chosen(&case, number.into()), limits)
    });
}

/// A bit is set if and only if the token is accepted, and in whatever way it is asked.
fn masks_agree_with_accepting(case: &Case) -> Verdict {
    let tokens = case.tokens(&Judge::of(&case.grammar).map_err(too_big)?);
    check(case, |matcher, _, judged, at| {
        for (id, &judged) in judged.iter().enumerate() {
            let accepted = matcher.fork().accept(id_of(id)).map_err(unexpected)?;
            let allowed = matcher.is_allowed(id_of(id)).map_err(unexpected)?;
            if (accepted, allowed) != (judged, judged) {
                let answers = format!("accept {accepted}, is_allowed {allowed}");
                return fail(format!("{at}: {id}:{:?}: {answers}", tokens.0[id]));
            }
        }
        let beyond = id_of(judged.len());
        if matcher.accept(beyond).map_err(unexpected)? {
            return fail(format!("{at}: an id beyond the vocabulary is accepted"));
        }
        Ok(())
    })
}

#[test]
fn a_token_is_accepted_exactly_if_its_bit_is_set() {
    for_all(500.0, &cases(grammars(), 8), |case| masks_agree_with_accepting(&case));
    for_all(300.0, &sparse_cases(grammars(), 8), |case| masks_agree_with_accepting(&case));
}

/// Drafts of tokens, some of them refused: the number accepted, and the mask of each row.
fn drafts_are_masked_row_by_row(case: &Case) -> Verdict {
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let tokens = case.tokens(&judge);
    let mut next = case.choices.iter().cycle();
    check(case, |matcher, chart, _, at| {
        let (mut draft, mut rows, mut open) = (Vec::new(), Vec::new(), true);
        let (start, mut accepted) = (chart.len(), 0);
        for _ in 0..3 {
            let judged =
                if open { tokens.mask(&judge, chart) } else { vec![false; tokens.0.len()] };
            let choice = *next.next().expect("a cycle");
            let any = usize::from(choice) % tokens.0.len();
            let id = if matches!(choice % 8, 0 | 1) {
                any
            } else {
                tokens.choose(&judged, choice).unwrap_or(any)
            };
            open = judged[id];
            accepted += usize::from(open);
            rows.push(judged);
            draft.push(id_of(id));
            read(chart, &tokens, &judge, &[id]);
            if tokens.is_stop(id) {
                break;
            }
        }
        let ends = tokens.is_stop(draft[draft.len() - 1] as usize);
        let last =
            if open && !ends { tokens.mask(&judge, chart) } else { vec![false; tokens.0.len()] };
        rows.push(last);
        chart.truncate(start);
        let counted = matcher.validate(&draft).map_err(unexpected)?;
        let mut words = vec![vec![u32::MAX; tokens.0.len().div_ceil(32)]; rows.len()];
        let filled = matcher.fill_draft(&draft, &mut words).map_err(unexpected)?;
        if (counted, filled) != (accepted, accepted) {
            return fail(format!("{at}: of {draft:?} validate {counted}, fill_draft {filled}"));
        }
        for (row, (judged, words)) in rows.iter().zip(&words).enumerate() {
            let at = format!("{at}, row {row} of {draft:?}");
            same_mask(&tokens, judged, &bits(words, &tokens)?, &at)?;
        }
        Ok(())
    })
}

#[test]
fn rows_of_a_draft_are_its_masks() {
    for_all(600.0, &cases(grammars(), 6), |case| drafts_are_masked_row_by_row(&case));
}

/// Two matchers of one grammar: each choice picks one of them, and accepts, gives back or forks.
fn matchers_are_independent(case: &Case) -> Verdict {
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let tokens = case.tokens(&judge);
    let vocabulary = vocabulary(&tokens)?;
    let Some(compiled) = compile(&case.grammar, &vocabulary, &store(), Limits::default())? else {
        return Ok(());
    };
    // What each matcher has accepted; the chart reads it anew each time.
    let mut matchers = [Matcher::new(compiled.clone()), Matcher::new(compiled)];
    let mut histories: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    let mut chart = Chart::new(&judge, tokens.tail(&judge));
    for &choice in &case.choices {
        let (which, choice) = (usize::from(choice % 2), choice / 2);
        let history = &mut histories[which];
        let matcher = &mut matchers[which];
        match choice % 8 {
            0..=1 => {
                let steps = usize::from(choice / 8) % (history.len() + 1);
                history.truncate(history.len() - steps);
                if !matcher.rollback(steps) {
                    return fail(format!("cannot give back {steps} steps"));
                }
            }
            2 => {
                matchers[1 - which] = matchers[which].fork();
                let copy = histories[which].clone();
                histories[1 - which] = copy;
            }
            3 => {
                if matcher.rollback(history.len() + 1) {
                    return fail("gave back more than there was");
                }
            }
            _ => {
                chart.truncate(0);
                read(&mut chart, &tokens, &judge, history);
                let judged = tokens.mask(&judge, &mut chart);
                let has_stopped = history.last().is_some_and(|&id| tokens.is_stop(id));
                let stop = (0..judged.len()).find(|&id| tokens.is_stop(id) && judged[id]);
                let id = stop.filter(|_| choice % 8 == 4);
                let id = id.or_else(|| tokens.choose(&judged, choice / 8));
                if let Some(id) = id.filter(|_| !has_stopped) {
                    if !matcher.accept(id_of(id)).map_err(unexpected)? {
                        return fail(format!("{:?} is refused after {history:?}", tokens.0[id]));
                    }
                    history.push(id);
                }
            }
        }
        for (matcher, history) in matchers.iter_mut().zip(&histories) {
            chart.truncate(0);
            read(&mut chart, &tokens, &judge, history);
            let has_stopped = history.last().is_some_and(|&id| tokens.is_stop(id));
            let none = vec![false; tokens.0.len()];
            let judged = if has_stopped { none } else { tokens.mask(&judge, &mut chart) };
            let at = format!("after {history:?}");
            same_mask(&tokens, &judged, &mask(matcher, &tokens)?, &at)?;
            if has_stopped && !(matcher.may_stop() && matcher.is_finished()) {
                return fail(format!("{at}: not finished"));
            }
        }
    }
    Ok(())
}

#[test]
fn giving_back_and_forking_keep_masks_bit_by_bit() {
    for_all(500.0, &cases(grammars(), 20), |case| matchers_are_independent(&case));
}

/// The bytes that may come, and those that must.
fn forced_bytes_are_the_only_ones(case: &Case) -> Verdict {
    const MOST: usize = 40;
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let tokens = case.tokens(&judge);
    let end = FIRST_TOKEN + u16::try_from(SPECIAL.len()).expect("few");
    let mut free = Chart::new(&judge, Tail::Anything);
    let mut so_far = Vec::new();
    let mut next = case.choices.iter();
    check(case, |matcher, _, judged, at| {
        free.truncate(0);
        free.read(&so_far);
        let mut symbols = free.next_symbols(end);
        let bytes = matcher.next_bytes().map_err(unexpected)?;
        let judged_bytes: Vec<u8> =
            symbols.iter().filter_map(|&symbol| u8::try_from(symbol).ok()).collect();
        if bytes != judged_bytes {
            return fail(format!("{at}: the next bytes are {bytes:?}, not {judged_bytes:?}"));
        }
        let mut forced = Vec::new();
        while let [symbol] = symbols[..]
            && let Ok(byte) = u8::try_from(symbol)
            && !free.accepts()
            && forced.len() < MOST
        {
            forced.push(byte);
            free.push(symbol);
            symbols = free.next_symbols(end);
        }
        let engine = matcher.forced_bytes(MOST).map_err(unexpected)?;
        if engine != forced {
            let (engine, forced) = (engine.escape_ascii(), forced.escape_ascii());
            return fail(format!("{at}: forces \"{engine}\", not \"{forced}\""));
        }
        let id = next.next().and_then(|&choice| tokens.choose(judged, choice));
        so_far.extend(id.into_iter().flat_map(|id| symbols_of(&tokens, &judge, id)));
        Ok(())
    })
}

#[test]
fn forced_bytes_are_those_without_a_choice() {
    for_all(400.0, &cases(grammars(), 5), |case| forced_bytes_are_the_only_ones(&case));
}

/// One vocabulary, one store: each grammar finds what all before it left there.
#[test]
fn a_store_full_of_other_grammars_changes_no_mask() {
    let recipes = ["ab", "ca", "aab", "bcé", "éa", "a\\u00", "é\"", "aaaa"];
    let recipes: Vec<Recipe> = recipes.iter().map(|&word| Recipe::Words(word, "")).collect();
    let roomy = store();
    let stores = [roomy.clone(), Arc::new(Store::new(30_000))];
    let shared = RefCell::new(None);
    for_all(1_200.0, &cases(grammars(), 6), |mut case| {
        case.recipes = recipes.clone();
        let judge = Judge::of(&case.grammar).map_err(too_big)?;
        let tokens = case.tokens(&judge);
        let mut shared = shared.borrow_mut();
        let (_, vocabulary) = match &mut *shared {
            Some((before, vocabulary)) => {
                assert_eq!(before, &tokens, "all cases have one vocabulary");
                (before, vocabulary)
            }
            none => {
                let (tokens, vocabulary) = none.insert((tokens.clone(), vocabulary(&tokens)?));
                (tokens, vocabulary)
            }
        };
        for store in &stores {
            if let Some(compiled) = compile(&case.grammar, vocabulary, store, Limits::default())? {
                let mut matcher = Matcher::new(compiled);
                walk(&case, &judge, &tokens, &mut matcher, |matcher, _, judged, at| {
                    same_mask(&tokens, judged, &mask(matcher, &tokens)?, at)
                })?;
            }
        }
        Ok(())
    });
    let usage = roomy.usage();
    assert!(usage.entries > 100, "the store was hardly used: {usage:?}");
}

/// A new generation opens all the time; what can be given back moves along.
#[test]
fn rolling_over_changes_no_mask() {
    let generations = Cell::new(0);
    for_all(600.0, &cases(grammars(), 8), |case| {
        let judge = Judge::of(&case.grammar).map_err(too_big)?;
        let tokens = case.tokens(&judge);
        let limits = Limits { grammar_bytes: 1, ..Limits::default() };
        let Some(compiled) = compile(&case.grammar, &vocabulary(&tokens)?, &store(), limits)?
        else {
            return Ok(());
        };
        let mut matcher = Matcher::new(compiled.clone());
        let mut masks = Vec::new();
        walk(&case, &judge, &tokens, &mut matcher, |matcher, _, judged, at| {
            same_mask(&tokens, judged, &mask(matcher, &tokens)?, at)?;
            masks.push((matcher.rollback_window(), judged.to_vec()));
            Ok(())
        })?;
        for (steps, judged) in masks.iter().rev() {
            if !matcher.rollback(matcher.rollback_window() - steps) {
                return fail("cannot give back");
            }
            same_mask(&tokens, judged, &mask(&mut matcher, &tokens)?, "given back")?;
        }
        generations.set(generations.get() + compiled.generations());
        Ok(())
    });
    assert!(generations.get() > 1_000, "too few generations: {}", generations.get());
}
