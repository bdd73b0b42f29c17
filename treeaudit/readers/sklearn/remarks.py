"""What is said of a scikit-learn model beside its trees."""

from collections.abc import Mapping, Sequence
from typing import Any

from treeaudit.readers.limits import clean, show
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.found import Found
from treeaudit.readers.sklearn.labels import label_of

_MOST_NAMED = 20


def not_audited(trees: Sequence[Found], others: Sequence[Found]) -> list[str]:
    """Name the models that are no part of the forest: some with trees, and others without."""
    said = ((trees, "; choose members with --select"), (others, ", which is no tree model"))
    told = []
    for models, end in said:
        named = [f"{o.estimator.kind} at {o.inside or 'the top'}" for o in models[:_MOST_NAMED]]
        more = f" and {len(models) - _MOST_NAMED:,} more" if len(models) > _MOST_NAMED else ""
        end = end.replace("is no tree model", "are no tree models") if len(models) > 1 else end
        told += [clean(f"not audited: {', '.join(named)}{more}{end}")] if models else []
    return told


def parameters(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the hyper-parameters that are plain values."""
    return {
        clean(name): value if value is None else label_of(value)
        for name, value in attributes.items()
        if not name.startswith("_")
        and not name.endswith("_")
        and (value is None or isinstance(value, bool | int | float | str))
    }


def note_code(estimator: Inert, warnings: list[str]) -> None:
    """Warn of a class that is not of scikit-learn."""
    if estimator.cls.module.partition(".")[0] != "sklearn":
        warnings.append(
            f"{show(estimator.cls)} is a class outside scikit-learn: when it is loaded for real, "
            "its own code may change the model that was audited"
        )
