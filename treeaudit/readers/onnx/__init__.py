"""ONNX tree ensembles."""
