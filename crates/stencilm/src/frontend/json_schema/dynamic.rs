//! Dynamic references: they name the outermost schema of the dynamic scope with their anchor.
//!
//! A place carries the scope that it is seen from, but only where the schemas below may ask for
//! it; so most schemas are one schema, however they were reached.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::json_schema::document::NodeId;
use crate::frontend::json_schema::scopes::{OUTSIDE, RECURSIVE};
use crate::frontend::json_schema::shape::Place;
use crate::frontend::json_schema::sources::Sources;
use crate::frontend::json_schema::uri;
use crate::interner::index;

/// Whether a dynamic reference may be met from a value of a document on.
pub(crate) type Reaching = FxHashMap<(u32, NodeId), bool>;

impl Sources {
    /// The same place, seen from inside of its resource.
    pub(crate) fn enter(&mut self, place: Place) -> Place {
        let resource = self.resources.get(self.resource(place));
        if place.scope == OUTSIDE && resource.dynamic.is_empty() {
            return place;
        }
        if !self.reaches_dynamic_reference(place) {
            return Place { scope: OUTSIDE, ..place };
        }
        let resource = self.resources.get(self.resource(place));
        let document = resource.document;
        let anchors = resource.dynamic.iter().map(|(name, node)| {
            (name.clone(), Place { document, node: *node, scope: OUTSIDE, is_closed: false })
        });
        Place { scope: self.scopes.enter(place.scope, anchors), ..place }
    }

    /// What a `$dynamicRef` or a `$recursiveRef` at `from` names.
    ///
    /// # Errors
    /// There is no such place.
    pub(crate) fn resolve_dynamic(
        &mut self,
        from: Place,
        reference: &str,
        keyword: &str,
    ) -> Result<Place, Error> {
        let plain = self.resolve(from, reference)?;
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let Some(fragment) = uri::decode(fragment) else {
            return Ok(plain);
        };
        let anchor = if keyword == "$recursiveRef" { RECURSIVE } else { &fragment };
        let resource = self.resources.get(self.resource(plain));
        let is_dynamic =
            resource.dynamic.iter().any(|(name, node)| **name == *anchor && *node == plain.node);
        let found = if is_dynamic { self.scopes.outermost(from.scope, anchor) } else { None };
        Ok(found.map_or(plain, |found| Place {
            scope: from.scope,
            is_closed: from.is_closed,
            ..found
        }))
    }

    /// Looks at everything that a schema has inside or refers to, keywords or not: more than can
    /// matter, which is only slower.
    fn reaches_dynamic_reference(&mut self, place: Place) -> bool {
        let start = (place.document, place.node);
        if let Some(&known) = self.reaching.get(&start) {
            return known;
        }
        let mut found = vec![start];
        let mut places = FxHashMap::from_iter([(start, 0_u32)]);
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut reaching = Vec::new();
        let mut at = 0;
        while let Some(&(number, node)) = found.get(at) {
            let here = index(at);
            at += 1;
            match self.reaching.get(&(number, node)) {
                Some(&known) => {
                    reaching.extend(known.then_some(here));
                    continue;
                }
                None if self.is_dynamic_reference(number, node) => {
                    reaching.push(here);
                }
                None => {}
            }
            for next in self.next(number, node) {
                let to = *places.entry(next).or_insert_with(|| {
                    found.push(next);
                    index(found.len() - 1)
                });
                edges.push((to, here));
            }
        }
        self.spread(&found, edges, reaching);
        self.reaching[&start]
    }

    /// Who leads to a place of `reaching` reaches too.
    fn spread(
        &mut self,
        found: &[(u32, NodeId)],
        mut edges: Vec<(u32, u32)>,
        mut reaching: Vec<u32>,
    ) {
        edges.sort_unstable();
        let mut marks = vec![false; found.len()];
        for &at in &reaching {
            marks[at as usize] = true;
        }
        while let Some(to) = reaching.pop() {
            let first = edges.partition_point(|edge| edge.0 < to);
            for &(_, from) in edges[first..].iter().take_while(|edge| edge.0 == to) {
                if !std::mem::replace(&mut marks[from as usize], true) {
                    reaching.push(from);
                }
            }
        }
        self.reaching.extend(found.iter().copied().zip(marks));
    }

    fn is_dynamic_reference(&self, number: u32, node: NodeId) -> bool {
        let document =
            self.document(Place { document: number, node, scope: OUTSIDE, is_closed: false });
        ["$dynamicRef", "$recursiveRef"].iter().any(|name| document.find(node, name).is_some())
    }

    /// The values inside of a value, and what its `$ref` names. One that names nothing is an error
    /// where it is followed.
    fn next(&mut self, number: u32, node: NodeId) -> Vec<(u32, NodeId)> {
        let place = Place { document: number, node, scope: OUTSIDE, is_closed: false };
        let document = self.document(place);
        let inner = document.items(node).iter().copied();
        let inner = inner.chain(document.members(node).map(|(_, value)| value));
        let mut next: Vec<(u32, NodeId)> = inner.map(|node| (number, node)).collect();
        let reference = document.find(node, "$ref").and_then(|text| document.as_str(text));
        if let Some(reference) = reference.map(str::to_owned)
            && let Ok(target) = self.resolve(place, &reference)
        {
            next.push((target.document, target.node));
        }
        next
    }
}
