"""A model before and after a repair, both audited."""
