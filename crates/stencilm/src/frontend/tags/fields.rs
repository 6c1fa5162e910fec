//! The members of a JSON object that say what a format is.

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::{Document, Node, NodeId};

/// An object of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'d> {
    pub(crate) document: &'d Document,
    pub(crate) node: NodeId,
}

/// A text or a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark<'d> {
    Text(&'d str),
    Token(Token<'d>),
}

/// A token: a special one by its name, or any by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'d> {
    Named(&'d str),
    Number(u32),
}

impl<'d> Fields<'d> {
    /// The object at `node`.
    pub(crate) fn of(document: &'d Document, node: NodeId) -> Result<Self, Error> {
        match document.get(node) {
            Node::Object { .. } => Ok(Self { document, node }),
            _ => Err(wrong(document, node, "an object is expected here")),
        }
    }

    /// A mistake in the object.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Error {
        wrong(self.document, self.node, message)
    }

    /// Something that cannot be enforced.
    pub(crate) fn refused(&self, feature: impl Into<String>) -> Error {
        Error::unsupported(feature, self.location())
    }

    pub(crate) fn location(&self) -> Location {
        Location::Pointer(self.document.pointer(self.node))
    }

    /// Refuses members that no format of this type has.
    pub(crate) fn only(&self, kind: &str, names: &[&str]) -> Result<(), Error> {
        match self.document.members(self.node).find(|(name, _)| !names.contains(name)) {
            Some((name, _)) => {
                Err(self.wrong(format!("`{name}` is no member of a format of the type `{kind}`")))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<NodeId> {
        self.document.find(self.node, name)
    }

    /// A member that must be there.
    pub(crate) fn need(&self, name: &str) -> Result<NodeId, Error> {
        self.find(name).ok_or_else(|| self.wrong(format!("`{name}` is missing")))
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'d str, Error> {
        text(self.document, self.need(name)?)
    }

    /// A list of texts; `None` if it is not there.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<&'d str>>, Error> {
        let Some(node) = self.find(name) else {
            return Ok(None);
        };
        let items = list(self.document, node)?;
        items.iter().map(|&item| text(self.document, item)).collect::<Result<_, _>>().map(Some)
    }

    /// Texts of which none is empty; none at all if the list is not there.
    pub(crate) fn marks(&self, name: &str) -> Result<Vec<&'d str>, Error> {
        let texts = self.texts(name)?.unwrap_or_default();
        if texts.contains(&"") {
            return Err(self.wrong(format!("a text of `{name}` is empty")));
        }
        Ok(texts)
    }

    /// Whether some format at or below `node` excludes texts.
    pub(crate) fn excludes_inside(&self, node: NodeId) -> bool {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            todo.extend_from_slice(self.document.items(node));
            for (name, value) in self.document.members(node) {
                match name {
                    "excludes" if !self.document.items(value).is_empty() => return true,
                    "json_schema" => {}
                    _ => todo.push(value),
                }
            }
        }
        false
    }

    /// The items of a list with one at least.
    pub(crate) fn items(&self, name: &str) -> Result<&'d [NodeId], Error> {
        let items = list(self.document, self.need(name)?)?;
        if items.is_empty() {
            return Err(self.wrong(format!("`{name}` is empty")));
        }
        Ok(items)
    }

    /// True or false; false if it is not there.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.find(name).map(|node| (node, self.document.get(node))) {
            None => Ok(default),
            Some((_, Node::Bool(flag))) => Ok(flag),
            Some((node, _)) => {
                Err(wrong(self.document, node, format!("`{name}` is true or false")))
            }
        }
    }

    /// A whole number from `low` on, below 2³¹; `None` if it is not there or `null`.
    pub(crate) fn count(&self, name: &str, low: i64) -> Result<Option<i64>, Error> {
        let Some(node) = self.find(name) else {
            return Ok(None);
        };
        let number = match self.document.get(node) {
            Node::Null => return Ok(None),
            Node::Number(run) => self.document.text(run).parse::<i64>().ok(),
            _ => None,
        };
        number.filter(|&number| number >= low && number < 1 << 31).map(Some).ok_or_else(|| {
            let message = format!("`{name}` is a whole number from {low} on, below 2147483648");
            wrong(self.document, node, message)
        })
    }

    /// A token by its name or its number.
    pub(crate) fn token(&self, node: NodeId) -> Result<Token<'d>, Error> {
        let found = match self.document.get(node) {
            Node::String(run) => Some(Token::Named(self.document.text(run))),
            Node::Number(run) => self.document.text(run).parse().ok().map(Token::Number),
            _ => None,
        };
        found.ok_or_else(|| wrong(self.document, node, "a token is a name or a number"))
    }

    /// The tokens of a list; none if it is not there.
    pub(crate) fn tokens(&self, name: &str) -> Result<Vec<Token<'d>>, Error> {
        let Some(node) = self.find(name) else {
            return Ok(Vec::new());
        };
        list(self.document, node)?.iter().map(|&item| self.token(item)).collect()
    }

    /// A text or a format of the type `token`.
    pub(crate) fn mark(&self, node: NodeId) -> Result<Mark<'d>, Error> {
        if let Node::String(run) = self.document.get(node) {
            return Ok(Mark::Text(self.document.text(run)));
        }
        let message = "a text or a format of the type `token` is expected here";
        let fields =
            Fields::of(self.document, node).map_err(|_| wrong(self.document, node, message))?;
        fields.only("token", &["type", "token"])?;
        match fields.find("type").map(|kind| self.document.as_str(kind)) {
            None | Some(Some("token")) => Ok(Mark::Token(fields.token(fields.need("token")?)?)),
            Some(_) => Err(fields.wrong(message)),
        }
    }
}

/// A mistake at a place.
pub(crate) fn wrong(document: &Document, node: NodeId, message: impl Into<String>) -> Error {
    let kind = ErrorKind::Syntax { message: message.into() };
    Error::new(kind, Location::Pointer(document.pointer(node)))
}

/// The text at `node`.
pub(crate) fn text(document: &Document, node: NodeId) -> Result<&str, Error> {
    document.as_str(node).ok_or_else(|| wrong(document, node, "a string is expected here"))
}

/// The items of the list at `node`.
pub(crate) fn list(document: &Document, node: NodeId) -> Result<&[NodeId], Error> {
    match document.get(node) {
        Node::Array { .. } => Ok(document.items(node)),
        _ => Err(wrong(document, node, "a list is expected here")),
    }
}
