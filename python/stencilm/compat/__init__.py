"""Other engines' interfaces over this one, so that code written for them runs on it."""
