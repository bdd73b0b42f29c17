"""TA102: whose label follows from the leaf."""
