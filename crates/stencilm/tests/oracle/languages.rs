//! What rewrites a grammar must keep its texts: the constructors, the normalisation, printing.

use proptest::test_runner::TestCaseError;
use stencilm::frontend::ebnf;
use stencilm::grammar::{Exprs, Imported, RuleId, RuleSet, Rules};
use stencilm::normalize::{Normalized, normalize};
use stencilm::{Budget, Error, ErrorKind};

use crate::oracle::chart::Chart;
use crate::oracle::judge::Judge;
use crate::oracle::nfa::{Label, START};
use crate::oracle::runner::{Verdict, for_all, too_big};
use crate::oracle::strategy::{grammars, regular_grammars};
use crate::oracle::vocabulary::{Case, Tokens, cases};

fn fail(what: impl Into<String>) -> Verdict {
    Err(TestCaseError::fail(what.into()))
}

/// Walks through the grammar as it was made: at each step the other one must allow the same.
///
/// With `empty` the other grammar has lost the empty text, and this says whether it was there.
fn check(case: &Case, rewritten: &RuleSet, empty: Option<bool>) -> Verdict {
    let made = Judge::of(&case.grammar).map_err(too_big)?;
    let other = Judge::new(rewritten).map_err(too_big)?;
    let tokens = case.tokens(&made);
    let mut charts = [&made, &other].map(|judge| Chart::new(judge, tokens.tail(judge)));
    if empty.is_some_and(|empty| empty != charts[0].accepts()) {
        return fail(format!("whether the empty text matches differs in\n{rewritten}"));
    }
    for (step, &choice) in case.choices.iter().enumerate() {
        let [mut mask, mut masked] =
            [(&made, 0), (&other, 1)].map(|(judge, at)| tokens.mask(judge, &mut charts[at]));
        let chosen = tokens.choose(&mask, choice);
        if step == 0 && empty.is_some() {
            forget_stop(&tokens, &mut mask);
            forget_stop(&tokens, &mut masked);
        }
        if let Some(id) = (0..mask.len()).find(|&id| mask[id] != masked[id]) {
            let says = if mask[id] { "no longer" } else { "now" };
            let text = &case.text(&made, step);
            return fail(format!("{says} allows {:?} after {text} in\n{rewritten}", tokens.0[id]));
        }
        let Some(id) = chosen else {
            break;
        };
        for (judge, chart) in [&made, &other].into_iter().zip(&mut charts) {
            chart.read(&tokens.symbols(judge, id).unwrap_or_default());
        }
    }
    Ok(())
}

fn forget_stop(tokens: &Tokens, mask: &mut [bool]) {
    for (id, bit) in mask.iter_mut().enumerate() {
        *bit &= !tokens.is_stop(id);
    }
}

#[test]
fn the_constructors_keep_the_language() {
    for_all(1_500.0, &cases(grammars(), 8), |case| check(&case, &case.grammar.build(), None));
}

#[test]
fn the_constructors_keep_regular_languages() {
    for_all(4_000.0, &cases(regular_grammars(), 8), |case| {
        check(&case, &case.grammar.build(), None)
    });
}

/// The rules of a normal grammar, written down.
fn written_down(normal: &Normalized) -> Result<RuleSet, Error> {
    let mut exprs = Exprs::default();
    let ids = 0..u32::try_from(normal.len()).expect("few rules");
    let rules: Result<_, Error> =
        ids.map(|id| Ok((format!("n{id}"), normal.body(RuleId(id), &mut exprs)?))).collect();
    Ok(RuleSet::new(exprs, rules?, normal.start))
}

fn normalisation_keeps_the_language(case: &Case) -> Verdict {
    let normal = match normalize(case.grammar.build(), &mut Budget::default()) {
        Ok(normal) => normal,
        Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
            let judge = Judge::of(&case.grammar).map_err(too_big)?;
            let live = judge.prefix_viable(&[]);
            return if live { fail("refused, but it has a sentence") } else { Ok(()) };
        }
        Err(error) => return fail(error.to_string()),
    };
    let rules = written_down(&normal).map_err(|error| TestCaseError::fail(error.to_string()))?;
    is_in_normal_form(&rules, &normal)?;
    check(case, &rules, Some(normal.accepts_empty))
}

/// No body is nullable; a rule that may come first in another has the higher rank.
fn is_in_normal_form(rules: &RuleSet, normal: &Normalized) -> Verdict {
    if let Some((name, _)) = rules.rules.iter().find(|(_, body)| rules.exprs.is_nullable(*body)) {
        return fail(format!("{name} is nullable in\n{rules}"));
    }
    let judge = Judge::new(rules).map_err(too_big)?;
    let rank = |rule: usize| normal.rank(RuleId(u32::try_from(rule).expect("few rules")));
    for (caller, nfa) in judge.rules.iter().enumerate() {
        let mut seen = vec![false; nfa.edges.len()];
        let mut todo = vec![START];
        while let Some(state) = todo.pop() {
            if std::mem::replace(&mut seen[state], true) {
                continue;
            }
            for &(label, next) in &nfa.edges[state] {
                match label {
                    Label::Empty => todo.push(next),
                    Label::Symbols(..) => {}
                    Label::Call(callee) if rank(caller) < rank(callee) => {}
                    Label::Call(callee) => {
                        return fail(format!("n{caller} may begin with n{callee} in\n{rules}"));
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn the_normalisation_keeps_the_language() {
    for_all(2_000.0, &cases(grammars(), 8), |case| normalisation_keeps_the_language(&case));
}

/// Reads what was printed; the first rule is the start.
fn printed_means_the_same(case: &Case, printed: &str) -> Verdict {
    let start = format!("r{}", case.grammar.start);
    match ebnf::parse(printed, &start, &mut Budget::default()) {
        Ok(read) => check(case, &read, None),
        Err(error) => fail(format!("{error} in\n{printed}")),
    }
}

#[test]
fn a_printed_grammar_reads_back() {
    for_all(1_000.0, &cases(grammars(), 6), |case| {
        printed_means_the_same(&case, &case.grammar.build().to_string())
    });
}

#[test]
fn a_grammar_reads_as_it_was_written() {
    for_all(1_000.0, &cases(grammars(), 6), |case| {
        printed_means_the_same(&case, &case.grammar.to_string())
    });
}

#[test]
fn a_copy_in_another_arena_means_the_same() {
    for_all(500.0, &cases(grammars(), 6), |case| {
        let from = case.grammar.build();
        // The other arena has made other things before, so that all ids differ.
        let mut other = Exprs::default();
        for at in 0..=case.grammar.rules.len() {
            other.bytes(format!("{at}").as_bytes());
        }
        let mut done = Imported::default();
        let copy = |(name, body): &(String, _)| {
            (name.clone(), other.import(&from.exprs, *body, &mut done))
        };
        let rules = from.rules.iter().map(copy).collect();
        check(&case, &RuleSet::new(other, rules, from.start), None)
    });
}
