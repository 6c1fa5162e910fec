//! Schema resources: the parts of documents that have a URI, a language and anchors of their own.

use rustc_hash::FxHashMap;

use crate::frontend::json_schema::document::{Document, Node, NodeId};
use crate::frontend::json_schema::language::{Holds, Language};
use crate::frontend::json_schema::library::Library;
use crate::frontend::json_schema::options::Dialect;
use crate::frontend::json_schema::scopes::RECURSIVE;
use crate::frontend::json_schema::uri;
use crate::interner::index;

/// A resource of one of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResourceId(u32);

/// A resource.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) document: u32,
    pub(crate) root: NodeId,
    /// Without a fragment. References inside are relative to it.
    pub(crate) uri: String,
    pub(crate) language: Language,
    pub(crate) anchors: FxHashMap<Box<str>, NodeId>,
    /// Dynamic anchors, and [`RECURSIVE`] for `$recursiveAnchor`.
    pub(crate) dynamic: Vec<(Box<str>, NodeId)>,
}

/// All resources that were met.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    list: Vec<Resource>,
    by_uri: FxHashMap<String, ResourceId>,
    /// Of all URIs: relative ones, one inside the other, grow with the square of the text.
    pub(crate) uri_bytes: usize,
}

/// The resource of each schema of a document; `None` for what is not known to be a schema.
pub(crate) type Marks = Vec<Option<ResourceId>>;

/// A vocabulary that a metaschema requires and nobody knows, and the schema that names the
/// metaschema.
pub(crate) struct UnknownVocabulary {
    pub(crate) name: String,
    pub(crate) schema: NodeId,
}

impl Resources {
    pub(crate) fn get(&self, id: ResourceId) -> &Resource {
        &self.list[id.0 as usize]
    }

    pub(crate) fn named(&self, uri: &str) -> Option<ResourceId> {
        self.by_uri.get(uri).copied()
    }

    /// A URI by which a resource may be named too. Who has it first keeps it.
    pub(crate) fn name(&mut self, uri: &str, id: ResourceId) {
        self.by_uri.entry(uri.to_owned()).or_insert(id);
    }

    pub(crate) fn add(
        &mut self,
        document: u32,
        root: NodeId,
        uri: String,
        language: Language,
    ) -> ResourceId {
        let id = ResourceId(index(self.list.len()));
        self.uri_bytes += uri.len();
        self.name(&uri, id);
        let (anchors, dynamic) = (FxHashMap::default(), Vec::new());
        self.list.push(Resource { document, root, uri, language, anchors, dynamic });
        id
    }

    /// Whether all of a document is one resource without anchors, so that nothing is to be noted.
    pub(crate) fn is_plain(document: &Document, language: Language) -> bool {
        let id = language.id_keyword();
        let own = [id, "$schema"].into_iter();
        let own = own.filter(|name| document.find(document.root(), name).is_some()).count();
        let names = document.all_names().filter(|&name| match name.len() {
            2 | 3 => name == id,
            7 => name == "$schema" || name == "$anchor",
            14 => name == "$dynamicAnchor",
            16 => name == "$recursiveAnchor",
            _ => false,
        });
        names.count() == own
    }

    /// Notes the resources and the anchors from a schema on, which stands in the resource
    /// `around`. Ends early once the URIs have more than `most_bytes`.
    pub(crate) fn collect(
        &mut self,
        document: &Document,
        start: NodeId,
        around: ResourceId,
        marks: &mut Marks,
        (library, most_bytes): (&mut Library, usize),
    ) -> Result<(), UnknownVocabulary> {
        let mut todo = vec![(start, around)];
        while let Some((node, around)) = todo.pop() {
            if self.uri_bytes > most_bytes {
                break;
            }
            let is_object = matches!(document.get(node), Node::Object { .. });
            if !is_object || marks[node.0 as usize].is_some() {
                continue;
            }
            let id = self.identify(document, node, around, library)?;
            marks[node.0 as usize] = Some(id);
            let language = self.get(id).language;
            let before = todo.len();
            for (keyword, value) in document.members(node) {
                let items = document.items(value).iter().map(|&item| (item, id));
                match language.holds(keyword) {
                    None => {}
                    Some(Holds::One) => todo.push((value, id)),
                    Some(Holds::Many) => todo.extend(items),
                    Some(Holds::OneOrMany) => {
                        todo.extend(items);
                        todo.push((value, id));
                    }
                    Some(Holds::Named) => {
                        todo.extend(document.members(value).map(|(_, schema)| (schema, id)));
                    }
                }
            }
            todo[before..].reverse();
        }
        Ok(())
    }

    /// The resource of a schema, which may be its root, with the names that the schema has.
    fn identify(
        &mut self,
        document: &Document,
        node: NodeId,
        around: ResourceId,
        library: &mut Library,
    ) -> Result<ResourceId, UnknownVocabulary> {
        let outer = self.get(around);
        let number = outer.document;
        let text = |keyword| document.find(node, keyword).and_then(|text| document.as_str(text));
        let mut id = around;
        let own = outer.language.id(document, node).unwrap_or("");
        let (whole, fragment) = own.split_once('#').unwrap_or((own, ""));
        if !whole.is_empty() && outer.root != node {
            let (mut language, uri) = (outer.language, uri::resolve(&outer.uri, whole));
            if let Some(schema) = text("$schema") {
                let named = library.language(schema);
                let named = named.map_err(|name| UnknownVocabulary { name, schema: node })?;
                language = named.unwrap_or(language);
            }
            id = self.add(number, node, uri, language);
        }
        let resource = &mut self.list[id.0 as usize];
        let dialect = resource.language.dialect;
        let anchor = text("$anchor").filter(|_| dialect >= Dialect::Draft2019);
        let dynamic = text("$dynamicAnchor").filter(|_| dialect >= Dialect::Draft2020);
        let fragment = Some(fragment).filter(|fragment| !fragment.is_empty());
        for name in [anchor, dynamic, fragment].into_iter().flatten() {
            resource.anchors.entry(name.into()).or_insert(node);
        }
        let recursive = document.find(node, "$recursiveAnchor").filter(|&flag| {
            dialect == Dialect::Draft2019
                && resource.root == node
                && matches!(document.get(flag), Node::Bool(true))
        });
        let recursive = recursive.map(|_| RECURSIVE);
        resource.dynamic.extend(dynamic.or(recursive).map(|name| (name.into(), node)));
        Ok(id)
    }
}
