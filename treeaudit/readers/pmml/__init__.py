"""PMML tree models."""
