//! Moves a matcher from a full generation of tables to the open one.

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;

use crate::grammar::{ExprId, Imported};
use crate::mask::Tables;
use crate::matcher::Matcher;
use crate::stack::{Entry, Frame, Link};

impl Matcher {
    /// Moves over to the open generation, with all that can still be given back.
    pub(super) fn catch_up(&mut self) {
        if !self.generation.is_retired() {
            return;
        }
        let newer = self.lineage.generation();
        if Arc::ptr_eq(&newer, &self.generation) {
            return;
        }
        {
            let from = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
            let mut to = newer.tables.write().unwrap_or_else(PoisonError::into_inner);
            let mut moving = Moving::default();
            for step in self.before.iter_mut().chain(std::iter::once(&mut self.now)) {
                for item in &mut step.state.items {
                    item.id = moving.id(&from, &mut to, item.id);
                    item.link = moving.link(&from, &mut to, &item.link);
                }
                step.state.items.sort_unstable_by_key(|item| item.id);
            }
        }
        self.generation = newer;
    }
}

/// What has moved from one generation to another.
#[derive(Default)]
struct Moving {
    ids: Imported,
    frames: FxHashMap<*const Frame, Link>,
}

impl Moving {
    fn id(&mut self, from: &Tables, to: &mut Tables, id: ExprId) -> ExprId {
        to.residuals.exprs.import(&from.residuals.exprs, id, &mut self.ids)
    }

    /// The frame in the other generation; deep stacks are walked without recursion.
    fn link(&mut self, from: &Tables, to: &mut Tables, link: &Link) -> Link {
        let frame = link.as_ref()?;
        let mut todo: Vec<Arc<Frame>> = vec![frame.clone()];
        while let Some(at) = todo.last().cloned() {
            let below = |frame: &Arc<Frame>| self.frames.contains_key(&Arc::as_ptr(frame));
            let missing = at
                .entries()
                .iter()
                .filter_map(|entry| entry.link.as_ref())
                .find(|frame| !below(frame))
                .cloned();
            if let Some(frame) = missing {
                todo.push(frame);
                continue;
            }
            todo.pop();
            if below(&at) {
                continue;
            }
            let mut entries = Vec::with_capacity(at.entries().len());
            for Entry { id, link, past } in at.entries() {
                let link = link.as_ref().and_then(|frame| self.frames[&Arc::as_ptr(frame)].clone());
                let (id, past) = (self.id(from, to, *id), past.clone());
                entries.push(Entry { id, link, past });
            }
            let exprs = &to.residuals.exprs;
            let moved = Frame::with(&exprs.key, exprs.empty(), entries, at.register().cloned());
            self.frames.insert(Arc::as_ptr(&at), moved);
        }
        self.frames[&Arc::as_ptr(frame)].clone()
    }
}
