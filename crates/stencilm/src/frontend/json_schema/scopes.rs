//! The dynamic scope of a schema, reduced to what can matter: of each dynamic anchor the outermost
//! schema that has it.

use crate::frontend::json_schema::interned::Interned;
use crate::frontend::json_schema::shape::{Place, ScopeId};

/// The scope of the whole, where nothing has a dynamic anchor.
pub(crate) const OUTSIDE: ScopeId = ScopeId(0);

/// The name under which `$recursiveAnchor` is kept: no dynamic anchor is empty.
pub(crate) const RECURSIVE: &str = "";

/// All scopes, each kept once; sorted by the anchor.
#[derive(Debug, Default)]
pub(crate) struct Scopes(Interned<(Box<str>, Place)>);

impl Scopes {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The outermost schema with this anchor.
    pub(crate) fn outermost(&self, scope: ScopeId, anchor: &str) -> Option<Place> {
        let scope = self.0.get(scope.0);
        let at = scope.binary_search_by(|(known, _)| (**known).cmp(anchor)).ok()?;
        Some(scope[at].1)
    }

    /// The scope inside of `outer` after these anchors were met.
    pub(crate) fn enter(
        &mut self,
        outer: ScopeId,
        anchors: impl Iterator<Item = (Box<str>, Place)>,
    ) -> ScopeId {
        let mut inner = self.0.get(outer.0).to_vec();
        for (anchor, place) in anchors {
            if let Err(at) = inner.binary_search_by(|(known, _)| known.cmp(&anchor)) {
                inner.insert(at, (anchor, place));
            }
        }
        ScopeId(self.0.id(inner))
    }
}
