"""Rows that a boosting of scikit-learn put aside to stop early: they are in no leaf."""

from math import ceil

from treeaudit.model.forest import Forest
from treeaudit.readers.estimators.ensembles import children
from treeaudit.readers.estimators.found import Found

__all__ = ["put_aside"]

_DEEP = 20
_PART = 0.1


def put_aside(forest: Forest, n_people: int, in_file: int) -> str:
    """Return what to say of rows that were put aside, if that explains how many there are.

    Parameters
    ----------
    n_people
        Rows of the table.
    in_file
        People of the model.
    """
    found = _boosting(forest)
    if found is None:
        return ""
    part, binned = found.get("validation_fraction"), found.estimator.kind.startswith("Hist")
    stops = found.get("do_early_stopping_") is True
    if not (stops if binned else found.get("n_iter_no_change") is not None):
        return ""
    part = _PART if part is None and not binned else part
    if isinstance(part, bool) or not isinstance(part, int | float) or part <= 0:
        return ""
    aside = part if isinstance(part, int) else ceil(part * n_people)
    if n_people - aside != in_file:
        return ""
    said = (
        f"; it stopped early, for which {aside:,} rows were put aside "
        f"(validation_fraction={part:g}): give the other {in_file:,}"
    )
    seed = found.get("_random_seed" if binned else "random_state")
    if isinstance(seed, bool) or not isinstance(seed, int):
        return said
    alike = ", stratify=labels" if found.estimator.kind.endswith("Classifier") else ""
    return (
        f"{said}, which train_test_split of scikit-learn returns first with test_size={part:g}, "
        f"random_state={seed}{alike}"
    )


def _boosting(forest: Forest) -> Found | None:
    """Return the boosting that a model answers with, whatever is around it."""
    found = forest.source.stored
    for _ in range(_DEEP):
        if not isinstance(found, Found):
            return None
        if "GradientBoosting" in found.estimator.kind:
            return found
        inner = [one for one in children(found) if one is not None]
        found = inner[0] if len(inner) == 1 else None
    return None
