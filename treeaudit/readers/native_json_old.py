"""How models answer and are noisy whose JSON is older than the fields that say so.

Nothing else goes by the name of an estimator, and no new name comes here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeaudit.dp.ledger import Ledger
from treeaudit.model.forest import Answers, Noise

_ANSWERS: Mapping[str, Answers] = {
    **dict.fromkeys(
        "Tree DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor "
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
        "BaggingClassifier BaggingRegressor".split(),
        "mean",
    ),
    "DPDFClassifier": "confidence",
    "SmoothSensitivityForestClassifier": "vote",
}
_GREEDY = ("leaf counts", Noise(rate=1, counts="leaves", afterwards=("shrunk", "clipped")))
_NOISE: Mapping[str, tuple[str, Noise]] = {
    "PrivateTreeClassifier": _GREEDY,
    "PrivateForestClassifier": _GREEDY,
    "DiffPID3Classifier": (
        "leaf counts",
        Noise(rate=1, counts="leaves", afterwards=("clipped", "scaled")),
    ),
    "DPDFClassifier": ("tree 1: classes of level 1", Noise(rate=1, counts="nodes")),
}
"""The query that the counts of the leaves came from, and their noise, whose rate it gives."""


def answers_of_old(estimator: str, library: str) -> Answers:
    """Return how a model answers; private models did so by the mean unless named.

    Examples
    --------
    >>> answers_of_old("DPDFClassifier", "treeaudit"), answers_of_old("XGBClassifier", "XGBoost")
    ('confidence', 'unknown')
    """
    return _ANSWERS.get(estimator, "mean" if library == "treeaudit" else "unknown")


def noise_of_old(estimator: str, privacy: Mapping[str, Any] | None) -> Noise | None:
    """Return the noise in the counts of a private model, None where its ledger does not tell."""
    if estimator not in _NOISE or "queries" not in (privacy or {}):
        return None
    name, noise = _NOISE[estimator]
    asked = [query for query in Ledger.from_plain(privacy or {}).queries if query.name == name]
    if not asked:
        return None
    used = asked[0].epsilon if asked[0].used is None else asked[0].used
    # The sensitivity of a query already counts what a replaced person moves.
    return replace(noise, rate=float(used / asked[0].sensitivity))
