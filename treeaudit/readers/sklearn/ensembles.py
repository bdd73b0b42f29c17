"""What a model made of models holds, and what it gave each of them to learn from.

The members of an ensemble do not all see what the ensemble was given: a bag
picks rows and columns, a vote numbers the classes, one-vs-rest asks each member
for one class. `children` says so for every member, from what the file states.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Array, Flag
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.schema import Label
from treeaudit.readers.limits import Deepest, Most, clean, show
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.model_ref import (
    Bootstrap,
    ModelRef,
    Rows,
    TrainingContext,
    check_labels,
    class_labels,
    elements,
    is_tree,
)

TREES = frozenset(
    "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor".split()
)
FORESTS = frozenset(
    "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
    "RandomTreesEmbedding".split()
)
BAGS = frozenset("BaggingClassifier BaggingRegressor IsolationForest".split())
SEARCHES = frozenset(
    "GridSearchCV RandomizedSearchCV HalvingGridSearchCV HalvingRandomSearchCV".split()
)
BOOSTINGS = frozenset(
    "GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier "
    "HistGradientBoostingRegressor".split()
)
_TAKE_WEIGHTS = TREES | FORESTS | BOOSTINGS | {"AdaBoostClassifier"}
# Where a model takes the labels of its answers from; what `classes_` says has to be the same.
_ENCODERS = ("le_", "_label_encoder", "label_binarizer_")
# Their members answer with a label; others with a place among the labels.
_BY_LABEL = frozenset({"AdaBoostClassifier", "SelfTrainingClassifier"})
_BY_PLACE = frozenset({"OneVsRestClassifier", "OneVsOneClassifier", "OutputCodeClassifier"})
_FEW = 6
_SAMPLED = "a sampler left people out, repeated them or made some up before the trees saw the rest"
# They answer as what they hold.
_THROUGH = SEARCHES | {"Pipeline", "FrozenEstimator"}
_CONSTANT = re.compile("Dummy|(PriorProbability|(Scaled)?LogOdds|Quantile|Mean|Zero)Estimator$")


def children(found: ModelRef) -> Iterator[ModelRef]:
    """Yield the fitted models that a model holds, each with what it was given."""
    held = _HOLD.get(kind := found.estimator.kind)
    encoders = [one for name in _ENCODERS if (one := found.get(name)) is not None]
    told = class_labels(found.estimator) if held or encoders else None
    for encoder in encoders:
        check_labels(told, class_labels(encoder))
    samplers = elements(found.get("samplers_"))
    for child in held(found) if held else ():
        if child is None:
            continue
        if samplers:
            child = replace(child, seen=_after_sampler(child.seen, samplers[0]))
        if kind in _BY_LABEL:
            check_labels(told, _own_labels(child))
        elif kind in _BY_PLACE:
            _check_places(_own_labels(child), 2, {0, -1} if kind == "OutputCodeClassifier" else {0})
        elif kind == "VotingClassifier" and told and found.get("voting") == "hard":
            _check_places(_own_labels(child), len(told), {0})
        yield child


def _check_places(own: list[object] | None, n: int, lowest: set[int]) -> None:
    """Make sure that a member answers with places; with a word it would answer nobody."""
    if own and all(isinstance(label, int | float) for label in own):
        if len(set(own)) < len(own):
            raise ReadError("the model is inconsistent: a class stands twice among its classes")
        first = own[0] if own[0] in lowest else 0
        check_labels([first, *range(1, n)], own)


def _own_labels(found: ModelRef) -> list[object] | None:
    """Return the labels that a model answers with, which one around it may not store."""
    for _ in range(Deepest.models):
        inner = _HOLD.get(found.estimator.kind)
        own = class_labels(found.estimator)
        if own is not None or inner is None or found.estimator.kind not in _THROUGH:
            return own
        below = next(inner(found), None)
        if below is None:
            return None
        found = below
    return None


def steps_of(pipeline: Inert) -> list[tuple[object, object]]:
    """Return the names and steps of a pipeline."""
    stored = pipeline.get("steps")
    pairs = stored if isinstance(stored, list) else []
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, tuple) and len(pair) == 2]


Refs = Iterator[ModelRef | None]


def _each(found: ModelRef, seen: Callable[[int], TrainingContext]) -> Refs:
    """Yield the members of the usual list, each with what it was given."""
    for i, member in enumerate(elements(found.get("estimators_"))):
        yield found.child(member, f"estimators_[{i}]", seen(i))


def _one_vs_rest(found: ModelRef) -> Refs:
    """Yield one model per class, which knows it and all others as one."""
    classes, given = found.classes or (), found.given
    if len(classes) == 2 and len(elements(found.get("estimators_"))) == 1:
        return _each(found, lambda i: given)

    def seen(i: int) -> TrainingContext:
        its = str(classes[i]) if i < len(classes) else f"class {i}"
        return replace(given, labels=(f"not {its}", its), own_labels=True)

    return _each(found, seen)


def _one_vs_one(found: ModelRef) -> Refs:
    """Yield one model per pair of classes, trained on their rows alone."""
    classes, given = found.classes or (), found.given.after("some")
    pairs = ((a, b) for i, a in enumerate(classes) for b in classes[i + 1 :])
    for i, member in enumerate(elements(found.get("estimators_"))):
        seen = replace(given, labels=next(pairs, ("the first", "the second")))
        yield found.child(member, f"estimators_[{i}]", seen)


def _output_code(found: ModelRef) -> Refs:
    """Yield one model per column of the code book."""
    classes, book, given = found.classes or (), found.get("code_book_"), found.given
    bits = np.zeros((0, 0), dtype=np.bool_)
    if isinstance(book, np.ndarray) and book.dtype.kind in "biuf" and book.ndim == 2:
        bits = book > 0 if len(book) == len(classes) else bits
        # The nearest row is the answer: other numbers would move it.
        low = {0} if any(is_tree(one) for one in elements(found.get("estimators_"))) else {0, -1}
        zeros = set(book[book != 1].tolist())
        if len(zeros) > 1 or not zeros <= low:
            raise ReadError("the code book of the model is damaged: it has other numbers")

    def seen(i: int) -> TrainingContext:
        labels: tuple[Label, ...] = ("its zeros", "its ones")
        if i < bits.shape[1]:
            labels = (_either(classes, ~bits[:, i]), _either(classes, bits[:, i]))
        return replace(given, labels=labels, own_labels=True)

    return _each(found, seen)


def _either(classes: tuple[Label, ...], chosen: Flag) -> str:
    """Name some classes, as many as one reads."""
    places = np.flatnonzero(chosen).tolist()
    names = [show(str(classes[i]), 40).strip("'") for i in places[:_FEW]]
    names += [f"{len(places) - _FEW} others"] if len(places) > _FEW else []
    return " or ".join(names) or "nobody"


def _outputs(found: ModelRef) -> Refs:
    """Yield one model per target; in a chain it also sees the targets before."""
    order = found.get("order_")
    chain = found.estimator.kind.endswith("Chain")
    if isinstance(order, np.ndarray):
        order = order.ravel().tolist()
    targets = [t for t in order if isinstance(t, int)] if isinstance(order, list) else []
    names = found.given.names
    if chain and len(elements(found.get("estimators_"))) > Most.chain:
        raise ModelTooLargeError(f"a chain of more than {Most.chain:,} models")

    def name(i: int) -> str:
        return f"output {targets[i] if chain and i < len(targets) else i}"

    def seen(i: int) -> TrainingContext:
        added = tuple(name(k) for k in range(i)) if chain else ()
        return replace(
            found.seen, names=names, added=added, labels=None, own_labels=True, target=name(i)
        )

    return _each(found, seen)


def _forest(found: ModelRef) -> Refs:
    if found.get("bootstrap") is not True:
        return _all(found)
    class_weight = found.get("class_weight")
    # Since 1.9 weights steer the draw and do not weigh what is drawn.
    steered = "_sample_weight" in found.estimator.attributes
    if isinstance(class_weight, str) and class_weight == "balanced_subsample":
        steered = False
    draw = Bootstrap(
        n=found.get("_n_samples_bootstrap"), class_weight=class_weight, steered=steered
    )
    seen = found.given.after("bootstrap", draw)
    return _each(found, lambda i: seen)


def _seen_in_bag(found: ModelRef, given: TrainingContext, member: Inert) -> TrainingContext:
    """Return what one member of a bag was given, its columns aside."""
    if found.get("bootstrap") is not True:
        n = found.get("_n_samples")
        everybody = isinstance(n, int) and found.get("_max_samples") == n
        return given.after("all" if everybody else "some")
    class_weight = arrived(member.get("class_weight"))
    # Since 1.8, as in forests; but the weights of a member's own classes stay.
    steered = "_sample_weight" in found.estimator.attributes and class_weight is None
    draw = Bootstrap(n=found.get("_max_samples"), class_weight=class_weight, steered=steered)
    # What takes weights gets each row with its number of draws; anything else gets copies.
    rows: Rows = "bootstrap" if member.kind in _TAKE_WEIGHTS else "repeated"
    return given.after(rows, draw)


def _all(found: ModelRef) -> Refs:
    given = found.given
    return _each(found, lambda i: given)


def _held_as(name: str, rows: Rows = "all") -> Callable[[ModelRef], Refs]:
    def held(found: ModelRef) -> Refs:
        yield found.child(found.get(name), name, found.given.after(rows))

    return held


def _threshold(found: ModelRef) -> Refs:
    note = "the model around it answers from a threshold of its own"
    yield found.child(found.get("estimator_"), "estimator_", replace(found.given, note=note))


def _transformed_target(found: ModelRef) -> Refs:
    seen = found.given
    back = found.get("transformer_")
    same = isinstance(back, Inert) and back.kind == "FunctionTransformer"
    stated = [found.get("func"), found.get("transformer"), found.get("inverse_func")]
    if isinstance(back, Inert):
        # What it answers with goes through this one, whatever it was asked for.
        stated += [back.get("inverse_func")] if same else [back]
    if any(one is not None for one in stated):
        seen = replace(seen, note="the numbers in its leaves are in units of the changed target")
    yield found.child(found.get("regressor_"), "regressor_", seen)


def _pipeline(found: ModelRef) -> Refs:
    steps = steps_of(found.estimator)
    if steps:
        kept = [one for one in steps[:-1] if not _is_sampler(one[1])]
        seen = found.seen
        for _, step in steps[:-1]:
            seen = _after_sampler(seen, step)
        names = (*found.step_names[:-1], *(clean(name) for name, _ in (*kept, steps[-1])))
        before = (*found.before, *(step for _, step in kept))
        inner = replace(found, before=before, step_names=names)
        yield inner.child(steps[-1][1], f"steps[{show(steps[-1][0])}]", seen)


def _is_sampler(step: object) -> bool:
    """Tell whether a step changes the rows of the training, and no column."""
    step = arrived(step)
    return isinstance(step, Inert) and "sampling_strategy" in step.attributes


def _after_sampler(seen: TrainingContext, step: object) -> TrainingContext:
    """Return what is left of the rows behind a step, if that is a sampler."""
    step = arrived(step)
    if not isinstance(step, Inert) or not _is_sampler(step):
        return seen
    under = ".under_sampling." in step.cls.module and step.get("replacement") is not True
    return replace(seen.after("some" if under else "repeated"), note=_SAMPLED)


def _stacking(found: ModelRef) -> Refs:
    yield from _all(found)
    apart = replace(found.given, apart="its columns are what the others predict", names=None)
    last = replace(found, before=())
    yield last.child(found.get("final_estimator_"), "final_estimator_", apart)


def _gradient_boosting(found: ModelRef) -> Refs:
    start = found.get("init_")
    # A constant, whatever the version calls it, is nothing to look into.
    if isinstance(start, Inert) and not _CONSTANT.match(start.kind):
        apart = replace(found.given, apart="the boosting starts from it")
        yield found.child(start, "init_", apart)


def _bag(found: ModelRef) -> Refs:
    members: list[Inert] = []
    for i, one in enumerate(elements(found.get("estimators_"))):
        if not isinstance(one, Inert):
            raise ReadError(f"estimators_[{i}] of the {found.estimator.kind} is no model")
        members.append(one)
    stored = found.get("estimators_features_")
    # Members without a choice, or beyond the choices, would answer nobody.
    if stored is not None and not (isinstance(stored, list) and len(stored) == len(members)):
        raise ReadError("the bag is damaged: it does not tell which columns its members saw")
    chosen = elements(stored)
    width = found.get("n_features_in_") or found.get("n_features_")
    # An isolation forest that sees every column does not look at the choice.
    fixed = found.estimator.kind == "IsolationForest" and found.get("_max_features") == width
    given = found.given
    for i, member in enumerate(members):
        picked = chosen[i] if i < len(chosen) else None
        inner = found
        if isinstance(picked, np.ndarray) and isinstance(width, int) and not _all_of(picked, width):
            inside = picked.dtype.kind in "iu" and picked.ndim == 1
            if not inside or fixed or ((picked < 0) | (picked >= width)).any():
                raise ReadError("the bag is damaged: a member saw columns that cannot be")
            inner = replace(found, before=(*found.before, _pick(picked, width)))
        yield inner.child(member, f"estimators_[{i}]", _seen_in_bag(found, given, member))


def _all_of(chosen: Array, width: int) -> bool:
    return chosen.shape == (width,) and np.array_equal(chosen, np.arange(width))


def _pick(chosen: object, width: int) -> Inert:
    """Say a choice of columns as the step that would make it."""
    name = Global("sklearn.compose", "ColumnTransformer", 0, True)
    picked = [("chosen", "passthrough", chosen)]
    return Inert(cls=name, state={"transformers_": picked, "n_features_in_": width})


def _adaboost(found: ModelRef) -> Refs:
    given = found.given
    return _each(found, lambda i: given.after("first" if i == 0 else "later"))


def _adaboost_of_numbers(found: ModelRef) -> Refs:
    seen = found.given.after("repeated")
    return _each(found, lambda i: seen)


def _calibrated(found: ModelRef) -> Refs:
    folds = elements(found.get("calibrated_classifiers_"))
    given = found.given.after("some" if len(folds) > 1 else "all")
    if len({id(fold) for fold in folds}) < len(folds):
        raise ReadError("the model is inconsistent: a calibrated classifier is there twice")
    told = class_labels(found.estimator)
    for i, fold in enumerate(folds):
        if isinstance(fold, Inert):
            if fold.get("classes") is not None:
                check_labels(told, class_labels(fold, "classes") or [])
            name = "estimator" if fold.get("estimator") is not None else "base_estimator"
            yield found.child(fold.get(name), f"calibrated_classifiers_[{i}].{name}", given)


_HOLD: Mapping[str, Callable[[ModelRef], Refs]] = {
    **dict.fromkeys(FORESTS, _forest),
    **dict.fromkeys(BAGS, _bag),
    **dict.fromkeys(SEARCHES, _held_as("best_estimator_")),
    "Pipeline": _pipeline,
    "FrozenEstimator": _held_as("estimator"),
    "TransformedTargetRegressor": _transformed_target,
    "FixedThresholdClassifier": _threshold,
    "TunedThresholdClassifierCV": _threshold,
    "SelfTrainingClassifier": _held_as("estimator_", "some"),
    "VotingClassifier": _all,
    "VotingRegressor": _all,
    "StackingClassifier": _stacking,
    "StackingRegressor": _stacking,
    "AdaBoostClassifier": _adaboost,
    "AdaBoostRegressor": _adaboost_of_numbers,
    "GradientBoostingClassifier": _gradient_boosting,
    "GradientBoostingRegressor": _gradient_boosting,
    "OneVsRestClassifier": _one_vs_rest,
    "OneVsOneClassifier": _one_vs_one,
    "OutputCodeClassifier": _output_code,
    "MultiOutputClassifier": _outputs,
    "MultiOutputRegressor": _outputs,
    "ClassifierChain": _outputs,
    "RegressorChain": _outputs,
    "CalibratedClassifierCV": _calibrated,
}
