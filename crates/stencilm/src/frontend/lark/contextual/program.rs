//! Terminals as Python's `re` sees them: as programs whose choices have an order, which says which
//! of several matches is taken.

use crate::error::{Error, Location};
use crate::frontend::lark::literals;
use crate::frontend::lark::names::Names;
use crate::frontend::lark::tree::{Node, NodeId, Tree};
use crate::frontend::regex::{self, Kind, Look, Side};
use crate::grammar::{CharSet, UNBOUNDED};
use crate::limits::Budget;

/// How deep terminals nest.
pub(crate) const DEEPEST: usize = 100;

/// A step of a program.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// One character of a set, and on with the next step.
    Chars(CharSet),
    /// Two ways, the first one rather.
    Split(usize, usize),
    /// Elsewhere.
    Jump(usize),
    /// On at `end` if the steps between, from the next one on, match what follows, or if not.
    Ahead { end: usize, is_negative: bool },
    /// On with the next step if a body of look-behind, by number, matches what came before, or if
    /// not.
    Behind { body: usize, is_negative: bool },
    /// The terminal is complete.
    Match,
}

impl Step {
    /// The set of which it reads a character.
    pub(crate) fn chars(&self) -> Option<&CharSet> {
        match self {
            Self::Chars(set) => Some(set),
            _ => None,
        }
    }

    fn looks(&self) -> bool {
        matches!(self, Self::Ahead { .. } | Self::Behind { .. })
    }
}

/// Where a terminal stands in Lark's order, and what it does.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The steps, from the first one on.
    pub(crate) steps: Vec<Step>,
    /// The most characters that a match has.
    pub(crate) most: u64,
    /// The fewest.
    pub(crate) least: u64,
    /// Characters of the regular expression that Lark makes of it.
    pub(crate) length: usize,
    /// Whether its whole has the flag `i`.
    pub(crate) ignores_case: bool,
}

impl Program {
    /// Whether it asks what comes before or after its texts.
    pub(crate) fn looks(&self) -> bool {
        self.steps.iter().any(Step::looks)
    }
}

/// Makes programs.
#[derive(Debug)]
pub(crate) struct Programmer<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) names: &'a Names,
    /// The bodies of look-behind, as programs; those inside of one come before it.
    pub(crate) behind: &'a mut Vec<Vec<Step>>,
    pub(crate) budget: &'a mut Budget,
}

/// Steps whose places count from their own beginning, and what Lark knows of them.
#[derive(Clone, Debug)]
struct Piece {
    steps: Vec<Step>,
    most: u64,
    least: u64,
    /// Characters of its regular expression, without flags.
    length: usize,
    /// The flags of the whole.
    flags: String,
    /// Where a regular expression with a `|` outside of parentheses is.
    open_bar: Option<usize>,
}

impl Piece {
    /// Characters of its regular expression with its flags: `(?i:…)` for each.
    fn whole_length(&self) -> usize {
        self.length + 5 * self.flags.len()
    }
}

impl Programmer<'_> {
    /// The program of a piece of a terminal.
    pub(crate) fn node(&mut self, node: NodeId) -> Result<Program, Error> {
        let piece = self.piece(node, 0)?;
        self.whole(piece)
    }

    /// The program of a literal.
    pub(crate) fn literal(&mut self, text: &str, ignores_case: bool) -> Result<Program, Error> {
        let piece = self.text(text, ignores_case)?;
        self.whole(piece)
    }

    /// The program of a regular expression.
    pub(crate) fn pattern(
        &mut self,
        text: &str,
        flags: &str,
        offset: usize,
    ) -> Result<Program, Error> {
        let piece = self.regex_piece(text, flags, offset)?;
        self.whole(piece)
    }

    fn whole(&mut self, piece: Piece) -> Result<Program, Error> {
        let mut steps = piece.steps;
        steps.push(Step::Match);
        self.check(&steps)?;
        let ignores_case = piece.flags.contains('i');
        let (most, least, length) = (piece.most, piece.least, piece.length);
        Ok(Program { steps, most, least, length, ignores_case })
    }

    fn check(&mut self, steps: &[Step]) -> Result<(), Error> {
        self.budget.tick()?;
        self.budget.check_search(steps.len(), 1)
    }

    fn piece(&mut self, node: NodeId, depth: usize) -> Result<Piece, Error> {
        let offset = self.tree.offsets[node];
        if depth > DEEPEST {
            return Err(Error::limit("nesting", DEEPEST).moved_to(Location::Offset(offset)));
        }
        let tree = self.tree;
        match &tree.nodes[node] {
            Node::Literal(text, ignores_case) => self.text(text, *ignores_case),
            Node::Pattern(text, flags) => self.regex_piece(text, flags, offset),
            Node::Range(low, high) => {
                let set = CharSet::new([(*low, *high)]);
                let steps = vec![Step::Chars(set)];
                Ok(Piece {
                    steps,
                    most: 1,
                    least: 1,
                    length: 5,
                    flags: String::new(),
                    open_bar: None,
                })
            }
            Node::Name(name) => {
                let found = self.names.find(name).map(|it| &self.names.definitions[it]);
                if let Some(body) = found.and_then(|it| it.body) {
                    return self.piece(body, depth + 1);
                }
                let feature = format!("the declared terminal `{}`", name.text);
                Err(Error::unsupported(feature, Location::Offset(offset)))
            }
            Node::Seq(parts) => {
                let mut pieces = Vec::new();
                for &part in parts {
                    pieces.push(self.piece(part, depth + 1)?);
                }
                self.seq(pieces)
            }
            Node::Choice(parts) => {
                let mut pieces = Vec::new();
                for &part in parts {
                    pieces.push(self.piece(part, depth + 1)?);
                }
                // Lark puts the longest first.
                pieces.sort_by_key(|it| {
                    (u64::MAX - it.most, u64::MAX - it.least, usize::MAX - it.length)
                });
                self.choice(pieces)
            }
            Node::Repeat(part, min, max) => {
                let inner = self.piece(*part, depth + 1)?;
                let written = match (min, max) {
                    (0 | 1, &UNBOUNDED) | (0, 1) => 1,
                    (min, max) if min == max => min.to_string().len() + 2,
                    (min, max) => min.to_string().len() + max.to_string().len() + 3,
                };
                let (length, flags) = (inner.whole_length() + 4 + written, inner.flags.clone());
                let piece = self.repeat(&inner, *min, *max, false)?;
                Ok(Piece { length, flags, open_bar: None, ..piece })
            }
            Node::And(_) | Node::Not(_) | Node::Substring(_) => Err(Error::unsupported(
                "`&`, `~` and `%regex` in the contextual meaning",
                Location::Offset(offset),
            )),
            Node::Template(..)
            | Node::Numbered(..)
            | Node::Special(_)
            | Node::Schema(_)
            | Node::Inner(_)
            | Node::If(..) => unreachable!("a terminal has none of these: the names are checked"),
        }
    }

    fn text(&mut self, text: &str, ignores_case: bool) -> Result<Piece, Error> {
        let is_special = |c: char| "()[]{}?*+-|^$\\.&~# \t\n\r\u{B}\u{C}".contains(c);
        let length = text.chars().map(|c| 1 + usize::from(is_special(c))).sum();
        if ignores_case {
            let regex = literals::either_case_regex(text, self.budget)?;
            let piece = self.regex(regex.root(), 0, 0)?;
            return Ok(Piece { length, flags: "i".to_owned(), ..piece });
        }
        let steps: Vec<Step> = text.chars().map(|c| Step::Chars(CharSet::of([c]))).collect();
        let count = steps.len() as u64;
        Ok(Piece { steps, most: count, least: count, length, flags: String::new(), open_bar: None })
    }

    fn regex_piece(&mut self, text: &str, flags: &str, offset: usize) -> Result<Piece, Error> {
        let regex = literals::regex(text, flags, offset, self.budget)?;
        let piece = self.regex(regex.root(), offset, 0)?;
        let open_bar = (flags.is_empty() && has_open_bar(text)).then_some(offset);
        Ok(Piece { length: text.chars().count(), flags: flags.to_owned(), open_bar, ..piece })
    }

    fn regex(&mut self, node: &regex::Node, offset: usize, depth: usize) -> Result<Piece, Error> {
        if depth > DEEPEST {
            return Err(Error::limit("nesting", DEEPEST).moved_to(Location::Offset(offset)));
        }
        match node.kind() {
            Kind::Empty => self.seq(Vec::new()),
            Kind::Chars(set) => {
                let steps = vec![Step::Chars(set.clone())];
                Ok(Piece {
                    steps,
                    most: 1,
                    least: 1,
                    length: 0,
                    flags: String::new(),
                    open_bar: None,
                })
            }
            Kind::Seq(parts) | Kind::Choice(parts) => {
                let mut pieces = Vec::new();
                for part in parts {
                    pieces.push(self.regex(part, offset, depth + 1)?);
                }
                match node.kind() {
                    Kind::Seq(_) => self.seq(pieces),
                    _ => self.choice(pieces),
                }
            }
            Kind::Repeat { body, min, max } => {
                let inner = self.regex(body, offset, depth + 1)?;
                self.repeat(&inner, *min, *max, node.is_lazy())
            }
            Kind::Look(look) => {
                let inner = self.regex(&look.body, offset, depth + 1)?;
                self.look(look, inner, offset + 1 + node.span().start)
            }
        }
    }

    fn look(&mut self, look: &Look, inner: Piece, offset: usize) -> Result<Piece, Error> {
        let is_negative = look.is_negative;
        let mut body = inner.steps;
        body.push(Step::Match);
        let steps = match look.side {
            Side::Ahead => {
                let mut steps = vec![Step::Ahead { end: 1 + body.len(), is_negative }];
                append(&mut steps, &body);
                steps
            }
            Side::Behind => {
                if inner.most != inner.least {
                    let message = "a look-behind whose texts are not of one length, \
                                   which Python's `re` does not know";
                    return Err(Error::syntax(message, offset));
                }
                if body.iter().any(|step| matches!(step, Step::Ahead { .. })) {
                    let feature = "look-ahead inside of look-behind in the contextual meaning";
                    return Err(Error::unsupported(feature, Location::Offset(offset)));
                }
                self.behind.push(body);
                vec![Step::Behind { body: self.behind.len() - 1, is_negative }]
            }
        };
        self.check(&steps)?;
        Ok(Piece { steps, most: 0, least: 0, length: 0, flags: String::new(), open_bar: None })
    }

    fn seq(&mut self, pieces: Vec<Piece>) -> Result<Piece, Error> {
        if pieces.len() == 1 {
            return Ok(pieces.into_iter().next().expect("there is one"));
        }
        let mut whole = Piece {
            steps: Vec::new(),
            most: 0,
            least: 0,
            length: 0,
            flags: String::new(),
            open_bar: None,
        };
        for piece in pieces {
            if let Some(offset) = piece.open_bar {
                // Lark writes the patterns one behind the other, so that a bar parts them all.
                let feature = "a regular expression with `|` beside other pieces, without \
                               parentheses, in the contextual meaning";
                return Err(Error::unsupported(feature, Location::Offset(offset)));
            }
            append(&mut whole.steps, &piece.steps);
            whole.most = whole.most.saturating_add(piece.most);
            whole.least = whole.least.saturating_add(piece.least);
            whole.length += piece.whole_length();
            self.check(&whole.steps)?;
        }
        Ok(whole)
    }

    fn choice(&mut self, pieces: Vec<Piece>) -> Result<Piece, Error> {
        if pieces.len() == 1 {
            return Ok(pieces.into_iter().next().expect("there is one"));
        }
        let most = pieces.iter().map(|it| it.most).max().unwrap_or(0);
        let least = pieces.iter().map(|it| it.least).min().unwrap_or(0);
        let length = pieces.iter().map(|it| it.whole_length() + 1).sum::<usize>() + 3;
        let mut steps: Vec<Step> = Vec::new();
        let mut jumps = Vec::new();
        let last = pieces.len().saturating_sub(1);
        for (place, piece) in pieces.iter().enumerate() {
            if place < last {
                let at = steps.len();
                steps.push(Step::Split(at + 1, at + 2 + piece.steps.len()));
            }
            append(&mut steps, &piece.steps);
            if place < last {
                jumps.push(steps.len());
                steps.push(Step::Jump(0));
            }
            self.check(&steps)?;
        }
        let end = steps.len();
        for jump in jumps {
            steps[jump] = Step::Jump(end);
        }
        Ok(Piece { steps, most, least, length, flags: String::new(), open_bar: None })
    }

    fn repeat(&mut self, inner: &Piece, min: u32, max: u32, is_lazy: bool) -> Result<Piece, Error> {
        let mut steps = Vec::new();
        let split = |on: usize, out: usize| {
            if is_lazy { Step::Split(out, on) } else { Step::Split(on, out) }
        };
        for _ in 0..min {
            append(&mut steps, &inner.steps);
            self.check(&steps)?;
        }
        if max == UNBOUNDED {
            let at = steps.len();
            steps.push(split(at + 1, at + 2 + inner.steps.len()));
            append(&mut steps, &inner.steps);
            steps.push(Step::Jump(at));
        } else {
            let mut outs = Vec::new();
            for _ in min..max {
                outs.push(steps.len());
                steps.push(Step::Jump(0));
                append(&mut steps, &inner.steps);
                self.check(&steps)?;
            }
            let end = steps.len();
            for out in outs {
                steps[out] = split(out + 1, end);
            }
        }
        let times = |count: u64, times: u32| match times {
            UNBOUNDED if count > 0 => u64::MAX,
            _ => count.saturating_mul(times.into()),
        };
        let (most, least) = (times(inner.most, max), times(inner.least, min));
        Ok(Piece { steps, most, least, length: 0, flags: String::new(), open_bar: None })
    }
}

/// Adds steps, whose places move along.
fn append(steps: &mut Vec<Step>, more: &[Step]) {
    let by = steps.len();
    steps.extend(more.iter().map(|step| match step {
        Step::Chars(set) => Step::Chars(set.clone()),
        Step::Split(a, b) => Step::Split(a + by, b + by),
        Step::Jump(to) => Step::Jump(to + by),
        Step::Ahead { end, is_negative } => {
            Step::Ahead { end: end + by, is_negative: *is_negative }
        }
        Step::Behind { body, is_negative } => {
            Step::Behind { body: *body, is_negative: *is_negative }
        }
        Step::Match => Step::Match,
    }));
}

/// Whether a `|` stands outside of all parentheses and classes.
fn has_open_bar(pattern: &str) -> bool {
    let (mut depth, mut in_class, mut escaped) = (0_usize, false, false);
    for byte in pattern.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'[' => in_class = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}
