//! What stands in the brackets behind a rule's name: `name[lazy, suffix="…", capture]: …`.

use crate::error::{Error, Location};
use crate::frontend::lark::parser::Parser;
use crate::frontend::lark::text::TokenKind;
use crate::frontend::lark::tree::{Attributes, Name, Node, NodeId};
use crate::frontend::marks;
use crate::grammar::UNBOUNDED;

impl Parser<'_> {
    /// The attributes of the rule `of`, `[` of which comes next.
    pub(crate) fn attributes(&mut self, of: &Name) -> Result<Attributes, Error> {
        let mut attributes = Attributes::default();
        let mut keys: Vec<&str> = Vec::new();
        self.next();
        loop {
            let offset = self.offset();
            let key = match self.peek() {
                TokenKind::Name => self.next(),
                _ => return Err(self.unexpected("an attribute of a rule, as `lazy`,")),
            };
            if keys.contains(&key) {
                return Err(Error::syntax(format!("the attribute `{key}` comes twice"), offset));
            }
            keys.push(key);
            let has_value = self.take(b'=');
            self.attribute(key, has_value, offset, of, &mut attributes)?;
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b']', "at the end of the attributes")?;
        Ok(attributes)
    }

    fn attribute(
        &mut self,
        key: &str,
        has_value: bool,
        offset: usize,
        of: &Name,
        attributes: &mut Attributes,
    ) -> Result<(), Error> {
        let mark = &mut attributes.mark;
        match key {
            "lazy" if !has_value => attributes.is_lazy = true,
            "stop" | "suffix" if attributes.end.is_some() => {
                return Err(Error::syntax("a rule has one `stop` or one `suffix`", offset));
            }
            "stop" | "suffix" if has_value => {
                let end = self.ending()?;
                let is_empty =
                    matches!(&self.tree.nodes[end], Node::Literal(text, _) if text.is_empty());
                if is_empty && key == "suffix" {
                    return Err(Error::syntax("an empty `suffix`: write `lazy`", offset));
                }
                attributes.end = Some(end);
                attributes.hides_end = key == "stop";
            }
            "lazy" | "stop" | "suffix" => {
                let message = "an attribute is `lazy`, `stop=…` or `suffix=…`";
                return Err(Error::syntax(message, offset));
            }
            "capture" if !has_value => mark.capture = Some((*of.text).into()),
            "capture" => mark.capture = Some(marks::capture(self.quoted_name(key)?, offset)?),
            "max_tokens" => {
                let most = self.decimal(key)?;
                let most = most.parse().map_err(|_| {
                    Error::syntax(format!("`max_tokens` needs a number, not `{most}`"), offset)
                })?;
                mark.max_tokens = Some(marks::max_tokens(most, offset)?);
            }
            "max_chars" => {
                let most = self.decimal(key)?;
                let most = most.parse().ok().filter(|&most: &u32| most < UNBOUNDED);
                let error = || Error::syntax("`max_chars` needs a number", offset);
                attributes.max_chars = Some(most.ok_or_else(error)?);
            }
            "temperature" => {
                mark.temperature = Some(marks::temperature(self.decimal(key)?, offset)?);
            }
            "stop_capture" => {
                marks::capture(self.quoted_name(key)?, offset)?;
                // What `stop` names is no part of the text.
                let feature = "the attribute `stop_capture`";
                return Err(Error::unsupported(feature, Location::Offset(offset)));
            }
            _ => {
                let message = format!(
                    "there is no attribute `{key}`; there are `lazy`, `stop`, `suffix`, `max_chars`, \
                     `capture`, `max_tokens` and `temperature`"
                );
                return Err(Error::syntax(message, offset));
            }
        }
        Ok(())
    }

    /// The name in quotes behind `key=`.
    fn quoted_name(&mut self, key: &str) -> Result<&str, Error> {
        if self.peek() != TokenKind::String {
            return Err(self.unexpected(&format!("a string, as the value of `{key}`,")));
        }
        let written = self.next();
        Ok(written.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or_default())
    }

    /// The number behind `key=`, with a point perhaps.
    fn decimal(&mut self, key: &str) -> Result<&str, Error> {
        let begin = self.at;
        for place in 0..2 {
            if self.peek() != TokenKind::Number {
                return Err(self.unexpected(&format!("a number, as the value of `{key}`,")));
            }
            self.next();
            if place == 1 || !self.take(b'.') {
                break;
            }
        }
        Ok(&self.source[self.tokens[begin].at..self.tokens[self.at - 1].end])
    }

    fn ending(&mut self) -> Result<NodeId, Error> {
        let offset = self.offset();
        match self.peek() {
            TokenKind::String | TokenKind::Pattern => self.value(),
            TokenKind::Name => {
                let written = self.next();
                let node = Node::Name(self.name(written));
                Ok(self.tree.add(node, offset))
            }
            _ => Err(self.unexpected("a string, a regular expression or a terminal")),
        }
    }
}
