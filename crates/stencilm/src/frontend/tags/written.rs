//! A part of a document as a text of its own.

use std::fmt::Write;

use crate::frontend::json_schema::{Document, Node, NodeId};

enum Todo<'d> {
    Value(NodeId),
    Name(&'d str),
    Sign(char),
}

/// The JSON text of a value, without recursion.
pub(crate) fn written(document: &Document, node: NodeId) -> String {
    let mut out = String::new();
    let mut todo = vec![Todo::Value(node)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Sign(sign) => out.push(sign),
            Todo::Name(name) => write_string(&mut out, name),
            Todo::Value(node) => match document.get(node) {
                Node::Null => out.push_str("null"),
                Node::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
                Node::Number(run) => out.push_str(document.text(run)),
                Node::String(run) => write_string(&mut out, document.text(run)),
                Node::Array { .. } => {
                    out.push('[');
                    todo.push(Todo::Sign(']'));
                    for (place, &item) in document.items(node).iter().enumerate().rev() {
                        todo.push(Todo::Value(item));
                        if place > 0 {
                            todo.push(Todo::Sign(','));
                        }
                    }
                }
                Node::Object { .. } => {
                    out.push('{');
                    todo.push(Todo::Sign('}'));
                    for place in (0..document.len(node)).rev() {
                        let (name, value) = document.member(node, place);
                        todo.push(Todo::Value(value));
                        todo.push(Todo::Sign(':'));
                        todo.push(Todo::Name(name));
                        if place > 0 {
                            todo.push(Todo::Sign(','));
                        }
                    }
                }
            },
        }
    }
    out
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1F' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
