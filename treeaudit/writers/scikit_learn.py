"""A model as a fitted scikit-learn estimator of the installed version."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.model.words import an
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.residual.extra_content import is_plain
from treeaudit.readers.sklearn.ensembles import children
from treeaudit.readers.sklearn.histogram_boosting import read_histogram_boosting
from treeaudit.readers.sklearn.model_ref import Budget, FittedEnsemble, ModelRef
from treeaudit.readers.sklearn.models import members_of
from treeaudit.readers.sklearn.scikit_learn import last_step, to_forest
from treeaudit.readers.sklearn.tree_ensembles import read_trees
from treeaudit.writers import skops_bytes
from treeaudit.writers.attribute_allowlist import ALLOWED
from treeaudit.writers.canonical_record import as_fitted, is_learned
from treeaudit.writers.estimators import BUILDERS, Live, estimator_of, labels_of, with_parameters
from treeaudit.writers.in_place import SKOPS, in_place, is_in_place
from treeaudit.writers.in_place import to_pickle as by_record
from treeaudit.writers.node_tables import JSON
from treeaudit.writers.pickle_bytes import type_alone
from treeaudit.writers.tree_records import places_in

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


VOTES = frozenset({"VotingClassifier", "VotingRegressor"})
_ENOUGH = 1 << 62


def vote(forest: Forest, found: ModelRef, write: Callable[[Forest], Live]) -> Live:
    """Return the vote of the models that the trees of a forest belong to."""
    kind = found.estimator.kind
    others = members_of(found).others
    if others:
        raise UnsupportedModelError(
            f"{an(kind)} with {others[0].estimator.kind}, which has no trees, cannot be written as "
            f"a scikit-learn estimator: choose one of its models with --select, or {JSON}"
        )
    voters, at = [], 0
    original = to_forest(found, Source(), _ENOUGH)
    for child in children(found):
        whole = to_forest(last_step(child), Source(), _ENOUGH)
        part = _part(forest, whole, at, changed=forest.counts_are != original.counts_are)
        voters.append(_behind(write(part), len(found.before)))
        at += whole.n_trees
    if at != forest.n_trees:
        raise UnsupportedModelError(f"the {kind} lost trees of some of its models: {JSON}")
    return _voting(forest, found, voters)


def _part(forest: Forest, whole: Forest, start: int, *, changed: bool) -> Forest:
    """Return what became of one of the models, with the numbers of classes as its labels."""
    if whole.schema.features != forest.schema.features:
        raise UnsupportedModelError(
            f"the models of {an(forest.source.estimator)} that take different columns cannot be "
            f"written together: choose one of them with --select, or {JSON}"
        )
    classes, weights, trees = forest.schema.classes, forest.class_weights, forest.trees
    if whole.schema.classes != classes:
        raise UnsupportedModelError(
            f"the models of the {forest.source.estimator} know different classes: {JSON}"
        )
    numbers = None if classes is None else tuple(range(len(classes)))
    return replace(
        whole,
        trees=LazyTrees(lambda i: trees[start + i], whole.n_trees),
        schema=replace(whole.schema, classes=numbers),
        counts_are=forest.counts_are if changed else whole.counts_are,
        n_records=forest.n_records,
        class_weights=None if weights is None else weights[start : start + whole.n_trees],
    )


def _behind(made: Live, n_steps: int) -> Live:
    """Leave out the steps that stand before the vote, and so before all of them."""
    if not n_steps:
        return made
    return made[n_steps:] if len(made.steps) > n_steps + 1 else made.steps[-1][1]


def _voting(forest: Forest, found: ModelRef, voters: list[Live]) -> Live:
    import sklearn.ensemble
    from sklearn.base import clone
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils import Bunch

    left = iter(voters)
    named = [(name, next(left) if votes else "drop") for name, votes in _names(found)]
    stated = [(name, one if one == "drop" else clone(one)) for name, one in named]
    made = getattr(sklearn.ensemble, found.estimator.kind)(stated)
    with_parameters(made, {**forest.source.parameters, "weights": _weights(found)})
    made.estimators_ = voters
    made.named_estimators_ = Bunch(**dict(named))
    if forest.schema.classes is not None:
        labels = labels_of(forest.schema.classes)
        made.le_ = LabelEncoder().fit(labels)
        made.classes_ = made.le_.classes_
        if made.classes_.tolist() != labels.tolist():
            raise UnsupportedModelError(f"the labels of the vote are not sorted: {JSON}")
    if hasattr(voters[0], "feature_names_in_"):
        made.feature_names_in_ = voters[0].feature_names_in_
    return made


def _names(found: ModelRef) -> list[tuple[str, bool]]:
    """Return what the models are called, and whether each of them votes."""
    stored = found.get("estimators")
    pairs = [one for one in stored if isinstance(one, tuple)] if isinstance(stored, list) else []
    names = [(str(name), isinstance(arrived(one), Inert)) for name, one in pairs]
    n_voters = sum(1 for _ in children(found))
    if sum(votes for _, votes in names) != n_voters or len(dict(names)) != len(names):
        raise UnsupportedModelError(f"the vote does not tell what its models are called: {JSON}")
    return names


def _weights(found: ModelRef) -> list[float] | None:
    stored = found.get("weights")
    if stored is None:
        return None
    try:
        weights: list[float] = np.asarray(stored, dtype=np.float64).tolist()
    except (TypeError, ValueError):
        raise UnsupportedModelError(f"the weights of the vote are no numbers: {JSON}") from None
    return weights


def encoded(forest: Forest, found: ModelRef) -> Forest:
    """Return the forest over the columns that its estimator saw."""
    budget = Budget(_ENOUGH)
    kind = found.estimator.kind
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    ensemble: FittedEnsemble = read(found, budget)
    if not found.before:
        return replace(forest, schema=replace(ensemble.schema, classes=forest.schema.classes))
    whole = to_forest(found, Source(), _ENOUGH)
    trees = forest.trees
    if whole.n_trees < len(trees):
        raise UnsupportedModelError("the model has more trees than the file it was read from")

    def build(i: int) -> Tree:
        tree = trees[i]
        seen, inside = whole.trees[i], ensemble.build(i)
        place = places_in(tree, seen)
        return replace(
            tree,
            feature=inside.feature[place],
            low=inside.low[place],
            high=inside.high[place],
            categories=None,
            missing=None if inside.missing is None else inside.missing[place],
        )

    return replace(
        forest,
        trees=LazyTrees(build, len(trees)),
        schema=replace(ensemble.schema, classes=forest.schema.classes),
        single_precision=ensemble.single_precision,
    )


TRANSFORMERS: Mapping[str, str] = {
    "ColumnTransformer": "compose",
    "FeatureUnion": "pipeline",
    "FunctionTransformer": "preprocessing",
    "KBinsDiscretizer": "preprocessing",
    "MaxAbsScaler": "preprocessing",
    "MinMaxScaler": "preprocessing",
    "OneHotEncoder": "preprocessing",
    "OrdinalEncoder": "preprocessing",
    "Pipeline": "pipeline",
    "RobustScaler": "preprocessing",
    "SimpleImputer": "impute",
    "StandardScaler": "preprocessing",
    "VarianceThreshold": "feature_selection",
}
"""Steps that are rebuilt, and the module of scikit-learn that offers them."""

_LONGER = frozenset(
    "categories drop dtype feature_range func inverse_func n_bins quantile_range remainder steps "
    "transformer_list transformer_weights transformers".split()
)
"""Parameters that are more than a number or a short text; a function that is none takes no
arguments."""
_OUTPUT = "_sklearn_output_config"

_DEEPEST = 12
_LONGEST = 200
_NUMPY = frozenset("float32 float64 int32 int64 bool_ object_ str_".split())


def live_step(step: object, version: str | None) -> Any:  # noqa: ANN401
    """Return a fitted transformer of the installed scikit-learn."""
    import sklearn

    if version is not None and version.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        raise UnsupportedModelError(
            f"the steps before the tree were fitted by scikit-learn {version}, installed is "
            f"{sklearn.__version__}: install scikit-learn {version}, or {JSON}"
        )
    return _live(step, 0)


def _live(value: object, depth: int) -> Any:  # noqa: ANN401
    value = arrived(value)
    if depth > _DEEPEST:
        raise UnsupportedModelError(f"a step of the pipeline is nested too deeply: {JSON}")
    match value:
        case None | bool() | int() | float() | str() | np.generic():
            return value
        case list():
            return [_live(each, depth + 1) for each in value]
        case tuple():
            return tuple(_live(each, depth + 1) for each in value)
        case dict():
            return {_live(k, depth + 1): _live(v, depth + 1) for k, v in value.items()}
        case np.ndarray() if value.dtype != object:
            return np.array(value)
        case np.ndarray():
            flat = [_live(each, depth + 1) for each in value.ravel().tolist()]
            made = np.empty(len(flat), dtype=object)
            made[:] = flat
            return made.reshape(value.shape)
        case DType():
            return type_alone(value)
        case Global() if value.module == "numpy" and value.name in _NUMPY:
            return getattr(np, value.name)
        case Inert():
            return _object(value, depth)
        case _:
            raise _refused(value)


def _object(value: Inert, depth: int) -> Any:  # noqa: ANN401
    module = value.cls.module.split(".")
    if value.kind == "slice" and module[0] in ("builtins", "__builtin__"):
        if not value.args:
            raise _refused(value.cls)
        return slice(*(_live(part, depth + 1) for part in value.args))
    if value.kind == "_RemainderColsList" and module[0] == "sklearn":
        return _live(value.attributes.get("data"), depth + 1)
    if module[0] != "sklearn" or value.kind not in TRANSFORMERS:
        raise _refused(value.cls)
    offered = import_module(f"sklearn.{TRANSFORMERS[value.kind]}")
    kind = getattr(offered, value.kind)
    made = kind([]) if value.kind in _ASKING else kind()
    parameters = set(made.get_params(deep=False))
    fitted = {name for name in ALLOWED[value.kind] if is_learned(name)} - {"_sklearn_version"}
    for name, each in value.attributes.items():
        setting = name in parameters and (name in _LONGER or is_plain(arrived(each), _LONGEST))
        if not setting and name not in fitted and not (name == _OUTPUT and _is_output(each)):
            continue
        if name in ("func", "inverse_func") and each is not None:
            raise _refused(each)
        if name.endswith("random_state"):
            each = None
        if name == "transformers" and value.kind == "ColumnTransformer":
            each = as_fitted(value, each)
        setattr(made, name, _live(each, depth + 1))
    return made


def _is_output(value: object) -> bool:
    """Tell whether this is what `set_output` stores."""
    return value in [{"transform": form} for form in ("default", "pandas", "polars")]


_ASKING = frozenset({"ColumnTransformer", "FeatureUnion", "Pipeline"})


def _refused(value: object) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the pipeline holds {show(value)}, which is not rebuilt (known steps: "
        f"{', '.join(TRANSFORMERS)}): {JSON}"
    )
