"""Columns of a table as the columns, categories and labels of a model."""
