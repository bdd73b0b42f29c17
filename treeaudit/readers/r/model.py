"""Tree models that R saved (.rds, .RData): read as data."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.choice import choose
from treeaudit.readers.limits import Limits
from treeaudit.readers.open import Content
from treeaudit.readers.r.find import model_class, model_places
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.serialisation import Stored, is_r, read_r

MODELS: Mapping[str, Callable[[RObject, str, Source], Forest]] = {}
"""How a model of each class is read: from the object, the way to it, and its source."""


def matches(content: Content) -> bool:
    """Tell whether the content is R's serialisation."""
    return is_r(content.data)


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the model in an R file; see `treeaudit.readers.Reader`."""
    stored = parse(content, limits)
    root = stored.root
    usual, elsewhere = model_places(root)
    models = [(place.path, place.value) for place in [*usual, *elsewhere]]
    first = models[: len(usual)] if usual and select is None else models
    found = choose(first, select)
    if found is None:
        raise UnsupportedModelError("the file holds no tree model")
    path = next(name for name, one in models if one is found)
    name = model_class(found) or ""
    if name not in MODELS:
        raise UnsupportedModelError(f"treeaudit does not read models of class {name}")
    source = replace(source, format=stored.format, inside=path, estimator=name)
    forest = MODELS[name](found, path, source)
    others = {one: one or "the file itself" for one, _ in models if one != path}
    return replace(forest, others=others)


def parse(content: Content, limits: Limits) -> Stored:
    """Return what an R file holds, as inert data."""
    return read_r(content.data, limits)
