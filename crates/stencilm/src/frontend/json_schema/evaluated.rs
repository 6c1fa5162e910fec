//! `unevaluatedProperties` and `unevaluatedItems`: which members and items the other keywords of a
//! schema, and of the schemas that apply to the same value, look at, and under which conditions
//! (2020-12 core, section 11).

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::frontend::json_schema::document::NodeId;
use crate::frontend::json_schema::lower::has_dynamic;
use crate::frontend::json_schema::name_set::{NameAtom, NameSet};
use crate::frontend::json_schema::options::Dialect;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, PatternId, Place, TermId, TextId};
use crate::frontend::json_schema::terms::Term;
use crate::grammar::UNBOUNDED;
use crate::interner::index;

/// `contains` under conditions up to which all combinations are written out.
const MOST_CONTAINS: usize = 8;

/// What a keyword looks at, where its condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Evaluation {
    pub(crate) guard: TermId,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Members(Vec<TextId>),
    Matching(PatternId),
    /// Names that are not listed and match none of the patterns.
    Others {
        listed: Vec<TextId>,
        patterns: Vec<PatternId>,
    },
    AllMembers,
    /// The first so many items.
    Items(u32),
    /// The items that fulfil a term.
    Containing(TermId),
}

/// Which of the two is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Members,
    Items,
}

/// A walk through the schemas that apply to one value.
#[derive(Debug)]
struct Walk {
    kind: Kind,
    found: Vec<Evaluation>,
    /// The schemas that the walk is inside of.
    path: Vec<Place>,
    /// Schemas that were looked at under a condition: once more adds nothing.
    seen: FxHashSet<(Place, TermId)>,
}

impl Schemas {
    /// What `unevaluatedProperties` with this value asks of the value of the schema around it.
    ///
    /// # Errors
    /// A schema is malformed or leads back to itself, or a limit was reached.
    pub(crate) fn unevaluated_members(
        &mut self,
        schema: Place,
        value: Place,
    ) -> Result<TermId, Error> {
        let asked = self.value_schema(value)?;
        if asked == ANY {
            return Ok(ANY);
        }
        let found = self.evaluations(schema, Kind::Members)?;
        self.members_beside(&found, asked)
    }

    /// What members must be that nothing looks at.
    pub(crate) fn members_beside(
        &mut self,
        found: &[Evaluation],
        asked: TermId,
    ) -> Result<TermId, Error> {
        let mut names: Vec<TextId> = Vec::new();
        let mut atoms: Vec<NameAtom> = Vec::new();
        let mut seen = FxHashSet::default();
        for Evaluation { what, .. } in found {
            let (listed, patterns): (&[TextId], &[PatternId]) = match what {
                What::Members(listed) => (listed, &[]),
                What::Matching(pattern) => (&[], std::slice::from_ref(pattern)),
                What::Others { listed, patterns } => (listed, patterns),
                What::AllMembers | What::Items(_) | What::Containing(_) => (&[], &[]),
            };
            names.extend(listed.iter().copied().filter(|&name| seen.insert(name)));
            for &pattern in patterns {
                if !atoms.contains(&NameAtom::Pattern(pattern)) {
                    atoms.push(NameAtom::Pattern(pattern));
                }
            }
        }
        let mut all = Vec::new();
        for &name in &names {
            self.budget.tick()?;
            let mut guards = Vec::new();
            for evaluation in found {
                if self.looks_at(&evaluation.what, name)? {
                    guards.push(evaluation.guard);
                }
            }
            if !guards.contains(&ANY) {
                guards.insert(0, self.terms.add(Term::Member(name, asked)));
                all.push(self.terms.or(&guards));
            }
        }
        names.sort_unstable();
        for (set, _) in self.name_classes(&atoms)? {
            let has = |pattern: &PatternId, is_in: bool| {
                set.atoms().contains(&(NameAtom::Pattern(*pattern), is_in))
            };
            let looks = found.iter().filter(|evaluation| match &evaluation.what {
                What::Matching(pattern) => has(pattern, true),
                What::Others { patterns, .. } => patterns.iter().all(|pattern| has(pattern, false)),
                What::AllMembers => true,
                What::Members(_) | What::Items(_) | What::Containing(_) => false,
            });
            let mut guards: Vec<TermId> = looks.map(|evaluation| evaluation.guard).collect();
            if !guards.contains(&ANY) {
                let except = names.clone().into();
                guards.insert(0, self.terms.add(Term::Others { set, except, value: asked }));
                all.push(self.terms.or(&guards));
            }
        }
        Ok(self.terms.and(&all))
    }

    fn looks_at(&mut self, what: &What, name: TextId) -> Result<bool, Error> {
        Ok(match what {
            What::Members(listed) => listed.contains(&name),
            What::Matching(pattern) => {
                self.is_named(&NameSet::of([(NameAtom::Pattern(*pattern), true)]), name)?
            }
            What::Others { listed, patterns } => {
                let atoms = patterns.iter().map(|&pattern| (NameAtom::Pattern(pattern), false));
                !listed.contains(&name) && self.is_named(&NameSet::of(atoms), name)?
            }
            What::AllMembers => true,
            What::Items(_) | What::Containing(_) => false,
        })
    }

    /// What `unevaluatedItems` with this value asks of the value of the schema around it.
    ///
    /// # Errors
    /// A schema is malformed or leads back to itself, or a limit was reached.
    pub(crate) fn unevaluated_items(
        &mut self,
        schema: Place,
        value: Place,
    ) -> Result<TermId, Error> {
        let asked = self.value_schema(value)?;
        if asked == ANY {
            return Ok(ANY);
        }
        let found = self.evaluations(schema, Kind::Items)?;
        self.items_beside(&found, asked, value)
    }

    /// What items must be that nothing looks at. `place` is for errors.
    pub(crate) fn items_beside(
        &mut self,
        found: &[Evaluation],
        asked: TermId,
        place: Place,
    ) -> Result<TermId, Error> {
        let mut cuts = vec![0];
        // Items that fulfil these count as looked at: always, and under a condition.
        let mut always = vec![asked];
        let mut sometimes: Vec<(TermId, Vec<TermId>)> = Vec::new();
        for Evaluation { guard, what } in found {
            match *what {
                What::Items(count) if count < UNBOUNDED => cuts.push(count),
                What::Containing(value) if *guard == ANY => always.push(value),
                What::Containing(value) => {
                    match sometimes.iter_mut().find(|(known, _)| known == guard) {
                        Some((_, values)) => values.push(value),
                        None => sometimes.push((*guard, vec![value])),
                    }
                }
                _ => {}
            }
        }
        if sometimes.len() > MOST_CONTAINS {
            let location = self.sources.location(place);
            return Err(Error::unsupported(
                "unevaluatedItems beside more than 8 conditional contains",
                location,
            ));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut all = Vec::new();
        for (at, &from) in cuts.iter().enumerate() {
            let to = cuts.get(at + 1).copied().unwrap_or(UNBOUNDED);
            let looks = found
                .iter()
                .filter(|evaluation| matches!(evaluation.what, What::Items(count) if count > from));
            let mut alternatives: Vec<TermId> = looks.map(|evaluation| evaluation.guard).collect();
            if alternatives.contains(&ANY) {
                continue;
            }
            for subset in 0_u32..1 << sometimes.len() {
                let on = || {
                    let is_on = move |&(at, _): &(usize, _)| subset >> at & 1 == 1;
                    sometimes.iter().enumerate().filter(is_on).map(|(_, guarded)| guarded)
                };
                let mut values = always.clone();
                values.extend(on().flat_map(|(_, values)| values.iter().copied()));
                let value = self.terms.or(&values);
                let mut parts: Vec<TermId> = on().map(|&(guard, _)| guard).collect();
                if value != ANY {
                    parts.push(self.terms.add(Term::Items { from, to, value }));
                }
                alternatives.push(self.terms.and(&parts));
            }
            all.push(self.terms.or(&alternatives));
        }
        Ok(self.terms.and(&all))
    }

    pub(crate) fn evaluations(
        &mut self,
        schema: Place,
        kind: Kind,
    ) -> Result<Vec<Evaluation>, Error> {
        let mut walk =
            Walk { kind, found: Vec::new(), path: Vec::new(), seen: FxHashSet::default() };
        self.walk_evaluations(&mut walk, schema, ANY, true)?;
        Ok(walk.found)
    }

    /// Adds what a schema looks at; its own `unevaluated…` only where it is not the outermost.
    fn walk_evaluations(
        &mut self,
        walk: &mut Walk,
        place: Place,
        guard: TermId,
        is_outermost: bool,
    ) -> Result<(), Error> {
        self.budget.tick()?;
        let place = self.sources.enter(place);
        if walk.path.contains(&place) {
            let message = "the schema leads back to itself without a step into a member or an item";
            return Err(self.sources.error(message, place));
        }
        if !walk.seen.insert((place, guard)) {
            return Ok(());
        }
        if walk.seen.len() > self.budget.limits.search {
            return Err(self.at_work(Error::limit("search", self.budget.limits.search)));
        }
        if walk.path.len() >= self.budget.limits.nesting {
            return Err(Error::limit("nesting", self.budget.limits.nesting));
        }
        walk.path.push(place);
        let dialect = self.sources.dialect(place);
        for target in self.references(place)? {
            self.walk_evaluations(walk, target, guard, false)?;
        }
        let is_alone = dialect <= Dialect::Draft7
            && self.sources.document(place).find(place.node, "$ref").is_some();
        if !is_alone {
            self.own_evaluations(walk, place, guard, is_outermost)?;
            self.inner_evaluations(walk, place, guard)?;
        }
        walk.path.pop();
        Ok(())
    }

    fn own_evaluations(
        &mut self,
        walk: &mut Walk,
        place: Place,
        guard: TermId,
        is_outermost: bool,
    ) -> Result<(), Error> {
        let find = |schemas: &Self, keyword: &str| -> Option<Place> {
            let node = schemas.sources.document(place).find(place.node, keyword)?;
            Some(Place { node, ..place })
        };
        let dialect = self.sources.dialect(place);
        let mut add = |what| walk.found.push(Evaluation { guard, what });
        match walk.kind {
            Kind::Members => {
                let mut listed = Vec::new();
                if let Some(properties) = find(self, "properties") {
                    for at in 0..self.sources.document(properties).len(properties.node) {
                        let (name, _) =
                            self.sources.document(properties).member(properties.node, at);
                        listed.push(self.texts.id(name));
                    }
                    add(What::Members(listed.clone()));
                }
                let mut patterns = Vec::new();
                if let Some(place) = find(self, "patternProperties") {
                    for (pattern, _) in self.pattern_properties(place)? {
                        add(What::Matching(pattern));
                        patterns.push(pattern);
                    }
                }
                if find(self, "additionalProperties").is_some() {
                    add(What::Others { listed, patterns });
                }
                if !is_outermost
                    && dialect >= Dialect::Draft2019
                    && find(self, "unevaluatedProperties").is_some()
                {
                    add(What::AllMembers);
                }
            }
            Kind::Items => {
                let is_list = |schemas: &Self, place: Place| {
                    let node = schemas.sources.document(place).get(place.node);
                    matches!(node, crate::frontend::json_schema::document::Node::Array { .. })
                };
                let items = find(self, "items");
                let count = |schemas: &Self, place: Place| {
                    index(schemas.sources.document(place).items(place.node).len())
                };
                if dialect >= Dialect::Draft2020 {
                    if let Some(prefix) = find(self, "prefixItems") {
                        add(What::Items(count(self, prefix)));
                    }
                    if let Some(contains) = find(self, "contains") {
                        let value = self.schema(contains.open())?;
                        add(What::Containing(value));
                    }
                }
                match items {
                    Some(items) if is_list(self, items) => {
                        add(What::Items(count(self, items)));
                        if find(self, "additionalItems").is_some() {
                            add(What::Items(UNBOUNDED));
                        }
                    }
                    Some(_) => add(What::Items(UNBOUNDED)),
                    None => {}
                }
                if !is_outermost
                    && dialect >= Dialect::Draft2019
                    && find(self, "unevaluatedItems").is_some()
                {
                    add(What::Items(UNBOUNDED));
                }
            }
        }
        Ok(())
    }

    /// What the schemas inside that apply to the same value look at.
    fn inner_evaluations(
        &mut self,
        walk: &mut Walk,
        place: Place,
        guard: TermId,
    ) -> Result<(), Error> {
        let at = |node: NodeId| Place { node, ..place };
        let find = |schemas: &Self, keyword: &str| {
            schemas.sources.document(place).find(place.node, keyword)
        };
        for (keyword, is_guarded) in [("allOf", false), ("anyOf", true), ("oneOf", true)] {
            let Some(list) = find(self, keyword) else { continue };
            for node in self.sources.document(place).items(list).to_vec() {
                let own = if is_guarded { self.schema(at(node))? } else { ANY };
                let both = self.terms.and2(guard, own);
                if is_guarded && place.is_closed && self.takes_all(at(node), walk.kind) {
                    let what = match walk.kind {
                        Kind::Members => What::AllMembers,
                        Kind::Items => What::Items(UNBOUNDED),
                    };
                    walk.found.push(Evaluation { guard: both, what });
                    continue;
                }
                self.walk_evaluations(walk, at(node), both, false)?;
            }
        }
        if let Some(condition) = find(self, "if") {
            let holds = self.schema(at(condition).open())?;
            let fails = self.terms.not(at(condition), holds);
            let yes = self.terms.and2(guard, holds);
            let no = self.terms.and2(guard, fails);
            self.walk_evaluations(walk, at(condition).open(), yes, false)?;
            for (keyword, both) in [("then", yes), ("else", no)] {
                if let Some(node) = find(self, keyword) {
                    self.walk_evaluations(walk, at(node), both, false)?;
                }
            }
        }
        if walk.kind == Kind::Members
            && let Some(dependent) = find(self, "dependentSchemas")
        {
            for member in 0..self.sources.document(place).len(dependent) {
                let (name, node) = self.sources.document(place).member(dependent, member);
                let name = self.texts.id(name);
                let present = self.terms.add(Term::Present(name));
                let both = self.terms.and2(guard, present);
                self.walk_evaluations(walk, at(node), both, false)?;
            }
        }
        Ok(())
    }

    /// The schemas that a schema refers to for the same value.
    fn references(&mut self, place: Place) -> Result<Vec<Place>, Error> {
        let language = self.sources.language(place);
        let mut targets = Vec::new();
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let document = self.sources.document(place);
            let Some(node) = document.find(place.node, keyword) else { continue };
            let Some(target) = document.as_str(node).map(str::to_owned) else { continue };
            if keyword == "$ref" {
                targets.push(self.sources.resolve(place, &target)?);
            } else if has_dynamic(language.dialect, keyword) && language.knows(keyword) {
                targets.push(self.sources.resolve_dynamic(place, &target, keyword)?);
            }
        }
        Ok(targets)
    }
}
