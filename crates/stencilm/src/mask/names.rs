//! Local results of member names. What may stand in a name's place is what any text may be, less
//! the tokens that go on to a name with rules of its own: so the result of any text is made once,
//! and an object only adds to it and takes from it.

use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, LiteralsId};
use crate::mask::after::After;
use crate::mask::few::Few;
use crate::mask::local::Local;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{MaskBuilder, Tables, insert};
use crate::residual::names::NameRun;
use crate::vocab::{IndexedTrie, Trie};

/// Endings of tokens below a node of a trie.
struct Endings<'a> {
    trie: &'a Trie,
    /// The same trie, where it has an index.
    index: Option<&'a IndexedTrie>,
    root: u32,
}

impl Endings<'_> {
    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        match self.index {
            Some(index) => index.child(node, byte),
            None => self.trie.child(node, byte),
        }
    }
}

impl Tables {
    /// The local result of a member name that its object may not list.
    pub(super) fn local_of_names(
        &mut self,
        run: NameRun,
        trie: TrieId,
        after: After,
    ) -> Result<Local, Error> {
        let NameRun { state, low, high, depth, .. } = run;
        let listed = self.residuals.exprs.names(state, low, high, depth, false);
        if self.residuals.name_spelling().is_free() {
            let others = self.residuals.other_names(run)?;
            return self.union_of_locals(&[listed, others], trie, after);
        }
        let names = self.residuals.names_of(state);
        let mut through = Vec::new();
        self.add_through_run(names, (low, high, depth), trie, &mut through);
        let any = self.residuals.any_names(run)?;
        let any = self.local(any, trie, after)?;
        let Some(others) = self.without(any, trie, through) else {
            let others = self.residuals.other_names(run)?;
            return self.union_of_locals(&[listed, others], trie, after);
        };
        let listed = self.local(listed, trie, after)?;
        let mut inside = MaskBuilder::default();
        inside.add(&others.inside);
        inside.add(&listed.inside);
        let exits = others.exits.iter().chain(listed.exits.iter()).copied().collect();
        Ok(self.finish_local(inside, exits, others.is_whole && listed.is_whole))
    }

    /// The star of any text that `first` is but for some names, if `rest` is the closing quote.
    pub(super) fn star_of_names(&mut self, first: ExprId, rest: ExprId) -> Option<ExprId> {
        let spelling = self.residuals.name_spelling();
        let exprs = &mut self.residuals.exprs;
        if rest != exprs.bytes(b"\"") {
            return None;
        }
        let Expr::And(list) = exprs.get(first) else {
            return None;
        };
        let &[a, b] = exprs.list(list) else {
            return None;
        };
        let star = exprs.any_text(spelling);
        let other = if a == star { b } else { a };
        let Expr::Not(names) = exprs.get(other) else {
            return None;
        };
        let is_list = match exprs.get(names) {
            Expr::OneOf { .. } | Expr::Bytes { .. } | Expr::Empty => true,
            Expr::Chars { .. } | Expr::Seq(..) => {
                let is_part = |&part: &ExprId| {
                    matches!(exprs.get(part), Expr::Chars { .. } | Expr::Bytes { .. })
                };
                spelling.is_free() && exprs.spine(names).iter().all(is_part)
            }
            _ => false,
        };
        ((a == star || b == star) && is_list).then_some(star)
    }

    /// The local result of any text but for some names, and its closing quote; none if it takes a
    /// walk to know.
    pub(super) fn local_without_names(
        &mut self,
        text: ExprId,
        star: ExprId,
        quote: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<Option<Local>, Error> {
        let any = self.residuals.exprs.seq2(star, quote);
        let any = self.local(any, trie, after)?;
        let mut through = Vec::new();
        let Expr::And(list) = self.residuals.exprs.get(text) else {
            return Ok(None);
        };
        for member in self.residuals.exprs.list(list).to_vec() {
            let Expr::Not(body) = self.residuals.exprs.get(member) else { continue };
            if self.residuals.name_spelling().is_free() {
                self.add_through_spelled(body, quote, trie, &mut through)?;
                continue;
            }
            match self.residuals.exprs.get(body) {
                Expr::Empty => self.add_through(&[], trie, &mut through),
                Expr::Bytes { literal, from } => {
                    let name = self.residuals.exprs.literal(literal)[from as usize..].to_vec();
                    self.add_through(&name, trie, &mut through);
                }
                Expr::OneOf { literals, low, high, depth, .. } => {
                    self.add_through_run(literals, (low, high, depth), trie, &mut through);
                }
                _ => {}
            }
        }
        Ok(self.without(any, trie, through))
    }

    /// Adds the tokens of `trie` that have the rest of a name and its closing quote, once for each
    /// ending.
    fn add_through(&self, name: &[u8], trie: TrieId, through: &mut Vec<u32>) {
        let endings = self.endings_with_quotes(trie);
        let mut at = Some(endings.root);
        for &byte in name.iter().chain(b"\"") {
            at = at.and_then(|at| endings.child(at, byte));
        }
        through.extend_from_slice(at.map_or(&[], |at| endings.trie.tokens_below(at)));
    }

    /// The same for names that have several spellings: what remains of them is followed.
    fn add_through_spelled(
        &mut self,
        names: ExprId,
        quote: ExprId,
        trie: TrieId,
        through: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let (nothing, empty) = (self.residuals.exprs.nothing(), self.residuals.exprs.empty());
        let (whole, root) = self.tries.place(trie);
        let mut todo = vec![(root, self.residuals.exprs.seq2(names, quote))];
        while let Some((at, names)) = todo.pop() {
            let children: SmallVec<[(u32, u8); 16]> = {
                let trie = self.tries.trie_ref(whole);
                trie.children(at).map(|child| (child, trie.byte(child))).collect()
            };
            for (child, byte) in children {
                let rest = self.residuals.step(names, byte)?;
                if rest == empty {
                    through.extend_from_slice(self.tries.trie_ref(whole).tokens_below(child));
                } else if rest != nothing {
                    todo.push((child, rest));
                }
            }
        }
        Ok(())
    }

    /// The same for a run of sorted names, from byte `depth` of each on.
    fn add_through_run(
        &self,
        names: LiteralsId,
        (low, high, depth): (u32, u32, u32),
        trie: TrieId,
        through: &mut Vec<u32>,
    ) {
        let endings = self.endings_with_quotes(trie);
        let mut todo: SmallVec<[_; 8]> = SmallVec::from_elem((low, high, depth, endings.root), 1);
        while let Some((mut low, high, depth, node)) = todo.pop() {
            while low < high {
                let literal = self.residuals.exprs.literal_ids(names)[low as usize];
                let Some(&byte) = self.residuals.exprs.literal(literal).get(depth as usize) else {
                    if let Some(end) = endings.child(node, b'"') {
                        through.extend_from_slice(endings.trie.tokens_below(end));
                    }
                    low += 1;
                    continue;
                };
                let (_, end) = self.residuals.run_with(names, low, high, depth, byte);
                if let Some(child) = endings.child(node, byte) {
                    todo.push((low, end, depth + 1, child));
                }
                low = end;
            }
        }
    }

    /// The endings of `trie`, but, where that is known, only those with a quote.
    fn endings_with_quotes(&self, trie: TrieId) -> Endings<'_> {
        if trie == FULL {
            let quoted = self.vocabulary.quoted().tokens();
            return Endings { trie: quoted.trie(), index: Some(quoted), root: 0 };
        }
        let (whole, root) = self.tries.place(trie);
        Endings { trie: self.tries.trie_ref(whole), index: None, root }
    }

    /// A local result without the tokens in `through`, which has a token once for each ending that
    /// is refused. None if a token has another ending, too.
    pub(super) fn without(
        &mut self,
        local: Local,
        trie: TrieId,
        mut through: Vec<u32>,
    ) -> Option<Local> {
        if through.is_empty() {
            return Some(local);
        }
        let endings = through.len();
        through.sort_unstable();
        through.dedup();
        self.marks.resize(self.vocabulary.words(), 0);
        for &token in &through {
            insert(&mut self.marks, token);
        }
        // Each token of the vocabulary has one text; of what is left of it there may be several.
        let is_all =
            self.tries.place(trie).0 == FULL || self.tries.count(trie, &self.marks) == endings;
        let local = is_all.then(|| {
            let exits = local.exits.iter();
            let exits: Few<_> =
                exits.filter_map(|&exit| self.tries.without(exit, &self.marks)).collect();
            let mut inside = MaskBuilder::default();
            inside.add(&local.inside);
            inside.remove(&through);
            let inside = self.finish_mask(inside);
            Local { inside, exits, is_whole: local.is_whole }
        });
        for &token in &through {
            self.marks[token as usize / 32] = 0;
        }
        local
    }
}
