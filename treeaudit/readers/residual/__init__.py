"""What a pickle holds about people beside its trees."""
