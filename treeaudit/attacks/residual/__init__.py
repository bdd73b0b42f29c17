"""TA202 to TA206: what a file holds beside its trees."""
