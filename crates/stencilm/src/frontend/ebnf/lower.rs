//! Turns a tree into rules: names become ids, pieces become expressions.
//!
//! What stands below `&`, `-` and `~` must be regular: the rules that are called there are put in
//! place of their calls, which only recursive rules resist.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Location};
use crate::frontend::ebnf::ahead::{self, Ahead};
use crate::frontend::ebnf::tree::{Node, NodeId, Tree};
use crate::frontend::regex::Mode;
use crate::grammar::{CharSet, ExprId, Exprs, Marks, RuleId, RuleSet, Spelling, UNBOUNDED};
use crate::limits::Budget;

/// Of so many rules the names are compared with an unknown one.
const MOST_NAMES: usize = 1_000;

/// Longer names are not compared.
const LONGEST_NAME: usize = 100;

/// The rules of `tree`, whose text has `end` bytes.
pub(crate) fn lower(
    tree: &Tree,
    start: &str,
    end: usize,
    budget: &mut Budget,
) -> Result<RuleSet, Error> {
    if let Some(rule) = tree.rules.iter().find(|rule| rule.body.is_none()) {
        let defined: FxHashSet<&str> =
            tree.rules.iter().filter(|rule| rule.body.is_some()).map(|rule| &*rule.name).collect();
        let is_joined = rule.name.contains(['.', '-'])
            && rule.name.split(['.', '-']).any(|part| part.is_empty() || defined.contains(part));
        let hint = match nearest(tree, &rule.name) {
            _ if is_joined => {
                "; put blanks around `.` and `-` where they are no part of a name".to_owned()
            }
            Some(known) => format!("; is `{known}` meant?"),
            None => String::new(),
        };
        return Err(Error::syntax(format!("unknown rule `{}`{hint}", rule.name), rule.offset));
    }
    let mut order: Vec<usize> = (0..tree.rules.len()).collect();
    // Rules that a macro makes stand where it stands.
    order.sort_unstable_by_key(|&rule| (tree.rules[rule].offset, rule));
    let Some(start) = order.iter().position(|&rule| *tree.rules[rule].name == *start) else {
        let hint =
            match nearest(tree, start).or_else(|| order.first().map(|&r| &*tree.rules[r].name)) {
                Some(known) => format!("; is `{known}` meant?"),
                None => String::new(),
            };
        return Err(Error::syntax(format!("there is no rule `{start}` to start with{hint}"), end));
    };
    let mut ids = vec![RuleId(0); order.len()];
    for (place, &rule) in order.iter().enumerate() {
        ids[rule] = rule_id(place);
    }
    let mut lowering = Lowering {
        tree,
        ids,
        exprs: Exprs::default(),
        plain: Vec::with_capacity(tree.nodes.len()),
        flat: FxHashMap::default(),
    };
    let passes = ahead::passing(tree);
    for id in 0..tree.nodes.len() {
        lowering.check(budget)?;
        let expr = match tree.nodes[id] {
            Node::And(_) | Node::Not(_) => lowering.flat(id, budget)?,
            // Made for what is owed before it and what after.
            _ if passes.get(id) == Some(&true) => lowering.exprs.nothing(),
            _ => lowering.plain(id, budget)?,
        };
        lowering.plain.push(expr);
    }
    let named = order.iter().map(|&rule| &tree.rules[rule]);
    let marks = order.iter().zip(0..).map(|(&rule, place)| (RuleId(place), &tree.rules[rule].mark));
    let marks = marks.filter(|(_, mark)| !mark.is_empty());
    let mut marks: Marks = marks.map(|(rule, mark)| (rule, mark.clone())).collect();
    let mut rules: Vec<(String, ExprId)> = named
        .filter_map(|rule| Some((rule.name.to_string(), lowering.plain[rule.body?])))
        .collect();
    if !passes.is_empty() {
        let ahead = Ahead::new(&mut lowering, passes, rules, marks, budget);
        (rules, marks) = ahead.run(order[start])?;
    }
    Ok(RuleSet { marks, ..RuleSet::new(lowering.exprs, rules, rule_id(start)) })
}

/// The defined rule whose name differs from `name` in one or two letters, the nearest one.
fn nearest<'t>(tree: &'t Tree, name: &str) -> Option<&'t str> {
    // Among many rules looking for a name would cost more than reading them.
    let known = tree.rules.iter().filter(|rule| rule.body.is_some()).take(MOST_NAMES);
    let near = known.filter_map(|rule| {
        let distance = distance(&rule.name, name);
        (distance <= 2 && distance < name.len()).then_some((distance, &*rule.name))
    });
    near.min().map(|(_, name)| name)
}

/// How many bytes have to be changed, added or taken out.
fn distance(left: &str, right: &str) -> usize {
    if left.len().abs_diff(right.len()) > 2 || left.len() > LONGEST_NAME {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, byte) in left.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], place + 1);
        for (at, other) in right.bytes().enumerate() {
            let changed = corner + usize::from(byte != other);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[right.len()]
}

#[derive(Debug)]
pub(super) struct Lowering<'a> {
    pub(super) tree: &'a Tree,
    /// The id of each rule: rules are numbered in the order of their definitions.
    pub(super) ids: Vec<RuleId>,
    pub(super) exprs: Exprs,
    /// What each piece is, with calls.
    pub(super) plain: Vec<ExprId>,
    /// What a piece below `&`, `-`, `~` or a look-ahead is, without calls; `None` while its parts are made.
    flat: FxHashMap<NodeId, Option<ExprId>>,
}

impl Lowering<'_> {
    pub(super) fn check(&self, budget: &mut Budget) -> Result<(), Error> {
        budget.tick()?;
        let allowed = budget.limits.expressions;
        if self.exprs.len() > allowed { Err(Error::limit("expressions", allowed)) } else { Ok(()) }
    }

    fn plain(&mut self, id: NodeId, budget: &mut Budget) -> Result<ExprId, Error> {
        let parts: Vec<ExprId> = self.tree.parts(id).iter().map(|&part| self.plain[part]).collect();
        self.build(id, &parts, budget)
    }

    /// The piece without calls.
    pub(super) fn flat(&mut self, root: NodeId, budget: &mut Budget) -> Result<ExprId, Error> {
        let mut todo = vec![root];
        while let Some(&id) = todo.last() {
            self.check(budget)?;
            if let Some(Some(_)) = self.flat.get(&id) {
                todo.pop();
                continue;
            }
            let needs = self.needs(id)?;
            let open = todo.len();
            for &need in &needs {
                match self.flat.get(&need) {
                    Some(Some(_)) => {}
                    Some(None) => return Err(self.recursive(id, &todo[..open])),
                    None => todo.push(need),
                }
            }
            if todo.len() > open {
                self.flat.insert(id, None);
                continue;
            }
            let parts: Vec<ExprId> =
                needs.iter().filter_map(|need| self.flat.get(need).copied().flatten()).collect();
            let built = match self.tree.nodes[id] {
                Node::Call(_) => parts[0],
                _ => self.build(id, &parts, budget)?,
            };
            self.flat.insert(id, Some(built));
            todo.pop();
        }
        Ok(self.flat.get(&root).copied().flatten().unwrap_or_else(|| self.exprs.nothing()))
    }

    /// What must be made before this piece, when calls become what they call.
    fn needs(&self, id: NodeId) -> Result<Vec<NodeId>, Error> {
        match &self.tree.nodes[id] {
            Node::Call(rule) if !self.tree.rules[*rule].mark.is_empty() => {
                let feature = format!(
                    "the rule `{}`, whose options are no condition of its texts, inside `&`, `-`, `~` \
                     or a look-ahead",
                    self.tree.rules[*rule].name
                );
                Err(Error::unsupported(feature, Location::Offset(self.tree.offsets[id])))
            }
            Node::Call(rule) => Ok(self.tree.rules[*rule].body.into_iter().collect()),
            Node::Token(_) | Node::Ahead(_) => {
                let feature = match self.tree.nodes[id] {
                    Node::Token(_) => "a special token inside `&`, `-`, `~` or a look-ahead",
                    _ => "a look-ahead inside `&`, `-`, `~` or another look-ahead",
                };
                Err(Error::unsupported(feature, Location::Offset(self.tree.offsets[id])))
            }
            // A `Not` inside an `And` is what is taken away, no text of its own.
            Node::And(parts) => Ok(parts
                .iter()
                .map(|&part| match self.tree.nodes[part] {
                    Node::Not(inner) => inner,
                    _ => part,
                })
                .collect()),
            _ => Ok(self.tree.parts(id).to_vec()),
        }
    }

    /// `id` needs what is being made for the `open` pieces: a rule came up inside itself.
    fn recursive(&self, id: NodeId, open: &[NodeId]) -> Error {
        let is_open = |piece: &NodeId| *piece == id || self.flat.contains_key(piece);
        let call = open.iter().rev().filter(|piece| is_open(piece)).find_map(|&piece| {
            match self.tree.nodes[piece] {
                Node::Call(rule) => Some((&*self.tree.rules[rule].name, self.tree.offsets[piece])),
                _ => None,
            }
        });
        let (name, offset) = call.unwrap_or(("", self.tree.offsets[id]));
        let feature = format!("the recursive rule `{name}` inside `&`, `-`, `~` or a look-ahead");
        Error::unsupported(feature, Location::Offset(offset))
    }

    fn build(
        &mut self,
        id: NodeId,
        parts: &[ExprId],
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let exprs = &mut self.exprs;
        Ok(match &self.tree.nodes[id] {
            Node::Regex(regex, is_in_json) => {
                let texts = regex
                    .to_expr(exprs, Spelling::Text, Mode::FullMatch, budget)
                    .map_err(|error| error.moved_to(Location::Offset(self.tree.offsets[id])))?;
                if *is_in_json {
                    let inside = CharSet::new([('\0', '\u{1F}'), ('"', '"'), ('\\', '\\')]);
                    let unescaped = exprs.chars(&inside.negate(), Spelling::Text);
                    let unescaped = exprs.repeat(unescaped, 0, UNBOUNDED);
                    exprs.and(&[texts, unescaped])
                } else {
                    texts
                }
            }
            Node::Literal(bytes) => exprs.bytes(bytes),
            Node::Chars(class, spelling) => exprs.chars(class, *spelling),
            Node::Bytes(set) => exprs.byte_set(set),
            Node::Token(name) => exprs.token(name),
            Node::Call(rule) => exprs.call(self.ids[*rule]),
            Node::Seq(_) => exprs.seq(parts),
            Node::Choice(_) => exprs.choice_of_many(parts),
            Node::Repeat(_, min, max) => exprs.repeat(parts[0], *min, *max),
            // Only `Ahead` reads those.
            Node::Ahead(_) => exprs.nothing(),
            Node::Not(_) => {
                let any = exprs.any_text(Spelling::Text);
                exprs.minus(any, parts[0])
            }
            Node::And(operands) => {
                let is_not = |&operand: &NodeId| matches!(self.tree.nodes[operand], Node::Not(_));
                let mut members = Vec::with_capacity(parts.len() + 1);
                if operands.iter().all(is_not) {
                    members.push(exprs.any_text(Spelling::Text));
                }
                for (operand, &part) in operands.iter().zip(parts) {
                    members.push(if is_not(operand) { exprs.not(part) } else { part });
                }
                exprs.and(&members)
            }
        })
    }
}

fn rule_id(rule: usize) -> RuleId {
    RuleId(u32::try_from(rule).expect("limits keep rules below 2^32"))
}
