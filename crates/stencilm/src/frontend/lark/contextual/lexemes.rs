//! The terminals that Lark's lexer looks for: which of the grammar's are the same, and in which
//! order it tries them.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;

use crate::error::{Error, Location};
use crate::frontend::lark::contextual::anonymous;
use crate::frontend::lark::contextual::program::{DEEPEST, Program, Programmer, Step};
use crate::frontend::lark::names::Names;
use crate::frontend::lark::rules::{Rules, Source};
use crate::frontend::lark::tree::{Node, NodeId, ScopeId, Tree};
use crate::limits::Budget;

/// What a terminal is made of, where that is one literal or one regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pattern {
    /// Its text, and whether either case matches.
    Literal(Box<str>, bool),
    /// Its source and its flags.
    Regex(Box<str>, Box<str>),
}

/// A terminal as the lexer knows it.
#[derive(Debug)]
pub(crate) struct Lexeme {
    /// Its name.
    pub(crate) name: String,
    /// Its priority.
    pub(crate) priority: i64,
    /// Its text, and whether either case matches, if it is a literal.
    pub(crate) literal: Option<(Box<str>, bool)>,
    /// Whether what it matches is left out.
    pub(crate) is_ignored: bool,
    /// What it matches.
    pub(crate) program: Program,
    /// The piece of the grammar that says so.
    pub(crate) source: Source,
    /// Where it is written first.
    pub(crate) offset: usize,
}

impl Lexeme {
    /// Lexemes are tried in this order.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        let program = &self.program;
        let ranks = (Reverse(self.priority), Reverse(program.most), Reverse(program.length));
        (ranks, self.name.clone())
    }
}

/// All lexemes; which of them each terminal of the rules is.
#[derive(Debug)]
pub(crate) struct Lexemes {
    /// Every lexeme.
    pub(crate) list: Vec<Lexeme>,
    /// For each terminal of the rules, a place in the list.
    pub(crate) of_terminal: Vec<usize>,
    /// The bodies of look-behind; those inside of one come before it.
    pub(crate) behind: Vec<Vec<Step>>,
}

/// The lexemes of a grammar.
///
/// # Errors
/// A terminal that may be empty, or that no lexer knows.
pub(crate) fn lexemes(
    tree: &Tree,
    names: &Names,
    rules: &Rules,
    main: ScopeId,
    budget: &mut Budget,
) -> Result<Lexemes, Error> {
    // A literal that has a name is that terminal.
    let mut named: FxHashMap<Pattern, Source> = FxHashMap::default();
    for (id, definition) in names.definitions.iter().enumerate() {
        let is_own = definition.name.scope == main && definition.name.is_terminal();
        if let (true, Some(body)) = (is_own, definition.body)
            && let Some(pattern) = meant(tree, names, body)
        {
            named.insert(pattern, Source::Named(id));
        }
    }
    let ignored: Vec<NodeId> = names.ignored.get(&main).cloned().unwrap_or_default();
    let mut given: FxHashMap<NodeId, String> = FxHashMap::default();
    for (place, &node) in ignored.iter().enumerate() {
        given.insert(node, format!("__IGNORE_{place}"));
        if let Some(pattern) = pattern(tree, node) {
            named.insert(pattern, Source::Node(node));
        }
    }
    let is_named = |pattern: &Pattern| named.contains_key(pattern);
    let anonymous = anonymous::names_of_patterns(tree, names, main, is_named, budget)?;
    let mut maker = Maker {
        tree,
        names,
        named,
        ids: FxHashMap::default(),
        list: Vec::new(),
        behind: Vec::new(),
        anonymous,
        given,
        budget,
    };
    let mut of_terminal = Vec::with_capacity(rules.terminals.len());
    for terminal in &rules.terminals {
        of_terminal.push(maker.lexeme(&terminal.source, terminal.offset)?);
    }
    for &node in &ignored {
        let source = match &tree.nodes[node] {
            Node::Name(name) => names.find(name).map(Source::Named),
            _ => None,
        };
        let id = maker.lexeme(&source.unwrap_or(Source::Node(node)), tree.offsets[node])?;
        maker.list[id].is_ignored = true;
    }
    Ok(Lexemes { list: maker.list, of_terminal, behind: maker.behind })
}

/// What a piece is as a terminal by itself.
pub(crate) fn pattern(tree: &Tree, node: NodeId) -> Option<Pattern> {
    match &tree.nodes[node] {
        Node::Literal(text, ignores_case) => Some(Pattern::Literal(text.clone(), *ignores_case)),
        Node::Pattern(text, flags) => Some(Pattern::Regex(text.clone(), flags.clone())),
        Node::Range(low, high) => {
            Some(Pattern::Regex(format!("[{low}-{high}]").into(), Box::default()))
        }
        _ => None,
    }
}

/// The same, or what it is another name for; longer chains of names are refused when they are made.
fn meant(tree: &Tree, names: &Names, node: NodeId) -> Option<Pattern> {
    let mut node = node;
    for _ in 0..DEEPEST {
        match &tree.nodes[node] {
            Node::Name(name) => node = names.definitions[names.find(name)?].body?,
            _ => return pattern(tree, node),
        }
    }
    None
}

/// What a lexer has no terminal for.
fn refused(source: &Source) -> Option<&'static str> {
    match source {
        Source::Named(_) | Source::Literal(..) | Source::Pattern(..) | Source::Node(_) => None,
        Source::Lazy(_) => Some("a lazy rule in the contextual meaning"),
        Source::Special(_) => Some("a special token in the contextual meaning"),
        Source::Schema(_) => Some("`%json` in the contextual meaning"),
        Source::Numbered(..) => Some("a rule that is made later in the contextual meaning"),
    }
}

#[derive(Debug)]
struct Maker<'a> {
    tree: &'a Tree,
    names: &'a Names,
    named: FxHashMap<Pattern, Source>,
    ids: FxHashMap<Source, usize>,
    list: Vec<Lexeme>,
    behind: Vec<Vec<Step>>,
    /// Names of what rules say without one.
    anonymous: FxHashMap<Pattern, String>,
    /// Names of what is ignored.
    given: FxHashMap<NodeId, String>,
    budget: &'a mut Budget,
}

impl Maker<'_> {
    fn lexeme(&mut self, source: &Source, offset: usize) -> Result<usize, Error> {
        let pattern = match source {
            Source::Literal(text, ignores_case) => {
                Some(Pattern::Literal(text.clone(), *ignores_case))
            }
            Source::Pattern(text, flags) => Some(Pattern::Regex(text.clone(), flags.clone())),
            Source::Node(node) => pattern(self.tree, *node),
            Source::Named(_)
            | Source::Lazy(_)
            | Source::Special(_)
            | Source::Schema(_)
            | Source::Numbered(..) => None,
        };
        let known = pattern.as_ref().and_then(|it| self.named.get(it));
        let source = known.unwrap_or(source).clone();
        if let Some(&id) = self.ids.get(&source) {
            return Ok(id);
        }
        if let Some(feature) = refused(&source) {
            return Err(Error::unsupported(feature, Location::Offset(offset)));
        }
        let (tree, names) = (self.tree, self.names);
        let behind = &mut self.behind;
        let mut programmer = Programmer { tree, names, behind, budget: self.budget };
        let (name, priority, program) = match &source {
            Source::Named(id) => {
                let definition = &names.definitions[*id];
                let name = Some(definition.name.text.to_string());
                let Some(body) = definition.body else {
                    let feature = format!("the declared terminal `{}`", definition.name.text);
                    return Err(Error::unsupported(feature, Location::Offset(definition.offset)));
                };
                let mut program = programmer.node(body)?;
                program.length = definition.length.unwrap_or(program.length);
                (name, definition.priority, program)
            }
            Source::Literal(text, ignores_case) => {
                (None, 0, programmer.literal(text, *ignores_case)?)
            }
            Source::Pattern(text, flags) => (None, 0, programmer.pattern(text, flags, offset)?),
            Source::Node(node) => (None, 0, programmer.node(*node)?),
            Source::Lazy(_) | Source::Special(_) | Source::Schema(_) | Source::Numbered(..) => {
                unreachable!("these were refused")
            }
        };
        let given = || match &source {
            Source::Node(node) => self.given.get(node).cloned(),
            _ => None,
        };
        let name = name
            .or_else(given)
            .or_else(|| self.anonymous.get(pattern.as_ref()?).cloned())
            .unwrap_or_else(|| "__ANON".to_owned());
        if program.least == 0 {
            let message =
                format!("the terminal `{name}` may be empty, which a lexer does not allow");
            return Err(Error::syntax(message, offset));
        }
        let literal = self.literal(&source);
        let lexeme = Lexeme {
            name,
            priority,
            literal,
            is_ignored: false,
            program,
            source: source.clone(),
            offset,
        };
        self.ids.insert(source, self.list.len());
        self.list.push(lexeme);
        Ok(self.list.len() - 1)
    }

    fn literal(&self, source: &Source) -> Option<(Box<str>, bool)> {
        let node = match source {
            Source::Literal(text, ignores_case) => return Some((text.clone(), *ignores_case)),
            Source::Named(id) => self.names.definitions[*id].body?,
            Source::Node(node) => *node,
            Source::Pattern(..)
            | Source::Lazy(_)
            | Source::Special(_)
            | Source::Schema(_)
            | Source::Numbered(..) => return None,
        };
        match meant(self.tree, self.names, node)? {
            Pattern::Literal(text, ignores_case) => Some((text, ignores_case)),
            Pattern::Regex(..) => None,
        }
    }
}
