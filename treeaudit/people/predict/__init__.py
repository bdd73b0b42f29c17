"""What a model answers, and how boosted scores follow from labels."""
