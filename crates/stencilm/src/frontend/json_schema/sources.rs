//! The documents of one schema: which dialect a place is written in and what a reference names.

use rustc_hash::FxHashMap;
use std::fmt::Write;

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::document::{Document, NodeId, index};
use crate::frontend::json_schema::options::{Dialect, JsonSchemaOptions};
use crate::frontend::json_schema::shape::Place;
use crate::frontend::json_schema::uri;

/// The main document is the first one; others are read when a reference first needs one.
#[derive(Debug)]
pub(crate) struct Sources {
    documents: Vec<Source>,
    /// The texts of the other documents by their URI.
    texts: FxHashMap<String, String>,
    default_dialect: Dialect,
    /// What has a URI of its own, made at the first reference that is no plain pointer.
    by_uri: Option<FxHashMap<String, Place>>,
}

#[derive(Debug)]
struct Source {
    document: Document,
    dialect: Dialect,
    uri: String,
    /// Whether something below the root may have a base URI or a dialect of its own.
    has_inner: bool,
}

impl Sources {
    /// Reads the main document.
    ///
    /// # Errors
    /// It is no JSON.
    pub(crate) fn new(text: &str, options: &JsonSchemaOptions) -> Result<Self, Error> {
        let mut sources = Self {
            documents: Vec::new(),
            texts: options.resources.iter().cloned().collect(),
            default_dialect: options.dialect,
            by_uri: None,
        };
        sources.read(text, "")?;
        Ok(sources)
    }

    pub(crate) fn root(&self) -> Place {
        Place { document: 0, node: self.documents[0].document.root() }
    }

    pub(crate) fn document(&self, place: Place) -> &Document {
        &self.documents[place.document as usize].document
    }

    /// The dialect of a place.
    pub(crate) fn dialect(&self, place: Place) -> Dialect {
        let source = &self.documents[place.document as usize];
        if !source.has_inner {
            return source.dialect;
        }
        let mut at = Some(place.node);
        while let Some(node) = at {
            let named = source.document.find(node, "$schema");
            let named = named.and_then(|uri| source.document.as_str(uri));
            if let Some(dialect) = named.and_then(Dialect::of_uri) {
                return dialect;
            }
            at = source.document.parent(node);
        }
        source.dialect
    }

    /// The place for an error message.
    pub(crate) fn location(&self, place: Place) -> Location {
        let source = &self.documents[place.document as usize];
        let pointer = source.document.pointer(place.node);
        Location::Pointer(match place.document {
            0 => pointer,
            _ => format!("{}#{pointer}", source.uri),
        })
    }

    pub(crate) fn error(&self, message: impl Into<String>, place: Place) -> Error {
        Error::new(ErrorKind::Syntax { message: message.into() }, self.location(place))
    }

    /// Whether anything in the documents has a dynamic anchor.
    pub(crate) fn has_dynamic_anchors(&self, name: &str) -> bool {
        self.documents.iter().any(|source| {
            source.document.all().any(|node| source.document.find(node, name).is_some())
        })
    }

    /// The resource root that a place's references are relative to; equal places of one resource
    /// mean the same.
    pub(crate) fn resource(&self, place: Place) -> Place {
        let source = &self.documents[place.document as usize];
        let root = Place { document: place.document, node: source.document.root() };
        if !source.has_inner {
            return root;
        }
        let mut at = Some(place.node);
        while let Some(node) = at {
            let here = Place { node, ..place };
            if self.own_id(here).is_some_and(|id| !id.starts_with('#')) {
                return here;
            }
            at = source.document.parent(node);
        }
        root
    }

    /// What a reference written at `from` names.
    ///
    /// # Errors
    /// There is no such place.
    pub(crate) fn resolve(&mut self, from: Place, reference: &str) -> Result<Place, Error> {
        let resource = self.resource(from);
        if reference == "#" {
            return Ok(resource);
        }
        let found = match reference.strip_prefix('#') {
            Some(pointer) if pointer.starts_with('/') => self.follow(resource, pointer),
            _ => self.resolve_uri(resource, reference)?,
        };
        found.ok_or_else(|| {
            self.error(
                format!("`{reference}` names nothing: the reference cannot be resolved"),
                from,
            )
        })
    }

    fn resolve_uri(&mut self, resource: Place, reference: &str) -> Result<Option<Place>, Error> {
        let base = self.base_uri(resource);
        let target = uri::resolve(&base, reference);
        let (whole, fragment) = target.split_once('#').unwrap_or((&target, ""));
        if self.by_uri.is_none() {
            self.by_uri = Some(FxHashMap::default());
            for document in 0..self.documents.len() {
                self.collect(document);
            }
        }
        let mut found = self.named(whole);
        if found.is_none() {
            let text = self.texts.get(whole).or_else(|| self.texts.get(&format!("{whole}#")));
            if let Some(text) = text.cloned() {
                self.read(&text, whole)?;
                self.collect(self.documents.len() - 1);
                found = self.named(whole);
            }
        }
        Ok(match found {
            Some(place) if fragment.is_empty() => Some(place),
            Some(place) if fragment.starts_with('/') => self.follow(place, fragment),
            Some(_) => self.named(&target),
            None => None,
        })
    }

    fn named(&self, uri: &str) -> Option<Place> {
        self.by_uri.as_ref()?.get(uri).copied()
    }

    fn base_uri(&self, resource: Place) -> String {
        let mut ids = Vec::new();
        let mut at = Some(resource.node);
        let source = &self.documents[resource.document as usize];
        while let Some(node) = at {
            let here = Place { node, ..resource };
            ids.extend(self.own_id(here).filter(|id| !id.starts_with('#')).map(str::to_owned));
            at = source.document.parent(node);
        }
        let base = ids.iter().rev().fold(source.uri.clone(), |base, id| uri::resolve(&base, id));
        base.split('#').next().unwrap_or("").to_owned()
    }

    /// The `$id` (or `id`) of a schema.
    fn own_id(&self, place: Place) -> Option<&str> {
        let document = self.document(place);
        let old = self.documents[place.document as usize].dialect == Dialect::Draft4;
        let id = document.find(place.node, if old { "id" } else { "$id" })?;
        let is_ignored = self.documents[place.document as usize].dialect <= Dialect::Draft7
            && document.find(place.node, "$ref").is_some();
        document.as_str(id).filter(|_| !is_ignored)
    }

    /// Notes all URIs of a document.
    fn collect(&mut self, at: usize) {
        let document = index(at);
        let nodes: Vec<NodeId> = self.documents[at].document.all().collect();
        let mut found = Vec::new();
        let root = Place { document, node: self.documents[at].document.root() };
        found.push((self.documents[at].uri.clone(), root));
        for node in nodes {
            let place = Place { document, node };
            if let Some(id) = self.own_id(place) {
                let resource = self.resource(place);
                let base = self.base_uri(resource);
                let uri = if id.starts_with('#') { uri::resolve(&base, id) } else { base };
                found.push((uri, place));
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                let anchor = self.document(place).find(node, keyword);
                if let Some(anchor) = anchor.and_then(|node| self.document(place).as_str(node)) {
                    let base = self.base_uri(self.resource(place));
                    found.push((format!("{base}#{anchor}"), place));
                }
            }
        }
        let by_uri = self.by_uri.get_or_insert_default();
        for (uri, place) in found {
            by_uri.entry(uri).or_insert(place);
        }
    }

    /// Follows a JSON Pointer (RFC 6901) in its URI form.
    fn follow(&mut self, from: Place, pointer: &str) -> Option<Place> {
        let document = &mut self.documents[from.document as usize].document;
        let mut node = from.node;
        for step in pointer.split('/').skip(1) {
            let plain = uri::decode(step).replace("~1", "/").replace("~0", "~");
            node = if let Some(child) = document.find_indexed(node, &plain) {
                child
            } else {
                let place: usize = plain.parse().ok()?;
                *document.items(node).get(place)?
            };
        }
        Some(Place { node, ..from })
    }

    fn read(&mut self, text: &str, uri: &str) -> Result<(), Error> {
        let document = Document::parse(text)?;
        let root = document.root();
        let named = document.find(root, "$schema").and_then(|uri| document.as_str(uri));
        let dialect = named.and_then(Dialect::of_uri).unwrap_or(self.default_dialect);
        let mut id = String::from("\"");
        let _ = write!(id, "{}\"", if dialect == Dialect::Draft4 { "id" } else { "$id" });
        let count = |word: &str| text.matches(word).count();
        let own = usize::from(document.find(root, &id[1..id.len() - 1]).is_some());
        let has_inner = count(&id) > own || count("\"$schema\"") > usize::from(named.is_some());
        self.documents.push(Source { document, dialect, uri: uri.to_owned(), has_inner });
        Ok(())
    }
}
