"""TA106: what the trees of a forest say together."""
