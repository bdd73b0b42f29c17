"""The fields of an ONNX file by their numbers: those that no ensemble needs, and types."""

from collections.abc import Mapping
from typing import Any

__all__ = ["OF_FUNCTION", "OF_GRAPH", "OF_MODEL", "OF_NODE", "OF_TENSOR", "SHAPE", "TYPE", "WIDTH"]

# Bytes of an element by its type; those that stand in varints take up to ten.
WIDTH = {1: 5, 2: 10, 3: 10, 4: 10, 5: 10, 6: 10, 7: 10, 9: 10, 10: 10, 11: 9, 12: 10, 13: 10}
OF_MODEL = {6: "doc_string", 14: "metadata_props", 20: "training_info", 26: "configuration"}
OF_GRAPH = {
    10: "doc_string",
    14: "quantization_annotation",
    15: "sparse_initializer",
    16: "metadata_props",
}
OF_FUNCTION = {8: "doc_string", 14: "metadata_props"}
OF_NODE = {6: "doc_string", 9: "metadata_props", 10: "device_configurations"}
OF_TENSOR = {12: "doc_string", 16: "metadata_props"}
SHAPE: Mapping[int, Any] = {1: {1: None, 2: "name"}}
_TENSOR: Mapping[int, Any] = {1: None, 2: SHAPE}


def _types(inner: Mapping[int, Any]) -> dict[int, Any]:
    return {1: _TENSOR, 4: {1: inner}, 5: {1: None, 2: inner}, 8: _TENSOR, 9: {1: inner}}


TYPE = _types(_types(_types({1: _TENSOR})))
