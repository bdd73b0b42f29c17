"""TA101: who is alone in a leaf."""
