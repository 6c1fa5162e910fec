//! Numbers of JSON Schema against a judge that reads whole texts with exact arithmetic: what is
//! allowed leads to a number of the set, and no number of the set is left out.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use stencilm::frontend::json_schema::{JsonSchemaOptions, Numbers, grammar};
use stencilm::{Budget, CompiledGrammar, ErrorKind, Limits, Matcher, Store, Vocabulary};

const BYTES: &[u8] = b"0123456789-+.eE";

/// Steps of a search for a text that ends, before the test gives up.
const SEARCH: usize = 20_000;

/// A number as it is written: `digits` × 10^`power`.
#[derive(Clone, Copy, Debug)]
struct Written {
    digits: i128,
    power: i64,
}

impl Written {
    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_negative = whole.starts_with('-');
        let mut digits: i128 =
            format!("{}{fraction}", whole.trim_start_matches('-')).parse().unwrap();
        let mut power = exponent.parse::<i64>().unwrap() - i64::try_from(fraction.len()).unwrap();
        while digits != 0 && digits % 10 == 0 {
            (digits, power) = (digits / 10, power + 1);
        }
        Self { digits: if is_negative { -digits } else { digits }, power }
    }

    fn cmp(self, other: Self) -> Ordering {
        let apart = self.power - other.power;
        if self.digits == 0 || other.digits == 0 || self.digits.signum() != other.digits.signum() {
            return self.digits.cmp(&other.digits);
        }
        // So far apart the digits, at most 15, make no difference.
        let sign = self.digits.signum().cmp(&0);
        match apart {
            16.. => sign,
            ..=-16 => sign.reverse(),
            0.. => (self.digits * 10_i128.pow(apart.try_into().unwrap())).cmp(&other.digits),
            _ => self.digits.cmp(&(other.digits * 10_i128.pow((-apart).try_into().unwrap()))),
        }
    }

    fn is_multiple_of(self, other: Self) -> bool {
        let (mut value, mut divisor) = (self.digits, other.digits);
        for _ in other.power..self.power {
            value = value * 10 % divisor;
        }
        for _ in self.power..other.power {
            if divisor > 1 << 100 {
                return value == 0;
            }
            divisor *= 10;
        }
        value % divisor == 0
    }
}

#[derive(Clone, Debug, Default)]
struct Set {
    low: Option<(&'static str, bool)>,
    high: Option<(&'static str, bool)>,
    multiples: Vec<&'static str>,
    others: Vec<&'static str>,
    values: Vec<&'static str>,
    /// In draft-04: whether it must be an integer, or must not.
    spelled: Option<bool>,
}

impl Set {
    fn schema(&self) -> String {
        let mut all = vec![r#"{"type": "number"}"#.to_owned()];
        for (bound, name, flag) in
            [(self.low, "minimum", "exclusiveMinimum"), (self.high, "maximum", "exclusiveMaximum")]
        {
            if let Some((value, is_exclusive)) = bound {
                all.push(match (is_exclusive, self.spelled) {
                    (true, Some(_)) => format!(r#"{{"{name}": {value}, "{flag}": true}}"#),
                    (true, None) => format!(r#"{{"{flag}": {value}}}"#),
                    (false, _) => format!(r#"{{"{name}": {value}}}"#),
                });
            }
        }
        all.extend(self.multiples.iter().map(|m| format!(r#"{{"multipleOf": {m}}}"#)));
        all.extend(self.others.iter().map(|m| format!(r#"{{"not": {{"multipleOf": {m}}}}}"#)));
        if !self.values.is_empty() {
            all.push(format!(r#"{{"enum": [{}]}}"#, self.values.join(", ")));
        }
        match self.spelled {
            Some(true) => all.push(r#"{"type": "integer"}"#.to_owned()),
            Some(false) => all.push(r#"{"not": {"type": "integer"}}"#.to_owned()),
            None => {}
        }
        let version = if self.spelled.is_some() { "draft-04" } else { "draft-07" };
        let all = all.join(", ");
        format!(r#"{{"$schema": "http://json-schema.org/{version}/schema#", "allOf": [{all}]}}"#)
    }

    /// Whether numbers are written without an exponent unless asked for: integers and listed ones.
    fn is_plain(&self) -> bool {
        self.multiples.contains(&"1") || self.spelled == Some(true) || !self.values.is_empty()
    }

    /// Whether a number, written as JSON writes numbers, is in the set and may be written so.
    fn has(&self, text: &str, numbers: Numbers) -> bool {
        let value = Written::read(text);
        let has_exponent = text.contains(['e', 'E']);
        if has_exponent && numbers == Numbers::Plain && self.is_plain() {
            return false;
        }
        let is_above = |bound: Option<(&str, bool)>, side: Ordering| {
            bound.is_none_or(|(bound, is_exclusive)| {
                let order = value.cmp(Written::read(bound));
                order == side || (order == Ordering::Equal && !is_exclusive)
            })
        };
        is_above(self.low, Ordering::Greater)
            && is_above(self.high, Ordering::Less)
            && self.multiples.iter().all(|m| value.is_multiple_of(Written::read(m)))
            && !self.others.iter().any(|m| value.is_multiple_of(Written::read(m)))
            && (self.values.is_empty()
                || self.values.iter().any(|v| value.cmp(Written::read(v)) == Ordering::Equal))
            && self
                .spelled
                .is_none_or(|is_integer| is_integer != (has_exponent || text.contains('.')))
    }
}

/// What may follow a text that some JSON number begins with, and whether it is one.
fn grammar_of_numbers(text: &[u8]) -> (Vec<u8>, bool) {
    let digits = b"0123456789";
    let (mantissa, exponent) = match text.iter().position(|b| b"eE".contains(b)) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    if let Some(exponent) = exponent {
        let is_complete = exponent.last().is_some_and(u8::is_ascii_digit);
        let more: &[u8] = if exponent.is_empty() { b"0123456789+-" } else { digits };
        return (more.to_vec(), is_complete);
    }
    let whole = mantissa.strip_prefix(b"-").unwrap_or(mantissa);
    match (whole, whole.contains(&b'.')) {
        ([], _) if mantissa.is_empty() => (b"0123456789-".to_vec(), false),
        ([] | [.., b'.'], _) => (digits.to_vec(), false),
        (_, true) => (b"0123456789eE".to_vec(), true),
        (b"0", false) => (b".eE".to_vec(), true),
        (_, false) => (b"0123456789.eE".to_vec(), true),
    }
}

fn vocabulary() -> Arc<Vocabulary> {
    let tokens = (0..=255_u8).map(|byte| Some(vec![byte])).chain([None]);
    Arc::new(Vocabulary::new(tokens, Vec::new(), vec![256]).expect("a vocabulary"))
}

struct Check<'s> {
    set: &'s Set,
    numbers: Numbers,
    /// A way to the end from each state that was looked at.
    endings: HashMap<String, Vec<u8>>,
}

impl Check<'_> {
    /// That everything allowed after `text` ends in a number of the set.
    fn allowed(
        &mut self,
        matcher: &Matcher,
        text: &mut Vec<u8>,
        more: usize,
    ) -> Result<(), String> {
        let ending = self.ending(matcher, text)?;
        let whole = [&text[..], &ending].concat();
        let whole = String::from_utf8(whole).expect("ASCII");
        if !self.set.has(&whole, self.numbers) {
            return Err(format!("{whole} was accepted"));
        }
        if more == 0 {
            return Ok(());
        }
        for byte in matcher.fork().next_bytes().expect("no limit") {
            let mut next = matcher.fork();
            if !next.accept_bytes(&[byte]).expect("no limit") {
                return Err(format!("{:?} then {:?} is not allowed", text, byte as char));
            }
            text.push(byte);
            self.allowed(&next, text, more - 1)?;
            text.pop();
        }
        Ok(())
    }

    fn ending(&mut self, matcher: &Matcher, text: &[u8]) -> Result<Vec<u8>, String> {
        let start = matcher.describe();
        if let Some(known) = self.endings.get(&start) {
            return Ok(known.clone());
        }
        let mut seen = HashSet::from([start.clone()]);
        let mut open = VecDeque::from([(matcher.fork(), Vec::new())]);
        for _ in 0..SEARCH {
            let Some((mut at, ending)) = open.pop_front() else { break };
            if at.may_stop() {
                self.endings.insert(start, ending.clone());
                return Ok(ending);
            }
            for byte in at.next_bytes().expect("no limit") {
                let mut next = at.fork();
                assert!(next.accept_bytes(&[byte]).expect("no limit"));
                if seen.insert(next.describe()) {
                    let mut ending = ending.clone();
                    ending.push(byte);
                    open.push_back((next, ending));
                }
            }
        }
        Err(format!("{} leads nowhere", String::from_utf8_lossy(text)))
    }

    /// That every number of the set over `bytes` is allowed; `matcher` stands after `text`, and is
    /// nothing where that was refused.
    fn complete(
        &self,
        matcher: Option<&Matcher>,
        text: &mut Vec<u8>,
        bytes: &[u8],
        more: usize,
    ) -> Result<(), String> {
        let (next, is_number) = grammar_of_numbers(text);
        let written = String::from_utf8(text.clone()).expect("ASCII");
        let is_in = is_number && self.set.has(&written, self.numbers);
        if is_in != matcher.is_some_and(Matcher::may_stop) {
            return Err(format!("{written} is in the set: {is_in}"));
        }
        if more == 0 {
            return Ok(());
        }
        for byte in next.into_iter().filter(|byte| bytes.contains(byte)) {
            let after = matcher.and_then(|matcher| {
                let mut after = matcher.fork();
                after.accept_bytes(&[byte]).expect("no limit").then_some(after)
            });
            text.push(byte);
            self.complete(after.as_ref(), text, bytes, more - 1)?;
            text.pop();
        }
        Ok(())
    }
}

/// Tries a set in one way of spelling: all allowed texts of up to `all` bytes, and all numbers of
/// up to `numbers` bytes over some digits.
fn check(
    set: &Set,
    numbers: Numbers,
    all: usize,
    digits: &[u8],
    long: usize,
) -> Result<(), String> {
    let schema = set.schema();
    let options = JsonSchemaOptions { numbers, ..JsonSchemaOptions::default() };
    let compiled = grammar(&schema, &options, &mut Budget::default()).and_then(|grammar| {
        let store = Arc::new(Store::new(1 << 20));
        CompiledGrammar::new(&grammar, vocabulary(), store, Limits::default())
    });
    let matcher = match compiled {
        Ok(compiled) => Some(Matcher::new(Arc::new(compiled))),
        Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => None,
        Err(error) => return Err(format!("{schema}: {error}")),
    };
    let mut check = Check { set, numbers, endings: HashMap::new() };
    let place = |what: String| format!("{schema} {numbers:?}: {what}");
    if let Some(matcher) = &matcher {
        check.allowed(matcher, &mut Vec::new(), all).map_err(place)?;
    }
    let bytes = [digits, &BYTES[10..14]].concat();
    check.complete(matcher.as_ref(), &mut Vec::new(), &bytes, long).map_err(place)
}

#[track_caller]
fn both(set: &Set) {
    for numbers in [Numbers::Plain, Numbers::Any] {
        check(set, numbers, 3, b"0125", 6).unwrap_or_else(|what| panic!("{what}"));
        check(set, numbers, 0, b"379", 5).unwrap_or_else(|what| panic!("{what}"));
    }
}

fn multiples(multiples: &[&'static str]) -> Set {
    Set { multiples: multiples.to_vec(), ..Set::default() }
}

#[test]
fn numbers_without_conditions() {
    both(&Set::default());
    both(&multiples(&["1"]));
}

#[test]
fn bounds() {
    let set = |low, high| Set { low, high, ..Set::default() };
    both(&set(Some(("0", false)), None));
    both(&set(Some(("0", true)), None));
    both(&set(None, Some(("-0.25", false))));
    both(&set(Some(("-1.5", true)), Some(("12.05", true))));
    both(&set(Some(("0.0995", false)), Some(("0.1", true))));
    both(&set(Some(("5", false)), Some(("5", false))));
    both(&set(Some(("9.95", true)), Some(("20100", false))));
    both(&set(Some(("1e30", false)), None));
}

#[test]
fn multiples_of_integers_and_decimals() {
    for divisor in ["2", "3", "7", "10", "100", "2.5", "0.01", "1e-8", "0.25", "125", "1e3", "0.3"]
    {
        both(&multiples(&[divisor]));
        let (low, high) = (Some(("-7", true)), Some(("250", false)));
        both(&Set { low, high, ..multiples(&[divisor]) });
        both(&Set { others: vec![divisor], ..Set::default() });
        both(&Set { others: vec![divisor], ..multiples(&["0.5"]) });
    }
    both(&multiples(&["4", "6", "0.1"]));
    both(&Set { low: Some(("100", true)), high: Some(("126", true)), ..multiples(&["25"]) });
    both(&Set { low: Some(("0.1", true)), high: Some(("0.2", true)), ..multiples(&["0.03"]) });
    both(&Set { others: vec!["2", "3", "5"], high: Some(("9", true)), ..multiples(&["1"]) });
}

#[test]
fn large_divisors() {
    let accepts = |schema: &str, text: &str| {
        let options = JsonSchemaOptions { numbers: Numbers::Any, ..JsonSchemaOptions::default() };
        let grammar = grammar(schema, &options, &mut Budget::default()).expect(schema);
        let store = Arc::new(Store::new(1 << 20));
        let compiled = CompiledGrammar::new(&grammar, vocabulary(), store, Limits::default());
        let mut matcher = Matcher::new(Arc::new(compiled.expect(schema)));
        matcher.accept_bytes(text.as_bytes()).expect("no limit") && matcher.may_stop()
    };
    let schema = r#"{"type": "integer", "multipleOf": 1000000007, "minimum": 1e20}"#;
    // 99999999993 * (10^9 + 7) = 100000000692999999951
    assert!(accepts(schema, "100000000692999999951"));
    assert!(accepts(schema, "1000000006929999999510000e-4"));
    assert!(!accepts(schema, "100000000692999999952"));
    assert!(!accepts(schema, "1000000007"));
    let schema = r#"{"multipleOf": 1e-300, "type": "number"}"#;
    assert!(accepts(schema, "3e-300") && accepts(schema, "1e300") && !accepts(schema, "3e-301"));
    let schema = r#"{"multipleOf": 0.123456789, "type": "integer"}"#;
    assert!(accepts(schema, "123456789") && !accepts(schema, "1e308"));
}

/// Where a mask takes states as one that no token tells apart, each token must be refused or
/// accepted all the same.
#[test]
fn masks_with_long_tokens() {
    let mut tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).collect();
    tokens.extend((0..1000).map(|n| format!("{n:03}").into_bytes()));
    tokens.extend((0..100).map(|n| format!("{n:02}").into_bytes()));
    let others = [
        "7,", "0]", "001]", "-1", "-12", "[1", "[-98", "1e2", "e-1", "E+", ".5", ".07", "0.0",
        "5.", "000e9", "7]", "14]", "1.4", "00.", "[7,-",
    ];
    tokens.extend(others.map(|text| text.as_bytes().to_vec()));
    let all = tokens.clone().into_iter().map(Some).chain([None]);
    let stop = u32::try_from(tokens.len()).unwrap();
    let vocabulary = Arc::new(Vocabulary::new(all, Vec::new(), vec![stop]).expect("a vocabulary"));
    let mut seed = 1_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    // What is shared by all is found by content.
    let store = Arc::new(Store::new(16 << 20));
    let check = |matcher: &mut Matcher| -> Vec<usize> {
        let mut mask = vec![0_u32; tokens.len() / 32 + 1];
        matcher.fill_mask(&mut mask).expect("no limit");
        let is_set = |&id: &usize| mask[id / 32] >> (id % 32) & 1 == 1;
        let allowed: Vec<usize> = (0..tokens.len()).filter(is_set).collect();
        let is_accepted = |&id: &usize| matcher.fork().accept_bytes(&tokens[id]).unwrap();
        let accepted: Vec<usize> = (0..tokens.len()).filter(is_accepted).collect();
        assert_eq!(allowed, accepted, "{}", matcher.describe());
        accepted
    };
    let far = r#""multipleOf": 1000000007, "minimum": -1e15, "maximum": 1e13"#;
    let between = r#""multipleOf": 1000000007, "minimum": 3e12, "exclusiveMaximum": 4e12"#;
    // Keywords, and a number for which they make the difference.
    for (keywords, number) in [
        (r#""multipleOf": 1000000007"#, "12000000084"),
        (far, "12000000084"),
        (between, "3500000024500"),
        (r#""multipleOf": 1024"#, "123904"),
        (r#""multipleOf": 1000003e-3"#, "5000.015"),
        (r#""multipleOf": 20011e3, "minimum": 5"#, "140077000"),
        (r#""multipleOf": 1099511627776, "maximum": 1e30"#, "3298534883328"),
        (r#""not": {"multipleOf": 1000003}"#, "7000022"),
    ] {
        for numbers in [Numbers::Plain, Numbers::Any] {
            let schema =
                format!(r#"{{"type": "array", "items": {{"type": "number", {keywords}}}}}"#);
            let options = JsonSchemaOptions { numbers, ..JsonSchemaOptions::default() };
            let grammar = grammar(&schema, &options, &mut Budget::default()).expect("a schema");
            // One that opens new generations all the time copies its states.
            let grammar_bytes = if numbers == Numbers::Any { 20_000 } else { 1 << 20 };
            let limits = Limits { grammar_bytes, ..Limits::default() };
            let compiled =
                CompiledGrammar::new(&grammar, vocabulary.clone(), store.clone(), limits);
            let start = Matcher::new(Arc::new(compiled.expect("compiled")));
            for _ in 0..3 {
                let mut matcher = start.fork();
                for _ in 0..6 {
                    let mut next = check(&mut matcher);
                    let is_digits = |id: &usize| tokens[*id].iter().all(u8::is_ascii_digit);
                    if next.iter().any(is_digits) {
                        next.retain(is_digits);
                    }
                    if next.is_empty() {
                        break;
                    }
                    let next = next[random(next.len())];
                    assert!(matcher.accept_bytes(&tokens[next]).unwrap());
                }
            }
            let mut matcher = start.fork();
            for byte in format!("[{number}]").bytes() {
                check(&mut matcher);
                assert!(matcher.accept_bytes(&[byte]).unwrap(), "{schema}");
            }
        }
    }
}

#[test]
fn vocabularies_without_a_digit() {
    let tokens = (0..=255_u8).filter(|byte| !b"5eE".contains(byte)).map(|byte| Some(vec![byte]));
    let vocabulary = Vocabulary::new(tokens.chain([None]), Vec::new(), vec![253]);
    let vocabulary = Arc::new(vocabulary.expect("a vocabulary"));
    let compile = |schema: &str| {
        let grammar = grammar(schema, &JsonSchemaOptions::default(), &mut Budget::default());
        let store = Arc::new(Store::new(1 << 20));
        CompiledGrammar::new(&grammar.expect(schema), vocabulary.clone(), store, Limits::default())
            .map(|compiled| Matcher::new(Arc::new(compiled)))
    };
    let mut matcher = compile(r#"{"type": "integer", "minimum": 4, "maximum": 58}"#).unwrap();
    assert_eq!(matcher.next_bytes().unwrap(), b"12346789");
    let nothing = compile(r#"{"type": "integer", "minimum": 50, "maximum": 59}"#);
    let error = nothing.and_then(|mut matcher| matcher.next_bytes()).expect_err("no digit 5");
    assert!(matches!(error.kind(), ErrorKind::Vocabulary { .. }), "{error}");
}

#[test]
fn lists_of_values() {
    let set = |values: &[&'static str]| Set { values: values.to_vec(), ..Set::default() };
    for values in [
        &["0"][..],
        &["1", "10", "100"],
        &["0.5", "-12.5", "2e2", "200.5", "-20"],
        &["1e3", "0.015"],
        &["15", "150", "155", "0.15", "1e-3", "1e12", "0"],
    ] {
        both(&set(values));
        both(&Set { others: vec!["10"], ..set(values) });
    }
}

#[test]
fn integers_of_draft_4_are_spelled_so() {
    for spelled in [true, false] {
        let set = Set { spelled: Some(spelled), ..Set::default() };
        both(&set);
        both(&Set { low: Some(("-3", true)), high: Some(("21", false)), ..set.clone() });
        both(&Set { multiples: vec!["2.5"], ..set.clone() });
        both(&Set { values: vec!["1", "2.5", "20"], ..set });
    }
}

#[test]
fn what_is_empty_is_found() {
    let empty = [
        Set { low: Some(("11", false)), high: Some(("19", false)), ..multiples(&["10"]) },
        Set { low: Some(("0", true)), high: Some(("1", true)), ..multiples(&["1"]) },
        Set { others: vec!["2"], ..multiples(&["4"]) },
        Set {
            others: vec!["2", "3"],
            low: Some(("8", false)),
            high: Some(("10", false)),
            ..multiples(&["1"])
        },
        Set { low: Some(("1e5000", false)), high: Some(("1e5000", false)), ..multiples(&["7"]) },
    ];
    for set in empty {
        let grammar = grammar(&set.schema(), &JsonSchemaOptions::default(), &mut Budget::default());
        let error = grammar.expect_err("it has no value");
        assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{set:?}: {error}");
    }
}

#[test]
fn divisors_have_a_limit() {
    let grammar =
        |schema: &str| grammar(schema, &JsonSchemaOptions::default(), &mut Budget::default());
    let long = format!(r#"{{"type": "number", "multipleOf": 1{}1}}"#, "0".repeat(3_000));
    let error = grammar(&long).expect_err("too long");
    assert!(matches!(error.kind(), ErrorKind::LimitReached { limit: "number_digits", .. }));
    let schema = format!(r#"{{"type": "number", "maximum": 1{}1}}"#, "0".repeat(3_000));
    grammar(&schema).expect("bounds may be long");
    grammar(r#"{"type": "integer", "minimum": 1e100000, "maximum": 1e100001}"#).expect("and far");
}

fn bound() -> impl Strategy<Value = Option<(&'static str, bool)>> {
    let values: &'static [&'static str] =
        &["0", "1", "-1", "0.5", "-0.5", "2", "9.99", "10", "0.037", "-12", "105", "1e4", "2e-3"];
    prop::option::of((prop::sample::select(values), any::<bool>()))
}

fn divisors(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    let values: &'static [&'static str] =
        &["1", "2", "3", "5", "7", "10", "12", "0.5", "0.25", "0.1", "0.03", "1.5", "40", "1e3"];
    prop::collection::vec(prop::sample::select(values), 0..=most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_sets(
        (low, high) in (bound(), bound()),
        (multiples, others) in (divisors(2), divisors(2)),
        spelled in prop::option::weighted(0.2, any::<bool>()),
        is_plain: bool,
    ) {
        let set = Set { low, high, multiples, others, spelled, values: Vec::new() };
        let numbers = if is_plain { Numbers::Plain } else { Numbers::Any };
        check(&set, numbers, 2, b"0135", 5).map_err(TestCaseError::fail)?;
    }
}
