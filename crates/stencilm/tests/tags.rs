//! Structural tags: masks against a reader that looks for the first mark in the text, and hostile
//! sources.

#[allow(dead_code, reason = "grammars are read from tags here, not from schemas")]
#[path = "support/masks.rs"]
mod masks;

use std::thread;

use proptest::prelude::*;
use stencilm::frontend::json_schema::JsonSchemaOptions;
use stencilm::{Budget, Error, ErrorKind, Grammar, Limits, Location, Matcher};

use masks::{compile_grammar, limits, vocabulary, walk};

fn read(tag: &str) -> Result<Grammar, Error> {
    stencilm::from_structural_tag(tag, &JsonSchemaOptions::default(), &mut Budget::default())
}

fn format(format: &str) -> Result<Grammar, Error> {
    read(&format!(r#"{{"type":"structural_tag","format":{format}}}"#))
}

/// Free text with triggers, each followed by one of the rests of its tags.
#[derive(Clone, Debug)]
struct Triggered {
    triggers: Vec<String>,
    /// The trigger's place, and what follows it up to the end of the tag.
    tags: Vec<(usize, String)>,
    excludes: Vec<String>,
    at_least_one: bool,
    stop_after_first: bool,
}

/// What a text is.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    is_sentence: bool,
    is_live: bool,
    /// Any character may come next.
    is_free: bool,
}

/// The end of the first of these marks in the text, and which of them end there.
fn first_mark<'m>(text: &str, marks: &'m [String]) -> Option<(usize, Vec<&'m String>)> {
    (1..=text.len()).find_map(|end| {
        let found: Vec<_> =
            marks.iter().filter(|mark| text.as_bytes()[..end].ends_with(mark.as_bytes())).collect();
        (!found.is_empty()).then_some((end, found))
    })
}

/// Whether no mark is complete before the end of this one: it could never come.
fn is_plain(mark: &str, all: &[String]) -> bool {
    first_mark(mark, all).is_none_or(|(end, _)| end == mark.len())
}

impl Triggered {
    fn json(&self) -> String {
        let tags: Vec<_> = self
            .tags
            .iter()
            .map(|(trigger, rest)| {
                let (inside, end) = rest.split_at(rest.len() / 2);
                serde_like(&[
                    ("begin", &self.triggers[*trigger]),
                    ("content", r#"{"type":"const_string","value":"@"}"#),
                    ("end", end),
                ])
                .replace('@', inside)
            })
            .collect();
        format!(
            r#"{{"type":"triggered_tags","triggers":{:?},"tags":[{}],"excludes":{:?},
                "at_least_one":{},"stop_after_first":{}}}"#,
            self.triggers,
            tags.join(","),
            self.excludes,
            self.at_least_one,
            self.stop_after_first
        )
    }

    fn judge(&self, text: &str) -> Verdict {
        let mut verdict = Verdict::default();
        let marks = [&self.triggers[..], &self.excludes[..]].concat();
        let mut todo = vec![(0, true)];
        let mut done = Vec::new();
        while let Some((at, is_first)) = todo.pop() {
            if done.contains(&(at, is_first)) {
                continue;
            }
            done.push((at, is_first));
            let rest = &text[at..];
            let mut starts = Vec::new();
            if self.stop_after_first && !is_first {
                verdict.is_sentence |= rest.is_empty();
                verdict.is_live |= rest.is_empty();
            } else if self.at_least_one && is_first {
                let begun = |(place, _): &(usize, _)| self.triggers[*place].starts_with(rest);
                verdict.is_live |= self.tags.iter().any(begun);
                let begun = |&place: &usize| rest.starts_with(&self.triggers[place]);
                starts.extend(
                    (0..self.triggers.len())
                        .filter(begun)
                        .map(|place| (place, at + self.triggers[place].len())),
                );
            } else if let Some((end, found)) = first_mark(rest, &marks) {
                let is_found = |&place: &usize| found.contains(&&self.triggers[place]);
                let places = (0..self.triggers.len()).filter(is_found);
                starts.extend(places.map(|place| (place, at + end)));
            } else {
                verdict = Verdict { is_sentence: true, is_live: true, is_free: true };
            }
            for (place, end) in starts {
                for (_, tag) in self.tags.iter().filter(|(trigger, _)| *trigger == place) {
                    verdict.is_live |= tag.starts_with(&text[end..]);
                    if text[end..].starts_with(tag) {
                        todo.push((end + tag.len(), false));
                    }
                }
            }
        }
        verdict
    }
}

/// A JSON object of texts; what looks like an object stays one.
fn serde_like(members: &[(&str, &str)]) -> String {
    let member = |(name, value): &(&str, &str)| {
        if value.starts_with('{') {
            format!("{name:?}:{value}")
        } else {
            format!("{name:?}:{value:?}")
        }
    };
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

/// The same verdict for bytes: in free text a character may be under way.
fn of_bytes(text: &[u8], judge: impl Fn(&str) -> Verdict) -> Verdict {
    match std::str::from_utf8(text) {
        Ok(text) => judge(text),
        Err(error) if error.error_len().is_none() => {
            let whole = std::str::from_utf8(&text[..error.valid_up_to()]).expect("it is valid");
            Verdict { is_sentence: false, is_live: judge(whole).is_free, is_free: false }
        }
        Err(_) => Verdict::default(),
    }
}

fn marks(most: usize) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set("[ab]{1,3}", 0..=most).prop_map(|set| set.into_iter().collect())
}

fn triggered() -> impl Strategy<Value = Triggered> {
    let triggers = proptest::collection::btree_set("[ab]{1,3}", 1..=3);
    let tags = proptest::collection::vec((any::<usize>(), "[abc]{2,4}"), 1..4);
    (triggers, tags, marks(2), any::<bool>(), any::<bool>()).prop_filter_map(
        "a tag begins with one trigger",
        |(triggers, tags, excludes, at_least_one, stop_after_first)| {
            let triggers: Vec<String> = triggers.into_iter().collect();
            let tags = tags.into_iter().map(|(at, rest)| (at % triggers.len(), rest)).collect();
            let is_apart = |trigger: &&String| {
                triggers.iter().filter(|other| trigger.starts_with(*other)).count() == 1
            };
            let case = Triggered {
                tags,
                excludes,
                at_least_one,
                stop_after_first,
                triggers: triggers.clone(),
            };
            let all = [&case.triggers[..], &case.excludes[..]].concat();
            let is_plain = all.iter().all(|mark| is_plain(mark, &all));
            (is_plain && triggers.iter().all(|trigger| is_apart(&trigger))).then_some(case)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn free_text_ends_at_the_first_trigger(
        case in triggered(),
        tokens in proptest::collection::vec("[abcé]{2,6}", 0..40),
        choices in proptest::collection::vec(0_usize..1_000, 1..16),
        is_small in any::<bool>(),
    ) {
        let grammar = format(&case.json()).expect("a structural tag");
        let tokens = vocabulary(&tokens);
        let compiled = compile_grammar(&grammar, &tokens, limits(is_small))?;
        let judge = |text: &[u8]| of_bytes(text, |text| case.judge(text));
        walk(&tokens, &compiled, &|text| judge(text).is_live, &|text| judge(text).is_sentence, &choices)?;
    }

    #[test]
    fn a_tag_ends_at_the_first_end(
        ends in proptest::collection::btree_set("[ab]{1,3}", 1..=3),
        excludes in marks(2),
        tokens in proptest::collection::vec("[abcé]{2,6}", 0..40),
        choices in proptest::collection::vec(0_usize..1_000, 1..16),
    ) {
        let ends: Vec<String> = ends.into_iter().collect();
        let tag = format!(
            r#"{{"type":"tag","begin":"","content":{{"type":"any_text","excludes":{excludes:?}}},"end":{ends:?}}}"#
        );
        let grammar = format(&tag).expect("a structural tag");
        let tokens = vocabulary(&tokens);
        let compiled = compile_grammar(&grammar, &tokens, Limits::default())?;
        let all = [&ends[..], &excludes[..]].concat();
        prop_assume!(all.iter().all(|mark| is_plain(mark, &all)));
        let judge = |text: &[u8]| of_bytes(text, |text| match first_mark(text, &all) {
            None => Verdict { is_sentence: false, is_live: true, is_free: true },
            Some((end, found)) => {
                let is_end = end == text.len() && found.iter().any(|mark| ends.contains(mark));
                Verdict { is_sentence: is_end, is_live: is_end, is_free: false }
            }
        });
        walk(&tokens, &compiled, &|text| judge(text).is_live, &|text| judge(text).is_sentence, &choices)?;
    }
}

fn accepts(grammar: &Grammar, text: &str) -> bool {
    let tokens = vocabulary(&[]);
    let compiled = compile_grammar(grammar, &tokens, Limits::default()).expect("compiles");
    let mut matcher = Matcher::new(compiled);
    text.bytes().all(|byte| matcher.accept(byte.into()).expect("no limit")) && matcher.may_stop()
}

#[test]
fn the_end_inside_a_string_ends_no_tag() {
    let tag = r#"{"type":"tag","begin":"<a>","content":{"type":"json_schema","json_schema":{}},"end":"</a>"}"#;
    let grammar = format(tag).expect("a structural tag");
    assert!(accepts(&grammar, r#"<a>{"x": "</a>"}</a>"#));
    assert!(!accepts(&grammar, r#"<a>{"x": "</a>"#));
}

#[test]
fn excluded_texts_that_overlap_one_end_do_not_count_before_another() {
    let tag = r#"{"type":"tag","begin":"","content":{"type":"any_text","excludes":["bbb"]},
        "end":["a","bba"]}"#;
    let grammar = format(tag).expect("a structural tag");
    for (text, expected) in [("ba", true), ("a", true), ("bba", true), ("bbba", false)] {
        assert_eq!(accepts(&grammar, text), expected, "{text}");
    }
}

#[test]
fn parameters_are_those_of_the_schema() {
    let tag = r##"{"type":"json_schema","style":"glm_xml","json_schema":{"type":"object","$defs":{"n":{"type":"integer"}},
        "properties":{"q":{"type":"string","maxLength":3},"n":{"$ref":"#/$defs/n"},"m":{"enum":["x",null,{"k":1}]}},
        "required":["q"],"minProperties":2,"additionalProperties":false}}"##;
    let grammar = format(tag).expect("a structural tag");
    let arg = |name: &str, value: &str| {
        format!("<arg_key>{name}</arg_key><arg_value>{value}</arg_value>")
    };
    for (members, expected) in [
        (vec![("q", "a\"<"), ("n", "12")], true),
        (vec![("q", ""), ("m", "x")], true),
        (vec![("q", ""), ("m", " null")], true),
        (vec![("q", ""), ("m", "{\"k\": 1}")], true),
        (vec![("q", ""), ("m", "\"x\"")], false),
        (vec![("q", "four"), ("n", "1")], false),
        (vec![("q", "a")], false),
        (vec![("n", "1"), ("m", "x")], false),
        (vec![("n", "1"), ("q", "a")], false),
        (vec![("q", "a"), ("n", "1.5")], false),
    ] {
        let text: String = members.iter().map(|(name, value)| arg(name, value)).collect();
        assert_eq!(accepts(&grammar, &text), expected, "{text}");
    }
    let two = format!("{}\n{}", arg("q", "é"), arg("n", "1"));
    assert!(accepts(&grammar, &two));
    assert!(accepts(&grammar, &two.replace("</arg_key>", "</arg_key>\n")));
}

#[test]
fn a_string_that_cannot_be_written_is_refused() {
    let tag = r#"{"type":"json_schema","style":"qwen_xml","json_schema":
        {"type":"object","properties":{"v":{"const":"</parameter>"}},"required":["v"]}}"#;
    let error = format(tag).expect_err("its end would be taken for the end");
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    let place = "/format/json_schema/properties/v".to_owned();
    assert_eq!(error.location(), &Location::Pointer(place));
}

#[test]
fn tokens_by_number() {
    // The vocabulary of these tests has the bytes as tokens.
    let check = |text: &str, accepted: &[&str], refused: &[&str]| {
        let grammar = format(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for text in accepted {
            assert!(accepts(&grammar, text), "{text}");
        }
        for text in refused {
            assert!(!accepts(&grammar, text), "{text}");
        }
    };
    let tag = |content: &str| {
        format!(
            r#"{{"type":"tag","begin":{{"type":"token","token":60}},"content":{content},
                "end":{{"type":"token","token":62}}}}"#
        )
    };
    check(&tag(r#"{"type":"any_text","max_tokens":0}"#), &["<>"], &["<a>"]);
    check(&tag(r#"{"type":"any_tokens"}"#), &["<>", "<ab<>"], &["<a", "<a>b>"]);
    let some = r#"{"type":"any_tokens","exclude_tokens":[98],"max_tokens":2}"#;
    check(&tag(some), &["<>", "<ac>"], &["<ab>", "<aaa>"]);
    check(&tag(r#"{"type":"exclude_token","exclude_tokens":[98,99]}"#), &["<a>"], &["<b>", "<>"]);
    let triggered = format!(
        r#"{{"type":"token_triggered_tags","trigger_tokens":[60],"exclude_tokens":[33],
            "tags":[{}]}}"#,
        tag(r#"{"type":"const_string","value":"x"}"#)
    );
    check(&triggered, &["", "ab<x>c<x>", ">"], &["a<", "a!", "<y>"]);
    let dispatch = r#"{"type":"token_dispatch","loop":false,
        "rules":[[60,{"type":"const_string","value":"x"}]]}"#;
    check(dispatch, &["ab", "a<x"], &["a<xb", "a<"]);
}

#[test]
fn grammars_in_both_languages() {
    let lark = r#"{"type":"grammar","syntax":"lark","grammar":"start: \"a\"~2 | B\nB: /b+/"}"#;
    let grammar = format(lark).expect("a grammar");
    assert!(accepts(&grammar, "aa") && accepts(&grammar, "bbb") && !accepts(&grammar, "a"));
    // XGrammar ignores nothing before the first terminal.
    let spaced = r#"{"type":"grammar","syntax":"lark","grammar":"start: \"a\"\n%ignore \" \""}"#;
    let grammar = format(spaced).expect("a grammar");
    assert!(accepts(&grammar, "a ") && !accepts(&grammar, " a"));
}

#[test]
fn marks_nest() {
    let tag = r##"{"type":"json_schema","style":"cohere_xml","json_schema":{"type":"object",
        "properties":{"o":{"$ref":"#"},"a":{"type":"array","items":{"anyOf":[
            {"type":"string"},{"type":"array","items":{"type":"integer"},"maxItems":1}]}},
            "u":{"type":"array","uniqueItems":true}},
        "additionalProperties":false}}"##;
    let grammar = format(tag).expect("a structural tag");
    let value = |name: &str, kind: &str, value: &str| {
        format!(r#"<cofl:value name="{name}" type="{kind}">{value}</cofl:value>"#)
    };
    let item =
        |kind: &str, value: &str| format!(r#"<cofl:value type="{kind}">{value}</cofl:value>"#);
    let inner = item("list", &item("json", "1"));
    let both = format!("{}\n{inner}{}", item("raw", "x, \"y\""), item("list", ""));
    for good in [
        value("o", "dict", ""),
        value("o", "dict", &format!("\n{}", value("o", "dict", &value("a", "list", "")))),
        value("a", "list", &both),
        value("u", "json", "[1, 2]"),
    ] {
        assert!(accepts(&grammar, &good), "{good}");
    }
    for bad in [
        value("o", "json", "{}"),
        value("o", "dict", &value("x", "json", "1")),
        value("a", "list", &item("list", &format!("{0}{0}", item("json", "1")))),
        value("a", "list", &item("json", "1")),
        value("u", "json", "[1, 1]"),
    ] {
        assert!(!accepts(&grammar, &bad), "{bad}");
    }
}

/// As `XGrammar` reads it.
#[test]
fn the_outermost_type_may_be_left_out() {
    let read = |tag: &str| {
        stencilm::from_structural_tag(tag, &JsonSchemaOptions::default(), &mut Budget::default())
    };
    let grammar = read(r#"{"format":{"type":"const_string","value":"a"}}"#).expect("a tag");
    assert!(accepts(&grammar, "a") && !accepts(&grammar, "b"));
    for wrong in [r#"{"type":"tag","format":{"value":"a"}}"#, r#"{"type":null,"format":{}}"#, "{}"]
    {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn mistakes_have_a_place() {
    for (format_text, pointer) in [
        (r#"{"type":"regex","pattern":"("}"#, "/format/pattern"),
        (r#"{"type":"sequence","elements":[{"type":"const_string"}]}"#, "/format/elements/0"),
        (r#"{"type":"grammar","grammar":"x ::= "}"#, "/format/grammar"),
        (r#"{"type":"any_text","excluded":[]}"#, "/format"),
        (r#"{"type":"json_schema","json_schema":{"type":"nothing"}}"#, "/format/json_schema/type"),
        (r#"{"type":"any_text","max_tokens":-3}"#, "/format/max_tokens"),
        (r#"{"type":"exclude_token","exclude_tokens":["<x>"]}"#, "/format"),
        (r#"{"type":"token","token":-3}"#, "/format/token"),
        (
            r#"{"type":"tag","begin":"<","content":{"type":"any_tokens"},"end":">"}"#,
            "/format/content",
        ),
        (r#"{"type":"grammar","grammar":"start: x","syntax":"lark"}"#, "/format/grammar"),
        (r#"{"type":"grammar","grammar":"start: x","syntax":"yacc"}"#, "/format"),
    ] {
        let error = format(format_text).expect_err(format_text);
        assert_eq!(error.location(), &Location::Pointer(pointer.to_owned()), "{error}");
    }
}

#[test]
fn hostile_tags_are_errors() {
    let work = || {
        let nested = |count: usize| {
            let open = r#"{"type":"optional","content":"#.repeat(count);
            format!("{open}{}{}", r#"{"type":"const_string","value":"x"}"#, "}".repeat(count))
        };
        assert!(format(&nested(200)).is_ok());
        for count in [300, 100_000] {
            let error = format(&nested(count)).expect_err("too deep");
            assert!(
                matches!(error.kind(), ErrorKind::LimitReached { limit: "nesting", .. }),
                "{error}"
            );
        }
        let tags = r#"{"type":"tag","begin":"<","content":"#.repeat(200);
        let ends = r#","end":">"}"#.repeat(200);
        assert!(format(&format!("{tags}{}{ends}", r#"{"type":"any_text"}"#)).is_ok());
        let text = "ab".repeat(500_000);
        let long = format!(r#"{{"type":"any_text","excludes":["{text}"]}}"#);
        let grammar = format(&long).expect("one long mark");
        assert!(accepts(&grammar, "ababab"));
        let many: Vec<String> = (0..2_000).map(|at| format!("{{\"type\":\"tag\",\"begin\":\"<f{at}>\",\"content\":{{\"type\":\"any_text\"}},\"end\":\"<\"}}")).collect();
        let many =
            format!(r#"{{"type":"triggered_tags","triggers":["<f"],"tags":[{}]}}"#, many.join(","));
        let grammar = format(&many).expect("many tags");
        assert!(accepts(&grammar, "x <f1999>text<"));
    };
    let thread = thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn quotations_are_all_parts_of_a_text() {
    let text = "abcabéab";
    let grammar = stencilm::from_substrings(text, &mut Budget::default()).expect("a text");
    let parts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let characters = ['a', 'b', 'c', 'é'];
    let mut words = vec![String::new()];
    for _ in 0..5 {
        for word in words.clone() {
            words.extend(characters.iter().map(|c| format!("{word}{c}")));
        }
        words.sort_unstable();
        words.dedup();
    }
    let tokens = vocabulary(&[]);
    let compiled = compile_grammar(&grammar, &tokens, Limits::default()).expect("compiles");
    for word in &words {
        let is_part = parts.iter().any(|&at| text[at..].starts_with(word.as_str()));
        let mut matcher = Matcher::new(compiled.clone());
        let is_accepted = word.bytes().all(|byte| matcher.accept(byte.into()).expect("no limit"))
            && matcher.may_stop();
        assert_eq!(is_accepted, is_part, "{word:?}");
    }
}

#[test]
fn combinations_mean_what_they_say() {
    let mut budget = Budget::default();
    let part = |pattern: &str| stencilm::from_regex(pattern, &mut Budget::default()).expect("one");
    let (a, b) = (part("a?"), part("b"));
    let both = stencilm::from_sequence(&[a.clone(), b.clone()], &mut budget).expect("fits");
    let any = stencilm::from_any_of(&[a, both.clone()], &mut budget).expect("fits");
    let some = stencilm::from_repeat(&any, 2, 3, &mut budget).expect("fits");
    let accepted: Vec<&str> =
        ["", "a", "ab", "abb", "bbb", "aaa", "aaaa", "bbbb", "abab", "ababab"]
            .into_iter()
            .filter(|text| accepts(&some, text))
            .collect();
    assert_eq!(accepted, ["", "a", "ab", "abb", "bbb", "aaa", "abab", "ababab"]);
    assert!(stencilm::from_any_of(&[], &mut budget).is_err());
    // Doubled again and again: parts are known by what they are.
    let mut whole = both;
    for _ in 0..12 {
        whole = stencilm::from_sequence(&[whole.clone(), whole], &mut budget).expect("fits");
    }
    assert!(accepts(&whole, &"ab".repeat(4_096)) && !accepts(&whole, &"ab".repeat(4_097)));
}
