"""TA110: what else a leaf says of its people."""
