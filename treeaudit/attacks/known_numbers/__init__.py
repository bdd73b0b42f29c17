"""TA109: whose number follows from the leaf."""
