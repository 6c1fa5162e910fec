//! The arena that owns expressions and what they are made of, each kept once.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::{hash::BuildHasher, sync::Arc};

use crate::grammar::byte_set::ByteSet;
use crate::grammar::char_set::CharSet;
use crate::grammar::expr::{
    ByteSetId, ClassId, Expr, ExprId, List, LiteralId, LiteralsId, NumberSetId, NumberStateId,
    Spelling, TokenName, UNBOUNDED,
};
use crate::grammar::hash::{ContentHash, HashKey};
use crate::grammar::items::ItemRules;
use crate::interner::{Index, Interner, hash_of, index};
use crate::number::{NumberSet, NumberState};

/// An arena of expressions. The constructors (`seq`, `choice`, `repeat`, …) are the only way to
/// make one; they normalise, so that few different expressions mean the same.
///
/// ```
/// use stencilm::grammar::{CharSet, Exprs, Spelling, UNBOUNDED};
///
/// let mut exprs = Exprs::default();
/// let digit = exprs.chars(&CharSet::new([('0', '9')]), Spelling::Text);
/// let digits = exprs.repeat(digit, 1, UNBOUNDED);
/// let more = exprs.seq(&[digits, digits]);
/// assert_eq!(exprs.show(more), "[0-9]{2,}");
/// ```
#[derive(Debug)]
pub struct Exprs {
    nodes: Vec<Expr>,
    facts: Vec<Facts>,
    pool: Vec<ExprId>,
    index: Index,
    pub(crate) key: HashKey,
    literals: Interner<Arc<[u8]>>,
    literal_hashes: Vec<ContentHash>,
    lists: Interner<Arc<[LiteralId]>>,
    list_hashes: Vec<ContentHash>,
    byte_sets: Interner<ByteSet>,
    classes: Interner<Arc<CharSet>>,
    token_names: Interner<Arc<str>>,
    number_sets: Interner<Arc<NumberSet>>,
    number_set_hashes: Vec<ContentHash>,
    number_states: Interner<Arc<NumberState>>,
    /// The class of every scalar value.
    pub(crate) any: ClassId,
    pub(crate) has_other_names: bool,
    /// Whether the names outside a list might run out.
    pub(crate) has_scarce_names: bool,
    pub(crate) items: ItemRules,
    /// Whether member names are in their canonical spelling: then names are compared as they stand.
    pub(crate) has_plain_names: bool,
    /// Added to the numbers of rules and states that are named.
    pub(crate) first_number: u32,
    bytes: usize,
}

/// What is known of an expression from its parts.
#[derive(Clone, Copy, Debug)]
struct Facts {
    flags: u16,
    /// How deep choices, repetitions and the like nest; sequences cost nothing.
    depth: u16,
    hash: ContentHash,
}

/// The empty text matches.
const NULLABLE: u16 = 1;
/// Rules, special tokens or member names inside.
const CALLS: u16 = 2;
/// A rule or a special token may come first.
const LEADING_CALL: u16 = 4;
/// `And` or `Not` inside, which can hide that nothing matches.
const AND: u16 = 8;
/// The last part is a star.
const ENDS_IN_STAR: u16 = 16;
/// Whatever is read of a text, infinitely many texts go on. (Not all that have this are found.)
const ENDLESS: u16 = 32;
/// Inside a member name that may be one that its object does not list.
const NAMING: u16 = 64;
/// Whatever is read of the name, some name is left that never came.
const FRESH: u16 = 128;
/// Begins with a counter of more characters than [`LONGEST_COUNTER`].
const LONG: u16 = 256;
/// Finitely many texts match. (Not all that have this are found.)
const FINITE: u16 = 512;

/// Counters of characters up to this stay in expressions.
pub(crate) const LONGEST_COUNTER: u32 = 4_096;

impl Facts {
    fn leaf(flags: u16, hash: ContentHash) -> Self {
        Self { flags, depth: 0, hash }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

impl Exprs {
    /// An empty arena whose content hashes use `key`.
    #[must_use]
    pub fn new(key: HashKey) -> Self {
        let mut classes = Interner::default();
        let any = ClassId(classes.id(Arc::new(CharSet::any())));
        let mut exprs = Self {
            nodes: Vec::new(),
            facts: Vec::new(),
            pool: Vec::new(),
            index: Index::default(),
            key,
            literals: Interner::default(),
            literal_hashes: Vec::new(),
            lists: Interner::default(),
            list_hashes: Vec::new(),
            byte_sets: Interner::default(),
            classes,
            token_names: Interner::default(),
            number_sets: Interner::default(),
            number_set_hashes: Vec::new(),
            number_states: Interner::default(),
            any,
            has_other_names: false,
            has_scarce_names: false,
            items: ItemRules::default(),
            has_plain_names: true,
            first_number: 0,
            bytes: 0,
        };
        exprs.intern(Expr::Nothing);
        exprs.intern(Expr::Empty);
        exprs
    }

    /// The expression itself.
    #[must_use]
    pub fn get(&self, id: ExprId) -> Expr {
        self.nodes[id.0 as usize]
    }

    /// The members of a choice or an intersection.
    #[must_use]
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.pool[list.start as usize..(list.start + list.len) as usize]
    }

    /// The bytes of an interned literal.
    #[must_use]
    pub fn literal(&self, id: LiteralId) -> &[u8] {
        self.literals.get(id.0)
    }

    /// The literals of a sorted list.
    #[must_use]
    pub fn literal_ids(&self, id: LiteralsId) -> &[LiteralId] {
        self.lists.get(id.0)
    }

    /// An interned set of bytes.
    #[must_use]
    pub fn byte_set_of(&self, id: ByteSetId) -> ByteSet {
        *self.byte_sets.get(id.0)
    }

    /// An interned set of characters.
    #[must_use]
    pub fn class(&self, id: ClassId) -> &Arc<CharSet> {
        self.classes.get(id.0)
    }

    /// The name of a special token.
    #[must_use]
    pub fn token_name(&self, id: TokenName) -> &str {
        self.token_names.get(id.0)
    }

    /// The names of all special tokens.
    #[must_use]
    pub fn token_names(&self) -> Vec<String> {
        self.token_names.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn number_set(&self, id: NumberSetId) -> &Arc<NumberSet> {
        self.number_sets.get(id.0)
    }

    pub(crate) fn number_state(&self, id: NumberStateId) -> &Arc<NumberState> {
        self.number_states.get(id.0)
    }

    /// How many expressions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: `Nothing` and `Empty` are always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// About how many bytes the arena holds.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.bytes
            + self.nodes.len() * (size_of::<Expr>() + size_of::<Facts>() + 9)
            + self.pool.len() * size_of::<ExprId>()
    }

    /// Whether the empty text matches. (Rules count as not empty: the normalisation makes them so.)
    #[must_use]
    pub fn is_nullable(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(NULLABLE)
    }

    /// Whether rules, special tokens or member names are inside.
    #[must_use]
    pub fn has_calls(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(CALLS)
    }

    /// Whether a rule or a special token may come first.
    #[must_use]
    pub fn has_leading_call(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(LEADING_CALL)
    }

    /// Whether `And` or `Not` is inside.
    #[must_use]
    pub fn has_and(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(AND)
    }

    /// Whether it begins with a counter of characters too long to keep it in expressions.
    #[inline]
    pub(crate) fn is_long(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(LONG)
    }

    /// Whether it is plain to see that infinitely many texts go on, whatever is read of one.
    pub(crate) fn is_endless(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(ENDLESS)
    }

    /// Whether this is the rest of a member name that may be one that its object does not list.
    pub(crate) fn is_naming(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(NAMING)
    }

    /// Whether such a name can always go on to one that never came.
    pub(crate) fn is_fresh(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].has(FRESH)
    }

    /// How deep choices, repetitions and the like nest in each other.
    #[must_use]
    pub fn depth(&self, id: ExprId) -> usize {
        self.facts[id.0 as usize].depth.into()
    }

    /// The star that a sequence ends in, or that the expression is.
    #[must_use]
    pub fn last_star(&self, id: ExprId) -> Option<ExprId> {
        if !self.facts[id.0 as usize].has(ENDS_IN_STAR) {
            return None;
        }
        let mut at = id;
        while let Expr::Seq(_, rest) = self.get(at) {
            at = rest;
        }
        Some(at)
    }

    /// The hash of what the expression is made of; without meaning for one with calls.
    #[must_use]
    pub fn content_hash(&self, id: ExprId) -> ContentHash {
        self.facts[id.0 as usize].hash
    }

    pub(crate) fn intern(&mut self, expr: Expr) -> ExprId {
        let hash = hash_of(&expr);
        let nodes = &self.nodes;
        if let Some(found) = self.index.find(hash, |i| nodes[i as usize] == expr) {
            return ExprId(found);
        }
        self.insert(hash, expr)
    }

    /// Interns a choice or an intersection of `members`, which are in their normal form.
    pub(crate) fn intern_list(&mut self, wrap: fn(List) -> Expr, members: &[ExprId]) -> ExprId {
        // The list is hashed and compared by its members, not by its place in the pool.
        let probe = wrap(List { start: 0, len: 0 });
        let hash = hash_of(&(probe, members));
        let (nodes, pool) = (&self.nodes, &self.pool);
        let found = self.index.find(hash, |i| match (nodes[i as usize], probe) {
            (Expr::Choice(list), Expr::Choice(_)) | (Expr::And(list), Expr::And(_)) => {
                pool[list.start as usize..(list.start + list.len) as usize] == *members
            }
            _ => false,
        });
        if let Some(found) = found {
            return ExprId(found);
        }
        let list = List { start: index(self.pool.len()), len: index(members.len()) };
        self.pool.extend_from_slice(members);
        self.insert(hash, wrap(list))
    }

    fn insert(&mut self, hash: u32, expr: Expr) -> ExprId {
        let id = index(self.nodes.len());
        let facts = self.facts_of(expr);
        self.nodes.push(expr);
        self.facts.push(facts);
        self.index.insert(hash, id);
        ExprId(id)
    }

    /// The id of a literal.
    pub fn literal_id(&mut self, bytes: &[u8]) -> LiteralId {
        let id = self.literals.id_of(bytes, || bytes.into());
        if id as usize == self.literal_hashes.len() {
            self.bytes += bytes.len() + 64;
            // Suffixes are hashed as (literal, place): hashing their bytes would be quadratic.
            self.literal_hashes.push(self.key.start(20).with_bytes(&self.key, bytes));
        }
        LiteralId(id)
    }

    /// The id of a list of literals; sorts it and drops what comes twice.
    pub fn literal_list(&mut self, mut literals: Vec<LiteralId>) -> LiteralsId {
        literals.sort_by(|a, b| self.literal(*a).cmp(self.literal(*b)));
        literals.dedup();
        let literals: Arc<[LiteralId]> = literals.into();
        if let Some(id) = self.lists.find(&literals) {
            return LiteralsId(id);
        }
        self.bytes += literals.len() * 4 + 64;
        let hashes = literals.iter().map(|literal| self.literal_hashes[literal.0 as usize]);
        let start = self.key.start(21);
        self.list_hashes.push(hashes.fold(start, |hash, next| hash.with_hash(&self.key, next)));
        LiteralsId(self.lists.id(literals))
    }

    pub(crate) fn byte_set_id(&mut self, set: ByteSet) -> ByteSetId {
        ByteSetId(self.byte_sets.id(set))
    }

    /// The id of a set of characters.
    pub fn class_id(&mut self, set: &CharSet) -> ClassId {
        if let Some(id) = self.classes.find(set) {
            return ClassId(id);
        }
        self.bytes += set.ranges().len() * 8 + 64;
        ClassId(self.classes.id(Arc::new(set.clone())))
    }

    /// The id of the name of a special token.
    pub fn token_id(&mut self, name: &str) -> TokenName {
        self.bytes += name.len() + 48;
        TokenName(self.token_names.id(name.into()))
    }

    pub(crate) fn number_set_id(&mut self, set: &Arc<NumberSet>) -> NumberSetId {
        if let Some(id) = self.number_sets.find(set) {
            return NumberSetId(id);
        }
        self.bytes += set.size_in_bytes() + 64;
        self.number_set_hashes.push(self.key.start(22).with_value(&self.key, &**set));
        NumberSetId(self.number_sets.id(set.clone()))
    }

    pub(crate) fn number_state_id(&mut self, state: NumberState) -> NumberStateId {
        if let Some(id) = self.number_states.find(&state) {
            return NumberStateId(id);
        }
        self.bytes += state.size_in_bytes() + 64;
        NumberStateId(self.number_states.id(Arc::new(state)))
    }

    fn facts_of(&self, expr: Expr) -> Facts {
        let of = |id: ExprId| self.facts[id.0 as usize];
        let key = &self.key;
        match expr {
            Expr::Nothing => Facts::leaf(FINITE, key.start(0)),
            Expr::Empty => Facts::leaf(NULLABLE | FINITE, key.start(1)),
            Expr::Bytes { literal, from } => {
                let whole = self.literal_hashes[literal.0 as usize];
                Facts::leaf(FINITE, key.start(2).with_hash(key, whole).with(key, from.into()))
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                let whole = self.list_hashes[literals.0 as usize];
                let run = u64::from(low) << 32 | u64::from(high);
                let hash = key.start(3).with_hash(key, whole).with(key, run);
                let first = self.literal_ids(literals)[low as usize];
                let is_nullable = self.literal(first).len() == depth as usize;
                let flags = if is_nullable { NULLABLE | FINITE } else { FINITE };
                let hash = hash.with(key, depth.into()).with(key, spelling as u64);
                Facts::leaf(flags, hash)
            }
            Expr::Bytes1(set) => {
                let words = self.byte_set_of(set).words();
                Facts::leaf(FINITE, words.iter().fold(key.start(4), |hash, &w| hash.with(key, w)))
            }
            Expr::Chars { class, spelling } => {
                Facts::leaf(FINITE, self.class_hash(5, class, spelling))
            }
            Expr::Partial { class, spelling, progress } => {
                let at = FxBuildHasher.hash_one(progress);
                Facts::leaf(FINITE, self.class_hash(6, class, spelling).with(key, at))
            }
            Expr::Number { set, state } => {
                let whole = self.number_set_hashes[set.0 as usize];
                let state = self.number_state(state);
                let flags = if self.number_set(set).is_complete(state) { NULLABLE } else { 0 };
                let hash = key.start(15).with_hash(key, whole).with_value(key, &**state);
                Facts::leaf(flags, hash)
            }
            Expr::Token(name) => {
                Facts::leaf(CALLS | LEADING_CALL, key.start(7).with(key, name.0.into()))
            }
            Expr::Seq(a, b) => {
                // A part of a character before the rest of a name is in the middle of the name.
                let is_inside = matches!(self.get(a), Expr::Partial { .. });
                let inside = if is_inside { of(b).flags & (NAMING | FRESH) } else { 0 };
                let facts = self.facts_of_sequence(of(a), of(b));
                Facts { flags: facts.flags | inside, ..facts }
            }
            Expr::Choice(list) => self.facts_of_choice(list),
            Expr::And(list) => self.facts_of_and(list),
            Expr::Repeat { body, min, max } => {
                let is_character = matches!(self.get(body), Expr::Chars { .. });
                let body = of(body);
                let counts = u64::from(min) << 32 | u64::from(max);
                let mut flags = body.flags & (NULLABLE | CALLS | LEADING_CALL | AND);
                if max == UNBOUNDED {
                    flags |= ENDLESS;
                } else {
                    flags |= body.flags & FINITE;
                }
                if min == 0 {
                    flags |= NULLABLE;
                    if max == UNBOUNDED {
                        flags |= ENDS_IN_STAR;
                    }
                }
                let is_long = min > LONGEST_COUNTER || (max != UNBOUNDED && max > LONGEST_COUNTER);
                if is_long && is_character {
                    flags |= LONG;
                }
                let hash = key.start(11).with_hash(key, body.hash).with(key, counts);
                Facts { flags, depth: body.depth.saturating_add(1), hash }
            }
            Expr::Not(id) => {
                let body = of(id);
                let flags = (body.flags & (CALLS | LEADING_CALL)) | AND;
                Facts {
                    flags: flags | (!body.flags & NULLABLE),
                    depth: body.depth.saturating_add(1),
                    hash: key.start(12).with_hash(key, body.hash),
                }
            }
            Expr::Call(rule) => {
                Facts::leaf(CALLS | LEADING_CALL, key.start(13).with(key, rule.0.into()))
            }
            Expr::Names { state, other, .. } => {
                let naming = if other { NAMING | FRESH } else { FRESH };
                Facts::leaf(CALLS | naming, key.start(14).with(key, state.into()))
            }
            Expr::OtherName(text) => {
                let text = of(text);
                let fresh = if text.has(ENDLESS) { FRESH } else { 0 };
                Facts {
                    flags: (text.flags & AND) | NAMING | fresh,
                    depth: text.depth.saturating_add(1),
                    hash: key.start(15).with_hash(key, text.hash),
                }
            }
        }
    }

    fn facts_of_sequence(&self, a: Facts, b: Facts) -> Facts {
        let key = &self.key;
        let leading = if a.has(NULLABLE) { b.flags & LEADING_CALL } else { 0 };
        Facts {
            flags: (a.flags & b.flags & (NULLABLE | FINITE))
                | ((a.flags | b.flags) & (CALLS | AND))
                | (a.flags & (LEADING_CALL | NAMING | FRESH | LONG))
                | leading
                | (b.flags & (ENDS_IN_STAR | ENDLESS)),
            depth: b.depth.max(a.depth.saturating_add(1)),
            hash: key.start(8).with_hash(key, a.hash).with_hash(key, b.hash),
        }
    }

    fn facts_of_choice(&self, list: List) -> Facts {
        let mut facts = self.facts_of_list(self.key.start(9), list);
        let members = self.list(list).iter().map(|id| self.facts[id.0 as usize]);
        for flag in [NULLABLE, NAMING] {
            facts.flags |= if members.clone().any(|it| it.has(flag)) { flag } else { 0 };
        }
        facts.flags |= members.fold(ENDLESS | FRESH | FINITE, |flags, it| flags & it.flags);
        facts
    }

    fn facts_of_and(&self, list: List) -> Facts {
        let mut facts = self.facts_of_list(self.key.start(10), list);
        facts.flags |= AND;
        if self.list(list).iter().all(|&id| self.is_nullable(id)) {
            facts.flags |= NULLABLE;
        }
        // Finitely many refused texts take no end away.
        let is_finite_not = |id: ExprId| matches!(self.get(id), Expr::Not(body) if self.facts[body.0 as usize].has(FINITE));
        let mut others = self.list(list).iter().filter(|&&id| !is_finite_not(id));
        if let (Some(one), None) = (others.next(), others.next()) {
            facts.flags |= self.facts[one.0 as usize].flags & ENDLESS;
        }
        facts
    }

    fn class_hash(&self, kind: u64, class: ClassId, spelling: Spelling) -> ContentHash {
        let key = &self.key;
        let mut hash = key.start(kind).with(key, spelling as u64);
        for &(low, high) in self.class(class).ranges() {
            hash = hash.with(key, u64::from(low) << 32 | u64::from(high));
        }
        hash
    }

    /// Members are hashed in the order of their own hashes: their ids depend on the arena.
    fn facts_of_list(&self, start: ContentHash, list: List) -> Facts {
        let facts = self.list(list).iter().map(|id| self.facts[id.0 as usize]);
        let mut hashes: Vec<ContentHash> = facts.clone().map(|facts| facts.hash).collect();
        hashes.sort_unstable();
        let flags = facts.clone().fold(0, |flags, facts| flags | facts.flags);
        let deepest = facts.map(|facts| facts.depth).max().unwrap_or(0);
        Facts {
            flags: flags & (CALLS | LEADING_CALL | AND),
            depth: deepest.saturating_add(1),
            hash: hashes.into_iter().fold(start, |hash, next| hash.with_hash(&self.key, next)),
        }
    }
}

impl Default for Exprs {
    fn default() -> Self {
        Self::new(HashKey::random())
    }
}

/// A map keyed by small ids.
pub(crate) type IdMap<K, V> = FxHashMap<K, V>;
