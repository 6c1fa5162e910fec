//! A shared list that is mostly empty: an empty one takes no memory of its own.

use std::{ops::Deref, sync::Arc};

/// A shared list that never changes.
#[derive(Debug)]
pub(crate) struct Few<T>(Option<Arc<[T]>>);

impl<T> Clone for Few<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or(&[])
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        Self((!items.is_empty()).then(|| items.into()))
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}
