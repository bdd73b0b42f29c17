"""The whole pipeline: request, preparation, scan."""
