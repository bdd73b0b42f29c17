"""The tree models in an R object, wherever they are."""

from collections.abc import Sequence

from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.walk import Place, walk

MODEL_CLASSES = frozenset(
    (
        "rpart randomForest ranger party cforest gbm C5.0 tree xgb.Booster lgb.Booster "
        "BinaryTree RandomForest classbagg regbagg survbagg"
    ).split()
)
"""Classes of models with trees. What wraps one (caret, parsnip, workflows, mlr3) is looked into."""


def model_class(value: RObject) -> str | None:
    """Return the class by which an object is a tree model."""
    return next((name for name in value.classes if name in MODEL_CLASSES), None)


def models_in(root: RObject) -> list[tuple[str, RObject]]:
    """Return the models and the ways to them: where elements and slots lead, else elsewhere."""
    usual, elsewhere = model_places(list(walk(root)))
    return [(place.path, place.value) for place in usual or elsewhere]


def model_places(places: Sequence[Place]) -> tuple[list[Place], list[Place]]:
    """Return the models that elements and slots lead to, and those in what functions captured.

    The members of a model are parts of it.
    """
    usual: list[Place] = []
    elsewhere: list[Place] = []
    members: set[int] = set()
    for place in places:
        above = place.above
        if above is not None and id(above.value) in members and place.plain == above.plain:
            members.add(id(place.value))
        elif model_class(place.value) is not None:
            members.add(id(place.value))
            (usual if place.plain else elsewhere).append(place)
    return usual, elsewhere
