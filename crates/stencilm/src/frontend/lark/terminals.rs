//! The texts of terminals, as expressions.

use rustc_hash::FxHashMap;

use crate::error::{Error, Location};
use crate::frontend::lark::literals;
use crate::frontend::lark::names::Names;
use crate::frontend::lark::rules::Source;
use crate::frontend::lark::substring;
use crate::frontend::lark::tree::{Definition, Node, NodeId, Tree};
use crate::grammar::{CharSet, Expr, ExprId, Exprs, RuleId, RuleSet, Spelling};
use crate::limits::Budget;

/// A piece, and whether it stands below `&`, `~` or a lazy rule.
type Piece = (NodeId, bool);

/// Makes the expressions of terminals; each piece once.
#[derive(Debug)]
pub(crate) struct Terminals<'a> {
    tree: &'a Tree,
    names: &'a Names,
    /// The arena, and the grammars that are called.
    pub(crate) set: RuleSet,
    /// Rules that terminals need of their own: the rests of long lists of pieces.
    pub(crate) rules: substring::Rules,
    /// What a piece is, and what it is where no rule may be called; `None` while its parts are made.
    made: FxHashMap<Piece, Option<ExprId>>,
}

impl<'a> Terminals<'a> {
    /// None yet. The rules that they need get numbers from `first_rule` on.
    pub(crate) fn new(tree: &'a Tree, names: &'a Names, first_rule: usize) -> Self {
        Self {
            tree,
            names,
            set: RuleSet::new(Exprs::default(), Vec::new(), RuleId(0)),
            rules: substring::Rules::new(first_rule),
            made: FxHashMap::default(),
        }
    }

    /// Whether there is time, and room for more expressions.
    pub(crate) fn check(&self, budget: &mut Budget) -> Result<(), Error> {
        budget.tick()?;
        let allowed = budget.limits.expressions;
        if self.set.exprs.len() > allowed {
            Err(Error::limit("expressions", allowed))
        } else {
            Ok(())
        }
    }

    /// The texts of a terminal; `None` for what is no text of its own.
    pub(crate) fn of(
        &mut self,
        source: &Source,
        offset: usize,
        budget: &mut Budget,
    ) -> Result<Option<ExprId>, Error> {
        let names = self.names;
        match source {
            Source::Named(id) => self.named(&names.definitions[*id], budget),
            Source::Lazy(id) => self.lazy(&names.definitions[*id], budget),
            Source::Literal(text, false) => Ok(self.set.exprs.bytes(text.as_bytes())),
            Source::Literal(text, true) => literals::either_case(text, &mut self.set.exprs, budget),
            Source::Pattern(text, flags) => {
                literals::pattern(text, flags, offset, &mut self.set.exprs, budget)
            }
            Source::Node(node) => self.node(*node, budget),
            Source::Special(_) | Source::Schema(_) | Source::Numbered(..) => return Ok(None),
        }
        .map(Some)
    }

    /// The texts of a named terminal.
    fn named(&mut self, definition: &Definition, budget: &mut Budget) -> Result<ExprId, Error> {
        match definition.body {
            Some(body) => self.node(body, budget),
            None => Err(declared(definition)),
        }
    }

    /// The texts of a rule that ends as soon as it can, or whose texts are bounded.
    fn lazy(&mut self, definition: &Definition, budget: &mut Budget) -> Result<ExprId, Error> {
        let texts = self.ending_soon(definition, budget)?;
        let Some(most) = definition.attributes.max_chars else {
            return Ok(texts);
        };
        let one = self.set.exprs.chars(&CharSet::any(), Spelling::Text);
        let few = self.set.exprs.repeat(one, 0, most);
        Ok(self.set.exprs.and(&[texts, few]))
    }

    fn ending_soon(
        &mut self,
        definition: &Definition,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let Some(body) = definition.body else {
            return Err(declared(definition));
        };
        let attributes = &definition.attributes;
        if !attributes.is_lazy && attributes.end.is_none() {
            self.check_bounded(definition, body)?;
        }
        let texts = self.piece((body, true), budget)?;
        let Some(end) = attributes.end else {
            return Ok(if attributes.is_lazy { self.shortest(texts) } else { texts });
        };
        if matches!(&self.tree.nodes[end], Node::Literal(text, _) if text.is_empty()) {
            return Ok(texts);
        }
        let ending = self.piece((end, true), budget)?;
        if !definition.attributes.hides_end {
            let whole = self.set.exprs.seq2(texts, ending);
            return Ok(self.shortest(whole));
        }
        // The first end in a text and the one behind it must not share bytes, or taking the end
        // away from the whole is not the same as looking for it inside.
        let is_plain = match self.set.exprs.get(ending) {
            Expr::Bytes { literal, from: 0 } => !has_border(self.set.exprs.literal(literal)),
            _ => false,
        };
        if !is_plain {
            let feature = "a `stop` that is more than one literal, or that may overlap itself,";
            return Err(Error::unsupported(feature, Location::Offset(self.tree.offsets[end])));
        }
        let any = self.set.exprs.any_text(Spelling::Text);
        let stopped = self.set.exprs.seq(&[texts, ending, any]);
        Ok(self.set.exprs.minus(texts, stopped))
    }

    /// A rule of several terminals has ignored texts between them, which no terminal has.
    fn check_bounded(&self, definition: &Definition, body: NodeId) -> Result<(), Error> {
        if !self.names.ignored.contains_key(&definition.name.scope) {
            return Ok(());
        }
        let mut todo = vec![body];
        while let Some(node) = todo.pop() {
            match &self.tree.nodes[node] {
                Node::Choice(parts) => todo.extend(parts.iter()),
                Node::Seq(parts) if parts.is_empty() => {}
                Node::Seq(_) | Node::Repeat(..) => {
                    let feature =
                        "`max_chars` of several terminals with ignored texts between them";
                    return Err(Error::unsupported(feature, Location::Offset(definition.offset)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The texts that have no other one at their beginning.
    fn shortest(&mut self, texts: ExprId) -> ExprId {
        let one = self.set.exprs.chars(&CharSet::any(), Spelling::Text);
        let any = self.set.exprs.any_text(Spelling::Text);
        let longer = self.set.exprs.seq(&[texts, one, any]);
        self.set.exprs.minus(texts, longer)
    }

    /// The texts of a piece in which no rule is called.
    pub(crate) fn node(&mut self, root: NodeId, budget: &mut Budget) -> Result<ExprId, Error> {
        self.piece((root, false), budget)
    }

    /// The same where rules have no place.
    pub(crate) fn regular(&mut self, root: NodeId, budget: &mut Budget) -> Result<ExprId, Error> {
        self.piece((root, true), budget)
    }

    fn piece(&mut self, root: Piece, budget: &mut Budget) -> Result<ExprId, Error> {
        let mut todo = vec![root];
        while let Some(&piece) = todo.last() {
            self.check(budget)?;
            if let Some(Some(_)) = self.made.get(&piece) {
                todo.pop();
                continue;
            }
            let needs = self.needs(piece)?;
            let open = todo.len();
            for &need in &needs {
                match self.made.get(&need) {
                    Some(Some(_)) => {}
                    Some(None) => unreachable!("no terminal contains itself"),
                    None => todo.push(need),
                }
            }
            if todo.len() > open {
                self.made.insert(piece, None);
                continue;
            }
            let parts: Vec<ExprId> =
                needs.iter().filter_map(|need| self.made.get(need).copied().flatten()).collect();
            let built = self.build(piece, &parts, budget)?;
            self.made.insert(piece, Some(built));
            todo.pop();
        }
        Ok(self.made.get(&root).copied().flatten().unwrap_or_else(|| self.set.exprs.nothing()))
    }

    /// What must be made before this piece.
    fn needs(&self, (id, is_below): Piece) -> Result<Vec<Piece>, Error> {
        let offset = self.tree.offsets[id];
        match &self.tree.nodes[id] {
            Node::Name(name) => {
                let found = self.names.find(name).map(|it| &self.names.definitions[it]);
                match found {
                    Some(it) if it.name.is_terminal() => match it.body {
                        Some(body) => Ok(vec![(body, is_below)]),
                        None => Err(declared(it)),
                    },
                    _ => {
                        let feature = format!(
                            "the rule `{}` inside `&`, `~`, or a rule that is lazy or has `max_chars`",
                            name.text
                        );
                        Err(Error::unsupported(feature, Location::Offset(offset)))
                    }
                }
            }
            Node::Template(..) | Node::Numbered(..) | Node::If(..) => Err(Error::unsupported(
                "a template or a rule with a number inside `&`, `~`, or a rule that is lazy or has `max_chars`",
                Location::Offset(offset),
            )),
            Node::Special(_) | Node::Schema(_) | Node::Inner(_) => Err(Error::unsupported(
                "a special token, `%json` or `%lark` inside `&`, `~`, or a rule that is lazy or has `max_chars`",
                Location::Offset(offset),
            )),
            node => {
                let is_below = is_below || matches!(node, Node::And(_) | Node::Not(_));
                Ok(self.tree.parts(id).iter().map(|&part| (part, is_below)).collect())
            }
        }
    }

    fn build(
        &mut self,
        (id, is_below): Piece,
        parts: &[ExprId],
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let offset = self.tree.offsets[id];
        let exprs = &mut self.set.exprs;
        Ok(match &self.tree.nodes[id] {
            Node::Literal(text, false) => exprs.text(text, Spelling::Text),
            Node::Literal(text, true) => literals::either_case(text, exprs, budget)?,
            Node::Pattern(source, flags) => {
                literals::pattern(source, flags, offset, exprs, budget)?
            }
            Node::Range(low, high) => exprs.chars(&CharSet::new([(*low, *high)]), Spelling::Text),
            Node::Substring(pieces) if is_below => substring::any_run(pieces, exprs, budget)?,
            Node::Substring(pieces) => self.rules.any_run(pieces, exprs, budget)?,
            Node::Name(_) => parts[0],
            Node::Seq(_) => exprs.seq(parts),
            Node::Choice(_) => exprs.choice_of_many(parts),
            Node::Repeat(_, min, max) => exprs.repeat(parts[0], *min, *max),
            Node::Not(_) => {
                let any = exprs.any_text(Spelling::Text);
                exprs.minus(any, parts[0])
            }
            Node::And(_) => exprs.and(parts),
            Node::Template(..)
            | Node::Numbered(..)
            | Node::Special(_)
            | Node::Schema(_)
            | Node::Inner(_)
            | Node::If(..) => exprs.nothing(),
        })
    }
}

fn declared(definition: &Definition) -> Error {
    let name = &definition.name.text;
    let feature = format!("the terminal `{name}`, which is declared and has no text of its own,");
    Error::unsupported(feature, Location::Offset(definition.offset))
}

/// Whether some beginning of a text is its end too.
fn has_border(text: &[u8]) -> bool {
    (1..text.len()).any(|length| text.starts_with(&text[text.len() - length..]))
}
