"""A `Report` in, text out. Renderers never compute a number of the audit."""
