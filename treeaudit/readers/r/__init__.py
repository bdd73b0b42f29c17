"""Files that R writes: objects, and the tree models in them. R is not run."""
