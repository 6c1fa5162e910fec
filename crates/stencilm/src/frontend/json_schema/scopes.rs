//! The dynamic scope of a schema, reduced to what can matter: of each dynamic anchor the outermost
//! schema that has it.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::shape::{Place, ScopeId};

/// The scope of the whole, where nothing has a dynamic anchor.
pub(crate) const OUTSIDE: ScopeId = ScopeId(0);

/// The name under which `$recursiveAnchor` is kept: no dynamic anchor is empty.
pub(crate) const RECURSIVE: &str = "";

/// Sorted by the anchor.
type Scope = Arc<[(Box<str>, Place)]>;

/// All scopes, each kept once.
#[derive(Debug)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
    ids: FxHashMap<Scope, ScopeId>,
}

impl Default for Scopes {
    fn default() -> Self {
        let outside: Scope = Arc::new([]);
        Self { scopes: vec![outside.clone()], ids: FxHashMap::from_iter([(outside, OUTSIDE)]) }
    }
}

impl Scopes {
    pub(crate) fn len(&self) -> usize {
        self.scopes.len()
    }

    /// The outermost schema with this anchor.
    pub(crate) fn outermost(&self, scope: ScopeId, anchor: &str) -> Option<Place> {
        let scope = &self.scopes[scope.0 as usize];
        let at = scope.binary_search_by(|(known, _)| (**known).cmp(anchor)).ok()?;
        Some(scope[at].1)
    }

    /// The scope inside of `outer` after these anchors were met.
    pub(crate) fn enter(
        &mut self,
        outer: ScopeId,
        anchors: impl Iterator<Item = (Box<str>, Place)>,
    ) -> ScopeId {
        let mut inner = self.scopes[outer.0 as usize].to_vec();
        for (anchor, place) in anchors {
            if let Err(at) = inner.binary_search_by(|(known, _)| known.cmp(&anchor)) {
                inner.insert(at, (anchor, place));
            }
        }
        let inner: Scope = inner.into();
        if let Some(&id) = self.ids.get(&inner) {
            return id;
        }
        let id = ScopeId(index(self.scopes.len()));
        self.scopes.push(inner.clone());
        self.ids.insert(inner, id);
        id
    }
}
