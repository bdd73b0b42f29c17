"""Whether a table is the training data, and whose rows it holds."""
