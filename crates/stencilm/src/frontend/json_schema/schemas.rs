//! One schema while it is being compiled: its documents, the terms made of them, and the shape of
//! each term that was asked for.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::Constants;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::formula::{FormulaId, Formulas};
use crate::frontend::json_schema::options::JsonSchemaOptions;
use crate::frontend::json_schema::reach::Reach;
use crate::frontend::json_schema::resources::ResourceId;
use crate::frontend::json_schema::shape::{ANY, NEVER, Place, Shape, ShapeId, TermId, TextId};
use crate::frontend::json_schema::sources::Sources;
use crate::frontend::json_schema::terms::{Term, Terms};
use crate::frontend::json_schema::texts::{Patterns, Texts};
use crate::frontend::json_schema::widening::Unknown;
use crate::interner::{Index, Interner, hash_of, index};
use crate::limits::Budget;

/// The shape of every value.
pub(crate) const ANY_SHAPE: ShapeId = ShapeId(0);

/// See the module.
#[derive(Debug)]
pub(crate) struct Schemas {
    pub(crate) options: JsonSchemaOptions,
    pub(crate) budget: Budget,
    pub(crate) sources: Sources,
    pub(crate) texts: Texts,
    pub(crate) constants: Constants,
    pub(crate) patterns: Patterns,
    pub(crate) terms: Terms,
    pub(crate) formulas: Formulas,
    /// What is outside of a formula.
    pub(crate) negated: FxHashMap<FormulaId, FormulaId>,
    /// What says nothing, because the caller said so.
    pub(crate) unknown: Unknown,
    /// Which shapes have values, and what the objects of a formula look like.
    pub(crate) reach: Reach,
    pub(crate) shapes: Interner<Arc<Shape>>,
    progress: Vec<Progress>,
    /// What the schema at a place says, in terms of its assertions and other schemas.
    pub(crate) lowered: FxHashMap<TermId, TermId>,
    /// What schemas say of values that are closed.
    pub(crate) closings: FxHashMap<TermId, TermId>,
    /// One place for all schemas that say the same.
    by_content: Index,
    /// The first of them, and the resources that they stand in.
    first_places: Vec<(Place, ResourceId)>,
    /// The schemas that are being taken apart, one inside the other.
    pub(crate) lowering: Vec<Place>,
    /// How many evaluations are under way, one inside the other.
    level: u32,
    /// The schema that was last opened, for errors.
    under_way: Option<Place>,
}

/// How far the shape of a term is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    New,
    /// Being evaluated, at this level.
    Open(u32),
    Done(ShapeId),
}

/// About what a shape, a term and the table of an object take.
const BYTES_A_SHAPE: usize = 512;
const BYTES_A_TERM: usize = 128;
const BYTES_A_TABLE: usize = 1_024;

/// Evaluations nest where two branches are looked at to tell whether they overlap.
const MOST_LEVELS: u32 = 6;

/// Branches of a `oneOf` whose pairs are written out for its negation.
const MOST_PAIRED: usize = 24;

impl Schemas {
    /// Reads the main document.
    ///
    /// # Errors
    /// It is no JSON.
    pub(crate) fn new(
        text: &str,
        options: &JsonSchemaOptions,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let most_bytes = budget.limits.source_bytes;
        let mut schemas = Self {
            options: options.clone(),
            budget: budget.clone(),
            sources: Sources::new(text, options, most_bytes)?,
            texts: Texts::default(),
            constants: Constants::default(),
            patterns: Patterns::default(),
            terms: Terms::default(),
            formulas: Formulas::default(),
            negated: FxHashMap::default(),
            unknown: Unknown::default(),
            reach: Reach::default(),
            shapes: Interner::default(),
            progress: Vec::new(),
            lowered: FxHashMap::default(),
            closings: FxHashMap::default(),
            by_content: Index::default(),
            first_places: Vec::new(),
            lowering: Vec::new(),
            level: 0,
            under_way: None,
        };
        let any = schemas.intern(Shape::any());
        let never = schemas.intern(Shape::default());
        schemas.progress = vec![Progress::Done(any), Progress::Done(never)];
        Ok(schemas)
    }

    /// About how many bytes the tables take that texts make longer.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let reach = &self.reach;
        // A value that came is in the list, in a term and in a shape.
        let lists = reach.seen.size_in_bytes() + reach.needs.size_in_bytes();
        let came = reach.came.size_in_bytes() * 8;
        let tables = reach.tables.len() + reach.array_tables.len();
        self.shapes.len() * BYTES_A_SHAPE
            + self.terms.len() * BYTES_A_TERM
            + self.constants.len() * BYTES_A_TERM
            + self.formulas.size() * BYTES_A_TERM
            + lists
            + came
            + tables * BYTES_A_TABLE
    }

    pub(crate) fn shape(&self, id: ShapeId) -> &Arc<Shape> {
        self.shapes.get(id.0)
    }

    pub(crate) fn intern(&mut self, shape: Shape) -> ShapeId {
        ShapeId(self.shapes.id(Arc::new(shape)))
    }

    /// The term of the schema at a place.
    pub(crate) fn schema(&mut self, place: Place) -> Result<TermId, Error> {
        match self.sources.document(place).get(place.node) {
            Node::Bool(true) | Node::Object { len: 0, .. } => return Ok(ANY),
            Node::Bool(false) => return Ok(NEVER),
            Node::Object { .. } => {}
            Node::Null | Node::Number(_) | Node::String(_) | Node::Array { .. } => {
                return Err(self.sources.error("a schema is an object or a boolean", place));
            }
        }
        let place = self.sources.enter(place);
        let scopes = self.budget.limits.alternatives;
        if self.sources.scopes.len() > scopes {
            return Err(Error::limit("alternatives", scopes).moved_to(self.sources.location(place)));
        }
        let resource = self.sources.resource(place);
        let sources = &self.sources;
        let content = sources.document(place).hash(place.node);
        let hash = hash_of(&(content, resource, place.scope, place.is_closed));
        let is_same = |at: u32| {
            let (known, its) = self.first_places[at as usize];
            let document = sources.document(known);
            known == place
                || (its == resource
                    && (known.scope, known.is_closed) == (place.scope, place.is_closed)
                    && document.is_same(known.node, sources.document(place), place.node))
        };
        let first = if let Some(at) = self.by_content.find(hash, is_same) {
            self.first_places[at as usize].0
        } else {
            self.by_content.insert(hash, index(self.first_places.len()));
            self.first_places.push((place, resource));
            place
        };
        Ok(self.terms.add(Term::Schema(first)))
    }

    pub(crate) fn text(&mut self, text: &str) -> TextId {
        self.texts.id(text)
    }

    /// The shape of a term.
    ///
    /// # Errors
    /// A schema is malformed, refers to nothing or to itself without a step into a child, or a
    /// limit was reached.
    pub(crate) fn evaluate(&mut self, term: TermId) -> Result<ShapeId, Error> {
        match self.try_evaluate(term)? {
            Some(shape) => Ok(shape),
            // At the outermost level nothing is open, so that nothing can be unknown.
            None => unreachable!("an evaluation from outside has an answer"),
        }
    }

    /// The same from inside an evaluation: `None` where the answer would need one that is still
    /// under way, or too many inside each other.
    pub(crate) fn try_evaluate(&mut self, term: TermId) -> Result<Option<ShapeId>, Error> {
        self.progress.resize(self.terms.len(), Progress::New);
        if let Progress::Done(shape) = self.progress[term.0 as usize] {
            return Ok(Some(shape));
        }
        if self.level >= MOST_LEVELS {
            return Ok(None);
        }
        self.level += 1;
        let mut open = vec![term];
        let outcome = self.run(&mut open);
        let level = self.level;
        self.level -= 1;
        for term in open {
            if self.progress[term.0 as usize] == Progress::Open(level) {
                self.progress[term.0 as usize] = Progress::New;
            }
        }
        outcome.map(|is_known| match self.progress[term.0 as usize] {
            Progress::Done(shape) if is_known => Some(shape),
            _ => None,
        })
    }

    /// Evaluates what is open, innermost last. `false` if it depends on an outer evaluation.
    fn run(&mut self, open: &mut Vec<TermId>) -> Result<bool, Error> {
        while let Some(&term) = open.last() {
            self.budget.tick()?;
            match self.progress[term.0 as usize] {
                Progress::Done(_) => {
                    open.pop();
                }
                Progress::Open(level) if level < self.level => return Ok(false),
                Progress::Open(_) => {
                    let shape = self.combine(term)?;
                    self.progress[term.0 as usize] = Progress::Done(shape);
                    open.pop();
                }
                Progress::New => {
                    self.progress[term.0 as usize] = Progress::Open(self.level);
                    let needed = self.needed(term)?;
                    self.progress.resize(self.terms.len(), Progress::New);
                    for part in needed {
                        match self.progress[part.0 as usize] {
                            Progress::Done(_) => {}
                            Progress::New => open.push(part),
                            Progress::Open(level) if level < self.level => return Ok(false),
                            Progress::Open(_) => return Err(self.cycle(part, term)),
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// The terms whose shapes make up the shape of `term`.
    fn needed(&mut self, term: TermId) -> Result<Vec<TermId>, Error> {
        Ok(match self.terms.get(term) {
            &Term::Schema(place) => {
                self.under_way = Some(place);
                vec![self.lowered(term, place)?]
            }
            Term::And(parts) | Term::Or(parts) | Term::One(_, parts) => parts.to_vec(),
            &Term::Not(place, inner) => match self.dual(place, inner)? {
                Some(dual) => {
                    self.lowered.insert(term, dual);
                    vec![dual]
                }
                None => vec![inner],
            },
            Term::Any
            | Term::Never
            | Term::Assertions(_)
            | Term::Unknown(_)
            | Term::Value(_)
            | Term::Present(_)
            | Term::Member(..)
            | Term::Others { .. }
            | Term::Items { .. }
            | Term::Constant(_)
            | Term::NoneOf(_) => Vec::new(),
        })
    }

    /// What is not `term`, as a formula of what is not its parts; `None` where it has none. Said of
    /// the parts, it has far fewer alternatives than said of the shape of the whole.
    fn dual(&mut self, place: Place, term: TermId) -> Result<Option<TermId>, Error> {
        Ok(match self.terms.get(term).clone() {
            Term::Schema(inner) => {
                let lowered = self.lowered(term, inner)?;
                Some(self.terms.not(place, lowered))
            }
            Term::And(parts) => {
                let parts: Vec<TermId> =
                    parts.iter().map(|&part| self.terms.not(place, part)).collect();
                Some(self.terms.or(&parts))
            }
            Term::Or(parts) => {
                let parts: Vec<TermId> =
                    parts.iter().map(|&part| self.terms.not(place, part)).collect();
                Some(self.terms.and(&parts))
            }
            Term::Unknown(_) => Some(ANY),
            Term::One(_, parts) if parts.len() <= MOST_PAIRED => {
                let none: Vec<TermId> =
                    parts.iter().map(|&part| self.terms.not(place, part)).collect();
                let mut others = vec![self.terms.and(&none)];
                for (at, &a) in parts.iter().enumerate() {
                    others.extend(parts[at + 1..].iter().map(|&b| self.terms.and2(a, b)));
                }
                Some(self.terms.or(&others))
            }
            Term::Any
            | Term::Never
            | Term::Assertions(_)
            | Term::Value(_)
            | Term::One(..)
            | Term::Not(..)
            | Term::Present(_)
            | Term::Member(..)
            | Term::Others { .. }
            | Term::Items { .. }
            | Term::Constant(_)
            | Term::NoneOf(_) => None,
        })
    }

    /// The shape of a term whose parts have theirs.
    fn combine(&mut self, term: TermId) -> Result<ShapeId, Error> {
        let shape = match self.terms.get(term).clone() {
            Term::Any => return Ok(ANY_SHAPE),
            Term::Never => Shape::default(),
            Term::Schema(_) => return Ok(self.known(self.lowered[&term])),
            Term::Assertions(place) => self.assertions(place)?,
            Term::Unknown(place) => Self::unknown_shape(place),
            Term::Value(place) => self.value(place)?,
            Term::And(parts) => {
                let parts: Vec<ShapeId> = parts.iter().map(|&part| self.known(part)).collect();
                return self.meet_all(&parts);
            }
            Term::Or(parts) => {
                let mut any = Shape::default();
                let mut objects = Vec::with_capacity(parts.len());
                for &part in &parts {
                    let shape = (**self.shape(self.known(part))).clone();
                    objects.push(shape.objects);
                    any.unite(shape);
                    self.check_size(&any)?;
                }
                any.objects = self.formulas.or(&objects);
                self.check_formula(any.objects)?;
                any
            }
            Term::One(place, parts) => {
                let shapes: Vec<ShapeId> = parts.iter().map(|&part| self.known(part)).collect();
                self.exactly_one(place, &shapes)?
            }
            Term::Not(..) if self.lowered.contains_key(&term) => {
                return Ok(self.known(self.lowered[&term]));
            }
            Term::Not(place, inner) => {
                let inner = self.shape(self.known(inner)).clone();
                self.complement(place, &inner)?
            }
            Term::Present(name) => self.with_member(name, ANY, true),
            Term::Member(name, value) => self.with_member(name, value, false),
            Term::Items { from, to, value } => Self::with_items(from, to, value),
            Term::Others { set, except, value } => self.with_others(set, &except, value),
            Term::Constant(value) => self.constant_shape(value),
            Term::NoneOf(values) => self.none_of_shape(&values),
        };
        Ok(self.intern(shape))
    }

    fn known(&self, term: TermId) -> ShapeId {
        match self.progress[term.0 as usize] {
            Progress::Done(shape) => shape,
            Progress::New | Progress::Open(_) => unreachable!("parts are evaluated first"),
        }
    }

    /// The shape of a term that was evaluated, if it was.
    pub(crate) fn shape_of(&self, term: TermId) -> Option<ShapeId> {
        match self.progress.get(term.0 as usize) {
            Some(Progress::Done(shape)) => Some(*shape),
            _ => None,
        }
    }

    /// A union of too many alternatives is refused.
    pub(crate) fn check_size(&self, shape: &Shape) -> Result<(), Error> {
        self.check_count(shape.len())
    }

    pub(crate) fn check_count(&self, count: usize) -> Result<(), Error> {
        let most = self.budget.limits.alternatives;
        if count <= most {
            return Ok(());
        }
        Err(self.at_work(Error::limit("alternatives", most)))
    }

    /// An error at the schema that was last opened.
    pub(crate) fn at_work(&self, error: Error) -> Error {
        let place = self.under_way.unwrap_or_else(|| self.sources.root());
        error.moved_to(self.sources.location(place))
    }

    fn cycle(&self, part: TermId, term: TermId) -> Error {
        let place = [part, term].iter().find_map(|&term| match *self.terms.get(term) {
            Term::Schema(place) => Some(place),
            _ => None,
        });
        let place = place.unwrap_or_else(|| self.sources.root());
        let message = "the schema leads back to itself without a step into a member or an item";
        self.sources.error(message, place)
    }
}
