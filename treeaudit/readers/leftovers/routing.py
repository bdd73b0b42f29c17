"""What scikit-learn writes into estimators of all kinds: routed metadata, and forms of output."""

from collections.abc import Set
from typing import cast

from treeaudit.readers.leftovers.attributes import is_name
from treeaudit.readers.leftovers.searches import is_fitted_name
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.walk import Place

__all__ = ["said_by", "stated_by", "written_by_all"]

_OUTPUTS = frozenset(("default", "pandas", "polars"))
_METHODS = frozenset(
    (
        "fit partial_fit predict predict_proba predict_log_proba decision_function score split "
        "transform inverse_transform"
    ).split()
)
_METADATA = frozenset(("sample_weight", "groups", "person"))
_REQUEST, _OF_METHOD = "MetadataRequest", "MethodMetadataRequest"
_MODULES = ("sklearn.utils._metadata_requests", "sklearn.utils.metadata_routing")
_SCORERS = "sklearn.metrics._scorer"
_MOST_REQUESTED = 8


def written_by_all(name: str, value: object, model: Inert, texts: Set[str]) -> list[object]:
    """Return the parts of what scikit-learn wrote, owners among them; none where it did not.

    Parameters
    ----------
    name, value
        The attribute: `_metadata_request` or `_sklearn_output_config`.
    model
        Whose it is.
    texts
        Names of the models of the file, which may also be those of metadata.

    Examples
    --------
    >>> from treeaudit.readers.pickles.inert import Global
    >>> model = Inert(Global("sklearn.tree", "DecisionTreeClassifier", 0, True))
    >>> config = [{"transform": "pandas"}, {"transform": 331}, {"no": "pandas"}]
    >>> [len(written_by_all("_sklearn_output_config", one, model, set())) for one in config]
    [1, 0, 0]
    >>> written_by_all("_metadata_request", {"exact": {"no": 331}}, model, set())
    []
    """
    if name == "_metadata_request":
        return _requests(value, model, texts)
    if not isinstance(value, dict) or not value.keys() <= {"transform"}:
        return []
    known = all(isinstance(one, str) and one in _OUTPUTS for one in value.values())
    return [value] if known else []


def said_by(written: list[object]) -> tuple[str, int]:
    """Return what the parts of `written_by_all` say, and how many letters are of names of metadata.

    Examples
    --------
    >>> said_by([{"sample_weight": True, "eval_set": "gini"}])
    ("[[('sample_weight', True), ('eval_set', 'gini')]]", 12)
    """
    parts = [list(part.items()) for part in written if isinstance(part, dict)]
    texts = [one for part in parts for pair in part for one in pair if isinstance(one, str)]
    told = [one for one in texts if one not in _METADATA | _OUTPUTS]
    methods = [str(part.get("method")) for part in written if isinstance(part, Inert)]
    said = str([parts, methods]) if methods else str(parts)
    return said, sum(map(len, told))


def stated_by(place: Place) -> Inert:
    """Return the estimator that an object has to agree with: itself, or the one copied from it.

    Parameters
    ----------
    place
        Where the object stands; a copy keeps what it was copied from as an owner of its requests.
    """
    above = place.above
    copied = above is not None and place.step == "_metadata_request.owner"
    return cast("Inert", above.value if copied and above is not None else place.value)


def _fields(value: object, kind: str) -> dict[object, object] | None:
    """Return what an object of scikit-learn's routing holds, where it is of this kind."""
    if not isinstance(value, Inert) or value.kind != kind or value.cls.module not in _MODULES:
        return None
    if value.args or value.items or value.pairs or not isinstance(value.state, dict):
        return None
    return {key: arrived(part) for key, part in value.state.items()}


def _requests(value: object, model: Inert, texts: Set[str]) -> list[object]:
    """Return the parts of a request of metadata: methods, names, and whether they are wanted."""
    held = _fields(value, _REQUEST)
    if held is None or not _METHODS.issuperset(held.keys() - {"owner"}):
        return []
    parts: list[object] = [value]
    for name, each in held.items():
        if name == "owner":
            if not _is_owner(each, model):
                return []
            continue
        told = _fields(each, _OF_METHOD)
        if told is None or told.keys() != {"_requests", "owner", "method"}:
            return []
        wanted = told["_requests"]
        if told["method"] != name or not _is_owner(told["owner"], model):
            return []
        if not isinstance(wanted, dict) or len(wanted) > _MOST_REQUESTED:
            return []
        if not all(_is_known(key, texts) for key in wanted):
            return []
        if not all(isinstance(a, bool | None) or _is_known(a, texts) for a in wanted.values()):
            return []
        parts += [each, wanted, told["owner"]]
    return [*parts, held.get("owner", model)]


def _is_owner(value: object, model: Inert) -> bool:
    # The estimator itself, and of scikit-learn before 1.8 its class.
    # A copy refers to what it was copied from, and the scorer of a curve to that of a number.
    if isinstance(value, Inert):
        alike = value.cls == model.cls or value.cls.module == model.cls.module == _SCORERS
        return value is model or (alike and not any(map(is_fitted_name, value.attributes)))
    return isinstance(value, str) and value == model.kind


def _is_known(text: object, texts: Set[str]) -> bool:
    return isinstance(text, str) and (is_name(text) or text in _METADATA or text in texts)
