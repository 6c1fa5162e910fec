//! The documents that a reference may name: those of the caller, and the metaschemas.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::frontend::json_schema::document::Document;
use crate::frontend::json_schema::language::Language;
use crate::frontend::json_schema::metaschemas;
use crate::frontend::json_schema::options::Dialect;

/// Texts by their URI. Nothing is ever fetched.
#[derive(Debug)]
pub(crate) struct Library {
    given: FxHashMap<String, Arc<str>>,
    /// What was found out about metaschemas of the caller.
    languages: FxHashMap<String, Result<Option<Language>, String>>,
}

/// Metaschemas whose metaschemas are looked at in turn.
const MOST_STEPS: usize = 16;

impl Library {
    pub(crate) fn new(given: &[(String, String)]) -> Self {
        let given = given.iter();
        let given =
            given.map(|(uri, text)| (uri.trim_end_matches('#').to_owned(), text.as_str().into()));
        Self { given: given.collect(), languages: FxHashMap::default() }
    }

    pub(crate) fn text(&self, uri: &str) -> Option<Arc<str>> {
        self.given.get(uri).cloned().or_else(|| metaschemas::text(uri).map(Arc::from))
    }

    /// The URIs of the caller's documents.
    pub(crate) fn given(&self) -> Vec<String> {
        let mut uris: Vec<String> = self.given.keys().cloned().collect();
        uris.sort_unstable();
        uris
    }

    /// The language that a `$schema` names; `None` if nobody knows it.
    ///
    /// # Errors
    /// Its metaschema requires a vocabulary that nobody knows: its name.
    pub(crate) fn language(&mut self, uri: &str) -> Result<Option<Language>, String> {
        if let Some(dialect) = Dialect::of_uri(uri) {
            return Ok(Some(Language::of(dialect)));
        }
        if let Some(known) = self.languages.get(uri) {
            return known.clone();
        }
        let found = self.find_language(uri);
        self.languages.insert(uri.to_owned(), found.clone());
        found
    }

    /// Whether [`Self::language`] has an answer for a `$schema` that it was asked for.
    pub(crate) fn is_known_language(&self, uri: &str) -> bool {
        let named = || self.languages.get(uri).is_some_and(|found| matches!(found, Ok(Some(_))));
        Dialect::of_uri(uri).is_some() || named()
    }

    fn find_language(&self, uri: &str) -> Result<Option<Language>, String> {
        let Some(metaschema) = self.document(uri) else {
            return Ok(None);
        };
        let mut above = schema_of(&metaschema);
        for _ in 0..MOST_STEPS {
            let Some(uri) = above else {
                break;
            };
            if let Some(dialect) = Dialect::of_uri(&uri) {
                return Language::of_metaschema(&metaschema, dialect).map(Some);
            }
            above = self.document(&uri).as_ref().and_then(schema_of);
        }
        Ok(None)
    }

    fn document(&self, uri: &str) -> Option<Document> {
        let text = self.text(uri.trim_end_matches('#'))?;
        Document::parse(&text).ok()
    }
}

fn schema_of(document: &Document) -> Option<String> {
    let node = document.find(document.root(), "$schema")?;
    document.as_str(node).map(str::to_owned)
}
