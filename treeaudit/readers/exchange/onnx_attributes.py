"""What the attributes of an ONNX tree ensemble may hold: what their names say, and no more."""

from collections.abc import Mapping

import numpy as np

from treeaudit.readers.exchange.onnx_graph import Attribute

__all__ = ["LABELS", "n_numbers", "odd_attribute"]

_LONGEST_TEXT = 200
_CHOICES = frozenset(b"NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT AVERAGE SUM MIN MAX".split())
_COLUMNS = "nodeids featureids hitrates missing_value_tracks_true modes splits treeids values"
_EXPLAINED = frozenset(
    (
        *(f"nodes_{name}" for name in (*_COLUMNS.split(), "truenodeids", "falsenodeids")),
        *("nodes_trueleafs", "nodes_falseleafs", "tree_roots", "membership_values"),
        *(f"{of}_{name}" for of in ("class", "target") for name in "treeids nodeids ids".split()),
        *("class_weights", "target_weights", "leaf_weights", "leaf_targetids", "n_targets"),
        *("classlabels_strings", "classlabels_int64s", "base_values"),
        *("post_transform", "aggregate_function"),
    )
)
LABELS = frozenset({"classlabels_strings", "classlabels_int64s", "classlabels_ints"})
"""The attributes that name classes."""


def odd_attribute(name: str, attributes: Mapping[str, Attribute], operator: str) -> str | None:
    """Say what is odd about an attribute of an ensemble; None where nothing is.

    Parameters
    ----------
    name, attributes
        Which of its attributes.
    operator
        Which kind of ensemble it is.
    """
    attribute = attributes[name]
    if name.removesuffix("_as_tensor") not in _EXPLAINED:
        return "an attribute that no tree ensemble has"
    if name.startswith("nodes_hitrates") and _differ(attribute):
        return "how often each node was reached, which may count training records"
    if not _fits(name, attributes, operator):
        return "bytes in an attribute of the trees that they do not need"
    texts = [*attribute.strings, attribute.single or b""]
    if any(len(text) > _LONGEST_TEXT for text in texts if isinstance(text, bytes)):
        return "a text that is longer than a label"
    return None


def n_numbers(attribute: Attribute) -> int:
    """Return how many numbers an attribute holds."""
    return 0 if attribute.numbers is None else len(attribute.numbers)


def _differ(attribute: Attribute) -> bool:
    return attribute.numbers is not None and len(np.unique(attribute.numbers)) > 1


def _fits(name: str, attributes: Mapping[str, Attribute], operator: str) -> bool:
    """Tell whether an attribute is filled in as its name says, and no longer than needed."""
    attribute = attributes[name]
    kinds = [
        n_numbers(attribute) > 0,
        bool(attribute.strings) or attribute.modes is not None,
        attribute.single is not None,
    ]
    labels = [part for one, part in attributes.items() if one in LABELS]
    n_labels = max((n_numbers(part) + len(part.strings) for part in labels), default=0)
    stated = attributes["n_targets"].single if "n_targets" in attributes else 1
    most = max(n_labels, stated if isinstance(stated, int) else 1)
    if name.startswith("base_values"):
        return kinds[1:] == [False, False] and n_numbers(attribute) <= most
    if name in ("post_transform", "aggregate_function", "n_targets"):
        word = attribute.single
        return kinds[:2] == [False, False] and (isinstance(word, int) or word in _CHOICES)
    if name.startswith("membership_values"):
        return operator == "TreeEnsemble"
    return sum(kinds) <= 1
