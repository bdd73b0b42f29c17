"""What a file gives away beyond its trees."""
