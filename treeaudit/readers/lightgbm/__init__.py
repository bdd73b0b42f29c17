"""LightGBM models: the text form and the JSON dump."""
