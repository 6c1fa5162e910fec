//! Values without members and items that no schema describes, where the caller asked for that.
//!
//! It is what `unevaluatedProperties: false` and `unevaluatedItems: false` would say in each schema
//! of a whole value, of a member or of an item that describes some and says nothing of others. What a
//! value must not be (`not`), conditions (`if`, `contains`) and names are told apart as they are
//! written: closed, they would let more through.

use crate::error::Error;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::evaluated::{Kind, What};
use crate::frontend::json_schema::options::Dialect;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, NEVER, Place, TermId};
use crate::grammar::UNBOUNDED;

impl Schemas {
    /// The term of the main document's schema.
    ///
    /// # Errors
    /// It is malformed, or a limit was reached.
    pub(crate) fn root_schema(&mut self) -> Result<TermId, Error> {
        let is_closed = self.options.closed;
        self.value_schema(Place { is_closed, ..self.sources.root() })
    }

    /// The term of a schema of a whole value, a member or an item.
    ///
    /// # Errors
    /// It is malformed, or a limit was reached.
    pub(crate) fn value_schema(&mut self, place: Place) -> Result<TermId, Error> {
        let own = self.schema(place)?;
        if !place.is_closed || own == ANY || own == NEVER {
            return Ok(own);
        }
        if let Some(&known) = self.closings.get(&own) {
            return Ok(known);
        }
        let members = self.closing(place, Kind::Members)?;
        let items = self.closing(place, Kind::Items)?;
        let closed = self.terms.and(&[own, members, items]);
        self.closings.insert(own, closed);
        Ok(closed)
    }

    /// Nothing but what is described.
    fn closing(&mut self, place: Place, kind: Kind) -> Result<TermId, Error> {
        let keyword = match kind {
            Kind::Members => "unevaluatedProperties",
            Kind::Items => "unevaluatedItems",
        };
        let says_it_itself = self.sources.dialect(place) >= Dialect::Draft2019
            && self.sources.document(place).find(place.node, keyword).is_some();
        if says_it_itself {
            return Ok(ANY);
        }
        let found = self.evaluations(place, kind)?;
        let describes = |what: &What| match what {
            What::Members(_) | What::Matching(_) => true,
            What::Items(count) => *count < UNBOUNDED,
            What::Others { .. } | What::AllMembers | What::Containing(_) => false,
        };
        if !found.iter().any(|evaluation| describes(&evaluation.what)) {
            return Ok(ANY);
        }
        match kind {
            Kind::Members => self.members_beside(&found, NEVER),
            Kind::Items => self.items_beside(&found, NEVER, place),
        }
    }

    /// Whether a branch of a choice takes objects, or arrays, whatever is in them: one that says
    /// nothing but a type.
    pub(crate) fn takes_all(&self, branch: Place, kind: Kind) -> bool {
        let document = self.sources.document(branch);
        let kind = match kind {
            Kind::Members => "object",
            Kind::Items => "array",
        };
        if let Node::Bool(takes) = document.get(branch.node) {
            return takes;
        }
        document.members(branch.node).all(|(keyword, value)| match keyword {
            "type" => {
                let is_kind = |node| document.as_str(node) == Some(kind);
                is_kind(value) || document.items(value).iter().any(|&node| is_kind(node))
            }
            "title" | "description" | "default" | "examples" | "deprecated" | "$comment" => true,
            _ => false,
        })
    }
}
