"""Models for R: what `predict` needs, from the audited model alone."""
