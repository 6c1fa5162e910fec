//! Captures, budgets of tokens and temperatures, against every way to read a text, one by one.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stencilm::{Budget, CompiledGrammar, Limits, Matcher, Store, Vocabulary};

#[derive(Clone, Debug)]
enum Node {
    Byte(u8),
    Seq(Vec<Node>),
    Choice(Vec<Node>),
    Star(Box<Node>),
    Optional(Box<Node>),
    Call(usize),
}

#[derive(Clone, Debug)]
struct Rule {
    body: Node,
    is_captured: bool,
    max_tokens: Option<u32>,
    temperature: Option<u32>,
}

fn node(rules: usize) -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        3 => prop::sample::select(&b"ab"[..]).prop_map(Node::Byte),
        2 => (0..rules).prop_map(Node::Call),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 2..4).prop_map(Node::Seq),
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Node::Choice),
            2 => inner.clone().prop_map(|it| Node::Star(Box::new(it))),
            1 => inner.prop_map(|it| Node::Optional(Box::new(it))),
        ]
    })
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = (node(4), any::<bool>(), prop::option::of(1..4_u32), prop::option::of(0..3_u32));
    let rule = rule.prop_map(|(body, is_captured, max_tokens, temperature)| Rule {
        body,
        is_captured,
        max_tokens,
        temperature,
    });
    prop::collection::vec(rule, 4)
}

fn is_nullable(node: &Node, nullable: &[bool]) -> bool {
    match node {
        Node::Byte(_) => false,
        Node::Seq(parts) => parts.iter().all(|it| is_nullable(it, nullable)),
        Node::Choice(parts) => parts.iter().any(|it| is_nullable(it, nullable)),
        Node::Star(_) | Node::Optional(_) => true,
        Node::Call(rule) => nullable[*rule],
    }
}

/// The rules that may come first.
fn first_calls(node: &Node, nullable: &[bool], found: &mut Vec<usize>) {
    match node {
        Node::Byte(_) => {}
        Node::Seq(parts) => {
            for part in parts {
                first_calls(part, nullable, found);
                if !is_nullable(part, nullable) {
                    break;
                }
            }
        }
        Node::Choice(parts) => parts.iter().for_each(|it| first_calls(it, nullable, found)),
        Node::Star(part) | Node::Optional(part) => first_calls(part, nullable, found),
        Node::Call(rule) => found.push(*rule),
    }
}

fn is_productive(node: &Node, productive: &[bool]) -> bool {
    match node {
        Node::Byte(_) | Node::Star(_) | Node::Optional(_) => true,
        Node::Seq(parts) => parts.iter().all(|it| is_productive(it, productive)),
        Node::Choice(parts) => parts.iter().any(|it| is_productive(it, productive)),
        Node::Call(rule) => productive[*rule],
    }
}

/// Whether some rule has no end: the judge reads on and on in it.
fn is_endless(rules: &[Rule]) -> bool {
    let mut productive = vec![false; rules.len()];
    for _ in 0..=rules.len() {
        productive = rules.iter().map(|rule| is_productive(&rule.body, &productive)).collect();
    }
    productive.contains(&false)
}

/// Left recursion loses captures on purpose; see the tests by hand.
fn is_left_recursive(rules: &[Rule]) -> bool {
    let mut nullable = vec![false; rules.len()];
    for _ in 0..=rules.len() {
        nullable = rules.iter().map(|rule| is_nullable(&rule.body, &nullable)).collect();
    }
    (0..rules.len()).any(|start| {
        let mut seen = vec![false; rules.len()];
        let mut todo = vec![start];
        while let Some(rule) = todo.pop() {
            let mut found = Vec::new();
            first_calls(&rules[rule].body, &nullable, &mut found);
            for callee in found {
                if callee == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[callee], true) {
                    todo.push(callee);
                }
            }
        }
        false
    })
}

fn write(node: &Node) -> String {
    let joined = |parts: &[Node], between: &str| {
        let parts: Vec<String> = parts.iter().map(write).collect();
        format!("({})", parts.join(between))
    };
    match node {
        Node::Byte(byte) => format!("\"{}\"", char::from(*byte)),
        Node::Seq(parts) => joined(parts, " "),
        Node::Choice(parts) => joined(parts, " | "),
        Node::Star(part) => format!("({})*", write(part)),
        Node::Optional(part) => format!("({})?", write(part)),
        Node::Call(rule) => format!("r{rule}"),
    }
}

fn text_of(rules: &[Rule]) -> String {
    let mut text = String::new();
    for (place, rule) in rules.iter().enumerate() {
        let options = [
            rule.is_captured.then(|| "capture".to_owned()),
            rule.max_tokens.map(|most| format!("max_tokens={most}")),
            rule.temperature.map(|it| format!("temperature={it}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        let options =
            if options.is_empty() { String::new() } else { format!("[{}]", options.join(",")) };
        let _ = writeln!(text, "r{place}{options} ::= {}", write(&rule.body));
    }
    text
}

/// A call of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Instance {
    rule: usize,
    begin: usize,
    /// Whole tokens before its first byte.
    tokens: u32,
    end: Option<usize>,
}

/// What is left to do, last first.
#[derive(Clone, Debug)]
enum Op<'r> {
    Read(&'r Node),
    /// The next round of a star, which began at this byte.
    Again(&'r Node, usize),
    /// An instance ends.
    Return(usize),
}

/// One way to read a text.
#[derive(Clone, Debug, Default)]
struct Way<'r> {
    ops: Vec<Op<'r>>,
    /// All calls, in the order in which they began.
    calls: Vec<Instance>,
}

impl Way<'_> {
    fn open(&self) -> impl DoubleEndedIterator<Item = &Instance> {
        let returns = self.ops.iter().filter_map(|op| match op {
            Op::Return(call) => Some(*call),
            _ => None,
        });
        returns.map(|call| &self.calls[call])
    }

    /// What it captured: begin, end, rule; empty ones are none.
    fn captured(&self, rules: &[Rule]) -> Vec<(usize, usize, usize)> {
        let ended = self.calls.iter().filter_map(|it| Some((it.begin, it.end?, it.rule)));
        ended.filter(|it| rules[it.2].is_captured && it.0 < it.1).collect()
    }
}

const MOST_WAYS: usize = 3_000;

#[derive(Clone, Debug)]
struct Judge<'r> {
    rules: &'r [Rule],
    /// Each with a byte to read next, or at the end.
    ways: Vec<Way<'r>>,
    bytes: usize,
    tokens: u32,
    /// Calls that ended exactly here.
    ended: Vec<Instance>,
}

impl<'r> Judge<'r> {
    fn new(rules: &'r [Rule]) -> Option<Self> {
        let mut judge = Self { rules, ways: Vec::new(), bytes: 0, tokens: 0, ended: Vec::new() };
        let first = Way { ops: vec![Op::Read(&CALL_START)], calls: Vec::new() };
        judge.close(vec![first])?;
        Some(judge)
    }

    /// Goes on until each way needs a byte. None if there are too many.
    fn close(&mut self, mut todo: Vec<Way<'r>>) -> Option<()> {
        self.ways.clear();
        self.ended.clear();
        while let Some(mut way) = todo.pop() {
            if todo.len() + self.ways.len() > MOST_WAYS {
                return None;
            }
            let Some(op) = way.ops.pop() else {
                self.ways.push(way);
                continue;
            };
            match op {
                Op::Read(node @ Node::Byte(_)) => {
                    way.ops.push(Op::Read(node));
                    self.ways.push(way);
                }
                Op::Read(Node::Seq(parts)) => {
                    way.ops.extend(parts.iter().rev().map(Op::Read));
                    todo.push(way);
                }
                Op::Read(Node::Choice(parts)) => {
                    for part in parts {
                        let mut way = way.clone();
                        way.ops.push(Op::Read(part));
                        todo.push(way);
                    }
                }
                Op::Read(Node::Optional(part)) => {
                    todo.push(way.clone());
                    way.ops.push(Op::Read(part));
                    todo.push(way);
                }
                Op::Read(Node::Star(part)) => {
                    todo.push(way.clone());
                    way.ops.extend([Op::Again(part, self.bytes), Op::Read(part)]);
                    todo.push(way);
                }
                Op::Again(part, begin) => {
                    if begin < self.bytes {
                        todo.push(way.clone());
                        way.ops.extend([Op::Again(part, self.bytes), Op::Read(part)]);
                        todo.push(way);
                    }
                }
                Op::Read(Node::Call(rule)) => {
                    let (rule, begin, tokens) = (*rule, self.bytes, self.tokens);
                    way.calls.push(Instance { rule, begin, tokens, end: None });
                    way.ops.extend([
                        Op::Return(way.calls.len() - 1),
                        Op::Read(&self.rules[rule].body),
                    ]);
                    todo.push(way);
                }
                Op::Return(call) => {
                    self.ended.push(way.calls[call]);
                    way.calls[call].end = Some(self.bytes);
                    todo.push(way);
                }
            }
        }
        Some(())
    }

    /// After a whole token. None if there are too many ways.
    fn push(&mut self, token: &[u8]) -> Option<()> {
        for &byte in token {
            self.bytes += 1;
            let mut next = Vec::new();
            for way in &self.ways {
                if let Some(Op::Read(Node::Byte(wanted))) = way.ops.last()
                    && *wanted == byte
                {
                    let mut way = way.clone();
                    way.ops.pop();
                    let begun = way.calls.iter_mut().filter(|it| it.begin + 1 == self.bytes);
                    begun.for_each(|it| it.tokens = self.tokens);
                    next.push(way);
                }
            }
            self.close(next)?;
        }
        self.tokens += 1;
        let is_spent = |it: &&Instance| {
            let most = self.rules[it.rule].max_tokens;
            it.begin < self.bytes && most.is_some_and(|most| it.tokens + most <= self.tokens)
        };
        let spent: Vec<Instance> = self.ended.iter().filter(is_spent).copied().collect();
        let is_in = |way: &Way<'_>| way.open().any(|it| spent.contains(it));
        if !self.ways.iter().all(is_in) {
            self.ways.retain(|way| !is_in(way));
        }
        Some(())
    }

    fn may_end(&self) -> bool {
        self.ways.iter().any(|way| way.ops.is_empty())
    }

    fn temperature(&self) -> Option<u32> {
        let reading = self.ways.iter().filter(|way| !way.ops.is_empty());
        reading
            .filter_map(|way| way.open().rev().find_map(|it| self.rules[it.rule].temperature))
            .max()
    }

    /// What whole texts captured, the best way first.
    fn captured(&self) -> Vec<Vec<(usize, usize, usize)>> {
        let whole = self.ways.iter().filter(|way| way.ops.is_empty());
        let mut all: Vec<_> = whole.map(|way| way.captured(self.rules)).collect();
        let key = |captured: &Vec<(usize, usize, usize)>| {
            let keys = captured.iter().map(|&(begin, end, _)| (begin, std::cmp::Reverse(end)));
            // More goes before less.
            keys.chain([(usize::MAX, std::cmp::Reverse(0))]).collect::<Vec<_>>()
        };
        all.sort_by_key(key);
        all
    }
}

static CALL_START: Node = Node::Call(0);

const TOKENS: [&str; 8] = ["a", "b", "ab", "ba", "aa", "bb", "aba", "bbab"];

fn vocabulary(is_complete: bool) -> Arc<Vocabulary> {
    let mut texts: Vec<Option<Vec<u8>>> = TOKENS.iter().map(|it| Some((*it).into())).collect();
    texts.push(None);
    if is_complete {
        texts.extend((0..=u8::MAX).map(|byte| Some(vec![byte])));
    }
    Arc::new(Vocabulary::new(texts, [], [8]).expect("a vocabulary"))
}

fn compile(text: &str, start: &str, is_complete: bool, limits: Limits) -> Option<Matcher> {
    let grammar = stencilm::from_ebnf(text, start, &mut Budget::default()).ok()?;
    let store = Arc::new(Store::new(16 << 20));
    let compiled = CompiledGrammar::new(&grammar, vocabulary(is_complete), store, limits).ok()?;
    Some(Matcher::new(Arc::new(compiled)))
}

fn captures(matcher: &Matcher) -> Vec<(String, usize, String)> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("letters");
    let all = matcher.captures().into_iter();
    all.map(|it| (it.name.to_string(), it.start, text(it.text))).collect()
}

fn spans(matcher: &Matcher) -> Vec<(usize, usize, usize)> {
    let of = |(name, start, text): (String, usize, String)| {
        (start, start + text.len(), name[1..].parse().expect("a number"))
    };
    captures(matcher).into_iter().map(of).collect()
}

fn compare(rules: &[Rule], picks: &[usize], is_complete: bool) -> Result<(), TestCaseError> {
    if is_left_recursive(rules) || is_endless(rules) {
        return Ok(());
    }
    let text = text_of(rules);
    let limits = Limits { grammar_bytes: 20_000, ..Limits::default() };
    let Some(mut matcher) = compile(&text, "r0", is_complete, limits) else { return Ok(()) };
    let Some(mut judge) = Judge::new(rules) else { return Ok(()) };
    let mut past = Vec::new();
    for pick in picks {
        let mut mask = vec![0; 9];
        matcher.fill_mask(&mut mask).expect("no limit");
        let mut allowed = Vec::new();
        for (id, token) in TOKENS.iter().enumerate() {
            let mut next = judge.clone();
            if next.push(token.as_bytes()).is_none() {
                return Ok(());
            }
            let is_set = mask[0] >> id & 1 == 1;
            prop_assert_eq!(is_set, !next.ways.is_empty(), "{} after {:?}\n{}", token, past, text);
            if is_set {
                allowed.push((id, next));
            }
        }
        prop_assert_eq!(
            mask[0] >> 8 & 1 == 1,
            judge.may_end(),
            "the end after {:?}\n{}",
            past,
            text
        );
        #[expect(clippy::cast_precision_loss)]
        let temperature = judge.temperature().map(|it| it as f32);
        let found = matcher.temperature().expect("no limit");
        prop_assert_eq!(found, temperature, "after {:?}\n{}", past, text);
        if judge.may_end() {
            let (ours, theirs) = (spans(&matcher), judge.captured());
            prop_assert!(
                theirs.contains(&ours),
                "{:?} of {:?} after {:?}\n{}",
                ours,
                theirs,
                past,
                text
            );
            // Rules that take the same part of a text are as good as each other. Where tokens are counted,
            // what is alike but for its count is not compared.
            let places = |all: &[(usize, usize, usize)]| -> Vec<(usize, usize)> {
                all.iter().map(|it| (it.0, it.1)).collect()
            };
            let (ours, best) = (places(&ours), places(&theirs[0]));
            let counts_tokens = rules.iter().any(|rule| rule.max_tokens.is_some());
            prop_assert!(counts_tokens || ours == best, "{:?} after {:?}\n{}", ours, past, text);
        }
        if allowed.is_empty() {
            break;
        }
        let (id, next) = allowed.swap_remove(pick % allowed.len());
        let before = (captures(&matcher), mask);
        let id = u32::try_from(id).expect("few tokens");
        prop_assert!(matcher.accept(id).expect("no limit"));
        prop_assert!(matcher.rollback(1));
        let mut mask = vec![0; 9];
        matcher.fill_mask(&mut mask).expect("no limit");
        prop_assert_eq!(&(captures(&matcher), mask), &before);
        prop_assert!(matcher.accept(id).expect("no limit"));
        past.push(TOKENS[id as usize]);
        judge = next;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, ..ProptestConfig::default() })]
    #[test]
    fn marks_are_those_of_all_readings(
        rules in rules(),
        picks in prop::collection::vec(0..8_usize, 1..5),
        is_complete in any::<bool>(),
    ) {
        compare(&rules, &picks, is_complete)?;
    }
}

fn matcher(text: &str) -> Matcher {
    compile(text, "root", true, Limits::default()).expect("a grammar")
}

fn after(text: &str, read: &str) -> Vec<(String, usize, String)> {
    let mut matcher = matcher(text);
    assert!(matcher.accept_bytes(read.as_bytes()).expect("no limit"), "{read}");
    captures(&matcher)
}

fn refusal(text: &str) -> String {
    stencilm::from_ebnf(text, "root", &mut Budget::default()).expect_err("refused").to_string()
}

#[test]
fn of_a_rule_that_begins_with_itself_the_outermost_call_counts() {
    let text = "root ::= sum\nsum[capture] ::= sum \"+\" n | n\nn[capture=\"number\"] ::= [0-9]+";
    let found = after(text, "1+22+3");
    let expected =
        [("sum", 0, "1+22+3"), ("number", 0, "1"), ("number", 2, "22"), ("number", 5, "3")];
    assert_eq!(found, expected.map(|(name, start, text)| (name.into(), start, text.into())));
    let message = refusal("root ::= a\na[capture] ::= b \"x\" | \"a\"\nb ::= a \"y\" | \"b\"");
    assert!(
        message.contains("the rule `a`, which comes to itself through other rules"),
        "{message}"
    );
}

#[test]
fn captures_keep_an_ambiguous_state_small() {
    let text = "root ::= (free | call)*\nfree[capture] ::= [^<]+\n\
                call ::= \"<\" name \">\"\nname[capture] ::= [a-z]+";
    let mut matcher = matcher(text);
    for _ in 0..2_000 {
        assert!(matcher.accept_bytes(b"some text <call>").expect("no limit"));
    }
    assert!(matcher.live_size() <= (3, 3), "{:?}", matcher.live_size());
    let captures = captures(&matcher);
    assert_eq!(captures.len(), 4_000);
    assert_eq!(captures[3_999], ("name".to_owned(), 31_995, "call".to_owned()));
    assert_eq!(captures[3_998], ("free".to_owned(), 31_984, "some text ".to_owned()));
}

#[test]
fn captures_nest_deep() {
    let depth = 20_000;
    let text = "root ::= list\nlist[capture] ::= \"(\" list? \")\"";
    let found = after(text, &("(".repeat(depth) + &")".repeat(depth)));
    assert_eq!(found.len(), depth);
    assert_eq!(found[depth - 1], ("list".to_owned(), depth - 1, "()".to_owned()));
    let mut right = matcher("root ::= list\nlist[capture, max_tokens=90000] ::= \"a\" list?");
    assert!(right.accept_bytes(&b"a".repeat(2_000)).expect("no limit"));
    assert_eq!(captures(&right).len(), 2_000);
}

#[test]
fn readings_compared_are_bounded() {
    let text = "root ::= l\nl[capture] ::= \"a\" l | \"a\" l? l?";
    let limits = Limits { captures: 500, ..Limits::default() };
    let mut matcher = compile(text, "root", true, limits).expect("a grammar");
    let error = (0..100).find_map(|_| matcher.accept_bytes(b"a").err()).expect("a limit");
    assert!(error.to_string().contains("captures = 500"), "{error}");
    let before = captures(&matcher);
    assert!(before.len() > 3);
    assert!(matcher.accept_bytes(b"a").is_err());
    assert_eq!(captures(&matcher), before);
    // One way to read a text needs no comparing.
    let text = "root ::= l\nl[capture] ::= \"a\" l?";
    let mut matcher = compile(text, "root", true, limits).expect("a grammar");
    assert!(matcher.accept_bytes(&b"a".repeat(2_000)).expect("no limit"));
    assert_eq!(captures(&matcher).len(), 2_000);
}

#[test]
fn what_is_not_complete_is_captured_so_far() {
    let text = "root ::= a b \"!\"\na[capture] ::= \"x\"+\nb[capture] ::= \"y\"+";
    assert_eq!(after(text, "xxy"), [("a".to_owned(), 0, "xx".to_owned())]);
    assert_eq!(after(text, "xx"), []);
    assert_eq!(after(text, "xxyy!").len(), 2);
}

#[test]
fn marks_hold_where_look_ahead_and_schemas_are() {
    let text = "root ::= a b\na[capture] ::= [a-z]+ (= [0-9])\nb[capture] ::= [a-z0-9]+";
    assert_eq!(
        after(text, "ab1c"),
        [("a".to_owned(), 0, "ab".to_owned()), ("b".to_owned(), 2, "1c".to_owned())]
    );
    let budget = &mut Budget::default();
    let options = stencilm::frontend::json_schema::JsonSchemaOptions::default();
    let schema = r#"{"type":"object","additionalProperties":{"type":"integer"}}"#;
    let value = stencilm::frontend::json_schema::grammar(schema, &options, budget).expect("one");
    let text = "root ::= args\nargs[capture] ::= \"=\"";
    let mut rules = stencilm::frontend::ebnf::parse(text, "root", budget).expect("rules");
    let args = rules.supply(&value).expect("one grammar");
    rules.rules[1].1 = rules.exprs.seq2(rules.rules[1].1, args);
    let grammar = stencilm::from_rules(rules, budget).expect("a grammar");
    let store = Arc::new(Store::new(16 << 20));
    let compiled = CompiledGrammar::new(&grammar, vocabulary(true), store, Limits::default());
    let mut matcher = Matcher::new(Arc::new(compiled.expect("it compiles")));
    assert!(matcher.accept_bytes(br#"={"a":1,"b":2}"#).expect("no limit"));
    assert!(!matcher.clone().accept_bytes(b"x").expect("no limit"));
    assert_eq!(captures(&matcher), [("args".to_owned(), 0, r#"={"a":1,"b":2}"#.to_owned())]);
    let message = refusal("root ::= a & \"x\"\na[capture] ::= \"x\"");
    assert!(message.contains("the rule `a`, whose options are no condition"), "{message}");
}

#[test]
fn marks_are_printed_and_read_back() {
    let text = "root[capture=\"all\", max_tokens=7] ::= \"a\" b\nb[temperature=0.25] ::= \"b\"\n";
    let rules = stencilm::frontend::ebnf::parse(text, "root", &mut Budget::default());
    let printed = rules.expect("rules").to_string();
    assert_eq!(printed, text);
    let grammar = stencilm::from_ebnf(text, "root", &mut Budget::default()).expect("a grammar");
    assert_eq!(
        grammar.show(9).expect("no limit"),
        "start ::= root\nroot[capture=\"all\", max_tokens=7] ::= \"a\" b\n\
         b[temperature=0.25] ::= \"b\"\n"
    );
}

#[test]
fn options_are_checked() {
    for (options, wanted) in [
        ("max_tokens=0", "1 at least"),
        ("max_tokens=x", "needs a number"),
        ("temperature=-1", "a number from 0 on"),
        ("temperature=1e999", "a number from 0 on"),
        ("temperature=abc", "a number from 0 on"),
        ("capture=\"\"", "the name of a capture"),
        ("capture=\"a b\"", "the name of a capture"),
        ("capture=name", "the name of a capture"),
        ("capture, capture", "comes twice"),
        ("fast", "no rule option `fast`"),
    ] {
        let message = refusal(&format!("root[{options}] ::= \"a\""));
        assert!(message.contains(wanted), "{options}: {message}");
    }
}

/// A text that a rule with few tokens must not end in the middle of goes on.
#[test]
fn a_rule_ends_when_it_can() {
    let text = "root ::= think \"b\"\nthink[max_tokens=2] ::= (\"a\" \"a\")+";
    let mut matcher = matcher(text);
    let allowed = |matcher: &mut Matcher| {
        let mut mask = vec![0; 9];
        matcher.fill_mask(&mut mask).expect("no limit");
        let ids = (0..TOKENS.len()).filter(|id| mask[0] >> id & 1 == 1);
        ids.map(|id| TOKENS[id]).collect::<Vec<_>>()
    };
    assert_eq!(allowed(&mut matcher), ["a", "aa"]);
    assert!(matcher.accept(0).expect("no limit") && matcher.accept(4).expect("no limit"));
    // Three letters: it may not end after its two tokens, and does after one more.
    assert_eq!(allowed(&mut matcher), ["a", "ab", "aa"]);
    assert!(matcher.accept(0).expect("no limit"));
    assert_eq!(allowed(&mut matcher), ["b"]);
    assert!(matcher.rollback(1));
    assert_eq!(allowed(&mut matcher), ["a", "ab", "aa"]);
}

fn lark_grammar(text: &str) -> Arc<CompiledGrammar> {
    use stencilm::frontend::lark::{Meaning, parse};
    let budget = &mut Budget::default();
    let rules = parse(text, "start", Meaning::Cfg, budget).expect("rules");
    let grammar = stencilm::from_rules(rules, budget).expect("a grammar");
    let store = Arc::new(Store::new(16 << 20));
    let compiled = CompiledGrammar::new(&grammar, vocabulary(true), store, Limits::default());
    Arc::new(compiled.expect("it compiles"))
}

/// What a whole text captured, if it is one.
fn whole(compiled: &Arc<CompiledGrammar>, text: &[u8]) -> Option<Vec<(String, usize, String)>> {
    let mut matcher = Matcher::new(compiled.clone());
    let is_whole = matcher.accept_bytes(text).expect("no limit") && matcher.may_stop();
    is_whole.then(|| captures(&matcher))
}

/// In Lark's grammars: marks change no text, and no blank is captured that no terminal took.
#[test]
fn ignored_text_behind_a_rule_is_not_captured() {
    let bodies = [
        "start: x* y?\nx[capture]: \"a\" y?\ny[capture]: \"b\"+",
        "start: x \"b\" | y y\nx[capture]: (\"a\" z)?\ny: x? z\nz[capture]: \"a\"* | \"b\" z",
        "start: x\nx[capture]: y{\"a\"} | y{z}\ny{p}: p~0..2 \"b\" p\nz: \"a\"?",
        "start[capture]: (x | y)+\nx: \"a\" (y \"a\")~1..2\ny[capture, max_tokens=9]: \"b\" x?",
        "start: x+\nx[capture]: %lark {\nstart: \"a\" \"b\"?\n} | \"b\"",
    ];
    let ignores = ["", "\n%ignore \" \"", "\n%ignore \" \"\n%llguidance {\"ignore_once\": true}"];
    for (body, ignore) in bodies.iter().flat_map(|it| ignores.map(|ignore| (it, ignore))) {
        let text = format!("{body}{ignore}");
        let marked = lark_grammar(&text);
        let plain = text.replace("[capture, max_tokens=9]", "").replace("[capture]", "");
        let plain = lark_grammar(&plain);
        for length in 0..=6_u32 {
            for number in 0..3_u32.pow(length) {
                let letter = |place| b"ab "[(number / 3_u32.pow(place) % 3) as usize];
                let letters: Vec<u8> = (0..length).map(letter).collect();
                let shown = String::from_utf8_lossy(&letters);
                let found = whole(&marked, &letters);
                let is_whole = whole(&plain, &letters).is_some();
                assert_eq!(found.is_some(), is_whole, "{shown:?} of {text}");
                let is_bare = !text.contains("%lark");
                for (name, start, taken) in found.into_iter().flatten() {
                    let is_clean = taken.trim() == taken;
                    assert!(is_clean || !is_bare, "{name} at {start} of {shown:?}: {taken:?}");
                }
            }
        }
    }
}
