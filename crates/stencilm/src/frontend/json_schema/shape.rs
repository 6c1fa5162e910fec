//! The typed form of a schema: a union of shapes of one JSON type each, closed under "and".
//!
//! Invariant: a part of a shape that no value can have is left out where that is plain to see;
//! `satisfy` finds the others.

use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::document::NodeId;
use crate::frontend::json_schema::formula::{ANY_OBJECT, FormulaId, NO_OBJECT};
use crate::frontend::json_schema::name_set::NameSet;
use crate::grammar::UNBOUNDED;
use crate::interner::index;
use crate::number::{Bound, Decimal, Point};

/// A value of one of the documents, as it is seen from a dynamic scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) document: u32,
    pub(crate) node: NodeId,
    pub(crate) scope: ScopeId,
    /// Whether values have only the members and items that schemas describe; see
    /// [`JsonSchemaOptions::closed`](crate::frontend::json_schema::JsonSchemaOptions::closed).
    pub(crate) is_closed: bool,
}

impl Place {
    /// The same, with whatever members and items.
    pub(crate) fn open(self) -> Self {
        Self { is_closed: false, ..self }
    }
}

/// What dynamic references mean; see [`Scopes`](crate::frontend::json_schema::scopes::Scopes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeId(pub(crate) u32);

/// A condition on values; see [`Terms`](crate::frontend::json_schema::terms::Terms).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(crate) u32);

/// An interned shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ShapeId(pub(crate) u32);

/// An interned text: a member name or a string of an `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(pub(crate) u32);

/// An interned language of strings: a `pattern` or a `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PatternId(pub(crate) u32);

/// An assertion that holds here too but cannot be enforced. It is an error where a value of this
/// shape may come, and none where nothing of the shape is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refusal {
    pub(crate) feature: &'static str,
    pub(crate) place: Place,
}

impl Refusal {
    pub(crate) fn new(feature: &'static str, place: Place) -> Self {
        Self { feature, place }
    }
}

/// A union of values of all types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) null: bool,
    /// Bit 0: `false`; bit 1: `true`.
    pub(crate) bools: u8,
    pub(crate) numbers: Vec<NumberShape>,
    pub(crate) strings: Vec<StringShape>,
    pub(crate) arrays: Vec<ArrayShape>,
    pub(crate) objects: FormulaId,
}

/// Numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NumberShape {
    pub(crate) low: Option<Bound>,
    pub(crate) high: Option<Bound>,
    /// Each value is a multiple of all of these; an integer is one of 1.
    pub(crate) multiples: Vec<Decimal>,
    /// No value is a multiple of one of these.
    pub(crate) others: Vec<Decimal>,
    pub(crate) point: Point,
    /// The only values, sorted and different. Invariant: all but `point` is checked already.
    pub(crate) values: Option<Arc<[Decimal]>>,
}

/// Strings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StringShape {
    /// Length in code points.
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Languages that each string is in (`true`) or not in; sorted, different.
    pub(crate) patterns: Vec<(PatternId, bool)>,
    /// The only strings, in their order. Invariant: everything else is checked already.
    pub(crate) values: Option<Arc<[TextId]>>,
    /// Strings that it must not be; sorted.
    pub(crate) except: Arc<[TextId]>,
    pub(crate) refusal: Option<Refusal>,
}

/// Arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayShape {
    pub(crate) prefix: Vec<TermId>,
    pub(crate) items: TermId,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) contains: Vec<Contains>,
    /// Arrays that it must not be; sorted.
    pub(crate) except: Arc<[ConstantId]>,
    /// Where the keyword stands that asks for different items.
    pub(crate) unique: Option<Place>,
    /// What asks for two items that are equal.
    pub(crate) repeats: Option<Refusal>,
    pub(crate) refusal: Option<Refusal>,
}

/// How many of some items have a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contains {
    /// The items from here on, up to there.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) value: TermId,
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// A named member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) name: TextId,
    /// Everything that is asked of its value. `NEVER` if the name must not come.
    pub(crate) value: TermId,
    pub(crate) is_required: bool,
    /// Whether some `properties` lists it: such names come first.
    pub(crate) is_declared: bool,
}

/// What is asked of each member whose name is in a set, unless `members` names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameRule {
    pub(crate) set: NameSet,
    pub(crate) value: TermId,
}

/// Objects that keep a list of rules, all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectShape {
    /// In the order in which they come: the declared ones, then the others.
    pub(crate) members: Vec<Member>,
    /// All of these hold for every name that is not in `members`.
    pub(crate) rules: Vec<NameRule>,
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// Objects that have a member with a name in a set, but none of the excepted ones, and with this
/// value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exists {
    pub(crate) set: NameSet,
    /// Sorted.
    pub(crate) except: Arc<[TextId]>,
    pub(crate) value: TermId,
}

/// Every value.
pub(crate) const ANY: TermId = TermId(0);
/// No value.
pub(crate) const NEVER: TermId = TermId(1);

impl Shape {
    /// Whether some value is no object.
    pub(crate) fn is_not_only_objects(&self) -> bool {
        let Self { null, bools, numbers, strings, arrays, objects: _ } = self;
        *null || *bools != 0 || !(numbers.is_empty() && strings.is_empty() && arrays.is_empty())
    }

    /// Every value.
    pub(crate) fn any() -> Self {
        Self {
            null: true,
            bools: 3,
            numbers: vec![NumberShape::default()],
            strings: vec![StringShape::default()],
            arrays: vec![ArrayShape::default()],
            objects: ANY_OBJECT,
        }
    }

    pub(crate) fn is_never(&self) -> bool {
        !self.null
            && self.bools == 0
            && self.numbers.is_empty()
            && self.strings.is_empty()
            && self.arrays.is_empty()
            && self.objects == NO_OBJECT
    }

    /// Adds the values of `other` but for its objects.
    pub(crate) fn unite(&mut self, other: Self) {
        self.null |= other.null;
        self.bools |= other.bools;
        let (mut numbers, mut strings) = (other.numbers, other.strings);
        if let Some(values) = joined(&self.numbers, &numbers) {
            (self.numbers, numbers) = (Vec::new(), vec![values]);
        }
        if let Some(values) = joined_strings(&self.strings, &strings) {
            (self.strings, strings) = (Vec::new(), vec![values]);
        }
        unite(&mut self.numbers, numbers, &NumberShape::default());
        unite(&mut self.strings, strings, &StringShape::default());
        unite(&mut self.arrays, other.arrays, &ArrayShape::default());
    }

    /// How many alternatives there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() + self.strings.len() + self.arrays.len()
    }

    /// The first assertion that cannot be enforced.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let strings = self.strings.iter().filter_map(|string| string.refusal);
        let arrays = self.arrays.iter().filter_map(ArrayShape::refusal);
        strings.chain(arrays).next()
    }
}

/// One list for two.
fn joined(a: &[NumberShape], b: &[NumberShape]) -> Option<NumberShape> {
    let (
        [NumberShape { values: Some(a), point: Point::Maybe, .. }],
        [NumberShape { values: Some(b), point: Point::Maybe, .. }],
    ) = (a, b)
    else {
        return None;
    };
    let mut values: Vec<Decimal> = a.iter().chain(b.iter()).cloned().collect();
    values.sort_unstable();
    values.dedup();
    Some(NumberShape { values: Some(values.into()), ..NumberShape::default() })
}

/// One list for two, in their order.
fn joined_strings(a: &[StringShape], b: &[StringShape]) -> Option<StringShape> {
    let (
        [StringShape { values: Some(a), refusal: None, .. }],
        [StringShape { values: Some(b), refusal: None, .. }],
    ) = (a, b)
    else {
        return None;
    };
    let mut seen = FxHashSet::default();
    let values = a.iter().chain(b.iter()).copied().filter(|&text| seen.insert(text));
    let values: Vec<TextId> = values.collect();
    Some(StringShape { values: Some(values.into()), ..StringShape::default() })
}

/// Joins alternatives; one that allows everything swallows the others.
fn unite<T: PartialEq>(to: &mut Vec<T>, from: Vec<T>, any: &T) {
    if to.first() == Some(any) {
        return;
    }
    for shape in from {
        if shape == *any {
            to.clear();
            to.push(shape);
            return;
        }
        if !to.contains(&shape) {
            to.push(shape);
        }
    }
}

impl ArrayShape {
    /// The arrays of just these items.
    pub(crate) fn of_items(prefix: Vec<TermId>) -> Self {
        let len = index(prefix.len());
        Self { prefix, min: len, max: len, ..Self::default() }
    }
}

impl ObjectShape {
    /// The objects of no other members than these.
    pub(crate) fn of_members(members: Vec<Member>) -> Self {
        let rules = vec![NameRule { set: NameSet::EVERY, value: NEVER }];
        Self { members, rules, ..Self::default() }
    }
}

impl Default for StringShape {
    fn default() -> Self {
        Self {
            min: 0,
            max: UNBOUNDED,
            patterns: Vec::new(),
            values: None,
            except: Arc::new([]),
            refusal: None,
        }
    }
}

impl Default for ArrayShape {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            items: ANY,
            min: 0,
            max: UNBOUNDED,
            contains: Vec::new(),
            except: Arc::new([]),
            unique: None,
            repeats: None,
            refusal: None,
        }
    }
}

impl Default for ObjectShape {
    fn default() -> Self {
        Self { members: Vec::new(), rules: Vec::new(), min: 0, max: UNBOUNDED }
    }
}
