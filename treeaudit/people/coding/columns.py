"""Which column of a table is what of a model, and which code a category or label has.

Columns are recognised by their names alone, before rows are read.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError, near
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.people.input.cell_parsing import also_as_numbers, code_of
from treeaudit.people.input.columns import SHOWN

_MADE = re.compile(
    r"the steps before the tree \((.*?)\) do not tell what its columns are"
    r"|the graph transforms the columns first \((.*?)\): "
)
_STATISTIC = re.compile(r"statistic [0-9]+ \(.*\) of .*")
_EARLIER = re.compile(r"output [0-9]+")


def has_no_label(forest: Forest) -> bool:
    """Tell whether no column of a table is what a model learned to predict, whatever it holds."""
    return forest.answers in ("path", "leaf") or counts_others(forest)


def target_among(
    names: Sequence[str], forest: Forest, target: str | None, origin: str
) -> int | None:
    """Return the place of the column of the labels; `treeaudit.people.records.target_of`."""
    schema = inputs_of(forest.schema, names)
    if target is not None:
        if target not in names:
            raise DataError(f"{origin} has no column {target!r}{near(target, names)}")
        if schema.named and target in schema.names:
            raise DataError(
                f"{target!r} is a feature of the model; --target names the column of its labels"
            )
        return names.index(target)
    if schema.target in names:
        return names.index(schema.target)
    if not schema.named:
        return len(names) - 1 if len(names) == 1 + width_of(schema) else None
    if has_no_label(forest):
        return None
    sources = _sources_of(schema, names)
    used = {name for source in sources for name in source}
    # A row index that was saved with the table comes back as a column without a name.
    others = [name for name in names if name not in used and not name.startswith("Unnamed: ")]
    if len(others) > 1:
        for feature, source in zip(schema.features, sources, strict=True):
            if not source:
                raise _no_column(feature, names, origin, forest)
        step = "say which one holds the labels (--target)"
        if _has_several_outputs(forest):
            step = (
                "it predicts several outputs: say which one to look at (--target); whether leaves "
                "give labels away is judged for none of them"
            )
        raise DataError(
            f"{origin} has {len(others)} columns that the model does not use "
            f"({', '.join(others[:4])}{', …' if len(others) > 4 else ''}): {step}"
        )
    return names.index(others[0]) if others else None


def _has_several_outputs(forest: Forest) -> bool:
    """Tell whether a model predicts several columns of a table at once."""
    stated = forest.source.parameters
    each = stated.get("n_outputs", 1) != 1 and not str(stated.get("objective")).startswith("multi:")
    xgboost = forest.source.library == "XGBoost" and each
    return xgboost or forest.counts_reason == "the model predicts several outputs"


def blanks_in(forest: Forest) -> bool:
    """Tell whether the library of a model wrote blanks in the names of columns as underscores."""
    return forest.source.library == "LightGBM" and not any(" " in n for n in forest.schema.names)


def as_called(names: Sequence[str], forest: Forest) -> list[str]:
    """Return the names of the columns of a table as the model has them."""
    if not forest.schema.named or not blanks_in(forest):
        return list(names)
    features = set(forest.schema.names)
    begun = {one[:i] for one in features for i, letter in enumerate(one) if letter == "_"}
    around: dict[str, set[str]] = {}
    for one in features:
        around.setdefault(one.strip("_"), set()).add(one)
    made = [name.replace(" ", "_") for name in names]
    often = Counter(made)
    meant = []
    for name, other in zip(names, made, strict=True):
        # Names are read from a file without the blanks around them.
        close = around.get(other, set())
        if name in features or often[other] > 1:
            meant.append(name)
        elif other in features or other in begun or len(close) != 1:
            meant.append(other if other in features or other in begun else name)
        else:
            meant.extend(close)
    return meant


def made_by(forest: Forest) -> str:
    """Return the steps that made the columns of a model, if how is not told; its reader says so."""
    told = (found[1] or found[2] for one in forest.warnings if (found := _MADE.match(one)))
    return next(told, "")


def places_of(
    names: Sequence[str],
    schema: Schema,
    origin: str,
    made: str = "",
    forest: Forest | None = None,
) -> list[tuple[int, str | None]]:
    """Return for every feature the place of its column, and the value that it indicates, if any."""
    if made:
        _check_made(names, schema, origin, made)
    # An array names no columns either: they are in the model's order.
    bare = list(names) == [str(i) for i in range(len(schema.features))]
    by_name = any(f.made_by and f.made_by in f.name for f in schema.features)
    if not made and not by_name and (bare or not schema.named):
        if len(names) < width_of(schema):
            raise DataError(
                f"{origin} has {len(names)} columns beside the labels, the model "
                f"{width_of(schema)}: give those that it was trained on, in their order, as they "
                "were after encoding"
            )
        return [(i if p < 0 else p, None) for i, p in enumerate(_places(schema))]
    at = {name: i for i, name in enumerate(names)}
    found: list[tuple[int, str | None]] = []
    for feature, source in zip(schema.features, _sources_of(schema, names), strict=True):
        if not source:
            raise _no_column(feature, names, origin, forest)
        stem, plain = source[0].strip(), feature.name.replace(" (encoded)", "").strip()
        value = None if stem == plain else plain[len(stem) + 1 :].strip()
        found.append((at[source[0]], value))
    return found


def _check_made(names: Sequence[str], schema: Schema, origin: str, made: str) -> None:
    """Refuse columns that may be those in front of steps, of which the file tells nothing."""
    own = {name for name in names if _place(Feature(name=name)) >= 0}
    if own == set(schema.names):
        return
    step = "scan it without --train and --test"
    if any(_place(feature) >= 0 for feature in schema.features):
        step = (
            "give what these steps return (of a pipeline, pipe[:-1].transform), in columns named "
            + _listed(schema.names)
        )
    raise DataError(
        f"{origin} does not tell the columns of the model, which {made} made of those of "
        f"the data in a way that the file does not tell: {step}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]}, …, {names[-1]}"


def width_of(schema: Schema) -> int:
    """Return how many columns a model without names takes; it calls them x0, x1 and so on."""
    places = _places(schema)
    return max(len(places), 1 + max(places, default=-1))


def _places(schema: Schema) -> list[int]:
    return [-1 if schema.named else _place(feature) for feature in schema.features]


def _place(feature: Feature) -> int:
    digits = feature.name.removesuffix(" (encoded)").removeprefix("x")
    return int(digits) if digits.isascii() and digits.isdigit() else -1


def _no_column(
    feature: Feature, names: Sequence[str], origin: str, forest: Forest | None = None
) -> DataError:
    """Say which column is missing: what may have been meant, or what made it of others."""
    name, step = feature.name, "" if forest is None else _next_step(feature, forest)
    return DataError(f"{origin} has no column {name!r}{step or near(name, names)}")


def _next_step(feature: Feature, forest: Forest) -> str:
    """Return what to do about a column that is none of the data; nothing of one that may be."""
    name, step = feature.name, feature.made_by
    if forest.source.library == "CatBoost" and _STATISTIC.fullmatch(name):
        return (
            ", which CatBoost counted while it was trained, so that no table holds it: scan it "
            "without --train, or train it with one_hot_max_size above the number of categories"
        )
    if forest.source.estimator.endswith("Chain") and _EARLIER.fullmatch(name):
        return (
            ", which the chain put behind those of the data: the labels of an output before "
            "(output 0 is the first); add them in a column of this name"
        )
    if not step:
        return ""
    mine = [one.name for one in forest.schema.features if one.made_by == step]
    return (
        f", which {step} made of those of the data in a way that the file does not tell: add what "
        f"this step returns (its transform), in columns named {_listed(mine or [name])}"
    )


def is_computed(feature: Feature, names: Collection[str]) -> bool:
    """Tell whether a column is computed from those of a table, which does not hold it itself."""
    return feature.derived is not None and not (
        feature.categories is None and feature.name in names
    )


def inputs_of(schema: Schema, names: Collection[str]) -> Schema:
    """Return the columns that a table is to hold, from which others are computed."""
    made = [f for f in schema.features if is_computed(f, names)]
    if not made:
        return schema
    derived = [f.derived for f in made if f.derived is not None]
    needed = [f for f in schema.features if f not in made]
    needed += [source for one in derived for source in one.sources]
    features = tuple(dict.fromkeys(needed))
    placed = all(_place(f) >= 0 for f in features) and not all(one.named for one in derived)
    return replace(schema, features=features, named=schema.named and not placed)


def _sources_of(schema: Schema, names: Sequence[str]) -> list[list[str]]:
    """Return for each feature the column that it comes from: itself, or one it is a value of."""
    at = dict.fromkeys(names)
    own = [_own(feature.name, at) for feature in schema.features]
    # What the model asks for itself was not turned into indicators before training.
    taken = {name for found in own for name in found}
    others = [name for name in names if name not in taken]
    return [
        found or _begun(feature.name, others)
        for feature, found in zip(schema.features, own, strict=True)
    ]


def _plain(name: str, names: Collection[str] = ()) -> str:
    while name.endswith(" (encoded)") and name not in names:
        name = name.removesuffix(" (encoded)")
    return name


def _own(name: str, names: Collection[str]) -> list[str]:
    plain = _plain(name, names)
    # Names are read from a file without the spaces around them.
    return next(([one] for one in (plain, plain.strip()) if one in names), [])


def _begun(name: str, names: Sequence[str]) -> list[str]:
    plain = _plain(name).strip()
    begun = [n for n in names if plain.startswith(f"{n.strip()}_") and len(plain) > len(n) + 1]
    return [max(begun, key=len)] if begun else []


_OTHER = "(any other value)"
_HASH = re.compile(r"hash [0-9]+")


def category_codes(
    codes: Wide,
    names: Sequence[str | None],
    feature: Feature,
    origin: str,
    first: int = 0,
    *,
    hashed: bool = False,
    step: str = "",
) -> Float:
    """Return the code of the category of each row, NaN for none."""
    categories = feature.categories or ()
    known = {name.strip(): code for code, name in enumerate(categories)}
    if len(known) < len(set(categories)):
        same = next(name for name in categories if name.strip() != name)
        raise DataError(
            f"{origin}: the model knows {same!r} and {same.strip()!r} in {feature.name!r}, which "
            "differ in blanks alone, so that people cannot be told apart; leave the people out"
        )
    code = code_of(also_as_numbers(known))
    # In a file an empty text and nothing look the same; a category "nan" is as good as others.
    nothing = float(known.get((feature.fill or "").strip(), np.nan))
    unnamed = hashed and any(map(_HASH.fullmatch, known))
    other = known.get(_OTHER) if hashed and not unnamed else None
    # R and pandas write NA for nothing; hashes do not tell whether it is a category.
    absent = {None} if hashed else {None, *({"NA"} - known.keys())}
    told = [nothing if name in absent else code(name) for name in names]
    wanted = [other if at is None else at for at in told]
    lost = np.flatnonzero(np.isin(codes, [i for i, at in enumerate(wanted) if at is None]))
    if len(lost) and unnamed:
        raise DataError(
            f"{origin}: the file holds only hashes of the categories of {feature.name!r}, so that "
            "nobody can be placed in its leaves; save the model with save_model(..., pool=...), "
            "which names them, or leave the people out"
        )
    if len(lost) and not feature.ignores_unknown:
        name = str(names[codes[lost[0]]])[:SHOWN]
        raise DataError(
            f"{origin}, row {first + int(lost[0]) + 1}: the model does not know {name!r} "
            f"in {feature.name!r}{step or near(name, list(known))}"
        )
    found = [np.nan if at is None else at for at in wanted]
    return np.array([*found, nothing], dtype=np.float64)[codes]


_REST = ("another", "its own")


def own_classes(forest: Forest) -> tuple[str, ...]:
    """Return the class that each member of a one-vs-rest knows apart; empty for other models."""
    each = forest.tree_classes or ()
    if forest.schema.classes != _REST or not all(a == f"not {b}" for a, b in each):
        return ()
    return tuple(dict.fromkeys(str(own) for _, own in each))


def counts_others(forest: Forest) -> bool:
    """Tell whether trees count labels of their own that no column of labels holds for all."""
    classes, each = set(map(str, forest.schema.classes or ())), forest.tree_classes
    if each is None or own_classes(forest):
        return False
    return all(class_apart(told) is None and not classes & set(map(str, told)) for told in each)


def class_apart(told: tuple[Label, ...]) -> int | None:
    """Return which class a tree tells from all others; None for other trees."""
    for k, label in enumerate(told if len(told) > 2 else ()):
        others = {str(one) for i, one in enumerate(told) if i not in (k, 0 if k else 1)}
        if told[0 if k else 1] == f"not {label}" and others == {"(none)"}:
            return k
    return None


def label_codes(
    codes: Wide,
    names: list[str | None],
    known: Mapping[str, int],
    where: str,
    first: int,
    other: int | None = None,
    step: str = "",
) -> Int:
    """Return the code of the label of each row."""
    code = code_of(known)
    wanted = [None if name is None else code(name) for name in names]
    if other is not None:
        told = zip(names, wanted, strict=True)
        wanted = [other if name and at is None else at for name, at in told]
    found = np.array([*(-2 if at is None else at for at in wanted), -2], dtype=np.int32)[codes]
    if not len(found) or found.min() > -2:
        return found
    lost = np.flatnonzero([*(name is None for name in names), True])
    empty = np.flatnonzero(np.isin(codes, [*lost, -1]))
    if len(empty):
        raise DataError(f"{where}, row {first + int(empty[0]) + 1} has no value")
    row = int(np.argmin(found))
    label = str(names[codes[row]])[:SHOWN]
    raise DataError(
        f"{where}, row {first + row + 1}: the model has no label {label!r}; "
        f"it knows {', '.join(list(known)[:6])}{step}"
    )
