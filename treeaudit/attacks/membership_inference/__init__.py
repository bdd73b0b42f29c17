"""TA105: whether somebody was in the training data."""
