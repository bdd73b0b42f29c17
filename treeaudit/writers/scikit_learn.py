"""A model as a fitted scikit-learn estimator of the installed version."""

from io import BytesIO
from typing import Any

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.words import an
from treeaudit.readers.sklearn.model_ref import ModelRef
from treeaudit.writers import skops_bytes
from treeaudit.writers.binary import JSON
from treeaudit.writers.encoded import encoded
from treeaudit.writers.estimators import BUILDERS, estimator_of
from treeaudit.writers.in_place import SKOPS, in_place, is_in_place
from treeaudit.writers.in_place import to_pickle as by_record
from treeaudit.writers.steps import live_step
from treeaudit.writers.votes import VOTES, vote

_LIKE = "scikit-learn estimator"


def to_estimator(forest: Forest) -> Any:  # noqa: ANN401  # scikit-learn has no types
    """Return a model as a fitted estimator of the installed scikit-learn.

    It predicts, pickles and clones, and stands in the same pipeline as the
    model did. It is put together from the trees: seeds, impurities of
    regressors, out-of-bag tables, training scores and histogram bins of the
    original are not in it.

    Parameters
    ----------
    forest
        A model that was read from scikit-learn, or whose ``source.estimator``
        names a tree, forest or bag.

    Raises
    ------
    UnsupportedModelError
        If scikit-learn has no such model, or it cannot be put together from
        what was read; names what can be written.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> again = to_estimator(ta.load(tree))
    >>> bool((again.predict(X) == tree.predict(X)).all()), again.random_state
    (True, None)
    """
    found = forest.source.stored
    kind = forest.source.estimator
    stored = isinstance(found, ModelRef) and found.estimator.kind == kind
    if isinstance(found, ModelRef) and stored and kind in VOTES:
        return _behind_steps(found, vote(forest, found, to_estimator), forest)
    _refuse(forest)
    if not isinstance(found, ModelRef):
        return estimator_of(forest, None)
    if not stored:
        raise UnsupportedModelError(f"{an(kind)} cannot be written as a {_LIKE}: {JSON}")
    if not found.before:
        return estimator_of(forest, found.estimator)
    return _behind_steps(found, estimator_of(encoded(forest, found), found.estimator), forest)


def _refuse(forest: Forest) -> None:
    """Refuse what is more than the trees that were read."""
    kind, found = forest.source.estimator, forest.source.stored
    if forest.members or (forest.tree_classes is not None and forest.answers != "sum"):
        raise UnsupportedModelError(
            f"{an(kind)} cannot be written as a {_LIKE}: its answers are more than its trees; "
            f"save it as a pickle, choose one of its models with --select, or {JSON}"
        )
    if not isinstance(found, ModelRef):
        return
    outputs = found.get("n_outputs_")
    if isinstance(outputs, int) and outputs > 1:
        raise UnsupportedModelError(
            f"{an(kind)} of {outputs} outputs cannot be written as a {_LIKE}: {JSON}"
        )
    if found.seen.note:
        raise UnsupportedModelError(
            f"{an(kind)} inside {found.inside} cannot be written alone ({found.seen.note}): {JSON}"
        )


def _behind_steps(found: ModelRef, made: Any, forest: Forest) -> Any:  # noqa: ANN401
    """Return the model behind the steps that it stood behind."""
    if not found.before:
        return made
    from sklearn.pipeline import Pipeline

    steps = [live_step(step, forest.source.library_version) for step in found.before]
    return Pipeline(list(zip(found.step_names, [*steps, made], strict=True)))


def to_pickle(forest: Forest) -> bytes:
    """Return the pickle of the model: of the version that wrote it, where it was in one."""
    import pickle

    if is_in_place(forest):
        return by_record(forest)
    return pickle.dumps(to_estimator(forest), protocol=4)


def to_joblib(forest: Forest) -> bytes:
    """Return the joblib file of the model; joblib reads a plain pickle, too."""
    import joblib

    if is_in_place(forest):
        return by_record(forest)
    file = BytesIO()
    joblib.dump(to_estimator(forest), file)
    return file.getvalue()


def to_skops(forest: Forest) -> bytes:
    """Return the skops file of the model: of the version that wrote it, where it was in one."""
    if is_in_place(forest):
        if forest.source.format == SKOPS:
            return skops_bytes.dumps(in_place(forest))
        if forest.source.estimator not in (*BUILDERS, *VOTES):
            raise UnsupportedModelError(
                f"{an(forest.source.estimator)} is written back as a skops file only where it was "
                "read from one: write a pickle (-o model.pkl)"
            )
    try:
        from skops.io import dumps as by_skops
    except ImportError:
        raise UnsupportedModelError(
            "a skops file is written by the library skops: pip install skops, or write a pickle "
            "(-o model.pkl)"
        ) from None
    data: bytes = by_skops(to_estimator(forest))
    return data
