"""How the inert record of a scikit-learn model becomes a forest."""
