//! Rules without names: templates filled in, numbers put in their places, literals made terminals.

use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

use crate::error::{Error, Location};
use crate::frontend::lark::Meaning;
use crate::frontend::lark::names::{DefinitionId, Names};
use crate::frontend::lark::numbered_plan::Plan;
use crate::frontend::lark::tree::{Name, Node, NodeId, ScopeId, Tree};
use crate::grammar::Mark;
use crate::limits::Budget;

/// Of more rules with a number only those are made that are called.
const MOST_NUMBERS: usize = 1_000;

/// A place in [`Rules::parts`].
pub(crate) type PartId = usize;

/// A place in [`Rules::list`].
pub(crate) type RulePlace = usize;

/// A place in [`Rules::terminals`].
pub(crate) type TerminalId = usize;

/// What a rule is made of. Parts come before wholes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A terminal.
    Terminal(TerminalId),
    /// A rule.
    Rule(RulePlace),
    /// Rules that are made when they are called.
    Supplied(TerminalId),
    /// A whole text of the grammar `inner`, inside of the grammar `outer`.
    Inner { inner: ScopeId, outer: ScopeId, rule: RulePlace },
    /// One after the other.
    Seq(Box<[PartId]>),
    /// Any of these; none for what cannot be.
    Choice(Box<[PartId]>),
    /// Between so many and so many times.
    Repeat(PartId, u32, u32),
}

/// What a terminal is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// A named one.
    Named(DefinitionId),
    /// A rule that ends as soon as it can, or whose texts are bounded.
    Lazy(DefinitionId),
    /// A literal in a rule; whether either case matches.
    Literal(Box<str>, bool),
    /// A regular expression in a rule, and its flags.
    Pattern(Box<str>, Box<str>),
    /// Anything else that a rule says without calling rules.
    Node(NodeId),
    /// A special token.
    Special(Box<str>),
    /// A JSON Schema, as a place in the text.
    Schema(Range<usize>),
    /// A rule with a number, and what it leads to.
    Numbered(DefinitionId, u64),
}

/// A terminal of one text.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    /// What it is.
    pub(crate) source: Source,
    /// The text whose ignored terminals may follow it.
    pub(crate) scope: ScopeId,
    /// Where it is written first.
    pub(crate) offset: usize,
}

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its name, with its number.
    pub(crate) name: String,
    /// Its priority.
    pub(crate) priority: i64,
    /// What it is made of.
    pub(crate) body: PartId,
    /// What it asks for beside its texts.
    pub(crate) mark: Mark,
}

/// All rules that the start needs.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Every part, parts before wholes.
    pub(crate) parts: Vec<Part>,
    /// Every rule.
    pub(crate) list: Vec<Rule>,
    /// Every terminal.
    pub(crate) terminals: Vec<Terminal>,
    /// The rule of a whole text.
    pub(crate) start: RulePlace,
}

/// What stands for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Bound {
    Template(DefinitionId),
    Part(PartId),
}

/// A rule as it is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    definition: DefinitionId,
    arguments: Box<[Bound]>,
    number: u64,
}

/// The rules that the rule `start` of the main text needs.
///
/// # Errors
/// More rules than `Limits::rules`, or a construct that is refused.
pub(crate) fn rules(
    tree: &Tree,
    names: &Names,
    start: DefinitionId,
    meaning: Meaning,
    budget: &mut Budget,
) -> Result<Rules, Error> {
    let mut later = FxHashSet::default();
    if meaning != Meaning::Contextual {
        let most = budget.limits.rules.min(MOST_NUMBERS);
        match made(tree, names, start, &later, most, budget)? {
            Some(rules) => return Ok(rules),
            None => later = made_later(tree, names, budget)?,
        }
    }
    let most = budget.limits.rules;
    let all = made(tree, names, start, &later, most, budget)?;
    all.ok_or_else(|| Error::limit("rules", most))
}

/// The definitions with a number whose rules can be made when they are called.
fn made_later(
    tree: &Tree,
    names: &Names,
    budget: &mut Budget,
) -> Result<FxHashSet<DefinitionId>, Error> {
    let mut later = FxHashSet::default();
    // Where rules have marks, what they take ends with a terminal, which must be known.
    if names.definitions.iter().any(|it| !it.attributes.mark.is_empty()) {
        return Ok(later);
    }
    for (id, definition) in names.definitions.iter().enumerate() {
        if definition.is_numbered && Plan::find(tree, names, id, budget)?.is_some() {
            later.insert(id);
        }
    }
    Ok(later)
}

/// The rules; none if they have more than `most` numbers. Those of the definitions in `later` are
/// not made.
fn made(
    tree: &Tree,
    names: &Names,
    start: DefinitionId,
    later: &FxHashSet<DefinitionId>,
    most: usize,
    budget: &mut Budget,
) -> Result<Option<Rules>, Error> {
    let mut maker = Maker {
        tree,
        names,
        later,
        numbers: 0,
        parts: Vec::new(),
        part_ids: FxHashMap::default(),
        keys: Vec::new(),
        rules: FxHashMap::default(),
        terminals: Vec::new(),
        terminal_ids: FxHashMap::default(),
        budget,
    };
    let start = Key { definition: start, arguments: Box::default(), number: 0 };
    let start = maker.rule(start)?;
    let mut made = Vec::new();
    while let Some(key) = maker.keys.get(made.len()).cloned() {
        if maker.numbers > most {
            return Ok(None);
        }
        let body = maker.body(&key)?;
        let definition = &names.definitions[key.definition];
        let (priority, mark) = (definition.priority, definition.attributes.mark.clone());
        made.push(Rule { name: maker.name(&key), priority, body, mark });
    }
    Ok(Some(Rules { parts: maker.parts, list: made, terminals: maker.terminals, start }))
}

#[derive(Debug)]
struct Maker<'a> {
    tree: &'a Tree,
    names: &'a Names,
    later: &'a FxHashSet<DefinitionId>,
    /// How many rules have a number.
    numbers: usize,
    parts: Vec<Part>,
    part_ids: FxHashMap<Part, PartId>,
    keys: Vec<Key>,
    rules: FxHashMap<Key, RulePlace>,
    terminals: Vec<Terminal>,
    terminal_ids: FxHashMap<(Source, ScopeId), TerminalId>,
    budget: &'a mut Budget,
}

impl Maker<'_> {
    fn part(&mut self, part: Part) -> PartId {
        if let Some(&id) = self.part_ids.get(&part) {
            return id;
        }
        self.parts.push(part.clone());
        self.part_ids.insert(part, self.parts.len() - 1);
        self.parts.len() - 1
    }

    fn rule(&mut self, key: Key) -> Result<RulePlace, Error> {
        if let Some(&place) = self.rules.get(&key) {
            return Ok(place);
        }
        let allowed = self.budget.limits.rules;
        if self.keys.len() >= allowed {
            return Err(Error::limit("rules", allowed));
        }
        self.budget.tick()?;
        self.numbers += usize::from(self.names.definitions[key.definition].is_numbered);
        self.keys.push(key.clone());
        self.rules.insert(key, self.keys.len() - 1);
        Ok(self.keys.len() - 1)
    }

    fn name(&self, key: &Key) -> String {
        let definition = &self.names.definitions[key.definition];
        let name = &definition.name.text;
        if definition.is_numbered { format!("{name}_{}", key.number) } else { name.to_string() }
    }

    fn terminal(&mut self, source: Source, scope: ScopeId, offset: usize) -> PartId {
        let id = self.terminal_id(source, scope, offset);
        self.part(Part::Terminal(id))
    }

    fn terminal_id(&mut self, source: Source, scope: ScopeId, offset: usize) -> TerminalId {
        let key = (source, scope);
        self.terminal_ids.get(&key).copied().unwrap_or_else(|| {
            self.terminals.push(Terminal { source: key.0.clone(), scope, offset });
            self.terminal_ids.insert(key, self.terminals.len() - 1);
            self.terminals.len() - 1
        })
    }

    /// The body of a rule, its parts first.
    fn body(&mut self, key: &Key) -> Result<PartId, Error> {
        let definition = &self.names.definitions[key.definition];
        let scope = definition.name.scope;
        if definition.name.is_terminal() {
            return Ok(self.terminal(Source::Named(key.definition), scope, definition.offset));
        }
        if definition.attributes.change_texts() {
            return Ok(self.terminal(Source::Lazy(key.definition), scope, definition.offset));
        }
        let Some(body) = definition.body else {
            let feature = format!("the rule `{}`, which is declared only,", definition.name.text);
            return Err(Error::unsupported(feature, Location::Offset(definition.offset)));
        };
        let mut seen = FxHashSet::default();
        let mut todo = vec![body];
        while let Some(node) = todo.pop() {
            self.budget.tick()?;
            let is_dead = matches!(&self.tree.nodes[node], Node::If(_, condition) if !condition.holds(key.number));
            if seen.insert(node) && !is_dead && !is_terminal(&self.tree.nodes[node]) {
                todo.extend(self.tree.parts(node));
            }
        }
        let mut order: Vec<NodeId> = seen.into_iter().collect();
        order.sort_unstable();
        let mut made: FxHashMap<NodeId, Bound> = FxHashMap::default();
        for node in order {
            let bound = self.node(node, key, &made)?;
            made.insert(node, bound);
        }
        self.part_of(made[&body], body)
    }

    /// A template by itself is no text.
    fn part_of(&self, bound: Bound, node: NodeId) -> Result<PartId, Error> {
        match bound {
            Bound::Part(part) => Ok(part),
            Bound::Template(definition) => {
                let name = &self.names.definitions[definition].name.text;
                let message = format!("the template `{name}` needs arguments: `{name}{{…}}`");
                Err(Error::syntax(message, self.tree.offsets[node]))
            }
        }
    }

    fn node(
        &mut self,
        node: NodeId,
        key: &Key,
        made: &FxHashMap<NodeId, Bound>,
    ) -> Result<Bound, Error> {
        let offset = self.tree.offsets[node];
        let scope = self.names.definitions[key.definition].name.scope;
        let tree = self.tree;
        let part = match &tree.nodes[node] {
            Node::Name(name) => return self.named(name, key, offset),
            Node::Template(name, arguments) => {
                let arguments: Box<[Bound]> = arguments.iter().map(|it| made[it]).collect();
                self.template(name, arguments, key, offset)?
            }
            Node::Numbered(name, argument) => {
                let definition = self.known(name, offset)?;
                let number = argument.of(key.number);
                if self.later.contains(&definition) {
                    let source = Source::Numbered(definition, number);
                    let terminal = self.terminal_id(source, scope, offset);
                    return Ok(Bound::Part(self.part(Part::Supplied(terminal))));
                }
                let arguments = Box::default();
                let rule = self.rule(Key { definition, arguments, number })?;
                self.part(Part::Rule(rule))
            }
            Node::Literal(text, _) if text.is_empty() => self.part(Part::Seq(Box::default())),
            Node::Literal(text, ignores_case) => {
                self.terminal(Source::Literal(text.clone(), *ignores_case), scope, offset)
            }
            Node::Pattern(text, flags) => {
                self.terminal(Source::Pattern(text.clone(), flags.clone()), scope, offset)
            }
            Node::Range(..) | Node::Substring(_) | Node::And(_) | Node::Not(_) => {
                self.terminal(Source::Node(node), scope, offset)
            }
            Node::Special(name) => self.terminal(Source::Special(name.clone()), scope, offset),
            Node::Schema(place) => self.terminal(Source::Schema(place.clone()), scope, offset),
            Node::Inner(inner) => {
                let definition = self.names.start(tree, *inner, "start")?;
                let start = Key { definition, arguments: Box::default(), number: 0 };
                let rule = self.rule(start)?;
                self.part(Part::Inner { inner: *inner, outer: scope, rule })
            }
            Node::Seq(parts) => {
                let parts = self.parts_of(parts, made)?;
                self.part(Part::Seq(parts))
            }
            Node::Choice(parts) => {
                let parts = self.parts_of(parts, made)?;
                self.part(Part::Choice(parts))
            }
            Node::Repeat(part, min, max) => {
                let part = self.part_of(made[part], *part)?;
                self.part(Part::Repeat(part, *min, *max))
            }
            Node::If(part, condition) => {
                if condition.holds(key.number) {
                    self.part_of(made[part], *part)?
                } else {
                    self.part(Part::Choice(Box::default()))
                }
            }
        };
        Ok(Bound::Part(part))
    }

    fn parts_of(
        &self,
        nodes: &[NodeId],
        made: &FxHashMap<NodeId, Bound>,
    ) -> Result<Box<[PartId]>, Error> {
        nodes.iter().map(|node| self.part_of(made[node], *node)).collect()
    }

    fn known(&self, name: &Name, offset: usize) -> Result<DefinitionId, Error> {
        let unknown = || Error::syntax(format!("unknown rule `{}`", name.text), offset);
        self.names.find(name).ok_or_else(unknown)
    }

    fn named(&mut self, name: &Name, key: &Key, offset: usize) -> Result<Bound, Error> {
        if let Some(bound) = self.argument(name, key) {
            return Ok(bound);
        }
        let definition = self.known(name, offset)?;
        let found = &self.names.definitions[definition];
        if !found.parameters.is_empty() {
            return Ok(Bound::Template(definition));
        }
        if found.name.is_terminal() {
            // What may follow a terminal is said where it is used.
            let scope = self.names.definitions[key.definition].name.scope;
            let offset = found.offset;
            return Ok(Bound::Part(self.terminal(Source::Named(definition), scope, offset)));
        }
        let rule = self.rule(Key { definition, arguments: Box::default(), number: 0 })?;
        Ok(Bound::Part(self.part(Part::Rule(rule))))
    }

    fn argument(&self, name: &Name, key: &Key) -> Option<Bound> {
        let parameters = &self.names.definitions[key.definition].parameters;
        parameters.iter().position(|it| it == name).map(|place| key.arguments[place])
    }

    fn template(
        &mut self,
        name: &Name,
        arguments: Box<[Bound]>,
        key: &Key,
        offset: usize,
    ) -> Result<PartId, Error> {
        let definition = match self.argument(name, key) {
            Some(Bound::Template(definition)) => definition,
            Some(Bound::Part(_)) => {
                let message = format!("`{}` is no template here", name.text);
                return Err(Error::syntax(message, offset));
            }
            None => self.known(name, offset)?,
        };
        let found = &self.names.definitions[definition];
        if found.parameters.len() != arguments.len() {
            let message = format!(
                "`{}` has {} parameters, and {} arguments here",
                found.name.text,
                found.parameters.len(),
                arguments.len()
            );
            return Err(Error::syntax(message, offset));
        }
        let rule = self.rule(Key { definition, arguments, number: 0 })?;
        Ok(self.part(Part::Rule(rule)))
    }
}

/// Whether a piece of a rule is a terminal as a whole.
fn is_terminal(node: &Node) -> bool {
    matches!(node, Node::And(_) | Node::Not(_))
}
