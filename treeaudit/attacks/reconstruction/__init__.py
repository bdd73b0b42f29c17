"""Certified reconstruction (TA108)."""
