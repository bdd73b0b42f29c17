"""ONNX and PMML: models that were exported from some library."""
