"""What a model is: trees, forest, schema, and the rules that lead to a leaf."""
