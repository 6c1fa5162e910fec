//! The documents of one schema: what a reference names, and how errors name a place.

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::document::{Document, Node, NodeId};
use crate::frontend::json_schema::dynamic::Reaching;
use crate::frontend::json_schema::language::Language;
use crate::frontend::json_schema::library::Library;
use crate::frontend::json_schema::options::{Dialect, JsonSchemaOptions};
use crate::frontend::json_schema::resources::{
    Marks, Resource, ResourceId, Resources, UnknownVocabulary,
};
use crate::frontend::json_schema::scopes::{OUTSIDE, Scopes};
use crate::frontend::json_schema::shape::Place;
use crate::frontend::json_schema::uri;
use crate::interner::index;

/// The main document is the first one; others are read when a reference first needs one.
#[derive(Debug)]
pub(crate) struct Sources {
    documents: Vec<Source>,
    pub(crate) resources: Resources,
    pub(crate) library: Library,
    pub(crate) scopes: Scopes,
    pub(crate) reaching: Reaching,
    /// Of documents that do not say.
    default_language: Language,
    /// The most bytes that a document may have.
    most_bytes: usize,
}

#[derive(Debug)]
struct Source {
    document: Document,
    /// By which a reference named it.
    uri: String,
    resource: ResourceId,
    /// None at all where the whole document is one resource without anchors.
    marks: Marks,
}

impl Sources {
    /// Reads the main document.
    ///
    /// # Errors
    /// It is too long, it is no JSON, or its metaschema requires an unknown vocabulary.
    pub(crate) fn new(
        text: &str,
        options: &JsonSchemaOptions,
        most_bytes: usize,
    ) -> Result<Self, Error> {
        let mut sources = Self {
            documents: Vec::new(),
            resources: Resources::default(),
            library: Library::new(&options.resources),
            scopes: Scopes::default(),
            reaching: Reaching::default(),
            default_language: Language::of(options.dialect),
            most_bytes,
        };
        let main = sources.read(text, "")?;
        // Its dialect is that of other documents that do not say.
        let dialect = sources.resources.get(main).language.dialect;
        sources.default_language = Language::of(dialect);
        Ok(sources)
    }

    pub(crate) fn root(&self) -> Place {
        Place {
            document: 0,
            node: self.documents[0].document.root(),
            scope: OUTSIDE,
            is_closed: false,
        }
    }

    /// The text of the main document.
    pub(crate) fn text(&self) -> &str {
        self.documents[0].document.source()
    }

    pub(crate) fn document(&self, place: Place) -> &Document {
        &self.documents[place.document as usize].document
    }

    /// The language of a place.
    pub(crate) fn language(&self, place: Place) -> Language {
        self.resources.get(self.resource(place)).language
    }

    pub(crate) fn dialect(&self, place: Place) -> Dialect {
        self.language(place).dialect
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

    /// The resource that a place stands in; equal places of one resource mean the same.
    pub(crate) fn resource(&self, place: Place) -> ResourceId {
        let source = &self.documents[place.document as usize];
        if source.marks.is_empty() {
            return source.resource;
        }
        let mut at = Some(place.node);
        while let Some(node) = at {
            if let Some(id) = source.marks[node.0 as usize] {
                return id;
            }
            at = source.document.parent(node);
        }
        source.resource
    }

    /// Whether a place is the root of its resource.
    pub(crate) fn is_resource(&self, place: Place) -> bool {
        let resource = self.resources.get(self.resource(place));
        (resource.document, resource.root) == (place.document, place.node)
    }

    /// What a reference written at `from` names, seen from there.
    ///
    /// # Errors
    /// There is no such place.
    pub(crate) fn resolve(&mut self, from: Place, reference: &str) -> Result<Place, Error> {
        let (whole, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let mut target = Some(self.resource(from));
        if !whole.is_empty() {
            let whole = uri::resolve(&self.resources.get(self.resource(from)).uri, whole);
            target = self.named(whole.split('#').next().unwrap_or(""), from)?;
        }
        let fragment = uri::decode(fragment);
        let found = match (target, fragment.as_deref()) {
            (Some(resource), Some("")) => Some(self.resources.get(resource).root),
            (Some(resource), Some(pointer)) if pointer.starts_with('/') => {
                self.follow(resource, pointer)?
            }
            (Some(resource), Some(anchor)) => {
                self.resources.get(resource).anchors.get(anchor).copied()
            }
            _ => None,
        };
        let (Some(resource), Some(node)) = (target, found) else {
            let message = format!("`{reference}` names nothing: the reference cannot be resolved");
            return Err(self.error(message, from));
        };
        let document = self.resources.get(resource).document;
        Ok(Place { document, node, scope: from.scope, is_closed: from.is_closed })
    }

    /// The resource with this URI; a document of the caller's is read when it is first named.
    fn named(&mut self, uri: &str, from: Place) -> Result<Option<ResourceId>, Error> {
        if let Some(known) = self.resources.named(uri) {
            return Ok(Some(known));
        }
        if let Some(text) = self.library.text(uri) {
            return self.read_named(&text, uri, from).map(Some);
        }
        // Some document may have it as the `$id` of itself or of a part.
        for given in self.library.given() {
            if self.resources.named(&given).is_none()
                && let Some(text) = self.library.text(&given)
            {
                self.read_named(&text, &given, from)?;
            }
        }
        Ok(self.resources.named(uri))
    }

    fn read_named(&mut self, text: &str, uri: &str, from: Place) -> Result<ResourceId, Error> {
        self.read(text, uri).map_err(|error| match error.kind() {
            ErrorKind::Syntax { message } if matches!(error.location(), Location::Offset(_)) => {
                self.error(format!("the document `{uri}`: {error}: {message}"), from)
            }
            _ => error,
        })
    }

    /// Follows a JSON Pointer (RFC 6901) from the root of a resource.
    fn follow(&mut self, resource: ResourceId, pointer: &str) -> Result<Option<NodeId>, Error> {
        let &Resource { document: number, root, .. } = self.resources.get(resource);
        let document = &mut self.documents[number as usize].document;
        let mut node = root;
        for step in pointer.split('/').skip(1) {
            let child = match document.get(node) {
                Node::Object { .. } if step.contains('~') => {
                    document.find_indexed(node, &step.replace("~1", "/").replace("~0", "~"))
                }
                Node::Object { .. } => document.find_indexed(node, step),
                _ => array_index(step).and_then(|at| document.items(node).get(at).copied()),
            };
            let Some(child) = child else {
                return Ok(None);
            };
            node = child;
        }
        self.adopt(Place { document: number, node, scope: OUTSIDE, is_closed: false })?;
        Ok(Some(node))
    }

    /// What a pointer names is a schema, though an unknown keyword may hold it.
    fn adopt(&mut self, place: Place) -> Result<(), Error> {
        let around = self.resource(place);
        let source = &mut self.documents[place.document as usize];
        if source.marks.is_empty() || source.marks[place.node.0 as usize].is_some() {
            return Ok(());
        }
        let Source { document, marks, .. } = source;
        let limits = (&mut self.library, self.most_bytes);
        let outcome = self.resources.collect(document, place.node, around, marks, limits);
        self.checked(outcome, place.document)
    }

    fn checked(&self, outcome: Result<(), UnknownVocabulary>, document: u32) -> Result<(), Error> {
        outcome.map_err(|unknown| self.unknown_vocabulary(&unknown, document))?;
        if self.resources.uri_bytes > self.most_bytes {
            return Err(Error::limit("source_bytes", self.most_bytes));
        }
        Ok(())
    }

    fn unknown_vocabulary(&self, unknown: &UnknownVocabulary, document: u32) -> Error {
        let feature = format!("the vocabulary `{}`", unknown.name);
        let place = Place { document, node: unknown.schema, scope: OUTSIDE, is_closed: false };
        let node = self.document(place).find(place.node, "$schema").unwrap_or(place.node);
        Error::unsupported(feature, self.location(Place { node, ..place }))
    }

    /// Reads a document: the resource that all of it stands in.
    fn read(&mut self, text: &str, uri: &str) -> Result<ResourceId, Error> {
        if text.len() > self.most_bytes {
            return Err(Error::limit("source_bytes", self.most_bytes));
        }
        let document = Document::parse(text)?;
        let number = index(self.documents.len());
        let root = document.root();
        let schema = document.find(root, "$schema").and_then(|node| document.as_str(node));
        let named = schema.map_or(Ok(None), |schema| self.library.language(schema));
        let (named, unknown) = match named {
            Ok(named) => (named, None),
            Err(name) => (None, Some(UnknownVocabulary { name, schema: root })),
        };
        let language = named.unwrap_or(self.default_language);
        let id = language.id(&document, root).unwrap_or("");
        let own = uri::resolve(uri, id.split('#').next().unwrap_or(""));
        let resource = self.resources.add(number, root, own, language);
        self.resources.name(uri, resource);
        let is_plain = !id.contains('#') && Resources::is_plain(&document, language);
        let mut marks = Marks::new();
        let mut outcome = unknown.map_or(Ok(()), Err);
        if !is_plain && outcome.is_ok() {
            marks = vec![None; document.len_all()];
            let limits = (&mut self.library, self.most_bytes);
            outcome = self.resources.collect(&document, root, resource, &mut marks, limits);
        }
        self.documents.push(Source { document, uri: uri.to_owned(), resource, marks });
        self.checked(outcome, number)?;
        Ok(resource)
    }
}

/// RFC 6901: without a sign and without leading zeros.
fn array_index(step: &str) -> Option<usize> {
    let is_plain = step.bytes().all(|b| b.is_ascii_digit());
    let has_zeros = step.len() > 1 && step.starts_with('0');
    if is_plain && !has_zeros { step.parse().ok() } else { None }
}
