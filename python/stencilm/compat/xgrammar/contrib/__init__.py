"""Adapters for libraries, as XGrammar has them."""
