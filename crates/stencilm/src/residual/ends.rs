//! Where an expression may end that begins at a place of the tiling: the least fixpoint over all
//! expressions and rules on the way, asked for from above and ended as soon as the answer is sure.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, Spelling};
use crate::residual::places::Places;
use crate::residual::{Residuals, spell};

/// Looks at each question, on the average, at most.
const LOOKS: usize = 16;

/// An expression, where it begins, and the places that are asked about as its end.
pub(super) type Question = (ExprId, u32, Places);

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any end.
    Any,
    /// All ends.
    All,
}

/// What an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Use {
    /// Its ends are ends of who asks.
    Own,
    /// Who asks goes on from its ends.
    Middle,
}

/// A question in the making.
#[derive(Debug)]
struct Node {
    question: Question,
    /// The ends found so far, rising.
    ends: Vec<u32>,
    /// Who has asked, and how.
    askers: Vec<(usize, Use)>,
    rounds: u32,
    is_open: bool,
    /// Nobody needed an answer when its turn came.
    is_skipped: bool,
}

/// All questions that one question leads to.
#[derive(Debug, Default)]
struct Search {
    nodes: Vec<Node>,
    ids: FxHashMap<Question, usize>,
    /// Who asks whom.
    edges: FxHashSet<(usize, usize, Use)>,
    /// Whose answer may grow, the most urgent last.
    todo: Vec<usize>,
    work: usize,
}

/// One look at a question: what it reads of others, and what it finds.
struct Look {
    at: usize,
    after: Places,
    /// The number of places asked about.
    most: usize,
    found: Vec<u32>,
    /// New questions that may still be asked in this look.
    room: usize,
    asked: Vec<usize>,
    is_cut: bool,
    reads: Use,
}

impl Look {
    fn is_full(&self) -> bool {
        self.found.len() == self.most
    }

    fn add(&mut self, place: u32) {
        if let Err(at) = self.found.binary_search(&place) {
            self.found.insert(at, place);
        }
    }
}

impl Residuals {
    /// Where `question` may end; some ends at least if any are wanted and there are any.
    ///
    /// # Errors
    /// A limit; what is sure is kept, nothing else.
    pub(super) fn ends(&mut self, question: Question, wanted: Wanted) -> Result<Places, Error> {
        if let Some(&known) = self.live().ends.get(&question) {
            return Ok(known);
        }
        let mut search = Search::default();
        search.open(question);
        search.todo.push(0);
        while let Some(at) = search.todo.pop() {
            search.nodes[at].is_open = false;
            if search.is_full(self, at) {
                continue;
            }
            if at != 0
                && search.nodes[at].askers.iter().all(|&(asker, _)| search.is_full(self, asker))
            {
                search.nodes[at].is_skipped = true;
                continue;
            }
            self.look(&mut search, at)?;
            let first = &search.nodes[0];
            if search.is_full(self, 0) || (wanted == Wanted::Any && !first.ends.is_empty()) {
                break;
            }
        }
        let is_whole = search.todo.is_empty();
        let ends = self.sets_mut().id(search.nodes[0].ends.clone());
        for at in 0..search.nodes.len() {
            // If nothing is left to do, whatever was looked at is what it will ever be.
            let is_sure = (is_whole && !search.nodes[at].is_skipped) || search.is_full(self, at);
            if is_sure {
                let node = &mut search.nodes[at];
                let ends = self.sets_mut().id(std::mem::take(&mut node.ends));
                self.liveness_mut().ends.insert(node.question, ends);
            }
        }
        Ok(ends)
    }

    fn look(&mut self, search: &mut Search, at: usize) -> Result<(), Error> {
        search.spend(self)?;
        let node = &mut search.nodes[at];
        node.is_skipped = false;
        // Few questions at first, since the first answers may do; more if they don't.
        let room = 1 << node.rounds.min(20);
        node.rounds += 1;
        let (id, place, after) = node.question;
        let most = self.sets().get(after).len();
        let found = Vec::new();
        let (asked, is_cut, reads) = (Vec::new(), false, Use::Own);
        let mut look = Look { at, after, most, found, room, asked, is_cut, reads };
        self.look_into(search, &mut look, id, place)?;
        let Look { found, asked, is_cut, .. } = look;
        if is_cut {
            search.push(at);
        }
        for asked in asked.into_iter().rev() {
            search.push(asked);
        }
        search.grow(at, &found);
        Ok(())
    }

    fn look_into(
        &mut self,
        search: &mut Search,
        look: &mut Look,
        id: ExprId,
        place: u32,
    ) -> Result<(), Error> {
        let after = look.after;
        match self.exprs.get(id) {
            Expr::Nothing => {}
            Expr::Empty
            | Expr::Bytes { .. }
            | Expr::Bytes1(_)
            | Expr::Token(_)
            | Expr::OneOf { .. }
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::And(_)
            | Expr::Not(_) => self.read(search, look, (id, place, after))?,
            Expr::OtherName(_) => {
                let text = self.exprs.unmarked(id);
                self.read(search, look, (text, place, after))?;
            }
            Expr::Call(rule) => {
                let body = self.body(rule)?;
                self.read(search, look, (body, place, after))?;
            }
            Expr::Choice(list) => {
                for member in self.exprs.list(list).to_vec() {
                    self.read(search, look, (member, place, after))?;
                    if look.is_full() {
                        break;
                    }
                }
            }
            Expr::Seq(first, rest) => {
                let between = self.starts(rest, after)?;
                for middle in self.read_apart(search, look, (first, place, between))? {
                    self.read(search, look, (rest, middle, after))?;
                    if look.is_full() {
                        break;
                    }
                }
            }
            Expr::Repeat { body, min, max } => {
                self.look_into_repeat(search, look, body, (min, max), place)?;
            }
            Expr::Names { .. } => {
                let vocabulary = self.live().vocabulary.clone();
                let tiling = vocabulary.tiling().expect("it has one");
                for &(byte, next) in tiling.steps(place) {
                    let rest = self.step(id, byte)?;
                    self.read(search, look, (rest, next, after))?;
                    if look.is_full() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The places after none, one, two, … texts of `body`, until they come again.
    fn look_into_repeat(
        &mut self,
        search: &mut Search,
        look: &mut Look,
        body: ExprId,
        (min, max): (u32, u32),
        place: u32,
    ) -> Result<(), Error> {
        let again = self.starts(body, Places::NONE)?;
        let between = self.either(again, look.after);
        let mut rounds: Vec<Vec<u32>> = vec![vec![place]];
        let mut seen: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        seen.insert(vec![place], 0);
        let repeats_from;
        let min = min as usize;
        loop {
            let last = &rounds[rounds.len() - 1];
            if rounds.len() > min {
                for &end in last {
                    if self.sets().contains(look.after, end) {
                        look.add(end);
                    }
                }
            }
            if look.is_full() || rounds.len() > max as usize {
                return Ok(());
            }
            let mut next = Vec::new();
            for from in last.clone() {
                next.extend(self.read_apart(search, look, (body, from, between))?);
            }
            next.sort_unstable();
            next.dedup();
            search.spend(self)?;
            if seen.contains_key(&next) {
                repeats_from = seen[&next];
                break;
            }
            seen.insert(next.clone(), rounds.len());
            rounds.push(next);
        }
        // From here on round n is round n + the cycle's length.
        let cycle = rounds.len() - repeats_from;
        let round = |count: usize| {
            if count < repeats_from { count } else { repeats_from + (count - repeats_from) % cycle }
        };
        let counts = rounds.len().max(min)..=max as usize;
        for count in counts.take(cycle) {
            for &end in &rounds[round(count)] {
                if self.sets().contains(look.after, end) {
                    look.add(end);
                }
            }
        }
        Ok(())
    }

    /// What is known of another question, not as ends of this one.
    fn read_apart(
        &mut self,
        search: &mut Search,
        look: &mut Look,
        question: Question,
    ) -> Result<Vec<u32>, Error> {
        let mine = std::mem::take(&mut look.found);
        look.reads = Use::Middle;
        self.read(search, look, question)?;
        look.reads = Use::Own;
        Ok(std::mem::replace(&mut look.found, mine))
    }

    /// Adds what is known of another question, and asks it if it is new. What needs no other
    /// questions is answered at once.
    fn read(
        &mut self,
        search: &mut Search,
        look: &mut Look,
        question: Question,
    ) -> Result<(), Error> {
        let (id, place, after) = question;
        match self.exprs.get(id) {
            Expr::Nothing => return Ok(()),
            Expr::Empty => {
                if self.sets().contains(after, place) {
                    look.add(place);
                }
                return Ok(());
            }
            Expr::Token(_) => {
                // Special tokens come between tokens only.
                if place == 0 && self.sets().contains(after, 0) {
                    look.add(0);
                }
                return Ok(());
            }
            _ => {}
        }
        if let Some(&known) = self.live().ends.get(&question) {
            for &end in self.sets().get(known).clone().iter() {
                look.add(end);
            }
            return Ok(());
        }
        let is_plain = !self.exprs.has_calls(id)
            && matches!(
                self.exprs.get(id),
                Expr::Bytes { .. }
                    | Expr::Bytes1(_)
                    | Expr::OneOf { .. }
                    | Expr::Chars { .. }
                    | Expr::Partial { .. }
                    | Expr::Number { .. }
                    | Expr::And(_)
                    | Expr::Not(_)
            );
        if is_plain {
            let ends = self.plain_ends(question)?;
            for &end in &ends {
                look.add(end);
            }
            let ends = self.sets_mut().id(ends);
            self.liveness_mut().ends.insert(question, ends);
            return Ok(());
        }
        let other = match search.ids.get(&question) {
            Some(&other) => other,
            None if look.room == 0 => {
                look.is_cut = true;
                return Ok(());
            }
            None => {
                look.room -= 1;
                let other = search.open(question);
                look.asked.push(other);
                other
            }
        };
        if search.edges.insert((look.at, other, look.reads)) {
            search.nodes[other].askers.push((look.at, look.reads));
        }
        if search.nodes[other].is_skipped {
            look.asked.push(other);
        }
        for &end in &search.nodes[other].ends {
            look.add(end);
        }
        Ok(())
    }

    /// The ends of what needs no other questions.
    fn plain_ends(&mut self, (id, place, after): Question) -> Result<Vec<u32>, Error> {
        let vocabulary = self.live().vocabulary.clone();
        let tiling = vocabulary.tiling().expect("it has one");
        let mut ends: Vec<u32> = match self.exprs.get(id) {
            Expr::Bytes { literal, from } => {
                let mut at = vec![place];
                for place in from as usize..self.exprs.literal(literal).len() {
                    let byte = self.exprs.literal(literal)[place];
                    at = self.after_byte(&at, byte);
                }
                at
            }
            Expr::OneOf { literals, low, high, depth, spelling } if !spelling.is_free() => {
                let mut ends = Vec::new();
                let mut todo = vec![(low, high, depth, vec![place])];
                while let Some((low, high, depth, at)) = todo.pop() {
                    let first = self.exprs.literal_ids(literals)[low as usize];
                    if self.exprs.literal(first).len() == depth as usize {
                        ends.extend_from_slice(&at);
                    }
                    for byte in self.next_bytes(literals, low, high, depth).iter() {
                        let (low, high) = self.run_with(literals, low, high, depth, byte);
                        let next = self.after_byte(&at, byte);
                        if !next.is_empty() {
                            todo.push((low, high, depth + 1, next));
                        }
                    }
                }
                ends
            }
            Expr::Bytes1(set) => {
                let set = self.exprs.byte_set_of(set);
                let steps = tiling.steps(place).iter();
                steps.filter(|(byte, _)| set.contains(*byte)).map(|&(_, to)| to).collect()
            }
            _ => self.ends_by_steps(id, place, after)?,
        };
        if ends.is_empty() && place == 0 {
            let first = self.first_bytes_of(id)?;
            self.note_lacked(&first);
        }
        ends.sort_unstable();
        ends.dedup();
        ends.retain(|&end| self.sets().contains(after, end));
        Ok(ends)
    }

    /// The places that `byte` leads to from any of these.
    fn after_byte(&mut self, at: &[u32], byte: u8) -> Vec<u32> {
        let mut next: Vec<u32> =
            at.iter().flat_map(|&place| self.tiling().next(place, byte)).collect();
        next.sort_unstable();
        next.dedup();
        if next.is_empty() && at == [0] {
            self.note_lacked(&std::iter::once(byte).collect());
        }
        next
    }

    /// The ends of an expression without calls, by its derivatives: the shortest texts first, and
    /// no further than until all places are found at which it could end at most.
    fn ends_by_steps(&mut self, id: ExprId, place: u32, after: Places) -> Result<Vec<u32>, Error> {
        let possible = self.possible_ends(id, place, after)?;
        let vocabulary = self.live().vocabulary.clone();
        let tiling = vocabulary.tiling().expect("it has one");
        let nothing = self.exprs.nothing();
        let mut ends = Vec::new();
        let mut met: Vec<(ExprId, u32)> = vec![(id, place)];
        let mut seen: FxHashSet<(ExprId, u32)> = FxHashSet::default();
        seen.insert((id, place));
        let mut open = BinaryHeap::from([Reverse((0, 0))]);
        while let Some(Reverse((_, at))) = open.pop() {
            let (at, place) = met[at];
            let is_end = self.exprs.is_nullable(at) && possible.binary_search(&place).is_ok();
            if is_end && !ends.contains(&place) {
                ends.push(place);
            }
            if ends.len() == possible.len() {
                break;
            }
            if met.len() > self.limits.search {
                return Err(Error::limit("search", self.limits.search));
            }
            for &(byte, to) in tiling.steps(place) {
                let rest = self.step(at, byte)?;
                let rest = spell::alike(&mut self.exprs, rest);
                if rest != nothing && seen.insert((rest, to)) {
                    open.push(Reverse((self.shape(rest).shortest, met.len())));
                    met.push((rest, to));
                }
            }
        }
        Ok(ends)
    }

    /// The places out of `after` at which `id` can end, and maybe more.
    fn possible_ends(&mut self, id: ExprId, place: u32, after: Places) -> Result<Vec<u32>, Error> {
        match self.exprs.get(id) {
            Expr::And(list) => {
                let mut possible = after;
                for member in self.exprs.list(list).to_vec() {
                    if !matches!(self.exprs.get(member), Expr::Not(_)) {
                        possible = self.all_ends((member, place, possible))?;
                    }
                }
                Ok(self.sets().get(possible).to_vec())
            }
            Expr::Chars { .. } | Expr::Partial { .. } => {
                let (set, spelling, _) =
                    spell::character(&self.exprs, id).expect("it is a character");
                let last = last_bytes(&set, spelling);
                let may_end = |place: &u32| {
                    *place == 0 || !last.intersection(self.tiling().bytes_into(*place)).is_empty()
                };
                Ok(self.sets().get(after).iter().copied().filter(may_end).collect())
            }
            _ => Ok(self.sets().get(after).to_vec()),
        }
    }
}

impl Search {
    fn open(&mut self, question: Question) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node {
            question,
            ends: Vec::new(),
            askers: Vec::new(),
            rounds: 0,
            is_open: false,
            is_skipped: false,
        });
        self.ids.insert(question, at);
        at
    }

    /// Adds ends to an answer, and to all that they are ends of; who goes on from them looks again.
    fn grow(&mut self, at: usize, ends: &[u32]) {
        let mut grown: Vec<(usize, Vec<u32>)> = vec![(at, ends.to_vec())];
        while let Some((at, mut ends)) = grown.pop() {
            ends.retain(|end| self.nodes[at].ends.binary_search(end).is_err());
            if ends.is_empty() {
                continue;
            }
            self.nodes[at].ends.extend_from_slice(&ends);
            self.nodes[at].ends.sort_unstable();
            for place in 0..self.nodes[at].askers.len() {
                match self.nodes[at].askers[place] {
                    (asker, Use::Own) => grown.push((asker, ends.clone())),
                    (asker, Use::Middle) => self.push(asker),
                }
            }
        }
    }

    /// Counts a look at a question.
    fn spend(&mut self, residuals: &Residuals) -> Result<(), Error> {
        self.work += 1;
        let most = residuals.limits.search;
        if self.nodes.len() > most || self.work / LOOKS > most {
            return Err(Error::limit("search", most));
        }
        Ok(())
    }

    fn push(&mut self, at: usize) {
        if !std::mem::replace(&mut self.nodes[at].is_open, true) {
            self.todo.push(at);
        }
    }

    /// Whether all places that are asked about are found.
    fn is_full(&self, residuals: &Residuals, at: usize) -> bool {
        let Node { question: (.., after), ends, .. } = &self.nodes[at];
        ends.len() == residuals.sets().get(*after).len()
    }
}

/// The bytes that the spelling of a character may end with, and maybe more.
fn last_bytes(set: &CharSet, spelling: Spelling) -> ByteSet {
    let raw = spell::raw_part(set, spelling);
    let mut bytes: ByteSet = (0..0x80).filter(|&byte| raw.contains(char::from(byte))).collect();
    bytes = bytes.union(&ByteSet::range(0x80, 0xBF));
    if spelling != Spelling::Text {
        let escapes = b"\"'\\/bfnrtv0123456789abcdefABCDEF".iter().copied().collect();
        bytes = bytes.union(&escapes);
    }
    bytes
}
