//! What names stand for: definitions of this text, of an imported one, or of one inside.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::lark::library;
use crate::frontend::lark::parser;
use crate::frontend::lark::tree::{
    Definition, Import, Mode, Name, Node, NodeId, ScopeId, Statement, Tree,
};
use crate::limits::Budget;

/// A place in [`Names::definitions`].
pub(crate) type DefinitionId = usize;

/// Every definition, by name.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Every definition.
    pub(crate) definitions: Vec<Definition>,
    /// What is ignored in a text, in order.
    pub(crate) ignored: FxHashMap<ScopeId, Vec<NodeId>>,
    by_name: FxHashMap<Name, DefinitionId>,
    /// Names of the library that have another name where they were imported: definitions of the
    /// library that use them follow.
    renamed: FxHashMap<Name, Name>,
    /// The library as each text imported it.
    imported: FxHashMap<(ScopeId, String), ScopeId>,
}

impl Names {
    /// Collects the definitions of a tree, reading what is imported.
    ///
    /// # Errors
    /// A name that is defined twice, or not there to be changed or imported.
    pub(crate) fn collect(tree: &mut Tree, budget: &mut Budget) -> Result<Self, Error> {
        let mut names = Self::default();
        for scope in 0..tree.scopes.len() {
            names.add_text(tree, scope, budget)?;
        }
        names.check(tree, budget)?;
        Ok(names)
    }

    fn add_text(
        &mut self,
        tree: &mut Tree,
        scope: ScopeId,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let statements = std::mem::take(&mut tree.scopes[scope].statements);
        // As in Lark, imports count as if they came first.
        for statement in &statements {
            if let Statement::Import(import) = statement {
                self.import(tree, scope, import, budget)?;
            }
        }
        for statement in statements {
            budget.tick()?;
            match statement {
                Statement::Define(definition, mode) => self.define(tree, definition, mode)?,
                Statement::Ignore(node) => self.ignored.entry(scope).or_default().push(node),
                Statement::Import(_) => {}
            }
        }
        Ok(())
    }

    /// What a name stands for.
    pub(crate) fn find(&self, name: &Name) -> Option<DefinitionId> {
        let name = self.renamed.get(name).unwrap_or(name);
        self.by_name.get(name).copied()
    }

    fn define(&mut self, tree: &mut Tree, definition: Definition, mode: Mode) -> Result<(), Error> {
        let offset = definition.offset;
        let (kind, name) = (kind_of(&definition), definition.name.text.clone());
        let known = self.by_name.get(&definition.name).copied();
        match (mode, known) {
            (Mode::New, None) => self.add(definition),
            (Mode::New, Some(_)) => {
                let message = format!(
                    "the {kind} `{name}` is defined twice; `%override` and `%extend` change one \
                     that is there"
                );
                return Err(Error::syntax(message, offset));
            }
            (Mode::Override | Mode::Extend, None) => {
                let message = format!("there is no {kind} `{name}` before this to be changed");
                return Err(Error::syntax(message, offset));
            }
            (Mode::Override, Some(known)) => self.definitions[known] = definition,
            (Mode::Extend, Some(known)) => {
                let old = &mut self.definitions[known];
                let is_alike = |(a, b): (&Name, &Name)| a.text == b.text;
                let is_same = old.parameters.len() == definition.parameters.len()
                    && old.parameters.iter().zip(&definition.parameters).all(is_alike)
                    && old.is_numbered == definition.is_numbered;
                let (Some(before), Some(added), true) = (old.body, definition.body, is_same) else {
                    let message = format!(
                        "`%extend {name}` needs a {kind} with a body and the same parameters"
                    );
                    return Err(Error::syntax(message, offset));
                };
                tree.deepen(added, 1);
                let both = Node::Choice([added, before].into());
                old.body = Some(tree.add(both, offset));
            }
        }
        Ok(())
    }

    fn add(&mut self, definition: Definition) {
        self.by_name.insert(definition.name.clone(), self.definitions.len());
        self.definitions.push(definition);
    }

    fn import(
        &mut self,
        tree: &mut Tree,
        scope: ScopeId,
        import: &Import,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let key = (scope, import.path.clone());
        let library = match self.imported.get(&key) {
            Some(&library) => library,
            None => self.read_library(tree, key, import.offset, budget)?,
        };
        for (there, here, offset) in &import.names {
            let (there, here) =
                (Name { scope: library, text: there.clone() }, Name { scope, text: here.clone() });
            if self.renamed.get(&there) == Some(&here) {
                continue;
            }
            let Some(&found) = self.by_name.get(&there) else {
                let all = self.by_name.keys().filter(|name| name.scope == library);
                let hint = nearest(&there.text, all.map(|name| &*name.text));
                let message = format!("there is no `{}` in `{}`{hint}", there.text, import.path);
                return Err(Error::syntax(message, *offset));
            };
            if there.is_terminal() != here.is_terminal() {
                let message = format!("`{}` and `{}` are in different case", there.text, here.text);
                return Err(Error::syntax(message, *offset));
            }
            let definition = Definition {
                name: here.clone(),
                offset: *offset,
                length: library::length(&import.path, &there.text),
                ..self.definitions[found].clone()
            };
            self.define(tree, definition, Mode::New)?;
            self.renamed.insert(there, here);
        }
        Ok(())
    }

    fn read_library(
        &mut self,
        tree: &mut Tree,
        key: (ScopeId, String),
        offset: usize,
        budget: &mut Budget,
    ) -> Result<ScopeId, Error> {
        let Some(text) = library::text(&key.1) else {
            let known: Vec<String> = library::paths().map(|path| format!("`{path}`")).collect();
            let message = format!(
                "there is no grammar `{}` to import from; there are {}. Files are never read",
                key.1,
                known.join(", ")
            );
            return Err(Error::syntax(message, offset));
        };
        let library = parser::parse(text, tree, budget)?;
        tree.scopes[library].is_library = true;
        self.imported.insert(key, library);
        self.add_text(tree, library, budget)?;
        Ok(library)
    }

    /// Every name is known, and used as what it is.
    fn check(&self, tree: &Tree, budget: &mut Budget) -> Result<(), Error> {
        for definition in &self.definitions {
            if tree.scopes[definition.name.scope].is_library {
                continue;
            }
            if definition.name.is_terminal()
                && (!definition.parameters.is_empty() || definition.is_numbered)
            {
                let message = format!("the terminal `{}` has parameters", definition.name.text);
                return Err(Error::syntax(message, definition.offset));
            }
            let Some(body) = definition.body else {
                continue;
            };
            self.check_body(tree, body, definition, budget)?;
        }
        self.check_terminals(tree, budget)?;
        for &node in self.ignored.values().flatten() {
            let mut todo = vec![node];
            while let Some(node) = todo.pop() {
                budget.tick()?;
                self.check_node(tree, node, None)?;
                todo.extend(tree.parts(node));
            }
        }
        Ok(())
    }

    /// No terminal contains itself, used or not.
    fn check_terminals(&self, tree: &Tree, budget: &mut Budget) -> Result<(), Error> {
        let mut is_done = vec![false; self.definitions.len()];
        let mut is_open = vec![false; self.definitions.len()];
        for root in 0..self.definitions.len() {
            if !self.definitions[root].name.is_terminal() || is_done[root] {
                continue;
            }
            // Each terminal is left when all that it is made of was.
            let mut todo = vec![(root, self.inside(tree, root))];
            is_open[root] = true;
            while let Some((terminal, inside)) = todo.last_mut() {
                budget.tick()?;
                let Some((next, offset)) = inside.pop() else {
                    (is_done[*terminal], is_open[*terminal]) = (true, false);
                    todo.pop();
                    continue;
                };
                if is_open[next] {
                    let name = &self.definitions[next].name.text;
                    let message =
                        format!("the terminal `{name}` contains itself; only rules may do that");
                    return Err(Error::syntax(message, offset));
                }
                if !is_done[next] {
                    is_open[next] = true;
                    let inside = self.inside(tree, next);
                    todo.push((next, inside));
                }
            }
        }
        Ok(())
    }

    /// The terminals in the body of a terminal, and where they are named.
    fn inside(&self, tree: &Tree, terminal: DefinitionId) -> Vec<(DefinitionId, usize)> {
        let mut found = Vec::new();
        let mut todo: Vec<NodeId> = self.definitions[terminal].body.into_iter().collect();
        while let Some(node) = todo.pop() {
            if let Node::Name(name) = &tree.nodes[node]
                && let Some(id) = self.find(name)
            {
                found.push((id, tree.offsets[node]));
            }
            todo.extend(tree.parts(node));
        }
        found
    }

    fn check_body(
        &self,
        tree: &Tree,
        body: NodeId,
        definition: &Definition,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let mut todo = vec![body];
        todo.extend(definition.attributes.end);
        while let Some(node) = todo.pop() {
            budget.tick()?;
            self.check_node(tree, node, Some(definition))?;
            todo.extend(tree.parts(node));
        }
        Ok(())
    }

    /// `inside` is the rule or the terminal; none for what is ignored.
    fn check_node(
        &self,
        tree: &Tree,
        node: NodeId,
        inside: Option<&Definition>,
    ) -> Result<(), Error> {
        let offset = tree.offsets[node];
        let in_terminal = inside.is_none_or(|it| it.name.is_terminal());
        let where_to = inside.map_or_else(String::new, |it| format!(" `{}`", it.name.text));
        let (name, arguments, is_numbered) = match &tree.nodes[node] {
            Node::Name(name) => (name, 0, false),
            Node::Template(name, arguments) => (name, arguments.len(), false),
            Node::Numbered(name, _) => (name, 0, true),
            Node::Special(_) | Node::Schema(_) | Node::Inner(_) | Node::If(..) if in_terminal => {
                let message = format!(
                    "special tokens, `%json`, `%lark` and `%if` stand in rules, not in the \
                     terminal{where_to}"
                );
                return Err(Error::syntax(message, offset));
            }
            _ => return Ok(()),
        };
        if tree.scopes[name.scope].is_library {
            return Ok(());
        }
        if inside.is_some_and(|it| it.parameters.contains(name)) {
            return Ok(());
        }
        let kind = if name.is_terminal() { "terminal" } else { "rule" };
        let Some(found) = self.find(name) else {
            let known = self.by_name.keys().filter(|it| it.scope == name.scope);
            let hint = nearest(&name.text, known.map(|it| &*it.text));
            return Err(Error::syntax(format!("unknown {kind} `{}`{hint}", name.text), offset));
        };
        if in_terminal && !name.is_terminal() {
            let message = format!(
                "the rule `{}` inside of the terminal{where_to}: a terminal is made of literals \
                 and other terminals",
                name.text
            );
            return Err(Error::syntax(message, offset));
        }
        let found = &self.definitions[found];
        if found.parameters.len() != arguments {
            let is_argument = arguments == 0 && !found.parameters.is_empty();
            if is_argument && inside.is_some() {
                // A template may be handed on to another one.
                return Ok(());
            }
            let message = format!(
                "`{}` has {} parameters, and {arguments} arguments here",
                name.text,
                found.parameters.len()
            );
            return Err(Error::syntax(message, offset));
        }
        if found.is_numbered != is_numbered {
            let message = if is_numbered {
                format!("the rule `{0}` has no number: it is not defined as `{0}::_: …`", name.text)
            } else {
                format!("the rule `{0}` has a number: call it as `{0}::0` or `{0}::_`", name.text)
            };
            return Err(Error::syntax(message, offset));
        }
        Ok(())
    }

    /// The rule `start` of a text.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn start(
        &self,
        tree: &Tree,
        scope: ScopeId,
        start: &str,
    ) -> Result<DefinitionId, Error> {
        let name = Name { scope, text: start.into() };
        let end = tree.scopes[scope].end;
        let Some(found) = self.find(&name) else {
            let known = self.by_name.keys().filter(|it| it.scope == scope);
            let hint = nearest(start, known.map(|it| &*it.text));
            let message = format!("there is no rule `{start}` to start with{hint}");
            return Err(Error::syntax(message, end));
        };
        let definition = &self.definitions[found];
        if !definition.parameters.is_empty() || definition.is_numbered || definition.body.is_none()
        {
            let message = format!("`{start}` needs arguments, so that nothing can start with it");
            return Err(Error::syntax(message, definition.offset));
        }
        Ok(found)
    }
}

fn kind_of(definition: &Definition) -> &'static str {
    if definition.name.is_terminal() { "terminal" } else { "rule" }
}

/// `; did you mean …?` where a known name is near.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let is_near = |other: &&str| {
        other.eq_ignore_ascii_case(name) || distance_is_one(name.as_bytes(), other.as_bytes())
    };
    let mut near: Vec<&str> = known.filter(is_near).collect();
    near.sort_unstable();
    near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Whether one byte is added, missing, wrong, or changes places with the next.
fn distance_is_one(a: &[u8], b: &[u8]) -> bool {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    match (a, b) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}
