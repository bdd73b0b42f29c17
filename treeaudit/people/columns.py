"""Which column of a table is what of a model: found by the names alone, before rows are read."""

from collections.abc import Collection, Sequence

from treeaudit.errors import DataError, near
from treeaudit.model.schema import Feature, Schema

__all__ = ["places_of", "target_among", "width_of"]


def target_among(
    names: Sequence[str], schema: Schema, target: str | None, origin: str
) -> int | None:
    """Return the place of the column of the labels; `treeaudit.people.records.target_of`."""
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
    found = dict.fromkeys(names)
    used = {name for feature in schema.features for name in _sources(feature.name, found)}
    # A row index that was saved with the table comes back as a column without a name.
    others = [name for name in names if name not in used and not name.startswith("Unnamed: ")]
    if len(others) > 1:
        for feature in schema.features:
            if not _sources(feature.name, found):
                raise _no_column(feature.name, names, origin)
        raise DataError(
            f"{origin} has {len(others)} columns that the model does not use "
            f"({', '.join(others[:4])}{', …' if len(others) > 4 else ''}): "
            "say which one holds the labels (--target)"
        )
    return names.index(others[0]) if others else None


def places_of(names: Sequence[str], schema: Schema, origin: str) -> list[tuple[int, str | None]]:
    """Return for every feature the place of its column, and the value that it indicates, if any.

    Parameters
    ----------
    names
        Of the columns that are no labels.

    Raises
    ------
    DataError
        If a column is missing.

    Examples
    --------
    >>> places_of(["job", "age"], Schema.numeric(["age", "job_Tech"]), "people.csv")
    [(1, None), (0, 'Tech')]
    """
    # An array names no columns either: they are in the model's order.
    bare = list(names) == [str(i) for i in range(len(schema.features))]
    if bare or not schema.named:
        if len(names) < width_of(schema):
            raise DataError(
                f"{origin} has {len(names)} columns beside the labels, the model {width_of(schema)}"
            )
        return [(i if p < 0 else p, None) for i, p in enumerate(_places(schema))]
    at = {name: i for i, name in enumerate(names)}
    found: list[tuple[int, str | None]] = []
    for feature in schema.features:
        source = _sources(feature.name, at)
        if not source:
            raise _no_column(feature.name, names, origin)
        stem, plain = source[0].strip(), feature.name.replace(" (encoded)", "").strip()
        value = None if stem == plain else plain[len(stem) + 1 :].strip()
        found.append((at[source[0]], value))
    return found


def width_of(schema: Schema) -> int:
    """Return how many columns a model without names takes; it calls them x0, x1 and so on."""
    places = _places(schema)
    return max(len(places), 1 + max(places, default=-1))


def _places(schema: Schema) -> list[int]:
    return [-1 if schema.named else _place(feature) for feature in schema.features]


def _place(feature: Feature) -> int:
    digits = feature.name.removesuffix(" (encoded)").removeprefix("x")
    return int(digits) if digits.isascii() and digits.isdigit() else -1


def _no_column(name: str, names: Sequence[str], origin: str) -> DataError:
    return DataError(f"{origin} has no column {name!r}{near(name, names)}")


def _sources(name: str, names: Collection[str]) -> list[str]:
    """Return the column that a feature comes from: itself, or the one it is an indicator of."""
    plain = name
    while plain.endswith(" (encoded)") and plain not in names:
        plain = plain.removesuffix(" (encoded)")
    if plain in names:
        return [plain]
    # Names are read from a file without the spaces around them.
    plain = plain.strip()
    if plain in names:
        return [plain]
    begun = [n for n in names if plain.startswith(f"{n.strip()}_") and len(plain) > len(n) + 1]
    return [max(begun, key=len)] if begun else []
