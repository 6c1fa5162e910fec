//! Masks for what a smaller model proposes: a sequence of tokens, or a tree of them.

use crate::error::Error;
use crate::matcher::Matcher;

impl Matcher {
    /// The masks for the rows of a draft: one before each of `tokens` and one after the last.
    /// Row *i* is closed (no bit set) if a token before it was refused. Nothing changes.
    ///
    /// Gives the number of tokens that are allowed one after the other.
    ///
    /// # Errors
    /// A limit.
    ///
    /// # Panics
    /// If there are fewer than `tokens.len() + 1` rows, or one is narrower than the vocabulary.
    pub fn fill_draft<R: AsMut<[u32]>>(
        &mut self,
        tokens: &[u32],
        rows: &mut [R],
    ) -> Result<usize, Error> {
        let mut at = self.fork();
        let mut accepted = 0;
        for (place, row) in rows.iter_mut().enumerate().take(tokens.len() + 1) {
            let is_open = place == 0 || (accepted + 1 == place && at.accept(tokens[place - 1])?);
            if is_open {
                accepted = place;
                at.fill_mask(row.as_mut())?;
            } else {
                row.as_mut().fill(0);
            }
        }
        Ok(accepted)
    }

    /// The masks for the nodes of a draft tree in first-child/next-sibling form: node *i* proposes
    /// `tokens[i]`, its first child and its next sibling are `first_child[i]` and
    /// `next_sibling[i]`, negative for none; node 0 is the root, whose token was accepted before.
    /// Row *i* is the mask after node *i*; closed (no bit set) if a token on the way was refused.
    /// Nothing changes.
    ///
    /// Gives for each node whether it may be reached.
    ///
    /// # Errors
    /// A limit, or links that are no tree ([`ErrorKind::Vocabulary`](crate::ErrorKind)).
    ///
    /// # Panics
    /// If there are fewer rows than tokens, or one is narrower than the vocabulary.
    pub fn fill_draft_tree<R: AsMut<[u32]>>(
        &mut self,
        tokens: &[u32],
        first_child: &[i64],
        next_sibling: &[i64],
        rows: &mut [R],
    ) -> Result<Vec<bool>, Error> {
        let count = tokens.len();
        if first_child.len() != count || next_sibling.len() != count {
            return Err(Error::vocabulary("a draft tree needs one link of each kind a token"));
        }
        let mut reached = vec![false; count];
        for row in rows.iter_mut().take(count) {
            row.as_mut().fill(0);
        }
        let node = |link: i64| usize::try_from(link).ok();
        let mut seen = vec![false; count];
        let mut todo: Vec<(usize, Option<Self>)> = Vec::new();
        if count > 0 {
            todo.push((0, Some(self.fork())));
        }
        while let Some((at, matcher)) = todo.pop() {
            if at >= count || std::mem::replace(&mut seen[at], true) {
                return Err(Error::vocabulary(format!("the links of draft node {at} are no tree")));
            }
            let mut here = matcher.clone();
            if at > 0
                && let Some(next) = &mut here
                && !next.accept(tokens[at])?
            {
                here = None;
            }
            if let Some(sibling) = node(next_sibling[at]) {
                todo.push((sibling, matcher));
            }
            if let Some(open) = &mut here {
                reached[at] = true;
                open.fill_mask(rows[at].as_mut())?;
            }
            if let Some(child) = node(first_child[at]) {
                todo.push((child, here));
            }
        }
        Ok(reached)
    }
}
