"""The reconstructed table, one row per leaf, and what disclosure control measures on it."""
