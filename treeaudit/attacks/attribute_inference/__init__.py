"""TA104: one hidden value of a person, from all others."""
