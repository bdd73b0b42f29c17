"""Say what stands around private models, which are audited one at a time."""

from treeaudit.model.words import an
from treeaudit.readers.limits import clean
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.trained import is_trainer
from treeaudit.readers.walk import Place, Walk

_SEARCH = "PrivateSearch"
_SAVE = "treeaudit.trainers.save_trained"
_MOST_KINDS = 4


def around_private(root: object) -> str | None:
    """Say in one sentence what holds private models, and what to do; None where there are none.

    Examples
    --------
    >>> from treeaudit.readers.pickle.inert import Global
    >>> tree = Inert(Global("treeaudit.trainers.private_tree", "PrivateTreeClassifier", 0, True))
    >>> tree.state = {"forest_": {}}
    >>> vote = Inert(Global("sklearn.ensemble", "VotingClassifier", 0, True))
    >>> vote.state = {"estimators_": [tree]}
    >>> around_private(vote)  # doctest: +NORMALIZE_WHITESPACE
    "the file holds a VotingClassifier around private models (PrivateTreeClassifier), which
    treeaudit audits one at a time: save each with treeaudit.trainers.save_trained, or choose one
    with --select 'estimators_[0]'"
    """
    first: Place | None = None
    kinds: dict[str, None] = {}
    for place in Walk(root):
        one = place.value
        if not isinstance(one, Inert):
            continue
        if one.kind == _SEARCH and one.cls.module.startswith("treeaudit.trainers."):
            return _search(one)
        if is_trainer(one) and arrived(one.get("forest_")) is not None:
            first = first or place
            kinds[clean(one.kind[:60])] = None
    if first is None:
        return None
    return _around(first, list(kinds)[:_MOST_KINDS])


def _search(search: Inert) -> str:
    if arrived(search.get("best_estimator_")) is None:
        return f"the {_SEARCH} was never fitted: call fit, and save its best_estimator_"
    return (
        f"the file holds a {_SEARCH} around the model that it chose: save that alone, with "
        f"{_SAVE}(search.best_estimator_, 'model.json')"
    )


def _around(first: Place, kinds: list[str]) -> str:
    outer = [owner for owner in first.owners() if owner is not first.value]
    named = [owner for owner in outer if owner.kind != "Pipeline"] or outer
    holder = an(clean(named[-1].kind[:60])) if named else "containers"
    return (
        f"the file holds {holder} around private models ({', '.join(kinds)}), which treeaudit "
        f"audits one at a time: save each with {_SAVE}, or choose one with --select "
        f"{clean(first.path)!r}"
    )
